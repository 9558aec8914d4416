package model_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"vksmedic/model"
)

var t0 = time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)

func meta(kind, ns, name string) model.Meta {
	return model.Meta{Kind: kind, Namespace: ns, Name: name}
}

func cluster(ns, name string) *model.ClusterObject {
	return &model.ClusterObject{Meta: meta("Cluster", ns, name)}
}

func machine(ns, cluster, name, node string) *model.Machine {
	return &model.Machine{Meta: meta("Machine", ns, name), Cluster: cluster, NodeName: node}
}

// counting is a judge that counts how often each cluster was judged.
func counting(n map[string]int) model.Judge {
	return func(c *model.Cluster, _ *model.Snapshot, _ time.Time) ([]model.Finding, time.Time) {
		n[c.Ref.String()]++
		return nil, time.Time{}
	}
}

func TestOnlyChangedClustersAreJudgedAgain(t *testing.T) {
	n := map[string]int{}
	s := model.NewStore(counting(n))
	s.Put(cluster("a", "web"))
	s.Put(cluster("b", "shop"))
	first := s.Snapshot(t0)
	s.Put(machine("a", "web", "web-1", ""))
	second := s.Snapshot(t0)
	if n["a/web"] != 2 || n["b/shop"] != 1 {
		t.Errorf("judged %v, want a/web twice and b/shop once", n)
	}
	ref := model.ClusterRef{Namespace: "b", Name: "shop"}
	if first.Cluster(ref) != second.Cluster(ref) {
		t.Error("an unchanged cluster was built again")
	}
	if len(first.Cluster(model.ClusterRef{Namespace: "a", Name: "web"}).Machines) != 0 {
		t.Error("a snapshot changed after it was handed out")
	}
}

func TestTimeAloneMakesAReview(t *testing.T) {
	judged := 0
	s := model.NewStore(func(_ *model.Cluster, _ *model.Snapshot, _ time.Time) ([]model.Finding, time.Time) {
		judged++
		return nil, t0.Add(2 * time.Minute)
	})
	s.Put(cluster("a", "web"))
	for _, at := range []time.Duration{0, time.Minute, 2 * time.Minute} {
		s.Snapshot(t0.Add(at))
	}
	if judged != 2 {
		t.Errorf("judged %d times, want at first and when the review was due", judged)
	}
}

func TestReplaceForgetsWhatAListNoLongerHas(t *testing.T) {
	s := model.NewStore(nil)
	s.Put(cluster("a", "web"))
	s.Put(machine("a", "web", "web-1", ""))
	s.Put(machine("a", "web", "web-2", ""))
	s.Put(machine("b", "other", "other-1", ""))
	s.Replace("Machine", "a", []model.Object{machine("a", "web", "web-2", "")})
	sn := s.Snapshot(t0)
	if got := len(sn.Cluster(model.ClusterRef{Namespace: "a", Name: "web"}).Machines); got != 1 {
		t.Errorf("%d machines after the list, want 1", got)
	}
	if sn.Cluster(model.ClusterRef{Namespace: "b", Name: "other"}) == nil {
		t.Error("a list of one namespace took away another's")
	}
	s.Replace("Machine", "", nil)
	s.Replace("Cluster", "", nil)
	if got := len(s.Snapshot(t0).Clusters); got != 0 {
		t.Errorf("%d clusters are left of nothing", got)
	}
}

func TestMachineThatMovesToAnotherCluster(t *testing.T) {
	s := model.NewStore(nil)
	s.Put(machine("a", "web", "m", ""))
	s.Snapshot(t0)
	s.Put(machine("a", "api", "m", ""))
	sn := s.Snapshot(t0)
	if len(sn.Clusters) != 1 || sn.Clusters[0].Ref.Name != "api" {
		t.Errorf("clusters %v, want only api", sn.Clusters)
	}
}

func TestNeighboursKnowEachOther(t *testing.T) {
	s := model.NewStore(nil)
	s.Put(cluster("a", "web"))
	s.Snapshot(t0)
	s.Put(cluster("a", "api"))
	web := s.Snapshot(t0).Cluster(model.ClusterRef{Namespace: "a", Name: "web"})
	if len(web.Neighbours) != 1 || web.Neighbours[0].Name != "api" {
		t.Errorf("neighbours of web: %v, want api", web.Neighbours)
	}
	s.Delete(model.ObjectRef{Kind: "Cluster", Namespace: "a", Name: "api"})
	web = s.Snapshot(t0).Cluster(model.ClusterRef{Namespace: "a", Name: "web"})
	if len(web.Neighbours) != 0 {
		t.Errorf("neighbours of web after api went: %v", web.Neighbours)
	}
}

func TestDrainRulesReachEveryClusterOfTheNamespaceInOrder(t *testing.T) {
	s := model.NewStore(nil)
	s.Put(cluster("a", "web"))
	s.Put(cluster("b", "shop"))
	s.Snapshot(t0)
	s.Put(&model.DrainRule{Meta: meta("MachineDrainRule", "a", "z")})
	s.Put(&model.DrainRule{Meta: meta("MachineDrainRule", "a", "b")})
	sn := s.Snapshot(t0)
	r := sn.Cluster(model.ClusterRef{Namespace: "a", Name: "web"}).DrainRules
	if len(r) != 2 || r[0].Name != "b" {
		t.Errorf("rules %v, want b then z", r)
	}
	if len(sn.Cluster(model.ClusterRef{Namespace: "b", Name: "shop"}).DrainRules) != 0 {
		t.Error("a rule reached another vSphere Namespace")
	}
}

func TestVirtualMachinesJoinByNameOwnerAndLabel(t *testing.T) {
	s := model.NewStore(nil)
	s.Put(cluster("a", "web"))
	m := machine("a", "web", "m1", "")
	m.Infra = model.ObjectRef{Kind: "VSphereMachine", Name: "infra-1"}
	s.Put(m)
	s.Put(&model.VirtualMachine{Meta: meta("VirtualMachine", "a", "m1")})
	owned := &model.VirtualMachine{Meta: meta("VirtualMachine", "a", "other-name")}
	owned.Owners = []model.Owner{{Kind: "VSphereMachine", Name: "infra-1"}}
	s.Put(owned)
	s.Put(&model.VirtualMachine{Meta: meta("VirtualMachine", "a", "labelled"), Cluster: "web"})
	s.Put(&model.VirtualMachine{Meta: meta("VirtualMachine", "a", "somebody-elses-server")})
	sn := s.Snapshot(t0)
	if len(sn.Clusters) != 1 {
		t.Fatalf("clusters %v: a VM that is no node made one", sn.Clusters)
	}
	if got := len(sn.Clusters[0].VMs); got != 3 {
		t.Errorf("%d VMs joined, want 3", got)
	}
	if v := sn.Clusters[0].VM(m); v == nil || v.Name != "m1" {
		t.Errorf("VM of m1: %v", v)
	}
}

// Watches answer in any order.
func TestPartsThatComeBeforeTheirCluster(t *testing.T) {
	s := model.NewStore(nil)
	s.Put(&model.VirtualMachine{Meta: meta("VirtualMachine", "a", "m1"), Cluster: "web"})
	if sn := s.Snapshot(t0); len(sn.Clusters) != 0 {
		t.Fatalf("a VirtualMachine alone is a cluster: %v", sn.Clusters[0].Ref)
	}
	s.Put(cluster("a", "web"))
	if sn := s.Snapshot(t0); len(sn.Clusters) != 1 || len(sn.Clusters[0].VMs) != 1 {
		t.Errorf("its VirtualMachine is lost: %+v", sn.Clusters)
	}
}

func TestLeftoversAreNoCluster(t *testing.T) {
	s := model.NewStore(nil)
	s.Put(&model.VirtualMachine{Meta: meta("VirtualMachine", "a", "x"), Cluster: "gone"})
	if got := s.Snapshot(t0).Clusters; len(got) != 0 {
		t.Errorf("clusters %v, want none", got)
	}
}

func TestEndpointsJoinUnderEitherName(t *testing.T) {
	s := model.NewStore(nil)
	s.Put(cluster("a", "web"))
	s.Put(cluster("a", "api"))
	s.Put(&model.Endpoints{Meta: meta("Endpoints", "a", "web-control-plane-service")})
	s.Put(&model.Endpoints{Meta: meta("Endpoints", "a", "api")})
	sn := s.Snapshot(t0)
	for _, c := range sn.Clusters {
		if len(c.Endpoints) != 1 {
			t.Errorf("%s has %d Endpoints, want 1", c.Ref, len(c.Endpoints))
		}
	}
}

func dumpPod(name, node string, l map[string]string) *model.Pod {
	p := &model.Pod{Meta: meta("Pod", "app", name), Node: node}
	p.Labels = l
	return p
}

func TestDumpJoinsNodesAndPodsThroughMachines(t *testing.T) {
	s := model.NewDumpStore(nil)
	s.Put(machine("a", "web", "web-1", "node-web"))
	s.Put(machine("a", "api", "api-1", "node-api"))
	s.AddLoose(&model.Node{Meta: meta("Node", "", "node-web")}, &model.Node{Meta: meta("Node", "", "stray")},
		dumpPod("p", "node-web", map[string]string{"app": "db", model.CertAgentLabel: "v3"}), dumpPod("q", "node-api", nil),
		&model.Budget{Meta: meta("PodDisruptionBudget", "app", "db"), Selector: labels.SelectorFromSet(labels.Set{"app": "db"})})
	sn := s.Snapshot(t0)
	web := sn.Cluster(model.ClusterRef{Namespace: "a", Name: "web"})
	api := sn.Cluster(model.ClusterRef{Namespace: "a", Name: "api"})
	stray := sn.Cluster(model.ClusterRef{})
	if len(web.Workload.Nodes) != 1 || len(web.Workload.Pods) != 1 || len(web.Workload.Budgets) != 1 {
		t.Errorf("web: %+v", web.Workload)
	}
	if web.Workload.HasPinniped != model.Yes || api.Workload.HasPinniped != model.No {
		t.Errorf("pinniped: web %s, api %s", web.Workload.HasPinniped, api.Workload.HasPinniped)
	}
	if len(api.Workload.Pods) != 1 || len(api.Workload.Budgets) != 0 {
		t.Errorf("api: %+v", api.Workload)
	}
	if stray == nil || len(stray.Workload.Nodes) != 1 {
		t.Errorf("the node that no Machine names: %v", stray)
	}
	if api.Workload.NodesSource.Readable() {
		t.Error("api's nodes are not in the dump and were called read")
	}
}

func TestDumpWithOneClusterTakesTheRest(t *testing.T) {
	s := model.NewDumpStore(nil)
	s.Put(machine("a", "web", "web-1", "n1"))
	s.AddLoose(&model.Budget{Meta: meta("PodDisruptionBudget", "shop", "cart"), Selector: labels.SelectorFromSet(labels.Set{"app": "cart"})},
		&model.Node{Meta: meta("Node", "", "left-over")})
	sn := s.Snapshot(t0)
	if len(sn.Clusters) != 1 || len(sn.Clusters[0].Workload.Budgets) != 1 || len(sn.Clusters[0].Workload.Nodes) != 1 {
		t.Errorf("clusters: %+v", sn.Clusters)
	}
}

func TestDumpWithoutMachinesIsACluster(t *testing.T) {
	for what, fill := range map[string]func(*model.Store){
		"a pod": func(s *model.Store) { s.AddLoose(dumpPod("p", "n", nil)) },
		"a VM":  func(s *model.Store) { s.Put(&model.VirtualMachine{Meta: meta("VirtualMachine", "a", "vm")}) },
		"Endpoints": func(s *model.Store) {
			s.Put(&model.Endpoints{Meta: meta("Endpoints", "a", "web-control-plane-service")})
		},
	} {
		s := model.NewDumpStore(nil)
		fill(s)
		sn := s.Snapshot(t0)
		if len(sn.Clusters) != 1 || sn.Clusters[0].Ref.Name != "" {
			t.Errorf("%s: clusters %v, want one without a name", what, sn.Clusters)
		}
	}
}

func TestDecide(t *testing.T) {
	c := func(w model.Weight, v model.Verdict) model.Check { return model.Check{Weight: w, Verdict: v} }
	for _, k := range []struct {
		name   string
		checks []model.Check
		want   model.Confidence
		found  bool
	}{
		{"all yes", []model.Check{c(model.Required, model.Yes), c(model.Deciding, model.Yes)}, model.Confirmed, true},
		{"a required one unknown", []model.Check{c(model.Required, model.Unknown), c(model.Deciding, model.Yes)}, "", false},
		{"a required one no", []model.Check{c(model.Required, model.No)}, "", false},
		{"a deciding one unknown", []model.Check{c(model.Required, model.Yes), c(model.Deciding, model.Unknown)}, model.Suspected, true},
		{"a deciding one no", []model.Check{c(model.Deciding, model.Unknown), c(model.Deciding, model.No)}, "", false},
		{"supporting ones decide nothing", []model.Check{c(model.Required, model.Yes), c(model.Supporting, model.No), c(model.Supporting, model.Unknown)}, model.Confirmed, true},
	} {
		if got, found := model.Decide(k.checks); got != k.want || found != k.found {
			t.Errorf("%s: %q %v, want %q %v", k.name, got, found, k.want, k.found)
		}
	}
}

func TestWorstFindingComesFirst(t *testing.T) {
	f := func(sev model.Severity, c model.Confidence, since time.Time, sig string) *model.Finding {
		return &model.Finding{Severity: sev, Confidence: c, Since: since, Signature: sig}
	}
	in := []*model.Finding{
		f(model.Info, model.Confirmed, t0, "info"),
		f(model.Critical, model.Suspected, t0, "suspected"),
		f(model.Critical, model.Confirmed, time.Time{}, "timeless"),
		f(model.Critical, model.Confirmed, t0.Add(time.Hour), "younger"),
		f(model.Critical, model.Confirmed, t0, "older"),
		f(model.Warning, model.Confirmed, t0, "warning"),
	}
	model.SortFindings(in)
	var got []string
	for _, x := range in {
		got = append(got, x.Signature)
	}
	if want := "[older younger timeless suspected warning info]"; fmt.Sprint(got) != want {
		t.Errorf("order %v, want %s", got, want)
	}
}

func BenchmarkSnapshotOneChange(b *testing.B) {
	s := model.NewStore(nil)
	for i := range 500 {
		ns := fmt.Sprintf("ns-%d", i%50)
		s.Put(cluster(ns, fmt.Sprintf("c%d", i)))
		for j := range 10 {
			s.Put(machine(ns, fmt.Sprintf("c%d", i), fmt.Sprintf("c%d-m%d", i, j), fmt.Sprintf("n%d-%d", i, j)))
		}
	}
	s.Snapshot(t0)
	b.ReportAllocs()
	for b.Loop() {
		s.Put(machine("ns-1", "c1", "c1-m1", "n"))
		s.Snapshot(t0)
	}
}

// What is about the Supervisor as a whole is judged by itself, and makes no cluster.
func TestGeneralIsJudgedByItself(t *testing.T) {
	general := 0
	s := model.NewDumpStore(func(c *model.Cluster, sn *model.Snapshot, _ time.Time) ([]model.Finding, time.Time) {
		if c != nil {
			return nil, time.Time{}
		}
		general++
		if len(sn.Roles) != 1 || len(sn.NodeConfigs) != 1 || len(sn.Images) != 1 {
			t.Errorf("the judge sees %d roles, %d configurations, %d images", len(sn.Roles), len(sn.NodeConfigs), len(sn.Images))
		}
		return []model.Finding{{Signature: "x"}}, time.Time{}
	})
	s.Put(&model.ClusterRole{Meta: meta("ClusterRole", "", "r")})
	s.Put(&model.NodeConfig{Meta: meta("RegistryConfig", "a", "c")})
	s.Put(&model.VirtualMachineImage{Meta: meta("ClusterVirtualMachineImage", "", "i")})
	sn := s.Snapshot(t0)
	if len(sn.Clusters) != 0 || len(sn.General) != 1 || len(sn.Findings()) != 1 || general != 1 {
		t.Errorf("%d clusters, %d general findings, judged %d times", len(sn.Clusters), len(sn.General), general)
	}
	s.Delete(model.ObjectRef{Kind: "ClusterRole", Name: "r"})
	if sn := s.Snapshot(t0); len(sn.General) != 0 || len(sn.Roles) != 0 {
		t.Errorf("after the role is gone: %+v", sn.General)
	}
}

// Endpoints and events are joined through services and VMs that are joined themselves, in
// whatever order they are met.
func TestJoinsOfJoins(t *testing.T) {
	for range 20 {
		s := model.NewDumpStore(nil)
		s.Put(machine("a", "web", "web-1", "n1"))
		vm := &model.VirtualMachine{Meta: meta("VirtualMachine", "a", "web-1")}
		svc := &model.VirtualMachineService{Meta: meta("VirtualMachineService", "a", "web-control-plane-service")}
		eps := &model.Endpoints{Meta: meta("Endpoints", "a", "web-control-plane-service")}
		event := &model.Event{Meta: meta("Event", "a", "e"), About: vm.Ref()}
		for _, o := range []model.Object{event, eps, svc, vm} {
			s.Put(o)
		}
		c := s.Snapshot(t0).Cluster(model.ClusterRef{Namespace: "a", Name: "web"})
		if len(c.VMs) != 1 || len(c.Services) != 1 || len(c.Endpoints) != 1 || len(c.Events) != 1 {
			t.Fatalf("%d VMs, %d services, %d Endpoints, %d events", len(c.VMs), len(c.Services), len(c.Endpoints), len(c.Events))
		}
	}
}

func TestStoriesStayTogether(t *testing.T) {
	ref := func(name string) []model.ObjectRef { return []model.ObjectRef{{Kind: "Machine", Name: name}} }
	mk := func(sig, subject string, sev model.Severity) *model.Finding {
		return &model.Finding{Signature: sig, Severity: sev, Confidence: model.Confirmed, Subjects: ref(subject)}
	}
	cause, other, effect := mk("cause", "a", model.Warning), mk("other", "b", model.Critical), mk("effect", "a", model.Critical)
	cause.Causes, effect.CausedBy = []model.Link{effect.Link()}, []model.Link{cause.Link()}
	circle := mk("circle", "c", model.Info)
	circle.Causes, circle.CausedBy = []model.Link{circle.Link()}, []model.Link{circle.Link(), {Signature: "gone"}}
	in := []*model.Finding{circle, other, cause, effect}
	model.SortFindings(in)
	var got []string
	for _, f := range in {
		got = append(got, f.Signature)
	}
	if want := "[cause effect other circle]"; fmt.Sprint(got) != want {
		t.Errorf("told as %v, want %s", got, want)
	}
}
