//go:build unix

package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vksmedic/testdata/labtest"
	"vksmedic/ui/uitest"
)

// The end to end tests of the stuck drain: the real program in a real terminal, driven by
// keys, against real controllers. They share the lab's clusters, and so run in order.

const (
	agentTitle = "Let the drain skip the agent"
	ruleName   = "vks-pod-drain-skip-pinniped"
)

var (
	rules    = schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "machinedrainrules"}
	machines = schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "machines"}
	kcps     = schema.GroupVersionResource{Group: "controlplane.cluster.x-k8s.io", Version: "v1beta2", Resource: "kubeadmcontrolplanes"}
)

func TestDrain(t *testing.T) {
	lab := labtest.Start(t)
	for _, s := range []struct {
		name string
		test func(*testing.T, *labtest.Lab)
	}{
		{"budget is named as the blocker and never as the agent", testBudgetOnly},
		{"an own article is walked by keys", testOwnArticle},
		{"viewer is refused in words before anything is tried", testViewer},
		{"read-only refuses whoever it is", testReadOnly},
		{"keys typed ahead apply nothing", testTypedAhead},
		{"preview writes nothing", testPreviewWritesNothing},
		{"killed between every two steps", testKilled},
		{"administrator mends it, by keys alone", testAdministrator},
		{"namespace user mends it, two agents, one cluster", testNamespaceUser},
	} {
		if !t.Run(s.name, func(t *testing.T) { s.test(t, lab) }) {
			t.FailNow() // the next tests need what this one did.
		}
	}
}

// screen is the program on a terminal.
type screen struct {
	*uitest.Terminal
	cmd *exec.Cmd
}

// patience is how long a screen may take. It allows for the controllers' own pace (a drain
// is tried every 20 s, a control plane Machine takes ten to join) and for a busy machine.
const patience = 4 * time.Minute

// start runs the program, with a journal of its own in state.
func start(t testing.TB, width, height int, state string, args ...string) *screen {
	t.Helper()
	cmd := exec.Command(labtest.Program(t), args...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "XDG_STATE_HOME="+state, "GORACE=halt_on_error=1")
	return &screen{uitest.Exec(t, width, height, cmd).Within(patience), cmd}
}

// Press presses keys by name; a word that names no key is typed.
func (x *screen) Press(keys ...string) {
	for _, k := range keys {
		if _, ok := uitest.Bytes(k); ok {
			x.Keys(k)
		} else {
			x.Type(k)
		}
	}
}

// Until waits until the screen is as it should be, and returns it.
func (x *screen) Until(what string, ok func(string) bool) string {
	var seen string
	x.WaitUntil(what, func(s string) bool {
		seen = s
		return ok(s)
	})
	return seen
}

// Kill ends the program at once, as a power cut would.
func (x *screen) Kill() {
	_ = x.cmd.Process.Kill()
	_ = x.Wait() // its error says that it was killed.
}

// open starts the dashboard and waits for the fleet.
func open(t testing.TB, lab *labtest.Lab, user string, width, height int, state string, args ...string) *screen {
	t.Helper()
	x := start(t, width, height, state, append([]string{"--kubeconfig", lab.Kubeconfig(user)}, args...)...)
	x.WaitFor("CLUSTER", "team-")
	return x
}

// toWizard goes from the fleet to the first step of a cluster's fix. It opens whatever
// says that the agent blocks.
func toWizard(x *screen, cluster string) {
	x.WaitFor(cluster, "agent blocks drain")
	x.Press("/", cluster, "enter")
	x.Until("the filter leaves "+cluster, func(s string) bool { return strings.Count(s, "team-") >= 1 && strings.Contains(s, cluster) })
	x.Press("enter")
	x.WaitFor(cluster, "MACHINE", "kube-cert-agent")
	x.Press("enter")
	x.WaitFor("the Machine is being deleted", "it is in the drain", "410900")
	x.Press("enter")
	x.WaitFor(agentTitle, "goes on")
}

// choose goes from the first step to the preview of the rule, with a reach.
func choose(x *screen, oneCluster bool) {
	x.Press("enter")
	x.WaitFor("Which clusters shall the rule reach?")
	if oneCluster {
		x.Press("j")
		x.WaitFor("● Only cluster")
	}
	x.Press("enter")
	x.WaitFor("MachineDrainRule", "behavior: Skip")
}

// readOn reads a preview to its end, where it can be applied.
func readOn(x *screen) {
	for {
		s := x.Until("the next page", func(s string) bool {
			return strings.Contains(s, "a applies this") || strings.Contains(s, "read to the end")
		})
		if strings.Contains(s, "a applies this") {
			return
		}
		x.Press("pgdown")
		x.Until("the page turned", func(now string) bool { return now != s })
	}
}

func drainRules(t *testing.T, lab *labtest.Lab, namespace string) []unstructured.Unstructured {
	t.Helper()
	l, err := lab.Dynamic(t, "lab").Resource(rules).Namespace(namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("list drain rules: %v", err)
	}
	return l.Items
}

// writes are the requests of people since then that stored something.
func writes(t *testing.T, lab *labtest.Lab, since int64) []labtest.Request {
	t.Helper()
	all, _ := lab.Requests(t, since)
	return slices.DeleteFunc(all, func(r labtest.Request) bool { return !r.Writes() })
}

type findingList struct {
	Findings []struct {
		Signature  string `json:"signature"`
		Confidence string `json:"confidence"`
		Summary    string `json:"summary"`
		Cluster    struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"cluster"`
		Evidence []struct {
			Check   string `json:"check"`
			Verdict string `json:"verdict"`
			Detail  string `json:"detail"`
		} `json:"evidence"`
	} `json:"findings"`
}

// scanLab runs scan -o json as a user.
func scanLab(t *testing.T, lab *labtest.Lab, user string, args ...string) findingList {
	t.Helper()
	cmd := exec.Command(labtest.Program(t), append([]string{"scan", "-o", "json", "--kubeconfig", lab.Kubeconfig(user)}, args...)...)
	out, err := cmd.Output()
	var l findingList
	if e := json.Unmarshal(out, &l); e != nil {
		t.Fatalf("scan: %v, %v\n%s", err, e, out)
	}
	return l
}

func testBudgetOnly(t *testing.T, lab *labtest.Lab) {
	named := false
	for _, f := range scanLab(t, lab, "administrator").Findings {
		if f.Cluster.Name != "ml" {
			continue
		}
		if f.Signature == "kube-cert-agent-blocks-drain" {
			t.Errorf("ml is flagged for an agent it does not have: %s", f.Summary)
		}
		if f.Signature == "drain-blocked" && f.Confidence == "confirmed" && strings.Contains(f.Summary, "PodDisruptionBudget db") {
			named = true
		}
	}
	if !named {
		t.Error("the budget that holds ml's drain is not named")
	}
	x := open(t, lab, "administrator", 120, 40, t.TempDir())
	x.WaitFor("team-c/ml", "budget db")
	x.Press("/", "team-c", "enter")
	x.WaitGone("team-a/web")
	x.Press("enter")
	x.WaitFor("PodDisruptionBudget db")
	x.Press("enter")
	x.WaitFor("disruption", "345904")
}

func testViewer(t *testing.T, lab *labtest.Lab) {
	_, before := lab.Requests(t, 0)
	x := open(t, lab, "viewer", 120, 40, t.TempDir())
	toWizard(x, "team-a/web")
	choose(x, false)
	x.Press("pgdown", "pgdown", "pgdown")
	x.WaitFor("may I", "forbidden")
	x.Press("a", "a", "enter")
	x.Press("r")
	x.WaitFor("may I", "forbidden")
	if s := x.Screen(); strings.Contains(s, "a applies this") {
		t.Errorf("a viewer is offered to apply\n%s", s)
	}
	if w := writes(t, lab, before); len(w) != 0 {
		t.Errorf("a viewer's program tried to write: %+v", w)
	}
	if len(drainRules(t, lab, "team-a")) != 0 {
		t.Error("there is a drain rule")
	}
}

func testReadOnly(t *testing.T, lab *labtest.Lab) {
	_, before := lab.Requests(t, 0)
	x := open(t, lab, "administrator", 120, 40, t.TempDir(), "--read-only")
	x.WaitFor("read-only")
	toWizard(x, "team-a/web")
	choose(x, false)
	x.Press("pgdown", "pgdown", "pgdown")
	x.WaitFor("read-only")
	x.Press("a", "a", "enter")
	x.Press("r")
	x.WaitFor("read-only")
	if w := writes(t, lab, before); len(w) != 0 {
		t.Errorf("a read-only program wrote: %+v", w)
	}
}

func testTypedAhead(t *testing.T, lab *labtest.Lab) {
	_, before := lab.Requests(t, 0)
	x := open(t, lab, "administrator", 200, 50, t.TempDir())
	toWizard(x, "team-a/web")
	x.Press("enter")
	x.WaitFor("Which clusters shall the rule reach?")
	// All in one write: the choice, and the keys of somebody who presses on without waiting.
	x.Press("\r" + strings.Repeat("a", 20) + "\r" + strings.Repeat("a", 20))
	x.WaitFor("behavior: Skip", "accepted (dry run)")
	x.Press("enter", "enter")
	readOn(x)
	if w := writes(t, lab, before); len(w) != 0 {
		t.Errorf("keys that were typed ahead wrote: %+v", w)
	}
	if len(drainRules(t, lab, "team-a")) != 0 {
		t.Error("keys that were typed ahead made a drain rule")
	}
}

func testPreviewWritesNothing(t *testing.T, lab *labtest.Lab) {
	_, before := lab.Requests(t, 0)
	x := open(t, lab, "administrator", 120, 40, t.TempDir())
	toWizard(x, "team-a/web")
	choose(x, true)
	readOn(x)
	x.Press("y")
	x.WaitFor("machines:", "cluster.x-k8s.io/cluster-name")
	x.Press("esc")
	if w := writes(t, lab, before); len(w) != 0 {
		t.Errorf("a preview wrote: %+v", w)
	}
	dry := 0
	all, _ := lab.Requests(t, before)
	for _, e := range all {
		if e.Object.Resource == "machinedrainrules" && strings.Contains(e.URI, "dryRun=All") {
			dry++
		}
	}
	if dry == 0 {
		t.Error("the preview asked for no dry run, so this test has seen nothing")
	}
}

// testKilled ends the program as a power cut would, between every two steps, and starts it
// again each time.
func testKilled(t *testing.T, lab *labtest.Lab) {
	machine := strings.TrimSpace(lab.Stage(t, "stuck-worker", "--cluster", "team-a/api"))
	machine = machine[strings.LastIndexAny(machine, " \n")+1:]
	state := t.TempDir()
	_, before := lab.Requests(t, 0)

	x := open(t, lab, "administrator", 120, 40, state)
	toWizard(x, "team-a/api")
	x.Press("enter")
	x.WaitFor("Which clusters shall the rule reach?")
	x.Kill()

	x = resume(t, lab, state)
	x.WaitFor("Which clusters shall the rule reach?")
	x.Press("j")
	x.WaitFor("● Only cluster")
	x.Press("enter")
	readOn(x)
	x.Kill()
	if len(drainRules(t, lab, "team-a")) != 0 {
		t.Fatal("a preview that was killed made a rule")
	}

	x = resume(t, lab, state)
	x.WaitFor("behavior: Skip")
	readOn(x)
	x.Press("a")
	until(t, "the rule is there", func() bool { return len(drainRules(t, lab, "team-a")) == 1 })
	x.Kill() // at once: the line after the change may or may not be in the journal.

	x = resume(t, lab, state)
	x.Until("it knows that the rule is there", func(s string) bool {
		return strings.Contains(s, "Wait for the Machine") || strings.Contains(s, "lets the drain skip") || strings.Contains(s, "is gone")
	})
	x.Kill()

	x = resume(t, lab, state)
	onward(x, machine+" is gone")
	x.Kill()

	x = resume(t, lab, state)
	onward(x, "Shall the rule stay?")
	x.Press("j")
	x.WaitFor("● Remove")
	x.Press("enter")
	readOn(x)
	x.Kill()
	x = resume(t, lab, state)
	readOn(x)
	x.Press("a")
	until(t, "the rule is gone", func() bool { return len(drainRules(t, lab, "team-a")) == 0 })

	creates, deletes := 0, 0
	for _, e := range writes(t, lab, before) {
		if e.Object.Resource == "machinedrainrules" && e.User.Username == "administrator@vsphere.local" {
			switch e.Verb {
			case "create":
				creates++
			case "delete":
				deletes++
			default:
				t.Errorf("unexpected %s of %s", e.Verb, e.Object.Name)
			}
		}
	}
	if creates != 1 || deletes != 1 {
		t.Errorf("the rule was created %d times and deleted %d times, want once each", creates, deletes)
	}
	lab.Stage(t, "clean", "--cluster", "team-a/api")
	x.Kill()

	refusesOtherSupervisor(t, lab)
}

// refusesOtherSupervisor leaves a walk half way and starts against another Supervisor.
func refusesOtherSupervisor(t *testing.T, lab *labtest.Lab) {
	state := t.TempDir()
	x := open(t, lab, "administrator", 120, 40, state)
	toWizard(x, "team-a/web")
	choose(x, false)
	x.Kill()
	other := labtest.StartAPIs(t, "both")
	x = start(t, 120, 40, state, "--kubeconfig", other.Kubeconfig("administrator"))
	x.WaitFor("CLUSTER")
	if s := x.Screen(); strings.Contains(s, "another Supervisor") {
		t.Errorf("a walk of another Supervisor comes up by itself\n%s", s)
	}
	x.Press(":", "walks", "enter")
	x.WaitFor("team-a/web", "another Supervisor")
	x.Press("enter", "a", "enter")
	x.Press("?")
	x.WaitFor("On this screen") // so the keys before have been taken.
	x.Press("esc")
	x.WaitFor("team-a/web", "another Supervisor")
	if s := x.Screen(); strings.Contains(s, "Which clusters") || strings.Contains(s, "behavior: Skip") {
		t.Errorf("a walk of another Supervisor was picked up\n%s", s)
	}
	x.Kill()
}

// onward presses enter once on each screen where that leads on, until one of the texts is
// there.
func onward(x *screen, texts ...string) {
	there := func(s string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(s, t) })
	}
	for {
		s := x.Until("a step that is over, or "+strings.Join(texts, " or "), func(s string) bool {
			return there(s) || strings.Contains(s, "enter goes on")
		})
		if there(s) {
			return
		}
		x.Press("enter")
		// A changed screen alone is not enough: the times on it change by themselves, and a
		// second enter would answer the next question.
		x.Until("the next step", func(now string) bool { return there(now) || !slices.Equal(marks(now), marks(s)) })
	}
}

// marks are the steps and how each of them stands.
func marks(screen string) []string { return stepMark.FindAllString(screen, -1) }

var stepMark = regexp.MustCompile(`[✔✖▸–?] [1-9]\b`)

// resume starts the dashboard again and picks up the walk that was left.
func resume(t *testing.T, lab *labtest.Lab, state string) *screen {
	t.Helper()
	x := start(t, 120, 40, state, "--kubeconfig", lab.Kubeconfig("administrator"))
	x.WaitFor("team-a/api", agentTitle)
	x.Press("enter")
	x.Until("the walk", func(s string) bool { return strings.Contains(s, "Look at the agents") || strings.Contains(s, "✔ 1") })
	return x
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	late := time.After(2 * time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s: did not happen", what)
		}
	}
}

func deletingMachine(t *testing.T, lab *labtest.Lab, namespace, cluster string) string {
	t.Helper()
	l, err := lab.Dynamic(t, "lab").Resource(machines).Namespace(namespace).List(context.Background(),
		metav1.ListOptions{LabelSelector: "cluster.x-k8s.io/cluster-name=" + cluster})
	if err != nil {
		t.Fatalf("list machines: %v", err)
	}
	for i := range l.Items {
		if l.Items[i].GetDeletionTimestamp() != nil {
			return l.Items[i].GetName()
		}
	}
	t.Fatalf("no Machine of %s/%s is being deleted", namespace, cluster)
	return ""
}

// mended walks from the preview to the end, and checks that the real controllers deleted
// the Machine and that the rollout went on.
func mended(t *testing.T, lab *labtest.Lab, x *screen, namespace, cluster, machine string) {
	t.Helper()
	readOn(x)
	x.Press("a")
	onward(x, "▸ 4 Wait", "✔ 4 Wait")
	x.Until("the Machine is gone, and the step over", func(s string) bool {
		return strings.Contains(s, machine+" is gone") && strings.Contains(s, "enter goes on")
	})
	onward(x, "Shall the rule stay?")
	if _, err := lab.Dynamic(t, "lab").Resource(machines).Namespace(namespace).Get(context.Background(), machine, metav1.GetOptions{}); err == nil {
		t.Errorf("the screen says that %s is gone, and it is there", machine)
	}
	x.Press("enter")
	x.WaitFor("drain rule stays")
	until(t, "the rollout is done", func() bool {
		k, err := lab.Dynamic(t, "lab").Resource(kcps).Namespace(namespace).Get(context.Background(), cluster, metav1.GetOptions{})
		if err != nil {
			return false
		}
		up, _, _ := unstructured.NestedInt64(k.Object, "status", "upToDateReplicas")
		n, _, _ := unstructured.NestedInt64(k.Object, "status", "replicas")
		return up == 3 && n == 3
	})
	x.Press("esc", "esc", "esc", "esc")
	x.Until("the fleet, and nothing flagged for "+cluster, func(s string) bool {
		for l := range strings.Lines(s) {
			if strings.Contains(l, namespace+"/"+cluster) {
				return !strings.Contains(l, "agent blocks drain")
			}
		}
		return false
	})
}

func testAdministrator(t *testing.T, lab *labtest.Lab) {
	machine := deletingMachine(t, lab, "team-a", "web")
	x := open(t, lab, "administrator", 80, 24, t.TempDir())
	toWizard(x, "team-a/web")
	choose(x, false)
	mended(t, lab, x, "team-a", "web", machine)
	r := drainRules(t, lab, "team-a")
	if len(r) != 1 || r[0].GetName() != ruleName {
		t.Fatalf("drain rules: %v", r)
	}
	if _, ok, _ := unstructured.NestedSlice(r[0].Object, "spec", "machines"); ok {
		t.Error("the rule for the whole vSphere Namespace selects Machines")
	}
}

func testNamespaceUser(t *testing.T, lab *labtest.Lab) {
	machine := deletingMachine(t, lab, "team-b", "shop")
	x := open(t, lab, "devops", 200, 50, t.TempDir())
	x.WaitFor("team-b/shop", "agent blocks drain")
	if s := x.Screen(); strings.Contains(s, "team-a/") {
		t.Errorf("a user of team-b sees team-a\n%s", s)
	}
	toWizard(x, "team-b/shop")
	choose(x, true)
	x.WaitFor("may I")
	mended(t, lab, x, "team-b", "shop", machine)
	r := drainRules(t, lab, "team-b")
	if len(r) != 1 {
		t.Fatalf("drain rules: %v", r)
	}
	pods, _, _ := unstructured.NestedSlice(r[0].Object, "spec", "pods")
	sel, _, _ := unstructured.NestedSlice(r[0].Object, "spec", "machines")
	if len(pods) != 2 || len(sel) != 1 {
		t.Errorf("the rule has %d pods entries and %d machines entries, want 2 and 1", len(pods), len(sel))
	}
}
