package workload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"vksmedic/model"
)

// answerLimit is how many bytes of one answer are read: pages have 500 objects at most,
// and a workload cluster's server is not trusted with the memory of this machine.
const answerLimit = 64 << 20

// errTooLong ends an answer that is longer.
var errTooLong = errors.New("the answer is longer than any that was asked for")

// client talks to one workload cluster.
type client struct {
	dynamic.Interface
	config *rest.Config
	server string
	// http and base are for what is no object: logs.
	http *http.Client
	base *url.URL
	// keep is handed every object whole; nil where nobody wants them.
	keep func(object map[string]any)
}

// connect finds the credentials of a cluster: the engineer's file where one is named, else
// the Secret.
func (l *Looker) connect(ctx context.Context, ref model.ClusterRef) (*client, error) {
	config, err := l.credentials(ctx, ref)
	if err != nil {
		return nil, err
	}
	c, err := newClient(config, l.config.Log)
	if err == nil && l.config.Keep != nil {
		c.keep = func(u map[string]any) { l.config.Keep(model.InCluster(l.config.Supervisor, ref), u) }
	}
	return c, err
}

func (l *Looker) credentials(ctx context.Context, ref model.ClusterRef) (*rest.Config, error) {
	if file := l.config.Files[ref]; file != "" {
		rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: file}
		config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("cannot use the kubeconfig %s for cluster %s: %w", file, ref, err)
		}
		if config.ExecProvider != nil {
			// The screen has the keyboard.
			config.ExecProvider.StdinUnavailable = true
			config.ExecProvider.StdinUnavailableMessage = "vksmedic runs; log in in another terminal"
		}
		return config, nil
	}
	name := ref.Name + "-kubeconfig"
	data, err := l.config.Secret(ctx, ref.Namespace, name)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, l.instead(ref, err))
	}
	value, ok := data["value"]
	if !ok {
		return nil, fmt.Errorf("secret %s/%s has no key value; start with --workload-kubeconfig %s=FILE", ref.Namespace, name, ref)
	}
	config, err := Vet(value)
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig in secret %s/%s cannot be used: %w; start with --workload-kubeconfig %s=FILE", ref.Namespace, name, err, ref)
	}
	return config, nil
}

// instead says what to do where the Secret is out of reach.
func (l *Looker) instead(ref model.ClusterRef, err error) string {
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Sprintf(", or start with --workload-kubeconfig %s=FILE", ref)
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("; if there is another way into the cluster, start with --workload-kubeconfig %s=FILE", ref)
	}
	return ""
}

func newClient(config *rest.Config, log *slog.Logger) (*client, error) {
	config.QPS, config.Burst, config.UserAgent = 50, 100, "vksmedic"
	config.WarningHandlerWithContext = warnings{log}
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper { return bounded{rt} })
	h, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot use its credentials: %w", err)
	}
	// A server that is not trusted does not send this machine elsewhere.
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot use its address: %w", err)
	}
	d, err := dynamic.NewForConfigAndClient(config, h)
	if err != nil {
		return nil, fmt.Errorf("cannot use its credentials: %w", err)
	}
	return &client{Interface: d, config: config, server: config.Host, http: h, base: base}, nil
}

// discovery asks what the cluster serves, for as long as ctx lasts: client-go's takes no context.
func (c *client) discovery(ctx context.Context) (discovery.DiscoveryInterface, error) {
	h := *c.http
	h.Transport = within{ctx, h.Transport}
	d, err := discovery.NewDiscoveryClientForConfigAndClient(c.config, &h)
	if err != nil {
		return nil, fmt.Errorf("cannot ask what it serves: %w", err)
	}
	return d, nil
}

type within struct {
	ctx context.Context // it lives as long as one question.
	rt  http.RoundTripper
}

func (w within) RoundTrip(r *http.Request) (*http.Response, error) {
	return w.rt.RoundTrip(r.WithContext(w.ctx)) //nolint:wrapcheck // a transport hands errors on as they are.
}

// bounded cuts answers that have no end.
type bounded struct{ rt http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := b.rt.RoundTrip(r)
	if err != nil {
		return nil, err //nolint:wrapcheck // a transport hands errors on as they are.
	}
	res.Body = &boundedBody{ReadCloser: res.Body, left: answerLimit}
	return res, nil
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err //nolint:wrapcheck // io.EOF has to stay what it is.
}

type warnings struct{ log *slog.Logger }

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	if code == 299 && text != "" {
		w.log.Info("a workload cluster's API server warns", "text", text)
	}
}
