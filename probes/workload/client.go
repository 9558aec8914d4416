package workload

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/probes/wire"
)

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
	// lists reads lists item by item.
	lists *wire.Client
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
	secrets := &text.Secrets{}
	wire.Learn(config, secrets)
	rt, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot use its credentials: %w", err)
	}
	base, err := wire.Server(config)
	if err != nil {
		return nil, fmt.Errorf("cannot use its address: %w", err)
	}
	h := &http.Client{Transport: wire.NewTransport(rt, base, secrets)}
	lists, err := wire.NewClient(config, h)
	if err != nil {
		return nil, fmt.Errorf("cannot use its address: %w", err)
	}
	d, err := dynamic.NewForConfigAndClient(config, h)
	if err != nil {
		return nil, fmt.Errorf("cannot use its credentials: %w", err)
	}
	return &client{Interface: d, config: config, server: config.Host, http: h, base: base, lists: lists}, nil
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

type warnings struct{ log *slog.Logger }

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _, text string) {
	if code == 299 && text != "" {
		w.log.Info("a workload cluster's API server warns", "text", text)
	}
}
