package signature

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"vksmedic/model"
)

var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

// site is the one fixture of this package: a cluster, as a test wants it to differ. newSite makes
// one in good health, newDraining a smaller one with a Machine in its drain.
type site struct {
	t  *testing.T
	c  *model.Cluster
	sn *model.Snapshot
	m  *model.Machine // the Machine that drains; nil in newSite.
	at time.Time
	o  Options
}

const cpService = "web"

// newSite is team-a/web in good health: three control plane nodes and two workers with all that
// belongs to them. A test breaks one thing.
func newSite(t *testing.T) *site {
	ok := model.Source{State: model.SourceOK, Live: true, Seen: now}
	three, two := int32(3), int32(2)
	s := &site{t: t, at: now}
	s.c = &model.Cluster{
		Ref: model.ClusterRef{Namespace: "team-a", Name: "web"},
		Object: &model.ClusterObject{Meta: model.Meta{Kind: "Cluster", Namespace: "team-a", Name: "web", Created: ago(90 * 24 * time.Hour)}, ControlPlaneInitialized: true,
			ControlPlaneReplicas: model.Replicas{Desired: &three, Available: &three}, WorkerReplicas: model.Replicas{Desired: &two, Available: &two},
			Conditions: model.Generations{New: model.Conditions{{Type: "Available", Status: "True"}}}},
		ControlPlane: &model.ControlPlane{Meta: model.Meta{Kind: "KubeadmControlPlane", Namespace: "team-a", Name: "web-cp"}, Cluster: "web",
			Replicas: model.Replicas{Desired: &three, Current: &three}, Template: model.ObjectRef{Kind: "VSphereMachineTemplate", Name: "web-cp-t"}},
		Templates: []*model.InfraTemplate{{Meta: model.Meta{Name: "web-cp-t"}, Image: "vmi-1"}},
		Services: []*model.VirtualMachineService{{Meta: model.Meta{Kind: "VirtualMachineService", Namespace: "team-a", Name: cpService, Owners: []model.Owner{{Kind: "VSphereCluster", Name: "web"}}},
			Type: "LoadBalancer", Selector: map[string]string{"capv.vmware.com/cluster.name": "web", "capv.vmware.com/cluster.role": "controlplane"}, Ports: []model.ServicePort{{Name: "apiserver", Port: 6443}}}},
		Workload: &model.Workload{NodesSource: ok, PodsSource: ok, BudgetsSource: ok, PodsOn: map[string]bool{}, HasPinniped: model.No},
	}
	s.sn = &model.Snapshot{At: now, Supervisor: model.Supervisor{Context: "prod"}}
	for _, r := range []string{"clusters", "machines", "virtualmachines", "vspheremachines", "endpoints", "machinedrainrules", "machinehealthchecks", "events", "clusterroles", "clusterregistryconfigs"} {
		s.sn.Sources = append(s.sn.Sources, model.Source{Name: model.SupervisorSource(r, ""), State: model.SourceOK, Live: true, Seen: now})
	}
	eps := &model.Endpoints{Meta: model.Meta{Kind: "Endpoints", Namespace: "team-a", Name: cpService, Owners: []model.Owner{{Kind: "VirtualMachineService", Name: cpService}}},
		Subsets: []model.EndpointSubset{{Ports: []model.ServicePort{{Name: "apiserver", Port: 6443}}}}}
	for i := 1; i <= 5; i++ {
		cp := i <= 3
		name := fmt.Sprintf("web-np-%d", i-3)
		if cp {
			name = fmt.Sprintf("web-cp-%d", i)
		}
		s.add(name, fmt.Sprintf("10.0.0.%d", i), cp)
		if cp {
			eps.Subsets[0].Ready = append(eps.Subsets[0].Ready, model.EndpointAddress{IP: fmt.Sprintf("10.0.0.%d", i), Target: model.ObjectRef{Kind: "VirtualMachine", Namespace: "team-a", Name: name}})
		}
	}
	s.c.Endpoints = []*model.Endpoints{eps}
	for _, role := range []string{"cp", "np"} {
		s.c.HealthChecks = append(s.c.HealthChecks, &model.MachineHealthCheck{Meta: model.Meta{Kind: "MachineHealthCheck", Namespace: "team-a", Name: "web-" + role}, Cluster: "web",
			Selector: labels.SelectorFromSet(labels.Set{"role": role}), NodeChecks: []model.NodeCheck{{Type: "Ready", Status: "Unknown", Timeout: 5 * time.Minute}, {Type: "Ready", Status: "False", Timeout: 12 * time.Minute}}})
	}
	return s
}

// add makes a Machine with its VSphereMachine, VirtualMachine, Node and, on a control plane
// node, static pods.
func (s *site) add(name, ip string, cp bool) {
	made := ago(30 * 24 * time.Hour)
	role := "np"
	m := &model.Machine{Meta: model.Meta{Kind: "Machine", Namespace: "team-a", Name: name, Created: made, Labels: map[string]string{"cluster.x-k8s.io/cluster-name": "web"}},
		Cluster: "web", ControlPlane: cp, Phase: "Running", NodeName: name, ProviderID: "vsphere://uuid-" + name, Infra: model.ObjectRef{Kind: "VSphereMachine", Namespace: "team-a", Name: name}}
	vmLabels := map[string]string{"capv.vmware.com/cluster.name": "web", "capv.vmware.com/cluster.role": "node"}
	node := model.Node{Meta: model.Meta{Kind: "Node", Name: name, Created: made}, Addresses: []string{ip}, Conditions: model.Conditions{{Type: "Ready", Status: "True", Reason: "KubeletReady", Message: "kubelet is posting ready status", Since: made.Add(2 * time.Minute)}}}
	vm := &model.VirtualMachine{Meta: model.Meta{Kind: "VirtualMachine", Namespace: "team-a", Name: name, Created: made, Labels: vmLabels}, Cluster: "web",
		PowerState: "PoweredOn", WantPower: "PoweredOn", Address: ip, Image: "vmi-1", BiosUUID: "uuid-" + name, MoID: "vm-1", Host: "esx-a"}
	if cp {
		role = "cp"
		m.Labels["cluster.x-k8s.io/control-plane"] = ""
		vmLabels["capv.vmware.com/cluster.role"] = "controlplane"
		vm.HasProbe = true
		vm.Conditions = model.Conditions{{Type: "Ready", Status: "True", Since: made}}
		for _, comp := range []string{"kube-apiserver", "etcd", "kube-scheduler", "kube-controller-manager"} {
			s.c.Workload.Pods = append(s.c.Workload.Pods, model.Pod{Meta: model.Meta{Kind: "Pod", Namespace: "kube-system", Name: comp + "-" + name, UID: comp + name, Labels: map[string]string{"component": comp, "tier": "control-plane"}},
				Node: name, Phase: "Running", Mirror: true, Ready: true, HostNetwork: true, Containers: []model.Container{{Name: comp, Ready: true, Running: true}}})
		}
	} else {
		m.Deployment, m.Set = "web-np", "web-np-x"
	}
	m.Labels["role"] = role
	m.Conditions = model.Generations{
		New: model.Conditions{{Type: "Deleting", Status: "False", Reason: "NotDeleting"}, {Type: "NodeReady", Status: "True", Since: made}, {Type: "NodeHealthy", Status: "True", Since: made}, {Type: "HealthCheckSucceeded", Status: "True"}},
		Old: model.Conditions{{Type: "NodeHealthy", Status: "True"}, {Type: "HealthCheckSucceeded", Status: "True"}},
	}
	s.c.Machines = append(s.c.Machines, m)
	s.c.InfraMachines = append(s.c.InfraMachines, &model.InfraMachine{Meta: model.Meta{Kind: "VSphereMachine", Namespace: "team-a", Name: name}, Cluster: "web", Ready: true})
	s.c.VMs = append(s.c.VMs, vm)
	s.c.Workload.Nodes = append(s.c.Workload.Nodes, node)
	s.c.Workload.PodsOn[name] = true
}

func (s *site) machine(name string) *model.Machine {
	m := s.c.Machine(name)
	if m == nil {
		s.t.Fatalf("no Machine %s", name)
	}
	return m
}

func (s *site) vm(name string) *model.VirtualMachine {
	for _, v := range s.c.VMs {
		if v.Name == name {
			return v
		}
	}
	s.t.Fatalf("no VM %s", name)
	return nil
}

func (s *site) podNamed(name string) *model.Pod {
	for i := range s.c.Workload.Pods {
		if s.c.Workload.Pods[i].Name == name {
			return &s.c.Workload.Pods[i]
		}
	}
	s.t.Fatalf("no Pod %s", name)
	return nil
}

// ready sets a node's Ready condition, as it has been for a while.
func (s *site) ready(node, status, reason, message string, since time.Duration) *site {
	n := s.c.Node(node)
	if n == nil {
		s.t.Fatalf("no Node %s", node)
	}
	n.Conditions[0] = model.Condition{Type: "Ready", Status: status, Reason: reason, Message: message, Since: ago(since)}
	return s
}

const silence = "Kubelet stopped posting node status."

func (s *site) silent(node string, since time.Duration) *site {
	return s.ready(node, "Unknown", "NodeStatusUnknown", silence, since)
}

// machineSays sets a condition of the newer generation.
func (s *site) machineSays(name string, c model.Condition) *site {
	m := s.machine(name)
	m.Conditions.New = slices.DeleteFunc(m.Conditions.New, func(x model.Condition) bool { return x.Type == c.Type })
	m.Conditions.New = append(m.Conditions.New, c)
	return s
}

func (s *site) machineSaysOld(name string, c model.Condition) *site {
	m := s.machine(name)
	m.Conditions.New = nil
	m.Conditions.Old = slices.DeleteFunc(m.Conditions.Old, func(x model.Condition) bool { return x.Type == c.Type })
	m.Conditions.Old = append(m.Conditions.Old, c)
	return s
}

// blind takes the view into the workload cluster away.
func (s *site) blind() *site {
	no := model.Source{State: model.SourceUnreachable, Detail: "no answer for 6m"}
	s.c.Workload = &model.Workload{NodesSource: no, PodsSource: no, BudgetsSource: no, HasPinniped: model.Unknown}
	return s
}

// remove takes a node with its Machine and VM out of the picture, but for what keep names.
func (s *site) removeNode(name string) *site {
	s.c.Workload.Nodes = slices.DeleteFunc(s.c.Workload.Nodes, func(n model.Node) bool { return n.Name == name })
	return s
}

func (s *site) removeVM(name string) *site {
	s.c.VMs = slices.DeleteFunc(s.c.VMs, func(v *model.VirtualMachine) bool { return v.Name == name })
	return s
}

func (s *site) deleting(name string, since time.Duration, stage, message string) *site {
	m := s.machine(name)
	m.Phase, m.Deleting = "Deleting", ago(since)
	return s.machineSays(name, model.Condition{Type: "Deleting", Status: "True", Reason: stage, Message: message, Since: ago(since)})
}

func (s *site) event(vm, typ, reason, message string, last time.Duration) *site {
	s.c.Events = append(s.c.Events, &model.Event{Meta: model.Meta{Kind: "Event", Namespace: "team-a", Name: reason}, About: model.ObjectRef{Kind: "VirtualMachine", Namespace: "team-a", Name: vm}, Type: typ, Reason: reason, Message: message, Count: 3, First: ago(last), Last: ago(last)})
	return s
}

func (s *site) source(name string, state model.SourceState, detail string) *site {
	for i := range s.sn.Sources {
		if s.sn.Sources[i].Name == model.SupervisorSource(name, "") {
			s.sn.Sources[i].State, s.sn.Sources[i].Detail = state, detail
		}
	}
	return s
}

func (s *site) endpoints() *model.EndpointSubset { return &s.c.Endpoints[0].Subsets[0] }

// unlist takes an address out of the Endpoints.
func (s *site) unlist(ips ...string) *site {
	e := s.endpoints()
	e.Ready = slices.DeleteFunc(e.Ready, func(a model.EndpointAddress) bool { return slices.Contains(ips, a.IP) })
	return s
}

func (s *site) probe(vm, status, message string, since time.Duration) *site {
	s.vm(vm).Conditions = model.Conditions{{Type: "Ready", Status: status, Reason: "NotReady", Message: message, Since: ago(since)}}
	return s
}

func (s *site) findings() []model.Finding {
	f, _ := NewJudge(s.o)(s.c, s.sn, s.at)
	if general, _ := NewJudge(s.o)(nil, s.sn, s.at); len(s.sn.Roles) > 0 {
		f = append(f, general...)
	}
	return f
}

func (s *site) find(id string) *model.Finding {
	for _, f := range s.findings() {
		if f.Signature == id {
			return &f
		}
	}
	return nil
}

const (
	agentNS   = "pinniped-concierge"
	agentName = "pinniped-concierge-kube-cert-agent-7545bc5f57-mrr9n"
	header    = "Drain not completed yet (started at 2026-08-01T11:00:00Z):"
	stuck     = ": deletionTimestamp set, but still not removed from the Node"
	named     = header + "\n* Pod " + agentNS + "/" + agentName + stuck
	nameless  = "Draining the node before deletion"
)

// newDraining is a smaller cluster, team-a/web, whose only Machine web-cp-old, of the control plane,
// drains since an hour. The methods below change that Machine.
func newDraining(t *testing.T) *site {
	m := &model.Machine{
		Meta: model.Meta{Kind: "Machine", Namespace: "team-a", Name: "web-cp-old", Deleting: ago(61 * time.Minute),
			Labels: map[string]string{"cluster.x-k8s.io/cluster-name": "web", "cluster.x-k8s.io/control-plane": ""}},
		Cluster: "web", ControlPlane: true, Phase: "Deleting", NodeName: "web-cp-old", DrainStarted: ago(time.Hour),
	}
	seen := model.Source{State: model.SourceOK, Live: true, Seen: now}
	s := &site{t: t, m: m, at: now}
	s.c = &model.Cluster{
		Ref:      model.ClusterRef{Namespace: "team-a", Name: "web"},
		Object:   &model.ClusterObject{Meta: model.Meta{Kind: "Cluster", Namespace: "team-a", Name: "web"}},
		Machines: []*model.Machine{m},
		Workload: &model.Workload{
			NodesSource: seen, PodsSource: seen, BudgetsSource: seen, PodsOn: map[string]bool{"web-cp-old": true}, HasPinniped: model.Unknown,
			Nodes: []model.Node{{Meta: model.Meta{Kind: "Node", Name: "web-cp-old"}, Unschedulable: true, Conditions: model.Conditions{{Type: "Ready", Status: "True"}}}},
		},
	}
	s.sn = &model.Snapshot{At: now, Supervisor: model.Supervisor{Context: "prod"}, Sources: []model.Source{
		{Name: "supervisor/machines", State: model.SourceOK, Live: true, Seen: now},
		{Name: "supervisor/machinedrainrules", State: model.SourceOK, Live: true, Seen: now},
	}}
	return s
}

// says sets what the condition says: in the newer generation, and in the older one.
func (s *site) says(message string) *site {
	s.m.Conditions = model.Generations{
		New: model.Conditions{{Type: "Deleting", Status: "True", Reason: "DrainingNode", Message: message, Since: ago(time.Hour)}},
		Old: model.Conditions{{Type: "DrainingSucceeded", Status: "False", Severity: "Info", Reason: "Draining", Message: message, Since: ago(time.Hour)}},
	}
	return s
}

// saysOld sets only the older generation.
func (s *site) saysOld(message string) *site {
	s.says(message)
	s.m.Conditions.New = nil
	s.m.DrainStarted = time.Time{}
	return s
}

func (s *site) pod(ns, name string, change ...func(*model.Pod)) *site {
	p := model.Pod{Meta: model.Meta{Kind: "Pod", Namespace: ns, Name: name, UID: ns + "/" + name, Labels: map[string]string{"app": name}, Created: ago(24 * time.Hour)}, Node: "web-cp-old", Phase: "Running", Ready: true}
	for _, f := range change {
		f(&p)
	}
	s.c.Workload.Pods = append(s.c.Workload.Pods, p)
	return s
}

func (s *site) agent(change ...func(*model.Pod)) *site {
	return s.pod(agentNS, agentName, append([]func(*model.Pod){label(model.CertAgentLabel, "v3"), func(p *model.Pod) { p.Phase, p.Ready, p.Created = "Pending", false, ago(5*time.Second) }}, change...)...)
}

func label(k, v string) func(*model.Pod) {
	return func(p *model.Pod) {
		p.Labels = maps.Clone(p.Labels)
		p.Labels[k] = v
	}
}

func terminating(d time.Duration) func(*model.Pod) {
	return func(p *model.Pod) { p.Deleting = ago(d) }
}

func (s *site) budget(ns, name, selector string, allowed int32) *site {
	selects, err := labels.Parse(selector)
	if err != nil {
		s.t.Fatal(err)
	}
	s.c.Workload.Budgets = append(s.c.Workload.Budgets, model.Budget{
		Meta: model.Meta{Kind: "PodDisruptionBudget", Namespace: ns, Name: name}, Selector: selects,
		DisruptionsAllowed: allowed, CurrentHealthy: 1, DesiredHealthy: 1, ExpectedPods: 1,
	})
	return s
}

func (s *site) rule(name, behavior, podLabels, namespace string, made time.Time) *site {
	r := &model.DrainRule{Meta: model.Meta{Kind: "MachineDrainRule", Namespace: "team-a", Name: name, Created: made}, Behavior: behavior}
	if podLabels != "" || namespace != "" {
		var e model.PodSelector
		if podLabels != "" {
			e.Pod = labels.SelectorFromSet(mustSet(s.t, podLabels))
		}
		if namespace != "" {
			e.Namespace = labels.SelectorFromSet(labels.Set{"kubernetes.io/metadata.name": namespace})
		}
		r.Pods = []model.PodSelector{e}
	}
	s.c.DrainRules = append(s.c.DrainRules, r)
	return s
}

func mustSet(t *testing.T, s string) labels.Set {
	set, err := labels.ConvertSelectorToLabelsMap(s)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func (s *site) node(status string) *site {
	s.c.Workload.Nodes[0].Conditions[0].Status = status
	return s
}

func (s *site) do(f func(s *site)) *site {
	f(s)
	return s
}

func (s *site) worker() *site {
	s.m.ControlPlane, s.m.Deployment = false, "web-md-0"
	return s
}

func (s *site) judge() map[string]*model.Finding {
	findings, _ := Judge(s.c, s.sn, s.at)
	out := map[string]*model.Finding{}
	for i := range findings {
		out[findings[i].Signature] = &findings[i]
	}
	return out
}

func evidence(f *model.Finding, name string) model.Check {
	for _, c := range f.Evidence {
		if c.Name == name {
			return c
		}
	}
	return model.Check{}
}

// try is one row of a signature's table.
type try struct {
	name   string
	change func(s *site)
	// want is the confidence, or empty for no finding; severity is asked for where it is given.
	want     model.Confidence
	severity model.Severity
	// evidence are checks and their verdicts: "name=verdict".
	evidence []string
	// says is a part of the summary or the advice.
	says string
}

const none model.Confidence = ""

func table(t *testing.T, id string, rows []try) {
	t.Helper()
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			s := newSite(t)
			r.change(s)
			tally(id, r.want != none)
			f := s.find(id)
			if f == nil {
				if r.want != none {
					t.Fatalf("not found; found: %s", list(s.findings()))
				}
				return
			}
			if f.Confidence != r.want || r.severity != "" && f.Severity != r.severity {
				t.Errorf("%s %s, want %q %s\n%s", f.Confidence, f.Severity, r.want, r.severity, checks(f))
			}
			for _, e := range r.evidence {
				name, want, _ := strings.Cut(e, "=")
				if got := evidence(f, name); string(got.Verdict) != want {
					t.Errorf("%s is %s (%s), want %s", name, got.Verdict, got.Detail, want)
				}
			}
			if all := f.Summary + "\n" + strings.Join(f.Advice, "\n"); !strings.Contains(all, r.says) {
				t.Errorf("it does not say %q:\n%s", r.says, all)
			}
			wellFormed(t, f)
		})
	}
}

func list(fs []model.Finding) string {
	var out []string
	for i := range fs {
		out = append(out, fs[i].Signature+" "+string(fs[i].Confidence)+": "+fs[i].Summary)
	}
	return strings.Join(out, "; ")
}

func checks(f *model.Finding) string {
	var b strings.Builder
	for _, c := range f.Evidence {
		fmt.Fprintf(&b, "  %s %s: %s\n", c.Verdict, c.Name, c.Detail)
	}
	return b.String()
}

// wellFormed holds for every finding: every check has an answer with words, what is unknown says
// so, and no text holds an age, which would grow stale.
func wellFormed(t *testing.T, f *model.Finding) {
	t.Helper()
	names := map[string]bool{}
	for _, c := range f.Evidence {
		if c.Name == "" || c.Title == "" || c.Verdict == "" || c.Source == "" || names[c.Name] {
			t.Errorf("check %+v", c)
		}
		names[c.Name] = true
		if c.Detail == "" {
			t.Errorf("check %s says nothing", c.Name)
		}
		if strings.ContainsAny(c.Detail, "\n\x1b") {
			t.Errorf("check %s is more than a line: %q", c.Name, c.Detail)
		}
	}
	if f.Place.Kind == "" || f.Place.Supervisor != f.Subjects[0].Place.Supervisor {
		t.Errorf("%s says not where it is: %+v", f.Signature, f.Place)
	}
	for _, s := range f.Subjects {
		want := model.PlaceSupervisor
		if s.Kind == "Node" || s.Kind == "Pod" {
			want = model.PlaceCluster
		}
		if s.Place.Kind != want || s.Place.Supervisor != "prod" || want == model.PlaceCluster && !s.Place.Is(f.Cluster) {
			t.Errorf("%s lives in %+v", s, s.Place)
		}
	}
	if s, _ := ByID(f.Signature); reflect.TypeOf(f.Facts) != reflect.TypeOf(s.Facts()) {
		t.Errorf("%s hands over %T, and declares %T", f.Signature, f.Facts, s.Facts())
	}
	if f.Summary == "" || f.Short == "" || len(f.Subjects) == 0 || f.Facts == nil || strings.ContainsRune(f.Summary, '\n') {
		t.Errorf("finding %+v", f)
	}
	for _, a := range f.Advice {
		if low := strings.ToLower(a); strings.Contains(low, "delete the node") && !strings.HasPrefix(low, "do not") {
			t.Errorf("advice %q", a)
		}
	}
}
