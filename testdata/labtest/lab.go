// Package labtest gives tests a lab (the real API servers and controllers that
// testdata/lab builds) and the real program in a real terminal. A test binary starts each
// kind of lab at most once; the lab ends with the binary, however that ends. Where the
// programs are not built, tests are skipped with a message, or fail in CI.
//
// Start reading at [Start], [StartAPIs] and [StartTerminal]; a package that uses them calls
// [Main] from its TestMain.
package labtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// starting is how long a lab may take to be ready on a busy machine.
const starting = 6 * time.Minute

// Lab is a running lab.
type Lab struct {
	// Dir holds its state.
	Dir        string
	Supervisor struct {
		Server      string            `json:"server"`
		Kubeconfigs map[string]string `json:"kubeconfigs"` // by user: administrator, devops, viewer, lab.
		AuditLog    string            `json:"auditLog"`
	} `json:"supervisor"`
	Clusters []Cluster `json:"clusters"`

	bin  string
	stop func()
}

// Cluster is a workload cluster of the lab.
type Cluster struct {
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	Server     string `json:"server"`
	Kubeconfig string `json:"kubeconfig"`
}

// Kubeconfig is the file with which a user reaches the Supervisor.
func (l *Lab) Kubeconfig(user string) string { return l.Supervisor.Kubeconfigs[user] }

// Config is the client configuration of a user, at a pace fit for tests.
func (l *Lab) Config(t testing.TB, user string) *rest.Config {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig(user))
	if err != nil {
		t.Fatalf("kubeconfig of %s: %v", user, err)
	}
	cfg.QPS, cfg.Burst = 100, 200
	return cfg
}

// Dynamic is a client with a user's rights.
func (l *Lab) Dynamic(t testing.TB, user string) dynamic.Interface {
	t.Helper()
	c, err := dynamic.NewForConfig(l.Config(t, user))
	if err != nil {
		t.Fatalf("client of %s: %v", user, err)
	}
	return c
}

// Start runs a lab with the given clusters, such as team-c/ml; without any, all of them.
// A lab that runs already, with all of its clusters, is used instead where
// VKSMEDIC_LAB_STATE names its state: that saves a minute while tests are written.
func Start(t testing.TB, clusters ...string) *Lab {
	t.Helper()
	if l := shared(t); l != nil {
		return l
	}
	var flags []string
	if len(clusters) > 0 {
		flags = []string{"--scenario", strings.Join(clusters, ",")}
	}
	return start(t, flags...)
}

// StartAPIs runs a Supervisor's API alone, without controllers, that serves Cluster API in
// v1beta1, v1beta2 or both. Further flags are the lab's own, such as --no-drain-rules.
func StartAPIs(t testing.TB, served string, flags ...string) *Lab {
	t.Helper()
	return start(t, append([]string{"--only-apis", "--served", served}, flags...)...)
}

// Stage runs a staging command of the lab, such as stage stuck-worker --cluster team-a/api.
func (l *Lab) Stage(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), l.bin, append(append([]string{"stage"}, args...), "--state", l.Dir)...) //nolint:gosec // the lab's own program.
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the lab could not stage %v: %v: %s", args, err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

// labs are those of this test binary, by their flags.
var labs = struct {
	sync.Mutex
	running map[string]*Lab
}{running: map[string]*Lab{}}

// Main runs the tests of a package, ends the labs that they started and removes the
// program that they built.
func Main(m *testing.M) int {
	defer removeProgram()
	defer func() {
		labs.Lock()
		defer labs.Unlock()
		for _, l := range labs.running {
			l.stop()
		}
	}()
	return m.Run()
}

func shared(t testing.TB) *Lab {
	dir := os.Getenv("VKSMEDIC_LAB_STATE")
	if dir == "" {
		return nil
	}
	b, err := os.ReadFile(filepath.Join(dir, "ready.json")) //nolint:gosec // the lab's own file.
	if err != nil {
		t.Fatalf("VKSMEDIC_LAB_STATE names no running lab: %v", err)
	}
	l := &Lab{Dir: dir, bin: labProgram(t)}
	if err := json.Unmarshal(b, l); err != nil {
		t.Fatal(err)
	}
	return l
}

func start(t testing.TB, flags ...string) *Lab {
	t.Helper()
	labs.Lock()
	defer labs.Unlock()
	key := strings.Join(flags, " ")
	if l := labs.running[key]; l != nil {
		return l
	}
	bin := labProgram(t)
	dir, err := os.MkdirTemp("", "vksmedic-test-lab-")
	if err != nil {
		t.Fatal(err)
	}
	l, err := serve(bin, filepath.Join(dir, "lab"), flags)
	if err != nil {
		_ = os.RemoveAll(dir)
		t.Fatalf("the lab does not start: %v", err)
	}
	end := l.stop
	l.stop = func() {
		end()
		_ = os.RemoveAll(dir)
	}
	labs.running[key] = l
	return l
}

// labProgram is the lab's own program; without it the test is skipped, or fails in CI.
func labProgram(t testing.TB) string {
	t.Helper()
	home := os.Getenv("VKSMEDIC_LAB_DIR")
	if home == "" {
		// The same place as in the Makefile.
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		home = filepath.Join(cache, "vksmedic", "lab")
	}
	bin := filepath.Join(home, "bin", "lab")
	if _, err := os.Stat(bin); err != nil { //nolint:gosec // where the Makefile puts the lab.
		if os.Getenv("CI") == "true" {
			t.Fatalf("the lab is not built: %v; run make lab", err)
		}
		t.Skipf("SKIPPED: the lab is not built (%v); run make lab", err)
	}
	return bin
}

// serve starts a lab that ends when this process does, and waits until it is ready.
func serve(bin, dir string, flags []string) (*Lab, error) {
	var said bytes.Buffer
	cmd := exec.Command(bin, append([]string{"serve", "--state", dir, "--parent-death"}, flags...)...) //nolint:gosec,noctx // the lab's own program; it outlives the test that starts it.
	cmd.Stdout, cmd.Stderr = &said, &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("cannot hold its standard input: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", bin, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	l := &Lab{Dir: dir, bin: bin, stop: func() {
		_ = in.Close()
		<-ended
	}}
	ready := filepath.Join(dir, "ready.json")
	for deadline := time.Now().Add(starting); ; {
		if b, err := os.ReadFile(ready); err == nil && json.Unmarshal(b, l) == nil { //nolint:gosec // the lab's own file.
			return l, nil
		}
		select {
		case <-ended:
			return nil, fmt.Errorf("it ended: %s", said.String())
		case <-time.After(100 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			l.stop()
			return nil, fmt.Errorf("it is not ready after %v: %s", starting, said.String())
		}
	}
}
