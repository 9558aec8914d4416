package ui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/model/signature"
	"vksmedic/remedies"
	"vksmedic/ui/styles"
)

// walked opens the wizard of team-a/web, with what its walk says by s.
func walked(t *testing.T, s *script) *desk {
	t.Helper()
	return walkedIn(t, picture(), s)
}

func walkedIn(t *testing.T, sn *model.Snapshot, s *script) *desk {
	t.Helper()
	d := newDesk(t, 120, 40, Options{Wizard: s})
	d.send(snapshotMsg{sn})
	d.keys("enter", "enter", "enter")
	return d
}

func wants(t *testing.T, d *desk, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(d.screen(), w) {
			t.Fatalf("not on the screen: %s\n%s", w, d.screen())
		}
	}
}

// TestChoiceCanBeMadeAnew as long as nothing was changed that rests on it.
func TestChoiceCanBeMadeAnew(t *testing.T) {
	s := rescue()
	d := walked(t, s)
	d.keys("enter", "enter")
	wants(t, d, "+ kind: MachineDrainRule")
	d.keys("b")
	wants(t, d, "● Every cluster", "choose this")
	d.keys("j")
	wants(t, d, "● Only cluster web")
	if got := s.View().Choice.Selected; got != "cluster" {
		t.Fatalf("chosen: %s", got)
	}

	s.mu.Lock()
	s.view.Steps[2].State = remedies.StateDone
	s.mu.Unlock()
	d.keys("r", "j")
	wants(t, d, "● Every cluster", "enter goes on")
}

// TestLeavingSaysWhatIsLeft and nothing that is not so.
func TestLeavingSaysWhatIsLeft(t *testing.T) {
	for _, c := range []struct {
		name    string
		state   remedies.StepState
		err     error
		says    string
		saysNot string
	}{
		{"nothing was changed", remedies.StateCurrent, nil, "left; nothing was changed", ":walks"},
		{"a rule was made", remedies.StateDone, nil, ":walks picks it up", "nothing was changed"},
		{"it is not known whether a rule was made", remedies.StateUnsure, errors.New("no answer"), ":walks picks it up", "nothing was changed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := rescue()
			s.apply = func(s *script) error {
				s.view.Steps[s.view.Current].State = c.state
				return c.err
			}
			d := walked(t, s)
			d.keys("enter", "enter")
			if c.state != remedies.StateCurrent {
				d.keys("pgdown", "pgdown", "pgdown", "pgdown", "a")
			}
			d.keys("esc")
			wants(t, d, c.says)
			if strings.Contains(d.screen(), c.saysNot) {
				t.Errorf("says %q\n%s", c.saysNot, d.screen())
			}
		})
	}
}

// TestTroubleOfTheWalk stands on every step, whatever it is about.
func TestTroubleOfTheWalk(t *testing.T) {
	s := rescue()
	const unseen = "nobody can see that you work here: may not write leases in team-a"
	s.view.Trouble = []string{unseen}
	s.view.Others = []string{"ben on bastion is working on this cluster since 4m"}
	enter := s.enter
	s.enter = func(s *script) {
		enter(s)
		if p := s.view.Preview; p != nil {
			p.Warnings = s.view.Others // The preview knows of them, too.
		}
	}
	d := walked(t, s)
	for range 3 {
		wants(t, d, unseen, s.view.Others[0])
		if n := strings.Count(d.screen(), s.view.Others[0]); n != 1 {
			t.Errorf("said %d times\n%s", n, d.screen())
		}
		d.keys("enter")
	}
}

// TestRefusedInWords: where a change cannot be applied, its key says why.
func TestRefusedInWords(t *testing.T) {
	s := rescue()
	enter := s.enter
	s.enter = func(s *script) {
		enter(s)
		if p := s.view.Preview; p != nil {
			p.Blocked = "you may not create machinedrainrules in team-a: forbidden"
		}
	}
	d := walked(t, s)
	d.keys("enter", "enter", "pgdown", "pgdown", "pgdown", "pgdown", "a")
	wants(t, d, "nothing is applied: you may not create machinedrainrules in team-a: forbidden")
	if got := s.appliedSoFar(); len(got) > 0 {
		t.Errorf("applied %v", got)
	}
}

// TestWhatSettlesTheUnknownHasRoom, however much is said about it.
func TestWhatSettlesTheUnknownHasRoom(t *testing.T) {
	sn := picture()
	sn.Supervisor.VKS, sn.Supervisor.VKSDetail = "", "may not read PackageInstalls (forbidden)"
	for _, c := range sn.Clusters[:1] {
		c.Findings, _ = signature.Judge(c, sn, sn.At)
		for i := range c.Findings {
			for j := range c.Findings[i].Evidence {
				c.Findings[i].Evidence[j].Detail = strings.Repeat("much is said about it, ", 40)
			}
		}
	}
	d := newDesk(t, 80, 24, Options{})
	d.send(snapshotMsg{sn})
	d.keys("enter", "enter", "u")
	wants(t, d, "settled by", "look in vCenter", "c copies all")
}

// TestEnterTakesNoUnseenOption on the smallest terminal: the first option is in sight on opening,
// and enter works once all were.
func TestEnterTakesNoUnseenOption(t *testing.T) {
	s := rescue()
	d := newDesk(t, 60, 15, Options{Wizard: s})
	d.send(snapshotMsg{picture()})
	d.keys("enter", "enter", "enter", "enter")
	wants(t, d, "● Every cluster", "read every option first")
	if strings.Contains(d.screen(), "choose this") {
		t.Errorf("enter is offered\n%s", d.screen())
	}
	d.keys("enter", "enter")
	wants(t, d, "not every option was on the screen", "▸ 2")
	d.keys("pgdown", "pgdown", "pgdown")
	wants(t, d, "enter goes on", "choose this", "○ Only cluster web")
	d.keys("enter")
	wants(t, d, "✔ 2", "▸ 3")

	// A jump to the end does not read what lies between, nor is a choice read once for all.
	many := rescue()
	enter := many.enter
	many.enter = func(s *script) {
		enter(s)
		if c := s.view.Choice; c != nil {
			for i := range 9 {
				c.Options = append(c.Options, remedies.Option{ID: "more-" + itoa(i), Title: "Option " + itoa(i), Means: []string{"It means something."}})
			}
		}
	}
	d = newDesk(t, 60, 15, Options{Wizard: many})
	d.send(snapshotMsg{picture()})
	d.keys("enter", "enter", "enter", "enter", "G", "enter")
	wants(t, d, "▸ 2", "read every option first")
	d.keys("g", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "enter")
	wants(t, d, "▸ 3")
}

// TestShownAndCopied: the screen draws the command that refers to the YAML above it, and what is
// copied is the whole one.
func TestShownAndCopied(t *testing.T) {
	s := rescue()
	enter := s.enter
	s.enter = func(s *script) {
		enter(s)
		if p := s.view.Preview; p != nil {
			p.Command = "kubectl create -n team-a -f - <<'EOF'\nkind: MachineDrainRule\nspec: repeated\nEOF"
			p.Shown = "kubectl create -n team-a -f - # the YAML above"
		}
	}
	d := walked(t, s)
	d.keys("enter", "enter")
	wants(t, d, "$ kubectl create -n team-a -f - # the YAML above")
	if strings.Contains(d.screen(), "repeated") || strings.Contains(d.screen(), "EOF") {
		t.Errorf("the YAML is drawn twice\n%s", d.screen())
	}
	if w := d.m.top().(*wizard); w.commands() != s.View().Preview.Command {
		t.Errorf("copies %q", w.commands())
	}
}

// TestNotSeen has a sign and a word of its own, never the tick.
func TestNotSeen(t *testing.T) {
	s := rescue()
	s.follow = func(_ context.Context, report func(remedies.Progress)) error {
		report(remedies.Progress{Done: true, Stages: []remedies.Stage{{Title: "drain", State: remedies.StateNotSeen}, {Title: "VM", State: remedies.StateNotSeen, Detail: "the VM is still there"}, {Title: "gone", State: remedies.StateDone}}})
		return nil
	}
	s.goTo(3)
	d := walked(t, s)
	for _, want := range []string{"drain", "VM"} {
		for l := range strings.SplitSeq(d.screen(), "\n") {
			if _, l, ok := strings.Cut(l, styles.SignNotSeen+" "+want); ok {
				want = ""
				if !strings.Contains(l, "not seen") {
					t.Errorf("no word: %s", l)
				}
			}
		}
		if want != "" {
			t.Errorf("no %s %s\n%s", styles.SignNotSeen, want, d.screen())
		}
	}
	wants(t, d, "not seen: the VM is still there", styles.SignOk+" gone")
}

// TestQuestion is answered with what is typed; esc leaves it unanswered.
func TestQuestion(t *testing.T) {
	s := rescue()
	s.view.Ask = &remedies.Ask{ID: "q1", Question: "The host key of 10.10.5.7 is not known. Is it the right one?", Lines: []remedies.Line{{Sign: ' ', Text: "SHA256:abcdef"}},
		Options: []remedies.Option{{ID: "yes", Title: "Yes, go on"}, {ID: "no", Title: "No"}}}
	d := walked(t, s)
	wants(t, d, "The host key of 10.10.5.7 is not known.", "SHA256:abcdef", "● Yes, go on", "enter answer the question")
	if strings.Contains(d.screen(), "the step has a question") {
		t.Errorf("a question is drawn as a failure\n%s", d.screen())
	}
	d.keys("j", "enter")
	if !slices.Equal(s.answers, []string{"q1: no"}) {
		t.Fatalf("answered %q", s.answers)
	}
	wants(t, d, "2 agents in pinniped-concierge", "enter goes on")

	s = rescue()
	s.view.Ask = &remedies.Ask{ID: "q2", Question: "Which port?"}
	d = walked(t, s)
	d.keys("enter", "2", "2", "esc")
	if len(s.answers) > 0 {
		t.Fatalf("esc answered %q", s.answers)
	}
	wants(t, d, "Which port?")
	d.keys("enter", "2", "2", "enter")
	if !slices.Equal(s.answers, []string{"q2: 22"}) {
		t.Errorf("answered %q", s.answers)
	}
	d.keys("esc")
	wants(t, d, "no MachineDrainRule lets it pass")
}

// TestQuestionAfterQuestion: an answer may bring up the next one, and a wait goes on after the last.
func TestQuestionAfterQuestion(t *testing.T) {
	s := rescue()
	s.goTo(3)
	s.view.Ask = &remedies.Ask{ID: "key", Question: "Is the host key right?", Options: []remedies.Option{{ID: "yes", Title: "Yes"}}}
	s.answer = func(s *script) error {
		if s.view.Ask.ID == "key" {
			s.view.Ask = &remedies.Ask{ID: "sudo", Question: "The password of sudo", Secret: true}
			return errors.New("the step has a question")
		}
		s.view.Ask = nil
		return nil
	}
	d := walked(t, s)
	d.keys("enter")
	wants(t, d, "The password of sudo")
	if strings.Contains(d.screen(), "the step has a question") {
		t.Errorf("a question is drawn as a failure\n%s", d.screen())
	}
	d.keys("enter", "x", "enter")
	wants(t, d, "the rule is there and matches", "enter goes on")
	if !slices.Equal(s.answers, []string{"key: yes", "sudo: x"}) {
		t.Errorf("answered %q", s.answers)
	}
}

// TestSecretAnswer is nowhere but in the answer.
func TestSecretAnswer(t *testing.T) {
	const secret = "hunter2 xyzzy"
	s := rescue()
	s.view.Ask = &remedies.Ask{ID: "sudo", Question: "The password of sudo on web-cp-x7k2p", Secret: true}
	s.answer = func(*script) error { return errors.New("that is not the password") }
	d := walked(t, s)
	d.keys("enter")
	d.send(tea.PasteMsg{Content: secret + "\n"})
	look := func() {
		t.Helper()
		all := d.m.View().Content + d.m.title() + d.m.flash
		for _, l := range d.m.log {
			all += l.Text
		}
		for _, part := range []string{"hunter2", "xyzzy"} {
			if strings.Contains(all, part) {
				t.Fatalf("the secret is drawn\n%s", d.screen())
			}
		}
	}
	look()
	wants(t, d, strings.Repeat("*", len(secret)))
	d.keys("enter")
	look()
	wants(t, d, "that is not the password")
	if !slices.Equal(s.answers, []string{"sudo: " + secret}) {
		t.Errorf("answered %q", s.answers)
	}
}

// TestManualStep shows what a person runs, copies it, and is checked with h.
func TestManualStep(t *testing.T) {
	s := rescue()
	s.view.Steps[2].Kind = remedies.StepManual
	s.enter = func(*script) {}
	s.view.Commands = []string{"ssh vmware-system-user@10.10.5.7 sudo systemctl restart containerd", "crictl ps"}
	s.goTo(2)
	d := walked(t, s)
	wants(t, d, "$ ssh vmware-system-user@10.10.5.7", "$ crictl ps", "h when it is done", "c copy", "h by hand")
	if got, want := d.m.top().(*wizard).commands(), strings.Join(s.view.Commands, "\n"); got != want {
		t.Errorf("copies %q", got)
	}
	d.keys("enter", "a")
	wants(t, d, "▸ 3")
	d.keys("h")
	wants(t, d, "done by hand", "enter goes on")
	d.keys("enter")
	wants(t, d, "▸ 4")
}

// TestItems are drawn with their states.
func TestItems(t *testing.T) {
	s := rescue()
	s.view.Steps[0].Items = []remedies.ItemView{{Name: "web-md-0-a", State: remedies.StateDone}, {Name: "web-md-0-b", State: remedies.StateFailed, Note: "no route to host"},
		{Name: "web-md-0-c", State: remedies.StateSkipped}, {Name: "web-md-0-d", State: remedies.StatePending}}
	s.enter = func(*script) {}
	d := walked(t, s)
	wants(t, d, "✔ web-md-0-a", "✖ web-md-0-b  no route to host", "– web-md-0-c  not needed", "  web-md-0-d", "2 of 4 done")
}

// TestDebts stand in red on every step.
func TestDebts(t *testing.T) {
	s := rescue()
	s.view.Debts = []remedies.DebtView{{What: "patch on endpoints", Where: "ClusterRole vmoperator", Who: "ana", Since: ago(72 * time.Minute), Overdue: true}}
	d := walked(t, s)
	for range 3 {
		wants(t, d, "✖ OVERDUE, owed: patch on endpoints, ClusterRole vmoperator, ana, since 2026-03-14", "02:14:00Z, 1h12m")
		d.keys("enter")
	}
}

// TestNewcomerOnAPreview appears on the open preview, which then counts as unread.
func TestNewcomerOnAPreview(t *testing.T) {
	s := rescue()
	come, ended := make(chan struct{}), make(chan struct{})
	s.watch = func(ctx context.Context, changed func()) error {
		defer close(ended)
		select {
		case <-come:
		case <-ctx.Done():
			return nil
		}
		s.mu.Lock()
		p := *s.view.Preview
		p.Token, s.view.Others = "t2", []string{"ben on bastion is working on this cluster since 5s"}
		s.view.Preview = &p
		s.mu.Unlock()
		changed()
		<-ctx.Done()
		return nil
	}
	x := start(t, 120, 40, Options{Snapshots: feed(picture()), Wizard: s})
	x.WaitFor("agent blocks drain")
	x.Keys("enter", "enter", "enter")
	x.WaitFor("enter goes on")
	x.Keys("enter")
	x.WaitFor("Which clusters shall")
	x.Keys("enter")
	x.WaitFor("a applies this")
	come <- struct{}{}
	x.WaitFor("ben on bastion")
	x.WaitFor("a applies this") // After another look.
	x.Keys("a")
	x.WaitFor("the rule is there and matches")
	if got := s.appliedSoFar(); !slices.Equal(got, []string{"t2"}) {
		t.Errorf("applied %v", got)
	}
	<-ended // What was applied is no open preview.
}

// TestWatchThatFails is said on the preview, and does not begin again by itself.
func TestWatchThatFails(t *testing.T) {
	s := rescue()
	n := 0
	s.watch = func(context.Context, func()) error { n++; return errors.New("may not get leases in team-a") }
	d := walked(t, s)
	d.keys("enter")
	if n > 0 {
		t.Error("it looks although there is no preview")
	}
	d.keys("enter", "pgdown", "pgdown")
	wants(t, d, "not seen any more: may not get leases in")
	if n != 1 {
		t.Errorf("looked %d times", n)
	}
	d.keys("r")
	if n != 2 {
		t.Errorf("r looked %d times", n)
	}
}

// TestNoStepIsADeadEnd: in every state of every kind of step a key leads on, or to another look.
func TestNoStepIsADeadEnd(t *testing.T) {
	sn := picture()
	states := []remedies.StepState{remedies.StatePending, remedies.StateCurrent, remedies.StateDone, remedies.StateByHand, remedies.StateSkipped, remedies.StateFailed, remedies.StateUndone, remedies.StateUnsure, remedies.StateUnchecked}
	for _, kind := range []remedies.StepKind{remedies.StepLook, remedies.StepChoose, remedies.StepChange, remedies.StepWait, remedies.StepManual} {
		for _, state := range states {
			for name, p := range map[string]*remedies.Progress{"": nil, "done": {Done: true}, "failed": {Done: true, Failed: "the rule is gone"}} {
				for _, err := range []error{nil, errors.New("no answer"), context.Canceled, context.DeadlineExceeded} {
					s := rescue()
					s.view.Steps[0].Undoable = true
					s.view.Steps[2].Kind, s.view.Steps[2].State = kind, state
					s.enter = func(*script) {}
					s.goTo(2)
					s.view.Progress = p
					s.follow = func(_ context.Context, report func(remedies.Progress)) error {
						if p != nil {
							report(*p)
						}
						return err
					}
					d := walkedIn(t, sn, s)
					at := string(kind) + " " + string(state) + " " + name
					offered := map[string]bool{}
					for _, b := range d.m.bindingsNow() {
						for _, k := range b.Keys() {
							offered[k] = true
						}
					}
					for _, k := range []string{"r", "b", "u"} {
						if !offered[k] {
							t.Errorf("%s, %v: %s is not offered\n%s", at, err, k, d.screen())
						}
					}
					if over(state) && !offered["enter"] {
						t.Errorf("%s, %v: it is over, and enter is not offered", at, err)
					}
					d.keys("b")
					if s.View().Current != 1 {
						t.Errorf("%s, %v: b does not step back", at, err)
					}
				}
			}
		}
	}
}

// TestFailedChangeIsSeenAgain: after a check that failed the preview stands under what failed,
// and can be applied once it was read.
func TestFailedChangeIsSeenAgain(t *testing.T) {
	s := rescue()
	s.apply = func(s *script) error { s.view.Steps[s.view.Current].State = remedies.StateFailed; return nil }
	s.follow = func(_ context.Context, report func(remedies.Progress)) error {
		report(remedies.Progress{Done: true, Failed: "the rule is gone again"})
		return nil
	}
	d := walked(t, s)
	d.keys("enter", "enter", "a")
	wants(t, d, "the rule is gone again", "+ kind: MachineDrainRule", "a applies this")
	d.keys("a")
	if got := s.appliedSoFar(); len(got) != 2 {
		t.Errorf("applied %v", got)
	}
}
