//go:build unix

package uitest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Exec starts a process on a pseudo-terminal of that size, as a shell would. It is
// killed when the test is over, if it has not ended by then.
func Exec(t testing.TB, w, h int, cmd *exec.Cmd) *Terminal {
	t.Helper()
	x := newTerminal(t, w, h)
	ours, theirs, err := open()
	if err != nil {
		x.close()
		t.Fatalf("uitest: cannot open a pseudo-terminal: %v", err)
	}
	x.tty, x.before = ours, lineState(ours)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty = true, true
	if err = x.setSize(w, h); err == nil {
		err = cmd.Start()
	}
	_ = theirs.Close() // The process has it now.
	if err != nil {
		x.close()
		_ = ours.Close()
		t.Fatalf("uitest: cannot start %s: %v", cmd.Path, err)
	}
	go func() { _, _ = io.Copy(ours, x.keyboard) }()
	go func() {
		defer close(x.done)
		// Ends with an error when the process has closed its side: that is its end.
		_, _ = io.Copy(writeOnly{x}, ours)
		if err := cmd.Wait(); err != nil {
			x.err = fmt.Errorf("%s: %w", cmd.Path, err)
		}
	}()
	t.Cleanup(func() {
		if !x.Ended() {
			_ = cmd.Process.Kill()
		}
		<-x.done
		x.close()
		_ = ours.Close()
	})
	return x
}

// open opens a pseudo-terminal. Package pty leaves our side in a state in which closing it
// waits for whoever reads from it, so that it would never be closed.
func open() (ours, theirs *os.File, err error) {
	p, theirs, err := pty.Open()
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // A test says what failed.
	}
	defer func() { _ = p.Close() }()
	fd, err := unix.FcntlInt(p.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		_ = theirs.Close()
		return nil, nil, err //nolint:wrapcheck // A test says what failed.
	}
	return os.NewFile(uintptr(fd), p.Name()), theirs, nil //nolint:gosec // A file descriptor is a small number.
}

// HangUp takes the terminal away from the process that [Exec] started, as closing its
// window does.
func (x *Terminal) HangUp() {
	x.t.Helper()
	if err := x.tty.Close(); err != nil {
		x.t.Fatalf("uitest: cannot close the pseudo-terminal: %v", err)
	}
}

// setSize tells the pseudo-terminal its size; whoever runs on it gets a signal.
func (x *Terminal) setSize(w, h int) error {
	raw, err := x.tty.SyscallConn() // Fd would make reading from it block for ever.
	if err != nil {
		return err //nolint:wrapcheck // A test says what failed.
	}
	size := &unix.Winsize{Row: uint16(h), Col: uint16(w)}                                                                      //nolint:gosec // A screen's size.
	if failed := raw.Control(func(fd uintptr) { err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, size) }); failed != nil { //nolint:gosec // A file descriptor is a small number.
		return failed //nolint:wrapcheck // A test says what failed.
	}
	return err //nolint:wrapcheck // A test says what failed.
}

// lineState is how a terminal treats what is typed (echo, line editing), nil if it cannot
// be told.
func lineState(tty *os.File) *term.State {
	raw, err := tty.SyscallConn() // Fd would make reading from it block for ever.
	if err != nil {
		return nil
	}
	var s *term.State
	_ = raw.Control(func(fd uintptr) { s, _ = term.GetState(int(fd)) }) //nolint:gosec // A file descriptor is a small number.
	return s
}

// lineChanged says whether the terminal treats typing differently than before.
func (x *Terminal) lineChanged() bool {
	return x.before != nil && !reflect.DeepEqual(x.before, lineState(x.tty))
}
