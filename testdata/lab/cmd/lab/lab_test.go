package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"vksmedic/testdata/lab/internal/state"
)

// program is the lab as "make lab" built it.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(home(), "bin", "lab")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED: no lab is built (make lab): %v", err)
	}
	return path
}

// daemon is a "lab serve" whose standard input the test holds.
type daemon struct {
	dir   state.Dir
	cmd   *exec.Cmd
	stdin interface{ Close() error }
	out   string // The file with what it prints.
}

// output is what the daemon has printed.
func (d *daemon) output() string {
	content, _ := os.ReadFile(d.out)
	return string(content)
}

func serveLab(t *testing.T, args ...string) *daemon {
	t.Helper()
	path := t.TempDir()
	dir, err := state.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{dir: dir, out: filepath.Join(t.TempDir(), "out")}
	d.cmd = exec.Command(program(t), append([]string{"serve", "--parent-death", "--state", path}, args...)...)
	out := create(t, d.out)
	d.cmd.Stdout, d.cmd.Stderr = out, out
	if d.stdin, err = d.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		_ = d.cmd.Wait()
	})
	return d
}

func create(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// waitFor polls, and shows what the daemon printed when it takes too long.
func (d *daemon) waitFor(t *testing.T, what string, limit time.Duration, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			content, _ := os.ReadFile(d.dir.Path(state.ProgressLog))
			t.Fatalf("waited %s for %s; the lab said:\n%s%s", limit, what, content, d.output())
		}
	}
}

func (d *daemon) ready() bool {
	_, err := d.dir.ReadReady()
	return err == nil
}

// said says whether the progress log has these words.
func (d *daemon) said(words string) func() bool {
	return func() bool {
		content, err := os.ReadFile(d.dir.Path(state.ProgressLog))
		return err == nil && strings.Contains(string(content), words)
	}
}

// family is a process and all its descendants.
func family(t *testing.T, pid int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	children := map[int][]int{}
	for _, path := range stats {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // Gone meanwhile.
		}
		_, rest, _ := strings.Cut(string(content), ") ")
		fields := strings.Fields(rest)
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		parent, _ := strconv.Atoi(fields[1])
		children[parent] = append(children[parent], child)
	}
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// alive also calls a zombie dead: it has ended and only waits to be seen.
func alive(pid int) bool {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(content), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// socket is a listening one. Its inode tells it from one of the next lab that
// gets the same address.
type socket struct {
	inode, address string
}

// listening are all listening TCP sockets of this machine.
func listening(t *testing.T) []socket {
	t.Helper()
	var sockets []socket
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		file, err := os.Open(table)
		if err != nil {
			continue // No IPv6 here.
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			const stateListen = "0A"
			if len(fields) > 9 && fields[3] == stateListen {
				sockets = append(sockets, socket{inode: fields[9], address: decodeAddress(t, fields[1])})
			}
		}
		_ = file.Close()
	}
	return sockets
}

// listeners are the sockets on which the processes listen.
func listeners(t *testing.T, pids []int) []socket {
	t.Helper()
	inodes := map[string]bool{}
	for _, pid := range pids {
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, link := range links {
			if target, err := os.Readlink(link); err == nil {
				inodes[strings.TrimSuffix(strings.TrimPrefix(target, "socket:["), "]")] = true
			}
		}
	}
	return slices.DeleteFunc(listening(t), func(s socket) bool { return !inodes[s.inode] })
}

// decodeAddress reads the kernel's notation: hexadecimal, in the machine's order.
func decodeAddress(t *testing.T, text string) string {
	t.Helper()
	ip, port, _ := strings.Cut(text, ":")
	number, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		t.Fatal(err)
	}
	var address net.IP
	for i := 0; i < len(ip); i += 8 {
		word, err := strconv.ParseUint(ip[i:i+8], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		address = append(address, byte(word), byte(word>>8), byte(word>>16), byte(word>>24))
	}
	return net.JoinHostPort(address.String(), strconv.FormatUint(number, 10))
}

// checkGone checks by process and by port that nothing is left. A killed process
// is a zombie before its last threads, and with them its sockets, are gone, so
// both are given time.
func checkGone(t *testing.T, pids []int, sockets []socket) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for _, pid := range pids {
		for ; alive(pid); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d is still alive", pid)
			}
		}
	}
	for {
		now := listening(t)
		left := slices.DeleteFunc(slices.Clone(sockets), func(s socket) bool { return !slices.Contains(now, s) })
		if len(left) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("somebody still listens on %v", left)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestNothingOutlivesAKilledLab(t *testing.T) {
	d := serveLab(t, "--scenario=team-a/api")
	// In the middle of the staging, with members and API servers of both kinds.
	d.waitFor(t, "the first VM", 3*time.Minute, d.said("is up"))
	pids := family(t, d.cmd.Process.Pid)
	sockets := listeners(t, pids)
	// The Supervisor: etcd, API server, controllers, Cluster API. The workload:
	// etcd, API server, controllers. And the daemon itself.
	if len(pids) != 8 {
		t.Errorf("the lab has %d processes, want 8", len(pids))
	}
	if len(sockets) < 9 { // Two etcds with two each, two API servers, a kubelet, webhooks and health.
		t.Errorf("the lab listens on %v only", sockets)
	}
	for _, each := range sockets {
		if !strings.HasPrefix(each.address, "127.") {
			t.Errorf("the lab listens on %s, which is not loopback", each.address)
		}
	}
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = d.cmd.Wait()
	checkGone(t, pids, sockets)
	if pid, err := d.dir.Running(); err != nil || pid != 0 {
		t.Errorf("Running() = %d, %v after the kill", pid, err)
	}
}

func TestTheLabEndsWithItsParent(t *testing.T) {
	d := serveLab(t, "--scenario=none")
	d.waitFor(t, "the lab", 2*time.Minute, d.ready)
	pids := family(t, d.cmd.Process.Pid)
	sockets := listeners(t, pids)
	if err := d.stdin.Close(); err != nil { // As the kernel does when the parent dies.
		t.Fatal(err)
	}
	if err := d.cmd.Wait(); err != nil {
		t.Errorf("the lab ended with %v; it said:\n%s", err, d.output())
	}
	checkGone(t, pids, sockets)
}

func TestUpAndDown(t *testing.T) {
	lab, dir := program(t), t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(lab, append(args, "--state", dir)...).CombinedOutput()
		if err != nil {
			t.Fatalf("lab %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if out, err := exec.Command(lab, "status", "--state", dir).CombinedOutput(); err == nil {
		t.Errorf("status says nothing wrong of a lab that is not there: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command(lab, "down", "--state", dir).Run() })
	run("up", "--scenario=none")
	folder, err := state.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	ready, err := folder.ReadReady()
	if err != nil {
		t.Fatal(err)
	}
	pids := family(t, ready.PID)
	sockets := listeners(t, pids)
	if len(pids) != 5 || len(sockets) == 0 {
		t.Errorf("the lab has processes %v and listens on %v", pids, sockets)
	}
	if out := run("up", "--scenario=none"); !strings.Contains(out, "already") {
		t.Errorf("the second up says:\n%s", out)
	}
	if again, err := folder.ReadReady(); err != nil || again.PID != ready.PID {
		t.Errorf("the second up made another lab: %+v, %v", again, err)
	}
	for _, user := range []string{"administrator", "devops", "viewer"} {
		if out := run("kubeconfig", "--as="+user); !strings.Contains(out, user+"@vsphere.local") || !strings.Contains(out, ready.Supervisor.Server) {
			t.Errorf("kubeconfig of %s:\n%s", user, out)
		}
	}
	run("down")
	checkGone(t, pids, sockets)
	if out := run("down"); !strings.Contains(out, "No lab is running") {
		t.Errorf("the second down says:\n%s", out)
	}
}

func TestInterruptedUpLeavesNothing(t *testing.T) {
	lab, dir := program(t), t.TempDir()
	folder, err := state.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := &daemon{dir: folder, out: filepath.Join(t.TempDir(), "out")}
	out := create(t, d.out)
	cmd := exec.Command(lab, "up", "--state", dir, "--scenario=team-a/api")
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = exec.Command(lab, "down", "--state", dir).Run() })
	d.waitFor(t, "the Supervisor", time.Minute, d.said("API server is ready"))
	pid, err := folder.Running()
	if err != nil || pid == 0 {
		t.Fatalf("Running() = %d, %v", pid, err)
	}
	pids := family(t, pid)
	sockets := listeners(t, pids)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Errorf("an interrupted up calls it success:\n%s", d.output())
	}
	checkGone(t, pids, sockets)
}

func TestUnknownScenario(t *testing.T) {
	o := serveOptions{scenario: "team-a/nobody"}
	if _, err := o.plans(); err == nil || !strings.Contains(err.Error(), "team-a/nobody") {
		t.Errorf("err = %v", err)
	}
	o.scenario = "team-c/ml,team-a/web"
	plans, err := o.plans()
	if err != nil || len(plans) != 2 || plans[0].Name != "ml" || plans[1].Name != "web" {
		t.Errorf("plans = %v, %v", plans, err)
	}
}
