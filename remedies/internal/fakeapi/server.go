package fakeapi

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Server holds objects. It is safe for concurrent use.
type Server struct {
	// Now is its clock (default: [time.Now]).
	Now func() time.Time

	mu       sync.Mutex
	kinds    map[schema.GroupVersionResource]string
	wide     map[schema.GroupResource]bool
	denied   []Denial
	objects  map[objectKey]*object
	version  int64
	uids     int
	received []Request
	stored   []Request
}

type objectKey struct {
	resource        schema.GroupResource
	namespace, name string
}

type object struct {
	body   map[string]any // without managedFields.
	owners []owner
}

// Request is one request, as it was received.
type Request struct {
	At time.Time
	// Client is who sent it.
	Client string
	// Verb is get, list, create, update or delete; discover for what is asked about the API itself.
	Verb            string
	Resource        schema.GroupVersionResource
	Namespace, Name string
	Manager         string
	Dry             bool
	// Body is what was sent; nil for reads and deletions.
	Body map[string]any
	// Labels and Fields are the selectors of a list, Limit is how many objects it may have at
	// most; 0 is no limit.
	Labels, Fields string
	Limit          int
	// Path is what is asked about the API itself, with the verb discover.
	Path string
	// UID and ResourceVersion are the preconditions: those of a deletion, or those in the body.
	UID, ResourceVersion string
	// Fault is how it was answered.
	Fault FaultKind
	// Made is the uid of the object that was written, in the list of what was stored.
	Made string
}

// Write says whether the request asks for a change that is kept.
func (r *Request) Write() bool {
	return r.Verb != "get" && r.Verb != "list" && r.Verb != "discover" && !r.Dry && !r.review()
}

// New is an empty server that serves namespaces and Leases.
func New() *Server {
	s := &Server{Now: time.Now, kinds: map[schema.GroupVersionResource]string{}, wide: map[schema.GroupResource]bool{}, objects: map[objectKey]*object{}}
	s.ServeWide(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, "Namespace")
	s.Serve(schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, "Lease")
	return s
}

// Serve lets the server know a kind.
func (s *Server) Serve(gvr schema.GroupVersionResource, kind string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds[gvr] = kind
}

// ServeWide lets the server know a kind that has no namespaces.
func (s *Server) ServeWide(gvr schema.GroupVersionResource, kind string) {
	s.Serve(gvr, kind)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wide[gvr.GroupResource()] = true
}

// Received are the writes that reached the server after the first n, dry runs apart, also
// those that it did not do.
func (s *Server) Received(n int) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received[n:])
}

// Count is how many writes have reached the server.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.received)
}

// Stored are the writes that the server did, in that order.
func (s *Server) Stored() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stored)
}

// Objects are copies of all objects of a resource, sorted by namespace and name.
func (s *Server) Objects(gvr schema.GroupVersionResource) []*unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list(gvr, "")
}

func (s *Server) list(gvr schema.GroupVersionResource, namespace string) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for k, o := range s.objects {
		if k.resource == gvr.GroupResource() && (namespace == "" || k.namespace == namespace) {
			out = append(out, &unstructured.Unstructured{Object: o.whole()})
		}
	}
	slices.SortFunc(out, func(a, b *unstructured.Unstructured) int {
		return slices.Compare([]string{a.GetNamespace(), a.GetName()}, []string{b.GetNamespace(), b.GetName()})
	})
	return out
}

func (o *object) whole() map[string]any {
	c := runtime.DeepCopyJSON(o.body)
	m, _ := c["metadata"].(map[string]any)
	if len(o.owners) > 0 {
		m["managedFields"] = managedFields(o.owners)
	}
	return c
}

// Do does a request at once and without a fault, as kubectl would: for what a test prepares, and
// for what others do.
func (s *Server) Do(r Request) (*unstructured.Unstructured, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, st := s.do(&r)
	if st != nil {
		return nil, &apierrors.StatusError{ErrStatus: *st}
	}
	return &unstructured.Unstructured{Object: o}, nil
}

func refuse(code int32, reason metav1.StatusReason, format string, args ...any) *metav1.Status {
	return &metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: code, Reason: reason,
		Message: fmt.Sprintf(format, args...)}
}

// do does a request. The caller holds mu.
func (s *Server) do(r *Request) (map[string]any, *metav1.Status) {
	if r.Verb == "discover" {
		return s.discover(r.Path)
	}
	if r.review() {
		return s.answerReview(r), nil
	}
	kind, served := s.kinds[r.Resource]
	if !served {
		return nil, notServed()
	}
	if s.refuses(r) {
		return nil, forbidden(r)
	}
	if st := s.nowhere(r); st != nil {
		return nil, st
	}
	key := objectKey{r.Resource.GroupResource(), r.Namespace, r.Name}
	live := s.objects[key]
	what := fmt.Sprintf("%s %q", r.Resource.GroupResource(), r.Name)
	if r.Verb == "list" {
		return s.answerList(r, kind)
	}
	if r.Verb != "create" && live == nil {
		return nil, refuse(404, metav1.StatusReasonNotFound, "%s not found", what)
	}
	switch r.Verb {
	case "get":
		return live.whole(), nil
	case "create":
		if live != nil {
			return nil, refuse(409, metav1.StatusReasonAlreadyExists, "%s already exists", what)
		}
		return s.create(r, key), nil
	}
	uid, version := live.meta("uid"), live.meta("resourceVersion")
	if r.UID != "" && r.UID != uid {
		return nil, refuse(409, metav1.StatusReasonConflict, "Operation cannot be fulfilled on %s: Precondition failed: UID in precondition: %s, UID in object meta: %s", what, r.UID, uid)
	}
	if r.ResourceVersion != "" && r.ResourceVersion != version {
		return nil, refuse(409, metav1.StatusReasonConflict, "Operation cannot be fulfilled on %s: the object has been modified; please apply your changes to the latest version and try again", what)
	}
	if r.Verb == "delete" {
		return s.remove(r, key, live)
	}
	return s.update(r, key, live), nil
}

// nowhere refuses what has no namespace to be in: a request for one object of a kind that has
// namespaces without naming one (k8s.io/apiserver pkg/endpoints/installer.go has no such path), and
// a new object in a namespace that is not there (pkg/admission/plugin/namespace/lifecycle).
func (s *Server) nowhere(r *Request) *metav1.Status {
	switch namespaces := (schema.GroupResource{Resource: "namespaces"}); {
	case s.wide[r.Resource.GroupResource()] || r.Verb == "list":
		return nil
	case r.Namespace == "" && r.Verb == "create":
		return refuse(405, metav1.StatusReasonMethodNotAllowed, "the server does not allow this method on the requested resource")
	case r.Namespace == "":
		return notServed()
	case r.Verb == "create" && s.objects[objectKey{namespaces, "", r.Namespace}] == nil:
		st := refuse(404, metav1.StatusReasonNotFound, "namespaces %q not found", r.Namespace)
		st.Details = &metav1.StatusDetails{Name: r.Namespace, Kind: "namespaces"}
		return st
	}
	return nil
}

func notServed() *metav1.Status {
	st := refuse(404, metav1.StatusReasonNotFound, "the server could not find the requested resource")
	st.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeUnexpectedServerResponse, Message: "404 page not found"}}}
	return st
}

func (o *object) meta(field string) string {
	v, _, err := unstructured.NestedString(o.body, "metadata", field)
	if err != nil {
		return ""
	}
	return v
}

func (s *Server) next() string {
	s.version++
	return strconv.FormatInt(s.version, 10)
}

func (s *Server) create(r *Request, key objectKey) map[string]any {
	body := runtime.DeepCopyJSON(r.Body)
	m, ok := body["metadata"].(map[string]any)
	if !ok {
		m = map[string]any{}
		body["metadata"] = m
	}
	delete(m, "managedFields")
	o := &object{body: body, owners: own(nil, nil, body, r.Manager, r.Resource.GroupVersion().String(), s.Now())}
	m["name"] = r.Name
	if r.Namespace != "" {
		m["namespace"] = r.Namespace
	}
	m["creationTimestamp"], m["generation"] = s.Now().UTC().Format(time.RFC3339), int64(1)
	if r.Dry {
		m["uid"] = "of-a-dry-run"
		return o.whole()
	}
	s.uids++
	m["uid"] = fmt.Sprintf("uid-%d", s.uids)
	m["resourceVersion"] = s.next()
	s.objects[key] = o
	s.keep(r, o)
	return o.whole()
}

func (s *Server) update(r *Request, key objectKey, live *object) map[string]any {
	body := runtime.DeepCopyJSON(r.Body)
	m, ok := body["metadata"].(map[string]any)
	if !ok {
		m = map[string]any{}
		body["metadata"] = m
	}
	old, _ := live.body["metadata"].(map[string]any)
	delete(m, "managedFields")
	for _, f := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		if v, ok := old[f]; ok {
			m[f] = v
		} else {
			delete(m, f)
		}
	}
	if status, ok := live.body["status"]; ok { // only the subresource changes it.
		body["status"] = runtime.DeepCopyJSONValue(status)
	} else {
		delete(body, "status")
	}
	if reflect.DeepEqual(body, live.body) {
		s.keep(r, live)
		return live.whole()
	}
	if !reflect.DeepEqual(without(body), without(live.body)) {
		generation, _ := old["generation"].(int64)
		m["generation"] = generation + 1
	}
	o := &object{body: body, owners: own(live.owners, live.body, body, r.Manager, r.Resource.GroupVersion().String(), s.Now())}
	if r.Dry {
		return o.whole()
	}
	m["resourceVersion"] = s.next()
	s.objects[key] = o
	s.keep(r, o)
	if _, deleting := m["deletionTimestamp"]; deleting && len(finalizers(m)) == 0 {
		delete(s.objects, key)
	}
	return o.whole()
}

func finalizers(meta map[string]any) []any {
	f, _ := meta["finalizers"].([]any)
	return f
}

func without(o map[string]any) map[string]any {
	c := maps.Clone(o)
	delete(c, "metadata")
	delete(c, "status")
	return c
}

func (s *Server) remove(r *Request, key objectKey, live *object) (map[string]any, *metav1.Status) {
	m, _ := live.body["metadata"].(map[string]any)
	if r.Dry {
		return live.whole(), nil
	}
	if _, deleting := m["deletionTimestamp"]; len(finalizers(m)) > 0 && !deleting {
		m["deletionTimestamp"], m["deletionGracePeriodSeconds"] = s.Now().UTC().Format(time.RFC3339), int64(0)
		m["resourceVersion"] = s.next()
	} else if len(finalizers(m)) == 0 {
		delete(s.objects, key)
		s.next()
	}
	s.keep(r, live)
	return live.whole(), nil
}

// keep notes that a write was done.
func (s *Server) keep(r *Request, o *object) {
	if r.Dry {
		return
	}
	done := *r
	done.At, done.Made = s.Now(), o.meta("uid")
	s.stored = append(s.stored, done)
}

// SetStatus writes an object's status as a controller does, through the subresource. An object
// that is not there is no error.
func (s *Server) SetStatus(gvr schema.GroupVersionResource, namespace, name string, status map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[objectKey{gvr.GroupResource(), namespace, name}]
	if o == nil || reflect.DeepEqual(o.body["status"], any(status)) {
		return
	}
	o.body = runtime.DeepCopyJSON(o.body)
	o.body["status"] = runtime.DeepCopyJSONValue(status)
	m, _ := o.body["metadata"].(map[string]any)
	m["resourceVersion"] = s.next()
}
