package walk

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
