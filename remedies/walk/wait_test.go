package walk

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"vksmedic/remedies"
	"vksmedic/remedies/internal/fakeapi"
)

// A wait ends and n leads on, also where nobody sees the rollout go on and where what would say so
// may not be read.
func TestWaitThatNobodySawEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		fault func(e *faultEngineer)
		words string
	}{
		"nothing moves":      {func(*faultEngineer) {}, "nothing else moves yet; look at the cluster"},
		"it may not be read": {func(e *faultEngineer) { also(e, "kubeadmcontrolplanes", fakeapi.Forbidden) }, "whether the rollout goes on could not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				ana := x.engineer("ana")
				w := ana.applied()
				must(t, w.Next(t.Context()))
				x.Remove(capiGroup, "Machine", "ns", machineName)
				tt.fault(ana)
				must(t, w.Enter(t.Context()))
				err := w.Next(t.Context())
				if !errors.Is(err, remedies.ErrNotYet) || !strings.Contains(err.Error(), "it is not over yet: Machine "+machineName+" is gone") {
					t.Errorf("too early: %v", err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				var last remedies.Progress
				must(t, w.Follow(ctx, func(p remedies.Progress) { last = p }))
				if ctx.Err() != nil || !last.Done || last.Failed != "" || !strings.Contains(last.Last, tt.words) {
					t.Fatalf("after an hour: %+v", last)
				}
				if end := last.Stages[len(last.Stages)-1]; end.State != remedies.StateNotSeen {
					t.Errorf("the rollout: %+v", end)
				}
				from := at(w)
				must(t, w.Next(t.Context()))
				if at(w) == from {
					t.Errorf("n leads nowhere from %s", from)
				}
			})
		})
	}
}

// Of a wait that failed, or that could not be looked at, n says so, with the keys that lead on;
// and they do.
func TestWaitThatFailedNamesTheKeysThatLeadOn(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		ana := x.engineer("ana")
		w := ana.applied()
		must(t, w.Next(t.Context()))
		const keys = "; r looks again, b goes back, u takes back what was changed, esc leaves, and nothing is lost"
		says := func(words string) {
			t.Helper()
			err := w.Next(t.Context())
			if !errors.Is(err, remedies.ErrNotYet) || !strings.HasPrefix(err.Error(), words) || !strings.HasSuffix(err.Error(), keys) {
				t.Errorf("n says %v, want %q", err, words)
			}
		}
		also(ana, "machines", fakeapi.Forbidden)
		if err := w.Enter(t.Context()); err == nil {
			t.Error("the Machine was read")
		}
		says("it could not be looked at yet")
		ana.fail(nil)
		x.Remove(capiGroup, ruleKind, "ns", ours)
		must(t, w.Enter(t.Context()))
		if s := step(t, w, at(w)); s.State != remedies.StateFailed {
			t.Fatalf("without the rule: %+v", s)
		}
		says("what is waited for did not come: ")
		id := w.ID()
		w.Leave()
		w = ana.resume(id)
		says("what is waited for did not come: ")
		w.Back()
		if at(w) != "rule" {
			t.Errorf("b leads to %s", at(w))
		}
		must(t, w.Enter(t.Context()))
		if p := w.View().Preview; p == nil || p.Blocked != "" {
			t.Errorf("the rule cannot be made again: %+v", p)
		}
	})
}
