package walk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vksmedic/model"
	"vksmedic/probes/supervisor"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/internal/fakeapi"
)

// Each of these is a fault that an engine of this kind can have, with the right behaviour asserted.

// --- where a walk stands ---

// A step that is skipped by its condition is skipped after a crash too, and is not offered.
func TestSkippedStepAfterResume(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		unwanted := func(c *Config) {
			st, _ := c.Articles.ByID(findingIn("ns").Signature).Step("rule")
			st.When, st.Otherwise = `{{ eq .Choice.reach "cluster" }}`, "not wanted"
		}
		ana := x.engineer("ana", unwanted)
		w := ana.begin()
		must(t, w.Enter(t.Context()))
		must(t, w.Next(t.Context()))
		must(t, w.Enter(t.Context()))
		w.Choose(reachNamespace)
		must(t, w.Next(t.Context()))
		before := at(w)
		if s := step(t, w, "rule"); s.State != remedies.StateSkipped || before != "wait" {
			t.Fatalf("at %s, and the rule is %s", before, s.State)
		}
		ana.stop(w)

		again := x.engineer("ana", unwanted).resume(w.ID())
		if got := at(again); got != before {
			t.Errorf("stood at %s, picked up at %s", before, got)
		}
		if s := step(t, again, "rule"); s.State != remedies.StateSkipped || s.Note != "not wanted" {
			t.Errorf("the rule's step: %+v", s)
		}
		must(t, again.Enter(t.Context()))
		if p := again.View().Preview; p != nil {
			t.Errorf("it offers %q", p.Title)
		}
		if len(x.Received(0)) != 0 {
			t.Errorf("written: %q", x.Writes())
		}
	})
}

// A walk of which nothing is left to do is not ended by picking it up: its last words are for
// somebody to read, and its Lease is given back with them.
func TestPickedUpWalkDoesNotEndByItself(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		unwanted := func(c *Config) {
			for _, id := range []string{"wait", "keep", "take-back"} {
				st, _ := c.Articles.ByID(findingIn("ns").Signature).Step(id)
				st.When, st.Otherwise = `{{ eq .Choice.reach "cluster" }}`, "not wanted"
			}
		}
		w := x.engineer("ana", unwanted).applied()
		w.Leave()
		ana := x.engineer("ana", unwanted)
		w = ana.resume(w.ID())
		if v := w.View(); v.Finished || at(w) != "rule" {
			t.Fatalf("at %s, finished %t", at(w), v.Finished)
		}
		if !ana.pending().Open {
			t.Error("it is not open")
		}
		must(t, w.Next(t.Context()))
		if v := w.View(); !v.Finished || v.FinishedWords == "" {
			t.Errorf("the end: %+v", v)
		}
		time.Sleep(2 * leaseRenew) // simulated: nothing renews the Lease of a walk that is over.
		if x.Get("coordination.k8s.io", "Lease", "ns", "vksmedic-old") != nil {
			t.Error("the Lease is still there")
		}
	})
}

// shadowed applies a rule while a colleague makes one that comes first by name.
func (e *faultEngineer) shadowed() *Walk {
	e.x.t.Helper()
	w := e.begin()
	p := toRule(e.x.t, w, reachNamespace)
	e.fail(onRules(fakeapi.None, func(r *fakeapi.Request) bool {
		if r.Write() && e.x.Get(capiGroup, ruleKind, "ns", "a") == nil {
			e.x.Put("bob", ruleObject(e.x.t, "ns", "a", "{drain: {behavior: Drain}}"))
		}
		return false
	}))
	err := w.Apply(e.x.t.Context(), p.Token, "")
	if !errors.Is(err, remedies.ErrNotDone) || !strings.Contains(err.Error(), "MachineDrainRule a comes first") {
		e.x.t.Fatalf("apply: %v", err)
	}
	e.fail(nil)
	return w
}

// A failed verification is one after the walk was left and picked up, too.
func TestFailedVerificationAfterResume(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		w := x.engineer("ana").shadowed()
		before := step(t, w, "rule")
		w.Leave()
		again := x.engineer("ana").resume(w.ID())
		s := step(t, again, "rule")
		if s.State != remedies.StateFailed || s.Note != before.Note || at(again) != "rule" {
			t.Errorf("before %+v, picked up %+v at %s", before, s, at(again))
		}
		if err := again.Next(t.Context()); !errors.Is(err, remedies.ErrNotYet) {
			t.Errorf("next over a step that failed: %v", err)
		}
		// A key leads on: there is a new preview.
		must(t, again.Enter(t.Context()))
		if p := again.View().Preview; p == nil || p.Blocked != "" || p.Done != "" {
			t.Errorf("the preview: %+v", p)
		}
	})
}

// A second attempt in one step does not make the walk forget the first.
func TestUndoTakesBackEveryAttempt(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		w := x.engineer("ana").shadowed()
		w.Leave()
		w = x.engineer("ana").resume(w.ID())
		must(t, w.Enter(t.Context()))
		p := w.View().Preview
		has(t, "the second preview", p.Title, "0-"+ours)
		must(t, w.Apply(t.Context(), p.Token, ""))
		if x.rule() == nil || x.Get(capiGroup, ruleKind, "ns", "0-"+ours) == nil {
			t.Fatal("there are not two rules")
		}
		has(t, "the newest first", undo(t, w).Title, "Delete", "0-"+ours)
		must(t, w.Apply(t.Context(), w.View().Preview.Token, ""))
		if s := step(t, w, "take-back"); s.State == remedies.StateDone || s.State == remedies.StateUndone {
			t.Errorf("one of two is taken back, and the step is %s", s.State)
		}
		if err := w.Next(t.Context()); !errors.Is(err, remedies.ErrNotYet) {
			t.Errorf("next with one left: %v", err)
		}
		p = w.View().Preview
		if p == nil || p.Title != "Delete MachineDrainRule "+ours {
			t.Fatalf("the next preview: %+v", p)
		}
		must(t, w.Apply(t.Context(), p.Token, ""))
		must(t, w.Next(t.Context()))
		v := w.View()
		if x.rule() != nil || x.Get(capiGroup, ruleKind, "ns", "0-"+ours) != nil || !v.Finished {
			t.Errorf("a rule of the walk stays; finished: %t", v.Finished)
		}
		has(t, "the last words", v.FinishedWords, "taken back", "ns/"+ours, "ns/0-"+ours)
		if x.Get(capiGroup, ruleKind, "ns", "a") == nil {
			t.Error("the colleague's rule is gone")
		}
	})
}

// While it is not known whether the taking back was done, u looks, and forgets nothing.
func TestUndoOverADoubt(t *testing.T) {
	for name, stored := range map[string]bool{"it was done": true, "it was not": false} {
		t.Run(name, func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				ana := x.engineer("ana")
				w := ana.applied()
				p := undo(t, w)
				sent := false
				ana.fail(onRulesDown(&sent, stored))
				if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrUnclear) {
					t.Fatalf("apply: %v", err)
				}
				for range 2 { // u, and once more.
					if err := w.Undo(t.Context()); !errors.Is(err, remedies.ErrUnclear) {
						t.Errorf("u while it cannot be looked at: %v", err)
					}
					if s := step(t, w, "take-back"); s.State != remedies.StateUnsure {
						t.Fatalf("the doubt is lost: %+v", s)
					}
				}
				if err := w.Next(t.Context()); !errors.Is(err, remedies.ErrNotYet) {
					t.Errorf("next over a doubt: %v", err)
				}
				w.Back()
				if got := at(w); got != "take-back" {
					t.Errorf("b leads over a doubt to %s", got)
				}
				ana.fail(nil)
				time.Sleep(effect.UnderWay + time.Second) // simulated.
				must(t, w.Undo(t.Context()))
				if !stored {
					p := w.View().Preview
					if p == nil || !step(t, w, "rule").Undoable {
						t.Fatalf("it cannot be taken back any more: %+v", step(t, w, "rule"))
					}
					must(t, w.Apply(t.Context(), p.Token, ""))
				}
				must(t, w.Next(t.Context()))
				if s := step(t, w, "rule"); s.State != remedies.StateUndone || x.rule() != nil {
					t.Errorf("the rule's step: %+v", s)
				}
				has(t, "the last words", w.View().FinishedWords, "taken back")
				if n := deletions(x); n != 1 {
					t.Errorf("deleted %d times", n)
				}
			})
		})
	}
}

// onRulesDown lets everything about drain rules fail from the first deletion on.
func onRulesDown(sent *bool, stored bool) func(*fakeapi.Request) fakeapi.Fault {
	return func(r *fakeapi.Request) fakeapi.Fault {
		switch {
		case r.Resource.Resource != "machinedrainrules":
			return fakeapi.Fault{}
		case r.Verb == "delete" && !r.Dry && stored && !*sent:
			*sent = true
			return fakeapi.Fault{Kind: fakeapi.StoredFailed}
		case r.Verb == "delete" && !r.Dry:
			*sent = true
			return fakeapi.Fault{Kind: fakeapi.Failed}
		case *sent:
			return fakeapi.Fault{Kind: fakeapi.Failed}
		}
		return fakeapi.Fault{}
	}
}

func deletions(x *faultSite) int {
	n := 0
	for _, r := range x.Stored() {
		if r.Verb == "delete" && r.Resource.Resource == "machinedrainrules" {
			n++
		}
	}
	return n
}

// Whether it works could not be read: that is neither done nor failed, after a resume too.
func TestUnreadVerificationIsUnknown(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		ana := x.engineer("ana")
		w := ana.begin()
		p := toRule(t, w, reachNamespace)
		ana.fail(onRules(fakeapi.Failed, func(r *fakeapi.Request) bool { return !r.Write() && x.rule() != nil }))
		must(t, w.Apply(t.Context(), p.Token, ""))
		s := step(t, w, "rule")
		if s.State != remedies.StateUnchecked || !s.Undoable {
			t.Errorf("the step: %+v", s)
		}
		has(t, "the note", s.Note, "applied; whether it works could not be read")
		if err := w.Next(t.Context()); !errors.Is(err, remedies.ErrNotYet) {
			t.Errorf("next: %v", err)
		}
		w.Leave()
		w = ana.resume(w.ID())
		if got := step(t, w, "rule"); got.State != s.State || got.Note != s.Note || at(w) != "rule" {
			t.Errorf("picked up: %+v at %s", got, at(w))
		}
		ana.fail(nil)
		must(t, w.Enter(t.Context())) // r.
		if got := step(t, w, "rule"); got.State != remedies.StateDone {
			t.Errorf("looked at again: %+v", got)
		}
		must(t, w.Next(t.Context()))
	})
}

// The rule vanishes while the walk waits: b leads back to it, also after a resume.
func TestRuleThatVanishesWhileWaiting(t *testing.T) {
	for name, crash := range map[string]bool{"at once": false, "after a resume": true} {
		t.Run(name, func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				ana := x.engineer("ana")
				w := ana.applied()
				must(t, w.Next(t.Context()))
				x.Remove(capiGroup, ruleKind, "ns", ours)
				must(t, w.Enter(t.Context()))
				if crash {
					ana.stop(w)
					w = x.engineer("ana").resume(w.ID())
				}
				s := step(t, w, "wait")
				if s.State != remedies.StateFailed || at(w) != "wait" {
					t.Errorf("the wait: %+v at %s", s, at(w))
				}
				has(t, "the wait", s.Note, "b goes back to the step that makes the rule")
				w.Back()
				must(t, w.Enter(t.Context()))
				p := w.View().Preview
				if at(w) != "rule" || p == nil || p.Blocked != "" {
					t.Fatalf("at %s: %+v", at(w), p)
				}
				must(t, w.Apply(t.Context(), p.Token, ""))
				must(t, w.Next(t.Context()))
				must(t, w.Enter(t.Context()))
				if s := step(t, w, "wait"); x.rule() == nil || s.State != remedies.StateCurrent && s.State != remedies.StateFailed {
					t.Errorf("the wait again: %+v", s)
				}
				if pr := w.View().Progress; pr == nil || pr.Failed != "" {
					t.Errorf("progress: %+v", pr)
				}
			})
		})
	}
}

// Beginning a walk, picking one up and listing them end by themselves when the server hangs.
func TestOpeningAWalkHasADeadline(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		ana := x.engineer("ana")
		w := ana.applied()
		w.Leave()
		ana.fail(func(*fakeapi.Request) fakeapi.Fault { return fakeapi.Fault{Kind: fakeapi.Silence} })
		f := findingIn("ns")
		for name, do := range map[string]func() error{
			"begin":  func() error { _, err := ana.runner.Begin(t.Context(), f, f.Signature); return err },
			"resume": func() error { _, err := ana.runner.Resume(t.Context(), w.ID()); return err },
			"pending": func() error {
				p := ana.pending()
				has(t, "pending", p.Refused, "cannot tell whether it belongs to this Supervisor", "no answer in time")
				if p.Elsewhere {
					t.Error("a Supervisor that does not answer is called another one")
				}
				return errors.New(p.Refused)
			},
		} {
			start := time.Now()
			if err := do(); err == nil || errors.Is(err, remedies.ErrOver) || time.Since(start) > askTimeout {
				t.Errorf("%s after %s: %v", name, time.Since(start), err)
			}
		}
		ana.fail(nil)
		ana.resume(w.ID())
	})
}

// --- whose write it is ---

func ruleWrite(v effect.Verb) *effect.Object {
	return effect.NewObject(model.OnSupervisor(""), v, capi("v1beta2", "machinedrainrules"), ruleKind, "ns", ours)
}

// Our own write is known by its mark: never by likeness, never by clocks.
func TestOwnWriteIsKnownByItsMark(t *testing.T) {
	skipV3 := "{drain: {behavior: Skip}, pods: [" + entryV3 + "]}"
	note := func(u *unstructured.Unstructured) { u.SetAnnotations(map[string]string{"nudge": "1"}) }
	for name, c := range map[string]struct {
		// sent says that the write reaches the server, and by which attempt.
		verb  effect.Verb
		sent  bool
		clock time.Duration // by which our own is wrong.
		then  func(x *faultSite)
		want  remedies.Happened
	}{
		"made":                       {verb: effect.Create, sent: true, want: remedies.HappenedYes},
		"an identical one of others": {verb: effect.Create, then: func(x *faultSite) { x.Put("vksmedic-another-walk-1", ruleObject(t, "ns", ours, skipV3)) }, want: remedies.HappenedNo},
		"made, and extended since": {verb: effect.Create, sent: true, want: remedies.HappenedYes, then: func(x *faultSite) {
			x.Change("kubectl", capiGroup, ruleKind, "ns", ours, func(u *unstructured.Unstructured) {
				u.Object["spec"] = ruleObject(t, "ns", ours, "{drain: {behavior: Skip}, pods: ["+entryV3+", "+entryBatch+"]}").Object["spec"]
			})
		}},
		"made, with a clock that is ahead":  {verb: effect.Create, sent: true, clock: 5 * time.Minute, want: remedies.HappenedYes},
		"made, with a clock that is behind": {verb: effect.Create, sent: true, clock: -5 * time.Minute, want: remedies.HappenedYes},
		"made, and filed with the changes of others": {verb: effect.Create, sent: true, want: remedies.HappenedUnsure, then: func(x *faultSite) {
			time.Sleep(time.Minute) // simulated: the oldest are filed together.
			for i := range 12 {
				x.Change(fmt.Sprintf("manager-%d", i), capiGroup, ruleKind, "ns", ours, func(u *unstructured.Unstructured) {
					notes := u.GetAnnotations()
					if notes == nil {
						notes = map[string]string{}
					}
					notes[fmt.Sprintf("note-%d", i)] = "x"
					u.SetAnnotations(notes)
				})
			}
		}},
		"an annotation alone": {verb: effect.Update, sent: true, want: remedies.HappenedYes},
		"an annotation that was never written, and others wrote": {verb: effect.Update, want: remedies.HappenedNo, then: func(x *faultSite) {
			x.Change("vksmedic-w-1", capiGroup, ruleKind, "ns", ours, func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a": "b"}) })
		}},
		"the same annotation by others": {verb: effect.Update, want: remedies.HappenedSo, then: func(x *faultSite) {
			x.Change("kubectl", capiGroup, ruleKind, "ns", ours, note)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				sites := x.engineer("ana").runner.cfg.Sites
				o := ruleWrite(c.verb)
				if c.verb == effect.Update {
					live := x.Put("kubectl", ruleObject(t, "ns", ours, skipV3))
					want := live.DeepCopy()
					note(want)
					o = o.Change(live, effect.Whole(want))
				} else {
					o.Want = ruleObject(t, "ns", ours, skipV3).Object
				}
				a := remedies.Attempt{Walk: "w", N: 2, Sent: time.Now().Add(c.clock)}
				if c.sent {
					_, err := o.Send(t.Context(), sites, a)
					must(t, err)
				}
				if c.then != nil {
					c.then(x)
				}
				for _, back := range []bool{false, true} { // and the same from the journal.
					if back {
						o = throughTheJournal(t, o)
					}
					got, err := o.Look(t.Context(), sites, a)
					if err != nil || got.Happened != c.want {
						t.Errorf("journal %t: %+v %v, want %s", back, got, err, c.want)
					}
				}
			})
		})
	}
}

// A colleague makes the same rule just when ours gets lost: it is theirs, and stays.
func TestIdenticalRuleOfOthersIsNotTakenBack(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		ana := x.engineer("ana")
		w := ana.begin()
		p := toRule(t, w, reachNamespace)
		ana.fail(onRules(fakeapi.Cut, func(r *fakeapi.Request) bool {
			if r.Write() && x.rule() == nil {
				x.Put("vksmedic-bobs-walk-1", ruleObject(t, "ns", ours, "{drain: {behavior: Skip}, pods: ["+entryV3+"]}"))
			}
			return r.Write()
		}))
		if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrUnclear) {
			t.Fatalf("apply: %v", err)
		}
		ana.fail(nil)
		if err := w.Enter(t.Context()); !errors.Is(err, remedies.ErrUnclear) { // it may still be under way.
			t.Errorf("at once: %v", err)
		}
		time.Sleep(effect.UnderWay + time.Second) // simulated.
		must(t, w.Enter(t.Context()))
		if s := step(t, w, "rule"); s.Undoable {
			t.Errorf("the colleague's rule can be taken back: %+v", s)
		}
		has(t, "the preview", w.View().Preview.Done, "lets the drain skip the agents already")
		if err := w.Undo(t.Context()); !errors.Is(err, remedies.ErrBlocked) {
			t.Errorf("u: %v", err)
		}
		if x.rule() == nil {
			t.Error("the colleague's rule is gone")
		}
	})
}

// The server stored the rule and answered 503, with the wish to get it again or without: it is sent
// one time only, and found by its mark. A second one could still be stored after the first was taken back.
func TestStoredRuleThatAnswered503IsOurs(t *testing.T) {
	for _, kind := range []fakeapi.FaultKind{fakeapi.StoredUnavailableRetry, fakeapi.StoredUnavailable, fakeapi.StoredCut, fakeapi.StoredSilence, fakeapi.StoredFailed} {
		t.Run(string(kind), func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				ana := x.engineer("ana")
				w := ana.begin()
				p := toRule(t, w, reachNamespace)
				posts := 0
				ana.fail(onRules(kind, func(r *fakeapi.Request) bool {
					if r.Write() {
						posts++
					}
					return r.Write() && posts == 1
				}))
				must(t, w.Apply(t.Context(), p.Token, ""))
				if s := step(t, w, "rule"); s.State != remedies.StateDone || !s.Undoable {
					t.Errorf("we made it: %+v", s)
				}
				if posts != 1 {
					t.Errorf("sent %d times", posts)
				}
				must(t, w.Apply(t.Context(), undo(t, w).Token, ""))
				if x.rule() != nil {
					t.Error("it is not taken back")
				}
			})
		})
	}
}

// throughTheJournal writes an effect down and reads it again.
func throughTheJournal(t *testing.T, o *effect.Object) *effect.Object {
	t.Helper()
	d := &procDisk{disk: newMemDisk(), proc: &process{}}
	j, err := createJournal(d, "/j", "x")
	must(t, err)
	c, err := carry(o)
	must(t, err)
	must(t, j.write(&entry{V: journalVersion, Kind: entryBegin, Begin: &beginning{ID: "x"}}))
	must(t, j.write(&entry{V: journalVersion, Kind: entryBefore, Step: "s", Attempt: 1, Effect: c}))
	j.close()
	j, rec, err := openJournal(d, "/j", "x")
	must(t, err)
	j.close()
	back, err := rec.entries[1].Effect.effect(map[string]func() remedies.Effect{effect.ObjectKind: func() remedies.Effect { return &effect.Object{} }})
	must(t, err)
	return back.(*effect.Object)
}

// Numbers come back from the journal as what they were.
func TestNumbersThroughTheJournal(t *testing.T) {
	const large = int64(1)<<53 + 1 // no float64 has it.
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		x.Serve(schema.GroupVersionResource{Version: "v1", Resource: "endpoints"}, "Endpoints")
		o := effect.NewObject(model.OnSupervisor(""), effect.Create, schema.GroupVersionResource{Version: "v1", Resource: "endpoints"}, "Endpoints", "ns", "e")
		o.Want = map[string]any{"apiVersion": "v1", "kind": "Endpoints", "metadata": map[string]any{"name": "e", "namespace": "ns", "generation": large},
			"subsets": []any{map[string]any{"ports": []any{map[string]any{"port": int64(6443), "weight": 1.5}}}}, "large": large, "negative": -large}
		back := throughTheJournal(t, o)
		if !reflect.DeepEqual(back, o) {
			t.Errorf("before %#v\nafter %#v", o.Want, back.Want)
		}
		if !slices.Equal(back.Binds(), o.Binds()) || effect.YAML(back.Want) != effect.YAML(o.Want) {
			t.Error("it does not bind the same")
		}
		sites := x.engineer("ana").runner.cfg.Sites
		a := remedies.Attempt{Walk: "w", N: 1}
		got, err := back.Send(t.Context(), sites, a)
		must(t, err)
		if n := x.Get("", "Endpoints", "ns", "e").Object["large"]; n != any(large) {
			t.Errorf("what is sent: %v (%T)", n, n)
		}
		// And it is taken back by what stands in the journal.
		left, err := throughTheJournal(t, o).Reverse(t.Context(), sites, a, got)
		if err != nil || left.Plan == nil || left.Plan.Preview.Confirm != remedies.ConfirmKey {
			t.Errorf("taken back: %+v %v", left, err)
		}
	})
}

// A change of an annotation alone binds, is seen, and is taken back alone.
func TestAnnotationAloneIsAChange(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		sites := x.engineer("ana").runner.cfg.Sites
		live := x.Put("kubectl", ruleObject(t, "ns", ours, "{drain: {behavior: Skip}, pods: ["+entryV3+"]}"))
		want := live.DeepCopy()
		want.SetAnnotations(map[string]string{"nudge": "1"})
		o := ruleWrite(effect.Update).Change(live, effect.Whole(want))
		same := ruleWrite(effect.Update).Change(live, effect.Whole(live))
		if len(remedies.Moved(same.Binds(), o.Binds())) == 0 {
			t.Error("the annotation does not bind")
		}
		a := remedies.Attempt{Walk: "w", N: 1}
		got, err := o.Send(t.Context(), sites, a)
		must(t, err)
		left, err := throughTheJournal(t, o).Reverse(t.Context(), sites, a, got)
		must(t, err)
		if left.Left != remedies.LeftSome {
			t.Fatalf("nothing to take back: %s", left.Words)
		}
		_, err = left.Plan.Effect.Send(t.Context(), sites, remedies.Attempt{Walk: "w", N: 2})
		must(t, err)
		if n := x.rule().GetAnnotations(); len(n) != 0 || x.rule().Object["spec"] == nil {
			t.Errorf("taken back: %v", x.rule().Object)
		}
	})
}

// --- what was shown is what is sent ---

// A plan is a list, not a set: a verb that moves from one rule to another moves the preview.
func TestMovedVerbMovesThePreview(t *testing.T) {
	role := func(endpoints, services []any) *newPlan {
		o := effect.NewObject(model.OnSupervisor(""), effect.Update, schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}, "ClusterRole", "", "vmop")
		o.UID, o.Want = "u", map[string]any{"rules": []any{
			map[string]any{"resources": []any{"endpoints"}, "verbs": endpoints}, map[string]any{"resources": []any{"services"}, "verbs": services}}}
		p := &remedies.Plan{Effect: o}
		return &newPlan{plan: p, binds: p.Binds()}
	}
	shown := role([]any{"get"}, []any{"get", "patch"})
	fresh := role([]any{"get", "patch"}, []any{"get"})
	of := &shownPlan{plan: shown.plan, binds: shown.binds}
	if m := movedSince(of, fresh); len(m) == 0 {
		t.Error("patch moved from services to endpoints, and nothing is said to have moved")
	}
	if m := movedSince(of, role([]any{"get"}, []any{"get", "patch"})); len(m) != 0 {
		t.Errorf("the same moved: %v", m)
	}
}

// All fields of a preview bind, except those that are listed here with the reason.
func TestEverythingOnAPreviewBinds(t *testing.T) {
	derived := map[string]string{
		"Now":   "figures of the moment change by themselves",
		"Token": "it is made of what binds", "Moved": "it compares what binds",
		"YAML": "it is the effect's own, which binds", "Command": "it is the effect's own, which binds", "Shown": "it is the effect's own, which binds",
	}
	bare := (&remedies.Plan{}).Binds()
	for i := range reflect.TypeFor[remedies.Preview]().NumField() {
		f := reflect.TypeFor[remedies.Preview]().Field(i)
		p := &remedies.Plan{}
		v := reflect.ValueOf(&p.Preview).Elem().Field(i)
		switch x := v.Addr().Interface().(type) {
		case *string:
			*x = "other"
		case *[]string:
			*x = []string{"other"}
		case *[]remedies.Line:
			*x = []remedies.Line{{Sign: '+', Text: "other"}}
		case *model.Verdict:
			*x = model.Yes
		case *remedies.ConfirmKind:
			*x = remedies.ConfirmName
		default:
			t.Fatalf("%s is of a type that this test does not know", f.Name)
		}
		if bound, free := !slices.Equal(bare, p.Binds()), derived[f.Name] != ""; bound == free {
			t.Errorf("%s: binds %t, %s", f.Name, bound, derived[f.Name])
		}
	}
	for name, two := range map[string][2]remedies.Plan{
		"order of warnings": {{Preview: remedies.Preview{Warnings: []string{"a", "b"}}}, {Preview: remedies.Preview{Warnings: []string{"b", "a"}}}},
		"a guard's numbers": {{Guards: []remedies.Guard{{Name: "quorum", Holds: model.Yes, Words: "3 of 3"}}}, {Guards: []remedies.Guard{{Name: "quorum", Holds: model.Yes, Words: "2 of 3"}}}},
		"the place":         {{Place: model.Marks{SystemUID: "a"}}, {Place: model.Marks{SystemUID: "b"}}},
		"what is tried too": {{AlsoTry: []remedies.Effect{ruleWrite(effect.Delete)}}, {}},
		"the basis":         {{Basis: []string{"a"}}, {Basis: []string{"b"}}},
	} {
		if slices.Equal(two[0].Binds(), two[1].Binds()) {
			t.Errorf("%s does not bind", name)
		}
	}
}

// What comes between the preview and the key is seen: order, a warning, the reach.
func TestPreviewMovesWith(t *testing.T) {
	rule := func(entries ...string) *unstructured.Unstructured {
		return ruleObject(t, "ns", ours, "{drain: {behavior: Skip}, pods: ["+strings.Join(entries, ", ")+"]}")
	}
	for name, c := range map[string]struct {
		move func(x *faultSite)
		want string
	}{
		"the order of entries": {func(x *faultSite) { x.Put("kubectl", rule(entryBatch, entryTMC)) }, "MachineDrainRule " + ours},
		"a warning": {func(x *faultSite) {
			x.Put("kubectl", ruleObject(t, "ns", "broken", "{drain: {behavior: Skip}, pods: [{selector: {matchExpressions: [{key: a, operator: Nonsense}]}}]}"))
		}, "+ warning: MachineDrainRule broken has an invalid selector"},
		"the reach": {func(x *faultSite) { x.Put("kubectl", fakeapi.Object(capiGroup+"/v1beta2", "Cluster", "ns", "shop")) }, "+ reaches: ns/shop"},
		"an annotation alone": {func(x *faultSite) {
			x.Change("kubectl", capiGroup, ruleKind, "ns", ours, func(u *unstructured.Unstructured) { u.SetAnnotations(map[string]string{"kapp": "x"}) })
		}, "kapp: x"},
		"the place": {func(x *faultSite) {
			x.Remove("", "Namespace", "", "ns")
			x.Put("kubectl", fakeapi.Object("v1", "Namespace", "", "ns"))
		}, "vSphere Namespace ns is another one"},
	} {
		t.Run(name, func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				x.Put("kubectl", rule(entryTMC, entryBatch))
				w := x.engineer("ana").begin()
				p := toRule(t, w, reachNamespace)
				c.move(x)
				if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrMoved) {
					t.Fatalf("apply: %v", err)
				}
				if v := w.View(); v.Preview.Token == p.Token || !strings.Contains(moved(v.Preview), c.want) {
					t.Errorf("moved: %s", moved(v.Preview))
				}
				if len(x.Received(0)) != 0 {
					t.Errorf("written: %q", x.Writes())
				}
			})
		})
	}
}

// Which Supervisor it is is read once more when the Lease is taken, right before the write.
func TestPlaceIsReadAgainBeforeTheWrite(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		ana := x.engineer("ana")
		w := ana.begin()
		p := toRule(t, w, reachNamespace)
		ana.fail(func(r *fakeapi.Request) fakeapi.Fault {
			if r.Resource.Resource == "leases" && r.Write() {
				x.Remove("", "Namespace", "", "ns")
				x.Put("kubernetes", fakeapi.Object("v1", "Namespace", "", "ns"))
			}
			return fakeapi.Fault{}
		})
		if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrOtherSupervisor) || !strings.HasPrefix(err.Error(), "nothing was applied") {
			t.Errorf("apply: %v", err)
		}
		if s := step(t, w, "rule"); x.rule() != nil || s.State != remedies.StateCurrent {
			t.Errorf("the step: %+v", s)
		}
	})
}

// What the diff hides is sent all the same: the last-applied-configuration stays.
func TestLastAppliedStays(t *testing.T) {
	const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		u := ruleObject(t, "ns", ours, "{drain: {behavior: Skip}, pods: ["+entryTMC+"]}")
		u.SetAnnotations(map[string]string{lastApplied: `{"spec":{}}`, "kapp": "x"})
		x.Put("kubectl-client-side-apply", u)
		w := x.engineer("ana").applied()
		if n := x.rule().GetAnnotations(); n[lastApplied] != `{"spec":{}}` || n["kapp"] != "x" || len(n) != 2 {
			t.Errorf("after the change: %v", n)
		}
		must(t, w.Apply(t.Context(), undo(t, w).Token, ""))
		if n := x.rule().GetAnnotations(); n[lastApplied] != `{"spec":{}}` || n["kapp"] != "x" || len(n) != 2 {
			t.Errorf("after it was taken back: %v", n)
		}
	})
}

// A colleague labels our rule. Before the preview: more goes than the walk brought, and the name
// has to be typed. Between the preview and the key: nothing is deleted before that was seen.
func TestTakingBackARuleThatOthersLabelled(t *testing.T) {
	typed := func(t *testing.T, x *faultSite, w *Walk) {
		t.Helper()
		p := w.View().Preview
		if p.Confirm != remedies.ConfirmName || p.ConfirmName != ours || p.TakeBack != "" {
			t.Errorf("it is confirmed by %s %q, taken back by %q", p.Confirm, p.ConfirmName, p.TakeBack)
		}
		has(t, "warnings", strings.Join(p.Warnings, "\n"), "others wrote to MachineDrainRule ns/"+ours)
		for _, word := range []string{"", "y", machineName} {
			if err := w.Apply(t.Context(), p.Token, word); !errors.Is(err, remedies.ErrTyped) {
				t.Errorf("typed %q: %v", word, err)
			}
		}
		if x.rule() == nil || deletions(x) != 0 {
			t.Fatal("the colleague's label was deleted by a key")
		}
		must(t, w.Apply(t.Context(), p.Token, ours))
		if x.rule() != nil {
			t.Error("it is still there")
		}
	}
	t.Run("before the preview", func(t *testing.T) {
		onFaultSite(t, func(t *testing.T, x *faultSite) {
			w := x.engineer("ana").applied()
			x.label()
			undo(t, w)
			typed(t, x, w)
		})
	})
	t.Run("between the preview and the key", func(t *testing.T) {
		onFaultSite(t, func(t *testing.T, x *faultSite) {
			w := x.engineer("ana").applied()
			p := undo(t, w)
			if p.Confirm != remedies.ConfirmKey {
				t.Errorf("ours alone is confirmed by %s", p.Confirm)
			}
			x.label()
			if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrMoved) {
				t.Fatalf("apply: %v", err)
			}
			has(t, "moved", moved(w.View().Preview), "owner: bob", "confirm: name")
			typed(t, x, w)
		})
	})
}

// --- other engineers ---

// seat has another engineer take the cluster's Lease, and nothing else.
func (e *faultEngineer) seat() *leases {
	e.x.t.Helper()
	l := newLeases(e.runner, findingIn("ns").Cluster, e.runner.cfg.Who+"s-walk")
	if k := l.keep(e.x.t.Context(), false); k.err != nil || k.unseen != "" {
		e.x.t.Fatalf("the Lease is not taken: %+v", k)
	}
	return l
}

// Whom a renewal saw first is new for the preview that is open.
func TestNewcomerSeenByARenewalIsNew(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		w := x.engineer("ana").applied()
		p := undo(t, w)
		x.engineer("bob").seat()
		w.renew(t.Context())
		if o := w.View().Others; len(o) != 1 || !strings.Contains(o[0], "bob on bob-laptop") {
			t.Errorf("the renewal saw %v", o)
		}
		if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrMoved) {
			t.Fatalf("applied although bob came after the preview was drawn: %v", err)
		}
		has(t, "moved", moved(w.View().Preview), "bob on bob-laptop has begun to work here")
		if x.rule() == nil {
			t.Error("the rule was deleted")
		}
		must(t, w.Apply(t.Context(), w.View().Preview.Token, ""))
	})
}

// An open preview looks for others at the Lease's pace and writes nothing; over a newcomer it
// becomes another one.
func TestOpenPreviewShowsANewcomer(t *testing.T) {
	const pace = 10 * time.Second
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		w := x.engineer("ana", func(c *Config) { c.LeasePace = pace }).begin()
		p := toRule(t, w, reachNamespace)
		changed := make(chan time.Time, 10)
		watched := make(chan error, 1)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { watched <- w.Watch(ctx, func() { changed <- time.Now() }) }()
		time.Sleep(25 * time.Second) // simulated: nobody comes, nothing changes.
		if len(changed) != 0 || len(x.Received(0)) != 0 {
			t.Errorf("%d changes, written %q", len(changed), x.Writes())
		}
		came := time.Now()
		bob := x.engineer("bob").seat()
		if after := (<-changed).Sub(came); after > pace {
			t.Errorf("seen after %s", after)
		}
		v := w.View()
		if v.Preview.Token == p.Token || len(v.Others) != 1 {
			t.Errorf("the token is the same, or nobody is shown: %v", v.Others)
		}
		has(t, "moved", moved(v.Preview), "bob on bob-laptop has begun to work here")
		has(t, "warnings", strings.Join(v.Preview.Warnings, "\n"), "bob on bob-laptop is working here")
		if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrToken) {
			t.Errorf("applied without a new look: %v", err)
		}
		if n := slices.DeleteFunc(x.Received(0), func(r fakeapi.Request) bool { return r.Client == "bob" }); len(n) != 0 {
			t.Errorf("written by who only looks: %+v", n)
		}
		must(t, bob.giveBack(t.Context()))
		<-changed
		if o := w.View().Others; len(o) != 0 {
			t.Errorf("bob left, and %v is shown", o)
		}
		stop()
		must(t, <-watched)
		must(t, w.Apply(t.Context(), w.View().Preview.Token, ""))
	})
}

// A Lease that hangs ends within its own deadline, and leaves no doubt: nothing was sent.
func TestHangingLeaseSendsNothing(t *testing.T) {
	for name, hangs := range map[string]func(r *fakeapi.Request) bool{
		"its writes": func(r *fakeapi.Request) bool { return r.Resource.Resource == "leases" && r.Write() },
		"all of it":  func(r *fakeapi.Request) bool { return r.Resource.Resource == "leases" },
	} {
		t.Run(name, func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				ana := x.engineer("ana")
				w := ana.begin()
				p := toRule(t, w, reachNamespace)
				ana.fail(func(r *fakeapi.Request) fakeapi.Fault {
					if hangs(r) {
						return fakeapi.Fault{Kind: fakeapi.Silence}
					}
					return fakeapi.Fault{}
				})
				lines := len(x.journalOf(w))
				start := time.Now()
				err := w.Apply(t.Context(), p.Token, "")
				if name == "all of it" { // that nobody can be seen any more is new on the preview.
					if took := time.Since(start); took > leaseTimeout || !errors.Is(err, remedies.ErrMoved) {
						t.Errorf("the look ended after %s: %v", took, err)
					}
					has(t, "warnings", strings.Join(w.View().Preview.Warnings, "\n"), "cannot see whether somebody else works here")
					start = time.Now()
					err = w.Apply(t.Context(), w.View().Preview.Token, "")
					start = start.Add(leaseTimeout) // the look before has the same deadline.
				}
				if took := time.Since(start); took > leaseTimeout {
					t.Errorf("it ended after %s", took)
				}
				if !errors.Is(err, remedies.ErrBlocked) || !strings.HasPrefix(err.Error(), "not sent") || !strings.Contains(err.Error(), "nothing was applied") {
					t.Errorf("apply: %v", err)
				}
				w.mu.Lock()
				open, attempts := w.st.open(), len(w.st.attempts)
				w.mu.Unlock()
				if s := step(t, w, "rule"); s.State != remedies.StateCurrent || open != nil || attempts != 0 {
					t.Errorf("there is a doubt: %+v, %d attempts", s, attempts)
				}
				if n := len(x.journalOf(w)); x.rule() != nil || x.Get("coordination.k8s.io", "Lease", "ns", "vksmedic-old") != nil || n != lines {
					t.Errorf("written: %q, %d lines of the journal", x.Writes(), n-lines)
				}
				ana.fail(nil)
				must(t, w.Enter(t.Context()))
				must(t, w.Apply(t.Context(), w.View().Preview.Token, ""))
			})
		})
	}
}

// --- where a walk belongs ---

// Our own open walk is offered as our own, and not as somebody else's.
func TestOwnOpenWalkIsOurs(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		ana := x.engineer("ana")
		w := ana.applied()
		if p := ana.pending(); !p.Open || p.Refused != "" || p.ID != w.ID() || p.Elsewhere {
			t.Errorf("pending: %+v", p)
		}
		f := findingIn("ns")
		_, begun := ana.runner.Begin(t.Context(), f, f.Signature)
		_, resumed := ana.runner.Resume(t.Context(), w.ID())
		for what, err := range map[string]error{"begin": begun, "resume": resumed} {
			if !errors.Is(err, remedies.ErrBusy) || !strings.Contains(err.Error(), "open in this window already") {
				t.Errorf("%s: %v", what, err)
			}
		}
		// For another program on this machine it is another's.
		bob := x.engineer("bob")
		if p := bob.pending(); p.Open || !strings.Contains(p.Refused, "another vksmedic on this machine has it open") {
			t.Errorf("pending elsewhere: %+v", p)
		}
		if _, err := bob.runner.Begin(t.Context(), f, f.Signature); !errors.Is(err, remedies.ErrBusy) || strings.Contains(err.Error(), "this window") {
			t.Errorf("begin elsewhere: %v", err)
		}
		w.Leave()
		if p := ana.pending(); p.Open || p.Refused != "" {
			t.Errorf("pending after it was left: %+v", p)
		}
		if again := ana.begin(); again.ID() != w.ID() {
			t.Errorf("a second walk was begun: %s and %s", again.ID(), w.ID())
		}
	})
}

// seeing is a way through which some namespaces cannot be read.
func seeing(e *faultEngineer, hidden ...string) *faultEngineer {
	e.fail(func(r *fakeapi.Request) fakeapi.Fault {
		if r.Resource.Resource == "namespaces" && slices.Contains(hidden, r.Name) {
			return fakeapi.Fault{Kind: fakeapi.Forbidden}
		}
		return fakeapi.Fault{}
	})
	return e
}

// An administrator and the user of a vSphere Namespace pick up each other's walks.
func TestAdministratorAndUserPickUpEachOthersWalks(t *testing.T) {
	for name, hidden := range map[string][2]string{
		"the administrator's by the user": {"", "kube-system"},
		"the user's by the administrator": {"kube-system", ""},
		"the user's by the user":          {"kube-system", "kube-system"},
	} {
		t.Run(name, func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				w := seeing(x.engineer("ana"), hidden[0]).applied()
				if got := w.st.begin.Supervisor; got.NamespaceUID == "" || (got.SystemUID == "") != (hidden[0] == "kube-system") {
					t.Fatalf("the marks that were written down: %+v", got)
				}
				w.Leave()
				bob := seeing(x.engineer("bob"), hidden[1])
				if p := bob.pending(); p.Refused != "" || p.Elsewhere {
					t.Fatalf("pending: %+v", p)
				}
				again := bob.begin() // the same finding leads to the same walk.
				if again.ID() != w.ID() {
					t.Errorf("a second walk was begun")
				}
				must(t, again.Apply(t.Context(), undo(t, again).Token, ""))
				if x.rule() != nil {
					t.Error("it is not taken back")
				}
			})
		})
	}
}

// Without a uid that both know a walk is refused, and is not called another Supervisor's.
func TestNoCommonUIDIsRefused(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		w := seeing(x.engineer("ana"), "kube-system").applied()
		w.Leave()
		bob := seeing(x.engineer("bob"), "ns")
		p := bob.pending()
		has(t, "pending", p.Refused, "it cannot be told whether this is the same Supervisor")
		hasNot(t, "pending", p.Refused, "belongs to another Supervisor")
		if p.Elsewhere {
			t.Error("it is called another Supervisor's, which is not known")
		}
		_, err := bob.runner.Resume(t.Context(), w.ID())
		if !errors.Is(err, remedies.ErrOtherSupervisor) {
			t.Fatalf("resume: %v", err)
		}
		has(t, "resume", err.Error(), "it cannot be told")
		hasNot(t, "resume", err.Error(), "belongs to another Supervisor")
	})
}

// A walk of another Supervisor is listed with that one's name, is not offered for a finding here,
// and can be put away.
func TestWalkOfAnotherSupervisor(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		w := x.engineer("ana", func(c *Config) { c.Context, c.Server = "west", "https://west.test" }).applied()
		w.Leave()
		x.Remove("", "Namespace", "", "kube-system")
		x.Remove("", "Namespace", "", "ns")
		x.Remove(capiGroup, ruleKind, "ns", ours)
		x.Put("kubernetes", fakeapi.Object("v1", "Namespace", "", "kube-system"))
		x.Put("kubernetes", fakeapi.Object("v1", "Namespace", "", "ns"))
		here := x.engineer("ana")
		p := here.pending()
		if !p.Elsewhere || p.Context != "west" || p.Server != "https://west.test" || p.Title == "" || p.Target != machineName {
			t.Errorf("pending: %+v", p)
		}
		has(t, "refused", p.Refused, "another Supervisor", "https://west.test", "west")
		if _, err := here.runner.Resume(t.Context(), w.ID()); !errors.Is(err, remedies.ErrOtherSupervisor) {
			t.Errorf("resume: %v", err)
		}
		mine := here.begin()
		if mine.ID() == w.ID() {
			t.Error("it was picked up here")
		}
		mine.Leave()
		must(t, here.runner.Forget(w.ID()))
		if p, err := here.runner.Pending(t.Context()); err != nil || len(p) != 0 {
			t.Errorf("still pending: %+v %v", p, err)
		}
	})
}

// A subject inside the workload cluster is looked for there.
func TestSubjectInsideTheWorkloadCluster(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		f := findingIn("ns")
		f.Subjects = []model.ObjectRef{{Kind: "Node", Name: machineName, Place: model.InCluster("prod", f.Cluster)}}
		ana := x.engineer("ana")
		got, err := ana.runner.pin(t.Context(), f)
		if err != nil || got.Place.Kind != model.PlaceCluster || got.UID != string(x.inside.Get("", "Node", "", machineName).GetUID()) {
			t.Errorf("pinned: %+v %v", got, err)
		}
		ana.runner.cfg.Sites.Workload = nil
		if _, err := ana.runner.pin(t.Context(), f); err == nil || errors.Is(err, remedies.ErrOver) {
			t.Errorf("who cannot look is told that it is gone: %v", err)
		}
	})
}

// A journal that cannot be written blocks the preview; it is not met after the key.
func TestUnwritableJournalBlocksThePreview(t *testing.T) {
	for _, fault := range []diskFault{diskFull, diskNoFile, diskNoDir} {
		t.Run(string(fault), func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				ana := x.engineer("ana")
				d := &procDisk{disk: newMemDisk(), proc: &process{}, fault: func([]byte) diskFault { return fault }}
				ana.runner.disk = d
				w := ana.begin()
				p := toRule(t, w, reachNamespace)
				has(t, "blocked", p.Blocked, "nothing can be applied while the journal cannot be written")
				if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrBlocked) {
					t.Errorf("apply: %v", err)
				}
				if len(x.Received(0)) != 0 {
					t.Errorf("written: %q", x.Writes())
				}
				d.fault = nil
				must(t, w.Enter(t.Context()))
				must(t, w.Apply(t.Context(), w.View().Preview.Token, ""))
			})
		})
	}
}

// Whatever becomes of the lines after it, a line that was written stays: the journal is read after
// every sequence of faults of the disk.
func TestWrittenLineStays(t *testing.T) {
	const lines = 4
	kinds := []diskFault{diskFine, diskFull, diskHalf, diskStuck, diskUnsynced, diskKept}
	for n := range int(math.Pow(float64(len(kinds)), lines)) {
		var faults []diskFault
		for range lines {
			faults, n = append(faults, kinds[n%len(kinds)]), n/len(kinds)
		}
		next := diskFine
		d := &procDisk{disk: newMemDisk(), proc: &process{}, fault: func([]byte) diskFault { return next }}
		j, err := createJournal(d, "/j", "x")
		must(t, err)
		must(t, j.write(&entry{V: journalVersion, Kind: entryBegin, Begin: &beginning{ID: "x"}}))
		var want []string
		for i, f := range faults {
			next = f
			note := fmt.Sprintf("line %d", i)
			if err := j.write(&entry{V: journalVersion, Kind: entryLeave, Note: note}); err == nil {
				want = append(want, note)
			} else if f == diskFine {
				t.Fatalf("%q: %v", faults, err)
			}
			rec, err := peekJournal(d, "/j", "x")
			must(t, err)
			var got []string
			for _, e := range rec.entries {
				if e.Kind == entryLeave && e.N <= j.last { // what was not written, and stays, comes behind.
					got = append(got, e.Note)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("after %q: %q are in the journal, %q were written", faults[:i+1], got, want)
			}
		}
		j.close()
	}
}

// --- what is said ---

// The 404 of a kind that is not served is not the 404 of an object.
func TestKindNotServedIsNotGone(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		ana := x.engineer("ana")
		w := ana.begin()
		ana.fail(func(*fakeapi.Request) fakeapi.Fault { return fakeapi.Fault{Kind: fakeapi.NotServed} })
		err := w.Enter(t.Context())
		if err == nil {
			t.Error("the look brought something")
		}
		for _, l := range w.View().Facts {
			hasNot(t, "the look", l.Text, "is gone")
		}
		f := findingIn("ns")
		if _, err := x.engineerThrough(ana).Begin(t.Context(), f, f.Signature); err == nil || errors.Is(err, remedies.ErrOver) {
			t.Errorf("begin: %v", err)
		}
		// Neither is what the walk made.
		ana.fail(nil)
		must(t, w.Apply(t.Context(), toRule(t, w, reachNamespace).Token, ""))
		ana.fail(onRules(fakeapi.NotServed, anything))
		if err := w.Undo(t.Context()); err == nil {
			hasNot(t, "the way back", w.View().Preview.Done, "gone already")
		}
	})
}

// engineerThrough is another program of the same engineer, with a journal of its own.
func (x *faultSite) engineerThrough(e *faultEngineer) *Runner {
	cfg := e.runner.cfg
	cfg.JournalDir = x.t.TempDir()
	return NewRunner(cfg)
}

// A kind that is not served is said to those who may not list it, too. Who may not list one that
// is served is told that.
func TestKindNotServedIsSaidToWhoMayNotListIt(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		ana := x.engineer("ana")
		ana.fail(onRules(fakeapi.Forbidden, anything))
		w := ana.begin()
		if err := w.Enter(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot list MachineDrainRules in ns") || strings.Contains(err.Error(), "not served") {
			t.Errorf("served, and may not list: %v", err)
		}
		x.Unserve(capiGroup, ruleKind)
		p := toRule(t, w, reachNamespace)
		has(t, "not served", p.Blocked, "MachineDrainRule is not served")
		hasNot(t, "not served", p.Blocked, "may not", "forbidden")
	})
}

// A 403 that is not about rights is not called "you may not".
func TestNot403IsAMissingRight(t *testing.T) {
	dry := func(r *fakeapi.Request) bool { return r.Dry }
	for name, c := range map[string]struct {
		when   func(r *fakeapi.Request) bool
		denied bool
		right  bool // whether it is a matter of rights.
	}{
		"admission refuses the dry run": {when: dry},
		"no right, at the dry run":      {denied: true, right: true},
		"admission refuses the write":   {when: written},
	} {
		t.Run(name, func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				if c.denied {
					x.Deny(fakeapi.Denial{Verb: "create", Resource: "machinedrainrules"})
				}
				ana := x.engineer("ana")
				if c.when != nil {
					ana.fail(onRules(fakeapi.Forbidden, c.when))
				}
				w := ana.begin()
				p := toRule(t, w, reachNamespace)
				err := w.Apply(t.Context(), p.Token, "")
				if errors.Is(err, remedies.ErrForbidden) != c.right || (!c.right && !errors.Is(err, remedies.ErrBlocked)) {
					t.Errorf("apply: %v", err)
				}
				said := p.Blocked + "\n" + err.Error()
				if c.right {
					has(t, "said", said, "you may not create machinedrainrules in ns")
				} else {
					hasNot(t, "said", said, "may not create", "ask for that right")
					has(t, "said", said, "forbidden: not now") // the server's own words.
				}
				if (p.May == model.No) != c.right || x.rule() != nil {
					t.Errorf("may: %s", p.May)
				}
				if c.when != nil && w.st.open() != nil {
					t.Error("a refusal is taken for a doubt")
				}
			})
		})
	}
}

// whyRefused is a Supervisor that says who refused.
type whyRefused struct {
	fakeapi.Supervisor
	by supervisor.Refuser
}

func (w whyRefused) WhyForbidden(context.Context, supervisor.Ask, error) supervisor.Refusal {
	return supervisor.Refusal{By: w.by, Words: "it was " + string(w.by)}
}

// Of all that answers 403, only a missing right is called one: at the dry run and at the write.
func TestOnlyAMissingRightIsCalledOne(t *testing.T) {
	for by, right := range map[supervisor.Refuser]bool{
		supervisor.RefusedByRights: true, supervisor.RefusedByEscalation: true,
		supervisor.RefusedByQuota: false, supervisor.RefusedByTermination: false, supervisor.RefusedByPodSecurity: false, supervisor.RefusedByWebhook: false,
		supervisor.RefusedByPolicy: false, supervisor.RefusedByAdmission: false, supervisor.RefusedByUnknown: false,
	} {
		t.Run(string(by), func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				ana := x.engineer("ana", func(c *Config) { through(c, whyRefused{c.Sites.Supervisor.(fakeapi.Supervisor), by}) })
				ana.fail(onRules(fakeapi.Forbidden, anything))
				sites := ana.runner.cfg.Sites
				o := ruleWrite(effect.Create)
				o.Want = ruleObject(t, "ns", ours, "{drain: {behavior: Skip}, pods: ["+entryV3+"]}").Object
				a, err := o.DryRun(t.Context(), sites)
				must(t, err)
				_, err = o.Send(t.Context(), sites, remedies.Attempt{Walk: "w", N: 1})
				var no *remedies.Refusal
				if !errors.As(err, &no) || no.Doubtful || errors.Is(no, remedies.ErrForbidden) != right || errors.Is(no, remedies.ErrBlocked) == right {
					t.Fatalf("sent: %v", err)
				}
				if (a.May == model.No) != right {
					t.Errorf("may: %s", a.May)
				}
				for _, words := range []string{a.Blocked, no.Words} {
					has(t, "the words", words, "it was "+string(by))
					if strings.Contains(words, "you may not") != right {
						t.Errorf("the words: %s", words)
					}
				}
			})
		})
	}
}

// A Lease that is refused for another reason than rights is not called "may not".
func TestRefusedLeaseSaysWhatRefusedIt(t *testing.T) {
	for name, denied := range map[string]bool{"rights": true, "a namespace that is being deleted": false} {
		t.Run(name, func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				if denied {
					x.Deny(fakeapi.Denial{Verb: "create", Resource: "leases"})
				}
				ana := x.engineer("ana")
				if !denied {
					ana.fail(func(r *fakeapi.Request) fakeapi.Fault {
						if r.Resource.Resource == "leases" && r.Write() {
							return fakeapi.Fault{Kind: fakeapi.Forbidden}
						}
						return fakeapi.Fault{}
					})
				}
				w := ana.applied() // it goes on all the same.
				trouble := strings.Join(w.View().Trouble, "\n")
				has(t, "trouble", trouble, "nobody can see that you work here")
				if denied != strings.Contains(trouble, "may not write leases in ns") {
					t.Errorf("trouble: %q", trouble)
				}
			})
		})
	}
}

// Each command to copy says which kubeconfig and which context it is for.
func TestCommandsCarryKubeconfigAndContext(t *testing.T) {
	const kubectl = "kubectl --kubeconfig=/home/ana/sup.yaml --context=lab "
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		ana := x.engineer("ana")
		w := ana.begin()
		p := toRule(t, w, reachNamespace)
		has(t, "create", p.Command, kubectl+"create -n ns -f - <<'EOF'\n", p.YAML)
		has(t, "create, as drawn", p.Shown, kubectl+"create -n ns -f -")
		must(t, w.Apply(t.Context(), p.Token, ""))
		p = undo(t, w)
		if p.Command != kubectl+"delete -n ns machinedrainrules.cluster.x-k8s.io "+ours {
			t.Errorf("delete: %s", p.Command)
		}
		must(t, w.Apply(t.Context(), p.Token, ""))
		must(t, w.Next(t.Context()))
		for _, c := range ana.commands {
			if !strings.HasPrefix(c.Line, kubectl) || !strings.HasPrefix(c.Where, "lab: ") {
				t.Errorf("in the log: %s (%s)", c.Line, c.Where)
			}
		}
		if len(ana.commands) < 4 { // the Lease and the rule, there and back.
			t.Errorf("%d commands in the log", len(ana.commands))
		}
		x.Unserve(capiGroup, ruleKind)
		p = toRule(t, ana.begin(), reachNamespace)
		has(t, "by hand", strings.Join(p.Means, "\n"), kubectl+"annotate machine -n ns "+machineName)
	})
}

// A command for a workload cluster is not taken for one for the Supervisor.
func TestCommandForAWorkloadCluster(t *testing.T) {
	sites := &remedies.Sites{Kubectl: []string{"kubectl", "--context=lab"}}
	for _, v := range []effect.Verb{effect.Create, effect.Update, effect.Delete} {
		o := ruleWrite(v)
		o.Want = ruleObject(t, "ns", ours, "{}").Object
		has(t, "for the Supervisor", o.Command(sites).Text, "kubectl --context=lab ")
		o.At = model.InCluster("", model.ClusterRef{Namespace: "ns", Name: "old"})
		c := o.Command(sites)
		for _, words := range []string{c.Text, cmp.Or(c.Shown, c.Text)} {
			hasNot(t, "inside the cluster", words, "--context=lab")
			if !strings.HasPrefix(words, "# with the kubeconfig of cluster ns/old:\nkubectl ") {
				t.Errorf("inside the cluster: %s", words)
			}
		}
	}
}

// --- the end of a walk ---

// The last words come from what is so, in every combination.
func TestLastWords(t *testing.T) {
	gone := func(x *faultSite, _ *faultEngineer) { x.Remove(capiGroup, "Machine", "ns", machineName) }
	there := func(*faultSite, *faultEngineer) {}
	machines := map[string]struct {
		so   func(x *faultSite, e *faultEngineer)
		want string
	}{
		"there":               {there, "Machine " + machineName + " is still there."},
		"gone":                {gone, "Machine " + machineName + " is gone."},
		"another of its name": {func(x *faultSite, e *faultEngineer) { gone(x, e); x.Put("capi", x.machine()) }, "Machine " + machineName + " is gone."},
		"unreadable": {func(_ *faultSite, e *faultEngineer) { also(e, "machines", fakeapi.Failed) },
			"Whether Machine " + machineName + " is gone could not be seen."},
		"not served": {func(_ *faultSite, e *faultEngineer) { also(e, "machines", fakeapi.NotServed) },
			"Whether Machine " + machineName + " is gone could not be seen."},
	}
	const stays, back, unread = "The drain rule stays", "What this walk added was taken back", "is left is not known"
	rules := map[string]struct {
		so   func(x *faultSite, e *faultEngineer, w *Walk)
		want string
	}{
		"kept":                {func(*faultSite, *faultEngineer, *Walk) {}, stays},
		"kept, changed since": {func(x *faultSite, _ *faultEngineer, _ *Walk) { x.label() }, stays},
		"taken back": {func(x *faultSite, _ *faultEngineer, w *Walk) {
			must(x.t, w.Apply(x.t.Context(), undo(x.t, w).Token, ""))
		}, back},
		"taken away by others": {func(x *faultSite, _ *faultEngineer, _ *Walk) { x.Remove(capiGroup, ruleKind, "ns", ours) }, ""},
		"taken away by others, made again by others": {func(x *faultSite, _ *faultEngineer, _ *Walk) {
			x.Remove(capiGroup, ruleKind, "ns", ours)
			x.Put("kubectl", ruleObject(x.t, "ns", ours, "{drain: {behavior: Skip}, pods: ["+entryBatch+"]}"))
		}, ""},
		"unreadable": {func(_ *faultSite, e *faultEngineer, _ *Walk) { also(e, "machinedrainrules", fakeapi.Failed) }, unread},
	}
	for r, rule := range rules {
		for m, target := range machines {
			t.Run("rule "+r+", Machine "+m, func(t *testing.T) {
				onFaultSite(t, func(t *testing.T, x *faultSite) {
					ana := x.engineer("ana")
					w := ana.applied()
					rule.so(x, ana, w)
					target.so(x, ana)
					must(t, w.finish(t.Context()))
					words := w.View().FinishedWords
					has(t, "the Machine", words, target.want)
					for _, said := range []string{stays, back, unread} {
						if strings.Contains(words, said) != (said == rule.want) {
							t.Errorf("%q: says %q %t", words, said, said != rule.want)
						}
					}
				})
			})
		}
	}
}

// also lets the requests for a resource fail, besides those that fail already.
func also(e *faultEngineer, resource string, kind fakeapi.FaultKind) {
	before := e.fault
	e.fail(func(r *fakeapi.Request) fakeapi.Fault {
		if r.Resource.Resource == resource {
			return fakeapi.Fault{Kind: kind}
		}
		if before != nil {
			return before(r)
		}
		return fakeapi.Fault{}
	})
}

// When others took the rule away, u finds nothing to do, and the walk does not say that it stays.
func TestLastWordsWhenOthersTookTheRule(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		w := x.engineer("ana").applied()
		x.Remove(capiGroup, ruleKind, "ns", ours)
		has(t, "u", undo(t, w).Done, "gone already")
		must(t, w.Next(t.Context()))
		v := w.View()
		if !v.Finished || len(slices.DeleteFunc(x.Stored(), func(r fakeapi.Request) bool { return r.Verb != "delete" || r.Resource.Resource == "leases" })) != 0 {
			t.Errorf("the end: %+v", v)
		}
		hasNot(t, "the last words", v.FinishedWords, "stays")
	})
}

// --- walks that cannot be gone on with ---

// A walk whose article is another one now is shown with what it wrote, and can be put away.
func TestWalkOfAnotherArticle(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		w := x.engineer("ana").applied()
		must(t, w.Next(t.Context()))
		w.Leave()
		ana := x.engineer("ana", func(c *Config) { c.Articles.ByID(findingIn("ns").Signature).Digest = "another" })
		p := ana.pending()
		has(t, "refused", p.Refused, "does not know the article", "put it away")
		if len(p.Wrote) != 1 || p.Wrote[0].Object != "create MachineDrainRule ns/"+ours || p.Wrote[0].How != "made" || p.Elsewhere ||
			p.Wrote[0].TakeBack != "kubectl --kubeconfig=/home/ana/sup.yaml --context=lab delete -n ns machinedrainrules.cluster.x-k8s.io "+ours {
			t.Errorf("wrote: %+v", p.Wrote)
		}
		if _, err := ana.runner.Resume(t.Context(), w.ID()); !errors.Is(err, remedies.ErrNoArticle) {
			t.Errorf("resume: %v", err)
		}
		must(t, ana.runner.Forget(w.ID()))
		if p, err := ana.runner.Pending(t.Context()); err != nil || len(p) != 0 {
			t.Errorf("still pending: %+v %v", p, err)
		}
		if x.rule() == nil {
			t.Error("putting it away changed something")
		}
	})
}

// A journal of format 1 is shown with all that it wrote and the commands that take that back, is
// not continued, and can be put away.
func TestOldJournalIsShownUntilPutAway(t *testing.T) {
	const kubectl = "kubectl --kubeconfig=/home/ana/sup.yaml --context=lab "
	object := func(spec string) string {
		return `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"MachineDrainRule","metadata":{"name":"` + ours + `","namespace":"ns"},"spec":` + spec + `}`
	}
	change := func(verb, rest string) string {
		return `"change":{"verb":"` + verb + `","group":"cluster.x-k8s.io","version":"v1beta2","resource":"machinedrainrules","kind":"MachineDrainRule","namespace":"ns","name":"` + ours + `"` + rest + `}`
	}
	line := func(minute, kind, rest string) string {
		return `{"v":1,"at":"2026-10-02T03:` + minute + `:00Z","kind":"` + kind + `","who":"bob",` + rest + "}\n"
	}
	began := line("04", "begin", `"begin":{"id":"old","article":"kube-cert-agent-blocks-drain","supervisor":"uid","server":"https://sup.test","context":"lab",`+
		`"cluster":{"namespace":"ns","name":"old"},"target":{"ref":{"kind":"Machine","namespace":"ns","name":"`+machineName+`"},"uid":"m-1"},"summary":"s","facts":{}}`)
	created := line("05", "before", `"step":"rule",`+change("create", `,"want":`+object(`{"a":"b"}`)))
	updated := line("06", "before", `"step":"rule",`+change("update", `,"uid":"u","resourceVersion":"7","was":`+object(`{"a":"b"}`)+`,"want":`+object(`{"a":"c"}`)))
	deleted := line("07", "before", `"step":"take-back",`+change("delete", `,"uid":"u","resourceVersion":"8","was":`+object(`{"a":"b"}`)))
	after := func(outcome string) string { return line("08", "after", `"step":"rule","outcome":"`+outcome+`"`) }
	for name, c := range map[string]struct {
		lines string
		wrote []remedies.Wrote
	}{
		"nothing was written": {lines: began},
		"created":             {lines: began + created + after("applied"), wrote: []remedies.Wrote{{How: "create", TakeBack: kubectl + "delete -n ns machinedrainrules.cluster.x-k8s.io " + ours}}},
		"refused":             {lines: began + created + after("not-applied")},
		"its end was not written down": {lines: began + created,
			wrote: []remedies.Wrote{{How: "create, perhaps: its end was not written down", TakeBack: kubectl + "delete -n ns machinedrainrules.cluster.x-k8s.io " + ours}}},
		"unclear": {lines: began + created + after("unclear"),
			wrote: []remedies.Wrote{{How: "create, perhaps: its end was not written down", TakeBack: kubectl + "delete -n ns machinedrainrules.cluster.x-k8s.io " + ours}}},
		"changed": {lines: began + updated + after("applied"), wrote: []remedies.Wrote{{How: "update", TakeBack: kubectl + "replace -n ns -f - <<'EOF'"}}},
		"created and taken back": {lines: began + created + after("applied") + deleted + after("applied"), wrote: []remedies.Wrote{
			{How: "create", TakeBack: kubectl + "delete -n ns"}, {How: "delete", TakeBack: kubectl + "create -n ns -f - <<'EOF'"}}},
	} {
		t.Run(name, func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				must(t, os.MkdirAll(x.dir, 0o700))
				must(t, os.WriteFile(filepath.Join(x.dir, "old"+journalSuffix), []byte(c.lines), 0o600))
				ana := x.engineer("ana")
				p := ana.pending()
				if p.ID != "old" || p.Who != "bob" || p.Cluster.Name != "old" || p.Target != machineName || p.Article != "kube-cert-agent-blocks-drain" || p.Elsewhere || p.Open ||
					p.Began.Minute() != 4 || p.Last.Before(p.Began) || p.Context != "lab" {
					t.Errorf("pending: %+v", p)
				}
				has(t, "refused", p.Refused, "older vksmedic", "put it away")
				if len(p.Wrote) != len(c.wrote) {
					t.Fatalf("wrote: %+v", p.Wrote)
				}
				for i, w := range p.Wrote {
					if w.Object != "MachineDrainRule ns/"+ours || w.How != c.wrote[i].How || w.At.IsZero() || !strings.Contains(w.TakeBack, c.wrote[i].TakeBack) {
						t.Errorf("wrote %+v, want %+v", w, c.wrote[i])
					}
					if strings.Contains(w.TakeBack, "<<") { // what was there before, without what bound it.
						has(t, "what is put back", w.TakeBack, "a: b")
						hasNot(t, "what is put back", w.TakeBack, "a: c", "resourceVersion", "uid")
					}
				}
				if _, err := ana.runner.Resume(t.Context(), "old"); !errors.Is(err, remedies.ErrNoArticle) {
					t.Errorf("resume: %v", err)
				}
				w := ana.begin() // a new one can be begun beside it.
				if w.ID() == "old" {
					t.Error("it was continued")
				}
				w.Leave()
				must(t, ana.runner.Forget("old"))
				if p, err := ana.runner.Pending(t.Context()); err != nil || len(p) != 0 {
					t.Errorf("still pending: %+v %v", p, err)
				}
				if err := ana.runner.Forget("old"); !errors.Is(err, remedies.ErrOver) {
					t.Errorf("put away twice: %v", err)
				}
				if len(x.Received(0)) != 0 {
					t.Errorf("written: %q", x.Writes())
				}
			})
		})
	}
}
