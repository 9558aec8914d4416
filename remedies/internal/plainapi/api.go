package plainapi

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Resource is one resource that an API serves.
type Resource struct {
	// Group is empty for the core group. Versions are those that it is served in.
	Group    string
	Versions []string
	// Name is the plural, Kind the kind.
	Name, Kind string
	Namespaced bool
}

// Common are the resources that most tests need: some of the core group, Leases, Events of
// both groups, and those of Cluster API.
func Common() []Resource {
	v1, capi := []string{"v1"}, []string{"v1beta1", "v1beta2"}
	return []Resource{
		{"", v1, "namespaces", "Namespace", false},
		{"", v1, "nodes", "Node", false},
		{"", v1, "pods", "Pod", true},
		{"", v1, "configmaps", "ConfigMap", true},
		{"", v1, "secrets", "Secret", true},
		{"", v1, "events", "Event", true},
		{"", v1, "endpoints", "Endpoints", true},
		{"events.k8s.io", v1, "events", "Event", true},
		{"apps", v1, "deployments", "Deployment", true},
		{"coordination.k8s.io", v1, "leases", "Lease", true},
		{"rbac.authorization.k8s.io", v1, "clusterroles", "ClusterRole", false},
		{"cluster.x-k8s.io", capi, "clusters", "Cluster", true},
		{"cluster.x-k8s.io", capi, "machines", "Machine", true},
		{"cluster.x-k8s.io", capi, "machinedrainrules", "MachineDrainRule", true},
	}
}

// Request is one request that reached the API.
type Request struct {
	// Verb is one of get, list, create, update and delete; for what is asked about the API
	// itself it is discover.
	Verb string
	schema.GroupVersionResource
	Namespace, Name string
	DryRun          bool
	// Manager is the field manager of a write.
	Manager string
	Body    map[string]any
}

// String is "create machinedrainrules team-a/x", with "(dry run)" behind it where it is one.
func (r Request) String() string {
	s := r.Verb + " " + r.Resource
	switch {
	case r.Namespace != "" && r.Name != "":
		s += " " + r.Namespace + "/" + r.Name
	case r.Namespace+r.Name != "":
		s += " " + r.Namespace + r.Name
	}
	if r.DryRun {
		s += " (dry run)"
	}
	return s
}

// Trouble is what goes wrong with one request.
type Trouble struct {
	// Served says that the request is served before its answer is lost or replaced.
	Served bool
	// Err is what the client gets in place of an answer.
	Err error
	// Status is answered where it is not nil.
	Status *metav1.Status
	// Text is answered as plain text with the status Code, as a proxy does.
	Code int
	Text string
}

// API is a Kubernetes API in memory. It is safe for concurrent use.
type API struct {
	mu        sync.Mutex
	resources []Resource
	objects   map[key]*unstructured.Unstructured
	version   int64
	uids      int
	denied    []Denial
	disturb   func(Request) *Trouble
	requests  []Request
	user      string
	now       func() time.Time
}

// key is where an object is stored, whatever version it was written in.
type key struct{ group, resource, namespace, name string }

// Denial is what a user may not do. Empty fields stand for everything.
type Denial struct{ Verb, Group, Resource, Namespace string }

// New is an API that serves some resources and has the namespace kube-system.
func New(resources ...Resource) *API {
	a := &API{resources: resources, objects: map[key]*unstructured.Unstructured{}, version: 100, user: "sso:ana@corp.test", now: time.Now}
	if a.kindOf("", "Namespace") != nil {
		a.Put("kubernetes", Object("v1", "Namespace", "", metav1.NamespaceSystem))
	}
	return a
}

// Object is an object with nothing but its names, to begin with.
func Object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// Serve adds a resource, Unserve takes all of a kind away; its objects stay.
func (a *API) Serve(r Resource) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.resources = append(a.resources, r)
}

// Unserve says that a kind is not served any more. Its objects stay, for when it is again.
func (a *API) Unserve(group, kind string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.resources = slices.DeleteFunc(a.resources, func(r Resource) bool { return r.Group == group && r.Kind == kind })
}

// Deny says what the user may not do; it is answered with 403, and a SelfSubjectAccessReview
// says no.
func (a *API) Deny(d ...Denial) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.denied = append(a.denied, d...)
}

// Allow takes all denials back.
func (a *API) Allow() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.denied = nil
}

// Disturb has f asked about every request; what it returns goes wrong with it. A nil f, and
// a nil answer, disturb nothing. f may call the API, to have somebody else come first.
func (a *API) Disturb(f func(Request) *Trouble) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.disturb = f
}

// Requests are the requests so far, without what was asked about the API itself.
func (a *API) Requests() []Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(a.requests), func(r Request) bool { return r.Verb == "discover" })
}

// Writes are the requests so far that wrote something, dry runs and reviews apart.
func (a *API) Writes() []string {
	var out []string
	for _, r := range a.Requests() {
		if !r.DryRun && r.Verb != "get" && r.Verb != "list" && !isReview(r.GroupVersionResource) {
			out = append(out, r.String())
		}
	}
	return out
}

// Put stores an object as somebody does who writes it with a field manager, its status and
// deletionTimestamp included. An object that is there already is changed. It panics where the
// kind is not served.
func (a *API) Put(manager string, u *unstructured.Unstructured) *unstructured.Unstructured {
	a.mu.Lock()
	defer a.mu.Unlock()
	gvk := u.GroupVersionKind()
	r := a.kindOf(gvk.Group, gvk.Kind)
	if r == nil {
		panic(fmt.Sprintf("%s is not served here", gvk))
	}
	if ns := u.GetNamespace(); ns != "" && !a.has(key{"", "namespaces", "", ns}) && a.kindOf("", "Namespace") != nil {
		a.store(key{"", "namespaces", "", ns}, nil, Object("v1", "Namespace", "", ns), "kubernetes")
	}
	k := key{r.Group, r.Name, u.GetNamespace(), u.GetName()}
	return a.store(k, a.objects[k], u.DeepCopy(), manager).DeepCopy()
}

// Change changes an object that is there, as somebody else does. It panics where it is not there.
func (a *API) Change(manager, group, kind, namespace, name string, f func(u *unstructured.Unstructured)) {
	u := a.Get(group, kind, namespace, name)
	if u == nil {
		panic(fmt.Sprintf("%s %s/%s is not there", kind, namespace, name))
	}
	f(u)
	a.Put(manager, u)
}

// Get is an object as it is stored; nil where it is not there.
func (a *API) Get(group, kind, namespace, name string) *unstructured.Unstructured {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.kindOf(group, kind)
	if r == nil {
		return nil
	}
	u := a.objects[key{group, r.Name, namespace, name}]
	if u == nil {
		return nil
	}
	return u.DeepCopy()
}

// All are the objects of a kind, by namespace and name.
func (a *API) All(group, kind string) []*unstructured.Unstructured {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.kindOf(group, kind)
	if r == nil {
		return nil
	}
	return a.list(group, r.Name, "")
}

// Remove takes an object away, finalizers or not.
func (a *API) Remove(group, kind, namespace, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.kindOf(group, kind); r != nil {
		delete(a.objects, key{group, r.Name, namespace, name})
		a.version++
	}
}

// kindOf is the resource of a kind; the lock is held, or nobody else has the API yet.
func (a *API) kindOf(group, kind string) *Resource {
	for i := range a.resources {
		if r := &a.resources[i]; r.Group == group && r.Kind == kind {
			return r
		}
	}
	return nil
}

func (a *API) resource(gvr schema.GroupVersionResource) *Resource {
	for i := range a.resources {
		if r := &a.resources[i]; r.Group == gvr.Group && r.Name == gvr.Resource && slices.Contains(r.Versions, gvr.Version) {
			return r
		}
	}
	return nil
}

func (a *API) has(k key) bool { return a.objects[k] != nil }

// list are the objects of a resource in their order; an empty namespace stands for all.
func (a *API) list(group, resource, namespace string) []*unstructured.Unstructured {
	keys := slices.SortedFunc(maps.Keys(a.objects), func(x, y key) int {
		return cmp.Or(cmp.Compare(x.namespace, y.namespace), cmp.Compare(x.name, y.name))
	})
	var out []*unstructured.Unstructured
	for _, k := range keys {
		if k.group == group && k.resource == resource && (namespace == "" || k.namespace == namespace) {
			out = append(out, a.objects[k].DeepCopy())
		}
	}
	return out
}

// store writes an object: was is what is there, nil for a new one. The lock is held.
func (a *API) store(k key, was, u *unstructured.Unstructured, manager string) *unstructured.Unstructured {
	u = a.prepared(was, u, manager)
	if was != nil && sameButManaged(was, u) {
		return was
	}
	a.version++
	u.SetResourceVersion(strconv.FormatInt(a.version, 10))
	a.objects[k] = u
	return u
}

// prepared is an object as it would be stored, without a new resource version.
func (a *API) prepared(was, u *unstructured.Unstructured, manager string) *unstructured.Unstructured {
	u = u.DeepCopy()
	if was == nil {
		a.uids++
		u.SetUID(types.UID(fmt.Sprintf("%08d-0000-4000-8000-000000000000", a.uids)))
		u.SetResourceVersion("")
		u.SetCreationTimestamp(metav1.NewTime(a.now().UTC().Truncate(time.Second)))
		u.SetGeneration(1)
	} else {
		u.SetUID(was.GetUID())
		u.SetResourceVersion(was.GetResourceVersion())
		u.SetCreationTimestamp(was.GetCreationTimestamp())
		u.SetGeneration(was.GetGeneration())
		if !sameSpec(was, u) {
			u.SetGeneration(was.GetGeneration() + 1)
		}
	}
	return managed(was, u, manager)
}

// Dynamic is a client for the API's objects.
func (a *API) Dynamic() dynamic.Interface {
	d, err := dynamic.NewForConfigAndClient(a.config(), &http.Client{Transport: a})
	if err != nil {
		panic(err) // the configuration is ours.
	}
	return d
}

// Discovery is a client that asks what the API serves.
func (a *API) Discovery() discovery.DiscoveryInterface {
	d, err := discovery.NewDiscoveryClientForConfigAndClient(a.config(), &http.Client{Transport: a})
	if err != nil {
		panic(err) // the configuration is ours.
	}
	return d
}

func (a *API) config() *rest.Config {
	return &rest.Config{Host: "https://api.test", QPS: -1, UserAgent: "vksmedic"}
}

// groupVersions are the served versions of a group, the best first.
func (a *API) groupVersions(group string) []string {
	var out []string
	for _, r := range a.resources {
		for _, v := range r.Versions {
			if r.Group == group && !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	slices.SortFunc(out, func(x, y string) int { return compareVersions(y, x) })
	return out
}

func (a *API) groups() []string {
	var out []string
	for _, r := range a.resources {
		if r.Group != "" && !slices.Contains(out, r.Group) {
			out = append(out, r.Group)
		}
	}
	return out
}

// refused is the first denial that a request meets.
func (a *API) refused(r Request) bool {
	return slices.ContainsFunc(a.denied, func(d Denial) bool {
		return (d.Verb == "" || d.Verb == r.Verb) && (d.Group == "" || d.Group == r.Group || (d.Group == "core" && r.Group == "")) &&
			(d.Resource == "" || d.Resource == r.Resource) && (d.Namespace == "" || d.Namespace == r.Namespace)
	})
}

func isReview(gvr schema.GroupVersionResource) bool {
	return gvr.Group == "authorization.k8s.io" && strings.HasSuffix(gvr.Resource, "reviews")
}
