package action

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/remedies/internal/fakeapi"
	"vksmedic/remedies/kb"
)

func TestRegistry(t *testing.T) {
	r := Registry()
	if err := r.Check(); err != nil {
		t.Error(err)
	}
	all := All()
	if len(all) != len(r.Actions) {
		t.Errorf("%d actions and %d in the registry", len(all), len(r.Actions))
	}
	for _, a := range r.Actions {
		do := all[a.Name]
		if do == nil || do.Kind() != a.Kind {
			t.Errorf("action %s is %v", a.Name, do)
			continue
		}
		ok := false
		switch a.Kind {
		case remedies.StepLook:
			_, ok = do.(remedies.Looker)
		case remedies.StepChoose:
			_, ok = do.(remedies.Chooser)
		case remedies.StepChange:
			_, ok = do.(remedies.Changer)
		case remedies.StepWait:
			_, ok = do.(remedies.Waiter)
		case remedies.StepManual:
			_, ok = do.(remedies.Manual)
		}
		if !ok {
			t.Errorf("action %s cannot do what its kind %s says", a.Name, a.Kind)
		}
	}
	for _, g := range r.Guards {
		if Guards()[g.Name] == nil {
			t.Errorf("guard %s is not read by anything", g.Name)
		}
	}
}

// An action that is given what are not its parameters says so, and does not end the program.
func TestWrongParams(t *testing.T) {
	x := newSite(t)
	x.s.Params = 7
	for _, e := range general() {
		name := e.Name
		var err error
		switch a := e.do.(type) {
		case remedies.Looker:
			_, err = a.Look(t.Context(), x.s)
		case remedies.Chooser:
			_, err = a.Choice(t.Context(), x.s)
		case remedies.Changer:
			_, err = a.Plan(t.Context(), x.s)
			if _, verifyErr := a.Verify(x.s)(t.Context()); verifyErr == nil {
				t.Errorf("%s verifies", name)
			}
		case remedies.Manual:
			_, err = a.Verify(x.s)(t.Context())
			has(t, name, strings.Join(a.Commands(x.s), ""), "are not its parameters")
		case remedies.Waiter:
			_, err = a.Verify(x.s)(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), "are not its parameters") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNotPaused(t *testing.T) {
	annotation := func(kind, name string) func(x *site) {
		return func(x *site) {
			x.sup.Change("kubectl", capi, kind, "team-a", name, func(u *unstructured.Unstructured) { u.SetAnnotations(map[string]string{"cluster.x-k8s.io/paused": ""}) })
		}
	}
	for name, tt := range map[string]struct {
		change func(x *site)
		holds  model.Verdict
		words  string
	}{
		"neither": {holds: model.Yes, words: "Cluster team-a/web is not paused; Machine team-a/web-1 is not paused"},
		"the Cluster by its spec": {holds: model.No, words: "Cluster team-a/web is paused by spec.paused", change: func(x *site) {
			x.sup.Change("kubectl", capi, "Cluster", "team-a", "web", func(u *unstructured.Unstructured) { u.Object["spec"] = map[string]any{"paused": true} })
		}},
		"the Cluster is not, and says so": {holds: model.Yes, words: "Cluster team-a/web is not paused; Machine team-a/web-1 is not paused", change: func(x *site) {
			x.sup.Change("kubectl", capi, "Cluster", "team-a", "web", func(u *unstructured.Unstructured) { u.Object["spec"] = map[string]any{"paused": false} })
		}},
		"the Cluster by its annotation": {holds: model.No, words: "Cluster team-a/web is paused by annotation cluster.x-k8s.io/paused", change: annotation("Cluster", "web")},
		"the Machine":                   {holds: model.No, words: "Machine team-a/web-1 is paused by annotation cluster.x-k8s.io/paused", change: annotation("Machine", "web-1")},
		"an annotation of another name": {holds: model.Yes, words: "Cluster team-a/web is not paused; Machine team-a/web-1 is not paused", change: func(x *site) {
			x.change(func(u *unstructured.Unstructured) {
				u.SetAnnotations(map[string]string{"cluster.x-k8s.io/paused-by": "x"})
			})
		}},
		"the Machine is gone": {holds: model.Yes, words: "Cluster team-a/web is not paused; Machine team-a/web-1 is gone", change: func(x *site) {
			x.sup.Remove(capi, "Machine", "team-a", "web-1")
		}},
		"another Machine of that name is": {holds: model.Yes, words: "Cluster team-a/web is not paused; Machine team-a/web-1 is gone", change: func(x *site) {
			x.sup.Remove(capi, "Machine", "team-a", "web-1")
			x.sup.Put("capi", x.machine("web-1", "Running"))
			annotation("Machine", "web-1")(x)
		}},
		"the finding is about another kind": {holds: model.Yes, words: "Cluster team-a/web is not paused", change: func(x *site) { x.s.Target.Ref.Kind = "VirtualMachine" }},
		"the Cluster may not be read": {holds: model.Unknown, words: "whether Cluster team-a/web is paused could not be read: cannot read Cluster team-a/web: ", change: func(x *site) {
			x.sup.Deny(fakeapi.Denial{Verb: "get", Resource: "clusters"})
		}},
		"the Machine may not be read, and the Cluster is": {holds: model.No, words: "Cluster team-a/web is paused by annotation cluster.x-k8s.io/paused; whether Machine", change: func(x *site) {
			annotation("Cluster", "web")(x)
			x.sup.Deny(fakeapi.Denial{Verb: "get", Resource: "machines"})
		}},
		"there is no Cluster":          {holds: model.Unknown, words: "Cluster team-a/web is not there", change: func(x *site) { x.sup.Remove(capi, "Cluster", "team-a", "web") }},
		"the finding names no cluster": {holds: model.Unknown, words: "the finding names no cluster", change: func(x *site) { x.s.Cluster = model.ClusterRef{} }},
	} {
		t.Run(name, func(t *testing.T) {
			x := newSite(t)
			if tt.change != nil {
				tt.change(x)
			}
			g, err := Guards()["not-paused"](t.Context(), x.s)
			if err != nil || g.Holds != tt.holds || !strings.HasPrefix(g.Words, tt.words) {
				t.Errorf("%+v %v, want %s %q", g, err, tt.holds, tt.words)
			}
			x.nothingWritten()
		})
	}
}

const ownArticle = `id: ask
title: Ask
signature: node-not-ready
target: "{{ list .Facts.Nodes }}"
finished: Done.
steps:
  - id: record
    title: Leave a note
    why: The next one on call reads it.
    action: %ACTION
    with:
      object: {kind: %KIND, name: note%MORE}
      annotations: {example.com/asked: "yes"}
`

func write(t *testing.T, dir, name, action, kind, more string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	text := strings.NewReplacer("%ACTION", action, "%KIND", kind, "%MORE", more).Replace(ownArticle)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	good := write(t, dir, "ask.yaml", "annotate", "ConfigMap", "")
	var out bytes.Buffer
	if n, err := Check(&out, []string{good}); n != 0 || err != nil || out.Len() > 0 {
		t.Errorf("%d problems, %v: %s", n, err, out.String())
	}
	bad := t.TempDir()
	write(t, bad, "ask.yaml", "anotate", "ConfigMap", "")
	out.Reset()
	if n, err := Check(&out, []string{bad}); n != 1 || err != nil || out.String() != filepath.Join(bad, "ask.yaml")+":10: there is no action \"anotate\"; did you mean \"annotate\"?\n" {
		t.Errorf("%d problems, %v: %s", n, err, out.String())
	}
	write(t, bad, "ask.yaml", "annotate", "Secret", "")
	out.Reset()
	if n, err := Check(&out, []string{bad}); n == 0 || err != nil {
		t.Errorf("a Secret: %d problems, %v: %s", n, err, out.String())
	}
	out.Reset()
	if n, err := Check(&out, []string{filepath.Join(bad, "nothing.yaml")}); n != 1 || err != nil {
		t.Errorf("no file: %d problems, %v: %s", n, err, out.String())
	}
	if _, err := Check(full{}, []string{bad}); err == nil {
		t.Error("what cannot be written is not said")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Neither a Secret nor a status is for the general actions, whoever wrote the article.
func TestChecks(t *testing.T) {
	for name, tt := range map[string]struct {
		params any
		want   string
	}{
		"annotate":                {&kb.Annotate{Object: kb.Object{Kind: "ConfigMap"}, Annotations: map[string]string{"a": "b"}}, ""},
		"annotate a Secret":       {&kb.Annotate{Object: kb.Object{Kind: "Secret"}}, "a Secret"},
		"a Secret of another API": {&kb.Annotate{Object: kb.Object{Group: "example.com", Kind: "Secret"}}, ""},
		"a debt":                  {&kb.Annotate{Annotations: map[string]string{"debt.vksmedic/x": "b"}}, "record of its debts"},
		"change":                  {&kb.ChangeObject{Object: kb.Manifest{"apiVersion": "v1", "kind": "ConfigMap"}}, ""},
		"change a Secret":         {&kb.ChangeObject{Object: kb.Manifest{"apiVersion": "v1", "kind": "Secret"}}, "a Secret"},
		"change a status":         {&kb.ChangeObject{Object: kb.Manifest{"apiVersion": "v1", "kind": "ConfigMap", "status": map[string]any{}}}, "written by controllers"},
	} {
		check := checkAnnotate
		if _, ok := tt.params.(*kb.ChangeObject); ok {
			check = checkChangeObject
		}
		if err := check(tt.params); (err == nil) != (tt.want == "") || (err != nil && !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
