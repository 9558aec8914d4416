package supervisor

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"vksmedic/model"
	"vksmedic/testdata/labtest"
)

// fakeAPI stands in for an API server where a real one cannot be made to misbehave: it
// serves Clusters and Machines, and override answers first. What a well-behaved server
// does is tested against the lab.
type fakeAPI struct {
	*httptest.Server

	mu       sync.Mutex
	token    string // what it accepts; empty: anything.
	rv       int
	objects  map[string]map[string]any // by "resource ns/name".
	watchers []chan string
	history  []change
	requests []string
	// override handles a request when it returns true.
	override func(w http.ResponseWriter, r *http.Request) bool
}

type change struct {
	rv   int
	text string
}

func newFakeAPI(t testing.TB) *fakeAPI {
	f := &fakeAPI{objects: map[string]map[string]any{}, rv: 10}
	f.Server = httptest.NewTLSServer(f)
	t.Cleanup(func() {
		f.dropWatches()
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

func (f *fakeAPI) set(override func(w http.ResponseWriter, r *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.override = override
}

func (f *fakeAPI) setToken(s string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.token = s
}

// put adds or changes a Machine and tells those who watch.
func (f *fakeAPI) put(ns, name, phase string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rv++
	o := map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
		"metadata": map[string]any{"name": name, "namespace": ns, "uid": "uid-" + name, "resourceVersion": fmt.Sprint(f.rv)},
		"spec":     map[string]any{"clusterName": "c"}, "status": map[string]any{"phase": phase},
	}
	t := "MODIFIED"
	if f.objects["machines "+ns+"/"+name] == nil {
		t = "ADDED"
	}
	f.objects["machines "+ns+"/"+name] = o
	text, _ := json.Marshal(map[string]any{"type": t, "object": o})
	f.history = append(f.history, change{f.rv, string(text)})
	for _, w := range f.watchers {
		w <- string(text)
	}
}

// dropWatches breaks the connections of all watches.
func (f *fakeAPI) dropWatches() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.watchers {
		close(w)
	}
	f.watchers = nil
}

func (f *fakeAPI) watching() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.watchers)
}

// asked counts requests whose line contains all words.
func (f *fakeAPI) asked(words ...string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
next:
	for _, r := range f.requests {
		for _, w := range words {
			if !strings.Contains(r, w) {
				continue next
			}
		}
		n++
	}
	return n
}

func status(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message})
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.requests = append(f.requests, r.Method+" "+r.URL.String())
	token, override := f.token, f.override
	f.mu.Unlock()
	if override != nil && override(w, r) {
		return
	}
	if token != "" && r.Header.Get("Authorization") != "Bearer "+token {
		status(w, http.StatusUnauthorized, "Unauthorized", "Unauthorized")
		return
	}
	switch p := r.URL.Path; {
	case p == "/api":
		answer(w, map[string]any{"kind": "APIVersions", "versions": []string{"v1"}})
	case p == "/apis":
		v := map[string]any{"groupVersion": "cluster.x-k8s.io/v1beta2", "version": "v1beta2"}
		answer(w, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{map[string]any{"name": "cluster.x-k8s.io", "versions": []any{v}, "preferredVersion": v}}})
	case p == "/api/v1":
		answer(w, map[string]any{"kind": "APIResourceList", "groupVersion": "v1", "resources": []any{map[string]any{"name": "namespaces", "kind": "Namespace"}}})
	case p == "/apis/cluster.x-k8s.io/v1beta2":
		answer(w, map[string]any{"kind": "APIResourceList", "groupVersion": "cluster.x-k8s.io/v1beta2", "resources": []any{
			map[string]any{"name": "machines", "kind": "Machine", "namespaced": true}, map[string]any{"name": "clusters", "kind": "Cluster", "namespaced": true}}})
	case p == "/api/v1/namespaces/kube-system":
		answer(w, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "kube-system", "uid": "the-uid"}})
	case strings.HasSuffix(p, "/machines") || strings.HasSuffix(p, "/clusters"):
		f.serveList(w, r)
	default:
		status(w, http.StatusNotFound, "NotFound", "there is no "+p)
	}
}

func (f *fakeAPI) serveList(w http.ResponseWriter, r *http.Request) {
	resource := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	if r.URL.Query().Get("watch") == "" {
		f.mu.Lock()
		items := []any{}
		for k, o := range f.objects {
			if strings.HasPrefix(k, resource+" ") {
				items = append(items, o)
			}
		}
		rv := f.rv
		f.mu.Unlock()
		answer(w, map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "List", "metadata": map[string]any{"resourceVersion": fmt.Sprint(rv)}, "items": items})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	if resource != "machines" {
		<-r.Context().Done()
		return
	}
	ch := make(chan string, 100)
	from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
	f.mu.Lock()
	for _, c := range f.history {
		if c.rv > from {
			ch <- c.text
		}
	}
	f.watchers = append(f.watchers, ch)
	f.mu.Unlock()
	for {
		select {
		case <-r.Context().Done():
			return
		case text, ok := <-ch:
			if !ok {
				panic(http.ErrAbortHandler) // as a broken connection.
			}
			_, _ = fmt.Fprintln(w, text)
			w.(http.Flusher).Flush()
		}
	}
}

// kubeconfig is a file with a login to the server, changed if need be.
func (f *fakeAPI) kubeconfig(t testing.TB, change func(*api.Config)) string {
	t.Helper()
	return labtest.LoginFile(t, f.Server, change)
}

// rewrite changes a kubeconfig file as a login in another terminal would.
func rewrite(t testing.TB, file string, change func(*api.Config)) {
	t.Helper()
	c, err := clientcmd.LoadFromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	change(c)
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Second)
	if err := os.Chtimes(file, later, later); err != nil {
		t.Fatal(err)
	}
}

// picture is a sink that keeps a store.
type picture struct {
	mu    sync.Mutex
	store *model.Store
}

func (p *picture) Update(f func(*model.Store)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(p.store)
}

func (p *picture) now() *model.Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.store.Snapshot(time.Now())
}

// watched connects, watches until the test ends, and returns what is seen.
func watched(t testing.TB, opts Options) (*Connection, *picture) {
	t.Helper()
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	c, err := Connect(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	p := &picture{store: model.NewStore(nil)}
	done := make(chan struct{})
	go func() { c.Watch(t.Context(), p); close(done) }()
	t.Cleanup(func() {
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Error("Watch did not end with its context")
		}
	})
	return c, p
}

// eventually waits until the picture is as it should be.
func eventually(t testing.TB, p *picture, what string, ok func(*model.Snapshot) bool) *model.Snapshot {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		s := p.now()
		if ok(s) {
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s\nsources: %+v", what, s.Sources)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func sourceIs(name model.SourceName, state model.SourceState, words ...string) func(*model.Snapshot) bool {
	return func(s *model.Snapshot) bool {
		src := s.Source(name)
		if src == nil || src.State != state {
			return false
		}
		for _, w := range words {
			if !strings.Contains(src.Detail, w) {
				return false
			}
		}
		return true
	}
}

func machine(s *model.Snapshot, name string) *model.Machine {
	for _, c := range s.Clusters {
		if m := c.Machine(name); m != nil {
			return m
		}
	}
	return nil
}
