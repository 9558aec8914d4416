package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"vksmedic/model/text"
	"vksmedic/probes/bounds"
)

const (
	// listLimit is how long the answer to a list may be: 500 objects of the size that the largest
	// fleets have are 12 MB.
	listLimit = 64 << 20
	// logLimit is how long any other answer that is no object may be.
	logLimit = 4 << 20
	// briefWait is how long a server may ask to wait for the transport to wait by itself, so often
	// at most: API servers that are busy ask for a second.
	briefWait  = 2 * time.Second
	briefTries = 4
)

// Transport is the outermost round tripper of every connection to an API server.
type Transport struct {
	base    http.RoundTripper
	scheme  string
	host    string // with its port.
	secrets *text.Secrets
}

// NewTransport puts the transport around base, which may add credentials: they go to the server's
// scheme, host and port only. secrets are blanked in answers; nil for none.
func NewTransport(base http.RoundTripper, server *url.URL, secrets *text.Secrets) *Transport {
	return &Transport{base: base, scheme: server.Scheme, host: withPort(server), secrets: secrets}
}

// Server is the address that a configuration is for, as client-go understands it.
func Server(config *rest.Config) (*url.URL, error) {
	u, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("the server address cannot be used: %w", err)
	}
	return u, nil
}

// withPort is the host with its port, also where that is the scheme's own.
func withPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}

func (t *Transport) here(u *url.URL) bool { return u.Scheme == t.scheme && withPort(u) == t.host }

// onceKey marks a context whose requests are sent one time only.
type onceKey struct{}

// Once is a context whose requests are not sent again, even where a server asks to get them later: for
// writes, of which the first may be stored after all.
func Once(ctx context.Context) context.Context { return context.WithValue(ctx, onceKey{}, true) }

func isOnce(ctx context.Context) bool { return ctx.Value(onceKey{}) != nil }

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !t.here(r.URL) {
		return nil, &ElsewhereError{To: r.URL.Scheme + "://" + r.URL.Host, Pinned: t.scheme + "://" + t.host}
	}
	for try := 1; ; try++ {
		res, err := t.base.RoundTrip(r)
		if err != nil {
			return nil, err //nolint:wrapcheck // a transport hands errors on as they are.
		}
		if err := t.redirects(r, res); err != nil {
			_ = res.Body.Close() // It is not read.
			return nil, err
		}
		wait := asked(res)
		if wait == nil {
			return t.bounded(r, res)
		}
		drop(res)
		again, ok := repeat(r)
		if wait.Asked > briefWait || try == briefTries || !ok || isOnce(r.Context()) {
			return nil, wait
		}
		if err := pause(r.Context(), wait.For); err != nil {
			return nil, err
		}
		r = again
	}
}

// CloseIdleConnections lets go of connections that are not in use.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// redirects refuses an answer that would send the request to another server.
func (t *Transport) redirects(r *http.Request, res *http.Response) error {
	to := res.Header.Get("Location")
	if res.StatusCode < 300 || res.StatusCode > 399 || to == "" {
		return nil
	}
	u, err := r.URL.Parse(to)
	if err != nil {
		return &RedirectError{To: "an address that is none"}
	}
	if !t.here(u) || u.User != nil {
		return &RedirectError{To: u.Scheme + "://" + u.Host}
	}
	return nil
}

// asked is how long a server asks to be left alone; nil where it does not. The header is not left to
// client-go, which would sleep for that long itself.
func asked(res *http.Response) *WaitError {
	after := res.Header.Get("Retry-After")
	if after == "" || res.StatusCode != http.StatusTooManyRequests && res.StatusCode < 500 {
		return nil
	}
	d := time.Duration(0)
	if n, err := strconv.ParseUint(after, 10, 31); err == nil {
		d = time.Duration(n) * time.Second
	} else if at, err := http.ParseTime(after); err == nil {
		d = time.Until(at)
	} else if strings.Trim(after, "0123456789") == "" {
		d = 1 << 31 * time.Second // more than can be counted.
	}
	if d <= 0 {
		res.Header.Del("Retry-After")
		return nil
	}
	// The status has whole seconds.
	return &WaitError{Code: res.StatusCode, Asked: d, For: min(max(d.Truncate(time.Second), time.Second), LongestWait)}
}

// repeat is the request once more; false where its body cannot be had again.
func repeat(r *http.Request) (*http.Request, bool) {
	if r.Body == nil || r.Body == http.NoBody {
		return r, true
	}
	if r.GetBody == nil {
		return nil, false
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, false
	}
	again := r.Clone(r.Context())
	again.Body = body
	return again, true
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // a transport hands errors on as they are.
	}
}

// drop reads a little of what is left, so that the connection can be used again.
func drop(res *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	_ = res.Body.Close()
}

// bounded bounds an answer, and blanks the credentials in it.
func (t *Transport) bounded(r *http.Request, res *http.Response) (*http.Response, error) {
	for _, values := range res.Header {
		for i := range values {
			values[i] = t.secrets.Hide(values[i])
		}
	}
	if t.secrets != nil {
		res.Body = &blanking{in: res.Body, secrets: t.secrets}
	}
	if streamed(r.Context()) && res.StatusCode < 300 {
		return res, nil // whoever asked bounds it piece by piece.
	}
	limit := int64(logLimit)
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if kind != "application/json" {
		res.Body = limited{&bounds.Reader{In: res.Body, Left: limit, Err: tooLong(r, limit)}, res.Body}
		return res, nil
	}
	return single(r, res)
}

// single reads an answer that is one object, and bounds what decoding makes of it. The time that it
// takes is the request's.
func single(r *http.Request, res *http.Response) (*http.Response, error) {
	limits := bounds.Object()
	body := res.Body
	raw, err := io.ReadAll(&bounds.Reader{In: body, Left: int64(limits.Bytes), Err: tooLong(r, int64(limits.Bytes))})
	_ = body.Close() // It was only read.
	if err == nil {
		if e := bounds.Check(raw, limits); e != nil {
			err = fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, e)
		}
	}
	res.Body = io.NopCloser(bytes.NewReader(raw))
	if err != nil {
		// As if it came while reading: client-go then tells errors of answers and of connections apart.
		res.Body = io.NopCloser(failing{err})
	}
	return res, nil
}

func tooLong(r *http.Request, limit int64) error {
	return &bounds.TooLargeError{What: "the answer to " + r.Method + " " + text.Limit(r.URL.Path, 200), Limit: bounds.Size(limit)}
}

type limited struct {
	io.Reader
	io.Closer
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// streamKey marks a request whose answer is read piece by piece.
type streamKey struct{}

func streaming(ctx context.Context) context.Context { return context.WithValue(ctx, streamKey{}, true) }

func streamed(ctx context.Context) bool { return ctx.Value(streamKey{}) != nil }

// Learn has the credentials that a configuration adds to requests remembered as they go out, and
// those that it has in it. Call it before the transport is made.
func Learn(config *rest.Config, secrets *text.Secrets) {
	secrets.Add(config.BearerToken)
	secrets.Add(config.Password)
	secrets.AddKey(config.KeyData)
	config.Wrap(func(base http.RoundTripper) http.RoundTripper { return learning{base, secrets} })
}

// learning stands behind what adds credentials to requests.
type learning struct {
	base    http.RoundTripper
	secrets *text.Secrets
}

func (l learning) RoundTrip(r *http.Request) (*http.Response, error) {
	for _, h := range []string{"Authorization", "Proxy-Authorization"} {
		for _, v := range r.Header[h] {
			l.secrets.AddHeader(v)
		}
	}
	return l.base.RoundTrip(r) //nolint:wrapcheck // a transport hands errors on as they are.
}
