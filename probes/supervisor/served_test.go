package supervisor

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestServes(t *testing.T) {
	f := newFakeAPI(t)
	c := connectTo(t, f)
	machines := schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "machines"}
	for name, tt := range map[string]struct {
		gvr      schema.GroupVersionResource
		override func(w http.ResponseWriter, r *http.Request) bool
		want     bool
		err      string
	}{
		"served":                      {gvr: machines, want: true},
		"of the core":                 {gvr: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, want: true},
		"another kind of the group":   {gvr: machines.GroupVersion().WithResource("machinedrainrules")},
		"another version":             {gvr: schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta1", Resource: "machines"}},
		"another group":               {gvr: schema.GroupVersionResource{Group: "vmoperator.vmware.com", Version: "v1alpha5", Resource: "virtualmachines"}},
		"no objects may be read":      {gvr: machines, want: true, override: objects(http.StatusForbidden, "Forbidden")},
		"no object is there":          {gvr: machines, want: true, override: objects(http.StatusNotFound, "NotFound")},
		"404 in plain text":           {gvr: schema.GroupVersionResource{Group: "gone.test", Version: "v1", Resource: "things"}, override: plain404},
		"its own server does not run": {gvr: machines, err: "503", override: at("/apis/cluster.x-k8s.io/v1beta2", http.StatusServiceUnavailable, "")},
		"discovery is forbidden":      {gvr: machines, err: "may not", override: at("/apis/cluster.x-k8s.io/v1beta2", http.StatusForbidden, "Forbidden")},
		"listed, and 404":             {gvr: machines, err: "lists cluster.x-k8s.io/v1beta2 and answers 404", override: at("/apis/cluster.x-k8s.io/v1beta2", http.StatusNotFound, "NotFound")},
		"a proxy says 404 to all":     {gvr: machines, err: "could not find the requested resource", override: at("/", http.StatusNotFound, "NotFound")},
		"the core is empty":           {gvr: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, err: "serves nothing at all", override: at("/api/v1", http.StatusNotFound, "NotFound")},
		"the login has ended":         {gvr: machines, err: "log in again", override: at("/", http.StatusUnauthorized, "Unauthorized")},
	} {
		t.Run(name, func(t *testing.T) {
			f.set(tt.override)
			served, err := c.Serves(t.Context(), tt.gvr)
			if served != tt.want || (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%v, %v", served, err)
			}
		})
	}
}

// at answers what begins with a path.
func at(path string, code int, reason string) func(w http.ResponseWriter, r *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, path) {
			return false
		}
		status(w, code, reason, "by the test")
		return true
	}
}

// objects answers what asks for objects and not for what is served.
func objects(code int, reason string) func(w http.ResponseWriter, r *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Count(r.URL.Path, "/") < 4 {
			return false
		}
		status(w, code, reason, "by the test")
		return true
	}
}

// plain404 answers as kube-apiserver does for a path that it does not know.
func plain404(w http.ResponseWriter, r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, "/apis/gone.test/") {
		return false
	}
	http.Error(w, "404 page not found", http.StatusNotFound)
	return true
}

// What was served a moment ago may not be any more: the answer is never remembered.
func TestServesAsksEachTime(t *testing.T) {
	f := newFakeAPI(t)
	c := connectTo(t, f)
	machines := schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "machines"}
	if _, _, ok, err := c.ResourceFor(t.Context(), "Machine"); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	f.set(func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/apis/cluster.x-k8s.io/v1beta2":
			status(w, http.StatusNotFound, "NotFound", "gone")
		case "/apis":
			answer(w, map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": []any{}})
		default:
			return false
		}
		return true
	})
	if served, err := c.Serves(t.Context(), machines); served || err != nil {
		t.Errorf("%v, %v", served, err)
	}
	f.set(nil)
	if served, err := c.Serves(t.Context(), machines); !served || err != nil {
		t.Errorf("%v, %v", served, err)
	}
}

func TestServesEndsInTime(t *testing.T) {
	f := newFakeAPI(t)
	c, err := Connect(t.Context(), Options{Kubeconfig: f.kubeconfig(t, nil), Deadline: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	f.set(func(_ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	})
	if served, err := c.Serves(t.Context(), schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}); served || err == nil || !strings.Contains(err.Error(), "in time") {
		t.Errorf("%v, %v", served, err)
	}
}
