package workload

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"vksmedic/probes/bounds"
)

// ErrRefused marks a kubeconfig that asks for more than certificates and tokens.
var ErrRefused = errors.New("refused")

// Vet reads a kubeconfig that came out of a cluster. It accepts a server, a certificate
// authority, client certificates and tokens, all of them inline. Whatever would run a
// program, read a file, go through a proxy, act as somebody else or skip the checking of
// certificates on the engineer's machine is refused, wherever in the file it stands.
func Vet(data []byte) (*rest.Config, error) {
	if err := plain(data); err != nil {
		return nil, err
	}
	k, err := clientcmd.Load(data)
	if err != nil {
		// The error may quote what it could not read, and that may be a key.
		return nil, errors.New("it is not a kubeconfig")
	}
	for _, name := range slices.Sorted(maps.Keys(k.Clusters)) {
		if err := vetCluster(k.Clusters[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.AuthInfos)) {
		if err := vetUser(k.AuthInfos[name]); err != nil {
			return nil, err
		}
	}
	return chosen(k)
}

// The bounds of a kubeconfig that came out of a cluster: the largest that Cluster API writes have 10 kB and
// 25 values.
const (
	kubeconfigBytes  = 256 << 10
	kubeconfigValues = 5000
)

// plain refuses a kubeconfig that is too large, and one with anchors or aliases: a few lines of those stand
// for gigabytes.
func plain(data []byte) error {
	if len(data) > kubeconfigBytes {
		return refuse("more than " + bounds.Size(kubeconfigBytes))
	}
	marks := 0
	for _, m := range []string{"\n", ",", "[", "{", "- ", "? "} {
		marks += bytes.Count(data, []byte(m))
	}
	if marks > kubeconfigValues {
		return refuse(fmt.Sprintf("more than %d values", kubeconfigValues))
	}
	var n yaml.Node
	if err := yaml.Unmarshal(data, &n); err != nil {
		return errors.New("it is not a kubeconfig") // the error may quote what it could not read.
	}
	if anchored(&n) {
		return refuse("YAML anchors or aliases")
	}
	return nil
}

// anchored says whether there is an anchor or an alias in a document.
func anchored(n *yaml.Node) bool {
	return n.Anchor != "" || n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, anchored)
}

func vetCluster(c *api.Cluster) error {
	u, err := url.Parse(c.Server)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "":
		return refuse("a server that is not https://HOST")
	case u.User != nil:
		return refuse("a user in the server's address")
	case c.CertificateAuthority != "":
		return refuse("a path to a certificate authority")
	case c.InsecureSkipTLSVerify:
		return refuse("insecure-skip-tls-verify")
	case c.ProxyURL != "":
		return refuse("a proxy-url")
	}
	return nil
}

func vetUser(u *api.AuthInfo) error {
	switch {
	case u.Exec != nil:
		return refuse("an exec plug-in")
	case u.AuthProvider != nil:
		return refuse("an auth-provider")
	case u.ClientCertificate != "" || u.ClientKey != "":
		return refuse("a path to a client certificate or key")
	case u.TokenFile != "":
		return refuse("a path to a token")
	case u.Impersonate != "" || u.ImpersonateUID != "" || len(u.ImpersonateGroups) > 0 || len(u.ImpersonateUserExtra) > 0:
		return refuse("impersonation")
	case u.Username != "" || u.Password != "":
		return refuse("a user name and password")
	}
	return nil
}

func refuse(what string) error {
	return fmt.Errorf("%w: it has %s, and only certificates and tokens are accepted from a cluster", ErrRefused, what)
}

// chosen builds the client's configuration from the parts that were vetted, and from
// nothing else.
func chosen(k *api.Config) (*rest.Config, error) {
	entry := k.Contexts[k.CurrentContext]
	if entry == nil {
		return nil, errors.New("it has no current context")
	}
	c, u := k.Clusters[entry.Cluster], k.AuthInfos[entry.AuthInfo]
	if c == nil || u == nil {
		return nil, errors.New("its current context names a cluster or user that is not there")
	}
	return &rest.Config{
		Host:        c.Server,
		BearerToken: u.Token,
		TLSClientConfig: rest.TLSClientConfig{
			ServerName: c.TLSServerName, CAData: c.CertificateAuthorityData,
			CertData: u.ClientCertificateData, KeyData: u.ClientKeyData,
		},
	}, nil
}
