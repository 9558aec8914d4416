package supervisor

import (
	"io"
	"log/slog"
	"os"
	"time"

	"vksmedic/model"
	"vksmedic/model/text"
)

// Sink takes changes to the store. The function may be called later and on another
// goroutine, one at a time; Update may block until there is room.
type Sink interface {
	Update(change func(*model.Store))
}

// Options say which Supervisor to look at and how.
type Options struct {
	// Kubeconfig is a file; empty for $KUBECONFIG (a list, merged) or ~/.kube/config.
	Kubeconfig string
	// Context is the context to use; empty for the current one.
	Context string
	// Namespaces are looked at where a kind may not be read everywhere, besides those that
	// the kubeconfig's contexts for the same server name.
	Namespaces []string
	// Restrict looks at Namespaces only, even where everything may be read. It means nothing
	// without Namespaces.
	Restrict bool
	// Deadline is how long a source may take before the screen says that it has not
	// answered; zero for ten seconds.
	Deadline time.Duration
	// Err is where an exec plug-in of the kubeconfig may write before the screen starts;
	// nil for os.Stderr.
	Err io.Writer
	// Secrets learns the credentials of the connection, so that nothing shows or writes them; nil
	// where nobody else wants to know.
	Secrets *text.Secrets
	// Log takes what client-go and the API server have to say besides; nil for nowhere.
	Log *slog.Logger
	// Now is the clock; nil for time.Now.
	Now func() time.Time
	// Random is a number from 0 to 1 to spread retries with; nil for math/rand/v2.
	Random func() float64
}

func (o Options) withDefaults() Options {
	o.Restrict = o.Restrict && len(o.Namespaces) > 0
	if o.Deadline <= 0 {
		o.Deadline = 10 * time.Second
	}
	if o.Err == nil {
		o.Err = os.Stderr
	}
	if o.Secrets == nil {
		o.Secrets = &text.Secrets{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = random
	}
	return o
}
