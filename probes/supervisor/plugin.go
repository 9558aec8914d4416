package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"vksmedic/model/text"
)

// plugin keeps exec plug-ins off the screen. client-go gives them the process's own
// standard input and error output, which is right until the screen starts and would tear
// it to pieces afterwards. It takes both from the variables of package os, at two
// moments: the error output when the credentials are set up, standard input when a
// plug-in is run; so it is there that they are exchanged.
type plugin struct {
	before io.Writer
	log    *slog.Logger
	hidden atomic.Bool

	once  sync.Once
	write *os.File
	err   error
}

func newPlugin(opts Options) *plugin { return &plugin{before: opts.Err, log: opts.Log} }

// takeStderr makes the credentials that are set up until restore is called write to us.
func (p *plugin) takeStderr() (restore func(), err error) {
	p.once.Do(p.open)
	if p.err != nil {
		return nil, p.err
	}
	old := os.Stderr
	os.Stderr = p.write
	return func() { os.Stderr = old }, nil
}

func (p *plugin) open() {
	r, w, err := os.Pipe()
	if err != nil {
		p.err = fmt.Errorf("cannot set up the error output of the login plug-in: %w", err)
		return
	}
	p.write = w
	go func() {
		_, _ = io.Copy(p, r)
	}()
}

// Write passes on what a plug-in says: to the terminal before the screen starts, then to the log.
func (p *plugin) Write(b []byte) (int, error) {
	if p.hidden.Load() {
		p.log.Info("the login plug-in says", "text", string(b))
		return len(b), nil
	}
	n, err := p.before.Write(b)
	if err != nil {
		return n, fmt.Errorf("cannot show what the login plug-in says: %w", err)
	}
	return n, nil
}

// LogIn runs the exec plug-in of the kubeconfig, if there is one, so that it can ask for
// a password or open a browser before the screen starts. It does no network of its own:
// a server that cannot be reached does not hold it up. It ends when ctx does, and a moment
// later where the plug-in, which gets the same ctrl+c, has to tidy up the terminal first.
// Without a plug-in it does nothing.
func (c *Connection) LogIn(ctx context.Context) error {
	k := c.login.current.Load().kube
	if k.config.ExecProvider == nil {
		return nil
	}
	config := rest.CopyConfig(k.config)
	// client-go runs the plug-in before it calls what is wrapped here.
	config.Wrap(func(http.RoundTripper) http.RoundTripper { return noNetwork{} })
	rt, err := rest.TransportFor(config)
	if err != nil {
		return fmt.Errorf("cannot log in to %s: %w", c.Server, err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, k.config.Host+"/version", http.NoBody)
	if err != nil {
		return fmt.Errorf("cannot log in to %s: %w", c.Server, err)
	}
	done := make(chan error, 1)
	go func() {
		// client-go does not end a plug-in, whatever becomes of the request.
		res, err := rt.RoundTrip(r)
		if res != nil {
			drain(res)
		}
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(pluginGrace):
			return fmt.Errorf("cannot log in to %s: the login plug-in of the kubeconfig, %s, does not end; log in with %s first (%w)",
				c.Server, text.Clean(k.config.ExecProvider.Command), c.LoginCommand(), ctx.Err())
		}
	}
	if err != nil && !errors.Is(err, errLoggedIn) {
		// client-go follows up with advice on several lines.
		why, _, _ := strings.Cut(err.Error(), "\n")
		return fmt.Errorf("cannot log in to %s: the login plug-in of the kubeconfig failed: %s; see whether %s works", c.Server, said(why), c.LoginCommand())
	}
	return nil
}

// pluginGrace is how long a plug-in is given to end by itself.
const pluginGrace = 2 * time.Second

// errLoggedIn ends the request of LogIn before it reaches the network.
var errLoggedIn = errors.New("the credentials are there")

type noNetwork struct{}

func (noNetwork) RoundTrip(*http.Request) (*http.Response, error) { return nil, errLoggedIn }

// DetachTerminal takes standard input and error output away from exec plug-ins (and from
// anything else that would write past the screen): call it when the screen starts, with
// the screen's own input and output already in hand, and call restore when it ends. A
// plug-in that has to ask a person then fails with words instead of fighting for the
// keyboard.
func (c *Connection) DetachTerminal() (restore func(), err error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, fmt.Errorf("cannot open the null device: %w", err)
	}
	restoreErr, err := c.login.plugin.takeStderr()
	if err != nil {
		_ = null.Close()
		return nil, err
	}
	c.login.plugin.hidden.Store(true)
	in := os.Stdin
	os.Stdin = null
	return func() {
		os.Stdin = in
		restoreErr()
		c.login.plugin.hidden.Store(false)
		_ = null.Close()
	}, nil
}
