// Package proc starts the lab's child processes so that none of them can outlive
// the lab, however it ends: they are killed by the kernel when it dies, also by
// SIGKILL. It never starts a shell and never touches a process that it did not
// start.
//
// Start reading at Launcher.
package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"sync"
	"syscall"
)

// Launcher starts child processes and knows which are alive.
//
// Linux ties the "parent has died" signal to the thread that forked, not to the
// process. One goroutine that stays locked to its thread starts all children, so that
// the signal comes when the whole lab ends and not when the Go runtime ends a thread.
type Launcher struct {
	requests chan request

	mu       sync.Mutex
	children map[int]*Process
}

type request struct {
	cmd  *exec.Cmd
	done chan error
}

// Process is a child process of the lab.
type Process struct {
	// Name is what the lab calls it, for example "team-a/web etcd web-7k2xp".
	Name string
	// PID is its process id.
	PID int

	cmd  *exec.Cmd
	done chan struct{}
}

// Info says which process is which, for the file that tells tests about the lab.
type Info struct {
	Name string `json:"name"`
	PID  int    `json:"pid"`
}

// NewLauncher returns a Launcher. Its goroutine and thread last as long as the
// program.
func NewLauncher() *Launcher {
	l := &Launcher{requests: make(chan request), children: map[int]*Process{}}
	go func() {
		runtime.LockOSThread()
		for r := range l.requests {
			r.done <- r.cmd.Start()
		}
	}()
	return l
}

// Start runs the program at path with args; what it prints is appended to
// logFile. The environment is the lab's own and env.
func (l *Launcher) Start(name, logFile, path string, args, env []string) (*Process, error) {
	log, err := os.OpenFile(filepath.Clean(logFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", name, err)
	}
	cmd := exec.CommandContext(context.Background(), path, args...) //nolint:gosec // The lab's own programs.
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	r := request{cmd: cmd, done: make(chan error)}
	l.requests <- r
	if err := <-r.done; err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), log.Close())
	}
	p := &Process{Name: name, PID: cmd.Process.Pid, cmd: cmd, done: make(chan struct{})}
	l.mu.Lock()
	l.children[p.PID] = p
	l.mu.Unlock()
	go func() {
		_ = cmd.Wait() // The exit status of a killed child says nothing.
		_ = log.Close()
		l.mu.Lock()
		delete(l.children, p.PID)
		l.mu.Unlock()
		close(p.done)
	}()
	return p, nil
}

// Running lists the children that are alive, by name.
func (l *Launcher) Running() []Info {
	l.mu.Lock()
	defer l.mu.Unlock()
	infos := make([]Info, 0, len(l.children))
	for _, p := range l.children {
		infos = append(infos, Info{Name: p.Name, PID: p.PID})
	}
	sort.Slice(infos, func(i, j int) bool { return infos[i].Name < infos[j].Name })
	return infos
}

// KillAll ends all children at once and returns when they are gone. Nothing in the lab
// is kept, so they are killed without time to clean up.
func (l *Launcher) KillAll() {
	l.mu.Lock()
	children := make([]*Process, 0, len(l.children))
	for _, p := range l.children {
		children = append(children, p)
	}
	l.mu.Unlock()
	for _, p := range children {
		_ = p.cmd.Process.Kill()
	}
	for _, p := range children {
		<-p.done
	}
}

// Kill ends the process and returns when it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // Fails only when it has ended by itself.
	<-p.done
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exited reports whether the process has ended.
func (p *Process) Exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
