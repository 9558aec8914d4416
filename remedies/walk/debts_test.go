package walk

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/model"
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

// role is the role as it is now.
func (y *toy) role() *unstructured.Unstructured {
	y.Helper()
	live, err := y.s.do(fakeapi.Request{Verb: "get", Resource: toyRoles, Name: "operator"})
	y.is("the role", err, nil)
	return live
}

// putRole has a colleague write the role.
func (y *toy) putRole(change func(u *unstructured.Unstructured)) {
	y.Helper()
	u := y.role()
	change(u)
	_, err := y.s.do(fakeapi.Request{Verb: "update", Resource: toyRoles, Name: "operator", Body: u.Object})
	y.is("a colleague", err, nil)
}

// taken is a walk that has taken the verb, and was left.
func (y *toy) taken(e *engineer) (id string, d remedies.Debt) {
	y.Helper()
	w := y.begin(e)
	y.is("enter", w.Enter(y.ctx), nil)
	y.apply(e, nil)
	w.Leave()
	e.walk = nil
	return w.ID(), y.roleIs(false, 1)[0]
}

// changed has the article changed, so that walks begun with it cannot be picked up.
func (y *toy) changed(e *engineer) {
	y.s.cat = load(articleHead + "  - {id: look, title: Look, why: For a test., action: toy-look}\n")
	e.start()
}

// What was taken from something that is gone is owed no more, and the walk can be put away.
func TestNothingIsOwedToWhatIsGone(t *testing.T) {
	inBubble(t, debtSteps, func(y *toy) {
		e := y.anna
		w := y.begin(e)
		y.is("enter", w.Enter(y.ctx), nil)
		e.script.request = func(r *fakeapi.Request) fakeapi.Fault {
			if r.Write() && r.Resource == toyRoles {
				return fakeapi.Fault{Kind: fakeapi.StoredSilence}
			}
			return fakeapi.Fault{}
		}
		done := make(chan error, 1)
		v := w.View()
		go func() { done <- w.Apply(y.ctx, v.Preview.Token, v.Preview.ConfirmName) }()
		time.Sleep(time.Second)
		_, err := y.s.do(fakeapi.Request{Verb: "delete", Resource: toyRoles, Name: "operator"})
		y.is("delete", err, nil)
		err = <-done
		e.script.request = nil
		y.is("apply", err, remedies.ErrNotDone)
		if !strings.Contains(err.Error(), "is gone") || !strings.Contains(err.Error(), "nothing is owed") {
			t.Errorf("apply: %v", err)
		}
		if a := w.st.attempts[0]; a.outcome != outcomeSo || len(w.View().Debts) != 0 || len(w.st.stands("")) != 0 {
			t.Errorf("%q, owed %v, stands %d", a.outcome, w.View().Debts, len(w.st.stands("")))
		}
		y.is("u", w.Undo(y.ctx), remedies.ErrBlocked)
		w = y.again(e)
		if len(w.View().Debts) != 0 {
			t.Errorf("picked up: %v", w.View().Debts)
		}
		for i := 0; !w.View().Finished; i++ { // it goes on to its end.
			if i == 5 {
				t.Fatalf("it does not end:%s", e.where())
			}
			_ = w.Enter(y.ctx)
			y.is("next", w.Next(y.ctx), nil)
		}
		e.walk = nil
	})
}

// Where it cannot be read whether what it was taken from is there, it stays owed, and u gives it
// back or finds that there is nothing to give.
func TestWhatMayBeOwedCanBeGivenBack(t *testing.T) {
	st := newState(load(articleHead+debtSteps).ByID("toy"), beginning{ID: "w"})
	d := &remedies.Debt{ID: "vksmedic-w-1", Takes: toyVerb}
	for _, o := range []outcome{outcomeMade, outcomeSo, outcomeUnsure} {
		st.attempts = []attempt{{Attempt: remedies.Attempt{Walk: "w", N: 1}, takes: d, outcome: o}}
		if len(st.owed()) != 1 || len(st.stands("")) != 1 {
			t.Errorf("%s: owed %d, can be taken back %d", o, len(st.owed()), len(st.stands("")))
		}
		st.take(&entry{Kind: entryPaid, TakesBack: []int{1}})
		if len(st.owed()) != 0 || len(st.stands("")) != 0 {
			t.Errorf("%s: paid, and owed %d, can be taken back %d", o, len(st.owed()), len(st.stands("")))
		}
	}
}

// A debt is not forgotten because its article has changed.
func TestDebtOfAnUnknownArticle(t *testing.T) {
	inBubble(t, debtSteps, func(y *toy) {
		e := y.anna
		id, _ := y.taken(e)
		y.changed(e)
		p, err := e.runner.Pending(y.ctx)
		y.is("pending", err, nil)
		if len(p) != 1 || !p[0].Owes || !strings.Contains(p[0].Refused, "patch on endpoints was taken from ToyRole operator and is not given back") {
			t.Errorf("pending: %+v", p)
		}
		err = e.runner.Forget(id)
		y.is("forget", err, remedies.ErrBlocked)
		if !strings.Contains(err.Error(), "patch on endpoints was taken from ToyRole operator") {
			t.Errorf("forget: %v", err)
		}
		// Neither is it where it cannot be read whether it is paid.
		e.script.request = func(r *fakeapi.Request) fakeapi.Fault {
			if r.Resource == toyRoles {
				return fakeapi.Fault{Kind: fakeapi.Forbidden}
			}
			return fakeapi.Fault{}
		}
		y.is("forget", e.runner.Forget(id), remedies.ErrBlocked)
		e.script.request = nil
		// Somebody pays it by hand.
		y.putRole(func(u *unstructured.Unstructured) {
			u.SetAnnotations(nil)
			toyTakeable().Return(u.Object)
		})
		y.is("forget", e.runner.Forget(id), nil)
		y.roleIs(true, 0)
	})
}

// Neither is one whose taking was not answered, and one whose journal cannot be replayed.
func TestDoubtOfAnUnknownArticle(t *testing.T) {
	for name, stored := range map[string]bool{"taken": true, "not taken": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, debtSteps, func(y *toy) {
				e := y.anna
				w := y.begin(e)
				y.is("enter", w.Enter(y.ctx), nil)
				sent := false
				e.script.request = func(r *fakeapi.Request) fakeapi.Fault {
					write := r.Write() && r.Resource == toyRoles
					sent = sent || write
					switch {
					case write && stored:
						return fakeapi.Fault{Kind: fakeapi.StoredCut}
					case sent && r.Resource == toyRoles: // the look after it, too.
						return fakeapi.Fault{Kind: fakeapi.Cut}
					}
					return fakeapi.Fault{}
				}
				y.is("apply", w.Apply(y.ctx, w.View().Preview.Token, "operator"), remedies.ErrUnclear)
				e.script.request = nil
				id := w.ID()
				w.Leave()
				e.walk = nil
				y.changed(e)
				p, err := e.runner.Pending(y.ctx)
				y.is("pending", err, nil)
				if len(p) != 1 || !p[0].Unsure {
					t.Errorf("pending: %+v", p)
				}
				y.is("forget at once", e.runner.Forget(id), remedies.ErrBlocked)
				time.Sleep(effect.UnderWay - time.Second)
				y.is("forget before its time", e.runner.Forget(id), remedies.ErrBlocked)
				time.Sleep(time.Second)
				if stored {
					y.is("forget what was taken", e.runner.Forget(id), remedies.ErrBlocked)
					y.putRole(func(u *unstructured.Unstructured) {
						u.SetAnnotations(nil)
						toyTakeable().Return(u.Object)
					})
				}
				y.is("forget", e.runner.Forget(id), nil)
				y.roleIs(true, 0)
			})
		})
	}
}

// What its owner took out of the role for good is not taken, so that it is not given back.
func TestWhatIsNotThereIsNotTaken(t *testing.T) {
	inBubble(t, debtSteps, func(y *toy) {
		y.putRole(func(u *unstructured.Unstructured) { toyTakeable().Take(u.Object) })
		e := y.anna
		w := y.begin(e)
		y.is("enter", w.Enter(y.ctx), nil)
		if p := w.View().Preview; !strings.Contains(p.Blocked, "there is nothing to take") {
			t.Errorf("preview: %+v", p)
		}
		y.is("apply", w.Apply(y.ctx, w.View().Preview.Token, "operator"), remedies.ErrBlocked)
		y.roleIs(false, 0)
		w.Leave()
	})
}

// A debt is given back only where it was taken, and as its object carries it.
func TestRestoreReadsTheDebt(t *testing.T) {
	inBubble(t, debtSteps, func(y *toy) {
		anna, ben := y.s.who[0], y.s.who[1]
		_, d := y.taken(anna)
		note := func() string { return y.role().GetAnnotations()[model.DebtAnnotation+d.ID] }
		was := note()
		say := func(s string) {
			y.putRole(func(u *unstructured.Unstructured) {
				u.SetAnnotations(map[string]string{model.DebtAnnotation + d.ID: s})
			})
		}
		restore := func(d remedies.Debt) error {
			w, err := ben.runner.Restore(y.ctx, d, "toy-restore")
			if w != nil {
				w.Leave()
			}
			return err
		}
		kube := d.Supervisor.SystemUID
		say(strings.ReplaceAll(was, kube, "another"))
		err := restore(d)
		y.is("a debt of another Supervisor", err, remedies.ErrOtherSupervisor)
		if !strings.Contains(err.Error(), "was not taken here") {
			t.Errorf("in words: %v", err)
		}
		say("{")
		y.is("a debt that says something else", restore(d), remedies.ErrMoved)
		other := d
		other.ID = "vksmedic-x-1"
		y.is("a debt that is not there", restore(other), remedies.ErrOver)
		say(was)
		y.is("the debt", restore(d), nil)
		y.roleIs(false, 1)
	})
}

// The annotation does not decide in which namespace a Lease is written.
func TestRestoreForNoCluster(t *testing.T) {
	for name, c := range map[string]struct{ of, want string }{
		"the cluster":           {"c1", homeSeat},
		"one that is not there": {"c9", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, debtSteps, func(y *toy) {
				anna, ben := y.s.who[0], y.s.who[1]
				_, d := y.taken(anna)
				y.putRole(func(u *unstructured.Unstructured) {
					a := u.GetAnnotations()
					k := model.DebtAnnotation + d.ID
					a[k] = strings.ReplaceAll(a[k], `"c1"`, `"`+c.of+`"`)
					u.SetAnnotations(a)
				})
				w, err := ben.runner.Restore(y.ctx, d, "toy-restore")
				y.is("restore", err, nil)
				ben.walk = w
				y.is("enter", w.Enter(y.ctx), nil)
				y.apply(ben, nil)
				y.roleIs(true, 0)
				want := slices.DeleteFunc([]string{wideSeat, c.want}, func(s string) bool { return s == "" })
				if got := y.seats(); !slices.Equal(got, want) {
					t.Errorf("Leases: %q, wanted %q", got, want)
				}
				w.Leave()
			})
		})
	}
}

// A write of a kind that could not be read from the journal again is not sent.
func TestUnknownKindOfWriteIsNotSent(t *testing.T) {
	const steps = "  - {id: set, title: Set it, why: For a test., action: toy-command, undo: back, with: {name: setting, value: 'on'}}\n" +
		"  - {id: back, title: Set it back, why: For a test., action: toy-take-back, with: {step: set}}\n"
	inBubble(t, steps, func(y *toy) {
		e := y.anna
		y.s.questions = nil
		delete(e.runner.cfg.Effects, "toy-command")
		w := y.begin(e)
		y.is("enter", w.Enter(y.ctx), nil)
		if p := w.View().Preview; !strings.Contains(p.Blocked, `knows no writes of the kind "toy-command"`) {
			t.Errorf("preview: %+v", p)
		}
		y.is("apply", w.Apply(y.ctx, w.View().Preview.Token, ""), remedies.ErrBlocked)
		if len(y.s.toys.node.done) != 0 || len(w.st.attempts) != 0 {
			t.Errorf("sent: %v, %d attempts", y.s.toys.node.done, len(w.st.attempts))
		}
		w.Leave()
	})
}
