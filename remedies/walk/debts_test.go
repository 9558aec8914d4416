package walk

import (
	"errors"
	"testing"
	"time"

	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/internal/fakeapi"
)

// A clock that is set, either way, does not change for how long a change that was not answered is
// in doubt.
func TestDoubtIsNotTimedByTheClock(t *testing.T) {
	for name, jump := range map[string]time.Duration{"forward": 2 * time.Minute, "back": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				var off time.Duration
				ana := x.engineer("ana", func(c *Config) { c.Now = func() time.Time { return time.Now().Add(off) } })
				w := ana.begin()
				p := toRule(t, w, reachNamespace)
				ana.fail(func(r *fakeapi.Request) fakeapi.Fault {
					if r.Resource.Resource == "machinedrainrules" && r.Write() {
						return fakeapi.Fault{Kind: fakeapi.Delayed, After: 50 * time.Second}
					}
					return fakeapi.Fault{}
				})
				if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrUnclear) {
					t.Fatalf("apply: %v", err)
				}
				ana.fail(nil)
				off = jump
				if err := w.Enter(t.Context()); !errors.Is(err, remedies.ErrUnclear) || w.st.open() == nil {
					t.Fatalf("right after it was sent: %v", err)
				}
				time.Sleep(time.Minute)
				must(t, w.Undo(t.Context()))
				if w.st.attempts[0].outcome != outcomeMade || x.rule() == nil {
					t.Errorf("the rule that came late is not known: %q", w.st.attempts[0].outcome)
				}
			})
			onFaultSite(t, func(t *testing.T, x *faultSite) {
				var off time.Duration
				ana := x.engineer("ana", func(c *Config) { c.Now = func() time.Time { return time.Now().Add(off) } })
				w := ana.begin()
				p := toRule(t, w, reachNamespace)
				ana.fail(onRules(fakeapi.Silence, written))
				sent := time.Now()
				if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrUnclear) {
					t.Fatalf("apply: %v", err)
				}
				ana.fail(nil)
				off = jump
				if waited := sent.Add(sendTimeout); !time.Now().Equal(waited) {
					t.Fatalf("sent for %s", time.Since(sent))
				}
				time.Sleep(effect.UnderWay - time.Second)
				if err := w.Enter(t.Context()); !errors.Is(err, remedies.ErrUnclear) {
					t.Errorf("a second before the doubt ends: %v", err)
				}
				time.Sleep(time.Second)
				must(t, w.Enter(t.Context()))
				if w.st.open() != nil {
					t.Error("the walk is locked")
				}
			})
		})
	}
}

// After a restart the doubt counts from when the walk is picked up, whatever the journal's times say.
func TestDoubtCountsFromTheResume(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		ana := x.engineer("ana")
		w := ana.begin()
		p := toRule(t, w, reachNamespace)
		ana.fail(onRules(fakeapi.Silence, written))
		if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrUnclear) {
			t.Fatalf("apply: %v", err)
		}
		ana.fail(nil)
		id := w.ID()
		w.Leave()
		// The clock of the machine was an hour ahead when the line was written.
		bob := x.engineer("ana", func(c *Config) { c.Now = func() time.Time { return time.Now().Add(time.Hour) } })
		w, err := bob.runner.Resume(t.Context(), id)
		must(t, err)
		if err := w.Enter(t.Context()); !errors.Is(err, remedies.ErrUnclear) {
			t.Errorf("picked up: %v", err)
		}
		time.Sleep(effect.UnderWay)
		must(t, w.Enter(t.Context()))
		if w.st.open() != nil {
			t.Error("the walk is locked")
		}
	})
}
