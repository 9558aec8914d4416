package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"vksmedic/testdata/lab/internal/state"
)

// up starts "lab serve" in a session of its own and follows it until all is
// staged.
func up(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags("up", stderr)
	var options serveOptions
	options.add(flags)
	if err := flags.Parse(args); err != nil {
		return err //nolint:wrapcheck // The flag package has said it.
	}
	folder, err := state.Open(*dir)
	if err != nil {
		return err
	}
	pid, err := folder.Running()
	if err != nil {
		return err
	}
	gone := make(chan error, 1)
	if pid == 0 {
		daemon, err := startDaemon(folder, append([]string{"serve", "--state=" + *dir}, options.args()...))
		if err != nil {
			return err
		}
		pid = daemon.Process.Pid
		go func() { gone <- daemon.Wait() }()
	} else {
		say(stdout, "A lab is running already (process %d).", pid)
	}
	if err := follow(ctx, folder, gone, stdout); err != nil {
		if ctx.Err() != nil {
			say(stdout, "Interrupted; ending the lab.")
			return errors.Join(errInterrupted, end(folder, pid))
		}
		return err
	}
	return describe(folder, stdout)
}

var errInterrupted = errors.New("interrupted")

func startDaemon(folder state.Dir, args []string) (*exec.Cmd, error) {
	if err := folder.Create(); err != nil {
		return nil, err
	}
	log, err := os.Create(folder.Path(state.DaemonLog))
	if err != nil {
		return nil, fmt.Errorf("open the daemon's log: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("find the lab's program: %w", err), log.Close())
	}
	// The daemon goes on when this command ends.
	daemon := exec.CommandContext(context.Background(), self, args...) //nolint:gosec // The lab's own program.
	daemon.Stdout, daemon.Stderr = log, log
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C at this command does not reach it.
	if err := daemon.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the daemon: %w", err), log.Close())
	}
	return daemon, log.Close() //nolint:wrapcheck // The child has its own copy.
}

// follow prints the daemon's progress until it is ready or gone.
func follow(ctx context.Context, folder state.Dir, gone <-chan error, stdout io.Writer) error {
	printed := 0
	printNew := func() {
		content, err := os.ReadFile(folder.Path(state.ProgressLog))
		if err != nil || len(content) < printed {
			return // Not there yet.
		}
		whole := bytes.LastIndexByte(content, '\n') + 1
		if whole > printed {
			_, _ = stdout.Write(content[printed:whole])
			printed = whole
		}
	}
	for {
		printNew()
		_, err := folder.ReadReady()
		if err == nil {
			printNew()
			return nil
		}
		if !errors.Is(err, state.ErrNotReady) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the lab: %w", ctx.Err())
		case err := <-gone:
			printNew()
			content, _ := os.ReadFile(folder.Path(state.DaemonLog))
			return errors.Join(fmt.Errorf("the lab did not start, see the logs in %s:\n%s", folder.Path(""), lastLines(content, 5)), err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func lastLines(content []byte, n int) []byte {
	lines := bytes.Split(bytes.TrimSpace(content), []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-n):], []byte("\n"))
}

// down ends the lab.
func down(_ context.Context, args []string, stdout, stderr io.Writer) error {
	flags, dir := newFlags("down", stderr)
	if err := flags.Parse(args); err != nil {
		return err //nolint:wrapcheck // The flag package has said it.
	}
	folder, err := state.Open(*dir)
	if err != nil {
		return err
	}
	pid, err := folder.Running()
	if err != nil {
		return err
	}
	if pid == 0 {
		say(stdout, "No lab is running.")
		return nil
	}
	start := time.Now()
	if err := end(folder, pid); err != nil {
		return err
	}
	say(stdout, "The lab has ended (%.1f s).", time.Since(start).Seconds())
	return nil
}

// end asks the daemon to end, and kills it when it does not. Its children end with it
// either way.
func end(folder state.Dir, pid int) error {
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("end process %d: %w", pid, err)
	}
	polite := time.Now().Add(20 * time.Second)
	for last := polite.Add(10 * time.Second); time.Now().Before(last); time.Sleep(50 * time.Millisecond) {
		running, err := folder.Running()
		if err != nil {
			return err
		}
		if running == 0 {
			return nil
		}
		if time.Now().After(polite) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // Gone meanwhile, or looked at again.
		}
	}
	return fmt.Errorf("process %d does not end", pid)
}
