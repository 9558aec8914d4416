package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"vksmedic/model"
	"vksmedic/model/signature"
	"vksmedic/probes/capture"
	"vksmedic/remedies"
)

// clock is the time of every test.
func clock() time.Time { return time.Date(2026, 3, 14, 3, 26, 0, 0, time.UTC) }

func ago(d time.Duration) time.Time { return clock().Add(-d) }

func n32(n int32) *int32 { return &n }

func replicas(have, want, upToDate int32) model.Replicas {
	return model.Replicas{Desired: n32(want), Current: n32(want), Ready: n32(have), Available: n32(have), UpToDate: n32(upToDate)}
}

func meta(kind, ns, name string, age time.Duration) model.Meta {
	return model.Meta{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: kind, Namespace: ns, Name: name, UID: kind + name, Created: ago(age)}
}

func okSource(name model.SourceName, age time.Duration) model.Source {
	return model.Source{Name: name, State: model.SourceOK, Seen: ago(age)}
}

// well is a cluster in good health.
func well(ns, name, version string) *model.Cluster {
	ref := model.ClusterRef{Namespace: ns, Name: name}
	c := &model.Cluster{
		Ref: ref,
		Object: &model.ClusterObject{Meta: meta("Cluster", ns, name, 90*24*time.Hour), Phase: "Provisioned", Version: version,
			Class: "builtin-generic-v3.4.0", Endpoint: "10.10.0.9:6443"},
		ControlPlane: &model.ControlPlane{Meta: meta("KubeadmControlPlane", ns, name+"-cp", 90*24*time.Hour), Cluster: name,
			Version: version, OldestVersion: version, Replicas: replicas(3, 3, 3)},
		Deployments: []*model.MachineDeployment{{Meta: meta("MachineDeployment", ns, name+"-md-0", 90*24*time.Hour), Cluster: name,
			Version: version, Replicas: replicas(5, 5, 5)}},
		Workload: &model.Workload{NodesSource: okSource(model.WorkloadSource(ref, model.PartNodes), 40*time.Second)},
	}
	for i := range 3 {
		c.Machines = append(c.Machines, machine(ns, name, fmt.Sprintf("%s-cp-%s", name, []string{"9wq4m", "b2xnz", "x7k2p"}[i]), version, true, i))
	}
	for i := range 5 {
		c.Machines = append(c.Machines, machine(ns, name, fmt.Sprintf("%s-md-0-6d8f9-%s", name, []string{"4xk2j", "7plqz", "8dw9s", "hb5tn", "zz2vc"}[i]), version, false, i+3))
	}
	for i, x := range c.Machines {
		c.VMs = append(c.VMs, &model.VirtualMachine{Meta: meta("VirtualMachine", ns, x.Name, 2*time.Hour), Cluster: name,
			PowerState: "PoweredOn", Host: fmt.Sprintf("esx-%02d", i+1), Address: x.Addresses[0], MoID: fmt.Sprintf("vm-%d", 1000+i),
			Image: "ob-24561234-photon-5-amd64-v1.32.1", Class: "best-effort-small"})
		c.Workload.Nodes = append(c.Workload.Nodes, model.Node{Meta: model.Meta{Kind: "Node", Name: x.NodeName, Created: x.Created},
			Version: x.Version, Conditions: model.Conditions{{Type: "Ready", Status: "True", Reason: "KubeletReady", Since: x.Created}}})
	}
	return c
}

func machine(ns, cluster, name, version string, cp bool, i int) *model.Machine {
	x := &model.Machine{Meta: meta("Machine", ns, name, 2*time.Hour), Cluster: cluster, ControlPlane: cp, Phase: "Running",
		Version: version, NodeName: name, ProviderID: "vsphere://4216c3a5-0000-4000-8000-00000000000" + itoa(i),
		Addresses: []string{fmt.Sprintf("10.10.5.%d", 5+i)}}
	if !cp {
		x.Deployment, x.Set = cluster+"-md-0", cluster+"-md-0-6d8f9"
	}
	x.Conditions.New = model.Conditions{
		{Type: "Ready", Status: "True", Reason: "Ready", Since: ago(2 * time.Hour)},
		{Type: "NodeHealthy", Status: "True", Reason: "NodeHealthy", Since: ago(2 * time.Hour)},
		{Type: "Deleting", Status: "False", Reason: "NotDeleting", Since: ago(2 * time.Hour)},
	}
	if cp {
		x.Conditions.New = append(x.Conditions.New, model.Condition{Type: "EtcdMemberHealthy", Status: "True", Reason: "Healthy", Since: ago(2 * time.Hour)})
	}
	return x
}

// caseOf reads a public case as it is.
func caseOf(t testing.TB, name string) *model.Snapshot {
	t.Helper()
	dump, err := capture.Read(t.Context(), filepath.Join(casesDir, name), nil)
	if err != nil {
		t.Fatal(err)
	}
	return dump.Snapshot(signature.Judge, time.Time{})
}

const casesDir = "../testdata/cases"

var stampInYAML = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// caseCluster is the cluster of a public case under other names, and at another time: the newest
// time in its objects is newest.
func caseCluster(name string, newest time.Time, renames ...string) *model.Cluster {
	files, err := filepath.Glob(filepath.Join(casesDir, name, "*.yaml"))
	if err != nil || len(files) == 0 {
		panic(fmt.Sprintf("case %s: %v", name, err))
	}
	var all []byte
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			panic(err)
		}
		all = append(append(all, b...), "\n---\n"...)
	}
	was := time.Time{}
	for _, x := range stampInYAML.FindAllString(string(all), -1) {
		if at, err := time.Parse(time.RFC3339, x); err == nil && at.After(was) {
			was = at
		}
	}
	yaml := stampInYAML.ReplaceAllStringFunc(string(all), func(x string) string {
		at, err := time.Parse(time.RFC3339, x)
		if err != nil {
			panic(err)
		}
		return at.Add(newest.Sub(was)).Format(time.RFC3339)
	})
	dump, err := capture.Read(context.Background(), capture.Stdin, strings.NewReader(strings.NewReplacer(renames...).Replace(yaml)))
	if err != nil {
		panic(err)
	}
	sn := dump.Snapshot(signature.Judge, newest)
	if len(sn.Clusters) != 1 {
		panic(fmt.Sprintf("case %s has %d clusters", name, len(sn.Clusters)))
	}
	return sn.Clusters[0]
}

// put puts the Machines and nodes of a case into a cluster in good health, in place of those of
// the same name.
func put(c, from *model.Cluster) {
	if from.Ref != c.Ref {
		panic(fmt.Sprintf("the case is about %v, not %v", from.Ref, c.Ref))
	}
	for _, x := range from.Machines {
		i := slices.IndexFunc(c.Machines, func(y *model.Machine) bool { return y.Name == x.Name })
		if i < 0 {
			panic("no Machine is called " + x.Name)
		}
		x.Deployment, x.Set, x.Addresses = c.Machines[i].Deployment, c.Machines[i].Set, c.Machines[i].Addresses
		c.Machines[i] = x
		for j := range c.Workload.Nodes {
			if n := &c.Workload.Nodes[j]; n.Name == x.NodeName {
				n.Unschedulable = true // As it is during a drain.
			}
		}
	}
	for _, n := range from.Workload.Nodes {
		i := slices.IndexFunc(c.Workload.Nodes, func(y model.Node) bool { return y.Name == n.Name })
		c.Workload.Nodes[i] = n
	}
	c.Workload.Pods = append(c.Workload.Pods, from.Workload.Pods...)
	c.Workload.Budgets = append(c.Workload.Budgets, from.Workload.Budgets...)
}

const agentCase = "01-pinniped-concierge-v1beta1"

// stuck is the cluster whose upgrade waits for the agent: that of the case, among others that are
// well.
func stuck() *model.Cluster {
	c := well("team-a", "web", "v1.32.1+vmware.1-fips")
	c.ControlPlane.Replicas = replicas(3, 3, 2)
	put(c, caseCluster(agentCase, ago(20*time.Second), "wc1-cp-old1", "web-cp-x7k2p", "ns-a", "team-a", "wc1", "web"))
	node := c.Machines[2].NodeName
	c.Workload.PodsOn = map[string]bool{node: true}
	c.Workload.PodsSource, c.Workload.BudgetsSource = okSource("workload/team-a/web/pods", 3*time.Second), okSource("workload/team-a/web/budgets", 3*time.Second)
	c.Workload.Pods = append(c.Workload.Pods,
		model.Pod{Meta: model.Meta{Kind: "Pod", Namespace: "kube-system", Name: "kube-apiserver-" + node, Created: ago(2 * time.Hour)}, Node: node, Phase: "Running", Mirror: true},
		model.Pod{Meta: model.Meta{Kind: "Pod", Namespace: "shop", Name: "db-0", Labels: map[string]string{"app": "db"}, Created: ago(9 * time.Hour)}, Node: node, Phase: "Running"})
	c.Workload.Budgets = []model.Budget{{Meta: model.Meta{Namespace: "shop", Name: "db"}, Selector: labels.SelectorFromSet(labels.Set{"app": "db"})}}
	c.Neighbours = []model.ClusterRef{{Namespace: "team-a", Name: "api"}, {Namespace: "team-a", Name: "batch"}}
	c.Endpoints = []*model.Endpoints{{Meta: meta("Endpoints", "team-a", "web-control-plane-service", 90*24*time.Hour), Subsets: []model.EndpointSubset{{
		Ready: []model.EndpointAddress{{IP: "10.10.5.5"}, {IP: "10.10.5.6"}, {IP: "10.10.5.7"}}}}}}
	c.Sets = []*model.MachineSet{{Meta: meta("MachineSet", "team-a", "web-md-0-6d8f9", 2*time.Hour), Deployment: "web-md-0", Replicas: replicas(5, 5, 5), Version: "v1.32.1"}}
	c.HealthChecks = []*model.MachineHealthCheck{{Meta: meta("MachineHealthCheck", "team-a", "web-cp", 90*24*time.Hour)}}
	return c
}

// picture is a fleet as SCREENS has it: something of everything. What is found in it is judged.
func picture() *model.Snapshot {
	shop := well("team-b", "shop", "v1.31.4")
	shop.ControlPlane.Replicas = replicas(0, 3, 3)
	put(shop, caseCluster("11-pdb-cnpg-single-instance", ago(3*time.Hour), "wc11-md-processor-qwrzv", "shop-md-0-6d8f9-7plqz", "namespace: org,", "namespace: team-b,", "wc11", "shop"))

	ml := well("team-c", "ml", "v1.33.0")
	ml.Deployments[0].Replicas = replicas(11, 12, 12)
	put(ml, caseCluster("10-pdb-capi18-nameless-condition", ago(50*time.Second), "wc10-np1-old", "ml-md-0-6d8f9-4xk2j", "ns-a", "team-c", "wc10", "ml"))

	edge := well("team-d", "edge", "v1.32.1")
	edge.Workload = &model.Workload{NodesSource: model.Source{Name: "workload/team-d/edge/nodes", State: model.SourceUnreachable, Seen: ago(6 * time.Minute),
		Detail: "10.40.0.9:6443 does not answer (tried for 10s)"}}
	pausedOne := well("team-d", "frozen", "v1.32.1")
	pausedOne.Object.Paused = true

	sn := &model.Snapshot{At: clock(), Version: 7, Supervisor: model.Supervisor{Context: "prod-sv01", Server: "https://10.0.0.2:6443", User: "ana@vsphere.local", VKS: "3.6.1+v1.35"},
		Clusters: []*model.Cluster{stuck(), well("team-a", "api", "v1.32.1"), shop, ml, edge, pausedOne}}
	for i := range 37 {
		sn.Clusters = append(sn.Clusters, well("team-e", fmt.Sprintf("app-%02d", i+1), "v1.32.1"))
	}
	for _, r := range []string{"clusters", "kubeadmcontrolplanes", "machinedeployments", "machines", "machinedrainrules", "virtualmachines", "virtualmachineservices", "endpoints"} {
		sn.Sources = append(sn.Sources, model.Source{Name: model.SupervisorSource(r, ""), State: model.SourceOK, Live: true, Seen: ago(time.Second)})
	}
	sn.Sources = append(sn.Sources,
		model.Source{Name: "supervisor/vks", State: model.SourceForbidden, Detail: "ana@vsphere.local may not get packageinstalls.packaging.carvel.dev in vmware-system-vkg; ask for get on them"},
		model.Source{Name: "supervisor/vspheremachines", State: model.SourceStale, Seen: ago(4 * time.Minute), Detail: "the watch broke off: connection refused; trying again"})
	for _, c := range sn.Clusters[:6] { // Nothing is wrong with the others.
		c.Findings, c.Review = signature.Judge(c, sn, sn.At)
	}
	return sn
}

// script is a wizard that does what a test says.
type script struct {
	mu      sync.Mutex
	view    remedies.View
	applied []string
	typed   []string
	left    int
	enter   func(s *script) // what entering the current step does to the view.
	apply   func(s *script) error
	follow  func(ctx context.Context, report func(remedies.Progress)) error
	pending []remedies.Pending
	offers  []remedies.Offer
	began   []string // articles.
	forgot  []string
	answers []string
	answer  func(s *script) error
	watch   func(ctx context.Context, changed func()) error
	blocks  chan struct{} // closed by a follow that then waits for good.
	hold    chan struct{} // entering the step holdAt waits for it.
	holdAt  string
}

func (s *script) Pending(context.Context) ([]remedies.Pending, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]remedies.Pending(nil), s.pending...), nil
}

func (s *script) Offers(f *model.Finding) []remedies.Offer {
	if s.offers != nil || f.Signature != "kube-cert-agent-blocks-drain" {
		return s.offers
	}
	return []remedies.Offer{{ID: "kube-cert-agent-blocks-drain", Title: "Let the drain skip the agent", KB: "410900"}}
}

func (s *script) Begin(_ context.Context, f *model.Finding, article string) (Walk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view.Cluster = f.Cluster
	s.began = append(s.began, article)
	return s, nil
}

func (s *script) Forget(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgot = append(s.forgot, id)
	s.pending = slices.DeleteFunc(slices.Clone(s.pending), func(p remedies.Pending) bool { return p.ID == id })
	return nil
}

func (s *script) Watch(ctx context.Context, changed func()) error {
	if s.watch != nil {
		return s.watch(ctx, changed)
	}
	return nil
}

func (s *script) Answer(_ context.Context, id, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, id+": "+text)
	if s.answer != nil {
		return s.answer(s)
	}
	s.view.Ask = nil
	s.enter(s)
	return nil
}

func (s *script) Resume(context.Context, string) (Walk, error) { return s, nil }

func (s *script) View() remedies.View {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.view
	v.Steps = append([]remedies.StepView(nil), v.Steps...)
	return v
}

func (s *script) Enter(ctx context.Context) error {
	if v := s.View(); s.hold != nil && v.Steps[v.Current].ID == s.holdAt {
		select {
		case <-s.hold:
		case <-ctx.Done():
			return fmt.Errorf("entering: %w", ctx.Err())
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view.Ask != nil {
		return errors.New("the step has a question")
	}
	if s.enter != nil {
		s.enter(s)
	}
	return nil
}

func (s *script) Choose(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := *s.view.Choice
	c.Selected = id
	s.view.Choice = &c
}

func (s *script) Next(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view.Steps[s.view.Current].State = remedies.StateDone
	s.goTo(s.view.Current + 1)
	return nil
}

func (s *script) goTo(i int) {
	s.view.Current = i
	s.view.Facts, s.view.Choice, s.view.Preview, s.view.Progress = nil, nil, nil, nil
	if i >= len(s.view.Steps) {
		s.view.Finished, s.view.FinishedWords = true, "Machine web-cp-x7k2p is gone. The drain rule stays, so the next drain does not stop here again."
	}
}

func (s *script) Back() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.goTo(max(0, s.view.Current-1))
}
func (s *script) Undo(context.Context) error { return nil }

func (s *script) Apply(_ context.Context, token, typed string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.applied, s.typed = append(s.applied, token), append(s.typed, typed)
	if s.apply != nil {
		return s.apply(s)
	}
	s.view.Steps[s.view.Current].State = remedies.StateDone
	return nil
}

func (s *script) ByHand(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view.Steps[s.view.Current].State = remedies.StateByHand
	return nil
}

func (s *script) Follow(ctx context.Context, report func(remedies.Progress)) error {
	if s.follow != nil {
		return s.follow(ctx, report)
	}
	report(remedies.Progress{Done: true, Last: "the rule is there and matches"})
	return nil
}

func (s *script) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left++
}

func (s *script) appliedSoFar() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.applied...)
}

func rulePreview() *remedies.Preview {
	p := &remedies.Preview{
		Token: "t1", Title: "Create MachineDrainRule team-a/vks-pod-drain-skip-pinniped", Confirm: remedies.ConfirmKey,
		Server: "accepted (dry run)", May: model.Yes, Reaches: []string{"team-a/api, team-a/batch, and clusters that come later"},
		Means:    []string{"Their later drains leave the agents alone as well."},
		TakeBack: "delete the rule", YAML: "apiVersion: cluster.x-k8s.io/v1beta2\nkind: MachineDrainRule\n",
		Command: "kubectl --context prod-sv01 create -n team-a -f - <<'EOF'\napiVersion: cluster.x-k8s.io/v1beta2\n…\nEOF",
	}
	for _, l := range []string{
		"apiVersion: cluster.x-k8s.io/v1beta2", "kind: MachineDrainRule", "metadata:", "  name: vks-pod-drain-skip-pinniped", "  namespace: team-a",
		"spec:", "  drain:", "    behavior: Skip", "  pods:", "  - namespaceSelector:", "      matchLabels:", "        kubernetes.io/metadata.name: pinniped-concierge",
		"    selector:", "      matchLabels:", "        kube-cert-agent.pinniped.dev: v3",
	} {
		p.Diff = append(p.Diff, remedies.Line{Sign: '+', Text: l})
	}
	return p
}

// rescue is the script of KB 410900.
func rescue() *script {
	s := &script{view: remedies.View{
		ID: "w1", Article: "kube-cert-agent-blocks-drain", Title: "Let the drain skip the agent", KB: "410900",
		Address: "https://knowledge.broadcom.com/external/article/410900", Supervisor: "prod-sv01", Target: "web-cp-x7k2p",
		Warnings: []string{"Do not delete the node or the Machine by hand to push the rollout on."},
		Steps: []remedies.StepView{
			{ID: "look", Title: "Look at the agents", Kind: remedies.StepLook, Why: "The drain evicts the agent, and its ReplicaSet puts a new one on the same cordoned node."},
			{ID: "reach", Title: "Choose the rule's reach", Kind: remedies.StepChoose, Why: "A MachineDrainRule stands in the vSphere Namespace and reaches every cluster in it, unless it names one."},
			{ID: "rule", Title: "Create the MachineDrainRule", Kind: remedies.StepChange, Why: "With the behaviour Skip, Cluster API leaves the agents alone during a drain."},
			{ID: "wait", Title: "Wait for the Machine to go", Kind: remedies.StepWait, Why: "Cluster API drains again every 20 seconds."},
			{ID: "keep", Title: "Keep or remove the rule", Kind: remedies.StepChoose},
		},
	}}
	s.enter = func(s *script) {
		switch v := &s.view; v.Steps[v.Current].ID {
		case "look":
			v.Facts = []remedies.Line{{Sign: ' ', Text: "2 agents in pinniped-concierge, label kube-cert-agent.pinniped.dev=v3"}, {Sign: '!', Text: "one of them cannot pull its image: ImagePullBackOff"}}
			v.Steps[v.Current].State = remedies.StateDone
		case "reach":
			v.Choice = &remedies.Choice{Question: "Which clusters shall the rule reach?", Selected: "namespace", Options: []remedies.Option{
				{ID: "namespace", Title: "Every cluster in vSphere Namespace team-a (as the KB has it)", Means: []string{"Also reaches team-a/api, team-a/batch.", "Their later upgrades do not stop at an agent either."}},
				{ID: "cluster", Title: "Only cluster web", Means: []string{"Other clusters with agents stop at the same place in their next upgrade."}},
			}}
		case "rule":
			v.Preview = rulePreview()
		case "keep":
			v.Choice = &remedies.Choice{Question: "Shall the rule stay?", Selected: "keep", Options: []remedies.Option{{ID: "keep", Title: "Keep it (as the KB has it)"}, {ID: "remove", Title: "Remove what was added"}}}
		}
	}
	return s
}

func waiting() remedies.Progress {
	return remedies.Progress{
		Stages: []remedies.Stage{
			{Title: "drain", State: remedies.StateDone, Took: 41 * time.Second},
			{Title: "volumes", State: remedies.StateDone, Took: 3 * time.Second},
			{Title: "hooks", State: remedies.StateCurrent, Took: 12 * time.Second, Detail: "pre-terminate hook kcp-cleanup: etcd lets its member go"},
			{Title: "VM", State: remedies.StatePending}, {Title: "node", State: remedies.StatePending}, {Title: "rollout goes on", State: remedies.StatePending},
		},
		Last: "Waiting for pre-terminate hooks to succeed (hooks: kcp-cleanup)", Early: clock().Add(18 * time.Second),
	}
}
