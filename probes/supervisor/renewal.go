package supervisor

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// LoginCommand is the command that renews the login of this connection, as far as it can
// be told from the kubeconfig: kubectl vsphere login for what that wrote, the plug-in for
// a login by plug-in.
func (c *Connection) LoginCommand() string {
	k := c.login.current.Load().kube
	if p := k.config.ExecProvider; p != nil {
		return strings.Join(append([]string{p.Command}, p.Args...), " ")
	}
	host, user := hostOf(k.config.Host), "USER"
	if h, u, ok := vsphereUser(k.user); ok {
		host, user = h, u
	}
	s := "kubectl vsphere login --server=" + host + " --vsphere-username " + user
	if c.Insecure {
		s += " --insecure-skip-tls-verify"
	}
	return s
}

// vsphereUser takes apart what kubectl vsphere login calls its entries: wcp:SERVER:USER.
func vsphereUser(entry string) (server, user string, ok bool) {
	rest, ok := strings.CutPrefix(entry, "wcp:")
	if !ok {
		return "", "", false
	}
	server, user, ok = strings.Cut(rest, ":")
	return server, user, ok && user != ""
}

func shortUser(entry string) string {
	if _, u, ok := vsphereUser(entry); ok {
		return u
	}
	return entry
}

func hostOf(server string) string {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return server
	}
	if h, port, err := net.SplitHostPort(u.Host); err == nil && (port == "6443" || port == "443") {
		return h
	}
	return u.Host
}

// validUntil is when the credentials end, read from the certificate or the token itself;
// zero where they do not say.
func validUntil(c *rest.Config) time.Time {
	if c.BearerToken != "" {
		return tokenExpiry(c.BearerToken)
	}
	data := c.CertData
	if len(data) == 0 && c.CertFile != "" {
		var err error
		if data, err = os.ReadFile(c.CertFile); err != nil {
			return time.Time{}
		}
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return time.Time{}
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}
	}
	return cert.NotAfter
}

// tokenExpiry reads the exp claim of a JWT. It is shown and decides nothing, so the
// signature is not checked.
func tokenExpiry(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		Expires float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.Expires <= 0 {
		return time.Time{}
	}
	return time.Unix(int64(claims.Expires), 0)
}
