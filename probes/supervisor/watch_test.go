package supervisor

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"vksmedic/model"
)

func pemOf(der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}) }

func TestWatchFollowsWithoutListingAgain(t *testing.T) {
	f := newFakeAPI(t)
	f.put("ns", "m1", "Running")
	_, p := watched(t, Options{Kubeconfig: f.kubeconfig(t, nil)})
	eventually(t, p, "m1 is seen", func(s *model.Snapshot) bool { return machine(s, "m1") != nil })
	s := eventually(t, p, "the watch is live", func(s *model.Snapshot) bool { return s.Source("supervisor/machines").Live })
	if s.Supervisor.Server != f.URL || s.Supervisor.Context != "sv" {
		t.Errorf("supervisor %+v", s.Supervisor)
	}
	f.put("ns", "m2", "Pending")
	f.put("ns", "m1", "Deleting")
	eventually(t, p, "changes arrive", func(s *model.Snapshot) bool {
		return machine(s, "m2") != nil && machine(s, "m1").Phase == "Deleting"
	})

	f.dropWatches()
	eventually(t, p, "it watches again", func(*model.Snapshot) bool { return f.watching() == 1 })
	f.put("ns", "m3", "Pending")
	eventually(t, p, "changes arrive again", func(s *model.Snapshot) bool {
		return machine(s, "m3") != nil && sourceIs("supervisor/machines", model.SourceOK)(s)
	})
	if n := f.asked("machines?limit"); n != 1 {
		t.Errorf("%d LISTs of Machines, want one", n)
	}
	eventually(t, p, "the Supervisor is told by its uid", func(s *model.Snapshot) bool { return s.Supervisor.Identity == "the-uid" })
	eventually(t, p, "drain rules are known not to be served", func(s *model.Snapshot) bool {
		return s.Supervisor.DrainRulesServed == model.No && sourceIs("supervisor/machinedrainrules", model.SourceNotServed, f.URL)(s)
	})
	eventually(t, p, "the version of VKS is known to be unknown", func(s *model.Snapshot) bool {
		return sourceIs("supervisor/vks", model.SourceNotServed)(s) && s.Supervisor.VKSDetail != ""
	})
	if n := f.asked("secrets"); n != 0 {
		t.Errorf("%d requests for Secrets", n)
	}
}

func TestWatchListsAgainWhenTheServerForgot(t *testing.T) {
	f := newFakeAPI(t)
	f.put("ns", "gone", "Running")
	_, p := watched(t, Options{Kubeconfig: f.kubeconfig(t, nil)})
	eventually(t, p, "it is seen", func(s *model.Snapshot) bool { return machine(s, "gone") != nil && f.watching() == 1 })
	refused := 0
	f.set(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/machines") && r.URL.Query().Get("watch") != "" && refused == 0 {
			refused++
			status(w, http.StatusGone, "Expired", "too old resource version")
			return true
		}
		return false
	})
	f.mu.Lock()
	delete(f.objects, "machines ns/gone")
	f.mu.Unlock()
	f.dropWatches()
	eventually(t, p, "what went meanwhile is gone", func(s *model.Snapshot) bool { return machine(s, "gone") == nil })
	if n := f.asked("machines?limit"); n != 2 {
		t.Errorf("%d LISTs of Machines, want two", n)
	}
}

func TestForbiddenEverywhereFallsBackToNamespaces(t *testing.T) {
	f := newFakeAPI(t)
	f.put("team-b", "m1", "Running")
	f.set(func(w http.ResponseWriter, r *http.Request) bool {
		all := strings.HasPrefix(r.URL.Path, "/apis/cluster.x-k8s.io/v1beta2/machines") || strings.HasPrefix(r.URL.Path, "/apis/cluster.x-k8s.io/v1beta2/clusters")
		if all || strings.Contains(r.URL.Path, "/namespaces/team-c/") {
			status(w, http.StatusForbidden, "Forbidden", "no")
			return true
		}
		return false
	})
	file := f.kubeconfig(t, func(c *api.Config) {
		c.Contexts["team-b"] = &api.Context{Cluster: "sv", AuthInfo: "x", Namespace: "team-b"}
		c.Clusters["other"] = &api.Cluster{Server: "https://192.0.2.99"}
		c.Contexts["other"] = &api.Context{Cluster: "other", AuthInfo: "x", Namespace: "elsewhere"}
	})
	_, p := watched(t, Options{Kubeconfig: file, Namespaces: []string{"team-c"}})
	s := eventually(t, p, "team-b is watched and team-c is forbidden", func(s *model.Snapshot) bool {
		return machine(s, "m1") != nil && sourceIs("supervisor/machines@team-b", model.SourceOK)(s) &&
			sourceIs("supervisor/machines@team-c", model.SourceForbidden, "list and watch machines.cluster.x-k8s.io in namespace team-c", "anna@vsphere.local")(s)
	})
	if s.Source("supervisor/machines") != nil {
		t.Error("the source that the namespaces stand in for is still there")
	}
	if s.Source("supervisor/machines@elsewhere") != nil || f.asked("elsewhere") != 0 {
		t.Error("a namespace of another server was asked for")
	}
}

func TestForbiddenEverywhereAndNoNamespaceKnown(t *testing.T) {
	f := newFakeAPI(t)
	f.set(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/machines") {
			status(w, http.StatusForbidden, "Forbidden", "no")
			return true
		}
		return false
	})
	c, p := watched(t, Options{Kubeconfig: f.kubeconfig(t, nil)})
	eventually(t, p, "it says which right is missing", sourceIs("supervisor/machines", model.SourceForbidden, "list and watch machines.cluster.x-k8s.io in all namespaces", "-n"))
	eventually(t, p, "the rest goes on", sourceIs("supervisor/clusters", model.SourceOK))
	f.put("ns", "m1", "Running")
	f.set(nil)
	c.Refresh()
	eventually(t, p, "a right that was given is used when asked to look again", func(s *model.Snapshot) bool { return machine(s, "m1") != nil })
}

func TestRestrictAsksNowhereElse(t *testing.T) {
	f := newFakeAPI(t)
	f.put("team-b", "m1", "Running")
	file := f.kubeconfig(t, func(c *api.Config) { c.Contexts["sv"].Namespace = "team-z" })
	_, p := watched(t, Options{Kubeconfig: file, Namespaces: []string{"team-b"}, Restrict: true})
	eventually(t, p, "m1 is seen", func(s *model.Snapshot) bool { return machine(s, "m1") != nil })
	if n := f.asked("v1beta2/machines") + f.asked("team-z"); n != 0 {
		t.Errorf("%d requests elsewhere", n)
	}
}

// Each way in which a server can answer badly has a sentence that names it and says what to do.
func TestBadAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		serve func(w http.ResponseWriter, r *http.Request)
		state model.SourceState
		words []string
	}{
		"401": {func(w http.ResponseWriter, _ *http.Request) { status(w, 401, "Unauthorized", "Unauthorized") }, model.SourceForbidden,
			[]string{"no longer valid", "kubectl vsphere login --server=192.0.2.10 --vsphere-username anna@vsphere.local"}},
		"403": {func(w http.ResponseWriter, _ *http.Request) { status(w, 403, "Forbidden", "no") }, model.SourceForbidden, []string{"may not"}},
		"429": {func(w http.ResponseWriter, _ *http.Request) { status(w, 429, "TooManyRequests", "slow down") }, model.SourceUnreachable, []string{"429"}},
		"500": {func(w http.ResponseWriter, _ *http.Request) {
			status(w, 500, "InternalError", "no")
		}, model.SourceUnreachable, []string{"500 Internal Server Error"}},
		"a log-in page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(w, "<html>log in</html>")
		}, model.SourceUnreachable, []string{"does not answer like Kubernetes", "proxy"}},
		"a page with 502": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(502)
		}, model.SourceUnreachable, []string{"does not answer like Kubernetes", "502"}},
		"other JSON": {func(w http.ResponseWriter, _ *http.Request) { answer(w, []string{"hello"}) }, model.SourceUnreachable, []string{"does not answer like Kubernetes"}},
		"text": {func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "hello") }, model.SourceUnreachable,
			[]string{"does not answer like Kubernetes"}},
		"it hangs": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, model.SourceUnreachable, []string{"not answer"}},
		"it hangs up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, model.SourceUnreachable,
			[]string{"check the network"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeAPI(t)
			f.set(func(w http.ResponseWriter, r *http.Request) bool {
				c.serve(w, r)
				return true
			})
			_, p := watched(t, Options{Kubeconfig: f.kubeconfig(t, nil), Deadline: time.Second})
			s := eventually(t, p, "it is said", sourceIs("supervisor/machines", c.state, c.words...))
			if d := s.Source("supervisor/machines").Detail; !strings.Contains(d, f.URL) && c.state != model.SourceForbidden || strings.Contains(d, "\x1b") {
				t.Errorf("detail %q", d)
			}
			f.set(nil)
			eventually(t, p, "it comes back by itself", sourceIs("supervisor/clusters", model.SourceOK))
		})
	}
}

func TestTooManyRequestsAreObeyed(t *testing.T) {
	f := newFakeAPI(t)
	var first, second time.Time
	f.set(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/machines") || r.URL.Query().Get("watch") != "" {
			return false
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if first.IsZero() {
			first = time.Now()
			w.Header().Set("Retry-After", "1")
			status(w, 429, "TooManyRequests", "slow down")
			return true
		}
		second = time.Now()
		return false
	})
	_, p := watched(t, Options{Kubeconfig: f.kubeconfig(t, nil)})
	eventually(t, p, "the list comes", sourceIs("supervisor/machines", model.SourceOK))
	f.mu.Lock()
	defer f.mu.Unlock()
	if d := second.Sub(first); d < 900*time.Millisecond {
		t.Errorf("asked again after %v", d)
	}
}

func TestDroppedServerTurnsStaleAndComesBack(t *testing.T) {
	f := newFakeAPI(t)
	f.put("ns", "m1", "Running")
	_, p := watched(t, Options{Kubeconfig: f.kubeconfig(t, nil)})
	eventually(t, p, "m1 is seen", func(s *model.Snapshot) bool { return machine(s, "m1") != nil && f.watching() == 1 })
	f.set(func(w http.ResponseWriter, _ *http.Request) bool {
		status(w, 503, "ServiceUnavailable", "starting\x1b[31m up")
		return true
	})
	f.dropWatches()
	s := eventually(t, p, "it is stale and says why", sourceIs("supervisor/machines", model.SourceStale, "503", "starting up"))
	if src := s.Source("supervisor/machines"); src.Live || src.Seen.IsZero() || machine(s, "m1") == nil {
		t.Errorf("%+v", src)
	}
	f.set(nil)
	eventually(t, p, "it comes back", func(s *model.Snapshot) bool {
		return sourceIs("supervisor/machines", model.SourceOK)(s) && s.Source("supervisor/machines").Live
	})
}

func TestPagesAndOddObjects(t *testing.T) {
	f := newFakeAPI(t)
	f.set(func(w http.ResponseWriter, r *http.Request) bool {
		q := r.URL.Query()
		if !strings.HasSuffix(r.URL.Path, "/machines") || q.Get("watch") != "" {
			return false
		}
		item := func(name string) any {
			return map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": map[string]any{"name": name, "namespace": "ns"}, "spec": map[string]any{"clusterName": "c"}, "status": 7}
		}
		meta := map[string]any{"resourceVersion": "20"}
		items := []any{item("second")}
		if q.Get("continue") == "" {
			meta["continue"] = "page-2"
			items = []any{item("first"), map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": map[string]any{}}}
		}
		answer(w, map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineList", "metadata": meta, "items": items})
		return true
	})
	_, p := watched(t, Options{Kubeconfig: f.kubeconfig(t, nil)})
	eventually(t, p, "both pages are seen", func(s *model.Snapshot) bool { return machine(s, "first") != nil && machine(s, "second") != nil })
	eventually(t, p, "what is odd is told", sourceIs("supervisor/machines", model.SourceNotUnderstood, "3 Machines could not be read: ", "the status of Machine first is no object"))
}
