package ui

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"vksmedic/remedies"
)

// walked opens the wizard of team-a/web, with what its walk says by s.
func walked(t *testing.T, s *script) *desk {
	t.Helper()
	d := newDesk(t, 120, 40, Options{Wizard: s})
	d.send(snapshotMsg{picture()})
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
	for _, c := range sn.Clusters {
		for i := range c.Findings {
			for j := range c.Findings[i].Evidence {
				c.Findings[i].Evidence[j].Detail = strings.Repeat("much is said about it, ", 40)
			}
		}
	}
	d := newDesk(t, 80, 24, Options{})
	d.send(snapshotMsg{sn})
	d.keys("enter", "enter", "u")
	wants(t, d, "settled by", "ask for get on packageinstalls", "c copies all")
}

// TestConditionsInWords knows every condition that the controllers were seen to write.
func TestConditionsInWords(t *testing.T) {
	files, err := filepath.Glob("../testdata/recorded/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded objects: %v", err)
	}
	kind := regexp.MustCompile(`(?m)^ +(?:- )?(?:status: "?(?:True|False|Unknown)"?\n +)type: ([A-Za-z]+)$`)
	seen := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range kind.FindAllStringSubmatch(string(b), -1) {
			seen++
			if _, ok := phrases[m[1]]; !ok {
				t.Errorf("%s: condition %s is shown as its bare status", filepath.Base(f), m[1])
			}
		}
	}
	if seen == 0 {
		t.Error("no condition was found in the recorded objects")
	}
}
