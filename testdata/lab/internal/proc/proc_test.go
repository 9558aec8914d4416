package proc_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"vksmedic/testdata/lab/internal/proc"
)

// childrenEnv makes the test binary start that many children and wait.
const childrenEnv = "PROC_TEST_CHILDREN"

func TestMain(m *testing.M) {
	if n, err := strconv.Atoi(os.Getenv(childrenEnv)); err == nil {
		parent(n)
		return
	}
	os.Exit(m.Run())
}

// parent starts children, prints their pids, and waits to be killed.
func parent(n int) {
	l := proc.NewLauncher()
	for i := range n {
		p, err := l.Start("child", filepath.Join(os.TempDir(), "child-"+strconv.Itoa(os.Getpid())+"-"+strconv.Itoa(i)), "/bin/sleep", []string{"600"}, nil)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(p.PID)
	}
	fmt.Println("started")
	select {}
}

func TestChildrenDieWithAKilledParent(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childrenEnv+"=5", "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "started"; {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("the parent said %q", lines.Text())
		}
		pids = append(pids, pid)
	}
	if len(pids) != 5 {
		t.Fatalf("got %d children, want 5", len(pids))
	}
	for _, pid := range pids {
		if !alive(pid) {
			t.Fatalf("child %d is not alive before the kill", pid)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, pid := range pids {
		waitGone(t, pid)
	}
}

func TestKillAllAndRunning(t *testing.T) {
	l := proc.NewLauncher()
	for _, name := range []string{"b", "a"} {
		if _, err := l.Start(name, filepath.Join(t.TempDir(), name+".log"), "/bin/sleep", []string{"600"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	running := l.Running()
	if len(running) != 2 || running[0].Name != "a" || running[1].Name != "b" {
		t.Fatalf("Running() = %v, want a and b", running)
	}
	l.KillAll()
	if left := l.Running(); len(left) != 0 {
		t.Errorf("after KillAll: %v", left)
	}
	for _, each := range running {
		if alive(each.PID) {
			t.Errorf("%v is alive after KillAll", each)
		}
	}
}

func TestOutputAndEnvironment(t *testing.T) {
	l := proc.NewLauncher()
	log := filepath.Join(t.TempDir(), "log")
	p, err := l.Start("echo", log, "/bin/sh", []string{"-c", "echo out $LAB_TEST; echo err >&2"}, []string{"LAB_TEST=x"})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if !p.Exited() {
		t.Error("Exited() = false after Done")
	}
	content, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(content); got != "out x\nerr\n" {
		t.Errorf("log = %q", got)
	}
}

func TestStartSaysWhichProgramFailed(t *testing.T) {
	_, err := proc.NewLauncher().Start("team-a/web etcd", filepath.Join(t.TempDir(), "log"), "/nonexistent", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "start team-a/web etcd") {
		t.Errorf("err = %v", err)
	}
}

// alive also calls a zombie dead: it has ended and only waits to be seen.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func waitGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); alive(pid); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d outlived its parent", pid)
		}
	}
}
