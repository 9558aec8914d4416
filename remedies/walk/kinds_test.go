package walk

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/internal/fakeapi"
)

// Walks by hand through a toy of each kind of effect: what a new kind has to go through.

// toy is one engineer in front of one article, while nothing fails.
type toy struct {
	*testing.T
	s    *sim
	anna *engineer
	ctx  context.Context
	errs []string // the words of all errors.
}

// inBubble walks through an article with these steps.
func inBubble(t *testing.T, steps string, do func(y *toy)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newSimOf(1, twist{}, func(*sim) string { return articleHead + steps })
		s.calm = true
		y := &toy{T: t, s: s, anna: s.who[0], ctx: context.Background()}
		defer func() {
			for _, e := range s.who {
				e.gone()
			}
			for _, f := range s.found {
				t.Error(f)
			}
		}()
		do(y)
		for _, e := range s.who {
			e.check()
		}
	})
}

func (y *toy) begin(e *engineer) *Walk {
	y.Helper()
	w, err := e.runner.Begin(y.ctx, toyFinding(), "toy")
	if err != nil {
		y.Fatal(err)
	}
	e.walk = w
	return w
}

// is fails unless err is what is wanted; nil for none.
func (y *toy) is(what string, err, want error) {
	y.Helper()
	if err != nil {
		y.errs = append(y.errs, err.Error())
	}
	if !errors.Is(err, want) || (want == nil && err != nil) {
		y.Fatalf("%s: %v; wanted %v", what, err, want)
	}
}

func (y *toy) apply(e *engineer, want error) {
	y.Helper()
	if e.walk.View().Preview == nil {
		y.Fatalf("there is no preview: %s", e.where())
	}
	e.seen, e.sent = y.s.api.Count(), nil
	y.is("apply", e.apply(y.ctx, e.walk), want)
	e.check()
}

func (y *toy) state(e *engineer, step string, want remedies.StepState) {
	y.Helper()
	for _, st := range e.walk.View().Steps {
		if st.ID == step && st.State != want {
			y.Fatalf("step %s is %s (%s), wanted %s", step, st.State, st.Note, want)
		}
	}
}

// again is a new process on the same machine, which picks the walk up.
func (y *toy) again(e *engineer) *Walk {
	y.Helper()
	id := e.walk.ID()
	e.gone()
	e.start()
	w, err := e.runner.Resume(y.ctx, id)
	if err != nil {
		y.Fatal(err)
	}
	e.walk = w
	e.check()
	return w
}

// A node command and a vCenter task: preview, confirm, doubt, resume and undo.
func TestEffectsElsewhere(t *testing.T) {
	for _, c := range []struct {
		name, action, value, was string
		remote                   func(*sim) *remote
		mark                     string
	}{
		{"node", "toy-command", "setting", "off", func(s *sim) *remote { return s.toys.node }, "machine id: node-1-id"},
		{"vcenter", "toy-task", "tag", "none", func(s *sim) *remote { return s.toys.vcenter }, "instance: vc-id"},
	} {
		t.Run(c.name, func(t *testing.T) {
			steps := "  - {id: set, title: Set it, why: For a test., action: " + c.action + ", undo: back, with: {name: " + c.value + ", value: ours}}\n" +
				"  - {id: back, title: Set it back, why: For a test., action: toy-take-back, with: {step: set}}\n"
			inBubble(t, steps, func(y *toy) {
				e, far := y.anna, c.remote(y.s)
				w := y.begin(e)
				if c.name == "node" {
					y.is("enter", w.Enter(y.ctx), remedies.ErrAsk)
					y.is("a stale answer", w.Answer(y.ctx, "other", "yes"), remedies.ErrToken)
					y.is("answer", w.Answer(y.ctx, "host key", "yes"), nil)
				}
				y.is("enter", w.Enter(y.ctx), nil)
				if b := w.shown.binds; !slices.Contains(b, "place: "+c.mark) {
					t.Errorf("the preview does not bind the place's identity %q: %q", c.mark, b)
				}

				// What was shown is not so any more.
				far.do(remoteWrite{name: c.value, was: c.was, value: "third", by: "colleague"})
				y.apply(e, remedies.ErrMoved)
				far.do(remoteWrite{name: c.value, was: "third", value: c.was, by: "colleague"})
				y.is("enter", w.Enter(y.ctx), nil)

				// No answer, and nothing was done: in doubt for as long as it may be under way.
				e.script.remote = func(write bool) remoteFault {
					if write {
						return remoteSilence
					}
					return remoteFine
				}
				y.apply(e, remedies.ErrUnclear)
				y.state(e, "set", remedies.StateUnsure)
				e.script.remote = nil
				w = y.again(e)
				if c.name == "node" { // a new process has to ask again.
					y.is("enter", w.Enter(y.ctx), remedies.ErrAsk)
					y.is("answer", w.Answer(y.ctx, "host key", "yes"), remedies.ErrUnclear)
				}
				y.is("enter", w.Enter(y.ctx), remedies.ErrUnclear)
				y.is("next", w.Next(y.ctx), remedies.ErrNotYet)
				y.is("undo", w.Undo(y.ctx), remedies.ErrUnclear)
				time.Sleep(2 * time.Minute)
				y.is("enter", w.Enter(y.ctx), nil)
				y.state(e, "set", remedies.StateCurrent)

				// No answer, and it was done: the mark is found, and it is not done twice.
				e.script.remote = func(write bool) remoteFault {
					if write {
						return remoteDoneCut
					}
					return remoteFine
				}
				y.apply(e, nil)
				y.state(e, "set", remedies.StateDone)
				e.script.remote = nil

				// The way back, with the death of the process right after it was sent.
				y.is("undo", w.Undo(y.ctx), nil)
				e.script.remote = func(write bool) remoteFault {
					if write {
						e.proc.kill()
						return remoteDoneCut
					}
					return remoteFine
				}
				e.seen = y.s.api.Count()
				_ = w.Apply(y.ctx, w.View().Preview.Token, "")
				e.script.remote = nil
				w = y.again(e)
				if c.name == "node" {
					y.is("answer", w.Enter(y.ctx), remedies.ErrAsk)
					y.is("answer", w.Answer(y.ctx, "host key", "yes"), nil)
				}
				y.is("enter", w.Enter(y.ctx), nil)
				y.state(e, "set", remedies.StateUndone)
				y.state(e, "back", remedies.StateDone)
				if got := far.get(c.value); got != c.was {
					t.Errorf("it is %q, was %q", got, c.was)
				}
				marks := map[string]int{}
				for _, d := range far.done {
					marks[d.mark]++
					if d.mark != "" && marks[d.mark] > 1 {
						t.Errorf("%v was done twice", d)
					}
				}
				y.is("undo", w.Undo(y.ctx), remedies.ErrBlocked)
				y.is("next", w.Next(y.ctx), nil)
				if v := w.View(); !v.Finished || v.FinishedWords != "there, back set "+c.value+" on "+far2(c.name) {
					t.Errorf("finished: %v %q", v.Finished, v.FinishedWords)
				}
				w.Leave()
			})
		})
	}
}

func far2(name string) string {
	if name == "node" {
		return model.OnNode("", toyHome, "node-1").String()
	}
	return model.InVCenter("", "vc").String()
}

// Another node under the same name is not written to.
func TestAnotherNode(t *testing.T) {
	steps := "  - {id: one, title: One, why: For a test., action: toy-task, with: {name: tag, value: ours}}\n" +
		"  - {id: two, title: Two, why: For a test., action: toy-task, with: {name: second, value: ours}}\n"
	inBubble(t, steps, func(y *toy) {
		e := y.anna
		w := y.begin(e)
		y.is("enter", w.Enter(y.ctx), nil)
		y.apply(e, nil)
		y.is("next", w.Next(y.ctx), nil)
		e.runner.cfg.Sites.Others[model.PlaceVCenter] = func(context.Context, model.Place) (remedies.Conn, error) {
			return &remoteConn{to: y.s.toys.vcenter, marks: model.Marks{InstanceUUID: "another"}, by: "anna",
				fault: func(bool) remoteFault { return remoteFine }, sent: func(remoteWrite) {}}, nil
		}
		y.is("enter", w.Enter(y.ctx), nil)
		if b := w.View().Preview.Blocked; !strings.Contains(b, "another vCenter") {
			t.Errorf("blocked: %q", b)
		}
		w.Leave()
	})
}

// Questions come up at the start and in the middle; the answers are written nowhere.
func TestQuestions(t *testing.T) {
	const secret = "pa55-Word"
	steps := "  - {id: set, title: Set it, why: For a test., action: toy-command, undo: back, with: {name: setting, value: ours}}\n" +
		"  - {id: back, title: Set it back, why: For a test., action: toy-take-back, with: {step: set}}\n"
	inBubble(t, steps, func(y *toy) {
		y.s.questions = append(y.s.questions, remedies.Ask{ID: "sudo", Question: "The password for sudo?", Secret: true})
		e := y.anna
		w := y.begin(e)
		var seen []string
		look := func() { seen = append(seen, fmt.Sprintf("%+v %+v", w.View(), e.log)) }
		y.is("enter", w.Enter(y.ctx), remedies.ErrAsk)
		if err := w.Answer(y.ctx, "host key", "no"); err == nil || w.View().Ask == nil {
			t.Errorf("a refused answer: %v, and the question is %v", err, w.View().Ask)
		}
		y.is("host key", w.Answer(y.ctx, "host key", "yes"), remedies.ErrAsk)
		if a := w.View().Ask; a == nil || !a.Secret {
			t.Fatalf("asked: %+v", a)
		}
		y.is("sudo", w.Answer(y.ctx, "sudo", secret), nil)
		look()

		// The connection is lost before it is applied: nothing is applied, and it asks again.
		delete(e.asked, "sudo")
		y.apply(e, remedies.ErrAsk)
		y.is("sudo", w.Answer(y.ctx, "sudo", secret), nil)
		look()

		// It is lost after the line before: nothing was sent, and nothing is in doubt.
		e.script.line = func(line []byte) diskFault {
			if strings.Contains(string(line), `"kind":"before"`) {
				delete(e.asked, "sudo")
			}
			return diskFine
		}
		y.apply(e, remedies.ErrAsk)
		e.script.line = nil
		if w.st.open() != nil || w.View().Ask == nil {
			t.Errorf("open: %v, asked: %v", w.st.open(), w.View().Ask)
		}
		y.is("sudo", w.Answer(y.ctx, "sudo", secret), nil)
		y.apply(e, nil)
		y.state(e, "set", remedies.StateDone)
		look()
		w.Leave()
		look()
		if len(y.s.toys.node.done) != 1 {
			t.Errorf("done: %v", y.s.toys.node.done)
		}
		journal := string(e.disk.read(filepath.Join(toyDir, w.ID()+journalSuffix)))
		for _, s := range append(append(seen, y.errs...), journal) {
			if strings.Contains(s, secret) {
				t.Errorf("the answer is in %q", s)
			}
		}
	})
}

const debtSteps = "  - {id: take, title: Take it, why: For a test., action: toy-take, undo: back}\n" +
	"  - {id: look, title: Look, why: For a test., action: toy-look}\n" +
	"  - {id: back, title: Give it back, why: For a test., action: toy-take-back, with: {step: take}}\n"

// roleIs fails unless the role has the verb or not, and so many debts.
func (y *toy) roleIs(verb bool, debts int) []remedies.Debt {
	y.Helper()
	live, err := y.s.do(fakeapi.Request{Verb: "get", Resource: toyRoles, Name: "operator"})
	if err != nil {
		y.Fatal(err)
	}
	d := effect.Debts(live, model.OnSupervisor(""))
	if toyTakeable().Has(live.Object) != verb || len(d) != debts {
		y.Fatalf("the role has the verb: %v, debts: %v", toyTakeable().Has(live.Object), d)
	}
	return d
}

// Two debts on one object: the thing returns with the last. One is paid from another machine.
func TestTwoDebts(t *testing.T) {
	inBubble(t, debtSteps, func(y *toy) {
		anna, ben := y.s.who[0], y.s.who[1]
		for i, e := range y.s.who {
			w := y.begin(e)
			y.is("enter", w.Enter(y.ctx), nil)
			y.is("without the name", w.Apply(y.ctx, w.View().Preview.Token, ""), remedies.ErrTyped)
			y.apply(e, nil)
			y.state(e, "take", remedies.StateDone)
			y.roleIs(false, i+1)
			if d := w.View().Debts; len(d) != 1 || d[0].What != "patch on endpoints" {
				t.Errorf("debts: %+v", d)
			}
		}
		if o := ben.walk.View().Others; len(o) != 1 || !strings.Contains(o[0], "anna") {
			t.Errorf("ben sees %q", o)
		}
		// It is not put away, and does not end, while something is owed.
		id := anna.walk.ID()
		anna.walk.Leave()
		y.is("forget", anna.runner.Forget(id), remedies.ErrBlocked)

		// Ben pays Anna's debt: her machine is not needed.
		var hers remedies.Debt
		for _, d := range y.roleIs(false, 2) {
			if d.Who == "anna" {
				hers = d
			}
		}
		ben.walk.Leave()
		var err error
		ben.walk, err = ben.runner.Restore(y.ctx, hers, "toy-restore")
		y.is("restore", err, nil)
		y.is("enter", ben.walk.Enter(y.ctx), nil)
		y.apply(ben, nil)
		y.roleIs(false, 1)
		y.is("next", ben.walk.Next(y.ctx), nil)

		// Anna finds hers paid, by whomever, and can go on.
		w, err := anna.runner.Resume(y.ctx, id)
		y.is("resume", err, nil)
		anna.walk = w
		y.is("undo", w.Undo(y.ctx), nil)
		if p := w.View().Preview; p == nil || p.Done == "" {
			t.Fatalf("preview: %+v", p)
		}
		y.is("next", w.Next(y.ctx), nil)
		if v := w.View(); !v.Finished || len(v.Debts) != 0 {
			t.Errorf("finished %v, debts %v", v.Finished, v.Debts)
		}
		anna.walk = nil

		// Ben's own is the last: with it the verb is back.
		pend := ben.pendingIDs()
		if len(pend) != 1 {
			t.Fatalf("pending: %v", pend)
		}
		ben.walk, err = ben.runner.Resume(y.ctx, pend[0])
		y.is("resume", err, nil)
		y.is("undo", ben.walk.Undo(y.ctx), nil)
		y.apply(ben, nil)
		y.roleIs(true, 0)
		y.is("next", ben.walk.Next(y.ctx), nil)

		hers.Takes = "everything"
		_, err = ben.runner.Restore(y.ctx, hers, "toy-restore")
		y.is("a claim that nobody knows", err, remedies.ErrBlocked)
	})
}

// A debt whose taking was not answered is found by its mark, and a walk does not end with it.
func TestDebtInDoubt(t *testing.T) {
	inBubble(t, debtSteps, func(y *toy) {
		e := y.anna
		w := y.begin(e)
		y.is("enter", w.Enter(y.ctx), nil)
		e.script.request = func(r *fakeapi.Request) fakeapi.Fault {
			if r.Write() && r.Resource == toyRoles {
				return fakeapi.Fault{Kind: fakeapi.Delayed, After: 50 * time.Second}
			}
			return fakeapi.Fault{}
		}
		y.apply(e, remedies.ErrUnclear)
		e.script.request = nil
		id := w.ID()
		w.Leave()
		y.is("forget", e.runner.Forget(id), remedies.ErrBlocked)
		w, err := e.runner.Resume(y.ctx, id)
		y.is("resume", err, nil)
		e.walk = w
		y.is("enter", w.Enter(y.ctx), remedies.ErrUnclear)
		time.Sleep(time.Minute)
		y.is("enter", w.Enter(y.ctx), nil)
		y.state(e, "take", remedies.StateDone)
		y.roleIs(false, 1)
		y.is("undo", w.Undo(y.ctx), nil)
		y.apply(e, nil)
		y.roleIs(true, 0)
		w.Leave()
	})
}

// One item after another, left in the middle, and taken back.
func TestEachItem(t *testing.T) {
	for _, each := range []string{"", ", each: things"} {
		t.Run("back"+each, func(t *testing.T) {
			steps := "  - {id: make, title: Make them, why: For a test., action: toy-make, undo: back, each: things, with: {names: ['e-{{ .Item }}'], value: ours}}\n" +
				"  - {id: back, title: Take them back, why: For a test., action: toy-take-back" + each + ", with: {step: make}}\n"
			inBubble(t, steps, func(y *toy) {
				e := y.anna
				w := y.begin(e)
				y.is("enter", w.Enter(y.ctx), nil)
				y.is("next", w.Next(y.ctx), remedies.ErrNotYet)
				y.apply(e, nil)
				y.is("next", w.Next(y.ctx), nil)
				w = y.again(e)
				y.s.put("things", "b c") // it stays what it was when the step began.
				y.is("enter", w.Enter(y.ctx), nil)
				v := w.View().Steps[0]
				if len(v.Items) != 2 || v.Items[0].State != remedies.StateDone || v.Items[1].State != remedies.StateCurrent {
					t.Fatalf("items: %+v", v.Items)
				}
				// The second is there already: only it is skipped.
				_, err := y.s.do(fakeapi.Request{Verb: "create", Name: "e-b", Body: toyWidget("e-b", "ours")})
				y.is("colleague", err, nil)
				y.is("enter", w.Enter(y.ctx), nil)
				y.is("next", w.Next(y.ctx), nil)
				v = w.View().Steps[0]
				if v.Items[0].State != remedies.StateDone || v.Items[1].State != remedies.StateSkipped {
					t.Fatalf("items: %+v", v.Items)
				}
				y.is("undo", w.Undo(y.ctx), nil)
				y.apply(e, nil)
				if v = w.View().Steps[0]; v.Items[0].State != remedies.StateUndone {
					t.Fatalf("items: %+v", v.Items)
				}
				y.is("undo", w.Undo(y.ctx), remedies.ErrBlocked)
				var left []string
				for _, u := range y.s.api.Objects(widgets) {
					left = append(left, u.GetName())
				}
				if slices.Contains(left, "e-a") || !slices.Contains(left, "e-b") {
					t.Errorf("left: %q; the colleague's stays, and ours goes", left)
				}
				w.Leave()
			})
		})
	}
}

// Following a step that shows a preview, or that a person does, looks at nothing and writes nothing down.
func TestFollowWaitsOnlyForWhatWaits(t *testing.T) {
	steps := "  - {id: make, title: Make it, why: For a test., action: toy-make, undo: back, with: {names: [left], value: ours}}\n" +
		"  - {id: hand, title: By hand, why: For a test., action: toy-by-hand, with: {name: by-hand}}\n" +
		"  - {id: back, title: Take it back, why: For a test., action: toy-take-back, with: {step: make}}\n"
	inBubble(t, steps, func(y *toy) {
		w := y.begin(y.anna)
		y.is("enter", w.Enter(y.ctx), nil)
		y.is("follow", w.Follow(y.ctx, func(p remedies.Progress) { t.Errorf("%+v", p) }), nil)
		y.state(y.anna, "make", remedies.StateCurrent)
		y.apply(y.anna, nil)
		y.is("next", w.Next(y.ctx), nil)
		y.is("enter", w.Enter(y.ctx), nil)
		y.is("follow", w.Follow(y.ctx, func(p remedies.Progress) { t.Errorf("%+v", p) }), remedies.ErrBlocked)
		y.state(y.anna, "hand", remedies.StateCurrent)
		w.Leave()
	})
}
