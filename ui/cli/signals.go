package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
)

const (
	// endGrace is how long what was asked to end is waited for before the program ends without it.
	endGrace = 3 * time.Second
	// hardGrace is how long after a signal the program ends whatever still runs: longer than anything
	// that has to come to an end by itself (a change that is under way has ten seconds).
	hardGrace = 30 * time.Second
	// interrupted is the status of a process that ends at once.
	interrupted = 130
)

// UntilSignalled ends the context with the first signal. The second one, or hardGrace, ends the process at
// once, with the terminal as it was found.
func UntilSignalled(ctx context.Context, exit func(int)) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	caught := make(chan os.Signal, 2)
	signal.Notify(caught, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	restore := terminals(os.Stdin, os.Stdout)
	over := make(chan struct{})
	go func() {
		select {
		case <-caught:
			cancel()
		case <-over:
			return
		}
		late := time.NewTimer(hardGrace)
		defer late.Stop()
		select {
		case <-caught:
		case <-late.C:
		case <-over:
			return
		}
		restore()
		exit(interrupted)
	}()
	return ctx, func() {
		signal.Stop(caught)
		close(over)
		cancel()
	}
}

// leaveScreen switches off whatever the screen may have switched on: the alternate screen, a hidden
// cursor, the mouse, bracketed paste, focus reports, extended keys and colours.
const leaveScreen = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?2026l\x1b[>4;0m\x1b[=0;1u\x1b[0m\x1b[?1049l\x1b[?25h\r"

// terminals notes how the terminals are set up and returns what puts them back. It is for the moment
// in which nothing else works any more, so it waits for nobody.
func terminals(in, out *os.File) func() {
	before := map[*os.File]*term.State{}
	for _, f := range []*os.File{in, out} {
		if s, err := term.GetState(f.Fd()); err == nil {
			before[f] = s
		}
	}
	return func() {
		for f, s := range before {
			_ = term.Restore(f.Fd(), s) // There is nobody left to tell.
		}
		if before[out] == nil {
			return
		}
		written := make(chan struct{})
		go func() {
			_, _ = out.WriteString(leaveScreen) // It may hang, and there is nobody left to tell.
			close(written)
		}()
		select {
		case <-written:
		case <-time.After(stuckTerminal):
		}
	}
}

// stuckTerminal is how long a terminal that takes no output is waited for.
const stuckTerminal = 200 * time.Millisecond
