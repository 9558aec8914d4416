package ui

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A program at rest wakes seldom; what is drawn is written soon all the same. This fails where
// a new version of Bubble Tea keeps its ticker elsewhere.
func TestRestsBetweenFrames(t *testing.T) {
	in, quit := io.Pipe()
	out := stamped{make(chan time.Time, 64)}
	m := newModel(t.Context(), Options{Where: where(), Now: clock, Snapshots: feed(fleetOf(3))}, new(atomic.Int64))
	m.timer = func(time.Duration, func(time.Time) tea.Msg) tea.Cmd { return nil } // nothing ticks.
	p := newProgram(m, tea.WithContext(t.Context()), tea.WithInput(in), tea.WithOutput(out), tea.WithWindowSize(80, 24))
	done := make(chan error, 1)
	go func() { _, err := p.Run(); done <- err }()
	rests := func() {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		look := time.NewTicker(awake)
		defer look.Stop()
		for {
			select {
			case <-ctx.Done():
				t.Fatal("it never rests")
			case <-out.at:
			case <-look.C:
				m.pace.mu.Lock()
				resting := m.pace.rest != nil && !m.pace.busy
				m.pace.mu.Unlock()
				if resting {
					return
				}
			}
		}
	}
	rests()
	if m.pace.ticker == nil {
		t.Fatal("Bubble Tea's ticker was not found: the program wakes 120 times a second for nothing")
	}
	p.Send(press("?"))
	<-out.at
	rests()
	p.Quit()
	if err := <-done; err != nil {
		t.Error(err)
	}
	_ = quit.Close()
}
