package supervisor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/probes/bounds"
	"vksmedic/probes/wire"
)

// saidLimit is how much of a server's own words goes into a sentence.
const saidLimit = 300

// Explain turns an error of a request to this Supervisor into the state of a source and a
// sentence that names the server, what is wrong and what to do. doing is what was being
// done, such as "list and watch machines.cluster.x-k8s.io in all namespaces".
func (c *Connection) Explain(err error, doing string) (model.SourceState, string) {
	if apierrors.IsUnauthorized(err) {
		return model.SourceForbidden, c.expired()
	}
	if apierrors.IsForbidden(err) {
		return model.SourceForbidden, fmt.Sprintf("user %s may not %s; ask for that right", c.User, doing)
	}
	return model.SourceUnreachable, c.Hide(ExplainReach(err, c.Server))
}

// ExplainReach says in a sentence why a request to a server failed, where the reason is
// not what the user may do.
func ExplainReach(err error, server string) string {
	if s := explainTLS(err, server); s != "" {
		return s
	}
	if s := explainAnswer(err, server); s != "" {
		return s
	}
	return explainNetwork(err, server)
}

func explainTLS(err error, server string) string {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		alert     tls.AlertError
		plain     tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &authority):
		return fmt.Sprintf("%s shows a certificate of an authority that the kubeconfig does not know; log in again with kubectl vsphere login, and make sure that nothing stands in between", server)
	case errors.As(err, &name):
		return fmt.Sprintf("%s shows a certificate for other names: %s; use the name or address that the certificate is for", server, said(name.Error()))
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the certificate of %s is not valid at this time: %s; check this machine's clock, else the Supervisor's certificate has to be renewed", server, said(invalid.Error()))
	case errors.As(err, &invalid):
		return fmt.Sprintf("the certificate of %s is not valid: %s", server, said(invalid.Error()))
	case errors.As(err, &alert):
		return fmt.Sprintf("%s refuses the client certificate of the kubeconfig: %s; log in again", server, said(alert.Error()))
	case errors.As(err, &plain), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Sprintf("%s does not speak TLS: it is no Kubernetes API server; check the server address in the kubeconfig", server)
	}
	return ""
}

func explainAnswer(err error, server string) string {
	var foreign *notKubernetesError
	var large *bounds.TooLargeError
	var sent *wire.RedirectError
	var wait *wire.WaitError
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &foreign):
		return fmt.Sprintf("%s does not answer like Kubernetes: %v; a proxy or a log-in page may stand in between, check the server address and the proxy settings", server, foreign)
	case errors.Is(err, errServesNothing), isDecodeError(err):
		return fmt.Sprintf("%s does not answer like Kubernetes: %s; check the server address and the proxy settings", server, said(err.Error()))
	case errors.As(err, &large):
		return fmt.Sprintf("%s sends more than is taken: %s", server, large)
	case errors.As(err, &sent):
		return fmt.Sprintf("%s is no API server by itself: %s; check the server address and the proxy settings", server, sent)
	case errors.As(err, &wait):
		return asksToWait(wait, server)
	case apierrors.IsTooManyRequests(err):
		if d := DelayAsked(err); d > 0 {
			return asksToWait(&wire.WaitError{Code: http.StatusTooManyRequests, Asked: d, For: d}, server)
		}
		return fmt.Sprintf("%s is overloaded (429 Too Many Requests); the dashboard tries again by itself", server)
	case errors.As(err, &status):
		code := int(status.Status().Code)
		// client-go's words where the answer had none of the server's own.
		if code >= http.StatusInternalServerError && strings.Contains(status.Status().Message, `("unknown")`) {
			return fmt.Sprintf("%s answers %d %s; the dashboard tries again by itself", server, code, http.StatusText(code))
		}
		if code >= http.StatusInternalServerError {
			return fmt.Sprintf("%s answers %d %s: %s; the dashboard tries again by itself", server, code, http.StatusText(code), said(status.Status().Message))
		}
		return fmt.Sprintf("%s answers: %s", server, said(status.Status().Message))
	}
	return ""
}

// asksToWait says that a server wants to be left alone, and for how long it is.
func asksToWait(e *wire.WaitError, server string) string {
	s := fmt.Sprintf("%s asked to wait %s (%d %s)", server, text.Age(e.Asked), e.Code, http.StatusText(e.Code))
	if e.For < e.Asked {
		s += ", which is more than any API server asks for; it is asked again after " + text.Age(e.For)
	} else {
		s += "; it is not asked again before that, and then by itself"
	}
	return s
}

// isDecodeError goes by the words of client-go and encoding/json where there is no type to go by.
func isDecodeError(err error) bool {
	for e := err; e != nil; e = errors.Unwrap(e) { // apimachinery looks at the outermost alone.
		if runtime.IsMissingKind(e) || runtime.IsMissingVersion(e) || runtime.IsNotRegisteredError(e) {
			return true
		}
	}
	s := err.Error()
	return strings.Contains(s, "couldn't get version/kind; json parse error") || strings.Contains(s, "invalid character") || strings.Contains(s, "cannot unmarshal") ||
		strings.Contains(s, "unable to decode") || strings.Contains(s, "unexpected end of JSON input") || strings.Contains(s, "serializer for ") ||
		strings.Contains(s, "the list is not understood: ") || strings.Contains(s, "an event is not understood: ")
}

func explainNetwork(err error, server string) string {
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case strings.Contains(err.Error(), "getting credentials: "):
		_, why, _ := strings.Cut(err.Error(), "getting credentials: ")
		return fmt.Sprintf("the login plug-in of the kubeconfig failed: %s; log in in another terminal, a running dashboard picks it up by itself", said(why))
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("%s does not answer in time; check the network or VPN", server)
	case errors.Is(err, context.Canceled):
		return fmt.Sprintf("the question to %s was given up", server)
	case errors.As(err, &dns):
		return fmt.Sprintf("the name of %s cannot be resolved: %s; check the network, VPN and DNS", server, said(dns.Error()))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return fmt.Sprintf("%s hangs up without an answer; check the network, VPN or a proxy in between, and that the Supervisor is up", server)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("%s refuses connections; check that the Supervisor is up and that the address is right", server)
	}
	return fmt.Sprintf("%s cannot be reached: %s", server, said(err.Error()))
}

// said is a server's own words, made fit for a line.
func said(s string) string { return text.Limit(text.Clean(s), saidLimit) }

// expired says that the server does not take the login any more, why if that can be
// told, and the command that renews it.
func (c *Connection) expired() string {
	k := c.login.current.Load().kube
	why := "the login of " + c.User + " is no longer valid"
	if until := validUntil(k.config); !until.IsZero() && c.opts.Now().After(until) {
		why = fmt.Sprintf("the login of %s expired at %s", c.User, until.Local().Format(time.DateTime))
	}
	return fmt.Sprintf("%s (%s says 401 Unauthorized); log in again in another terminal, a running dashboard picks it up by itself: %s", why, c.Server, c.LoginCommand())
}
