package supervisor

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"vksmedic/model"
	"vksmedic/model/text"
)

// The tests of this file have servers that lie. What they send is read as far as it can be, said to be
// odd where not, and never believed against what was known before.

// isList and isWatch pick requests for Machines.
func isList(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/machines") && r.URL.Query().Get("watch") == ""
}

func isWatch(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/machines") && r.URL.Query().Get("watch") != ""
}

func event(typ, name, rv, more string) string {
	return fmt.Sprintf(`{"type":%q,"object":{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine","metadata":{"name":%q,"namespace":"ns","uid":"u","resourceVersion":%q},"spec":{"clusterName":"c"}%s}}`+"\n", typ, name, rv, more)
}

func TestAskedToWait(t *testing.T) {
	f := newFakeAPI(t)
	f.put("ns", "m", "Running")
	var machines atomic.Int32
	f.set(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/machines") {
			machines.Add(1)
			w.Header().Set("Retry-After", "3600")
			status(w, 429, "TooManyRequests", "slow down")
			return true
		}
		return false
	})
	c, p := watched(t, Options{Kubeconfig: f.kubeconfig(t, nil), Random: func() float64 { return 0 }})
	eventually(t, p, "the wait is told", sourceIs("supervisor/machines", model.SourceUnreachable, "asked to wait 1h", "429 Too Many Requests", "not asked again before"))
	eventually(t, p, "other kinds go on", sourceIs("supervisor/clusters", model.SourceOK))
	for range 100 {
		c.Refresh() // whatever is pressed.
	}
	eventually(t, p, "other kinds are asked again", func(*model.Snapshot) bool { return f.asked("packageinstalls") > 1 })
	if n := machines.Load(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
}

// TestAskedToWaitAtOnce has a server that answers nothing else, to discovery too: looking ends with its
// context all the same (watched sees to that).
func TestAskedToWaitAtOnce(t *testing.T) {
	f := newFakeAPI(t)
	f.set(func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Retry-After", "3600")
		status(w, 503, "ServiceUnavailable", "later")
		return true
	})
	_, p := watched(t, Options{Kubeconfig: f.kubeconfig(t, nil)})
	eventually(t, p, "the wait is told", sourceIs("supervisor/machines", model.SourceUnreachable, "asked to wait 1h", "503"))
}

func TestRedirectIsToldAndRefused(t *testing.T) {
	f, thief := newFakeAPI(t), newFakeAPI(t)
	f.set(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/machines") {
			http.Redirect(w, r, thief.URL+r.URL.Path, http.StatusTemporaryRedirect)
			return true
		}
		return false
	})
	_, p := watched(t, Options{Kubeconfig: f.kubeconfig(t, nil)})
	eventually(t, p, "the redirect is told", sourceIs("supervisor/machines", model.SourceUnreachable, "sends the request on to "+thief.URL, "refused"))
	if n := thief.asked(""); n > 0 {
		t.Errorf("%d requests went elsewhere", n)
	}
}

func TestListsWithoutEnd(t *testing.T) {
	for name, c := range map[string]struct {
		page  func(n int) (items, token string)
		words string
	}{
		"new objects for ever": {func(n int) (string, string) {
			var b strings.Builder
			for i := range pageSize {
				fmt.Fprintf(&b, `{"metadata":{"namespace":"ns","name":"m-%d-%d"},"spec":{"clusterName":"c"}},`, n, i)
			}
			return strings.TrimSuffix(b.String(), ","), fmt.Sprint("c", n)
		}, "limit of 40000 objects"},
		"the same objects for ever": {func(n int) (string, string) {
			return `{"metadata":{"namespace":"ns","name":"m"}}`, fmt.Sprint("c", n)
		}, "its pages bring nothing new"},
		"one page for ever": {func(n int) (string, string) {
			return fmt.Sprintf(`{"metadata":{"namespace":"ns","name":"m-%d"}}`, n), "c"
		}, "its pages bring nothing new"},
		"empty pages for ever": {func(n int) (string, string) { return "", fmt.Sprint("c", n) }, "its pages bring nothing new"},
		"more than was asked for": {func(int) (string, string) {
			return strings.Repeat(`{},`, 1000) + "{}", ""
		}, "limit of 510 objects"},
		"large objects": {func(n int) (string, string) {
			var b strings.Builder
			for i := range 5 {
				fmt.Fprintf(&b, `{"metadata":{"namespace":"ns","name":"m-%d-%d"},"x":"%s"},`, n, i, strings.Repeat("x", 5<<20))
			}
			return strings.TrimSuffix(b.String(), ","), fmt.Sprint("c", n)
		}, "64 MiB in large objects"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeAPI(t)
			var n atomic.Int32
			f.set(func(w http.ResponseWriter, r *http.Request) bool {
				if !isList(r) {
					return false
				}
				items, token := c.page(int(n.Add(1)))
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"metadata":{"resourceVersion":"10","continue":%q},"items":[%s]}`, token, items)
				return true
			})
			_, p := watched(t, Options{Kubeconfig: f.kubeconfig(t, nil)})
			eventually(t, p, "it is refused", func(s *model.Snapshot) bool {
				src := s.Source("supervisor/machines")
				return src != nil && src.State == model.SourceUnreachable && strings.Contains(src.Detail, c.words)
			})
			if n := n.Load(); n > 3*objectLimit/pageSize {
				t.Errorf("%d pages were read", n)
			}
		})
	}
}

// TestObjectsThatCannotBeRead has some in the list, and then in the watch: what was known of them stays,
// and the source says so until they can be read again.
func TestObjectsThatCannotBeRead(t *testing.T) {
	f := newFakeAPI(t)
	f.put("ns", "m", "Running")
	f.put("ns", "other", "Running")
	send := make(chan string)
	f.set(func(w http.ResponseWriter, r *http.Request) bool {
		if !isWatch(r) {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		for {
			select {
			case <-r.Context().Done():
				return true
			case s := <-send:
				_, _ = io.WriteString(w, s)
				w.(http.Flusher).Flush()
			}
		}
	})
	_, p := watched(t, Options{Kubeconfig: f.kubeconfig(t, nil)})
	eventually(t, p, "the Machine", func(s *model.Snapshot) bool { return machine(s, "m") != nil })
	for _, odd := range []string{
		event("MODIFIED", "m", "20", `,"status":"none"`),
		strings.Replace(event("MODIFIED", "m", "21", ""), `"kind":"Machine"`, `"kind":"Unicorn"`, 1),
		strings.Replace(event("MODIFIED", "m", "22", ""), `{"clusterName":"c"}`, `[]`, 1),
		event("MODIFIED", "m", "22", `,"x":"`+strings.Repeat("x", 13<<20)+`"`),
		event("MODIFIED", "m", "22", `,"x":`+strings.Repeat("[", 10_000)+strings.Repeat("]", 10_000)),
	} {
		send <- odd
		s := eventually(t, p, "it is told", sourceIs("supervisor/machines", model.SourceNotUnderstood, "1 Machine could not be read: ns/m: ", "is kept"))
		if m := machine(s, "m"); m == nil || m.Phase != "Running" {
			t.Errorf("what was known is gone: %+v", m)
		}
		send <- event("MODIFIED", "m", "23", `,"status":{"phase":"Failed"}`)
		eventually(t, p, "it can be read again", func(s *model.Snapshot) bool {
			return sourceIs("supervisor/machines", model.SourceOK)(s) && machine(s, "m").Phase == "Failed"
		})
		send <- event("MODIFIED", "m", "24", `,"status":{"phase":"Running"}`)
		eventually(t, p, "it is as before", func(s *model.Snapshot) bool { return machine(s, "m").Phase == "Running" })
	}
	// One that is deleted is gone, whatever else it is.
	send <- event("DELETED", "m", "30", `,"status":"none"`)
	eventually(t, p, "it is gone", func(s *model.Snapshot) bool { return machine(s, "m") == nil && machine(s, "other") != nil })
}

func TestListWithObjectsThatCannotBeRead(t *testing.T) {
	f := newFakeAPI(t)
	f.put("ns", "m", "Running")
	f.put("ns", "odd", "Running")
	_, p := watched(t, Options{Kubeconfig: f.kubeconfig(t, nil)})
	eventually(t, p, "the Machines", func(s *model.Snapshot) bool { return machine(s, "odd") != nil })
	f.set(func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case isWatch(r) && r.URL.Query().Get("resourceVersion") != "99":
			status(w, 410, "Expired", "too old")
		case isList(r):
			answer(w, map[string]any{"metadata": map[string]any{"resourceVersion": "99"}, "items": []any{
				map[string]any{"metadata": map[string]any{"namespace": "ns", "name": "m"}, "spec": map[string]any{"clusterName": "c"}},
				map[string]any{"metadata": map[string]any{"namespace": "ns", "name": "odd"}, "spec": "?"}, 7,
			}})
		default:
			return false
		}
		return true
	})
	f.dropWatches()
	s := eventually(t, p, "it is told", sourceIs("supervisor/machines", model.SourceNotUnderstood, "2 Machines could not be read: ns/odd: "))
	if machine(s, "odd") == nil || machine(s, "m") == nil {
		t.Error("a row is gone")
	}
}

// TestWatchesThatFail has each a watch that opens and then says what it must not: after a few times at one
// place the list is read again, with longer and longer waits.
func TestWatchesThatFail(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000)
	for name, body := range map[string]string{
		"garbage":           "hello\x00\xff",
		"half an event":     `{"type":"ADDED","object":{"meta`,
		"an odd ERROR":      `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":418,"message":"teapot"}}`,
		"ERROR of no kind":  `{"type":"ERROR","object":{"kind":"Machine"}}`,
		"ERROR, forbidden":  `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"reason":"Forbidden"}}`,
		"ERROR, not served": `{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","code":404,"reason":"NotFound"}}`,
		"ERROR of nothing":  `{"type":"ERROR"}`,
		"a large event":     `{"type":"MODIFIED","object":{"x":"` + strings.Repeat("x", 13<<20) + `"}}`,
		"a deep event":      `{"type":"MODIFIED","object":{"x":` + deep + `}}`,
		"no object":         `{"type":"MODIFIED","object":null}`,
		"no name":           `{"type":"MODIFIED","object":{"metadata":{}}}`,
		"an unknown type":   event("PONDERED", "m", "50", ""),
		"a list":            `[1,2,3]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeAPI(t)
			f.put("ns", "m", "Running")
			f.set(func(w http.ResponseWriter, r *http.Request) bool {
				if !isWatch(r) {
					return false
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, body)
				return true
			})
			_, p := watched(t, Options{Kubeconfig: f.kubeconfig(t, nil), Random: func() float64 { return 0 }})
			eventually(t, p, "the list is read again", func(*model.Snapshot) bool { return f.asked("/machines?limit=500") >= 2 })
			s := p.now()
			if m := machine(s, "m"); m == nil {
				t.Error("the Machine is gone")
			}
			if n := f.asked("/machines?", "watch=true"); n > 3*failLimit {
				t.Errorf("%d watches were opened", n)
			}
		})
	}
}

// TestEchoOfTheLogin has a server that says the token back wherever it can.
func TestEchoOfTheLogin(t *testing.T) {
	f := newFakeAPI(t)
	f.set(func(w http.ResponseWriter, r *http.Request) bool {
		auth := r.Header.Get("Authorization")
		w.Header().Set("Warning", `299 - "`+auth+`"`)
		if strings.HasSuffix(r.URL.Path, "/machines") {
			status(w, 500, "InternalError", "bad header: "+auth)
			return true
		}
		return false
	})
	secrets := &text.Secrets{}
	file := f.kubeconfig(t, func(c *api.Config) {
		for _, u := range c.AuthInfos {
			u.Token = "a-token-of-some-length"
		}
	})
	_, p := watched(t, Options{Kubeconfig: file, Secrets: secrets})
	s := eventually(t, p, "it answers", sourceIs("supervisor/machines", model.SourceUnreachable, "bad header: Bearer "))
	raw, err := json.Marshal(s.Sources)
	if err != nil || secrets.Longest() == 0 || secrets.Hide(string(raw)) != string(raw) {
		t.Errorf("%v: %s", err, raw)
	}
	if !strings.Contains(string(raw), "Bearer ***") {
		t.Errorf("%s", raw)
	}
}

// TestQuietWatch takes a watch that says nothing for live only as long as an API server would be quiet.
func TestQuietWatch(t *testing.T) {
	s := model.NewStore(nil)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	b := &board{sink: &picture{store: s}, now: func() time.Time { return now }, sources: map[model.SourceName]model.Source{}}
	b.fresh("supervisor/machines", true)
	b.quiet("supervisor/machines")
	if src := s.Snapshot(now).Source("supervisor/machines"); src.Live || src.State != model.SourceOK || src.Age(now.Add(time.Minute)) != time.Minute {
		t.Errorf("%+v", src)
	}
}
