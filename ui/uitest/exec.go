//go:build unix

package uitest

import (
	"fmt"
	"io"
	"os/exec"
	"testing"

	"github.com/creack/pty"
)

// Exec starts a process on a pseudo-terminal of that size, as a shell would. It is
// killed when the test is over, if it has not ended by then.
func Exec(t testing.TB, w, h int, cmd *exec.Cmd) *Terminal {
	t.Helper()
	x := newTerminal(t, w, h)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)}) //nolint:gosec // A screen's size.
	if err != nil {
		x.close()
		t.Fatalf("uitest: cannot start %s: %v", cmd.Path, err)
	}
	go func() { _, _ = io.Copy(tty, x.keyboard) }()
	go func() {
		defer close(x.done)
		// Ends with an error when the process has closed its side: that is its end.
		_, _ = io.Copy(writeOnly{x}, tty)
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
		_ = tty.Close()
	})
	return x
}
