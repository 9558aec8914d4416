package effect_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/internal/fakeapi"
)

var things = schema.GroupVersionResource{Group: "toy.vksmedic", Version: "v1", Resource: "things"}

// place is a workload cluster on a server in memory, with one object in it.
type place struct {
	*testing.T
	api   *fakeapi.Server
	sites *remedies.Sites
	fault fakeapi.Fault // of the next write.
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{T: t, api: fakeapi.New()}
	p.api.Serve(things, "Thing")
	dyn, err := fakeapi.Dynamic(&fakeapi.Client{Server: p.api, Name: "us", Fault: func(r *fakeapi.Request) fakeapi.Fault {
		f := p.fault
		if !r.Write() {
			return fakeapi.Fault{}
		}
		p.fault = fakeapi.Fault{}
		return f
	}})
	if err != nil {
		t.Fatal(err)
	}
	p.sites = &remedies.Sites{Workload: func(context.Context, model.ClusterRef) (dynamic.Interface, error) { return dyn, nil }}
	if _, err := p.api.Do(fakeapi.Request{Verb: "create", Resource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, Name: "n",
		Body: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "n"}}}); err != nil {
		t.Fatal(err)
	}
	p.do("create", "someone", map[string]any{"color": "blue", "size": int64(1) << 53, "note": "x"})
	return p
}

func thing(spec map[string]any) map[string]any {
	return map[string]any{"apiVersion": "toy.vksmedic/v1", "kind": "Thing", "metadata": map[string]any{"name": "a", "namespace": "n"}, "spec": spec}
}

func (p *place) do(verb, manager string, spec map[string]any) *unstructured.Unstructured {
	p.Helper()
	u, err := p.api.Do(fakeapi.Request{Verb: verb, Resource: things, Namespace: "n", Name: "a", Manager: manager, Body: thing(spec)})
	if err != nil {
		p.Fatal(err)
	}
	return u
}

func (p *place) object(v effect.Verb) *effect.Object {
	return effect.NewObject(model.InCluster("", model.ClusterRef{Namespace: "team", Name: "c"}), v, things, "Thing", "n", "a")
}

// update is a write that makes the live object's spec like spec.
func (p *place) update(spec map[string]any) *effect.Object {
	p.Helper()
	base := p.object(effect.Update)
	live, err := base.Live(p.Context(), p.sites)
	if err != nil {
		p.Fatal(err)
	}
	want := effect.Whole(live)
	want["spec"] = spec
	return base.Change(live, want)
}

var attempt = remedies.Attempt{Walk: "w", N: 1}

// What can be told of an update that was not answered, after others wrote too.
func TestLookAtAnUpdate(t *testing.T) {
	blue := map[string]any{"color": "blue", "size": int64(1) << 53, "note": "x"}
	red := map[string]any{"color": "red", "size": int64(1) << 53, "note": "x"}
	green := map[string]any{"color": "green", "size": int64(1) << 53, "note": "x"}
	redAndNote := map[string]any{"color": "red", "size": int64(1) << 53, "note": "y"}
	blueAndNote := map[string]any{"color": "blue", "size": int64(1) << 53, "note": "y"}
	redAndMore := map[string]any{"color": "blue", "size": int64(1) << 53, "note": "x", "more": map[string]any{"a": "b"}}
	redAndSmall := map[string]any{"color": "red", "size": int64(1), "note": "x"}
	half := map[string]any{"color": "blue", "size": int64(1), "note": "x"}
	noNote := map[string]any{"color": "blue", "size": int64(1) << 53}
	for _, c := range []struct {
		name   string
		want   map[string]any
		stored bool
		others []map[string]any
		happen remedies.Happened
		never  bool
	}{
		{"stored", red, true, nil, remedies.HappenedYes, false},
		{"not stored", red, false, nil, remedies.HappenedNo, false},
		{"stored, and others changed something else", red, true, []map[string]any{redAndNote}, remedies.HappenedYes, false},
		{"not stored, and others changed something else", red, false, []map[string]any{blueAndNote}, remedies.HappenedNo, true},
		// The server forgets a field manager that owns nothing any more.
		{"stored, and others changed the same field", red, true, []map[string]any{green}, remedies.HappenedUnsure, false},
		// A part of it taken back is not nothing applied: the rest may still be ours.
		{"stored, and others took a part back and changed the rest", redAndSmall, true, []map[string]any{{"color": "blue", "size": int64(2), "note": "x"}}, remedies.HappenedUnsure, false},
		{"not stored, and others made a part of it so", redAndSmall, false, []map[string]any{half}, remedies.HappenedUnsure, false},
		{"stored, and others took all of it back", redAndSmall, true, []map[string]any{blue}, remedies.HappenedNo, true},
		{"not stored, and others made it so", red, false, []map[string]any{red}, remedies.HappenedSo, false},
		// What only takes something away never has a mark.
		{"something taken away", noNote, true, nil, remedies.HappenedSo, false},
		{"nothing taken away", noNote, false, []map[string]any{red}, remedies.HappenedNo, true},
		{"not stored, and others took away what it stood in", redAndMore, false, []map[string]any{{}}, remedies.HappenedNo, true},
		{"nothing, and nobody wrote", blue, false, nil, remedies.HappenedNo, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			o := p.update(c.want)
			if c.stored {
				if _, err := o.Send(t.Context(), p.sites, attempt); err != nil {
					t.Fatal(err)
				}
			}
			for _, spec := range c.others {
				p.do("update", "others", spec)
			}
			s, err := o.Look(t.Context(), p.sites, attempt)
			if err != nil || s.Happened != c.happen || s.Never != c.never {
				t.Errorf("%+v %v; wanted %s, never %v", s, err, c.happen, c.never)
			}
		})
	}
}

// A conflict is believed where our mark would be there if the write had been stored. Where it
// leaves no mark, it is not.
func TestUnmarkedAfterAConflict(t *testing.T) {
	blue := map[string]any{"color": "blue", "size": int64(1) << 53, "note": "x", "list": []any{"a", "b"}}
	with := func(f func(spec map[string]any)) map[string]any {
		spec := runtime.DeepCopyJSON(blue)
		f(spec)
		return spec
	}
	for _, c := range []struct {
		name   string
		want   map[string]any
		others map[string]any
		marked bool
	}{
		{"a value", with(func(s map[string]any) { s["color"] = "red" }), with(func(s map[string]any) { s["color"] = "green" }), true},
		{"a new field", with(func(s map[string]any) { s["more"] = map[string]any{"a": "b"} }), with(func(s map[string]any) { s["more"] = "x" }), true},
		{"a new item", with(func(s map[string]any) { s["list"] = []any{"a", "b", "c"} }), with(func(s map[string]any) { s["list"] = []any{"d"} }), true},
		{"a field less", with(func(s map[string]any) { delete(s, "note") }), with(func(s map[string]any) { s["note"] = "y" }), false},
		{"an item less", with(func(s map[string]any) { s["list"] = []any{"a"} }), with(func(s map[string]any) { s["list"] = []any{"d"} }), false},
		{"another order", with(func(s map[string]any) { s["list"] = []any{"b", "a"} }), with(func(s map[string]any) { s["list"] = []any{"d"} }), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.do("update", "someone", blue)
			o := p.update(c.want)
			p.do("update", "others", c.others)
			s, err := o.Look(t.Context(), p.sites, attempt)
			if err != nil || s.Happened != remedies.HappenedUnsure || s.Unmarked != c.marked {
				t.Errorf("%+v %v; wanted unsure, and that a mark would be there: %v", s, err, c.marked)
			}
		})
	}
}

// Beyond ten field managers the server files the oldest together: then nobody can tell.
func TestLookAtAncientChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		o := p.update(map[string]any{"color": "red", "size": int64(1) << 53, "note": "x"})
		if _, err := o.Send(t.Context(), p.sites, attempt); err != nil {
			t.Fatal(err)
		}
		spec := map[string]any{"color": "red", "size": int64(1) << 53, "note": "x"}
		for i := range 11 {
			spec["f"+strconv.Itoa(i)] = "x"
			p.do("update", "z"+strconv.Itoa(i), spec)
		}
		if s, err := o.Look(t.Context(), p.sites, attempt); err != nil || s.Happened != remedies.HappenedUnsure || s.Unmarked {
			t.Errorf("%+v %v", s, err)
		}
	})
}

// Another one of the name that is to be made does not settle it: when it goes, a request that is
// under way can still be stored.
func TestLookAtACreation(t *testing.T) {
	p := newPlace(t)
	o := p.object(effect.Create)
	o.Want = thing(map[string]any{"color": "blue", "size": int64(1) << 53, "note": "x"})
	if s, err := o.Look(t.Context(), p.sites, attempt); err != nil || s.Happened != remedies.HappenedNo || s.Never {
		t.Errorf("%+v %v", s, err)
	}
}

// An answer to what client-go sent a second time says nothing about the first.
func TestSentTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, kind := range []fakeapi.FaultKind{fakeapi.StoredUnavailableRetry, fakeapi.Conflict} {
			p := newPlace(t)
			o := p.update(map[string]any{"color": "red"})
			p.fault = fakeapi.Fault{Kind: kind}
			_, err := o.Send(t.Context(), p.sites, attempt)
			var no *remedies.Refusal
			if refused := errors.As(err, &no); err == nil || refused != (kind == fakeapi.Conflict) {
				t.Errorf("%s: %v, a refusal: %v", kind, err, refused)
			}
		}
	})
}
