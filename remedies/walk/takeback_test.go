package walk

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vksmedic/remedies"
	"vksmedic/remedies/internal/fakeapi"
)

// What is left of a change, and what is said of it.

// batchEntry is an entry of a drain rule that a colleague adds.
func batchEntry() map[string]any {
	return map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": "batch"}}}
}

// addBatch has a colleague add an entry to the walk's rule.
func (x *faultSite) addBatch() {
	x.Change("someone", capiGroup, ruleKind, "ns", ours, func(u *unstructured.Unstructured) {
		pods, _, _ := unstructured.NestedSlice(u.Object, "spec", "pods")
		_ = unstructured.SetNestedSlice(u.Object, append(pods, batchEntry()), "spec", "pods")
	})
}

// hold has a controller put a finalizer on the walk's rule.
func (x *faultSite) hold() {
	x.Change("someone", capiGroup, ruleKind, "ns", ours, func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.com/f"}) })
}

func drainRules() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: capiGroup, Version: "v1beta2", Resource: "machinedrainrules"}
}

// letGo takes the finalizer off the walk's rule.
func (x *faultSite) letGo() {
	x.Change("someone", capiGroup, ruleKind, "ns", ours, func(u *unstructured.Unstructured) { u.SetFinalizers(nil) })
}

// storedAndChanged applies the preview while no answer comes and a colleague changes the rule after
// ours was stored.
func (e *faultEngineer) storedAndChanged(w *Walk, change func()) error {
	p := toRule(e.x.t, w, reachNamespace)
	e.fail(onRules(fakeapi.StoredSilence, written))
	done := make(chan error, 1)
	go func() { done <- w.Apply(e.x.t.Context(), p.Token, "") }()
	time.Sleep(time.Second) // simulated.
	change()
	err := <-done
	e.fail(nil)
	return err
}

// A part of our change that others took back does not make the rest of it nothing.
func TestPartlyRevertedIsNotNothing(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		x.Put("kubectl", ruleObject(t, "ns", ours, "{drain: {behavior: Skip}, machines: [{selector: {matchLabels: {x: y}}}], pods: ["+entryTMC+"]}"))
		was := x.rule().Object["spec"].(map[string]any)["pods"]
		ana := x.engineer("ana")
		w := ana.begin()
		err := ana.storedAndChanged(w, func() {
			x.Change("someone", capiGroup, ruleKind, "ns", ours, func(u *unstructured.Unstructured) { u.Object["spec"].(map[string]any)["pods"] = was })
		})
		if !errors.Is(err, remedies.ErrUnclear) {
			t.Fatalf("apply: %v", err)
		}
		s := step(t, w, "rule")
		if !s.Undoable || w.st.attempts[0].outcome != outcomeUnsure {
			t.Errorf("the attempt is %s, and the step %+v", w.st.attempts[0].outcome, s)
		}
		has(t, "the step", s.Note, "ns/"+ours, "cannot be told")
	})
}

// A colleague changes the same rule just before ours arrives: ours is refused, and nothing of it is
// in doubt. Where so many wrote that the server files them together, it is.
func TestConflictOnTheSameFields(t *testing.T) {
	for _, crowd := range []bool{false, true} {
		t.Run("crowd "+strconv.FormatBool(crowd), func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				x.Put("kubectl", ruleObject(t, "ns", ours, "{drain: {behavior: Skip}, pods: ["+entryTMC+"]}"))
				ana := x.engineer("ana")
				w := ana.begin()
				p := toRule(t, w, reachNamespace)
				done := false
				ana.fail(onRules(fakeapi.None, func(r *fakeapi.Request) bool {
					if !r.Write() || r.Dry || done {
						return false
					}
					done = true
					x.addBatch()
					for i := range 12 {
						if crowd {
							x.Change("crowd-"+strconv.Itoa(i), capiGroup, ruleKind, "ns", ours, func(u *unstructured.Unstructured) {
								_ = unstructured.SetNestedField(u.Object, "x", "metadata", "labels", "crowd-"+strconv.Itoa(i))
							})
						}
					}
					return false
				}))
				err := w.Apply(t.Context(), p.Token, "")
				if crowd {
					if !errors.Is(err, remedies.ErrUnclear) || strings.Contains(err.Error(), "no answer") || w.st.attempts[0].outcome != outcomeUnsure {
						t.Errorf("%v; the attempt is %q", err, w.st.attempts[0].outcome)
					}
					return
				}
				v := w.View()
				if !errors.Is(err, remedies.ErrMoved) || w.st.attempts[0].outcome != outcomeRefused || v.Preview == nil || !strings.Contains(v.Preview.YAML, "app: batch") {
					t.Fatalf("%v; the attempt is %q; the new preview: %+v", err, w.st.attempts[0].outcome, v.Preview)
				}
				must(t, w.Apply(t.Context(), v.Preview.Token, ""))
			})
		})
	}
}

// A deletion that a finalizer holds up is not over: the step waits until the rule is gone, also
// after the walk was picked up again, and however the deletion was answered.
func TestTakeBackWaitsForAFinalizer(t *testing.T) {
	for _, kind := range []fakeapi.FaultKind{fakeapi.None, fakeapi.StoredFailed, fakeapi.StoredSilence} {
		t.Run("answer "+string(kind), func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				ana := x.engineer("ana")
				w := ana.applied()
				x.hold()
				p := undo(t, w)
				ana.fail(onRules(kind, written))
				must(t, w.Apply(t.Context(), p.Token, p.ConfirmName))
				ana.fail(nil)
				waits := func(w *Walk) {
					t.Helper()
					s := step(t, w, "take-back")
					if s.State == remedies.StateDone || s.State == remedies.StateUndone || x.rule() == nil {
						t.Fatalf("the rule is still there, and the step is %+v", s)
					}
					pr := w.View().Progress
					if pr == nil || pr.Done {
						t.Fatalf("it does not wait: %+v", pr)
					}
					has(t, "the progress", pr.Last, "ns/"+ours, "being deleted", "example.com/f")
					if err := w.Next(t.Context()); !errors.Is(err, remedies.ErrNotYet) {
						t.Errorf("next: %v", err)
					} else {
						has(t, "next", err.Error(), "ns/"+ours, "being deleted")
					}
					if err := w.ByHand(t.Context()); !errors.Is(err, remedies.ErrNotDone) {
						t.Errorf("h: %v", err)
					}
				}
				waits(w)
				must(t, w.Enter(t.Context()))
				waits(w)
				w.Leave()
				w = ana.resume(w.ID())
				must(t, w.Enter(t.Context()))
				waits(w)
				x.letGo()
				must(t, w.Enter(t.Context()))
				if s := step(t, w, "take-back"); s.State != remedies.StateDone || x.rule() != nil {
					t.Errorf("the rule is gone, and the step is %+v", s)
				}
				must(t, w.Next(t.Context()))
				has(t, "the last words", w.View().FinishedWords, "taken back", "ns/"+ours)
			})
		})
	}
}

// A rule of ours that others delete is not gone while it is there, either; and the last words of a
// walk that ends over it do not say that it was taken back.
func TestOthersDeleteWhatIsHeld(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		w := x.engineer("ana").applied()
		x.hold()
		_, err := x.Do(fakeapi.Request{Client: "someone", Verb: "delete", Resource: drainRules(), Namespace: "ns", Name: ours})
		must(t, err)
		p := undo(t, w)
		has(t, "the preview", p.Blocked, "ns/"+ours, "is still there", "example.com/f")
		if err := w.Next(t.Context()); !errors.Is(err, remedies.ErrNotYet) {
			t.Errorf("next: %v", err)
		}
		x.letGo()
		must(t, w.Enter(t.Context()))
		has(t, "the preview", w.View().Preview.Done, "ns/"+ours, "gone already")
		must(t, w.Next(t.Context()))
		if s := step(t, w, "rule"); s.State != remedies.StateUndone {
			t.Errorf("the rule's step: %+v", s)
		}
	})
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		w := x.engineer("ana").applied()
		x.hold()
		p := undo(t, w)
		must(t, w.Apply(t.Context(), p.Token, p.ConfirmName))
		must(t, w.finish(t.Context()))
		has(t, "the last words", w.View().FinishedWords, "The drain rule stays")
		hasNot(t, "the last words", w.View().FinishedWords, "taken back")
	})
}

// Where it cannot be told whether our change was made, it is not recorded as taken back. Every key
// leads on, and the last words say where to look.
func TestUnsureIsNotTakenBack(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		x.Put("kubectl", ruleObject(t, "ns", ours, "{drain: {behavior: Skip}, pods: ["+entryTMC+"]}"))
		ana := x.engineer("ana")
		w := ana.begin()
		if err := ana.storedAndChanged(w, x.addBatch); !errors.Is(err, remedies.ErrUnclear) {
			t.Fatalf("apply: %v", err)
		}
		for range 2 { // u, n, and once more from there.
			p := undo(t, w)
			has(t, "the preview", p.Done, "it cannot be told whether this walk wrote", "ns/"+ours, "look by hand")
			if s := step(t, w, "rule"); s.State == remedies.StateUndone || !s.Undoable {
				t.Errorf("the rule's step: %+v", s)
			}
		}
		must(t, w.ByHand(t.Context()))
		if s := step(t, w, "rule"); s.State == remedies.StateUndone || !s.Undoable {
			t.Errorf("the rule's step after h: %+v", s)
		}
		undo(t, w)
		must(t, w.Next(t.Context()))
		if w.st.attempts[0].takenBack || !w.View().Finished {
			t.Errorf("taken back %t, finished %t", w.st.attempts[0].takenBack, w.View().Finished)
		}
		has(t, "the last words", w.View().FinishedWords, "look for update MachineDrainRule ns/"+ours)
		hasNot(t, "the last words", w.View().FinishedWords, "taken back", "stays")
	})
	// When the rule is gone, nothing of it is left, whoever wrote it.
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		x.Put("kubectl", ruleObject(t, "ns", ours, "{drain: {behavior: Skip}, pods: ["+entryTMC+"]}"))
		ana := x.engineer("ana")
		w := ana.begin()
		if err := ana.storedAndChanged(w, x.addBatch); !errors.Is(err, remedies.ErrUnclear) {
			t.Fatalf("apply: %v", err)
		}
		x.Remove(capiGroup, ruleKind, "ns", ours)
		has(t, "the preview", undo(t, w).Done, "gone already")
		must(t, w.Next(t.Context()))
		if !w.st.attempts[0].takenBack {
			t.Error("it is gone, and not taken back")
		}
	})
}

// What cannot be told does not stand in the way of what can: u goes on to the change before.
func TestUndoPassesWhatCannotBeTold(t *testing.T) {
	inBubble(t, unsureSteps, func(y *toy) {
		e := y.anna
		w := y.begin(e)
		y.is("enter", w.Enter(y.ctx), nil)
		y.apply(e, nil) // make.
		y.is("next", w.Next(y.ctx), nil)
		y.is("enter", w.Enter(y.ctx), nil)
		e.script.request = func(r *fakeapi.Request) fakeapi.Fault {
			if r.Write() && !r.Dry && r.Name == "shared" {
				return fakeapi.Fault{Kind: fakeapi.StoredSilence}
			}
			return fakeapi.Fault{}
		}
		done := make(chan error, 1)
		token := w.View().Preview.Token
		go func() { done <- w.Apply(y.ctx, token, "") }()
		time.Sleep(time.Second) // simulated.
		live, err := y.s.do(fakeapi.Request{Verb: "get", Name: "shared"})
		must(t, err)
		_ = unstructured.SetNestedField(live.Object, "green", "spec", "color")
		_, err = y.s.do(fakeapi.Request{Verb: "update", Name: "shared", Body: live.Object})
		must(t, err)
		if err := <-done; !errors.Is(err, remedies.ErrUnclear) {
			t.Fatalf("apply: %v", err)
		}
		e.script.request = nil
		at := func(want string) {
			t.Helper()
			y.is("undo", w.Undo(y.ctx), nil)
			if v := w.View(); v.Steps[v.Current].ID != want || v.Preview == nil {
				t.Fatalf("u leads to %s, wanted %s: %+v", v.Steps[v.Current].ID, want, v.Preview)
			}
		}
		at("back-color") // the newest first.
		has(t, "the preview", w.View().Preview.Done, "cannot be told")
		at("back-make")
		at("back-color")
		y.is("next", w.Next(y.ctx), nil) // it was looked at, also after the walk is picked up.
		w = y.again(e)
		at("back-make")
		y.apply(e, nil)
		at("back-color")
		at("back-color")
		y.is("next", w.Next(y.ctx), nil)
		w.Leave()
	})
}

const unsureSteps = "  - {id: make, title: Make, why: For a test., action: toy-make, undo: back-make, with: {names: [left], value: ours}}\n" +
	"  - {id: color, title: Color, why: For a test., action: toy-set, undo: back-color, with: {name: shared, field: color, value: red}}\n" +
	"  - {id: back-color, title: Back, why: For a test., action: toy-take-back, with: {step: color}}\n" +
	"  - {id: back-make, title: Back, why: For a test., action: toy-take-back, with: {step: make}}\n"

// The last words name what is left of a change that others added to since: it is what taking back
// would take.
func TestLastWordsOfAChangeThatOthersAddedTo(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		x.Put("kubectl", ruleObject(t, "ns", ours, "{drain: {behavior: Skip}, pods: ["+entryTMC+"]}"))
		w := x.engineer("ana").applied()
		x.addBatch()
		must(t, w.finish(t.Context()))
		has(t, "the last words", w.View().FinishedWords, "The drain rule stays")
	})
}

// Where others wrote over what the walk changed, the last words say where to look.
func TestLastWordsOfAChangeThatOthersReplaced(t *testing.T) {
	inBubble(t, unsureSteps, func(y *toy) {
		w := y.begin(y.anna)
		y.is("enter", w.Enter(y.ctx), nil)
		y.apply(y.anna, nil)
		y.is("next", w.Next(y.ctx), nil)
		y.is("enter", w.Enter(y.ctx), nil)
		y.apply(y.anna, nil)
		live, err := y.s.do(fakeapi.Request{Verb: "get", Name: "shared"})
		must(t, err)
		_ = unstructured.SetNestedField(live.Object, "green", "spec", "color")
		_, err = y.s.do(fakeapi.Request{Verb: "update", Name: "shared", Body: live.Object})
		must(t, err)
		sc := w.scope("")
		w.lastLook(y.ctx, &sc)
		if len(sc.Left) != 1 || len(sc.MaybeLeft) != 1 || !strings.Contains(sc.MaybeLeft[0], "shared") || len(sc.TakenBack) != 0 {
			t.Errorf("left %q, may be left %q, taken back %q", sc.Left, sc.MaybeLeft, sc.TakenBack)
		}
		w.Leave()
	})
}
