package uitest

import (
	"context"
	"fmt"
	"io"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Console is what a program that runs in-process is given in place of the
// operating system's terminal: ui.Options has a field for each.
type Console struct {
	In  io.Reader
	Out io.Writer
	Env []string
	Tea []tea.ProgramOption
}

// Run starts a program in-process on a terminal of that size and returns the
// terminal at once. The program is ended when the test is over.
func Run(t testing.TB, w, h int, program func(ctx context.Context, c Console) error) *Terminal {
	t.Helper()
	x := newTerminal(t, w, h)
	x.crlf = true
	ctx, cancel := context.WithCancel(context.Background())
	console := Console{
		// Only its Read: the emulator is no file, and must not look like one.
		In: readOnly{x}, Out: writeOnly{x},
		Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor"},
		Tea: []tea.ProgramOption{tea.WithColorProfile(colorprofile.TrueColor), tea.WithWindowSize(w, h), tea.WithoutSignalHandler()},
	}
	go func() {
		defer close(x.done)
		x.err = program(ctx, console)
	}()
	t.Cleanup(func() {
		cancel()
		x.close()
		<-x.done
	})
	return x
}

// Resize changes the terminal's size and tells the program: by a signal where it runs on
// a pseudo-terminal, else as terminals do that report it in band (mode 2048).
func (x *Terminal) Resize(w, h int) {
	x.t.Helper()
	x.mu.Lock()
	x.emu.Resize(w, h)
	x.mu.Unlock()
	if x.tty == nil {
		x.press(fmt.Appendf(nil, "\x1b[48;%d;%d;0;0t", h, w))
		return
	}
	if err := x.setSize(w, h); err != nil {
		x.t.Fatalf("uitest: cannot resize the pseudo-terminal: %v", err)
	}
}

type readOnly struct{ x *Terminal }

func (r readOnly) Read(p []byte) (int, error) { return r.x.Read(p) }

type writeOnly struct{ x *Terminal }

func (w writeOnly) Write(p []byte) (int, error) { return w.x.Write(p) }
