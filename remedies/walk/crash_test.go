package walk

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vksmedic/probes/supervisor"
	"vksmedic/remedies"
	"vksmedic/remedies/action"
	"vksmedic/remedies/effect"
)

// The crash test runs a whole walk in a process of its own that kills itself at the n-th
// moment that counts: before and after each line of the journal and each request that
// writes, and before each request that reads. Then another process picks the walk up and brings it to its end.

const (
	crashChildEnv = "VKSMEDIC_TEST_CRASH" // n kubeconfig namespace journal
	crashDone     = 42                    // the exit status of a child that got to the end.
)

// moments counts, and ends the process at the n-th.
type moments struct {
	at   int64
	seen atomic.Int64
}

func (m *moments) pass() {
	if m.seen.Add(1) == m.at {
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill() // SIGKILL.
		}
		select {} // until it arrives.
	}
}

type crashDisk struct {
	realDisk
	m *moments
}

func (d crashDisk) open(path string, create bool) (diskFile, error) {
	f, err := realDisk{}.open(path, create)
	if create {
		d.m.pass()
	}
	return crashFile{f, d.m}, err
}

type crashFile struct {
	diskFile
	m *moments
}

// Fd is for the lock.
func (f crashFile) Fd() uintptr {
	x, _ := f.diskFile.(interface{ Fd() uintptr })
	return x.Fd()
}

func (f crashFile) Write(b []byte) (int, error) {
	f.m.pass()
	half := len(b) / 2
	n, err := f.diskFile.Write(b[:half])
	if err != nil {
		return n, err //nolint:wrapcheck // a test.
	}
	f.m.pass() // half a line.
	n2, err := f.diskFile.Write(b[half:])
	f.m.pass()
	return n + n2, err //nolint:wrapcheck // a test.
}

func crashChild() int {
	arg := strings.Fields(os.Getenv(crashChildEnv))
	n, err := strconv.ParseInt(arg[0], 10, 64)
	if err != nil {
		return 1
	}
	if err := crashWalk(&moments{at: n}, arg[1], arg[2], arg[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return crashDone
}

func crashWalk(m *moments, kubeconfig, namespace, dir string) error {
	ctx := context.Background()
	c, err := supervisor.Connect(ctx, supervisor.Options{Kubeconfig: kubeconfig})
	if err != nil {
		return err //nolint:wrapcheck // a test.
	}
	h, err := hook(c, func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
		m.pass()
		if r.Method == http.MethodGet || dryRun(r) { // such as the looks of a verification.
			return next.RoundTrip(r) //nolint:wrapcheck // a test.
		}
		res, err := next.RoundTrip(r)
		m.pass()
		return res, err //nolint:wrapcheck // a test.
	})
	if err != nil {
		return err
	}
	articles, err := action.Articles("")
	if err != nil {
		return err //nolint:wrapcheck // a test.
	}
	r := NewRunner(Config{Sites: &remedies.Sites{Supervisor: h}, Articles: articles, Registry: action.Registry(), Actions: action.All(), Guards: action.Guards(),
		JournalDir: dir, Who: "ana", Host: "laptop"})
	r.disk = crashDisk{m: m}
	f := findingIn(namespace)
	w, err := r.Begin(ctx, f, f.Signature)
	if err != nil {
		return err
	}
	return toTheEnd(ctx, w)
}

// toTheEnd walks on from wherever the walk stands: applies the rule, waits a moment, takes
// it back.
func toTheEnd(ctx context.Context, w *Walk) error {
	for range 20 {
		v := w.View()
		if v.Finished {
			return nil
		}
		st := v.Steps[v.Current]
		if st.ID == "wait" {
			if err := w.Enter(ctx); err != nil {
				return err
			}
			if err := w.Undo(ctx); err != nil {
				return err
			}
			continue
		}
		if err := w.Enter(ctx); err != nil {
			return err
		}
		if v := w.View(); st.Kind == remedies.StepChange && v.Preview != nil && v.Preview.Done == "" && !over(v.Steps[v.Current].State) {
			if err := w.Apply(ctx, v.Preview.Token, ""); err != nil {
				return err
			}
		}
		if err := w.Next(ctx); err != nil {
			return err
		}
	}
	return errors.New("the walk does not end")
}

func testKilledAtEveryMoment(t *testing.T, l *testLab) {
	self, err := os.Executable()
	must(t, err)
	points := 0
	for n := 1; ; n++ {
		ns := fmt.Sprintf("crash-%d", n)
		l.stage(t, ns)
		dir := filepath.Join(t.TempDir(), "journal")
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s %s %s", crashChildEnv, n, l.Kubeconfig("administrator"), ns, dir))
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || (exit.ExitCode() != -1 && exit.ExitCode() != crashDone) {
			t.Fatalf("moment %d: %v\n%s", n, err, out)
		}
		t.Run(fmt.Sprintf("moment %d", n), func(t *testing.T) { l.afterCrash(t, ns, dir) })
		if exit.ExitCode() == crashDone {
			break
		}
		points++
	}
	const fewest = 20 // a walk has more moments than this; else nothing was tested.
	if points < fewest {
		t.Errorf("only %d moments", points)
	}
	fmt.Printf("points: %d, double writes: %d, lost undos: %d\n", points, l.doubleWrites, l.lostUndos)
}

// afterCrash picks the walk up and brings it to its end.
func (l *testLab) afterCrash(t *testing.T, ns, dir string) {
	var later atomic.Int64
	start := time.Now()
	e := l.engineer(t, "administrator", func(c *Config) {
		c.JournalDir = dir
		c.Elapsed = func() time.Duration { return time.Since(start) + time.Duration(later.Load()) }
	})
	rules := len(l.rules(t, ns))
	pending, err := e.runner.Pending(t.Context())
	must(t, err)
	if len(pending) == 0 {
		if rules != 0 {
			l.lostUndos++
			t.Fatal("there is a rule and no walk that knows of it")
		}
		return
	}
	if pending[0].Refused != "" || len(pending) != 1 {
		t.Fatalf("pending: %+v", pending)
	}
	w, err := e.runner.Resume(t.Context(), pending[0].ID)
	must(t, err)
	v := w.View()
	if v.Resumed == "" {
		t.Error("it does not say that it was picked up")
	}
	known := (v.Steps[2].State == remedies.StateDone || v.Steps[2].State == remedies.StateUnchecked) && v.Steps[2].Undoable
	if known != (rules == 1) {
		t.Errorf("%d rules, and the walk says %+v (%s)", rules, v.Steps[2], v.Resumed)
	}
	if slices.ContainsFunc(v.Steps, func(s remedies.StepView) bool { return s.State == remedies.StateUnsure }) { // what was on its way can still come.
		later.Store(int64(effect.UnderWay + time.Second))
	}
	must(t, toTheEnd(t.Context(), w))
	if n := len(l.rules(t, ns)); n != 0 {
		l.lostUndos++
		t.Errorf("%d rules at the end", n)
	}
	if n := len(l.leases(t, ns)); n != 0 {
		t.Errorf("%d leases at the end", n)
	}
	done := map[string]int{}
	for _, x := range l.written(t, "administrator@vsphere.local", ns) {
		if x.ObjectRef.Resource == "machinedrainrules" && x.ResponseStatus.Code < 300 {
			done[x.Verb]++
		}
	}
	// Of deletions the log does not tell which were dry runs; a second one would not find the rule.
	if done["create"] > 1 || done["update"] > 0 {
		l.doubleWrites++
		t.Errorf("applied twice: %v", done)
	}
	if p, err := e.runner.Pending(t.Context()); err != nil || len(p) != 0 {
		t.Errorf("still pending: %v %v", p, err)
	}
}
