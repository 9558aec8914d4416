package action

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/kb"
)

// until looks whether an object is as an article waits for it.
type until struct {
	s *remedies.Scene
	u *kb.Until
	// o is nil until it is known how the kind is served.
	o *spot
	// uid is that of the object that is meant; empty until it is known.
	uid string
}

// watchUntil is a watch that is content while the object is as it should be.
func watchUntil(s *remedies.Scene, u *kb.Until) remedies.Watch {
	w := &until{s: s, u: u}
	return w.look
}

func (w *until) look(ctx context.Context) (remedies.Progress, error) {
	if strings.Contains(w.u.Equals, kb.NotKnown) {
		return remedies.Progress{}, unfitf("the finding does not say what %s of %s has to be", w.u.Path, w.u.Object.Kind)
	}
	if w.o == nil {
		o, err := locate(ctx, w.s, namedBy(&w.u.Object))
		if err != nil {
			return remedies.Progress{}, err
		}
		w.o, w.uid = o, knownUID(ctx, w.s, o)
	}
	live, err := w.o.live(ctx, w.s)
	if err != nil {
		w.o = nil // how it is served may be what has changed.
		return remedies.Progress{}, err
	}
	ref := text.Clean(w.o.ref().String())
	if w.u.Gone {
		return w.gone(ref, live), nil
	}
	if live == nil {
		return remedies.Progress{Last: ref + " is not there"}, nil
	}
	if w.u.Condition != "" {
		return w.condition(ref, live), nil
	}
	return w.path(ref, live)
}

// knownUID is the uid of the object that is meant, where the walk knows it: its target, or what
// it wrote to.
func knownUID(ctx context.Context, s *remedies.Scene, o *spot) string {
	for i := len(s.Made) - 1; i >= 0; i-- {
		if e, ok := s.Made[i].Effect.(*effect.Object); ok && s.Made[i].Stands() && e.At == o.at && e.Group == o.gvr.Group && e.Ref() == o.ref() {
			if uid := s.Made[i].Receipt.UID; uid != "" {
				return uid
			}
			return e.UID
		}
	}
	if isTarget(ctx, s, o) {
		return s.Target.UID
	}
	return ""
}

// isTarget says whether an object is what the walk is about. A target names no group: on the
// Supervisor it is the one that the kind is known by, inside a cluster the core group.
func isTarget(ctx context.Context, s *remedies.Scene, o *spot) bool {
	t := &s.Target
	if !t.Ref.In(o.at).Same(o.ref().In(o.at)) || t.Place.Kind != o.at.Kind {
		return false
	}
	if o.at.Kind == model.PlaceCluster {
		return t.Place.Cluster == o.at.Cluster && o.gvr.Group == ""
	}
	gvr, _, served, err := s.Sites.Supervisor.ResourceFor(ctx, t.Ref.Kind)
	return err == nil && served && gvr.Group == o.gvr.Group
}

// gone looks whether the object is gone that was there at first: another one with its name is
// another object.
func (w *until) gone(ref string, live *unstructured.Unstructured) remedies.Progress {
	switch {
	case live == nil:
		return remedies.Progress{Done: true, Last: ref + " is gone"}
	case w.uid == "":
		w.uid = string(live.GetUID())
	case w.uid != string(live.GetUID()):
		return remedies.Progress{Done: true, Last: ref + " is gone, and another one of its name is there"}
	}
	words := ref + " is still there"
	if e := ending(w.s, live); e != "" {
		words += "; " + e
	}
	return remedies.Progress{Last: words}
}

func (w *until) condition(ref string, live *unstructured.Unstructured) remedies.Progress {
	want := w.u.Status
	if want == "" {
		want = "True"
	}
	list, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	for _, v := range list {
		c, ok := v.(map[string]any)
		if !ok || c["type"] != w.u.Condition {
			continue
		}
		field := func(name string) string { s, _ := c[name].(string); return text.Clean(s) } //nolint:errcheck // what is no text is none.
		status := field("status")
		words := fmt.Sprintf("condition %s of %s is %s", w.u.Condition, ref, orNothing(status))
		if r := field("reason"); r != "" {
			words += " (" + r + ")"
		}
		if m := field("message"); m != "" {
			words += ": " + text.Limit(m, valueLimit)
		}
		// As kubectl wait has it: a condition about an earlier generation says nothing.
		if seen, ok := c["observedGeneration"].(int64); ok && seen < live.GetGeneration() {
			return remedies.Progress{Last: words + "; it is about an earlier generation of the object"}
		}
		return remedies.Progress{Done: strings.EqualFold(status, want), Last: words}
	}
	return remedies.Progress{Last: fmt.Sprintf("%s has no condition %s yet", ref, text.Clean(w.u.Condition))}
}

func orNothing(s string) string {
	if s == "" {
		return nothing
	}
	return s
}

func (w *until) path(ref string, live *unstructured.Unstructured) (remedies.Progress, error) {
	p, err := newPath(w.u.Path)
	if err != nil {
		return remedies.Progress{}, err
	}
	values, err := p.values(live.Object)
	if err != nil {
		return remedies.Progress{}, failed(err, "cannot read %s of %s", w.u.Path, ref)
	}
	got := strings.Join(values, ", ")
	return remedies.Progress{Done: len(values) > 0 && got == text.Clean(w.u.Equals),
		Last: fmt.Sprintf("%s of %s is %s", text.Clean(w.u.Path), ref, orNothing(text.Limit(got, valueLimit)))}, nil
}
