package walk

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/remedies/internal/fakeapi"
)

// The Supervisor in memory of faults_test.go.

const (
	capiGroup   = "cluster.x-k8s.io"
	machineName = "old-x7k2p"
	ruleKind    = "MachineDrainRule"
)

// faultSite is a Supervisor with the Machine of findingIn("ns"), which hangs in its drain, and its
// workload cluster. Time is simulated.
type faultSite struct {
	t *testing.T
	*fakeapi.API
	inside *fakeapi.API
	dir    string // of the journal that all engineers share.
}

// onFaultSite runs a test with a site of its own.
func onFaultSite(t *testing.T, test func(t *testing.T, x *faultSite)) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "journal")
	synctest.Test(t, func(t *testing.T) {
		kinds := append(fakeapi.Common(),
			fakeapi.Resource{Group: "vmoperator.vmware.com", Versions: []string{"v1alpha3"}, Name: "virtualmachines", Kind: "VirtualMachine", Namespaced: true},
			fakeapi.Resource{Group: "controlplane.cluster.x-k8s.io", Versions: []string{"v1beta2"}, Name: "kubeadmcontrolplanes", Kind: "KubeadmControlPlane", Namespaced: true})
		x := &faultSite{t: t, API: fakeapi.NewAPI(kinds...), inside: fakeapi.NewAPI(fakeapi.Common()...), dir: dir}
		x.Put("capi", x.machine())
		x.inside.Put("kubelet", fakeapi.Object("v1", "Node", "", machineName))
		test(t, x)
	})
}

func (x *faultSite) machine() *unstructured.Unstructured {
	m := fakeapi.Object(capiGroup+"/v1beta2", "Machine", "ns", machineName)
	began := metav1.NewTime(time.Now().Add(-time.Hour))
	m.SetDeletionTimestamp(&began)
	m.SetFinalizers([]string{"machine.cluster.x-k8s.io"})
	m.SetLabels(map[string]string{"cluster.x-k8s.io/cluster-name": "old", "cluster.x-k8s.io/control-plane": ""})
	m.Object["spec"] = map[string]any{"clusterName": "old"}
	m.Object["status"] = map[string]any{"phase": "Deleting", "nodeRef": map[string]any{"name": machineName}, "conditions": []any{map[string]any{
		"type": "Deleting", "status": "True", "reason": "DrainingNode", "message": "", "lastTransitionTime": began.UTC().Format(time.RFC3339)}}}
	return m
}

// rule is the walk's rule as it is stored; nil where there is none.
func (x *faultSite) rule() *unstructured.Unstructured { return x.Get(capiGroup, ruleKind, "ns", ours) }

// label has a colleague label the rule.
func (x *faultSite) label() {
	x.Change("kubectl-label", capiGroup, ruleKind, "ns", ours, func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"owner": "bob"}) })
}

// faultEngineer is one person with a way to the site and a program of their own.
type faultEngineer struct {
	x      *faultSite
	way    *fakeapi.Client
	runner *Runner

	mu       sync.Mutex
	fault    func(*fakeapi.Request) fakeapi.Fault // how requests fail; nil: they do not.
	commands []remedies.Command
}

// fail says how requests fail from now on; nil: they do not. The Lease is renewed beside the test.
func (e *faultEngineer) fail(f func(*fakeapi.Request) fakeapi.Fault) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fault = f
}

// engineer starts the program for somebody; change may change what it works with.
func (x *faultSite) engineer(who string, change ...func(*Config)) *faultEngineer {
	x.t.Helper()
	e := &faultEngineer{x: x, way: &fakeapi.Client{Server: x.Server, Name: who}}
	e.way.Fault = func(r *fakeapi.Request) fakeapi.Fault {
		e.mu.Lock()
		f := e.fault
		e.mu.Unlock()
		if f == nil {
			return fakeapi.Fault{}
		}
		return f(r)
	}
	api := &fakeapi.API{Server: x.Server, Engineer: e.way}
	cfg := testConfig(x.t, fakeapi.Supervisor{API: api})
	cfg.Sites = api.Sites(map[model.ClusterRef]*fakeapi.API{{Namespace: "ns", Name: "old"}: x.inside})
	cfg.Sites.Kubectl = []string{"kubectl", "--kubeconfig=/home/ana/sup.yaml", "--context=lab"}
	cfg.Context, cfg.Server, cfg.JournalDir, cfg.Who, cfg.Host = "lab", "https://sup.test", x.dir, who, who+"-laptop"
	cfg.Log = func(c remedies.Command) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.commands = append(e.commands, c)
	}
	for _, f := range change {
		f(&cfg)
	}
	e.runner = NewRunner(cfg)
	x.t.Cleanup(func() { // nothing goes on after the test.
		e.runner.mu.Lock()
		open := maps.Clone(e.runner.open)
		e.runner.mu.Unlock()
		for _, w := range open {
			e.stop(w)
		}
	})
	return e
}

// stop ends a walk as a crash does: nothing more is written.
func (e *faultEngineer) stop(w *Walk) {
	w.leases.halt()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.journal.close()
}

// begin begins a walk from the finding.
func (e *faultEngineer) begin() *Walk {
	e.x.t.Helper()
	f := findingIn("ns")
	w, err := e.runner.Begin(e.x.t.Context(), f, f.Signature)
	must(e.x.t, err)
	return w
}

// applied begins a walk and applies its rule.
func (e *faultEngineer) applied() *Walk {
	e.x.t.Helper()
	w := e.begin()
	must(e.x.t, w.Apply(e.x.t.Context(), toRule(e.x.t, w, reachNamespace).Token, ""))
	if e.x.rule() == nil {
		e.x.t.Fatal("there is no rule")
	}
	return w
}

// resume picks a walk up.
func (e *faultEngineer) resume(id string) *Walk {
	e.x.t.Helper()
	w, err := e.runner.Resume(e.x.t.Context(), id)
	must(e.x.t, err)
	return w
}

// journalOf is what the journal of a walk says.
func (x *faultSite) journalOf(w *Walk) string {
	x.t.Helper()
	b, err := os.ReadFile(filepath.Join(x.dir, w.ID()+journalSuffix))
	must(x.t, err)
	return string(b)
}

// undo goes to the preview that takes the rule back.
func undo(t *testing.T, w *Walk) *remedies.Preview {
	t.Helper()
	must(t, w.Undo(t.Context()))
	v := w.View()
	if v.Preview == nil {
		t.Fatalf("there is no preview: %+v", v)
	}
	return v.Preview
}

// pending is the only walk that is not over.
func (e *faultEngineer) pending() remedies.Pending {
	e.x.t.Helper()
	p, err := e.runner.Pending(e.x.t.Context())
	must(e.x.t, err)
	if len(p) != 1 {
		e.x.t.Fatalf("pending: %+v", p)
	}
	return p[0]
}

// onRules is a fault of all requests for drain rules for which is says so.
func onRules(kind fakeapi.FaultKind, is func(r *fakeapi.Request) bool) func(*fakeapi.Request) fakeapi.Fault {
	return func(r *fakeapi.Request) fakeapi.Fault {
		if r.Resource.Resource == "machinedrainrules" && is(r) {
			return fakeapi.Fault{Kind: kind}
		}
		return fakeapi.Fault{}
	}
}

func written(r *fakeapi.Request) bool { return r.Write() }
func anything(*fakeapi.Request) bool  { return true }

// step is a step of the view by its id.
func step(t *testing.T, w *Walk, id string) remedies.StepView {
	t.Helper()
	for _, s := range w.View().Steps {
		if s.ID == id {
			return s
		}
	}
	t.Fatalf("there is no step %s", id)
	return remedies.StepView{}
}

// at is the id of the step where a walk stands; "end" where it is over.
func at(w *Walk) string {
	v := w.View()
	if v.Current >= len(v.Steps) {
		return "end"
	}
	return v.Steps[v.Current].ID
}

func has(t *testing.T, what, got string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(got, w) {
			t.Errorf("%s: %q does not say %q", what, got, w)
		}
	}
}

func hasNot(t *testing.T, what, got string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(got, w) {
			t.Errorf("%s: %q says %q", what, got, w)
		}
	}
}

// moved are the lines of a preview that say what moved.
func moved(p *remedies.Preview) string {
	var out strings.Builder
	for _, l := range p.Moved {
		out.WriteString(string(l.Sign) + " " + l.Text + "\n")
	}
	return out.String()
}
