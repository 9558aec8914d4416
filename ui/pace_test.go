package ui

import (
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A program at rest wakes seldom; what is drawn is written soon all the same.
func TestRestsBetweenFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticker := time.NewTicker(busyFrame)
		defer ticker.Stop()
		p := &pace{find: func() *time.Ticker { return ticker }}
		ticks := func(d time.Duration) (n int, first time.Duration) {
			began := time.Now()
			for end := time.After(d); ; {
				select {
				case <-ticker.C:
					if n++; n == 1 {
						first = time.Since(began)
					}
				case <-end:
					return n, first
				}
			}
		}
		for range 3 {
			p.drawn()
			n, first := ticks(time.Second)
			if first > busyFrame {
				t.Errorf("a frame waits for %v", first)
			}
			if n > 8+10 {
				t.Errorf("it wakes %d times in a second for one frame", n)
			}
		}
		if n, _ := ticks(10 * time.Second); n > 100 {
			t.Errorf("it wakes %d times in ten seconds for nothing", n)
		}
		// Under one view after the other it stays awake, and no tick is put off for ever.
		n := 0
		for range 100 {
			p.drawn()
			more, _ := ticks(2 * time.Millisecond)
			n += more
		}
		if n < 35 || n > 41 {
			t.Errorf("%d ticks in 200 ms of one view after the other", n)
		}
	})
}

// This fails where a new version of Bubble Tea keeps its ticker elsewhere: then the program
// wakes 120 times a second for nothing.
func TestTickerIsFound(t *testing.T) {
	in, quit := io.Pipe()
	m := newModel(t.Context(), Options{Where: where(), Now: clock, Snapshots: feed(fleetOf(3))}, new(atomic.Int64))
	p := newProgram(m, tea.WithContext(t.Context()), tea.WithInput(in), tea.WithOutput(io.Discard), tea.WithWindowSize(80, 24))
	if renderTicker(p) != nil {
		t.Error("there is a ticker before the program runs")
	}
	go p.Quit() // it waits until the program takes it.
	if _, err := p.Run(); err != nil {
		t.Error(err)
	}
	_ = quit.Close()
	if m.pace.ticker == nil {
		t.Error("Bubble Tea's ticker was not found")
	}
}
