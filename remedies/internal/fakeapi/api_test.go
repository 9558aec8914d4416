package fakeapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"vksmedic/probes/supervisor"
)

func machines(a *API) dynamic.ResourceInterface {
	return a.Dynamic().Resource(schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "machines"}).Namespace("team-a")
}

func machine(name string) *unstructured.Unstructured {
	u := Object("cluster.x-k8s.io/v1beta2", "Machine", "team-a", name)
	u.Object["spec"] = map[string]any{"clusterName": "web"}
	return u
}

func managers(u *unstructured.Unstructured) []string {
	var out []string
	for _, f := range u.GetManagedFields() {
		out = append(out, f.Manager)
	}
	return out
}

func TestWrites(t *testing.T) {
	a := NewAPI(Common()...)
	first := a.Put("capi", machine("web-1"))
	c := machines(a)
	if _, err := c.Create(t.Context(), machine("web-1"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := c.Update(t.Context(), machine("web-2"), metav1.UpdateOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an update of nothing: %v", err)
	}
	dry, err := c.Create(t.Context(), machine("web-2"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: "me"})
	if err != nil || dry.GetUID() == "" || dry.GetResourceVersion() != "" {
		t.Errorf("dry run: %v %v", dry, err)
	}
	if a.Get("cluster.x-k8s.io", "Machine", "team-a", "web-2") != nil {
		t.Error("a dry run was stored")
	}
	u, err := c.Get(t.Context(), "web-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	u.SetAnnotations(map[string]string{"a": "b"})
	u.Object["status"] = map[string]any{"phase": "Running"}
	u, err = c.Update(t.Context(), u, metav1.UpdateOptions{FieldManager: "me"})
	if err != nil || u.Object["status"] != nil || u.GetResourceVersion() == first.GetResourceVersion() || u.GetGeneration() != 1 {
		t.Errorf("update: %v %v", u, err)
	}
	if got := managers(u); !slices.Equal(got, []string{"capi", "me"}) {
		t.Errorf("managers %q", got)
	}
	again, err := c.Update(t.Context(), u, metav1.UpdateOptions{FieldManager: "another"})
	if err != nil || again.GetResourceVersion() != u.GetResourceVersion() || slices.Contains(managers(again), "another") {
		t.Errorf("an update that changes nothing: %v %v", managers(again), err)
	}
	u.SetResourceVersion(first.GetResourceVersion())
	if _, err := c.Update(t.Context(), u, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an old resource version: %v", err)
	}
	uid := types.UID("another")
	if err := c.Delete(t.Context(), "web-1", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}); !apierrors.IsConflict(err) {
		t.Errorf("another uid: %v", err)
	}
	a.Change("capi", "cluster.x-k8s.io", "Machine", "team-a", "web-1", func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"machine.cluster.x-k8s.io"}) })
	if err := c.Delete(t.Context(), "web-1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if u, err = c.Get(t.Context(), "web-1", metav1.GetOptions{}); err != nil || u.GetDeletionTimestamp() == nil {
		t.Fatalf("an object with a finalizer: %v", err)
	}
	u.SetFinalizers(nil)
	if _, err := c.Update(t.Context(), u, metav1.UpdateOptions{}); err != nil || a.Get("cluster.x-k8s.io", "Machine", "team-a", "web-1") != nil {
		t.Errorf("without its finalizer it stays: %v", err)
	}
	want := []string{"create machines team-a/web-1", "update machines team-a/web-2", "update machines team-a/web-1", "update machines team-a/web-1",
		"update machines team-a/web-1", "delete machines team-a/web-1", "delete machines team-a/web-1", "update machines team-a/web-1"}
	if got := a.Writes(); !slices.Equal(got, want) {
		t.Errorf("writes %q", got)
	}
}

// What has no namespace to be in is refused as a real server does.
func TestNoNamespace(t *testing.T) {
	a := NewAPI(Common()...)
	a.Put("capi", machine("web-1"))
	all := a.Dynamic().Resource(schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "machines"})
	if _, err := all.Create(t.Context(), Object("cluster.x-k8s.io/v1beta2", "Machine", "", "x"), metav1.CreateOptions{}); !apierrors.IsMethodNotSupported(err) {
		t.Errorf("create without a namespace: %v", err)
	}
	if _, err := all.Get(t.Context(), "web-1", metav1.GetOptions{}); !apierrors.IsNotFound(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		t.Errorf("get without a namespace: %v", err)
	}
	if l, err := all.List(t.Context(), metav1.ListOptions{}); err != nil || len(l.Items) != 1 {
		t.Errorf("list in all namespaces: %v %v", l, err)
	}
	_, err := all.Namespace("nowhere").Create(t.Context(), Object("cluster.x-k8s.io/v1beta2", "Machine", "nowhere", "x"), metav1.CreateOptions{})
	var st apierrors.APIStatus
	if !errors.As(err, &st) || !apierrors.IsNotFound(err) || st.Status().Details == nil || st.Status().Details.Kind != "namespaces" {
		t.Errorf("create in a namespace that is not there: %v", err)
	}
}

// The eleventh manager has the first ones put together.
func TestAncientChanges(t *testing.T) {
	a := NewAPI(Common()...)
	a.Put("first", machine("web-1"))
	for i := range 12 {
		a.Change(fmt.Sprintf("manager-%d", i), "cluster.x-k8s.io", "Machine", "team-a", "web-1", func(u *unstructured.Unstructured) {
			_ = unstructured.SetNestedField(u.Object, "x", "spec", fmt.Sprintf("field%d", i))
		})
	}
	if got := managers(a.Get("cluster.x-k8s.io", "Machine", "team-a", "web-1")); !slices.Contains(got, "ancient-changes") || slices.Contains(got, "first") {
		t.Errorf("managers %q", got)
	}
}

func TestRefusals(t *testing.T) {
	a := NewAPI(Common()...)
	a.Put("capi", machine("web-1"))
	a.Deny(Denial{Verb: "get", Resource: "machines"})
	_, err := machines(a).Get(t.Context(), "web-1", metav1.GetOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `machines.cluster.x-k8s.io "web-1" is forbidden: User "sso:ana@corp.test" cannot get resource "machines" in API group "cluster.x-k8s.io" in the namespace "team-a"`) {
		t.Errorf("forbidden: %v", err)
	}
	if err := machines(a).Delete(t.Context(), "web-1", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Errorf("what is not denied: %v", err)
	}
	for verb, by := range map[string]supervisor.Refuser{"get": supervisor.RefusedByRights, "delete": supervisor.RefusedByAdmission} {
		ask := supervisor.Ask{Verb: verb, Group: "cluster.x-k8s.io", Resource: "machines", Namespace: "team-a", Name: "web-1"}
		if got := (Supervisor{a}).WhyForbidden(t.Context(), ask, errors.New("forbidden")); got.By != by {
			t.Errorf("%s: %+v", verb, got)
		}
	}
	if got := a.Writes(); len(got) != 0 {
		t.Errorf("written: %q", got)
	}
	a.Unserve("cluster.x-k8s.io", "Machine")
	_, err = machines(a).Get(t.Context(), "web-1", metav1.GetOptions{})
	if !apierrors.IsNotFound(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		t.Errorf("not served: %v", err)
	}
	groups, err := a.Discovery().ServerGroups()
	if err != nil || len(groups.Groups) != 5 || groups.Groups[1].Name != "cluster.x-k8s.io" || groups.Groups[1].PreferredVersion.Version != "v1beta2" {
		t.Errorf("groups: %+v %v", groups, err)
	}
	if _, err := a.Discovery().ServerResourcesForGroupVersion("example.com/v1"); !apierrors.IsNotFound(err) {
		t.Errorf("a group that is not there: %v", err)
	}
	if list, err := a.Discovery().ServerResourcesForGroupVersion("cluster.x-k8s.io/v1beta2"); err != nil || len(list.APIResources) != 2 {
		t.Errorf("discovery: %v %v", list, err)
	}
}

func TestFaults(t *testing.T) {
	a := NewAPI(Common()...)
	a.Put("x", machine("there"))
	a.Engineer.Fault = func(r *Request) Fault {
		switch {
		case r.Name == "lost":
			return Fault{Kind: Refused}
		case r.Name == "stored":
			return Fault{Kind: StoredCut}
		case r.Verb == "get":
			return Fault{Kind: NotServed}
		}
		return Fault{}
	}
	for name, want := range map[string]error{"lost": ErrRefused, "stored": ErrCut} {
		if _, err := machines(a).Create(t.Context(), machine(name), metav1.CreateOptions{}); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
		if there := a.Get("cluster.x-k8s.io", "Machine", "team-a", name) != nil; there != (name == "stored") {
			t.Errorf("%s: stored %v", name, there)
		}
	}
	_, err := machines(a).Get(t.Context(), "there", metav1.GetOptions{})
	if !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		t.Errorf("a proxy that knows nothing: %v", err)
	}
}

func TestLists(t *testing.T) {
	a := NewAPI(Common()...)
	for i := range 5 {
		u := machine(fmt.Sprintf("web-%d", i))
		u.SetLabels(map[string]string{"odd": fmt.Sprint(i%2 == 1)})
		a.Put("capi", u)
	}
	l, err := machines(a).List(t.Context(), metav1.ListOptions{Limit: 2})
	if err != nil || len(l.Items) != 2 || l.GetContinue() == "" || *l.GetRemainingItemCount() != 3 {
		t.Errorf("a page: %v %v", l, err)
	}
	l, err = machines(a).List(t.Context(), metav1.ListOptions{LabelSelector: "odd=true"})
	if err != nil || len(l.Items) != 2 || l.GetContinue() != "" {
		t.Errorf("by label: %v %v", l, err)
	}
}
