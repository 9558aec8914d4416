// Package kube has what every part of the lab needs to talk to an API server:
// the known types, kubeconfigs, clients and waiting. It starts nothing.
//
// Start reading at Access.
package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"vksmedic/testdata/lab/internal/pki"
)

// AdminUser and AdminGroup are the user and the group of the lab itself on every API
// server. The group passes every authorization check, so that the lab can create the
// roles; none of the lab's people is in it.
const (
	AdminUser  = "lab"
	AdminGroup = "system:masters"
)

// NewScheme knows the built-in kinds, CustomResourceDefinitions, and Cluster
// API's kinds in v1beta2.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme,
		clusterv1.AddToScheme, bootstrapv1.AddToScheme, controlplanev1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register API types: %w", err)
		}
	}
	return scheme, nil
}

// Access is how one user reaches one API server.
type Access struct {
	// Server is the URL, CA the PEM of the authority of its certificate.
	Server string
	CA     []byte
	// Cert and Key are the user's, in PEM.
	Cert, Key []byte
	// Cluster, User and Namespaces name the entries of a kubeconfig. There is one
	// context for each namespace, named after it, and the first is the current
	// one. Without namespaces the one context is named after the cluster.
	Cluster, User string
	Namespaces    []string
}

// NewAccess issues a client certificate for the user and groups.
func NewAccess(ca *pki.CA, server, user string, groups ...string) (Access, error) {
	cert, key, err := ca.Issue(pki.Request{CommonName: user, Organizations: groups})
	if err != nil {
		return Access{}, fmt.Errorf("make the credentials of %s: %w", user, err)
	}
	return Access{Server: server, CA: ca.PEM, Cert: cert, Key: key, Cluster: "lab", User: user}, nil
}

// Config is the access for client-go. The lab sends many requests at once while it is
// staged, so the limit of the client is high.
func (a Access) Config() *rest.Config {
	return &rest.Config{
		Host:            a.Server,
		TLSClientConfig: rest.TLSClientConfig{CAData: a.CA, CertData: a.Cert, KeyData: a.Key},
		QPS:             200, Burst: 400,
	}
}

// Kubeconfig is the access as a kubeconfig file.
func (a Access) Kubeconfig() ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters[a.Cluster] = &clientcmdapi.Cluster{Server: a.Server, CertificateAuthorityData: a.CA}
	config.AuthInfos[a.User] = &clientcmdapi.AuthInfo{ClientCertificateData: a.Cert, ClientKeyData: a.Key}
	if len(a.Namespaces) == 0 {
		config.Contexts[a.Cluster] = &clientcmdapi.Context{Cluster: a.Cluster, AuthInfo: a.User}
		config.CurrentContext = a.Cluster
	}
	for i, namespace := range a.Namespaces {
		name := namespace
		if name == "" {
			name = a.Cluster
		}
		config.Contexts[name] = &clientcmdapi.Context{Cluster: a.Cluster, AuthInfo: a.User, Namespace: namespace}
		if i == 0 {
			config.CurrentContext = name
		}
	}
	content, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("write the kubeconfig of %s: %w", a.User, err)
	}
	return content, nil
}

// WriteKubeconfig writes the kubeconfig to a file that only its owner may read.
func (a Access) WriteKubeconfig(path string) error {
	content, err := a.Kubeconfig()
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("write the kubeconfig of %s: %w", a.User, err)
	}
	return nil
}

// Client returns a client that reads and writes directly, without a cache.
func (a Access) Client() (client.Client, error) { return NewClient(a.Config()) }

// NewClient is a client without a cache that knows NewScheme's types.
func NewClient(config *rest.Config) (client.Client, error) {
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("create a client for %s: %w", config.Host, err)
	}
	return c, nil
}

// WaitReady returns when the API server says on /readyz that it is ready, or when
// gone is closed (its process ended), or ctx ends.
func WaitReady(ctx context.Context, config *rest.Config, gone <-chan struct{}) error {
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return fmt.Errorf("create a client for %s: %w", config.Host, err)
	}
	defer httpClient.CloseIdleConnections()
	return Poll(ctx, 50*time.Millisecond, config.Host+" to be ready", func(ctx context.Context) (bool, error) {
		select {
		case <-gone:
			return false, fmt.Errorf("the API server of %s ended, see its log", config.Host)
		default:
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/readyz", nil)
		if err != nil {
			return false, fmt.Errorf("ask %s: %w", config.Host, err)
		}
		response, err := httpClient.Do(request)
		if err != nil {
			return false, nil //nolint:nilerr // Not listening yet.
		}
		ready := response.StatusCode == http.StatusOK
		return ready, response.Body.Close()
	})
}

// Poll calls done every interval until it returns true or an error, or until ctx ends;
// that error names what is waited for.
func Poll(ctx context.Context, interval time.Duration, what string, done func(context.Context) (bool, error)) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		ok, err := done(ctx)
		switch {
		case ctx.Err() != nil:
			return errors.Join(fmt.Errorf("wait for %s: %w", what, context.Cause(ctx)), err)
		case err != nil:
			return fmt.Errorf("wait for %s: %w", what, err)
		case ok:
			return nil
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}
