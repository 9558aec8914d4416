package kb

import (
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"vksmedic/model"
	"vksmedic/model/signature"

	"vksmedic/remedies"
)

// articles are the files of the program's articles.
func articles() fs.FS { return Builtin() }

func TestArticles(t *testing.T) {
	c, err := Load(articles(), registry())
	if err != nil {
		t.Fatal(err)
	}
	a := c.ByID(signature.KubeCertAgentBlocksDrain)
	if a == nil || a.From != "" || len(a.Digest) != 64 {
		t.Fatalf("the article for KB 410900 is %+v", a)
	}
	if got := c.For(signature.KubeCertAgentBlocksDrain); len(got) != 1 || got[0] != a {
		t.Errorf("For gives %v", got)
	}
	for _, s := range Signatures() {
		if got := c.For(s.ID); (len(got) > 0) != (c.ByID(s.ID) != nil) {
			t.Errorf("For gives %v for %s", got, s.ID)
		}
	}
	var ids []string
	for i := range a.Steps {
		s := &a.Steps[i]
		ids = append(ids, s.ID+" "+string(s.Kind))
		if s.Line() == 0 {
			t.Errorf("step %s has no line", s.ID)
		}
	}
	want := []string{"look look", "reach choose", "rule change", "wait wait", "keep choose", "take-back change"}
	if !slices.Equal(ids, want) {
		t.Errorf("steps %v, want %v", ids, want)
	}
}

// The last words come from what is so.
func TestFinishedWords(t *testing.T) {
	c, err := Load(articles(), registry())
	if err != nil {
		t.Fatal(err)
	}
	a := c.ByID(signature.KubeCertAgentBlocksDrain)
	sc := Scope{Cluster: model.ClusterRef{Namespace: "team-a", Name: "web"}, Facts: &signature.AgentFacts{Machine: "web-cp-1"}}
	for _, c := range []struct {
		target          string
		left, takenBack []string
		maybe           []string
		want            string
	}{
		{TargetGone, []string{"MachineDrainRule x"}, nil, nil, "Machine web-cp-1 is gone. The drain rule stays, so the next drain does not stop here again."},
		{TargetThere, nil, []string{"MachineDrainRule x"}, nil, "Machine web-cp-1 is still there. What this walk added was taken back: MachineDrainRule x."},
		{TargetGone, nil, nil, []string{"create MachineDrainRule x"}, "Machine web-cp-1 is gone. Whether something of this walk is left is not known: look for create MachineDrainRule x."},
		{TargetUnknown, nil, nil, nil, "Whether Machine web-cp-1 is gone could not be seen."},
	} {
		sc.Target, sc.Left, sc.TakenBack, sc.MaybeLeft = c.target, c.left, c.takenBack, c.maybe
		if got := a.Finished.Fill(sc); got != c.want {
			t.Errorf("%s: %q, want %q", c.target, got, c.want)
		}
	}
}

func TestFill(t *testing.T) {
	facts := &signature.AgentFacts{Machine: "m\x1b[31m1", Namespaces: []string{"a", "b", "c"}}
	sc := Scope{Cluster: model.ClusterRef{Namespace: "team-a", Name: "web"}, Facts: facts, Choice: map[string]string{"keep": "remove"}}
	for in, want := range map[string]string{
		"plain":                                            "plain",
		"{{ .Facts.Machine }}":                             "m1",
		"{{ list .Facts.Namespaces }}":                     "a, b and c",
		"{{ quote .Facts.Machine }} {{ 1 }}":               "m1 1",
		"{{ .Choice.nothing }}":                            "",
		"a {{ .Facts.Nothing }} b":                         "a " + NotKnown + " b",
		"{{ index .Facts.Agents 3 }}, {{ .Cluster.Name }}": NotKnown + ", web",
		"{{ .Broken":                                       NotKnown,
	} {
		if got := Text(in).Fill(sc); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := Text("{{ .Facts.Machine }}!").Fill(Scope{}); got != NotKnown+"!" {
		t.Errorf("without facts: %q", got)
	}
	if !Text("").Holds(sc) || !Text(`{{ eq .Choice.keep "remove" }}`).Holds(sc) || Text(`{{ eq .Choice.keep "keep" }}`).Holds(sc) {
		t.Error("a condition holds where it does not, or does not where it does")
	}
}

type panics struct{}

// Boom is a method of facts that goes wrong.
func (panics) Boom() string { panic("boom") }

func TestFillNeverPanics(t *testing.T) {
	var none *signature.AgentFacts
	for _, facts := range []any{nil, none, panics{}, 7, "text", struct{ Machine *struct{ Name string } }{}} {
		if got := Text("x {{ .Facts.Machine.Name }} {{ .Facts.Boom }}").Fill(Scope{Facts: facts}); !strings.HasPrefix(got, "x "+NotKnown) {
			t.Errorf("%T: %q", facts, got)
		}
	}
}

func TestFillParams(t *testing.T) {
	sc := Scope{Cluster: model.ClusterRef{Namespace: "team-a", Name: "web"}, Facts: &signature.AgentFacts{Machine: "web-1"}}
	in := &ChangeObject{Mode: "{{ kept }}", Object: Manifest{
		"kind": "ConfigMap", "data": map[string]any{"machine": "{{ .Facts.Machine }}", "n": int64(9007199254740993), "yes": true, "none": nil},
		"list": []any{"{{ .Cluster.Name }}", 1.5},
	}}
	got, unknown := FillParams(in, sc)
	want := &ChangeObject{Mode: "{{ kept }}", Object: Manifest{
		"kind": "ConfigMap", "data": map[string]any{"machine": "web-1", "n": int64(9007199254740993), "yes": true, "none": nil},
		"list": []any{"web", 1.5},
	}}
	if !reflect.DeepEqual(got, want) || unknown != nil {
		t.Errorf("got %+v, unknown %q", got, unknown)
	}
	if in.Object["data"].(map[string]any)["machine"] != "{{ .Facts.Machine }}" {
		t.Error("the article itself was changed")
	}
	a, unknown := FillParams(&Annotate{Object: Object{Kind: "Machine", Name: "{{ .Facts.Nothing }}"}, Annotations: map[string]string{"a/b": "{{ .Cluster.Name }}"}}, sc)
	if len(unknown) != 1 || a.(*Annotate).Object.Name != NotKnown || a.(*Annotate).Annotations["a/b"] != "web" {
		t.Errorf("got %+v, unknown %q", a, unknown)
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"team-a":           "team-a",
		"":                 "''",
		"a b":              "'a b'",
		"it's":             `'it'\''s'`,
		"$(reboot)":        "'$(reboot)'",
		"`id`":             "'`id`'",
		"a\x1b[31mred\x07": "ared",
		"-rf":              "-rf",
	} {
		if got := remedies.Quote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
}
