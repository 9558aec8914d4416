package action_test

import (
	"errors"
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

// A walk through an engineer's own article that has every general action once.
func TestWalkOfGeneralActions(t *testing.T) {
	sup, inside := fakeapi.NewAPI(fakeapi.Common()...), fakeapi.NewAPI(fakeapi.Common()...)
	cluster := model.ClusterRef{Namespace: "team-a", Name: "web"}
	const capi = "cluster.x-k8s.io"
	sup.Put("kubectl", fakeapi.Object(capi+"/v1beta2", "Cluster", "team-a", "web"))
	m := fakeapi.Object(capi+"/v1beta2", "Machine", "team-a", "web-1")
	m.Object["status"] = map[string]any{"phase": "Deleting"}
	sup.Put("capi", m)
	inside.Put("kubelet", fakeapi.Object("v1", "Node", "", "web-1"))
	articles, err := action.Articles("testdata/own")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	r := walk.NewRunner(walk.Config{Sites: sup.Sites(map[model.ClusterRef]*fakeapi.API{cluster: inside}), Articles: articles, Registry: action.Registry(),
		Actions: action.All(), Guards: action.Guards(), Context: "lab", Server: "https://api.test", Who: "ana", Host: "laptop", JournalDir: t.TempDir(),
		Now: func() time.Time { return now }})
	f := &model.Finding{Signature: signature.MachineDeletionStalled, Cluster: cluster, Subjects: []model.ObjectRef{{Kind: "Machine", Namespace: "team-a", Name: "web-1", Place: model.OnSupervisor("prod")}},
		Facts: &signature.DeletionFacts{Machine: "web-1"}}
	w, err := r.Begin(t.Context(), f, "all-general-actions")
	if err != nil {
		t.Fatal(err)
	}
	at := func(step string) remedies.View {
		t.Helper()
		if err := w.Enter(t.Context()); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		v := w.View()
		if v.Steps[v.Current].ID != step {
			t.Fatalf("the walk is at %s, not at %s", v.Steps[v.Current].ID, step)
		}
		return v
	}
	next := func() {
		t.Helper()
		if err := w.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	apply := func(step string) {
		t.Helper()
		v := at(step)
		if v.Preview == nil || v.Preview.Blocked != "" || v.Preview.Done != "" {
			t.Fatalf("%s: %+v", step, v.Preview)
		}
		if err := w.Apply(t.Context(), v.Preview.Token, ""); err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		if v := w.View(); v.Steps[v.Current].State != remedies.StateDone {
			t.Fatalf("%s is %s: %s", step, v.Steps[v.Current].State, v.Steps[v.Current].Note)
		}
		next()
	}
	machine := func() map[string]string { return sup.Get(capi, "Machine", "team-a", "web-1").GetAnnotations() }

	v := at("look")
	if len(v.Facts) != 5 || v.Facts[1].Text != "  phase  Deleting" {
		t.Errorf("the look: %+v", v.Facts)
	}
	next()
	at("who")
	w.Choose("storage")
	next()
	if len(sup.Writes()) != 0 {
		t.Errorf("before anything was confirmed: %q", sup.Writes())
	}
	apply("annotate")
	if machine()["example.com/asked"] != "storage" {
		t.Errorf("annotations: %v", machine())
	}
	apply("record")
	if sup.Get("", "ConfigMap", "team-a", "note-web-1") == nil {
		t.Error("there is no note")
	}

	if v = at("detach"); len(v.Commands) != 1 || v.Commands[0] != "kubectl annotate machine web-1 example.com/detached=yes" {
		t.Errorf("commands: %q", v.Commands)
	}
	if err := w.ByHand(t.Context()); !errors.Is(err, remedies.ErrNotDone) {
		t.Errorf("nobody did it: %v", err)
	}
	sup.Change("storage", capi, "Machine", "team-a", "web-1", func(u *unstructured.Unstructured) {
		notes := u.GetAnnotations()
		notes["example.com/detached"] = "yes"
		u.SetAnnotations(notes)
	})
	if err := w.ByHand(t.Context()); !errors.Is(err, remedies.ErrNotDone) || !strings.Contains(err.Error(), "it has to stay so for 1m") {
		t.Errorf("it was done just now: %v", err)
	}
	now = now.Add(time.Minute)
	if err := w.ByHand(t.Context()); err != nil {
		t.Errorf("it stayed so: %v", err)
	}
	next()

	apply("forget")
	if n := machine(); len(n) != 1 || n["example.com/detached"] != "yes" {
		t.Errorf("taken back: %v", n)
	}
	if v = at("wait"); v.Progress == nil || v.Progress.Done {
		t.Errorf("the Machine is there: %+v", v.Progress)
	}
	sup.Remove(capi, "Machine", "team-a", "web-1")
	if v = at("wait"); v.Progress == nil || !v.Progress.Done || v.Progress.Failed != "" {
		t.Errorf("the Machine is gone: %+v", v.Progress)
	}
	next()
	v = w.View()
	if !v.Finished || v.Steps[7].State != remedies.StateSkipped || v.Steps[7].Note != "The note stays for the storage team." {
		t.Errorf("the end: %+v", v)
	}
	if !strings.HasPrefix(v.FinishedWords, "Machine web-1 is gone. Left: ") || !strings.Contains(v.FinishedWords, "ConfigMap team-a/note-web-1") || !strings.Contains(v.FinishedWords, "Taken back: ") {
		t.Errorf("the last words: %q", v.FinishedWords)
	}
	for _, write := range sup.Writes() {
		if strings.Contains(write, "secrets") || strings.Contains(write, "kube-system") {
			t.Errorf("written: %s", write)
		}
	}
	if len(inside.Writes()) != 0 {
		t.Errorf("written inside: %q", inside.Writes())
	}
}
