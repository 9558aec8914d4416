package labtest

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// patience is how long a test waits for something to appear before it fails. The
// controllers' own pace (a drain is tried every 20 s, a control plane machine takes ten to
// join) and a busy two-core machine are in it.
const patience = 4 * time.Minute

// Terminal is a real program in a real pseudo-terminal, with an emulator that
// shows what a person would see.
type Terminal struct {
	t    testing.TB
	cmd  *exec.Cmd
	pty  *os.File
	done chan struct{}
	err  error // of the program, once done is closed.

	mu      sync.Mutex
	changed *sync.Cond
	emu     *vt.Emulator
	raw     strings.Builder // all that the program wrote.
}

// StartTerminal runs a program in a terminal of that size. It is ended with the test.
func StartTerminal(t testing.TB, width, height int, env []string, program string, args ...string) *Terminal {
	t.Helper()
	x := &Terminal{t: t, cmd: exec.Command(program, args...), emu: vt.NewEmulator(width, height), done: make(chan struct{})}
	x.changed = sync.NewCond(&x.mu)
	x.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor")
	x.cmd.Env = append(x.cmd.Env, env...)
	f, err := pty.StartWithSize(x.cmd, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}) //nolint:gosec // Small sizes.
	if err != nil {
		t.Fatalf("start %s in a terminal: %v", program, err)
	}
	x.pty = f
	go x.read()
	go x.reply()
	go func() {
		x.err = x.cmd.Wait()
		close(x.done)
		x.mu.Lock()
		x.changed.Broadcast()
		x.mu.Unlock()
	}()
	t.Cleanup(x.end)
	return x
}

// read feeds what the program writes to the emulator.
func (x *Terminal) read() {
	buf := make([]byte, 64<<10)
	for {
		n, err := x.pty.Read(buf)
		if n > 0 {
			x.mu.Lock()
			x.raw.Write(buf[:n])
			_, _ = x.emu.Write(buf[:n])
			x.changed.Broadcast()
			x.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// reply sends the emulator's answers to queries (background colour, modes) back, as a
// terminal does.
func (x *Terminal) reply() {
	buf := make([]byte, 4096)
	for {
		n, err := x.emu.Read(buf)
		if n > 0 {
			if _, err := x.pty.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// keys are the names that Press knows; anything else is typed as it is.
var keys = map[string]string{
	"enter": "\r", "esc": "\x1b", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
	"tab": "\t", "backspace": "\x7f", "ctrl+c": "\x03", "pgdown": "\x1b[6~", "pgup": "\x1b[5~", "home": "\x1b[H", "end": "\x1b[F",
}

// Press types keys, by name or as text.
func (x *Terminal) Press(names ...string) {
	x.t.Helper()
	for _, n := range names {
		s, ok := keys[n]
		if !ok {
			s = n
		}
		if _, err := x.pty.WriteString(s); err != nil {
			x.t.Fatalf("press %s: %v\n%s", n, err, x.Screen())
		}
	}
}

// Screen is what is on the screen now, lines without trailing blanks.
func (x *Terminal) Screen() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.screen()
}

func (x *Terminal) screen() string {
	lines := strings.Split(x.emu.String(), "\n")
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

// Written is all that the program has written so far, sequences included.
func (x *Terminal) Written() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.raw.String()
}

// Until waits until ok says yes of the screen, and fails the test after a while.
func (x *Terminal) Until(what string, ok func(screen string) bool) string {
	x.t.Helper()
	late := false
	timer := time.AfterFunc(patience, func() {
		x.mu.Lock()
		late = true
		x.changed.Broadcast()
		x.mu.Unlock()
	})
	defer timer.Stop()
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		s := x.screen()
		if ok(s) {
			return s
		}
		gone := false
		select {
		case <-x.done:
			gone = true
		default:
		}
		if late || gone {
			x.t.Fatalf("%s: not seen (program ended: %v, %v)\n%s", what, gone, x.err, s)
		}
		x.changed.Wait()
	}
}

// WaitFor waits until all the texts are on the screen.
func (x *Terminal) WaitFor(texts ...string) string {
	x.t.Helper()
	return x.Until("waiting for "+strings.Join(texts, " and "), func(s string) bool {
		for _, w := range texts {
			if !strings.Contains(s, w) {
				return false
			}
		}
		return true
	})
}

// WaitWithout waits until a text is not on the screen.
func (x *Terminal) WaitWithout(text string) string {
	x.t.Helper()
	return x.Until("waiting until it is gone: "+text, func(s string) bool { return !strings.Contains(s, text) })
}

// Resize changes the terminal's size.
func (x *Terminal) Resize(width, height int) {
	x.t.Helper()
	x.mu.Lock()
	x.emu.Resize(width, height)
	x.mu.Unlock()
	if err := pty.Setsize(x.pty, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}); err != nil { //nolint:gosec // Small sizes.
		x.t.Fatalf("resize: %v", err)
	}
}

// Kill ends the program at once, as a power cut would, and waits until it is gone.
func (x *Terminal) Kill() {
	x.t.Helper()
	_ = x.cmd.Process.Kill()
	<-x.done
}

// Signal sends a signal.
func (x *Terminal) Signal(s syscall.Signal) { _ = x.cmd.Process.Signal(s) }

// Wait waits for the program's end and returns its exit status.
func (x *Terminal) Wait() int {
	x.t.Helper()
	select {
	case <-x.done:
	case <-time.After(patience):
		x.t.Fatalf("the program did not end\n%s", x.Screen())
	}
	var e *exec.ExitError
	if errors.As(x.err, &e) {
		return e.ExitCode()
	}
	return 0
}

func (x *Terminal) end() {
	select {
	case <-x.done:
	default:
		_ = x.cmd.Process.Kill()
		<-x.done
	}
	_ = x.pty.Close()
	_ = x.emu.Close()
	if x.t.Failed() {
		x.t.Logf("the last screen:\n%s", x.Screen())
	}
}
