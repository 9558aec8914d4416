package action_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/model"
	"vksmedic/model/signature"
	"vksmedic/remedies"
	"vksmedic/remedies/action"
	"vksmedic/remedies/internal/fakeapi"
	"vksmedic/remedies/walk"
)

// What remedies/kb/README.md says under "How a walk goes on": a wait that timed out is not passed,
// looking again begins it anew, and the choice before it leads around it. A step that is done by hand
// does not fail where it takes too long, and its commands are shown as they are.
func TestWaitThatDoesNotEnd(t *testing.T) {
	sup := fakeapi.NewAPI(fakeapi.Common()...)
	const capi = "cluster.x-k8s.io"
	sup.Put("kubectl", fakeapi.Object(capi+"/v1beta2", "Cluster", "team-a", "web"))
	sup.Put("capi", fakeapi.Object(capi+"/v1beta2", "Machine", "team-a", "web-1"))
	articles, err := action.Articles("testdata/waits")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	r := walk.NewRunner(walk.Config{Sites: sup.Sites(nil), Articles: articles, Registry: action.Registry(),
		Actions: action.All(), Guards: action.Guards(), Context: "lab", Server: "https://api.test", Who: "ana", Host: "laptop", JournalDir: t.TempDir(),
		Now: func() time.Time { return now }})
	f := &model.Finding{Signature: signature.MachineDeletionStalled, Cluster: model.ClusterRef{Namespace: "team-a", Name: "web"},
		Subjects: []model.ObjectRef{{Kind: "Machine", Namespace: "team-a", Name: "web-1", Place: model.OnSupervisor("prod")}}, Facts: &signature.DeletionFacts{Machine: "web-1"}}
	w, err := r.Begin(t.Context(), f, "wait-with-a-way-around")
	if err != nil {
		t.Fatal(err)
	}
	at := func(step string, want remedies.StepState) remedies.View {
		t.Helper()
		v := w.View()
		if s := v.Steps[v.Current]; s.ID != step || s.State != want {
			t.Fatalf("the walk is at %s, which is %s (%s); want %s, %s", s.ID, s.State, s.Note, step, want)
		}
		return v
	}
	enter := func() {
		t.Helper()
		if err := w.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// follow looks until the wait is over, the clock standing after its timeout.
	follow := func() {
		t.Helper()
		now = now.Add(30 * time.Minute)
		if err := w.Follow(t.Context(), func(remedies.Progress) {}); err != nil {
			t.Fatal(err)
		}
	}
	next := func() {
		t.Helper()
		if err := w.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	enter()
	next()
	enter()
	at("wait", remedies.StateCurrent)
	follow()
	at("wait", remedies.StateFailed)
	if err := w.Next(t.Context()); !errors.Is(err, remedies.ErrNotYet) {
		t.Errorf("past a wait that timed out: %v", err)
	}
	enter() // r: the time is counted anew.
	if p := at("wait", remedies.StateFailed).Progress; p == nil || p.Done {
		t.Errorf("looked at again: %+v", p)
	}

	w.Back()
	enter()
	w.Choose("no")
	next()
	enter()
	v := at("help", remedies.StateCurrent)
	if want := []string{"# on the Supervisor:", "kubectl get machine web-1"}; !slices.Equal(v.Commands, want) {
		t.Errorf("commands %q, want %q", v.Commands, want)
	}
	for _, words := range []string{"is -", "it is not so after 10m", "is -"} { // the third begins anew.
		if err := w.ByHand(t.Context()); !errors.Is(err, remedies.ErrNotDone) || !strings.Contains(err.Error(), words) {
			t.Errorf("h after nothing was done: %v, want %q", err, words)
		}
		at("help", remedies.StateCurrent)
		now = now.Add(10 * time.Minute)
	}
	for _, value := range []string{"Yes", "yes"} { // word by word.
		sup.Change("storage", capi, "Machine", "team-a", "web-1", func(u *unstructured.Unstructured) {
			u.SetAnnotations(map[string]string{"example.com/helped": value})
		})
		if err := w.ByHand(t.Context()); (err == nil) != (value == "yes") {
			t.Errorf("h at %q: %v", value, err)
		}
	}
	at("help", remedies.StateByHand)
	next()
	if v := w.View(); !v.Finished || v.FinishedWords != "Somebody helped." || v.Steps[1].State != remedies.StateSkipped {
		t.Errorf("the end: %+v", v)
	}
}
