package workload

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"vksmedic/model"
)

const (
	web = "web"
	ns  = "team-a"
)

func ref() model.ClusterRef { return model.ClusterRef{Namespace: ns, Name: web} }

// inside stands in for a workload cluster's API server, to have one that misbehaves; a
// real one is looked into in the tests against the lab.
type inside struct {
	*httptest.Server
	mu       sync.Mutex
	lists    map[string][]map[string]any // by resource.
	requests []string
	override func(w http.ResponseWriter, r *http.Request) bool
}

func newInside(t testing.TB) *inside {
	i := &inside{lists: map[string][]map[string]any{}}
	i.Server = httptest.NewTLSServer(i)
	t.Cleanup(func() {
		i.CloseClientConnections()
		i.Close()
	})
	return i
}

func (i *inside) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	i.requests = append(i.requests, r.URL.String())
	override := i.override
	i.mu.Unlock()
	if override != nil && override(w, r) {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	resource := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	items := []map[string]any{}
	for _, o := range i.lists[resource] {
		spec, _ := o["spec"].(map[string]any)
		meta, _ := o["metadata"].(map[string]any)
		labels, _ := meta["labels"].(map[string]any)
		if f := r.URL.Query().Get("fieldSelector"); f != "" && f != fmt.Sprintf("spec.nodeName=%v", spec["nodeName"]) {
			continue
		}
		if l := r.URL.Query().Get("labelSelector"); l != "" && labels[l] == nil {
			continue
		}
		items = append(items, o)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": "1"}, "items": items})
}

func (i *inside) set(resource string, objects ...map[string]any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.lists[resource] = objects
}

func (i *inside) handle(f func(w http.ResponseWriter, r *http.Request) bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.override = f
}

func (i *inside) asked(part string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := 0
	for _, r := range i.requests {
		if strings.Contains(r, part) {
			n++
		}
	}
	return n
}

func (i *inside) config() *api.Config {
	c := api.NewConfig()
	c.Clusters["web"] = &api.Cluster{Server: i.URL, CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw})}
	c.AuthInfos["admin"] = &api.AuthInfo{Token: "s3cr3t"}
	c.Contexts["web"] = &api.Context{Cluster: "web", AuthInfo: "admin"}
	c.CurrentContext = "web"
	return c
}

func write(t testing.TB, c *api.Config) []byte {
	t.Helper()
	b, err := clientcmd.Write(*c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func node(name, ready string, unschedulable bool) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": name, "uid": name}, "spec": map[string]any{"unschedulable": unschedulable},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": ready}}}}
}

func pod(namespace, name, uid, node string, agent bool) map[string]any {
	labels := map[string]any{"app": name}
	if agent {
		labels[AgentLabel] = "v3"
	}
	return map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name, "namespace": namespace, "uid": uid, "labels": labels}, "spec": map[string]any{"nodeName": node}}
}

func TestVet(t *testing.T) {
	i := newInside(t)
	good, err := Vet(write(t, i.config()))
	if err != nil || good.Host != i.URL || good.BearerToken != "s3cr3t" || len(good.CAData) == 0 {
		t.Fatalf("%+v, %v", good, err)
	}
	for name, c := range map[string]struct {
		change func(*api.Config)
		word   string
	}{
		"exec": {func(c *api.Config) {
			c.AuthInfos["admin"].Exec = &api.ExecConfig{Command: "/bin/sh", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: api.NeverExecInteractiveMode}
		}, "exec plug-in"},
		"exec of a user that is not used": {func(c *api.Config) {
			c.AuthInfos["other"] = &api.AuthInfo{Exec: &api.ExecConfig{Command: "/bin/sh", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: api.NeverExecInteractiveMode}}
		}, "exec plug-in"},
		"a user in the address": {func(c *api.Config) { c.Clusters["web"].Server = "https://anna:secret@192.0.2.1" }, "a user in the server's address"},
		"auth provider":         {func(c *api.Config) { c.AuthInfos["admin"].AuthProvider = &api.AuthProviderConfig{Name: "oidc"} }, "auth-provider"},
		"certificate file":      {func(c *api.Config) { c.AuthInfos["admin"].ClientCertificate = "/etc/passwd" }, "path"},
		"key file":              {func(c *api.Config) { c.AuthInfos["admin"].ClientKey = "/etc/passwd" }, "path"},
		"token file":            {func(c *api.Config) { c.AuthInfos["admin"].TokenFile = "/etc/passwd" }, "path"},
		"authority file":        {func(c *api.Config) { c.Clusters["web"].CertificateAuthority = "/etc/passwd" }, "path"},
		"insecure": {func(c *api.Config) {
			c.Clusters["web"].InsecureSkipTLSVerify = true
			c.Clusters["web"].CertificateAuthorityData = nil
		}, "insecure-skip-tls-verify"},
		"proxy":              {func(c *api.Config) { c.Clusters["web"].ProxyURL = "http://192.0.2.1" }, "proxy-url"},
		"impersonation":      {func(c *api.Config) { c.AuthInfos["admin"].Impersonate = "root" }, "impersonation"},
		"impersonated group": {func(c *api.Config) { c.AuthInfos["admin"].ImpersonateGroups = []string{"system:masters"} }, "impersonation"},
		"password":           {func(c *api.Config) { c.AuthInfos["admin"].Username = "a" }, "password"},
		"plain HTTP":         {func(c *api.Config) { c.Clusters["web"].Server = "http://192.0.2.1" }, "https://"},
		"a socket":           {func(c *api.Config) { c.Clusters["web"].Server = "unix:///var/run/x" }, "https://"},
	} {
		t.Run(name, func(t *testing.T) {
			k := i.config()
			c.change(k)
			_, err := Vet(write(t, k))
			if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.word) || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("%v", err)
			}
		})
	}
	for name, text := range map[string]string{"garbage": "s3cr3t: [", "empty": "", "binary": "\x00\x01s3cr3t"} {
		if _, err := Vet([]byte(text)); err == nil || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: %v", name, err)
		}
	}
	named := i.config()
	named.Clusters["web"].TLSServerName = "kubernetes"
	if c, err := Vet(write(t, named)); err != nil || c.ServerName != "kubernetes" {
		t.Errorf("tls-server-name: %v", err)
	}
}

// store is a sink, and the snapshots that the looker is told of.
type store struct {
	mu sync.Mutex
	s  *model.Store
}

func (s *store) Update(f func(*model.Store)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.s)
}

func (s *store) now() *model.Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.s.Snapshot(time.Now())
}

func (s *store) cluster(machines ...*model.Machine) {
	s.Update(func(st *model.Store) {
		c := &model.ClusterObject{ControlPlaneInitialized: true}
		c.Kind, c.Namespace, c.Name = "Cluster", ns, web
		st.Put(c)
		for _, m := range machines {
			m.Kind, m.Namespace, m.Cluster = "Machine", ns, web
			st.Put(m)
		}
	})
}

func looking(t testing.TB, c Config) (*Looker, *store) {
	t.Helper()
	l := New(c)
	s := &store{s: model.NewStore(nil)}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { l.Run(ctx, s); close(done) }()
	t.Cleanup(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Error("Run did not end with its context")
		}
	})
	return l, s
}

func secretOf(c func() []byte) func(context.Context, string, string) (map[string][]byte, error) {
	return func(_ context.Context, namespace, name string) (map[string][]byte, error) {
		if namespace != ns || name != "web-kubeconfig" {
			return nil, fmt.Errorf("asked for %s/%s", namespace, name)
		}
		return map[string][]byte{"value": c()}, nil
	}
}

func workloadOf(s *store) *model.Workload {
	if c := s.now().Cluster(ref()); c != nil {
		return c.Workload
	}
	return &model.Workload{}
}

func eventually(t testing.TB, s *store, what string, ok func(w *model.Workload) bool) *model.Workload {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		w := workloadOf(s)
		if ok(w) {
			return w
		}
		if time.Now().After(deadline) {
			t.Fatalf("never happened: %s\n%+v", what, w)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestHealthyClusterHasOnlyItsNodesRead(t *testing.T) {
	i := newInside(t)
	i.set("nodes", node("n2", "True", false), node("n1", "True", false))
	l, s := looking(t, Config{Secret: secretOf(func() []byte { return write(t, i.config()) })})
	s.cluster()
	l.Observe(s.now())
	w := eventually(t, s, "its nodes are seen", func(w *model.Workload) bool { return len(w.Nodes) == 2 })
	if w.Nodes[0].Name != "n1" || w.NodesSource.Name != "workload/team-a/web/nodes" || w.NodesSource.State != model.SourceOK || w.Way != i.URL || len(w.PodsOn) != 0 {
		t.Errorf("%+v", w)
	}
	if n := i.asked("pods"); n != 0 {
		t.Errorf("pods were read %d times", n)
	}
	if sn := s.now(); sn.Source("workload/team-a/web/pods") == nil {
		t.Errorf("sources: %+v", sn.Sources)
	}
	// Looking again now.
	l.Refresh()
	eventually(t, s, "it is looked at again", func(*model.Workload) bool { return i.asked("nodes") == 2 })
	// A cluster that goes is forgotten.
	s.Update(func(st *model.Store) { st.Delete(model.ObjectRef{Kind: "Cluster", Namespace: ns, Name: web}) })
	l.Observe(s.now())
	deadline := time.Now().Add(10 * time.Second)
	for s.now().Source("workload/team-a/web/nodes") != nil {
		if time.Now().After(deadline) {
			t.Fatal("its sources stay")
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestDrainingNodeIsLookedAtClosely(t *testing.T) {
	i := newInside(t)
	i.set("nodes", node("n1", "True", true), node("n2", "True", false))
	i.set("pods", pod("pinniped-concierge", "agent-1", "u1", "n1", true), pod("app", "db-0", "u2", "n1", false), pod("app", "other", "u3", "n2", false), pod("tmc", "agent-x", "u4", "n2", true))
	i.set("poddisruptionbudgets",
		map[string]any{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": map[string]any{"name": "db", "namespace": "app"}, "spec": map[string]any{"selector": map[string]any{}}},
		map[string]any{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": map[string]any{"name": "far", "namespace": "elsewhere"}})
	i.set("namespaces", map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "app", "labels": map[string]any{"a": "b"}}})
	attachment := func(name, node string) map[string]any {
		return map[string]any{"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": map[string]any{"name": name}, "spec": map[string]any{"nodeName": node}}
	}
	i.set("volumeattachments", attachment("a1", "n1"), attachment("a2", "n2"))
	m := &model.Machine{NodeName: "n1"}
	m.Name, m.Deleting = "m1", time.Now()
	l, s := looking(t, Config{Secret: secretOf(func() []byte { return write(t, i.config()) })})
	s.cluster(m)
	l.Observe(s.now())
	w := eventually(t, s, "its pods are seen", func(w *model.Workload) bool { return w.PodsOn["n1"] })
	var names []string
	for _, p := range w.Pods {
		names = append(names, p.Namespace+"/"+p.Name)
	}
	if got := strings.Join(names, " "); got != "app/db-0 pinniped-concierge/agent-1 tmc/agent-x" {
		t.Errorf("pods: %s", got)
	}
	if len(w.Budgets) != 1 || w.Budgets[0].Name != "db" || w.NamespaceLabels["app"]["a"] != "b" || len(w.Attachments) != 1 || w.HasPinniped != model.Yes || w.PodsOn["n2"] {
		t.Errorf("%+v", w)
	}
	if len(w.Sightings) != 1 || w.Sightings[0].UID != "u1" || w.Sightings[0].Gone {
		t.Errorf("sightings: %+v", w.Sightings)
	}
	// It comes back under another name.
	i.set("pods", pod("pinniped-concierge", "agent-2", "u5", "n1", true))
	w = eventually(t, s, "it is looked at again by itself, and both agents were seen", func(w *model.Workload) bool { return len(w.Sightings) == 2 })
	if !w.Sightings[0].Gone || w.Sightings[1].Name != "agent-2" || w.Sightings[1].Gone || w.Sightings[0].First.After(w.Sightings[1].First) {
		t.Errorf("sightings: %+v", w.Sightings)
	}
}

func TestNodeThatOnlyTheClusterShowsAsNotReady(t *testing.T) {
	i := newInside(t)
	i.set("nodes", node("n1", "Unknown", false))
	l, s := looking(t, Config{Secret: secretOf(func() []byte { return write(t, i.config()) })})
	s.cluster()
	l.Observe(s.now())
	w := eventually(t, s, "its pods are read", func(w *model.Workload) bool { return w.PodsOn["n1"] })
	if w.HasPinniped != model.No {
		t.Errorf("pinniped: %s", w.HasPinniped)
	}
}

func TestCredentialsThatCannotBeHad(t *testing.T) {
	i := newInside(t)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "web-kubeconfig", errors.New("no"))
	for name, c := range map[string]struct {
		secret func(context.Context, string, string) (map[string][]byte, error)
		state  model.SourceState
		words  []string
	}{
		"forbidden": {func(context.Context, string, string) (map[string][]byte, error) {
			return nil, fmt.Errorf("cannot read secret team-a/web-kubeconfig: forbidden for user anna: %w", forbidden)
		}, model.SourceForbidden, []string{"team-a/web-kubeconfig", "--workload-kubeconfig team-a/web=FILE"}},
		"exec": {secretOf(func() []byte {
			k := i.config()
			k.AuthInfos["admin"].Exec = &api.ExecConfig{Command: "/bin/sh", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: api.NeverExecInteractiveMode}
			return write(t, k)
		}), model.SourceForbidden, []string{"exec plug-in", "refused", "--workload-kubeconfig team-a/web=FILE"}},
		"no key":  {func(context.Context, string, string) (map[string][]byte, error) { return nil, nil }, model.SourceUnreachable, []string{"no key value"}},
		"garbage": {secretOf(func() []byte { return []byte("s3cr3t: [") }), model.SourceUnreachable, []string{"not a kubeconfig"}},
		"panics":  {func(context.Context, string, string) (map[string][]byte, error) { panic("a bug") }, model.SourceUnreachable, []string{"vksmedic itself failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			l, s := looking(t, Config{Secret: c.secret})
			s.cluster()
			l.Observe(s.now())
			w := eventually(t, s, "it is said", func(w *model.Workload) bool { return w.NodesSource.State == c.state })
			for _, word := range c.words {
				if !strings.Contains(w.NodesSource.Detail, word) {
					t.Errorf("%q does not say %q", w.NodesSource.Detail, word)
				}
			}
			if strings.Contains(w.NodesSource.Detail, "s3cr3t") {
				t.Errorf("%q tells the secret", w.NodesSource.Detail)
			}
			if w.HasPinniped != model.Unknown {
				t.Errorf("pinniped: %s", w.HasPinniped)
			}
		})
	}
}

func TestRotatedCredentialsAreReadAgain(t *testing.T) {
	i := newInside(t)
	i.set("nodes", node("n1", "True", false))
	var mu sync.Mutex
	token := "one"
	i.handle(func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("Authorization") == "Bearer "+token {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401}`)
		return true
	})
	l, s := looking(t, Config{Secret: secretOf(func() []byte {
		mu.Lock()
		defer mu.Unlock()
		k := i.config()
		k.AuthInfos["admin"].Token = token
		return write(t, k)
	})})
	s.cluster()
	l.Observe(s.now())
	first := eventually(t, s, "it is seen", func(w *model.Workload) bool { return w.NodesSource.State == model.SourceOK })
	mu.Lock()
	token = "two"
	mu.Unlock()
	l.Refresh()
	eventually(t, s, "it is seen again with the new token", func(w *model.Workload) bool {
		return w.NodesSource.State == model.SourceOK && w.NodesSource.Seen.After(first.NodesSource.Seen)
	})
}

func TestDeadClusterTurnsStaleAndHoldsUpNobody(t *testing.T) {
	i := newInside(t)
	i.set("nodes", node("n1", "True", false))
	l, s := looking(t, Config{Secret: secretOf(func() []byte { return write(t, i.config()) }), Deadline: 200 * time.Millisecond, AtOnce: 1})
	s.cluster()
	l.Observe(s.now())
	eventually(t, s, "it is seen", func(w *model.Workload) bool { return w.NodesSource.State == model.SourceOK })
	i.handle(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true })
	l.Refresh()
	w := eventually(t, s, "it is stale", func(w *model.Workload) bool { return w.NodesSource.State == model.SourceStale })
	if len(w.Nodes) != 1 || !strings.Contains(w.NodesSource.Detail, i.URL) || w.NodesSource.Seen.IsZero() {
		t.Errorf("%+v", w)
	}
	i.handle(nil)
	l.Refresh()
	eventually(t, s, "it comes back", func(w *model.Workload) bool { return w.NodesSource.State == model.SourceOK })
}

func TestPodsThatMayNotBeRead(t *testing.T) {
	i := newInside(t)
	i.set("nodes", node("n1", "True", true))
	i.handle(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/nodes") {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`)
		return true
	})
	l, s := looking(t, Config{Secret: secretOf(func() []byte { return write(t, i.config()) })})
	s.cluster()
	l.Observe(s.now())
	w := eventually(t, s, "nodes are seen", func(w *model.Workload) bool { return len(w.Nodes) == 1 })
	if w.PodsSource.State != model.SourceForbidden || w.BudgetsSource.State != model.SourceForbidden || w.PodsOn["n1"] || w.HasPinniped != model.Unknown || w.NamespaceLabels != nil {
		t.Errorf("%+v", w)
	}
}

func TestPace(t *testing.T) {
	l := New(Config{Random: func() float64 { return 0.5 }})
	for _, c := range []struct {
		t    target
		want time.Duration
	}{
		{target{}, time.Minute}, {target{near: true}, 5 * time.Second},
		{target{near: true, fails: 1}, 10 * time.Second}, {target{near: true, fails: 20}, longestNear}, {target{fails: 20}, longestFar},
	} {
		if got := l.pace(&c.t); got != c.want {
			t.Errorf("%+v: %v, want %v", c.t, got, c.want)
		}
	}
}

func TestNeed(t *testing.T) {
	m := func(node string, change func(*model.Machine)) *model.Machine {
		m := &model.Machine{NodeName: node}
		change(m)
		return m
	}
	deleting := func(m *model.Machine) { m.Deleting = time.Now() }
	unhealthy := func(m *model.Machine) { m.Conditions.New = model.Conditions{{Type: "NodeReady", Status: "False"}} }
	fine := func(m *model.Machine) { m.Conditions.New = model.Conditions{{Type: "NodeReady", Status: "True"}} }
	for name, c := range map[string]struct {
		cluster model.Cluster
		want    string
	}{
		"fine":              {model.Cluster{Object: &model.ClusterObject{ControlPlaneInitialized: true}, Machines: []*model.Machine{m("a", fine)}}, "true false []"},
		"being made":        {model.Cluster{Object: &model.ClusterObject{}}, "false false []"},
		"unhealthy, drains": {model.Cluster{Object: &model.ClusterObject{}, Machines: []*model.Machine{m("a", unhealthy), m("b", deleting)}}, "true true [b a]"},
		"no node yet":       {model.Cluster{Object: &model.ClusterObject{}, Machines: []*model.Machine{m("", unhealthy)}}, "false false []"},
		"a finding":         {model.Cluster{Findings: []model.Finding{{Severity: model.Warning}}}, "true true []"},
		"only information":  {model.Cluster{Findings: []model.Finding{{Severity: model.Info}}}, "true false []"},
	} {
		n := needOf(&c.cluster)
		if got := fmt.Sprint(n.possible, n.near, n.nodes); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
