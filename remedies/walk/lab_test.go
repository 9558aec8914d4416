package walk

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"vksmedic/model"
	"vksmedic/model/signature"
	"vksmedic/probes/supervisor"
	"vksmedic/remedies"
	"vksmedic/remedies/action"
	"vksmedic/remedies/effect"
	"vksmedic/testdata/labtest"
)

var _ remedies.Supervisor = (*supervisor.Connection)(nil)

// testLab is a Supervisor's API server with Cluster API's kinds and webhooks and without
// controllers, so that nothing moves unless a test moves it.
type testLab struct {
	*labtest.Lab
	// doubleWrites and lostUndos are counted by the crash test.
	doubleWrites, lostUndos int
}

func TestMain(m *testing.M) {
	if os.Getenv(crashChildEnv) != "" {
		os.Exit(crashChild())
	}
	os.Exit(labtest.Main(m))
}

func startLab(t *testing.T, served string, flags ...string) *testLab {
	return &testLab{Lab: labtest.StartAPIs(t, served, flags...)}
}

// One Supervisor is enough for all of these: each works in a vSphere Namespace of its own.
func TestOnASupervisor(t *testing.T) {
	l := startLab(t, "both")
	for name, test := range map[string]func(*testing.T, *testLab){
		"WalkFromFindingToTheEnd":    testWalkFromFindingToTheEnd,
		"PreviewWritesNothing":       testPreviewWritesNothing,
		"Moved":                      testMoved,
		"SomebodyWasQuicker":         testSomebodyWasQuicker,
		"Forbidden":                  testForbidden,
		"ReadOnly":                   testReadOnly,
		"ByHand":                     testByHand,
		"TwoEngineers":               testTwoEngineers,
		"ExpiredLease":               testExpiredLease,
		"RuleVanishesWhileWaiting":   testRuleVanishesWhileWaiting,
		"NoAnswer":                   testNoAnswer,
		"AnotherSupervisorIsRefused": testAnotherSupervisorIsRefused,
		"FullDiskBeforeAChange":      testFullDiskBeforeAChange,
		"FullDiskAfterAChange":       testFullDiskAfterAChange,
		"UnreadableJournals":         testUnreadableJournals,
		"Forget":                     testForget,
		"KilledAtEveryMoment":        testKilledAtEveryMoment,
	} {
		t.Run(name, func(t *testing.T) { test(t, l) })
	}
}

// kubectl is the path of the lab's kubectl.
func (l *testLab) kubectl(t *testing.T) string {
	t.Helper()
	var ready struct {
		Kubectl string `json:"kubectl"`
	}
	b, err := os.ReadFile(filepath.Join(l.Dir, "ready.json"))
	must(t, err)
	must(t, json.Unmarshal(b, &ready))
	return ready.Kubectl
}

func connect(t testing.TB, kubeconfig string) *supervisor.Connection {
	t.Helper()
	c, err := supervisor.Connect(t.Context(), supervisor.Options{Kubeconfig: kubeconfig})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// admin is a client that passes all checks, for the test's own hand.
func (l *testLab) admin(t testing.TB) dynamic.Interface {
	return connect(t, l.Kubeconfig("lab")).Dynamic()
}

func capi(version, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: version, Resource: resource}
}

// stage makes a vSphere Namespace of its own, with a copy of the lab's cluster whose Machine
// hangs in its drain.
func (l *testLab) stage(t *testing.T, namespace string) *model.Finding {
	t.Helper()
	ctx, dyn := t.Context(), l.admin(t)
	ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace}}}
	if _, err := dyn.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(ctx, ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	machines := dyn.Resource(capi("v1beta2", "machines"))
	from, err := machines.Namespace("team-b").Get(ctx, "old-x7k2p", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	status := from.Object["status"]
	m := &unstructured.Unstructured{Object: effect.Whole(from)}
	for _, f := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "creationTimestamp", "generation"} {
		unstructured.RemoveNestedField(m.Object, "metadata", f)
	}
	delete(m.Object, "status")
	m.SetNamespace(namespace)
	m.SetFinalizers([]string{"machine.cluster.x-k8s.io"})
	m.SetOwnerReferences(nil)
	m, err = machines.Namespace(namespace).Create(ctx, m, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := machines.Namespace(namespace).Delete(ctx, m.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if m, err = machines.Namespace(namespace).Get(ctx, m.GetName(), metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	m.Object["status"] = status
	if _, err := machines.Namespace(namespace).UpdateStatus(ctx, m, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	return findingIn(namespace)
}

// findingIn is what the judge says about the staged Machine.
func findingIn(namespace string) *model.Finding {
	return &model.Finding{Signature: "kube-cert-agent-blocks-drain", KB: "410900",
		Cluster:  model.ClusterRef{Namespace: namespace, Name: "old"},
		Subjects: []model.ObjectRef{{Kind: "Machine", Namespace: namespace, Name: "old-x7k2p", Place: model.OnSupervisor("prod")}},
		Summary:  "the agent blocks the drain",
		Facts: &signature.AgentFacts{Machine: "old-x7k2p", Node: "old-x7k2p", Namespaces: []string{"pinniped-concierge"},
			Values: map[string][]string{"pinniped-concierge": {"v3"}}}}
}

// release lets a staged Machine go.
func (l *testLab) release(t *testing.T, namespace string) {
	t.Helper()
	machines := l.admin(t).Resource(capi("v1beta2", "machines")).Namespace(namespace)
	patch := []byte(`{"metadata":{"finalizers":null}}`)
	if _, err := machines.Patch(t.Context(), "old-x7k2p", "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// dryRun says whether a request stores nothing; deletions say so in their body.
func dryRun(r *http.Request) bool {
	if r.GetBody != nil && r.Method == http.MethodDelete {
		if body, err := r.GetBody(); err == nil {
			b, _ := io.ReadAll(body)
			return strings.Contains(string(b), `"dryRun":["All"]`)
		}
	}
	return strings.Contains(r.URL.RawQuery, "dryRun=All")
}

// hooked is a connection whose requests pass through a function first.
type hooked struct {
	*supervisor.Connection
	dyn   dynamic.Interface
	marks *model.Marks
}

func (h *hooked) Dynamic() dynamic.Interface { return h.dyn }

func (h *hooked) Marks(ctx context.Context, namespace string) (model.Marks, error) {
	if h.marks != nil {
		return *h.marks, nil
	}
	return h.Connection.Marks(ctx, namespace) //nolint:wrapcheck // a test.
}

type roundTrip func(*http.Request, http.RoundTripper) (*http.Response, error)

type hookTransport struct {
	next http.RoundTripper
	f    roundTrip
}

func (h hookTransport) RoundTrip(r *http.Request) (*http.Response, error) { return h.f(r, h.next) }

func hook(c *supervisor.Connection, f roundTrip) (*hooked, error) {
	cfg := c.Config()
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return hookTransport{next, f} })
	dyn, err := dynamic.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("hook: %w", err)
	}
	return &hooked{Connection: c, dyn: dyn}, nil
}

// labEngineer is one person with a runner of their own.
type labEngineer struct {
	t      *testing.T
	runner *Runner
	cfg    Config

	mu       sync.Mutex
	commands []remedies.Command
}

func (l *testLab) engineer(t *testing.T, who string, change ...func(*Config)) *labEngineer {
	t.Helper()
	e := &labEngineer{t: t}
	c := connect(t, l.Kubeconfig(who))
	e.cfg = testConfig(t, c)
	e.cfg.Context, e.cfg.Server, e.cfg.JournalDir = c.Context, c.Server, filepath.Join(t.TempDir(), "journal")
	e.cfg.Who, e.cfg.Host, e.cfg.Pace = who+"@vsphere.local", "laptop", 20*time.Millisecond
	e.cfg.Log = func(c remedies.Command) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.commands = append(e.commands, c)
	}
	for _, f := range change {
		f(&e.cfg)
	}
	e.runner = NewRunner(e.cfg)
	return e
}

func (e *labEngineer) lines() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for _, c := range e.commands {
		fmt.Fprintf(&b, "%s\n", c.Line)
	}
	return b.String()
}

func (e *labEngineer) begin(f *model.Finding) *Walk {
	e.t.Helper()
	w, err := e.runner.Begin(e.t.Context(), f, f.Signature)
	if err != nil {
		e.t.Fatal(err)
	}
	return w
}

// testConfig is what a runner needs, with the program's own articles and actions.
func testConfig(t testing.TB, s remedies.Supervisor) Config {
	t.Helper()
	articles, err := action.Articles("")
	if err != nil {
		t.Fatal(err)
	}
	return Config{Sites: &remedies.Sites{Supervisor: s, Kubectl: []string{"kubectl"}}, Articles: articles, Registry: action.Registry(), Actions: action.All(), Guards: action.Guards()}
}

// through has the requests of a config go through another connection.
func through(c *Config, s remedies.Supervisor) {
	sites := *c.Sites
	sites.Supervisor = s
	c.Sites = &sites
}

// The rules of the tests, and what is chosen.
const (
	entryV3    = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: pinniped-concierge}}, selector: {matchLabels: {kube-cert-agent.pinniped.dev: v3}}}"
	entryTMC   = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: vmware-system-tmc}}, selector: {matchLabels: {kube-cert-agent.pinniped.dev: v3}}}"
	entryBatch = "{selector: {matchLabels: {app: batch}}}"
	ours       = "vks-pod-drain-skip-pinniped"

	reachNamespace = "namespace"
	reachCluster   = "cluster"
)

// ruleObject is a MachineDrainRule.
func ruleObject(t testing.TB, namespace, name, spec string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{}}
	doc := fmt.Sprintf("apiVersion: cluster.x-k8s.io/v1beta2\nkind: MachineDrainRule\nmetadata: {name: %q, namespace: %q}\nspec: %s\n", name, namespace, spec)
	if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
		t.Fatal(err)
	}
	return u
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// toRule walks to the preview of the rule.
func toRule(t *testing.T, w *Walk, reach string) *remedies.Preview {
	t.Helper()
	must(t, w.Enter(t.Context()))
	must(t, w.Next(t.Context()))
	must(t, w.Enter(t.Context()))
	w.Choose(reach)
	must(t, w.Next(t.Context()))
	must(t, w.Enter(t.Context()))
	v := w.View()
	if v.Steps[v.Current].ID != "rule" || v.Preview == nil {
		t.Fatalf("not at the rule's preview: %+v", v)
	}
	return v.Preview
}

func (l *testLab) rules(t *testing.T, namespace string) []unstructured.Unstructured {
	t.Helper()
	for _, v := range []string{"v1beta2", "v1beta1"} {
		list, err := l.admin(t).Resource(capi(v, "machinedrainrules")).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
		if err == nil {
			return list.Items
		}
	}
	t.Fatal("cannot list the rules")
	return nil
}

func (l *testLab) leases(t *testing.T, namespace string) []unstructured.Unstructured {
	t.Helper()
	list, err := l.admin(t).Resource(leaseResource()).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
	must(t, err)
	return list.Items
}

// auditEvent is a line of the API server's audit log.
type auditEvent struct {
	Stage      string `json:"stage"`
	RequestURI string `json:"requestURI"`
	Verb       string `json:"verb"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource  string `json:"resource"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	Timestamp time.Time `json:"requestReceivedTimestamp"`
}

// written are the requests of a user in a namespace that were not only reads and dry runs,
// as the API server saw them.
func (l *testLab) written(t *testing.T, user, namespace string) []auditEvent {
	t.Helper()
	f, err := os.Open(l.Supervisor.AuditLog)
	must(t, err)
	defer f.Close() //nolint:errcheck // only read.
	var out []auditEvent
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var e auditEvent
		if json.Unmarshal(sc.Bytes(), &e) != nil || e.Stage != "ResponseComplete" || e.User.Username != user || e.ObjectRef.Namespace != namespace {
			continue
		}
		switch e.Verb {
		case "get", "list", "watch":
		default:
			if !strings.Contains(e.RequestURI, "dryRun=All") {
				out = append(out, e)
			}
		}
	}
	must(t, sc.Err())
	return out
}

// holder is who holds the only Lease of a namespace.
func (l *testLab) holder(t *testing.T, namespace string) presence {
	t.Helper()
	x := &coordinationv1.Lease{}
	must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(l.leases(t, namespace)[0].Object, x))
	return holderOf(x)
}
