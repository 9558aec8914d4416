package plainapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// reply is an answer: an object, a status or a text.
type reply struct {
	code int
	body any    // written as JSON.
	text string // where there is no body.
}

// RoundTrip serves one request. It is a transport, so that no network is needed.
func (a *API) RoundTrip(hr *http.Request) (*http.Response, error) {
	r, options, err := parse(hr)
	if err != nil {
		return nil, err
	}
	if err := hr.Context().Err(); err != nil {
		return nil, err //nolint:wrapcheck // a transport hands it on as it is.
	}
	a.mu.Lock()
	a.requests = append(a.requests, r)
	disturb := a.disturb
	a.mu.Unlock()
	var t *Trouble
	if disturb != nil {
		t = disturb(r)
	}
	var out reply
	if t == nil || t.Served {
		a.mu.Lock()
		out = a.serve(hr, r, options)
		a.mu.Unlock()
	}
	switch {
	case t == nil:
	case t.Err != nil:
		return nil, t.Err
	case t.Status != nil:
		out = reply{code: int(t.Status.Code), body: t.Status}
	default:
		out = reply{code: t.Code, text: t.Text}
	}
	return response(hr, out)
}

func response(hr *http.Request, out reply) (*http.Response, error) {
	header, body := http.Header{}, []byte(out.text)
	header.Set("Content-Type", "text/plain; charset=utf-8")
	if out.body != nil {
		var err error
		if body, err = json.Marshal(out.body); err != nil {
			return nil, fmt.Errorf("cannot answer: %w", err)
		}
		header.Set("Content-Type", "application/json")
	}
	return &http.Response{StatusCode: out.code, Status: strconv.Itoa(out.code) + " " + http.StatusText(out.code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: hr}, nil
}

// parse reads a request; options are those of a deletion.
func parse(hr *http.Request) (Request, metav1.DeleteOptions, error) {
	var r Request
	var options metav1.DeleteOptions
	q := hr.URL.Query()
	r.DryRun = q.Get("dryRun") == metav1.DryRunAll
	r.Manager = q.Get("fieldManager")
	if r.Manager == "" {
		// k8s.io/apiserver pkg/endpoints/handlers: what stands before the slash in the user agent.
		r.Manager, _, _ = strings.Cut(hr.UserAgent(), "/")
	}
	if hr.Body != nil {
		data, err := io.ReadAll(hr.Body)
		if err != nil {
			return r, options, fmt.Errorf("cannot read the request: %w", err)
		}
		if len(data) > 0 && hr.Method == http.MethodDelete {
			if err := json.Unmarshal(data, &options); err != nil {
				return r, options, fmt.Errorf("cannot read the request: %w", err)
			}
			r.DryRun = r.DryRun || slices.Contains(options.DryRun, metav1.DryRunAll)
		} else if len(data) > 0 {
			u := &unstructured.Unstructured{}
			if err := u.UnmarshalJSON(data); err != nil {
				return r, options, fmt.Errorf("cannot read the request: %w", err)
			}
			r.Body = u.Object
		}
	}
	at := strings.Split(strings.Trim(hr.URL.Path, "/"), "/")
	switch {
	case at[0] == "api" && len(at) > 2:
		r.Version, at = at[1], at[2:]
	case at[0] == "apis" && len(at) > 3:
		r.Group, r.Version, at = at[1], at[2], at[3:]
	default:
		r.Verb = "discover"
		return r, options, nil
	}
	if at[0] == "namespaces" && len(at) > 2 {
		r.Namespace, at = at[1], at[2:]
	}
	r.Resource = at[0]
	if len(at) > 1 {
		r.Name = at[1]
	}
	if len(at) > 2 {
		r.Resource += "/" + at[2]
	}
	switch hr.Method {
	case http.MethodGet:
		r.Verb = "get"
		if r.Name == "" {
			r.Verb = "list"
		}
	case http.MethodPost:
		r.Verb = "create"
		r.Name = (&unstructured.Unstructured{Object: r.Body}).GetName()
	case http.MethodPut:
		r.Verb = "update"
	case http.MethodDelete:
		r.Verb = "delete"
	default:
		r.Verb = strings.ToLower(hr.Method)
	}
	return r, options, nil
}

// serve answers a request; the lock is held.
func (a *API) serve(hr *http.Request, r Request, options metav1.DeleteOptions) reply {
	if r.Verb == "discover" {
		return a.discover(strings.Trim(hr.URL.Path, "/"))
	}
	if r.Verb == "create" && isReview(r.GroupVersionResource) {
		return a.review(r)
	}
	res := a.resource(r.GroupVersionResource)
	if res == nil {
		return notServed()
	}
	if a.refused(r) {
		return a.forbidden(r)
	}
	k := key{r.Group, r.Resource, r.Namespace, r.Name}
	switch r.Verb {
	case "get":
		if u := a.objects[k]; u != nil {
			return reply{http.StatusOK, inVersion(u, r.Version).Object, ""}
		}
		return status(apierrors.NewNotFound(r.GroupResource(), r.Name))
	case "list":
		return a.answerList(hr, r, res)
	case "create":
		return a.create(r, res, k)
	case "update":
		return a.update(r, k)
	case "delete":
		return a.remove(r, k, options)
	}
	return status(apierrors.NewMethodNotSupported(r.GroupResource(), r.Verb))
}

// notServed is the answer for a path that no handler is registered for.
func notServed() reply { return reply{http.StatusNotFound, nil, "404 page not found\n"} }

func status(err *apierrors.StatusError) reply {
	s := err.ErrStatus
	s.Kind, s.APIVersion = "Status", "v1"
	return reply{int(s.Code), &s, ""}
}

// forbidden has the words of k8s.io/apiserver pkg/endpoints/handlers/responsewriters/errors.go.
func (a *API) forbidden(r Request) reply {
	scope := " at the cluster scope"
	if r.Namespace != "" {
		scope = fmt.Sprintf(" in the namespace %q", r.Namespace)
	}
	return status(apierrors.NewForbidden(r.GroupResource(), r.Name, fmt.Errorf("User %q cannot %s resource %q in API group %q%s", a.user, r.Verb, r.Resource, r.Group, scope)))
}

func (a *API) review(r Request) reply {
	if r.Resource != "selfsubjectaccessreviews" {
		return notServed()
	}
	u := (&unstructured.Unstructured{Object: r.Body}).DeepCopy()
	field := func(name string) string {
		s, _, _ := unstructured.NestedString(u.Object, "spec", "resourceAttributes", name)
		return s
	}
	ask := Request{Verb: field("verb"), Namespace: field("namespace"), GroupVersionResource: schema.GroupVersionResource{Group: field("group"), Resource: field("resource")}}
	u.Object["status"] = map[string]any{"allowed": !a.refused(ask)}
	return reply{http.StatusCreated, u.Object, ""}
}

func (a *API) discover(path string) reply {
	at := strings.Split(path, "/")
	switch {
	case path == "api":
		return reply{http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: a.groupVersions("")}, ""}
	case path == "apis":
		list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for _, g := range a.groups() {
			group := metav1.APIGroup{Name: g}
			for _, v := range a.groupVersions(g) {
				group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: g + "/" + v, Version: v})
			}
			group.PreferredVersion = group.Versions[0]
			list.Groups = append(list.Groups, group)
		}
		return reply{http.StatusOK, list, ""}
	case at[0] == "api" && len(at) == 2:
		return a.resourcesOf("", at[1])
	case at[0] == "apis" && len(at) == 3:
		return a.resourcesOf(at[1], at[2])
	}
	return notServed()
}

// resourcesOf are the resources of one version of a group.
func (a *API) resourcesOf(group, version string) reply {
	gv := schema.GroupVersion{Group: group, Version: version}
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String()}
	for _, r := range a.resources {
		if r.Group == group && slices.Contains(r.Versions, version) {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: r.Name, Kind: r.Kind, Namespaced: r.Namespaced,
				Verbs: metav1.Verbs{"create", "delete", "get", "list", "update"}})
		}
	}
	if len(list.APIResources) == 0 {
		return notServed()
	}
	return reply{http.StatusOK, list, ""}
}

func (a *API) answerList(hr *http.Request, r Request, res *Resource) reply {
	q := hr.URL.Query()
	selector, err := labels.Parse(q.Get("labelSelector"))
	if err != nil {
		return status(apierrors.NewBadRequest(err.Error()))
	}
	byField, err := fields.ParseSelector(q.Get("fieldSelector"))
	if err != nil {
		return status(apierrors.NewBadRequest(err.Error()))
	}
	all := slices.DeleteFunc(a.list(r.Group, r.Resource, r.Namespace), func(u *unstructured.Unstructured) bool {
		return !selector.Matches(labels.Set(u.GetLabels())) ||
			!byField.Matches(fields.Set{"metadata.name": u.GetName(), "metadata.namespace": u.GetNamespace()})
	})
	from, _ := strconv.Atoi(q.Get("continue"))
	limit, _ := strconv.Atoi(q.Get("limit"))
	from = min(from, len(all))
	page := all[from:]
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": r.GroupVersion().String(), "kind": res.Kind + "List"}}
	list.SetResourceVersion(strconv.FormatInt(a.version, 10))
	if limit > 0 && len(page) > limit {
		page = page[:limit]
		left := int64(len(all) - from - limit)
		list.SetContinue(strconv.Itoa(from + limit))
		list.SetRemainingItemCount(&left)
	}
	for _, u := range page {
		list.Items = append(list.Items, *inVersion(u, r.Version))
	}
	return reply{http.StatusOK, list.UnstructuredContent(), ""}
}

func (a *API) create(r Request, res *Resource, k key) reply {
	u := (&unstructured.Unstructured{Object: r.Body}).DeepCopy()
	gvk := r.GroupVersion().WithKind(res.Kind)
	switch {
	case u.GroupVersionKind() != gvk:
		return status(apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s", u.GetKind(), u.GroupVersionKind().Version, res.Kind)))
	case r.Name == "":
		return status(apierrors.NewInvalid(gvk.GroupKind(), "", nil))
	case u.GetNamespace() != "" && u.GetNamespace() != r.Namespace:
		return status(apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request"))
	case u.GetResourceVersion() != "":
		return status(apierrors.NewBadRequest("resourceVersion should not be set on objects to be created"))
	case r.Namespace != "" && a.kindOf("", "Namespace") != nil && !a.has(key{"", "namespaces", "", r.Namespace}):
		return status(apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, r.Namespace))
	case a.has(k):
		return status(apierrors.NewAlreadyExists(r.GroupResource(), r.Name))
	}
	if res.Namespaced {
		u.SetNamespace(r.Namespace)
	}
	unstructured.RemoveNestedField(u.Object, "status")
	if r.DryRun {
		return reply{http.StatusCreated, a.prepared(nil, u, r.Manager).Object, ""}
	}
	return reply{http.StatusCreated, a.store(k, nil, u, r.Manager).DeepCopy().Object, ""}
}

func (a *API) update(r Request, k key) reply {
	was := a.objects[k]
	u := (&unstructured.Unstructured{Object: r.Body}).DeepCopy()
	switch {
	case was == nil:
		return status(apierrors.NewNotFound(r.GroupResource(), r.Name))
	case u.GetName() != r.Name:
		return status(apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", u.GetName(), r.Name)))
	case u.GetUID() != "" && u.GetUID() != was.GetUID():
		return status(apierrors.NewConflict(r.GroupResource(), r.Name, fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", u.GetUID(), was.GetUID())))
	case u.GetResourceVersion() != "" && u.GetResourceVersion() != was.GetResourceVersion():
		return status(apierrors.NewConflict(r.GroupResource(), r.Name, fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again")))
	}
	// The main resource does not write what is the status', nor what only the server sets.
	if s, ok := was.Object["status"]; ok {
		u.Object["status"] = s
	} else {
		delete(u.Object, "status")
	}
	u.SetDeletionTimestamp(was.GetDeletionTimestamp())
	u.SetNamespace(was.GetNamespace())
	if r.DryRun {
		return reply{http.StatusOK, a.prepared(was, u, r.Manager).Object, ""}
	}
	got := a.store(k, was, u, r.Manager).DeepCopy()
	if got.GetDeletionTimestamp() != nil && len(got.GetFinalizers()) == 0 {
		delete(a.objects, k)
	}
	return reply{http.StatusOK, got.Object, ""}
}

func (a *API) remove(r Request, k key, options metav1.DeleteOptions) reply {
	u := a.objects[k]
	if u == nil {
		return status(apierrors.NewNotFound(r.GroupResource(), r.Name))
	}
	if p := options.Preconditions; p != nil {
		if p.UID != nil && *p.UID != u.GetUID() {
			return status(apierrors.NewConflict(r.GroupResource(), r.Name, fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", *p.UID, u.GetUID())))
		}
		if p.ResourceVersion != nil && *p.ResourceVersion != u.GetResourceVersion() {
			return status(apierrors.NewConflict(r.GroupResource(), r.Name, fmt.Errorf("Precondition failed: ResourceVersion in precondition: %v, ResourceVersion in object meta: %v", *p.ResourceVersion, u.GetResourceVersion())))
		}
	}
	if r.DryRun {
		return reply{http.StatusOK, inVersion(u, r.Version).Object, ""}
	}
	a.version++
	if len(u.GetFinalizers()) > 0 {
		u = u.DeepCopy()
		now := metav1.NewTime(a.now().UTC())
		u.SetDeletionTimestamp(&now)
		u.SetResourceVersion(strconv.FormatInt(a.version, 10))
		a.objects[k] = u
		return reply{http.StatusOK, inVersion(u, r.Version).Object, ""}
	}
	delete(a.objects, k)
	return reply{http.StatusOK, &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess}, ""}
}

// inVersion is an object as it is answered in one version of its group.
func inVersion(u *unstructured.Unstructured, version string) *unstructured.Unstructured {
	u = u.DeepCopy()
	u.SetAPIVersion(schema.GroupVersion{Group: u.GroupVersionKind().Group, Version: version}.String())
	return u
}
