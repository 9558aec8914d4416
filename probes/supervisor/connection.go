package supervisor

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"vksmedic/probes/wire"
)

// Connection is one Supervisor as one engineer sees it. Its methods may be called from
// any goroutine.
type Connection struct {
	// Context, Server and User are as the kubeconfig has them (the user without what kubectl
	// vsphere login puts before the name); [Connection.WhoAmI] asks the server who that is.
	Context, Server, User string
	// Insecure says that the kubeconfig switches the checking of certificates off.
	Insecure bool

	opts   Options
	login  *login
	config *rest.Config
	// transport is around login: every request goes through it.
	transport *wire.Transport
	client    dynamic.Interface
	lists     *wire.Client
	served    *served
	// again is rung when everything that failed or was refused should be tried again now.
	again broadcast
}

// Connect reads the kubeconfig and pins the Supervisor. It does no network: a server that
// cannot be reached shows in the sources of [Connection.Watch]. Errors are sentences for
// a person: no kubeconfig, no such context, a file that cannot be read.
func Connect(_ context.Context, opts Options) (*Connection, error) {
	opts = opts.withDefaults()
	rules := loadingRules(opts.Kubeconfig)
	k, err := read(rules, opts.Context)
	if err != nil {
		return nil, err
	}
	l, err := newLogin(rules, k, opts)
	if err != nil {
		return nil, err
	}
	c := &Connection{Context: k.context, Server: k.config.Host, User: shortUser(k.user), Insecure: k.config.Insecure, opts: opts, login: l, served: newServed()}
	l.renewed, l.expired = c.again.ring, c.expired
	c.config = &rest.Config{
		Host: k.config.Host, APIPath: k.config.APIPath, DisableCompression: k.config.DisableCompression,
		// An engineer waits for the answers: client-go's own 5 a second would make the first
		// picture take as long as the queue is.
		QPS: 50, Burst: 100, UserAgent: "vksmedic", WarningHandlerWithContext: warnings{opts.Log},
	}
	server, err := wire.Server(k.config)
	if err != nil {
		return nil, fmt.Errorf("cannot use context %q: %w", k.context, err)
	}
	c.transport = wire.NewTransport(l, server, opts.Secrets)
	c.config.Transport = c.transport
	if c.lists, err = wire.NewClient(c.config, c.HTTPClient()); err != nil {
		return nil, fmt.Errorf("cannot use context %q: %w", k.context, err)
	}
	if c.client, err = dynamic.NewForConfigAndClient(c.config, c.HTTPClient()); err != nil {
		return nil, fmt.Errorf("cannot use context %q: %w", k.context, err)
	}
	return c, nil
}

// Config is for building further clients: it carries the connection's own transport, with
// its credentials and their renewal, and the limits of its pace.
func (c *Connection) Config() *rest.Config { return rest.CopyConfig(c.config) }

// HTTPClient is a client with the connection's credentials and their renewal.
func (c *Connection) HTTPClient() *http.Client { return &http.Client{Transport: c.transport} }

// Dynamic is a client for objects of any kind.
func (c *Connection) Dynamic() dynamic.Interface { return c.client }

// Discovery is a client that asks what is served, for as long as ctx lasts.
func (c *Connection) Discovery(ctx context.Context) (discovery.DiscoveryInterface, error) {
	h := &http.Client{Transport: within{ctx, c.transport}}
	d, err := discovery.NewDiscoveryClientForConfigAndClient(c.Config(), h)
	if err != nil {
		return nil, fmt.Errorf("cannot ask %s what it serves: %w", c.Server, err)
	}
	return d, nil
}

// within gives requests the life of a context: the discovery client takes none.
type within struct {
	ctx context.Context // It lives as long as one question.
	rt  http.RoundTripper
}

func (w within) RoundTrip(r *http.Request) (*http.Response, error) {
	return w.rt.RoundTrip(r.WithContext(w.ctx)) //nolint:wrapcheck // a transport hands errors on as they are.
}

// Hide takes the connection's credentials out of a text, by their letters.
func (c *Connection) Hide(s string) string { return c.opts.Secrets.Hide(s) }

// Refresh tries everything that failed, waits or was refused again now. What is being
// watched is current anyway.
func (c *Connection) Refresh() { c.again.ring() }

// Namespaces are where to look when a kind may not be read everywhere: those of the
// options, then, unless they are to be the only ones, those of the kubeconfig's contexts
// for this server.
func (c *Connection) Namespaces() []string {
	out := slices.Clone(c.opts.Namespaces)
	if c.opts.Restrict {
		return out
	}
	for _, n := range c.login.namespaces() {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// brief gives a small question the deadline of a source.
func (c *Connection) brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, max(c.opts.Deadline, time.Second))
}
