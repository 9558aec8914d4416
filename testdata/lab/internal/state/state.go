// Package state is a lab's folder on disk: who holds it, what is in it, and the
// file that tells tests and people how to reach the lab. It starts nothing and
// stops nothing.
//
// Start reading at Dir.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"vksmedic/testdata/lab/internal/proc"
)

// Names of files in the folder.
const (
	// ProgressLog has a line for people for each step of the start.
	ProgressLog = "progress.log"
	// DaemonLog is what the daemon prints.
	DaemonLog = "lab.log"

	marker    = "this-is-a-vksmedic-lab"
	lockFile  = "lock"
	readyFile = "ready.json"
)

// Ready is what ready.json says. It is there exactly while the lab is up and
// everything in it is staged. Paths are absolute.
type Ready struct {
	Supervisor Supervisor `json:"supervisor"`
	// Clusters are the workload clusters, in the order of the scenario.
	Clusters []Cluster `json:"clusters"`
	// PID is the daemon's; everything ends with it.
	PID int `json:"pid"`
	// Processes are its children.
	Processes []proc.Info `json:"processes"`
	// Kubectl is the kubectl that was built with the lab.
	Kubectl string `json:"kubectl"`
}

// Supervisor is how to reach the Supervisor.
type Supervisor struct {
	Server string `json:"server"`
	// Kubeconfigs are by user: administrator, devops, viewer, and lab, which
	// passes every check and is the lab's own.
	Kubeconfigs map[string]string `json:"kubeconfigs"`
	// AuditLog has one audit event of audit.k8s.io/v1 a line, for each request of
	// a person.
	AuditLog string `json:"auditLog"`
}

// Cluster is how to reach a workload cluster.
type Cluster struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Server    string `json:"server"`
	// Kubeconfig is the lab's own; users get theirs from the Cluster's Secret.
	Kubeconfig string `json:"kubeconfig"`
}

// Dir is a lab's folder.
type Dir struct {
	path string
}

// Open returns the folder at path, which need not exist.
func Open(path string) (Dir, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return Dir{}, fmt.Errorf("find the lab's folder: %w", err)
	}
	return Dir{path: absolute}, nil
}

// Path is the path of a file in the folder.
func (d Dir) Path(name string) string { return filepath.Join(d.path, name) }

// Create makes the folder. It refuses a folder that has something else in it,
// because a lab empties its folder when it starts.
func (d Dir) Create() error {
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return fmt.Errorf("make the lab's folder: %w", err)
	}
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return fmt.Errorf("read the lab's folder: %w", err)
	}
	if _, err := os.Stat(d.Path(marker)); len(entries) > 0 && err != nil {
		return fmt.Errorf("folder %s is not empty and no lab's: choose another with --state", d.path)
	}
	if err := os.WriteFile(d.Path(marker), nil, 0o600); err != nil {
		return fmt.Errorf("mark the lab's folder: %w", err)
	}
	return nil
}

// Lock is held by a lab's daemon, as long as it lives.
type Lock struct {
	file *os.File
}

// ErrRunning says that another daemon has the folder.
var ErrRunning = errors.New("a lab is running there already")

// Acquire takes the folder for this process and empties it.
func (d Dir) Acquire() (*Lock, error) {
	if err := d.Create(); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(d.Path(lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lab's lock: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("take %s: %w", d.path, ErrRunning), file.Close())
	}
	if err := d.Clean(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if err := writePID(file, os.Getpid()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Lock{file: file}, nil
}

// writePID says in the lock file who holds it.
func writePID(file *os.File, pid int) error {
	if err := file.Truncate(0); err != nil {
		return fmt.Errorf("write the lab's pid: %w", err)
	}
	if _, err := file.WriteAt([]byte(strconv.Itoa(pid)+"\n"), 0); err != nil {
		return fmt.Errorf("write the lab's pid: %w", err)
	}
	return nil
}

// Release gives the folder back.
func (l *Lock) Release() error {
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("release the lab's lock: %w", err)
	}
	return nil
}

// Clean removes what a lab leaves in its folder, except the daemon's log.
func (d Dir) Clean() error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return fmt.Errorf("read the lab's folder: %w", err)
	}
	for _, entry := range entries {
		switch entry.Name() {
		case marker, lockFile, DaemonLog:
			continue
		}
		if err := os.RemoveAll(d.Path(entry.Name())); err != nil {
			return fmt.Errorf("empty the lab's folder: %w", err)
		}
	}
	return nil
}

// Running returns the pid of the daemon that holds the folder, or 0.
func (d Dir) Running() (int, error) {
	file, err := os.Open(d.Path(lockFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look at the lab's lock: %w", err)
	}
	defer func() { _ = file.Close() }()
	if syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
		return 0, nil // Nobody holds it; closing the file gives it back.
	}
	// A daemon that has just taken the lock is about to write its pid.
	for range 100 {
		content, err := os.ReadFile(d.Path(lockFile))
		if err != nil {
			return 0, fmt.Errorf("read the lab's pid: %w", err)
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(content))); err == nil {
			return pid, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return 0, fmt.Errorf("read the lab's pid: none in %s", d.Path(lockFile))
}

// WriteReady writes ready.json, the sign that everything is staged.
func (d Dir) WriteReady(r Ready) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", readyFile, err)
	}
	next := d.Path(readyFile + ".new")
	if err := os.WriteFile(next, append(content, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", readyFile, err)
	}
	if err := os.Rename(next, d.Path(readyFile)); err != nil {
		return fmt.Errorf("write %s: %w", readyFile, err)
	}
	return nil
}

// ErrNotReady says that no lab is up in the folder, or one that is still being
// staged.
var ErrNotReady = errors.New("no lab is ready there; start one with lab up")

// ReadReady reads ready.json of a running lab.
func (d Dir) ReadReady() (Ready, error) {
	pid, err := d.Running()
	if err != nil {
		return Ready{}, err
	}
	content, err := os.ReadFile(d.Path(readyFile))
	if pid == 0 || errors.Is(err, fs.ErrNotExist) {
		return Ready{}, fmt.Errorf("read %s: %w", d.Path(readyFile), ErrNotReady)
	}
	if err != nil {
		return Ready{}, fmt.Errorf("read %s: %w", readyFile, err)
	}
	var r Ready
	if err := json.Unmarshal(content, &r); err != nil {
		return Ready{}, fmt.Errorf("read %s: %w", readyFile, err)
	}
	return r, nil
}
