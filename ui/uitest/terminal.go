// Package uitest drives the real program as a person would: on a terminal, by
// keys, looking at the screen. The terminal is an emulator, so that a test sees
// what an eye would see, whatever bytes brought it there.
//
// A test starts the program in-process with [Run], or as a process of its own on a
// pseudo-terminal with [Exec]; presses keys with [Terminal.Keys]; and waits for
// what it expects with [Terminal.WaitFor]. Nothing here sleeps for a fixed time: it
// looks until a deadline. It is for tests only and knows nothing of what is shown.
package uitest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"golang.org/x/term"
)

// Deadline is how long a wait lasts unless [Terminal.Within] says otherwise.
const Deadline = time.Minute

// Terminal is an emulated terminal: a screen, a keyboard, a title and a clipboard.
// It may be used from several goroutines.
type Terminal struct {
	t testing.TB

	mu        sync.Mutex
	emu       *vt.Emulator
	raw       bytes.Buffer
	keepRaw   bool
	title     string
	clipboard string
	writes    int
	crlf      bool

	keyboard *pipe
	done     chan struct{}
	err      error
	within   time.Duration

	modes map[ansi.Mode]bool // what was switched on and not off again.
	// tty is our end of the pseudo-terminal of a process, and before its state before the
	// process had it; nil for a program in-process.
	tty    *os.File
	before *term.State
}

func newTerminal(t testing.TB, w, h int) *Terminal {
	x := &Terminal{
		t: t, emu: vt.NewEmulator(w, h), keyboard: newPipe(), done: make(chan struct{}), within: Deadline, modes: map[ansi.Mode]bool{},
	}
	x.emu.SetCallbacks(vt.Callbacks{
		Title:       func(s string) { x.title = s },
		EnableMode:  func(m ansi.Mode) { x.modes[m] = true },
		DisableMode: func(m ansi.Mode) { delete(x.modes, m) },
	})
	x.emu.RegisterOscHandler(52, func(data []byte) bool {
		// The data is "52;c;BASE64".
		if _, b64, ok := strings.Cut(strings.TrimPrefix(string(data), "52;"), ";"); ok {
			x.clipboard = b64
		}
		return true
	})
	// What the emulator answers to queries comes back as if it were typed.
	go func() { _, _ = io.Copy(x.keyboard, x.emu) }()
	return x
}

// close ends the emulator's answers and the keyboard.
func (x *Terminal) close() {
	// Not the emulator's Close, which another goroutine's Read would race with.
	if c, ok := x.emu.InputPipe().(io.Closer); ok {
		_ = c.Close()
	}
	x.keyboard.Close()
}

// Write is the program's output.
func (x *Terminal) Write(p []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.writes++
	if x.keepRaw {
		x.raw.Write(p)
	}
	out := p
	if x.crlf {
		// A program that is not on a tty leaves this to the terminal.
		out = bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))
	}
	if _, err := x.emu.Write(out); err != nil {
		return 0, fmt.Errorf("the emulator does not take it: %w", err)
	}
	return len(p), nil
}

// Read is the program's input.
func (x *Terminal) Read(p []byte) (int, error) { return x.keyboard.Read(p) }

// Screen is what an eye sees: one line for each row, without what is blank at its end.
func (x *Terminal) Screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	lines := strings.Split(ansi.Strip(x.emu.String()), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \r")
	}
	return strings.Join(lines, "\n")
}

// Colours is the screen with its colours, as escape sequences.
func (x *Terminal) Colours() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.emu.Render()
}

// Title is the terminal's title.
func (x *Terminal) Title() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.title
}

// Clipboard is what was last copied by OSC 52, in base64.
func (x *Terminal) Clipboard() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.clipboard
}

// AltScreen says whether the program holds the alternate screen: false again after
// it gave the terminal back.
func (x *Terminal) AltScreen() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.emu.IsAltScreen()
}

// GivenBack says what the program changed of the terminal and left so, empty when the
// shell finds it as it was: the alternate screen, the cursor, mouse and paste modes, and
// how typing is treated.
func (x *Terminal) GivenBack() (left []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.emu.IsAltScreen() {
		left = append(left, "the alternate screen")
	}
	if x.emu.CursorHidden() {
		left = append(left, "a hidden cursor")
	}
	for m := range x.modes {
		if m != ansi.ModeTextCursorEnable && m != ansi.ModeAutoWrap {
			left = append(left, fmt.Sprintf("mode %d", m.Mode()))
		}
	}
	if x.tty != nil && x.lineChanged() {
		left = append(left, "no echo or line editing")
	}
	slices.Sort(left)
	return left
}

// KeepRaw keeps every byte that is written from now on, for [Terminal.Raw].
func (x *Terminal) KeepRaw() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.keepRaw = true
}

// Raw is every byte that was written since [Terminal.KeepRaw].
func (x *Terminal) Raw() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.raw.String()
}

// Writes counts the program's writes.
func (x *Terminal) Writes() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.writes
}

// Within sets how long waits last.
func (x *Terminal) Within(d time.Duration) *Terminal {
	x.within = d
	return x
}

// Keys presses keys, each by its name as [Bytes] knows it.
func (x *Terminal) Keys(names ...string) {
	x.t.Helper()
	var b []byte
	for _, n := range names {
		seq, ok := Bytes(n)
		if !ok {
			x.t.Fatalf("uitest: there is no key %q", n)
		}
		b = append(b, seq...)
	}
	x.press(b)
}

// Type types a text.
func (x *Terminal) Type(s string) { x.press([]byte(s)) }

func (x *Terminal) press(b []byte) {
	if len(b) == 0 {
		return
	}
	if _, err := x.keyboard.Write(b); err != nil {
		x.t.Errorf("uitest: the program does not read its keys any more: %v", err)
	}
}

// Click presses and releases the left button on a cell, counted from zero.
func (x *Terminal) Click(col, row int) {
	x.press(fmt.Appendf(nil, "\x1b[<0;%d;%dM\x1b[<0;%d;%dm", col+1, row+1, col+1, row+1))
}

// Wheel turns the wheel over the middle of the screen.
func (x *Terminal) Wheel(down bool) {
	button := 64
	if down {
		button = 65
	}
	x.press(fmt.Appendf(nil, "\x1b[<%d;%d;%dM", button, 10, 10))
}

// WaitFor waits until every text is on the screen at the same time.
func (x *Terminal) WaitFor(texts ...string) {
	x.t.Helper()
	x.WaitUntil("see "+strings.Join(texts, " and "), func(s string) bool {
		for _, t := range texts {
			if !strings.Contains(s, t) {
				return false
			}
		}
		return true
	})
}

// WaitGone waits until a text is not on the screen.
func (x *Terminal) WaitGone(text string) {
	x.t.Helper()
	x.WaitUntil("not see "+text, func(s string) bool { return !strings.Contains(s, text) })
}

// WaitUntil waits until the screen is as it should be; what says what that is.
func (x *Terminal) WaitUntil(what string, ok func(screen string) bool) {
	x.t.Helper()
	tick := time.NewTicker(3 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(x.within)
	defer deadline.Stop()
	for {
		if ok(x.Screen()) {
			return
		}
		select {
		case <-tick.C:
		case <-x.done:
			if ok(x.Screen()) {
				return
			}
			x.t.Fatalf("uitest: wanted to %s, but the program ended (%v). The screen:\n%s", what, x.err, x.Screen())
		case <-deadline.C:
			x.t.Fatalf("uitest: wanted to %s within %s. The screen:\n%s", what, x.within, x.Screen())
		}
	}
}

// Wait waits for the program's end and returns its error.
func (x *Terminal) Wait() error {
	x.t.Helper()
	deadline := time.NewTimer(x.within)
	defer deadline.Stop()
	select {
	case <-x.done:
		return x.err
	case <-deadline.C:
		x.t.Fatalf("uitest: the program did not end within %s. The screen:\n%s", x.within, x.Screen())
		return nil
	}
}

// Ended says whether the program is over.
func (x *Terminal) Ended() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}
