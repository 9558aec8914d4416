package walk

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/model"
	"vksmedic/probes/supervisor"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
)

func testWalkFromFindingToTheEnd(t *testing.T, l *testLab) {
	f := l.stage(t, "walk")
	e := l.engineer(t, "administrator")
	w := e.begin(f)
	if v := w.View(); v.Target != "old-x7k2p" || v.KB != "410900" || len(v.Steps) != 6 || v.Steps[0].State != remedies.StateCurrent {
		t.Fatalf("the walk begins oddly: %+v", v)
	}
	if err := w.Next(t.Context()); !errors.Is(err, remedies.ErrNotYet) {
		t.Errorf("next before the look: %v", err)
	}
	p := toRule(t, w, reachNamespace)
	if p.May != model.Yes || p.Blocked != "" || p.Server != "accepted (dry run)" || p.Confirm != remedies.ConfirmKey || p.TakeBack != "delete the rule" {
		t.Errorf("the preview: %+v", p)
	}
	if !strings.Contains(p.Command, "create -n walk -f - <<'EOF'") || !strings.Contains(p.YAML, "kube-cert-agent.pinniped.dev: v3") {
		t.Errorf("command or YAML: %s\n%s", p.Command, p.YAML)
	}
	if err := w.Apply(t.Context(), "another token", ""); !errors.Is(err, remedies.ErrToken) {
		t.Errorf("another token: %v", err)
	}
	if err := w.Apply(t.Context(), "", ""); !errors.Is(err, remedies.ErrToken) {
		t.Errorf("no token: %v", err)
	}
	if n := len(l.written(t, "administrator@vsphere.local", "walk")); n != 0 || len(l.leases(t, "walk")) != 0 {
		t.Errorf("%d writes before anything was confirmed", n)
	}
	must(t, w.Apply(t.Context(), p.Token, ""))
	if got := l.written(t, "administrator@vsphere.local", "walk"); len(got) != 2 || got[0].ObjectRef.Resource != "leases" || got[1].ObjectRef.Resource != "machinedrainrules" {
		t.Errorf("the API server saw %+v", got) // the audit log does tell, so that its silence elsewhere means something.
	}
	rules := l.rules(t, "walk")
	if len(rules) != 1 || rules[0].GetName() != "vks-pod-drain-skip-pinniped" || !strings.HasPrefix(rules[0].GetManagedFields()[0].Manager, remedies.MarkPrefix(w.ID())) {
		t.Fatalf("rules: %+v", rules)
	}
	if leases := l.leases(t, "walk"); len(leases) != 1 || !strings.Contains(effect.YAML(leases[0].Object), "administrator@vsphere.local on laptop") {
		t.Errorf("leases: %+v", leases)
	}
	v := w.View()
	if s := v.Steps[2]; s.State != remedies.StateDone || !s.Undoable || !strings.Contains(s.Note, "lets the drain skip") {
		t.Errorf("the step: %+v", s)
	}
	if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrToken) {
		t.Errorf("the same token twice: %v", err)
	}
	must(t, w.Next(t.Context()))

	progress := make(chan remedies.Progress, 1000)
	followed := make(chan error, 1)
	go func() { followed <- w.Follow(t.Context(), func(p remedies.Progress) { progress <- p }) }()
	first := <-progress
	if first.Done || first.Stages[0].State != remedies.StateCurrent || first.Early.IsZero() || !strings.Contains(first.Stages[0].Detail, "kube-cert-agent") {
		t.Errorf("the first progress: %+v", first)
	}
	l.setStage(t, "walk", "WaitingForInfrastructureDeletion")
	waitProgress(t, progress, func(p remedies.Progress) bool {
		return p.Stages[3].State == remedies.StateCurrent && p.Stages[0].State == remedies.StateDone
	})
	l.release(t, "walk")
	waitProgress(t, progress, func(p remedies.Progress) bool {
		return p.Stages[6].State == remedies.StateDone && p.Stages[7].State == remedies.StateCurrent && !p.Done
	})
	if err := w.Next(t.Context()); !errors.Is(err, remedies.ErrNotYet) {
		t.Errorf("next while the rollout is awaited: %v", err)
	}
	l.nextMachine(t, "walk")
	last := waitProgress(t, progress, func(p remedies.Progress) bool { return p.Done })
	if last.Failed != "" || !strings.Contains(last.Last, "the next one is Machine old-new") {
		t.Errorf("the last progress: %+v", last)
	}
	must(t, <-followed)

	must(t, w.Next(t.Context()))
	must(t, w.Enter(t.Context()))
	w.Choose("nonsense")
	if w.View().Choice.Selected != "keep" {
		t.Error("the default was lost")
	}
	w.Choose("remove")
	must(t, w.Next(t.Context()))
	must(t, w.Enter(t.Context()))
	v = w.View()
	if v.Steps[v.Current].ID != "take-back" || !strings.Contains(v.Preview.Command, "delete -n walk machinedrainrules.cluster.x-k8s.io vks-pod-drain-skip-pinniped") {
		t.Fatalf("the way back: %+v", v.Preview)
	}
	must(t, w.Apply(t.Context(), v.Preview.Token, ""))
	if len(l.rules(t, "walk")) != 0 {
		t.Error("the rule is still there")
	}
	must(t, w.Next(t.Context()))
	v = w.View()
	if !v.Finished || v.Steps[2].State != remedies.StateUndone || !strings.Contains(v.FinishedWords, "taken back") {
		t.Errorf("the end: %+v", v)
	}
	if len(l.leases(t, "walk")) != 0 {
		t.Error("the lease was not given back")
	}
	if p, err := e.runner.Pending(t.Context()); err != nil || len(p) != 0 {
		t.Errorf("pending at the end: %v %v", p, err)
	}
	for _, want := range []string{"create -n walk", "delete -n walk machinedrainrules", "delete -n walk leases.coordination.k8s.io"} {
		if !strings.Contains(e.lines(), want) {
			t.Errorf("the log lacks %q:\n%s", want, e.lines())
		}
	}
}

func waitProgress(t *testing.T, c <-chan remedies.Progress, ok func(remedies.Progress) bool) remedies.Progress {
	t.Helper()
	deadline := time.After(30 * time.Second)
	var p remedies.Progress
	for {
		select {
		case p = <-c:
			if ok(p) {
				return p
			}
		case <-deadline:
			t.Fatalf("it never came; last: %+v", p)
		}
	}
}

func (l *testLab) setStage(t *testing.T, namespace, reason string) {
	t.Helper()
	machines := l.admin(t).Resource(capi("v1beta2", "machines")).Namespace(namespace)
	m, err := machines.Get(t.Context(), "old-x7k2p", metav1.GetOptions{})
	must(t, err)
	conditions, _, _ := unstructured.NestedSlice(m.Object, "status", "conditions")
	for i := range conditions {
		if c := conditions[i].(map[string]any); c["type"] == "Deleting" {
			c["reason"], c["message"] = reason, ""
		}
	}
	must(t, unstructured.SetNestedSlice(m.Object, conditions, "status", "conditions"))
	unstructured.RemoveNestedField(m.Object, "status", "deprecated")
	_, err = machines.UpdateStatus(t.Context(), m, metav1.UpdateOptions{})
	must(t, err)
}

// nextMachine makes the Machine that comes after.
func (l *testLab) nextMachine(t *testing.T, namespace string) {
	t.Helper()
	machines := l.admin(t).Resource(capi("v1beta2", "machines"))
	from, err := machines.Namespace("team-b").Get(t.Context(), "old-x7k2p", metav1.GetOptions{})
	must(t, err)
	m := &unstructured.Unstructured{Object: effect.Whole(from)}
	for _, f := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "creationTimestamp", "generation"} {
		unstructured.RemoveNestedField(m.Object, "metadata", f)
	}
	delete(m.Object, "status")
	m.SetNamespace(namespace)
	m.SetName("old-new")
	m.SetFinalizers(nil)
	m.SetOwnerReferences(nil)
	m, err = machines.Namespace(namespace).Create(t.Context(), m, metav1.CreateOptions{})
	must(t, err)
	must(t, unstructured.SetNestedField(m.Object, "Provisioning", "status", "phase"))
	_, err = machines.Namespace(namespace).UpdateStatus(t.Context(), m, metav1.UpdateOptions{})
	must(t, err)
}

// A preview writes nothing: no object of the vSphere Namespace changes, the API server sees
// reads and dry runs only, and nothing but the journal appears on the disk.
func testPreviewWritesNothing(t *testing.T, l *testLab) {
	f := l.stage(t, "preview")
	versions := func() string {
		var b strings.Builder
		for _, r := range []string{"machines", "machinedrainrules", "clusters"} {
			list, err := l.admin(t).Resource(capi("v1beta2", r)).Namespace("preview").List(t.Context(), metav1.ListOptions{})
			must(t, err)
			for _, o := range list.Items {
				b.WriteString(r + "/" + o.GetName() + "=" + o.GetResourceVersion() + " ")
			}
		}
		for _, o := range l.leases(t, "preview") {
			b.WriteString("lease/" + o.GetName())
		}
		return b.String()
	}
	before := versions()
	e := l.engineer(t, "administrator")
	w := e.begin(f)
	toRule(t, w, reachCluster)
	w.Back()
	must(t, w.Enter(t.Context()))
	w.Choose(reachNamespace)
	must(t, w.Next(t.Context()))
	must(t, w.Enter(t.Context()))
	must(t, w.Enter(t.Context()))
	w.Leave()
	if after := versions(); after != before {
		t.Errorf("before %s, after %s", before, after)
	}
	if got := l.written(t, "administrator@vsphere.local", "preview"); len(got) != 0 {
		t.Errorf("the API server saw %+v", got)
	}
	if e.lines() != "" {
		t.Errorf("commands: %s", e.lines())
	}
	if p, err := e.runner.Pending(t.Context()); err != nil || len(p) != 0 {
		t.Errorf("a walk in which nothing was done is pending: %v %v", p, err)
	}
	dir := e.cfg.JournalDir
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("files in the journal: %v %v", files, err)
	}
}

// What moved between the preview and the key is shown, and nothing is applied.
func testMoved(t *testing.T, l *testLab) {
	dyn := l.admin(t)
	rule := func(namespace, name, spec string) *unstructured.Unstructured {
		return ruleObject(t, namespace, name, spec)
	}
	create := func(u *unstructured.Unstructured) {
		t.Helper()
		_, err := dyn.Resource(capi("v1beta2", "machinedrainrules")).Namespace(u.GetNamespace()).Create(t.Context(), u, metav1.CreateOptions{})
		must(t, err)
	}
	for name, c := range map[string]struct {
		before, move func(ns string)
		want         string // among the moved lines.
		then         func(t *testing.T, v remedies.View)
	}{
		"the same rule came": {move: func(ns string) { create(rule(ns, ours, "{drain: {behavior: Skip}, pods: ["+entryV3+"]}")) },
			want: "+ MachineDrainRule " + ours, then: func(t *testing.T, v remedies.View) {
				if v.Preview.Done == "" {
					t.Errorf("there is nothing to do any more: %+v", v.Preview)
				}
			}},
		"another rule of that name came": {move: func(ns string) { create(rule(ns, ours, "{drain: {behavior: Skip}, pods: ["+entryTMC+"]}")) },
			want: "- create MachineDrainRule", then: func(t *testing.T, v remedies.View) {
				if !strings.Contains(v.Preview.Command, "replace -n") {
					t.Errorf("the new preview: %+v", v.Preview)
				}
			}},
		"a shadowing rule came": {move: func(ns string) { create(rule(ns, "a", "{drain: {behavior: Drain}}")) },
			want: "+ MachineDrainRule a", then: func(t *testing.T, v remedies.View) {
				if !strings.Contains(v.Preview.YAML, "name: 0-"+ours) {
					t.Errorf("the new preview: %+v", v.Preview)
				}
			}},
		"the rule was changed": {before: func(ns string) { create(rule(ns, ours, "{drain: {behavior: Skip}, pods: ["+entryTMC+"]}")) },
			move: func(ns string) {
				r := dyn.Resource(capi("v1beta2", "machinedrainrules")).Namespace(ns)
				u, err := r.Get(t.Context(), ours, metav1.GetOptions{})
				must(t, err)
				must(t, unstructured.SetNestedSlice(u.Object, append(u.Object["spec"].(map[string]any)["pods"].([]any),
					map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": "batch"}}}), "spec", "pods"))
				_, err = r.Update(t.Context(), u, metav1.UpdateOptions{})
				must(t, err)
			}, want: "batch", then: func(t *testing.T, v remedies.View) {
				if !strings.Contains(v.Preview.YAML, "app: batch") {
					t.Errorf("what the other one added is lost: %+v", v.Preview)
				}
			}},
		"the Machine left its drain": {move: func(ns string) { l.setStage(t, ns, "WaitingForVolumeDetach") }, want: "through its drain"},
		"the Machine is gone":        {move: func(ns string) { l.release(t, ns) }, want: "is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := "moved-" + strings.ReplaceAll(strings.ToLower(name), " ", "-")
			f := l.stage(t, ns)
			if c.before != nil {
				c.before(ns)
			}
			w := l.engineer(t, "administrator").begin(f)
			p := toRule(t, w, reachNamespace)
			c.move(ns)
			rules := len(l.rules(t, ns))
			if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrMoved) {
				t.Fatalf("got %v", err)
			}
			v := w.View()
			moved := ""
			for _, m := range v.Preview.Moved {
				moved += string(m.Sign) + " " + m.Text + "\n"
			}
			if !strings.Contains(moved, c.want) || v.Preview.Token == p.Token {
				t.Errorf("moved: %s", moved)
			}
			if len(l.rules(t, ns)) != rules || len(l.written(t, "administrator@vsphere.local", ns)) != 0 {
				t.Error("something was written")
			}
			if c.then != nil {
				c.then(t, v)
			}
			w.Leave()
		})
	}
	t.Run("a status alone does not move it", func(t *testing.T) {
		w := l.engineer(t, "administrator").begin(l.stage(t, "moved-not"))
		p := toRule(t, w, reachNamespace)
		patch := []byte(`{"metadata":{"annotations":{"seen":"again"}}}`)
		_, err := dyn.Resource(capi("v1beta2", "machines")).Namespace("moved-not").Patch(t.Context(), "old-x7k2p", "application/merge-patch+json", patch, metav1.PatchOptions{})
		must(t, err)
		must(t, w.Apply(t.Context(), p.Token, ""))
		w.Leave()
	})
}

// Between the last look and the write somebody else may still be quicker: AlreadyExists and Conflict.
func testSomebodyWasQuicker(t *testing.T, l *testLab) {
	for name, existing := range map[string]bool{"already-exists": false, "conflict": true} {
		t.Run(name, func(t *testing.T) {
			f := l.stage(t, "quick-"+name)
			dyn := l.admin(t).Resource(capi("v1beta2", "machinedrainrules")).Namespace("quick-" + name)
			put := func(spec string) {
				u := ruleObject(t, "quick-"+name, ours, spec)
				old, err := dyn.Get(context.Background(), ours, metav1.GetOptions{})
				if err == nil {
					u.SetResourceVersion(old.GetResourceVersion())
					_, err = dyn.Update(context.Background(), u, metav1.UpdateOptions{})
				} else {
					_, err = dyn.Create(context.Background(), u, metav1.CreateOptions{})
				}
				must(t, err)
			}
			if existing {
				put("{drain: {behavior: Skip}, pods: [" + entryTMC + "]}")
			}
			done := false
			h, err := hook(connect(t, l.Kubeconfig("administrator")), func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
				if r.Method != http.MethodGet && strings.Contains(r.URL.Path, "machinedrainrules") && !dryRun(r) && !done {
					done = true
					put("{drain: {behavior: Skip}, pods: [" + entryBatch + "]}")
				}
				return next.RoundTrip(r) //nolint:wrapcheck // a test.
			})
			must(t, err)
			w := l.engineer(t, "administrator", func(c *Config) { through(c, h) }).begin(f)
			p := toRule(t, w, reachNamespace)
			if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrMoved) {
				t.Fatalf("got %v", err)
			}
			v := w.View()
			if len(v.Preview.Moved) == 0 || v.Steps[2].State == remedies.StateDone || !strings.Contains(v.Preview.YAML, "app: batch") {
				t.Errorf("the new preview: %+v", v.Preview)
			}
			must(t, w.Apply(t.Context(), v.Preview.Token, ""))
			w.Leave()
		})
	}
}

func testForbidden(t *testing.T, l *testLab) {
	f := l.stage(t, "forbidden")
	w := l.engineer(t, "viewer").begin(f)
	p := toRule(t, w, reachNamespace)
	if p.May != model.No || !strings.Contains(p.Blocked, "you may not create machinedrainrules in forbidden") || !strings.Contains(p.MaySays, "viewer@vsphere.local") {
		t.Errorf("the preview: %+v", p)
	}
	if len(p.Diff) == 0 || p.YAML == "" || p.Command == "" {
		t.Errorf("what somebody else could do for them is missing: %+v", p)
	}
	if !strings.Contains(strings.Join(p.Warnings, "\n"), "may not read leases") {
		t.Errorf("warnings: %v", p.Warnings)
	}
	if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrForbidden) {
		t.Errorf("got %v", err)
	}
	if got := l.written(t, "viewer@vsphere.local", "forbidden"); len(got) != 0 {
		t.Errorf("a write was tried: %+v", got)
	}
	w.Leave()

	t.Run("with edit in one namespace", func(t *testing.T) {
		e := l.engineer(t, "devops")
		w := e.begin(findingIn("team-b"))
		p := toRule(t, w, reachCluster)
		must(t, w.Apply(t.Context(), p.Token, ""))
		rules := l.rules(t, "team-b")
		if len(rules) != 1 || !strings.Contains(effect.YAML(rules[0].Object), "cluster.x-k8s.io/cluster-name: old") {
			t.Fatalf("rules: %+v", rules)
		}
		must(t, w.Undo(t.Context()))
		v := w.View()
		must(t, w.Apply(t.Context(), v.Preview.Token, ""))
		must(t, w.Next(t.Context()))
		if v = w.View(); !v.Finished || !strings.Contains(v.FinishedWords, "still there") || !strings.Contains(v.FinishedWords, "taken back") {
			t.Errorf("the end: %+v", v)
		}
		if _, err := l.engineer(t, "devops").runner.Begin(t.Context(), f, f.Signature); err == nil {
			t.Error("another namespace can be walked")
		}
	})
	t.Run("without leases", func(t *testing.T) {
		f := l.stage(t, "no-leases")
		h, err := hook(connect(t, l.Kubeconfig("administrator")), func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
			if strings.Contains(r.URL.Path, "leases") {
				q := r.Clone(r.Context())
				q.URL.Path = strings.Replace(q.URL.Path, "/leases", "/nothings", 1)
				res, err := next.RoundTrip(q)
				if res != nil && res.StatusCode == http.StatusNotFound {
					res.StatusCode = http.StatusForbidden
					res.Body = http.NoBody
				}
				return res, err //nolint:wrapcheck // a test.
			}
			return next.RoundTrip(r) //nolint:wrapcheck // a test.
		})
		must(t, err)
		w := l.engineer(t, "administrator", func(c *Config) { through(c, h) }).begin(f)
		p := toRule(t, w, reachNamespace)
		must(t, w.Apply(t.Context(), p.Token, ""))
		if !strings.Contains(strings.Join(w.View().Trouble, "\n"), "nobody can see that you work here") {
			t.Errorf("trouble: %v", w.View().Trouble)
		}
		w.Leave()
	})
}

func testReadOnly(t *testing.T, l *testLab) {
	f := l.stage(t, "read-only")
	e := l.engineer(t, "administrator", func(c *Config) { c.ReadOnly = "started with --read-only" })
	w := e.begin(f)
	p := toRule(t, w, reachNamespace)
	if p.May != model.Yes || !strings.Contains(p.Blocked, "--read-only") || w.View().ReadOnly == "" {
		t.Errorf("the preview: %+v", p)
	}
	if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrReadOnly) {
		t.Errorf("got %v", err)
	}
	w.Leave()
	if got := l.written(t, "administrator@vsphere.local", "read-only"); len(got) != 0 {
		t.Errorf("written: %+v", got)
	}
	if _, err := os.Stat(e.cfg.JournalDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a journal was begun: %v", err)
	}
}

// The engineer copies the command, runs it elsewhere, and the walk goes on.
func testByHand(t *testing.T, l *testLab) {
	f := l.stage(t, "by-hand")
	e := l.engineer(t, "administrator")
	w := e.begin(f)
	p := toRule(t, w, reachCluster)
	if err := w.ByHand(t.Context()); !errors.Is(err, remedies.ErrNotDone) || !strings.Contains(err.Error(), "pinniped-concierge") {
		t.Errorf("before it was done: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", p.Command)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+l.Kubeconfig("administrator"), "PATH="+filepath.Dir(l.kubectl(t))+":"+os.Getenv("PATH"), "HOME="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the copied command does not work: %v\n%s\n%s", err, out, p.Command)
	}
	must(t, w.ByHand(t.Context()))
	if s := w.View().Steps[2]; s.State != remedies.StateByHand {
		t.Errorf("the step: %+v", s)
	}
	for _, x := range l.written(t, "administrator@vsphere.local", "by-hand") {
		if x.Verb != "create" || x.ObjectRef.Resource != "machinedrainrules" {
			t.Errorf("written by us: %+v", x)
		}
	}
	w.Leave()
	again := e.begin(f) // it is remembered.
	if s := again.View().Steps[2]; s.State != remedies.StateByHand || again.View().Current != 3 {
		t.Errorf("picked up: %+v", again.View())
	}
	again.Leave()
}

// Two engineers on one cluster see each other.
func testTwoEngineers(t *testing.T, l *testLab) {
	f := l.stage(t, "two")
	ana := l.engineer(t, "administrator", func(c *Config) { c.Who, c.Host = "ana@vsphere.local", "ana-laptop" })
	bob := l.engineer(t, "administrator", func(c *Config) { c.Who, c.Host = "bob@vsphere.local", "bob-laptop" })
	a, b := ana.begin(f), bob.begin(f)
	pb := toRule(t, b, reachNamespace)
	if len(b.View().Others) != 0 {
		t.Errorf("others before anybody confirmed: %v", b.View().Others)
	}
	pa := toRule(t, a, reachNamespace)
	must(t, a.Apply(t.Context(), pa.Token, ""))
	must(t, l.admin(t).Resource(capi("v1beta2", "machinedrainrules")).Namespace("two").Delete(t.Context(), ours, metav1.DeleteOptions{}))

	// Nothing but ana's coming has changed for bob, and he has to see it before he goes on.
	if err := b.Apply(t.Context(), pb.Token, ""); !errors.Is(err, remedies.ErrMoved) {
		t.Fatalf("got %v", err)
	}
	v := b.View()
	if len(v.Others) != 1 || !strings.Contains(v.Others[0], "ana@vsphere.local on ana-laptop is working here since") ||
		!strings.Contains(v.Preview.Moved[0].Text, "ana@vsphere.local") || !strings.Contains(strings.Join(v.Preview.Warnings, "\n"), "ana@vsphere.local") {
		t.Fatalf("bob sees %v, %+v", v.Others, v.Preview)
	}
	must(t, b.Apply(t.Context(), v.Preview.Token, ""))
	a.renew(t.Context())
	if v := a.View(); len(v.Others) != 1 || !strings.Contains(v.Others[0], "bob@vsphere.local on bob-laptop") {
		t.Errorf("ana sees %v", v.Others)
	}
	a.Leave()
	b.renew(t.Context())
	if v := b.View(); len(v.Others) != 0 {
		t.Errorf("after ana left bob sees %v", v.Others)
	}
	if h := l.holder(t, "two"); h.who != "bob@vsphere.local" {
		t.Errorf("the lease is held by %+v", h)
	}
	b.Leave()
	if n := len(l.leases(t, "two")); n != 0 {
		t.Errorf("%d leases are left", n)
	}
}

// Somebody whose program died is shown until no renewal has come for the Lease's duration, by
// our own clock. Theirs may be wrong.
func testExpiredLease(t *testing.T, l *testLab) {
	f := l.stage(t, "expired")
	ana := l.engineer(t, "administrator", func(c *Config) {
		c.Who = "ana"
		c.Now = func() time.Time { return time.Now().Add(10 * leaseFor) }
	})
	a := ana.begin(f)
	must(t, a.Apply(t.Context(), toRule(t, a, reachNamespace).Token, ""))
	must(t, l.admin(t).Resource(capi("v1beta2", "machinedrainrules")).Namespace("expired").Delete(t.Context(), ours, metav1.DeleteOptions{}))
	a.leases.halt() // as if it had died.
	var later atomic.Int64
	b := l.engineer(t, "administrator", func(c *Config) {
		c.Who = "bob"
		c.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	}).begin(f)
	toRule(t, b, reachNamespace)
	if o := b.View().Others; len(o) != 1 || !strings.Contains(o[0], "ana") || !strings.Contains(o[0], "no sign of life was seen yet") {
		t.Errorf("others at first: %v", o)
	}
	later.Store(int64(leaseFor + time.Second))
	must(t, b.Enter(t.Context()))
	if o := b.View().Others; len(o) != 0 {
		t.Errorf("others after the lease has ended: %v", o)
	}
	must(t, b.Apply(t.Context(), b.View().Preview.Token, ""))
	if h := l.holder(t, "expired"); h.who != "bob" {
		t.Errorf("the lease is held by %+v", h)
	}
	b.Leave()
	a.Leave()
}

func TestEveryServedVersion(t *testing.T) {
	for _, served := range []string{"v1beta1", "v1beta2"} {
		t.Run(served, func(t *testing.T) {
			l := startLab(t, served)
			w := l.engineer(t, "devops").begin(findingIn("team-b"))
			p := toRule(t, w, reachNamespace)
			if !strings.Contains(p.YAML, "apiVersion: cluster.x-k8s.io/"+served) {
				t.Errorf("YAML: %s", p.YAML)
			}
			must(t, w.Apply(t.Context(), p.Token, ""))
			if n := len(l.rules(t, "team-b")); n != 1 {
				t.Errorf("%d rules", n)
			}
			must(t, w.Next(t.Context()))
			must(t, w.Enter(t.Context()))
			if pr := w.View().Progress; pr == nil || pr.Stages[0].State != remedies.StateCurrent {
				t.Errorf("progress: %+v", pr)
			}
			w.Leave()
		})
	}
}

func TestNotServed(t *testing.T) {
	l := startLab(t, "v1beta1", "--no-drain-rules")
	w := l.engineer(t, "devops").begin(findingIn("team-b"))
	p := toRule(t, w, reachNamespace)
	means := strings.Join(p.Means, "\n")
	if !strings.Contains(p.Blocked, "not served") || !strings.Contains(means, "nodeDrainTimeout") || !strings.Contains(means, "exclude-node-draining") {
		t.Errorf("the preview: %+v", p)
	}
	if err := w.Apply(t.Context(), p.Token, ""); !errors.Is(err, remedies.ErrBlocked) {
		t.Errorf("got %v", err)
	}
	if err := w.ByHand(t.Context()); !errors.Is(err, remedies.ErrNotDone) {
		t.Errorf("by hand, before: %v", err)
	}
	patch := []byte(`{"metadata":{"annotations":{"machine.cluster.x-k8s.io/exclude-node-draining":""}}}`)
	_, err := l.admin(t).Resource(capi("v1beta1", "machines")).Namespace("team-b").Patch(t.Context(), "old-x7k2p", "application/merge-patch+json", patch, metav1.PatchOptions{})
	must(t, err)
	must(t, w.ByHand(t.Context()))
	must(t, w.Next(t.Context()))
	must(t, w.Enter(t.Context()))
	if pr := w.View().Progress; pr == nil || pr.Failed != "" {
		t.Errorf("progress: %+v", pr)
	}
	w.Leave()
}

// While one waits, somebody takes the rule away.
func testRuleVanishesWhileWaiting(t *testing.T, l *testLab) {
	w := l.engineer(t, "administrator").begin(l.stage(t, "vanish"))
	must(t, w.Apply(t.Context(), toRule(t, w, reachNamespace).Token, ""))
	must(t, w.Next(t.Context()))
	must(t, w.Enter(t.Context()))
	must(t, l.admin(t).Resource(capi("v1beta2", "machinedrainrules")).Namespace("vanish").Delete(t.Context(), ours, metav1.DeleteOptions{}))
	var last remedies.Progress
	must(t, w.Follow(t.Context(), func(p remedies.Progress) { last = p }))
	if !last.Done || !strings.Contains(last.Failed, "no MachineDrainRule lets the drain skip the agents") {
		t.Errorf("progress: %+v", last)
	}
	w.Back()
	must(t, w.Enter(t.Context()))
	must(t, w.Apply(t.Context(), w.View().Preview.Token, ""))
	w.Leave()
}

// The connection breaks between the request and the answer.
func testNoAnswer(t *testing.T, l *testLab) {
	for name, sent := range map[string]bool{"after": true, "before": false} {
		t.Run(name, func(t *testing.T) {
			ns := "no-answer-" + name
			f := l.stage(t, ns)
			broken := false
			h, err := hook(connect(t, l.Kubeconfig("administrator")), func(r *http.Request, next http.RoundTripper) (*http.Response, error) {
				if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "machinedrainrules") && !dryRun(r) && !broken {
					broken = true
					if sent {
						if res, err := next.RoundTrip(r); err == nil {
							_ = res.Body.Close()
						}
					}
					return nil, errors.New("connection reset by peer")
				}
				return next.RoundTrip(r) //nolint:wrapcheck // a test.
			})
			must(t, err)
			var later atomic.Int64
			start := time.Now()
			w := l.engineer(t, "administrator", func(c *Config) {
				through(c, h)
				c.Elapsed = func() time.Duration { return time.Since(start) + time.Duration(later.Load()) }
			}).begin(f)
			err = w.Apply(t.Context(), toRule(t, w, reachNamespace).Token, "")
			if sent {
				must(t, err)
				if s := w.View().Steps[2]; s.State != remedies.StateDone || !s.Undoable {
					t.Errorf("the step: %+v", s)
				}
			} else {
				if !errors.Is(err, remedies.ErrUnclear) {
					t.Errorf("got %v", err)
				}
				// It may still be under way: nothing else is begun before.
				if err := w.Enter(t.Context()); !errors.Is(err, remedies.ErrUnclear) || !strings.Contains(err.Error(), "may still be under way until") {
					t.Errorf("looked at once: %v", err)
				}
				if s := w.View().Steps[2]; s.State != remedies.StateUnsure {
					t.Errorf("the step: %+v", s)
				}
				later.Store(int64(effect.UnderWay + time.Second))
				must(t, w.Enter(t.Context()))
				must(t, w.Apply(t.Context(), w.View().Preview.Token, ""))
			}
			if n := len(l.rules(t, ns)); n != 1 {
				t.Errorf("%d rules", n)
			}
			w.Leave()
		})
	}
}

func testAnotherSupervisorIsRefused(t *testing.T, l *testLab) {
	f := l.stage(t, "elsewhere")
	e := l.engineer(t, "administrator")
	w := e.begin(f)
	must(t, w.Apply(t.Context(), toRule(t, w, reachNamespace).Token, ""))
	id := w.ID()
	if _, err := l.engineer(t, "administrator", func(c *Config) { c.JournalDir = e.cfg.JournalDir }).runner.Resume(t.Context(), id); !errors.Is(err, remedies.ErrBusy) {
		t.Errorf("opened twice: %v", err)
	}
	w.Leave()
	other := l.engineer(t, "administrator", func(c *Config) {
		c.JournalDir = e.cfg.JournalDir
		through(c, &hooked{Connection: c.Sites.Supervisor.(*supervisor.Connection), dyn: c.Sites.Supervisor.Dynamic(), marks: &model.Marks{Namespace: "elsewhere", NamespaceUID: "another", SystemUID: "another"}})
	})
	p, err := other.runner.Pending(t.Context())
	if err != nil || len(p) != 1 || !strings.Contains(p[0].Refused, "another Supervisor") || !strings.Contains(p[0].Refused, e.cfg.Context) {
		t.Errorf("pending: %+v %v", p, err)
	}
	if _, err := other.runner.Resume(t.Context(), id); !errors.Is(err, remedies.ErrOtherSupervisor) {
		t.Errorf("resumed: %v", err)
	}
	if p, err := e.runner.Pending(t.Context()); err != nil || len(p) != 1 || p[0].Refused != "" || p[0].Unsure || p[0].Step != "Wait for the Machine to go" {
		t.Errorf("pending here: %+v %v", p, err)
	}
	for _, bad := range []string{"nothing", "../" + id, ""} {
		if _, err := e.runner.Resume(t.Context(), bad); err == nil {
			t.Errorf("resumed %q", bad)
		}
	}
}
