package supervisor

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"vksmedic/probes/wire"
)

// stampEvery is how often, at most, the kubeconfig's files are looked at for a change.
const stampEvery = 2 * time.Second

// login is the transport of a connection. It adds the credentials of the kubeconfig, and
// reads them anew when the files change or the server refuses them (401), so that a
// person who logs in again in another terminal need not start again. Another server,
// certificate authority or way of checking it is refused: the old credentials stay, and
// trouble says why.
type login struct {
	rules   *clientcmd.ClientConfigLoadingRules
	context string
	pin     pin
	opts    Options
	plugin  *plugin
	// renewed is called after credentials changed; expired says in words that the server
	// does not take them.
	renewed func()
	expired func() string
	current atomic.Pointer[attempt]

	mu     sync.Mutex
	stamp  string
	looked time.Time
	// trouble is about a renewed login that cannot be used; refused, about one that the
	// server does not take (any more).
	trouble, refused string
	// listeners are told when trouble comes or goes (empty).
	listeners map[int]func(string)
	listened  int
}

// attempt is one set of credentials.
type attempt struct {
	rt   http.RoundTripper
	kube *kubeconfig
}

func newLogin(rules *clientcmd.ClientConfigLoadingRules, k *kubeconfig, opts Options) (*login, error) {
	l := &login{rules: rules, context: k.context, pin: k.pin, opts: opts, renewed: func() {}, expired: func() string { return "" }, stamp: stamp(rules)}
	l.plugin = newPlugin(opts)
	a, err := l.attempt(k)
	if err != nil {
		return nil, fmt.Errorf("context %q cannot be used: %w", k.context, err)
	}
	l.current.Store(a)
	return l, nil
}

func (l *login) attempt(k *kubeconfig) (*attempt, error) {
	if k.config.ExecProvider != nil {
		restore, err := l.plugin.takeStderr()
		if err != nil {
			return nil, err
		}
		defer restore()
	}
	wire.Learn(k.config, l.opts.Secrets)
	rt, err := rest.TransportFor(k.config)
	if err != nil {
		return nil, fmt.Errorf("its credentials cannot be used: %w", err)
	}
	return &attempt{rt: rt, kube: k}, nil
}

func (l *login) namespaces() []string { return l.current.Load().kube.namespaces() }

// RoundTrip implements http.RoundTripper.
func (l *login) RoundTrip(r *http.Request) (*http.Response, error) {
	l.lookAgain(false)
	a := l.current.Load()
	// Credentials are put into the request; a second try needs one without.
	res, err := a.rt.RoundTrip(r.Clone(r.Context()))
	if err == nil && res.StatusCode == http.StatusUnauthorized {
		l.lookAgain(true)
		if b := l.current.Load(); b != a && (r.Body == nil || r.GetBody != nil) {
			again := r.Clone(r.Context())
			if r.GetBody != nil {
				if again.Body, err = r.GetBody(); err != nil {
					return res, nil //nolint:nilerr // the first answer stands.
				}
			}
			drain(res)
			res, err = b.rt.RoundTrip(again)
		}
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // a transport hands errors on as they are.
	}
	l.answered(res.StatusCode == http.StatusUnauthorized)
	noteStatus(r.Context(), res)
	if foreign(r, res) && res.Header.Get("Location") == "" { // where it sends to is looked at by the transport.
		drain(res)
		return nil, &notKubernetesError{status: res.StatusCode, contentType: res.Header.Get("Content-Type")}
	}
	return res, nil
}

// CloseIdleConnections lets go of connections that are not in use.
func (l *login) CloseIdleConnections() {
	if c, ok := l.current.Load().rt.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func drain(res *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	_ = res.Body.Close()
}

// lookAgain reads the kubeconfig when its files have changed, or when refused says that
// the server did not take the credentials.
func (l *login) lookAgain(refused bool) {
	l.mu.Lock()
	now := l.opts.Now()
	if !refused && now.Sub(l.looked) < stampEvery {
		l.mu.Unlock()
		return
	}
	l.looked = now
	s := stamp(l.rules)
	if s == l.stamp {
		l.mu.Unlock()
		return
	}
	l.stamp = s
	changed, err := l.renew()
	said := l.says()
	l.trouble = ""
	if err != nil {
		l.trouble = err.Error()
	}
	trouble := l.says()
	told := trouble != said
	l.mu.Unlock()

	if told {
		l.tell(trouble)
	}
	if changed {
		l.opts.Log.Info("the kubeconfig has a new login", "context", l.context)
		l.renewed()
	}
}

// answered says whether the server refused the login, or took it.
func (l *login) answered(unauthorized bool) {
	refused := ""
	if unauthorized {
		refused = l.expired()
	}
	l.mu.Lock()
	said := l.says()
	l.refused = refused
	trouble := l.says()
	l.mu.Unlock()
	if trouble != said {
		l.tell(trouble)
	}
}

// says is the trouble there is; mu is held.
func (l *login) says() string { return cmp.Or(l.trouble, l.refused) }

// renew takes over the credentials of the kubeconfig as it is now.
func (l *login) renew() (changed bool, err error) {
	k, err := read(l.rules, l.context)
	if err != nil {
		return false, fmt.Errorf("the kubeconfig changed and cannot be used; going on with the old login: %w", err)
	}
	if what := l.pin.moved(k.pin); what != "" {
		return false, fmt.Errorf("context %q of the kubeconfig now has another %s: refused, going on with the old login; to look at another Supervisor, start again", l.context, what)
	}
	a, err := l.attempt(k)
	if err != nil {
		return false, err
	}
	l.current.Store(a)
	return true, nil
}

// watchTrouble has f told when trouble comes or goes, and now if there is any, until the function
// that it returns is called.
func (l *login) watchTrouble(f func(string)) (end func()) {
	l.mu.Lock()
	if l.listeners == nil {
		l.listeners = map[int]func(string){}
	}
	l.listened++
	id := l.listened
	l.listeners[id] = f
	trouble := l.says()
	l.mu.Unlock()
	if trouble != "" {
		f(trouble)
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.listeners, id)
	}
}

func (l *login) tell(trouble string) {
	l.mu.Lock()
	told := slices.Collect(maps.Values(l.listeners))
	l.mu.Unlock()
	for _, f := range told {
		f(trouble)
	}
}

// notKubernetesError is an answer that no API server gives: a page of a proxy or a portal.
type notKubernetesError struct {
	status      int
	contentType string
}

func (e *notKubernetesError) Error() string {
	return fmt.Sprintf("the answer is not from Kubernetes (HTTP status %d, %s)", e.status, e.contentType)
}

// foreign says whether an answer cannot be an API server's: those are JSON (or CBOR,
// protobuf), and plain text where something is not found or for logs and health.
func foreign(r *http.Request, res *http.Response) bool {
	if res.StatusCode == http.StatusSwitchingProtocols || res.StatusCode == http.StatusNoContent {
		return false
	}
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err == nil && (kind == "text/html" || kind == "application/xhtml+xml") {
		return true
	}
	api := strings.Contains(r.URL.Path, "/api") && !strings.HasSuffix(r.URL.Path, "/log")
	return api && res.StatusCode < 300 && !strings.HasPrefix(kind, "application/")
}

// statusNote carries the last status of a request out of client-go, which waits and tries
// again by itself and says nothing meanwhile.
type statusNote struct{ code atomic.Int32 }

type statusKey struct{}

func withStatusNote(ctx context.Context) (context.Context, *statusNote) {
	n := &statusNote{}
	return context.WithValue(ctx, statusKey{}, n), n
}

func noteStatus(ctx context.Context, res *http.Response) {
	if n, ok := ctx.Value(statusKey{}).(*statusNote); ok {
		n.code.Store(int32(res.StatusCode)) //nolint:gosec // a status has three digits.
	}
}
