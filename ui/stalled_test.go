package ui

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// deafTerminal is a terminal that takes output only when it is let.
type deafTerminal struct {
	mu  sync.Mutex
	got bytes.Buffer
	let chan struct{}
}

func (s *deafTerminal) Write(p []byte) (int, error) {
	<-s.let
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got.Write(p)
}

func TestTerminalThatTakesNoOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &deafTerminal{let: make(chan struct{})}
		asked := make(chan struct{}, 1)
		ctx, cancel := context.WithCancel(t.Context())
		w := unstalled(ctx, out, func() { asked <- struct{}{} })
		write := func(s string, most time.Duration) {
			t.Helper()
			began := time.Now()
			if n, err := w.Write([]byte(s)); n != len(s) || err != nil {
				t.Errorf("%d, %v", n, err)
			}
			if took := time.Since(began); took > most {
				t.Errorf("%q took %v", s, took)
			}
		}
		write("one", stalledAfter)
		write("two", 0)
		close(out.let) // it takes output again.
		<-asked        // what was lost is asked for.
		write("three", 0)
		if got := out.got.String(); got != "onethree" {
			t.Errorf("%q", got)
		}
		out.let = make(chan struct{})
		write("four", stalledAfter)
		cancel()
		write("five", stalledAtLast)
		close(out.let)
		<-asked
	})
}
