package print

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"vksmedic/model/text"
)

// Line is one line of a terminal that says how far something is; where there is no terminal, each
// stage is a line, once.
type Line struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	stage    string
	shown    bool
}

// NewLine makes a line on out.
func NewLine(out io.Writer, terminal bool) *Line { return &Line{out: out, terminal: terminal} }

// Say replaces what stands there. What stands before a colon is the stage. It may be called from
// several goroutines.
func (l *Line) Say(s string) {
	s = text.Clean(s)
	l.mu.Lock()
	defer l.mu.Unlock()
	stage, _, _ := strings.Cut(s, ":")
	if l.terminal {
		l.shown = true
		_, _ = fmt.Fprintf(l.out, "\r\x1b[K%s", text.Limit(s, 78)) // Whoever cannot be told misses nothing.
		return
	}
	if stage != l.stage {
		l.stage = stage
		_, _ = fmt.Fprintln(l.out, stage)
	}
}

// End clears the line.
func (l *Line) End() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown {
		l.shown = false
		_, _ = fmt.Fprint(l.out, "\r\x1b[K")
	}
}
