package ui

import (
	"context"
	"io"
	"sync"
	"time"
)

// How long a write to the terminal is waited for: a terminal that takes no output (a connection that
// hangs, a multiplexer that was stopped) must not keep the program from being quit.
const (
	stalledAfter  = 2 * time.Second
	stalledAtLast = 200 * time.Millisecond
)

// patient writes to a terminal without waiting longer than that. What comes while the terminal takes
// nothing is lost, and the whole screen is asked for again once it takes output.
type patient struct {
	ctx context.Context // The screen's life.
	out io.Writer
	// again asks for the whole screen.
	again func()

	mu      sync.Mutex
	writing chan struct{} // closed when the write that is under way has ended; nil when none is.
	lost    bool
	err     error
}

func (p *patient) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.writing != nil && !p.wait(0) {
		p.lost = true
		return len(b), nil
	}
	if p.err != nil {
		return 0, p.err
	}
	done, text := make(chan struct{}), append([]byte(nil), b...)
	p.writing = done
	go func() {
		_, err := p.out.Write(text)
		p.ended(done, err)
	}()
	if p.wait(stalledAfter) {
		return len(b), p.err
	}
	return len(b), nil
}

// wait waits for the write under way; mu is held, and given back meanwhile.
func (p *patient) wait(d time.Duration) bool {
	done := p.writing
	p.mu.Unlock()
	defer p.mu.Lock()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
	case <-p.ctx.Done():
		last := time.NewTimer(stalledAtLast)
		defer last.Stop()
		select {
		case <-done:
			return true
		case <-last.C:
		}
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func (p *patient) ended(done chan struct{}, err error) {
	p.mu.Lock()
	if err != nil {
		p.err = err
	}
	p.writing = nil
	lost := p.lost
	p.lost = false
	p.mu.Unlock()
	close(done)
	if lost && err == nil {
		p.again()
	}
}

// patientFile stays a file, so that Bubble Tea sees a terminal in it.
type patientFile struct {
	file
	p *patient
}

func (f patientFile) Write(b []byte) (int, error) { return f.p.Write(b) }

// unstalled is a terminal whose writes end. again is called, on another goroutine, when what was
// written has been lost and the terminal takes output again.
func unstalled(ctx context.Context, out io.Writer, again func()) io.Writer {
	p := &patient{ctx: ctx, out: out, again: again}
	if f, ok := out.(file); ok {
		return patientFile{f, p}
	}
	return p
}

// file is what Bubble Tea takes for a terminal that it can ask for its size.
type file interface {
	io.ReadWriteCloser
	Fd() uintptr
}
