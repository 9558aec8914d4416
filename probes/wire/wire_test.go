package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"vksmedic/model/text"
	"vksmedic/probes/bounds"
)

const token = "a-token-of-some-length"

// connect is a client with a token, as every connection builds one.
func connect(t *testing.T, server *httptest.Server) (*http.Client, *Client, *text.Secrets) {
	t.Helper()
	config := &rest.Config{Host: server.URL, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	secrets := &text.Secrets{}
	Learn(config, secrets)
	rt, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	u, err := Server(config)
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Client{Transport: NewTransport(rt, u, secrets)}
	c, err := NewClient(config, h)
	if err != nil {
		t.Fatal(err)
	}
	return h, c, secrets
}

func serve(t *testing.T, f http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewTLSServer(f)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func machines() What {
	return What{GroupVersionResource: schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "machines"}, Kind: "Machine"}
}

// TestRedirect has servers that send the request elsewhere: whatever the status and the form of the
// address, the login goes nowhere else.
func TestRedirect(t *testing.T) {
	var stolen atomic.Int32
	thief := func(w http.ResponseWriter, r *http.Request) {
		stolen.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"items":[]}`)
		if r.Header.Get("Authorization") != "" {
			t.Error("the login came along")
		}
	}
	plain := httptest.NewServer(http.HandlerFunc(thief))
	t.Cleanup(plain.Close)
	other := serve(t, thief)
	for _, code := range []int{301, 302, 303, 307, 308} {
		for name, to := range map[string]func(here string) string{
			"plain HTTP":         func(string) string { return plain.URL + "/x" },
			"another port":       func(string) string { return other.URL + "/x" },
			"same host in plain": func(here string) string { return strings.Replace(here, "https", "http", 1) + "/x" },
			"another name":       func(here string) string { return strings.Replace(here, "127.0.0.1", "localhost", 1) + "/x" },
			"without a scheme":   func(string) string { return strings.TrimPrefix(other.URL, "https:") + "/x" },
			"with a user":        func(here string) string { return strings.Replace(here, "://", "://a:b@", 1) + "/x" },
			"no address":         func(string) string { return "https://%zz/" },
		} {
			var here string
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", to(here))
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(code)
			})
			here = s.URL
			h, c, _ := connect(t, s)
			_, err := c.Page(t.Context(), machines(), 500, "", nil)
			var refused *RedirectError
			if !errors.As(err, &refused) {
				t.Errorf("%d to %s, a list: %v", code, name, err)
			}
			if res, err := h.Get(s.URL + "/api"); !errors.As(err, &refused) {
				t.Errorf("%d to %s: %v, %v", code, name, res, err)
			}
		}
	}
	if n := stolen.Load(); n != 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
	// To the same place is allowed.
	var s *httptest.Server
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/there" {
			http.Redirect(w, r, s.URL+"/there", http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"auth":"`+fmt.Sprint(r.Header.Get("Authorization") != "")+`"}`)
	})
	h, _, _ := connect(t, s)
	res, err := h.Get(s.URL + "/here")
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := io.ReadAll(res.Body); string(b) != `{"auth":"true"}` {
		t.Errorf("%s", b)
	}
}

// TestBound refuses to send a request, and with it the login, to another server.
func TestBound(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
	h, _, _ := connect(t, s)
	for _, to := range []string{"https://192.0.2.1/api", "http://" + strings.TrimPrefix(s.URL, "https://"), strings.Replace(s.URL, "127.0.0.1", "localhost", 1)} {
		res, err := h.Get(to)
		var elsewhere *ElsewhereError
		if !errors.As(err, &elsewhere) {
			t.Errorf("%s: %v, %v", to, res, err)
		}
	}
}

// answers is a round tripper that answers without a network.
type answers func(r *http.Request) *http.Response

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }

func reply(code int, header http.Header, body string) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

func get(ctx context.Context, rt http.RoundTripper) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://sv.test:6443/api", nil)
	if err != nil {
		return nil, err
	}
	return rt.RoundTrip(r)
}

// TestRetryAfter leaves a server alone for as long as it asks, and sleeps through nothing.
func TestRetryAfter(t *testing.T) {
	for name, c := range map[string]struct {
		code         int
		after        string
		asked, obeys time.Duration
	}{
		"an hour":                  {429, "3600", time.Hour, time.Hour},
		"a minute, 503":            {503, "60", time.Minute, time.Minute},
		"a minute, 500":            {500, "60", time.Minute, time.Minute},
		"a minute, 599":            {599, "60", time.Minute, time.Minute},
		"a year":                   {429, "31536000", 365 * 24 * time.Hour, time.Hour},
		"more than can be counted": {429, "99999999999999999999", 1 << 31 * time.Second, time.Hour},
		"a date":                   {503, "", 10 * time.Minute, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				after := c.after
				if after == "" {
					after = time.Now().Add(c.asked).UTC().Format(http.TimeFormat)
				}
				tries := 0
				rt := NewTransport(answers(func(*http.Request) *http.Response {
					tries++
					return reply(c.code, http.Header{"Retry-After": {after}}, "{}")
				}), &url.URL{Scheme: "https", Host: "sv.test:6443"}, nil)
				began := time.Now()
				_, err := get(t.Context(), rt)
				var wait *WaitError
				if !errors.As(err, &wait) || wait.For != c.obeys || wait.Asked != c.asked || wait.Code != c.code {
					t.Fatalf("%v: %+v", err, wait)
				}
				if s, ok := apierrors.SuggestsClientDelay(err); !ok || time.Duration(s)*time.Second != c.obeys {
					t.Errorf("it suggests %d s", s)
				}
				if took := time.Since(began); took != 0 || tries != 1 {
					t.Errorf("%d tries in %v", tries, took)
				}
			})
		})
	}
}

// TestRetrySoon waits by itself where a busy server asks for a second, a few times, and not longer
// than the request lives.
func TestRetrySoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy, tries := 2, 0
		rt := NewTransport(answers(func(*http.Request) *http.Response {
			if tries++; tries <= busy {
				return reply(429, http.Header{"Retry-After": {"1"}}, "")
			}
			return reply(200, http.Header{"Content-Type": {"application/json"}}, "{}")
		}), &url.URL{Scheme: "https", Host: "sv.test:6443"}, nil)
		began := time.Now()
		if res, err := get(t.Context(), rt); err != nil || res.StatusCode != 200 || time.Since(began) != 2*time.Second {
			t.Errorf("%v, %v after %v", res, err, time.Since(began))
		}
		busy, tries = 1000, 0
		var wait *WaitError
		if _, err := get(t.Context(), rt); !errors.As(err, &wait) || tries != briefTries {
			t.Errorf("%v after %d tries", err, tries)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		began = time.Now()
		if _, err := get(ctx, rt); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 300*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// TestAnswersAreBounded has answers without end, packed and not, to whatever is asked.
func TestAnswersAreBounded(t *testing.T) {
	big := func(write func(w io.Writer)) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			write(w)
		}
	}
	fill := func(w io.Writer, n int) {
		block := bytes.Repeat([]byte("a"), 1<<20)
		for range n {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	for name, c := range map[string]struct {
		f     http.HandlerFunc
		words string
	}{
		"a long text":   {big(func(w io.Writer) { _, _ = io.WriteString(w, `{"x":"`); fill(w, 500) }), "12 MiB"},
		"empty objects": {big(func(w io.Writer) { _, _ = io.WriteString(w, `{"x":[`+strings.Repeat("{},", 1<<19)+`{}]}`) }), "250000 values"},
		"empty lists":   {big(func(w io.Writer) { _, _ = io.WriteString(w, `{"x":[`+strings.Repeat("[],", 1<<19)+`{}]}`) }), "250000 values"},
		"deep": {big(func(w io.Writer) {
			_, _ = io.WriteString(w, strings.Repeat(`{"a":`, 10_000)+"1"+strings.Repeat("}", 10_000))
		}), "9500 levels"},
		"a gzip bomb": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, `{"x":"`)
			fill(z, 500)
			_ = z.Close()
		}, "12 MiB"},
		"of no kind": {func(w http.ResponseWriter, _ *http.Request) { fill(w, 500) }, "4 MiB"},
		"an error":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); fill(w, 500) }, "4 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			h, _, _ := connect(t, serve(t, c.f))
			u := h.Transport.(*Transport)
			res, err := h.Get(u.scheme + "://" + u.host + "/apis/x/v1/things/one")
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(res.Body)
			var large *bounds.TooLargeError
			if !errors.As(err, &large) || !strings.Contains(err.Error(), c.words) || len(b) > 12<<20 {
				t.Errorf("%d bytes, %v", len(b), err)
			}
			if !strings.Contains(fmt.Sprint(err), "/things/one") {
				t.Errorf("it does not name what was asked for: %v", err)
			}
		})
	}
}

// TestPage reads lists that are no lists, too long ones, and items that are none.
func TestPage(t *testing.T) {
	list := func(items string) string {
		return `{"kind":"MachineList","apiVersion":"v1","metadata":{"resourceVersion":"7","continue":"c"},"items":` + items + `}`
	}
	for name, c := range map[string]struct {
		body  string
		items int // that can be read.
		odd   int // that cannot.
		words string
	}{
		"two":             {list(`[{"metadata":{"name":"a"}},{"kind":"Other","metadata":{"name":"b"}}]`), 2, 0, ""},
		"empty":           {list(`[]`), 0, 0, ""},
		"null":            {list(`null`), 0, 0, ""},
		"odd items":       {list(`[null,7,"x",{},[1]]`), 1, 4, ""},
		"items are text":  {list(`"none"`), 0, 0, "it has no items"},
		"no list":         {`{"kind":"Machine"}`, 0, 0, "it has no items"},
		"not an object":   {`[1,2]`, 0, 0, "the list is not understood"},
		"not JSON":        {`hello`, 0, 0, "the list is not understood"},
		"cut off":         {strings.TrimSuffix(list(`[{"metadata":{"name":"a"}},{"meta`), "}"), 1, 0, "the list breaks off"},
		"more than asked": {list(`[` + strings.Repeat(`{},`, 100) + `{}]`), 30, 0, "limit of 30 objects"},
		"60 MB of {}":     {list(`[` + strings.Repeat(`{},`, 20<<20) + `{}]`), 30, 0, "limit of 30 objects"},
		"one large item":  {list(`[{"x":"` + strings.Repeat("a", 13<<20) + `"},{}]`), 1, 1, ""},
		"one busy item":   {list(`[{"x":[` + strings.Repeat("{},", 1<<19) + `{}]},{}]`), 1, 1, ""},
		"a long field":    {`{"x":"` + strings.Repeat("a", 13<<20) + `","items":[]}`, 0, 0, "limit of 12 MiB"},
		"odd metadata":    {`{"metadata":7,"items":[]}`, 0, 0, "metadata of the list is not understood"},
	} {
		t.Run(name, func(t *testing.T) {
			_, client, _ := connect(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/apis/cluster.x-k8s.io/v1beta2/machines" || r.URL.Query().Get("limit") != "20" {
					t.Error(r.URL)
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, c.body)
			}))
			good, odd := 0, 0
			p, err := client.Page(t.Context(), machines(), 20, "", func(u map[string]any, _ int, err error) error {
				if err != nil {
					odd++
					return nil
				}
				if u["kind"] == "" || u["apiVersion"] == nil {
					t.Errorf("no kind: %v", u)
				}
				good++
				return nil
			})
			if good != c.items || odd != c.odd {
				t.Errorf("%d items, %d odd ones", good, odd)
			}
			if c.words == "" && (err != nil || p.ResourceVersion != "7" || p.Continue != "c") {
				t.Errorf("%+v, %v", p, err)
			}
			if c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words)) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestWatchEvents reads what a watch may say, and what it may not.
func TestWatchEvents(t *testing.T) {
	_, client, _ := connect(t, serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"type":"ADDED","object":{"metadata":{"name":"a"}}}`+"\n"+`{"type":"MODIFIED","object":7} {"type":"ERROR","object":{"kind":"Status","code":410}}`+
			`{"type":"ADDED","object":{"kind":"Machine","x":"`+strings.Repeat("a", 13<<20)+`"}}{"type":"DELETED","object":{}}`)
	}))
	s, err := client.Watch(t.Context(), machines(), Watching{ResourceVersion: "5", Life: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if e, err := s.Next(); err != nil || e.Type != "ADDED" || e.Object["kind"] != "Machine" {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := s.Next(); err != nil || e.Type != "MODIFIED" || e.Err == nil {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := s.Next(); err != nil || e.Type != "ERROR" || e.Object["kind"] != "Status" {
		t.Errorf("%+v, %v", e, err)
	}
	var large *bounds.TooLargeError
	if e, err := s.Next(); err != nil || !errors.As(e.Err, &large) || e.Object["kind"] != "Machine" {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := s.Next(); err != nil || e.Type != "DELETED" {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestEcho has a server that sends the login back: in a text, in a header, cut in two.
func TestEcho(t *testing.T) {
	basic := base64.StdEncoding.EncodeToString([]byte("anna:correct-horse"))
	for name, c := range map[string]struct{ sent, secret string }{
		"a token": {"Bearer " + token, token}, "a password": {"Basic " + basic, "correct-horse"}, "a user and a password": {"Basic " + basic, basic},
	} {
		secrets := &text.Secrets{}
		rt := NewTransport(learning{answers(func(r *http.Request) *http.Response {
			h := http.Header{"Content-Type": {"application/json"}, "Warning": {`299 - "` + c.secret + `"`}}
			body := fmt.Sprintf(`{"a":"you said %s %s","b":"%s"}`, r.Header.Get("Authorization"), c.secret, strings.Repeat(c.secret, 3000))
			res := reply(200, h, "")
			res.Body = io.NopCloser(iotest.HalfReader(strings.NewReader(body)))
			return res
		}), secrets}, &url.URL{Scheme: "https", Host: "sv.test:6443"}, secrets)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://sv.test:6443/api", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", c.sent)
		res, err := rt.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		if err != nil || bytes.Contains(b, []byte(c.secret)) || !bytes.Contains(b, []byte("you said")) || strings.Contains(res.Header.Get("Warning"), c.secret) {
			t.Errorf("%s: %.200s, %v, %v", name, b, res.Header, err)
		}
	}
}
