package fakeapi

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// What the server is asked besides single objects: what it serves, what the user may do, lists.

// Denial is what the user may not do. Empty fields stand for everything.
type Denial struct{ Verb, Group, Resource, Namespace string }

// Deny says what the user may not do: it is answered with 403, and a SelfSubjectAccessReview says no.
func (s *Server) Deny(d ...Denial) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = append(s.denied, d...)
}

func (s *Server) refuses(r *Request) bool {
	return r.Client != "" && slices.ContainsFunc(s.denied, func(d Denial) bool {
		return (d.Verb == "" || d.Verb == r.Verb) && (d.Group == "" || d.Group == r.Resource.Group) &&
			(d.Resource == "" || d.Resource == r.Resource.Resource) && (d.Namespace == "" || d.Namespace == r.Namespace)
	})
}

// forbidden has the words of k8s.io/apiserver pkg/endpoints/handlers/responsewriters/errors.go.
func forbidden(r *Request) *metav1.Status {
	scope := "at the cluster scope"
	if r.Namespace != "" {
		scope = fmt.Sprintf("in the namespace %q", r.Namespace)
	}
	name := ""
	if r.Name != "" {
		name = fmt.Sprintf(" %q", r.Name)
	}
	return refuse(403, metav1.StatusReasonForbidden, "%s%s is forbidden: User %q cannot %s resource %q in API group %q %s",
		r.Resource.GroupResource(), name, r.Client, r.Verb, r.Resource.Resource, r.Resource.Group, scope)
}

// review says whether the request asks what the user may do. It stores nothing.
func (r *Request) review() bool {
	return r.Verb == "create" && r.Resource.Group == "authorization.k8s.io" && r.Resource.Resource == "selfsubjectaccessreviews"
}

func (s *Server) answerReview(r *Request) map[string]any {
	body := runtime.DeepCopyJSON(r.Body)
	field := func(name string) string {
		v, _, _ := unstructured.NestedString(body, "spec", "resourceAttributes", name)
		return v
	}
	ask := &Request{Client: r.Client, Verb: field("verb"), Namespace: field("namespace"),
		Resource: schema.GroupVersionResource{Group: field("group"), Resource: field("resource")}}
	body["status"] = map[string]any{"allowed": !s.refuses(ask)}
	return body
}

// discover answers what is served, in the form that servers had before they put all into one answer.
func (s *Server) discover(path string) (map[string]any, *metav1.Status) {
	at := strings.Split(path, "/")
	switch {
	case path == "api":
		versions := []any{}
		for _, v := range s.versions("") {
			versions = append(versions, v)
		}
		return map[string]any{"kind": "APIVersions", "versions": versions}, nil
	case path == "apis":
		groups := []any{}
		for _, g := range s.groups() {
			var versions []any
			for _, v := range s.versions(g) {
				versions = append(versions, map[string]any{"groupVersion": g + "/" + v, "version": v})
			}
			groups = append(groups, map[string]any{"name": g, "versions": versions, "preferredVersion": versions[0]})
		}
		return map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}, nil
	case at[0] == "api" && len(at) == 2:
		return s.discoverVersion(schema.GroupVersion{Version: at[1]})
	case at[0] == "apis" && len(at) == 3:
		return s.discoverVersion(schema.GroupVersion{Group: at[1], Version: at[2]})
	}
	return nil, notServed()
}

func (s *Server) discoverVersion(gv schema.GroupVersion) (map[string]any, *metav1.Status) {
	resources := []any{}
	for gvr, kind := range s.kinds {
		if gvr.GroupVersion() == gv {
			resources = append(resources, map[string]any{"name": gvr.Resource, "kind": kind, "namespaced": !s.wide[gvr.GroupResource()],
				"verbs": []any{"create", "delete", "get", "list", "update"}})
		}
	}
	if len(resources) == 0 {
		return nil, notServed()
	}
	return map[string]any{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": gv.String(), "resources": resources}, nil
}

// versions are the served versions of a group, the best first.
func (s *Server) versions(group string) []string {
	var out []string
	for gvr := range s.kinds {
		if gvr.Group == group && !slices.Contains(out, gvr.Version) {
			out = append(out, gvr.Version)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	return out
}

func (s *Server) groups() []string {
	var out []string
	for gvr := range s.kinds {
		if gvr.Group != "" && !slices.Contains(out, gvr.Group) {
			out = append(out, gvr.Group)
		}
	}
	slices.Sort(out)
	return out
}

func (s *Server) answerList(r *Request, kind string) (map[string]any, *metav1.Status) {
	selector, err := labels.Parse(r.Labels)
	if err != nil {
		return nil, refuse(400, metav1.StatusReasonBadRequest, "%v", err)
	}
	byField, err := fields.ParseSelector(r.Fields)
	if err != nil {
		return nil, refuse(400, metav1.StatusReasonBadRequest, "%v", err)
	}
	items := []any{}
	for _, u := range s.list(r.Resource, r.Namespace) {
		if selector.Matches(labels.Set(u.GetLabels())) && byField.Matches(fields.Set{"metadata.name": u.GetName(), "metadata.namespace": u.GetNamespace()}) {
			items = append(items, u.Object)
		}
	}
	meta := map[string]any{"resourceVersion": strconv.FormatInt(s.version, 10)}
	if left := len(items) - r.Limit; r.Limit > 0 && left > 0 {
		items = items[:r.Limit]
		meta["continue"], meta["remainingItemCount"] = "more", int64(left)
	}
	return map[string]any{"apiVersion": r.Resource.GroupVersion().String(), "kind": kind + "List", "items": items, "metadata": meta}, nil
}
