package fakeapi

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"vksmedic/model"
	"vksmedic/probes/supervisor"
	"vksmedic/remedies"
)

// API is a server, and an engineer's way to it: a Supervisor, or a workload cluster.
type API struct {
	*Server
	// Engineer is the way. Its Fault may be set, between requests.
	Engineer *Client
}

// User is the engineer's name.
const User = "sso:ana@corp.test"

// Resource is one resource that an API serves.
type Resource struct {
	// Group is empty for the core group. Versions are those that it is served in.
	Group    string
	Versions []string
	// Name is the plural, Kind the kind.
	Name, Kind string
	Namespaced bool
}

// Common are the resources that most tests need: some of the core group, Events of both
// groups, and those of Cluster API.
func Common() []Resource {
	v1, capi := []string{"v1"}, []string{"v1beta1", "v1beta2"}
	return []Resource{
		{"", v1, "nodes", "Node", false},
		{"", v1, "pods", "Pod", true},
		{"", v1, "configmaps", "ConfigMap", true},
		{"", v1, "secrets", "Secret", true},
		{"", v1, "events", "Event", true},
		{"events.k8s.io", v1, "events", "Event", true},
		{"rbac.authorization.k8s.io", v1, "clusterroles", "ClusterRole", false},
		{"cluster.x-k8s.io", capi, "clusters", "Cluster", true},
		{"cluster.x-k8s.io", capi, "machines", "Machine", true},
		{"cluster.x-k8s.io", capi, "machinedrainrules", "MachineDrainRule", true},
	}
}

// NewAPI is a server with some resources and the namespace kube-system.
func NewAPI(resources ...Resource) *API {
	s := New()
	a := &API{Server: s, Engineer: &Client{Server: s, Name: User}}
	for _, r := range resources {
		a.ServeResource(r)
	}
	a.Put("kubernetes", Object("v1", "Namespace", "", metav1.NamespaceSystem))
	return a
}

// ServeResource lets the server know a resource in all of its versions.
func (a *API) ServeResource(r Resource) {
	for _, v := range r.Versions {
		gvr := schema.GroupVersionResource{Group: r.Group, Version: v, Resource: r.Name}
		if r.Namespaced {
			a.Serve(gvr, r.Kind)
		} else {
			a.ServeWide(gvr, r.Kind)
		}
	}
}

// Unserve says that a kind is not served any more. Its objects stay, for when it is again.
func (a *API) Unserve(group, kind string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.kinds, func(gvr schema.GroupVersionResource, k string) bool { return gvr.Group == group && k == kind })
}

// Object is an object with nothing but its names, to begin with.
func Object(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

// Put stores an object as somebody does who writes it with a field manager, with its status and
// its deletionTimestamp; its namespace comes into being. An object that is there already is
// changed. It panics where the kind is not served.
func (a *API) Put(manager string, u *unstructured.Unstructured) *unstructured.Unstructured {
	a.mu.Lock()
	defer a.mu.Unlock()
	if ns := u.GetNamespace(); ns != "" {
		namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
		if k := (objectKey{namespaces.GroupResource(), "", ns}); a.objects[k] == nil {
			a.create(&Request{Resource: namespaces, Name: ns, Manager: "kubernetes", Body: Object("v1", "Namespace", "", ns).Object}, k)
		}
	}
	gvk := u.GroupVersionKind()
	gvr, ok := a.resourceOf(gvk.Group, gvk.Kind)
	if !ok {
		panic(fmt.Sprintf("%s is not served here", gvk))
	}
	gvr.Version = gvk.Version
	r := &Request{Resource: gvr, Namespace: u.GetNamespace(), Name: u.GetName(), Manager: manager, Body: u.DeepCopy().Object}
	k := objectKey{gvr.GroupResource(), r.Namespace, r.Name}
	live := a.objects[k]
	if live == nil {
		a.create(r, k)
		return &unstructured.Unstructured{Object: a.objects[k].whole()}
	}
	a.update(r, k, live)
	o := a.objects[k]
	if o == nil { // the last finalizer went.
		return nil
	}
	o.body = runtime.DeepCopyJSON(o.body)
	stored := &unstructured.Unstructured{Object: o.body}
	stored.SetDeletionTimestamp(u.GetDeletionTimestamp())
	if s, ok := u.Object["status"]; ok {
		o.body["status"] = runtime.DeepCopyJSONValue(s)
	} else {
		delete(o.body, "status")
	}
	stored.SetResourceVersion(a.next())
	return &unstructured.Unstructured{Object: o.whole()}
}

// resourceOf is a resource of a kind, in its newest version.
func (a *API) resourceOf(group, kind string) (schema.GroupVersionResource, bool) {
	for _, v := range a.versions(group) {
		for gvr, k := range a.kinds {
			if gvr.Group == group && gvr.Version == v && k == kind {
				return gvr, true
			}
		}
	}
	return schema.GroupVersionResource{}, false
}

// Get is an object as it is stored; nil where it is not there.
func (a *API) Get(group, kind, namespace, name string) *unstructured.Unstructured {
	a.mu.Lock()
	defer a.mu.Unlock()
	gvr, _ := a.resourceOf(group, kind)
	o := a.objects[objectKey{gvr.GroupResource(), namespace, name}]
	if o == nil {
		return nil
	}
	return &unstructured.Unstructured{Object: o.whole()}
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

// Remove takes an object away, finalizers or not.
func (a *API) Remove(group, kind, namespace, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	gvr, _ := a.resourceOf(group, kind)
	delete(a.objects, objectKey{gvr.GroupResource(), namespace, name})
	a.next()
}

// Writes are the writes that the engineer has sent so far, such as "create configmaps team-a/x".
func (a *API) Writes() []string {
	var out []string
	for _, r := range a.Received(0) {
		out = append(out, r.String())
	}
	return out
}

// String is the verb and the object.
func (r *Request) String() string {
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + r.Name
	}
	return r.Verb + " " + r.Resource.Resource + " " + name
}

// Dynamic is the engineer's client for objects.
func (a *API) Dynamic() dynamic.Interface {
	d, err := Dynamic(a.Engineer)
	if err != nil {
		panic(err) // its configuration is ours.
	}
	return d
}

// Discovery is the engineer's client that asks what is served.
func (a *API) Discovery() discovery.DiscoveryInterface {
	d, err := discovery.NewDiscoveryClientForConfigAndClient(&rest.Config{Host: "https://fake.invalid", QPS: -1}, &http.Client{Transport: a.Engineer})
	if err != nil {
		panic(err) // its configuration is ours.
	}
	return d
}

// Sites are the places of a walk: this API as the Supervisor, and workload clusters. A cluster
// that is not among them cannot be reached.
func (a *API) Sites(clusters map[model.ClusterRef]*API) *remedies.Sites {
	workload := func(c model.ClusterRef) (*API, error) {
		w := clusters[c]
		if w == nil {
			return nil, fmt.Errorf("cannot reach cluster %s: connection refused", c)
		}
		return w, nil
	}
	return &remedies.Sites{
		Supervisor: Supervisor{a},
		Workload: func(_ context.Context, c model.ClusterRef) (dynamic.Interface, error) {
			w, err := workload(c)
			if err != nil {
				return nil, err
			}
			return w.Dynamic(), nil
		},
		Discovery: func(_ context.Context, p model.Place) (discovery.DiscoveryInterface, error) {
			if p.Kind == model.PlaceSupervisor {
				return a.Discovery(), nil
			}
			w, err := workload(p.Cluster)
			if err != nil {
				return nil, err
			}
			return w.Discovery(), nil
		},
	}
}

// Supervisor is an API as what remedies need of the connection to a Supervisor.
type Supervisor struct{ *API }

var _ remedies.Supervisor = Supervisor{}

// Marks are the uids of a namespace and of kube-system, as far as they may be read.
func (s Supervisor) Marks(ctx context.Context, namespace string) (model.Marks, error) {
	m := model.Marks{Namespace: namespace}
	for name, to := range map[string]*string{namespace: &m.NamespaceUID, metav1.NamespaceSystem: &m.SystemUID} {
		if name == "" {
			continue
		}
		u, err := s.Dynamic().Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil:
			*to = string(u.GetUID())
		case apierrors.IsForbidden(err), apierrors.IsNotFound(err):
		default:
			return model.Marks{}, fmt.Errorf("cannot tell which Supervisor this is: %w", err)
		}
	}
	return m, nil
}

// ResourceFor is how a kind is served, in its newest version.
func (s Supervisor) ResourceFor(_ context.Context, kind string) (gvr schema.GroupVersionResource, namespaced, served bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range slices.Concat([]string{""}, s.groups()) {
		if gvr, ok := s.resourceOf(g, kind); ok {
			return gvr, !s.wide[gvr.GroupResource()], true, nil
		}
	}
	return gvr, false, false, nil
}

// WhyForbidden asks for the right, and says that admission refused it where the engineer has it.
func (s Supervisor) WhyForbidden(ctx context.Context, ask supervisor.Ask, err error) supervisor.Refusal {
	u, askErr := s.Dynamic().Resource(schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}).
		Create(ctx, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
			"spec": map[string]any{"resourceAttributes": map[string]any{"verb": ask.Verb, "group": ask.Group, "resource": ask.Resource, "namespace": ask.Namespace, "name": ask.Name}},
		}}, metav1.CreateOptions{})
	if askErr != nil {
		return supervisor.Refusal{By: supervisor.RefusedByUnknown, Words: "the server refuses it: " + err.Error()}
	}
	if allowed, _, _ := unstructured.NestedBool(u.Object, "status", "allowed"); allowed {
		return supervisor.Refusal{By: supervisor.RefusedByAdmission, Words: "the server refuses it: " + err.Error()}
	}
	return supervisor.Refusal{By: supervisor.RefusedByRights, Words: "user " + User + " may not " + ask.String() + "; ask for that right"}
}
