// Package labtest gives tests the lab (testdata/lab: a real Supervisor with real
// Cluster API controllers, on loopback) and the real program in a real terminal.
// Where the lab is not built, tests that need it are skipped aloud, but with
// CI=true a missing lab fails them.
//
// Start reading at Start (the whole lab), StartAPIs (a Supervisor's API alone, quick)
// and StartTerminal.
package labtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Lab is a running lab.
type Lab struct {
	// State is its folder.
	State      string
	Supervisor struct {
		Server string `json:"server"`
		// Kubeconfigs are files, by user: administrator, devops (edit in team-b only), viewer
		// (neither Secrets nor Leases), and lab, which passes every check.
		Kubeconfigs map[string]string `json:"kubeconfigs"`
		// AuditLog has an audit.k8s.io/v1 event a line for each request of a person.
		AuditLog string `json:"auditLog"`
	} `json:"supervisor"`
	Clusters []struct {
		Namespace  string `json:"namespace"`
		Name       string `json:"name"`
		Server     string `json:"server"`
		Kubeconfig string `json:"kubeconfig"`
	} `json:"clusters"`

	program string
}

// shared is the lab of this test binary where none was started outside.
var shared struct {
	once sync.Once
	lab  *Lab
	err  error
	stop func()
}

// Start returns the lab with all its clusters: the one that $VKSMEDIC_LAB_STATE names
// (make test starts it once for all packages), else one of this test binary's own,
// which Stop ends.
func Start(t testing.TB) *Lab {
	t.Helper()
	program := labProgram(t)
	if state := os.Getenv("VKSMEDIC_LAB_STATE"); state != "" {
		l, err := read(program, state)
		if err != nil {
			t.Fatalf("the lab of VKSMEDIC_LAB_STATE: %v", err)
		}
		return l
	}
	shared.once.Do(func() {
		t.Log("starting a lab; it takes about two minutes")
		shared.lab, shared.stop, shared.err = serve(program)
	})
	if shared.err != nil {
		t.Fatalf("start the lab: %v", shared.err)
	}
	return shared.lab
}

// Stop ends the lab that Start started, if it did. Call it at the end of TestMain.
func Stop() {
	if shared.stop != nil {
		shared.stop()
	}
}

// StartAPIs starts a Supervisor's API server alone, with the CRDs and webhooks of Cluster
// API and a few objects, but no controllers; it is ended with the test. flags are those
// of lab serve: "--served", "v1beta1", or "--no-drain-rules".
func StartAPIs(t testing.TB, flags ...string) *Lab {
	t.Helper()
	l, stop, err := serve(labProgram(t), append([]string{"--only-apis"}, flags...)...)
	if err != nil {
		t.Fatalf("start a Supervisor's API: %v", err)
	}
	t.Cleanup(stop)
	return l
}

// labProgram finds the lab's program, or skips.
func labProgram(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("VKSMEDIC_LAB_DIR")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatalf("find the lab: %v", err)
		}
		dir = filepath.Join(cache, "vksmedic", "lab")
	}
	p := filepath.Join(dir, "bin", "lab")
	_, err := os.Stat(p)
	if err == nil && runtime.GOOS == "linux" {
		return p
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("the lab is missing (%s): run make lab", p)
	}
	t.Skipf("SKIPPED: needs the lab, which is not built (make lab; Linux only)")
	return ""
}

// serve starts a lab that ends with this process, however that ends: its standard input
// is a pipe whose other end is here.
func serve(program string, flags ...string) (l *Lab, stop func(), err error) {
	state, err := os.MkdirTemp("", "vksmedic-lab-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for the lab: %w", err)
	}
	cmd := exec.Command(program, append([]string{"serve", "--state", state, "--parent-death"}, flags...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, fmt.Errorf("start the lab: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("start the lab: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	stop = func() {
		_ = in.Close()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			<-ended
		}
		_ = os.RemoveAll(state)
	}
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	late := time.NewTimer(8 * time.Minute)
	defer late.Stop()
	for {
		select {
		case e := <-ended:
			ended <- e
			stop()
			return nil, nil, fmt.Errorf("the lab ended: %w\n%s", e, out.Bytes())
		case <-late.C:
			stop()
			return nil, nil, fmt.Errorf("the lab did not become ready\n%s", out.Bytes())
		case <-look.C:
			if l, err := read(program, state); err == nil {
				return l, stop, nil
			}
		}
	}
}

func read(program, state string) (*Lab, error) {
	b, err := os.ReadFile(filepath.Join(state, "ready.json"))
	if err != nil {
		return nil, err
	}
	l := &Lab{State: state, program: program}
	if err := json.Unmarshal(b, l); err != nil {
		return nil, fmt.Errorf("read ready.json: %w", err)
	}
	return l, nil
}

// Run runs a command of the lab, such as "stage", "stuck-worker", "--cluster",
// "team-a/api", and returns what it printed.
func (l *Lab) Run(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command(l.program, append(args, "--state", l.State)...)
	out, err := cmd.Output()
	if err != nil {
		var e *exec.ExitError
		if errors.As(err, &e) {
			t.Fatalf("lab %v: %v\n%s%s", args, err, out, e.Stderr)
		}
		t.Fatalf("lab %v: %v", args, err)
	}
	return string(out)
}

// Kubeconfig is the path of a user's kubeconfig.
func (l *Lab) Kubeconfig(t testing.TB, user string) string {
	t.Helper()
	p := l.Supervisor.Kubeconfigs[user]
	if p == "" {
		t.Fatalf("the lab has no user %s", user)
	}
	return p
}

// Config is the client configuration of a user.
func (l *Lab) Config(t testing.TB, user string) *rest.Config {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig(t, user))
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

// AuditSize is how long the audit log is now; AuditSince reads from there.
func (l *Lab) AuditSize(t testing.TB) int64 {
	t.Helper()
	s, err := os.Stat(l.Supervisor.AuditLog)
	if err != nil {
		t.Fatalf("audit log: %v", err)
	}
	return s.Size()
}

// AuditEvent is what matters of an audit event.
type AuditEvent struct {
	Stage string `json:"stage"`
	Verb  string `json:"verb"`
	URI   string `json:"requestURI"`
	User  struct {
		Username string `json:"username"`
	} `json:"user"`
	Object struct {
		Resource  string `json:"resource"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"objectRef"`
	Response struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
}

// AuditSince are the requests since AuditSize was from, those that have been answered.
func (l *Lab) AuditSince(t testing.TB, from int64) []AuditEvent {
	t.Helper()
	f, err := os.Open(l.Supervisor.AuditLog)
	if err != nil {
		t.Fatalf("audit log: %v", err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		t.Fatalf("audit log: %v", err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatalf("audit log: %v", err)
	}
	var out []AuditEvent
	for line := range bytes.Lines(b) {
		var e AuditEvent
		if err := json.Unmarshal(line, &e); err != nil {
			continue // the last line may still be being written.
		}
		if e.Stage == "ResponseComplete" || e.Verb == "watch" {
			out = append(out, e)
		}
	}
	return out
}
