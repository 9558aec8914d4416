package effect_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/internal/fakeapi"
)

// What is left of a write, after others wrote too. Only where nothing is, it counts as taken back.
func TestWhatIsLeft(t *testing.T) {
	blue := map[string]any{"color": "blue", "size": int64(1) << 53, "note": "x"}
	with := func(field string, value any) map[string]any {
		spec := runtime.DeepCopyJSON(blue)
		spec[field] = value
		return spec
	}
	red := with("color", "red")
	redAndNote := runtime.DeepCopyJSON(red)
	redAndNote["note"] = "y"
	for _, c := range []struct {
		name   string
		verb   effect.Verb
		want   map[string]any
		others map[string]any // nil: nobody wrote.
		then   string         // "gone", "held": deleted, with a finalizer; "another": one of its name.
		unsure bool           // no receipt.
		left   remedies.Left
		words  string
	}{
		{"a change", effect.Update, red, nil, "", false, remedies.LeftSome, ""},
		{"a change, others changed something else", effect.Update, red, redAndNote, "", false, remedies.LeftSome, ""},
		{"a change of two fields, others changed one", effect.Update, redAndNote, with("color", "green"), "", false, remedies.LeftUnknown, "others changed Thing n/a since"},
		{"a change, others changed the same", effect.Update, red, with("color", "green"), "", false, remedies.LeftUnknown, "look by hand"},
		{"a change, others took it back", effect.Update, red, blue, "", false, remedies.LeftNothing, "nothing of what this walk changed is left in Thing n/a"},
		{"a change of what is gone", effect.Update, red, nil, "gone", false, remedies.LeftNothing, "Thing n/a of this walk is gone already"},
		{"a change of what another stands for", effect.Update, red, nil, "another", false, remedies.LeftNothing, "gone already"},
		{"a change of what is being deleted", effect.Update, red, nil, "held", false, remedies.LeftSome, ""},
		{"a change that is in doubt", effect.Update, red, nil, "", true, remedies.LeftUnknown, "it cannot be told whether this walk wrote Thing n/a; look by hand"},
		{"one in doubt, others changed the same", effect.Update, red, with("color", "green"), "", true, remedies.LeftUnknown, "look by hand"},
		{"one in doubt, and all is as it was", effect.Update, red, blue, "", true, remedies.LeftNothing, "Thing n/a is as it was before this walk"},
		{"one in doubt, of what is gone", effect.Update, red, nil, "gone", true, remedies.LeftNothing, "gone already"},
		{"one in doubt, of what another stands for", effect.Update, red, nil, "another", true, remedies.LeftNothing, "gone already"},
		{"a new object", effect.Create, red, nil, "", false, remedies.LeftSome, ""},
		{"one that is gone", effect.Create, red, nil, "gone", false, remedies.LeftNothing, "gone already"},
		{"one that another stands for", effect.Create, red, nil, "another", false, remedies.LeftNothing, "gone already"},
		{"one that is being deleted", effect.Create, red, nil, "held", false, remedies.LeftEnding, "Thing n/a is still there; it is being deleted since"},
		{"a new object that is in doubt", effect.Create, red, nil, "", true, remedies.LeftUnknown, "it cannot be told whether this walk wrote Thing n/a"},
		{"one in doubt that is gone", effect.Create, red, nil, "gone", true, remedies.LeftNothing, "gone already"},
		{"a deletion", effect.Delete, nil, nil, "", false, remedies.LeftFinal, "a deletion cannot be taken back: delete Thing n/a"},
		{"a deletion that is held", effect.Delete, nil, nil, "held", false, remedies.LeftFinal, "a deletion cannot be taken back"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			var o *effect.Object
			switch c.verb {
			case effect.Update:
				o = p.update(c.want)
			case effect.Create:
				p.remove()
				o = p.object(effect.Create)
				o.Want = thing(c.want)
			case effect.Delete:
				o = p.object(effect.Delete).Over(p.live())
			}
			if c.then == "held" && c.verb == effect.Delete {
				p.hold()
				o = p.object(effect.Delete).Over(p.live())
			}
			got, err := o.Send(t.Context(), p.sites, attempt)
			if err != nil {
				t.Fatal(err)
			}
			if c.others != nil {
				p.do("update", "others", c.others)
			}
			switch c.then {
			case "held":
				p.hold()
				p.remove()
			case "gone":
				p.remove()
			case "another":
				p.remove()
				p.do("create", "others", c.want)
			}
			if c.unsure {
				got = remedies.Receipt{}
			}
			back, err := o.Reverse(t.Context(), p.sites, attempt, got)
			if err != nil || back.Left != c.left || !strings.Contains(back.Words, c.words) || (back.Plan != nil) != (c.left == remedies.LeftSome) || (back.Words == "") != (c.words == "") {
				t.Errorf("%+v %v; wanted %s, %q", back, err, c.left, c.words)
			}
			going, err := o.StillGoing(t.Context(), p.sites)
			if held := c.verb == effect.Delete && c.then == "held"; err != nil || (going != "") != held || (held && !strings.Contains(going, "Thing n/a is still there; it is being deleted since")) {
				t.Errorf("still going: %q %v", going, err)
			}
		})
	}
}

// live is the object as it is now.
func (p *place) live() *unstructured.Unstructured {
	p.Helper()
	u, err := p.object(effect.Update).Live(p.Context(), p.sites)
	if err != nil || u == nil {
		p.Fatalf("%v %v", u, err)
	}
	return u
}

// remove deletes the object, as others do.
func (p *place) remove() {
	p.Helper()
	if _, err := p.api.Do(fakeapi.Request{Client: "others", Verb: "delete", Resource: things, Namespace: "n", Name: "a"}); err != nil {
		p.Fatal(err)
	}
}

// hold puts a finalizer on the object, as others do.
func (p *place) hold() {
	p.Helper()
	u := p.live()
	if u.GetDeletionTimestamp() != nil {
		return
	}
	u.SetFinalizers([]string{"toy.vksmedic/held"})
	if _, err := p.api.Do(fakeapi.Request{Verb: "update", Resource: things, Namespace: "n", Name: "a", Manager: "controller", Body: u.Object}); err != nil {
		p.Fatal(err)
	}
}
