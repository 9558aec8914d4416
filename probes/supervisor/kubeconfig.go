package supervisor

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// kubeconfig is one reading of the engineer's kubeconfig files.
type kubeconfig struct {
	raw     *api.Config
	context string
	config  *rest.Config
	// user is the name of the entry in the kubeconfig, such as wcp:192.0.2.10:administrator@vsphere.local.
	user string
	pin  pin
}

// pin is what must never change while the program runs: who the server is and how it
// proves that.
type pin struct {
	server, serverName, proxy string
	authority                 [sha256.Size]byte
	insecure                  bool
	// ca is the hash of the certificates by which the server is verified, however their file
	// is written; empty where the kubeconfig names none or switches the verification off.
	ca string
}

func loadingRules(file string) *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	if file != "" {
		rules.ExplicitPath = file
	}
	rules.WarnIfAllMissing = false
	return rules
}

// read loads and merges the files and picks a context, empty for the current one.
func read(rules *clientcmd.ClientConfigLoadingRules, context string) (*kubeconfig, error) {
	raw, err := rules.Load()
	if err != nil {
		return nil, loadError(rules, err)
	}
	if len(raw.Contexts) == 0 && len(raw.Clusters) == 0 {
		return nil, emptyError(rules)
	}
	if context == "" {
		context = raw.CurrentContext
	}
	if context == "" {
		return nil, fmt.Errorf("%s has no current context; start with --context, one of: %s", where(rules), contexts(raw))
	}
	entry := raw.Contexts[context]
	if entry == nil {
		return nil, fmt.Errorf("%s has no context %q; it has: %s", where(rules), context, contexts(raw))
	}
	if raw.Clusters[entry.Cluster] == nil {
		return nil, fmt.Errorf("context %q of %s refers to cluster %q, which is not there; log in again with kubectl vsphere login", context, where(rules), entry.Cluster)
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(*raw, context, &clientcmd.ConfigOverrides{}, rules).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("context %q of %s cannot be used: %w", context, where(rules), err)
	}
	if config.Host == "" {
		return nil, fmt.Errorf("context %q of %s names no server; log in again with kubectl vsphere login", context, where(rules))
	}
	k := &kubeconfig{raw: raw, context: context, config: config, user: entry.AuthInfo}
	if k.pin, err = pinOf(raw.Clusters[entry.Cluster]); err != nil {
		return nil, fmt.Errorf("context %q of %s: %w", context, where(rules), err)
	}
	return k, nil
}

func pinOf(c *api.Cluster) (pin, error) {
	p := pin{server: c.Server, serverName: c.TLSServerName, proxy: c.ProxyURL, insecure: c.InsecureSkipTLSVerify}
	authority := c.CertificateAuthorityData
	if len(authority) == 0 && c.CertificateAuthority != "" {
		var err error
		if authority, err = os.ReadFile(c.CertificateAuthority); err != nil {
			return pin{}, fmt.Errorf("cannot read the certificate authority: %w", err)
		}
	}
	p.authority = sha256.Sum256(authority)
	if !p.insecure {
		p.ca = hashOfCertificates(authority)
	}
	return p, nil
}

// hashOfCertificates is the SHA-256 of the certificates in a PEM file: of one certificate
// what openssl calls its SHA-256 fingerprint, of several that of their fingerprints in
// order. Comments, blank lines and the order in the file do not count. It is empty where
// there is no certificate.
func hashOfCertificates(pemFile []byte) string {
	var prints [][]byte
	for block, rest := pem.Decode(pemFile); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			sum := sha256.Sum256(block.Bytes)
			prints = append(prints, sum[:])
		}
	}
	slices.SortFunc(prints, bytes.Compare)
	prints = slices.CompactFunc(prints, bytes.Equal)
	switch len(prints) {
	case 0:
		return ""
	case 1:
		return hex.EncodeToString(prints[0])
	}
	sum := sha256.Sum256(slices.Concat(prints...))
	return hex.EncodeToString(sum[:])
}

// moved says what of two pins differs, empty when nothing does.
func (p pin) moved(to pin) string {
	switch {
	case p.server != to.server:
		return "server (now " + to.server + ")"
	case p.authority != to.authority:
		return "certificate authority"
	case p.insecure != to.insecure:
		return "insecure-skip-tls-verify"
	case p.serverName != to.serverName:
		return "tls-server-name"
	case p.proxy != to.proxy:
		return "proxy-url"
	}
	return ""
}

// namespaces are those that the contexts for this server name, sorted.
func (k *kubeconfig) namespaces() []string {
	var out []string
	for _, c := range k.raw.Contexts {
		cluster := k.raw.Clusters[c.Cluster]
		if cluster != nil && cluster.Server == k.pin.server && c.Namespace != "" {
			out = append(out, c.Namespace)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func contexts(raw *api.Config) string {
	var names []string
	for n := range raw.Contexts {
		names = append(names, n)
	}
	if len(names) == 0 {
		return "none"
	}
	slices.Sort(names)
	if more := len(names) - 12; more > 0 {
		return strings.Join(names[:12], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// where names the files for a person.
func where(rules *clientcmd.ClientConfigLoadingRules) string {
	return strings.Join(files(rules), string(filepath.ListSeparator))
}

func files(rules *clientcmd.ClientConfigLoadingRules) []string {
	if rules.ExplicitPath != "" {
		return []string{rules.ExplicitPath}
	}
	return rules.Precedence
}

func emptyError(rules *clientcmd.ClientConfigLoadingRules) error {
	for _, f := range files(rules) {
		if _, err := os.Stat(f); err == nil {
			return fmt.Errorf("the kubeconfig %s is empty; log in with kubectl vsphere login --server=SUPERVISOR --vsphere-username USER", f)
		}
	}
	return fmt.Errorf("no kubeconfig found: looked for %s; log in with kubectl vsphere login --server=SUPERVISOR --vsphere-username USER, or start with --kubeconfig FILE", where(rules))
}

func loadError(rules *clientcmd.ClientConfigLoadingRules, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no kubeconfig found: there is no file %s; check --kubeconfig", where(rules))
	}
	for _, file := range files(rules) {
		// clientcmd's own error has the reason in its words only.
		f, e := os.Open(file) //nolint:gosec // a kubeconfig that the engineer named.
		if e == nil {
			_ = f.Close() // nothing was written.
		}
		if errors.Is(e, fs.ErrPermission) {
			return fmt.Errorf("the kubeconfig %s may not be read by you: %w", file, e)
		}
	}
	return fmt.Errorf("the kubeconfig %s cannot be understood: %w", where(rules), err)
}

// stamp changes when one of the files does.
func stamp(rules *clientcmd.ClientConfigLoadingRules) string {
	var b strings.Builder
	for _, f := range files(rules) {
		if i, err := os.Stat(f); err == nil {
			fmt.Fprintf(&b, "%s %d %d\n", f, i.ModTime().UnixNano(), i.Size())
		}
	}
	return b.String()
}
