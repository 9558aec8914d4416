package ui

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// C writes a capture in the background, one at a time, and says how it ended.
func TestCaptureKey(t *testing.T) {
	for name, c := range map[string]struct {
		o     Options
		shows string
		logs  string
	}{
		"written": {
			Options{Capture: func(_ context.Context, report func(string)) (string, error) {
				for range 10 {
					report("looking: 3 of 5 sources answered") // It never waits for the screen.
				}
				return "/tmp/vksmedic-x.tar.gz (36 kB): 4 clusters", nil
			}},
			"captured into /tmp/vksmedic-x.tar.gz (36 kB)", "captured into /tmp/vksmedic-x.tar.gz",
		},
		"refused": {
			Options{Capture: func(context.Context, func(string)) (string, error) { return "", errors.New("nothing could be read") }},
			"no capture: nothing could be read", "no capture: nothing",
		},
		"failed inside": {
			Options{Capture: func(context.Context, func(string)) (string, error) { panic("oops") }},
			"no capture: it failed inside vksmedic: oops", "oops",
		},
		"hostile words": {
			Options{Capture: func(context.Context, func(string)) (string, error) { return "a\x1b]0;x\x07b", nil }},
			"captured into ab", "captured",
		},
		"of a dump": {Options{Where: Where{Dump: "ticket.tar.gz"}}, "this is a dump already", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newDesk(t, 120, 40, c.o)
			s.send(snapshotMsg{picture()})
			s.keys("C")
			if !strings.Contains(s.screen(), c.shows) {
				t.Errorf("the screen does not say %q:\n%s", c.shows, s.screen())
			}
			if s.m.capturing != nil {
				t.Error("it seems to go on")
			}
			found := c.logs == ""
			for _, l := range s.m.log {
				found = found || strings.Contains(l.Text, c.logs)
			}
			if !found {
				t.Errorf("the log does not have it: %v", s.m.log)
			}
		})
	}
	t.Run("on its way", func(t *testing.T) {
		took := 0
		take := func(context.Context, func(string)) (string, error) { took++; return "", nil }
		s := newDesk(t, 120, 40, Options{Capture: take})
		s.send(snapshotMsg{picture()})
		far := make(chan string)
		close(far)
		s.m.capturing = far
		s.send(captureMsg{far: "writing: 5 of 9 objects"})
		if !strings.Contains(s.screen(), "capture: writing: 5 of 9 objects") {
			t.Errorf("the screen does not say how far it is:\n%s", s.screen())
		}
		s.keys("C")
		if took != 0 || !strings.Contains(s.screen(), "being written already") {
			t.Errorf("a second one began, or nobody says why not:\n%s", s.screen())
		}
		s.send(captureMsg{ended: true, file: "x"})
		s.send(captureMsg{far: "writing: 9 of 9 objects"}) // What comes late says nothing any more.
		if !strings.Contains(s.screen(), "captured into x") {
			t.Errorf("the end is not shown:\n%s", s.screen())
		}
	})
}
