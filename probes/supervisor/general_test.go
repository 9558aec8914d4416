package supervisor

import (
	"net/http"
	"strings"
	"testing"

	"vksmedic/model"
)

// What is about the Supervisor as a whole: VM Operator's role by its name, and the kinds of which
// only the name is known, in whatever group and version they are served.
func TestWatchWhatIsAboutTheWholeSupervisor(t *testing.T) {
	f := newFakeAPI(t)
	group := func(name, version string) map[string]any {
		v := map[string]any{"groupVersion": name + "/" + version, "version": version}
		return map[string]any{"name": name, "versions": []any{v}, "preferredVersion": v}
	}
	list := func(w http.ResponseWriter, r *http.Request, items ...any) bool {
		if r.URL.Query().Get("watch") != "" {
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return true
		}
		answer(w, map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": "7"}, "items": items})
		return true
	}
	object := func(apiVersion, kind, name string, rest map[string]any) map[string]any {
		o := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "creationTimestamp": "2026-08-01T10:00:00Z", "resourceVersion": "3"}}
		for k, v := range rest {
			o[k] = v
		}
		return o
	}
	f.set(func(w http.ResponseWriter, r *http.Request) bool {
		switch p := r.URL.Path; {
		case p == "/apis":
			answer(w, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{group("cluster.x-k8s.io", "v1beta2"), group("rbac.authorization.k8s.io", "v1"), group("containerregistry.vmware.com", "v1alpha9"), group("registry.example.com", "v1")}})
		case p == "/api/v1":
			answer(w, map[string]any{"kind": "APIResourceList", "groupVersion": "v1", "resources": []any{map[string]any{"name": "events", "kind": "Event", "namespaced": true}}})
		case p == "/apis/rbac.authorization.k8s.io/v1":
			answer(w, map[string]any{"kind": "APIResourceList", "groupVersion": "rbac.authorization.k8s.io/v1", "resources": []any{map[string]any{"name": "clusterroles", "kind": "ClusterRole"}}})
		case p == "/apis/containerregistry.vmware.com/v1alpha9":
			answer(w, map[string]any{"kind": "APIResourceList", "groupVersion": "containerregistry.vmware.com/v1alpha9", "resources": []any{map[string]any{"name": "clusterregistryconfigz", "kind": "ClusterRegistryConfig"}}})
		case p == "/apis/registry.example.com/v1":
			answer(w, map[string]any{"kind": "APIResourceList", "groupVersion": "registry.example.com/v1", "resources": []any{map[string]any{"name": "registryconfigs", "kind": "RegistryConfig", "namespaced": true}}})
		case strings.HasSuffix(p, "/clusterroles"):
			return list(w, r, object("rbac.authorization.k8s.io/v1", "ClusterRole", model.VMOperatorRole, map[string]any{"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"endpoints"}, "verbs": []any{"get", "update"}}}}))
		case strings.HasSuffix(p, "/clusterregistryconfigz"):
			return list(w, r, object("containerregistry.vmware.com/v1alpha9", "ClusterRegistryConfig", "harbor", nil))
		case strings.HasSuffix(p, "/events"):
			return list(w, r)
		default:
			return false
		}
		return true
	})
	_, p := watched(t, Options{Kubeconfig: f.kubeconfig(t, nil)})
	s := eventually(t, p, "role and registry are seen", func(s *model.Snapshot) bool {
		return len(s.Roles) == 1 && len(s.NodeConfigs) == 1 && sourceIs("supervisor/clusterroles", model.SourceOK)(s) && sourceIs("supervisor/events", model.SourceOK)(s)
	})
	if r := s.Roles[0].Rules[0]; !r.Allows("update", "", "endpoints") || r.Allows("patch", "", "endpoints") {
		t.Errorf("rule %+v", r)
	}
	if c := s.NodeConfigs[0]; c.Kind != "ClusterRegistryConfig" || c.Created.IsZero() {
		t.Errorf("%+v", c)
	}
	if f.asked("clusterroles", "metadata.name") == 0 || f.asked("events", "involvedObject.kind", "Warning") == 0 {
		t.Error("more was asked for than is looked at")
	}
	if f.asked("registry.example.com/v1/registryconfigs") != 0 || s.Source("supervisor/registryconfigs") != nil {
		t.Error("a kind of somebody else's was taken for VMware's")
	}
}
