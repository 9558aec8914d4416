package probes

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vksmedic/model"
	"vksmedic/probes/supervisor"
	"vksmedic/testdata/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// ml is the cluster of the lab whose worker's drain hangs on a PodDisruptionBudget.
var ml = model.ClusterRef{Namespace: "team-c", Name: "ml"}

func connection(t testing.TB, l *labtest.Lab, user string) *supervisor.Connection {
	t.Helper()
	c, err := supervisor.Connect(t.Context(), supervisor.Options{Kubeconfig: l.Kubeconfig(user)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLabOnceSeesIntoTheCluster(t *testing.T) {
	l := labtest.Start(t, "team-c/ml")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sn, err := Once(ctx, connection(t, l, "administrator"), Config{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sn.Sources {
		if s.State != model.SourceOK {
			t.Errorf("%+v", s)
		}
	}
	c := sn.Cluster(ml)
	if c == nil || c.Object == nil || c.ControlPlane == nil || len(c.Deployments) == 0 || len(c.Machines) < 3 || len(c.Endpoints) == 0 {
		t.Fatalf("%+v", c)
	}
	var node string
	for _, m := range c.Machines {
		if !m.Deleting.IsZero() {
			node = m.NodeName
		}
		if c.VM(m) == nil {
			t.Errorf("no VM of %s", m.Name)
		}
	}
	w := c.Workload
	if node == "" || !w.PodsOn[node] || len(w.Nodes) < 3 || len(w.Pods) == 0 || w.HasPinniped != model.No || w.Way == "" {
		t.Errorf("draining node %q, inside: %+v", node, w)
	}
	if len(w.Budgets) != 1 || w.Budgets[0].DisruptionsAllowed != 0 {
		t.Errorf("budgets: %+v", w.Budgets)
	}
	if !strings.Contains(c.Machine(node).Conditions.Get("Deleting").Message, "disruption budget") {
		t.Errorf("%+v", c.Machine(node).Conditions)
	}
}

func TestLabViewerSeesTheSupervisorOnly(t *testing.T) {
	l := labtest.Start(t, "team-c/ml")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn := connection(t, l, "viewer")
	sn, err := Once(ctx, conn, Config{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := sn.Source("workload/team-c/ml/nodes")
	if s == nil || s.State != model.SourceForbidden || !strings.Contains(s.Detail, "--workload-kubeconfig team-c/ml=FILE") {
		t.Errorf("%+v", s)
	}
	// The engineer's own file opens the way.
	file := ""
	for _, c := range l.Clusters {
		if c.Namespace == ml.Namespace && c.Name == ml.Name {
			file = c.Kubeconfig
		}
	}
	sn, err = Once(ctx, conn, Config{Kubeconfigs: map[model.ClusterRef]string{ml: file}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := sn.Source("workload/team-c/ml/nodes"); s == nil || s.State != model.SourceOK {
		t.Errorf("%+v", s)
	}
}

func TestLabSteadyStateListsNothing(t *testing.T) {
	// A lab of its own: the audit log does not tell this program from that of another test.
	t.Setenv("VKSMEDIC_LAB_STATE", "")
	l := labtest.Start(t, "team-c/ml")
	conn := connection(t, l, "administrator")
	live := Run(t.Context(), conn, Config{Log: slog.New(slog.DiscardHandler)}, nil)
	looked := func() time.Time {
		if c := live.Latest().Cluster(ml); c != nil {
			return c.Workload.NodesSource.Seen
		}
		return time.Time{}
	}
	wait := func(what string, ok func() bool) {
		t.Helper()
		deadline := time.Now().Add(time.Minute)
		for !ok() {
			if time.Now().After(deadline) {
				t.Fatalf("never happened: %s: %+v", what, live.Latest().Sources)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	wait("everything is watched and looked into", func() bool {
		for _, s := range live.Latest().Sources {
			_, _, watched := s.Name.Supervisor()
			if s.State != model.SourceOK || watched && s.Name != model.SourceVKS && !s.Live {
				return false
			}
		}
		return !looked().IsZero()
	})
	_, from := l.Requests(t, 0)
	// Steady: the cluster in trouble was looked into three more times.
	for range 3 {
		before := looked()
		wait("it is looked into again", func() bool { return looked().After(before) })
	}
	requests, _ := l.Requests(t, from)
	for _, r := range requests {
		if r.Verb == "list" && r.User.Username == "administrator@vsphere.local" {
			t.Errorf("a LIST in the steady state: %s", r.URI)
		}
	}

	y, err := live.YAML(t.Context(), model.ObjectRef{Kind: "Node", Name: live.Latest().Cluster(ml).Workload.Nodes[0].Name}.In(model.InCluster("", ml)))
	if err != nil || !strings.Contains(y, "kind: Node") {
		t.Errorf("%v: %s", err, y)
	}
	d, err := live.Describe(t.Context(), model.ObjectRef{Kind: "Cluster", Namespace: ml.Namespace, Name: ml.Name}.In(model.OnSupervisor("")))
	if err != nil || !strings.Contains(d, "Conditions:") {
		t.Errorf("%v: %s", err, d)
	}
	if _, err := live.YAML(t.Context(), model.ObjectRef{Kind: "Secret", Namespace: "kube-system", Name: "x"}.In(model.InCluster("", ml))); err == nil {
		t.Error("a Secret of a workload cluster was shown")
	}
}

func TestLabOnceEndsWithItsDeadline(t *testing.T) {
	l := labtest.Start(t, "team-c/ml")
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	sn, err := Once(ctx, connection(t, l, "administrator"), Config{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !settled(sn) {
		t.Errorf("%+v", sn.Sources)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := Once(ctx, connection(t, l, "administrator"), Config{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// BenchmarkWholePicture is the time from Run to everything on the Supervisor being known,
// and how it compares to a bare client that connects and LISTs the same kinds once, one after
// the other, in the versions that it knows beforehand. To reach: within 1.5 times of that.
func BenchmarkWholePicture(b *testing.B) {
	l := labtest.Start(b, "team-c/ml")
	list := bareClient(b, connection(b, l, "administrator"))
	var picture, bare []time.Duration
	for b.Loop() {
		bare = append(bare, list(connection(b, l, "administrator")))
		ctx, cancel := context.WithCancel(b.Context())
		fresh := connection(b, l, "administrator")
		began := time.Now()
		live := Run(ctx, fresh, Config{}, nil)
		for sn := range live.Snapshots() {
			if known(sn) {
				break
			}
		}
		picture = append(picture, time.Since(began))
		cancel()
		<-live.Ended()
	}
	slices.Sort(picture)
	slices.Sort(bare)
	p, q := picture[len(picture)/2], bare[len(bare)/2]
	b.ReportMetric(float64(p.Microseconds())/1000, "p50-ms/picture")
	b.ReportMetric(float64(q.Microseconds())/1000, "p50-ms/bare-LISTs")
	b.ReportMetric(float64(p)/float64(q), "x-of-bare-LISTs")
}

// known says whether every kind of the Supervisor was read.
func known(sn *model.Snapshot) bool {
	n := 0
	for _, s := range sn.Sources {
		if _, _, ok := s.Name.Supervisor(); ok {
			if s.State == model.SourceWaiting {
				return false
			}
			n++
		}
	}
	return n > 0
}

// bareClient gives what LISTs, over a new connection, the kinds that are watched.
func bareClient(b *testing.B, conn *supervisor.Connection) func(*supervisor.Connection) time.Duration {
	b.Helper()
	kinds := []string{"Cluster", "Machine", "KubeadmControlPlane", "MachineDeployment", "MachineSet", "MachineHealthCheck", "MachineDrainRule",
		"VSphereMachine", "VSphereMachineTemplate", "VSphereCluster", "VirtualMachine", "VirtualMachineService", "VirtualMachineImage", "ClusterVirtualMachineImage",
		"Endpoints", "Event", "ClusterRole"}
	var gvrs []schema.GroupVersionResource
	for _, k := range kinds {
		gvr, _, ok, err := conn.ResourceFor(b.Context(), k)
		if err != nil || !ok {
			b.Fatal(k, err)
		}
		gvrs = append(gvrs, gvr)
	}
	selectors := map[string]string{"events": "involvedObject.kind=VirtualMachine,type=Warning", "clusterroles": "metadata.name=" + model.VMOperatorRole}
	return func(conn *supervisor.Connection) time.Duration {
		began := time.Now()
		for _, r := range gvrs {
			if _, err := conn.Dynamic().Resource(r).List(b.Context(), metav1.ListOptions{FieldSelector: selectors[r.Resource]}); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(began)
	}
}
