package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"vksmedic/model"
	"vksmedic/model/signature"
	"vksmedic/probes"
	"vksmedic/probes/capture"
	rows "vksmedic/probes/object"
	"vksmedic/probes/supervisor"
	"vksmedic/testdata/labtest"
	"vksmedic/ui/print"
)

// A capture is judged exactly as what it was taken of: held for every cluster of the lab, for
// every public case, and with names replaced.

// printed is what scan -o json prints of a snapshot.
func printed(t testing.TB, sn *model.Snapshot) string {
	t.Helper()
	var b bytes.Buffer
	if err := print.Print(&b, print.JSON, sn, print.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// written writes a capture and reads it back.
func written(t testing.TB, sn *model.Snapshot, rec *capture.Recorder, o capture.WriteOptions) *model.Snapshot {
	t.Helper()
	var b bytes.Buffer
	if _, err := capture.Write(t.Context(), &b, sn, rec, o); err != nil {
		t.Fatal(err)
	}
	d, err := capture.Read(t.Context(), capture.Stdin, &b)
	if err != nil {
		t.Fatal(err)
	}
	return d.Snapshot(signature.Judge, time.Time{})
}

// same holds a capture to what it was taken of, as it is and redacted.
func same(t *testing.T, sn *model.Snapshot, rec *capture.Recorder) {
	t.Helper()
	want := printed(t, sn)
	got := written(t, sn, rec, capture.WriteOptions{Tool: "test"})
	if s := printed(t, got); s != want {
		t.Errorf("the capture is judged differently:\n%s", difference(want, s))
	}
	if a, b := print.ExitCode(sn), print.ExitCode(got); a != b {
		t.Errorf("scan ends with %d, and with %d of the capture", a, b)
	}
	r := capture.NewRedactor()
	hidden := written(t, sn, rec, capture.WriteOptions{Tool: "test", Redactor: r})
	if s, want := printed(t, hidden), r.String(want); s != want {
		t.Errorf("the redacted capture is judged differently:\n%s", difference(want, s))
	}
}

// difference is the first line that differs.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "want " + w[i] + "\ngot  " + g[i]
		}
	}
	return "one is longer:\n" + want + "\n" + got
}

// lookOnce takes a picture of the lab with its objects.
func lookOnce(t *testing.T, lab *labtest.Lab, user string) (*model.Snapshot, *capture.Recorder) {
	t.Helper()
	conn, err := supervisor.Connect(t.Context(), supervisor.Options{Kubeconfig: lab.Kubeconfig(user)})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := capture.NewRecorder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rec.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	sn, err := probes.Once(ctx, conn, probes.Config{Keep: rec.Keep}, signature.Judge)
	if err != nil {
		t.Fatal(err)
	}
	return sn, rec
}

func TestCaptureOfTheLab(t *testing.T) {
	lab := labtest.Start(t)
	for _, user := range []string{"administrator", "devops", "viewer"} {
		t.Run(user, func(t *testing.T) {
			sn, rec := lookOnce(t, lab, user)
			if user == "administrator" && len(sn.Findings()) == 0 {
				t.Error("nothing is found in the lab: this proves little")
			}
			if user != "administrator" && !strings.Contains(printed(t, sn), `"forbidden"`) {
				t.Error("everything may be read: this proves little")
			}
			same(t, sn, rec)
		})
	}
	t.Run("program", func(t *testing.T) { captureByProgram(t, lab) })
	t.Run("stuck worker", func(t *testing.T) {
		machine := lab.Stage(t, "stuck-worker", "--cluster", "team-a/api", "--agent-namespace", "vmware-system-tmc")
		sn, rec := lookOnce(t, lab, "administrator")
		if c := sn.Cluster(model.ClusterRef{Namespace: "team-a", Name: "api"}); c == nil || len(c.Findings) == 0 {
			t.Errorf("nothing is found in team-a/api although %s hangs", machine)
		}
		same(t, sn, rec)
		lab.Stage(t, "clean", "--cluster", "team-a/api")
	})
}

// In every version that a Supervisor may serve.
func TestCaptureOfEveryVersion(t *testing.T) {
	for served, flags := range map[string][]string{"both": nil, "v1beta2": nil, "v1beta1": {"--no-drain-rules"}} {
		t.Run(served, func(t *testing.T) {
			sn, rec := lookOnce(t, labtest.StartAPIs(t, served, flags...), "administrator")
			if len(sn.Clusters) == 0 {
				t.Error("there is no cluster: this proves little")
			}
			same(t, sn, rec)
		})
	}
}

// captureByProgram runs the program as people do.
func captureByProgram(t *testing.T, lab *labtest.Lab) {
	dir := t.TempDir()
	file := filepath.Join(dir, "one.tar.gz")
	out := program(t, 0, "capture", "--kubeconfig", lab.Kubeconfig("administrator"), "-o", file)
	if !strings.Contains(out, "wrote "+file) || !strings.Contains(out, "4 clusters") {
		t.Errorf("capture says %q", out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	live, again := signatures(t, "--kubeconfig", lab.Kubeconfig("administrator")), signatures(t, "--from", file)
	if !slices.Equal(live, again) || len(live) == 0 {
		t.Errorf("live %v, from the capture %v", live, again)
	}
	if out := program(t, 2, "capture", "--kubeconfig", lab.Kubeconfig("administrator"), "-o", file); !strings.Contains(out, "there already") {
		t.Errorf("over an old file: %q", out)
	}
	only := filepath.Join(dir, "only.tar.gz")
	program(t, 0, "capture", "--kubeconfig", lab.Kubeconfig("administrator"), "-o", only, "--cluster", "team-c/ml", "--redact")
	if got := signatures(t, "--from", only); !slices.Equal(got, []string{"drain-blocked team-c/ml"}) {
		t.Errorf("only team-c/ml: %v", got)
	}
	if out := program(t, 2, "capture", "--kubeconfig", lab.Kubeconfig("administrator"), "-o", filepath.Join(dir, "none.tar.gz"), "--cluster", "nobody"); !strings.Contains(out, "there is no cluster nobody; there are: ") {
		t.Errorf("a cluster that is not there: %q", out)
	}
	if out := program(t, 2, "capture", "--from", file); !strings.Contains(out, "is a dump already") && !strings.Contains(out, "--from") {
		t.Errorf("of a dump: %q", out)
	}
}

// program runs vksmedic and returns all that it says.
func program(t *testing.T, status int, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), labtest.Program(t), args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	code := 0
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if code != status {
		t.Fatalf("vksmedic %v ended with %d, not %d:\n%s", args, code, status, out)
	}
	return string(out)
}

// signatures are what scan finds, each with its cluster.
func signatures(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), labtest.Program(t), append([]string{"scan", "-o", "json"}, args...)...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != print.Flagged) {
		t.Fatalf("scan %v: %v", args, err)
	}
	var list struct {
		Findings []struct {
			Signature string           `json:"signature"`
			Cluster   model.ClusterRef `json:"cluster"`
		} `json:"findings"`
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range list.Findings {
		found = append(found, f.Signature+" "+f.Cluster.String())
	}
	slices.Sort(found)
	return found
}

// livePicture makes of a dump what looking at a live Supervisor with the same objects would show.
func livePicture(t *testing.T, path string) (*model.Snapshot, *capture.Recorder) {
	t.Helper()
	d, err := capture.Read(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	dump := d.Snapshot(signature.Judge, time.Time{})
	rec, err := capture.NewRecorder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = rec.Close() })
	whole := func(in model.Place, ref model.ObjectRef) map[string]any {
		y, err := d.YAML(t.Context(), ref.In(in))
		if err != nil {
			t.Fatal(err)
		}
		var u map[string]any
		if err := yaml.Unmarshal([]byte(y), &u); err != nil {
			t.Fatal(err)
		}
		rec.Keep(in, u)
		return u
	}
	s := model.NewStore(signature.Judge)
	s.SetSupervisor(model.Supervisor{Context: "case", Server: "https://10.9.8.7:6443", User: "sso:ana@corp.test", VKS: "3.6.1", DrainRulesServed: model.Yes})
	for _, o := range d.Objects {
		switch o.(type) {
		case *model.Node, *model.Pod, *model.Budget, *model.VolumeAttachment, *model.Namespace:
		default:
			row, err := rows.Row(whole(model.OnSupervisor("case"), o.GetMeta().Ref()))
			if err != nil {
				t.Fatal(err)
			}
			s.Put(row)
		}
	}
	at := dump.At
	if at.IsZero() {
		at = time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	}
	for _, r := range append(signature.Requires(), "events", "virtualmachineimages", "machinehealthchecks") {
		s.SetSource(model.Source{Name: model.SupervisorSource(r, ""), State: model.SourceOK, Seen: at, Live: true})
	}
	for _, c := range dump.Clusters {
		w := *c.Workload
		for i := range w.Nodes {
			whole(model.InCluster("case", c.Ref), w.Nodes[i].Ref())
		}
		for i := range w.Pods {
			whole(model.InCluster("case", c.Ref), w.Pods[i].Ref())
		}
		for i := range w.Budgets {
			whole(model.InCluster("case", c.Ref), w.Budgets[i].Ref())
		}
		for i := range w.Attachments {
			whole(model.InCluster("case", c.Ref), w.Attachments[i].Ref())
		}
		byName(&w)
		s.SetWorkload(c.Ref, &w)
	}
	return s.Snapshot(at.Add(90 * time.Minute)), rec
}

// byName puts the parts of a cluster in the order in which looking has them.
func byName(w *model.Workload) {
	order := func(a, b *model.Meta) int {
		return strings.Compare(a.Namespace+"/"+a.Name+"/"+a.UID, b.Namespace+"/"+b.Name+"/"+b.UID)
	}
	slices.SortFunc(w.Nodes, func(a, b model.Node) int { return order(&a.Meta, &b.Meta) })
	slices.SortFunc(w.Pods, func(a, b model.Pod) int { return order(&a.Meta, &b.Meta) })
	slices.SortFunc(w.Budgets, func(a, b model.Budget) int { return order(&a.Meta, &b.Meta) })
	slices.SortFunc(w.Attachments, func(a, b model.VolumeAttachment) int { return order(&a.Meta, &b.Meta) })
}

func TestCaptureOfTheCases(t *testing.T) {
	dirs, err := filepath.Glob("testdata/cases/[0-9]*")
	if err != nil || len(dirs) < 40 {
		t.Fatalf("%d cases, %v", len(dirs), err)
	}
	found := 0
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			sn, rec := livePicture(t, dir)
			found += len(sn.Findings())
			same(t, sn, rec)
		})
	}
	if found < len(dirs)/2 {
		t.Errorf("only %d findings in %d cases: this proves little", found, len(dirs))
	}
}
