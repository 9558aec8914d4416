package ui

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"vksmedic/model"
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

const drainMessage = "Drain not completed yet (started at 2026-03-14T02:14:00Z):\n" +
	"* Pods pinniped-concierge/pinniped-concierge-kube-cert-agent-7f9d8, pinniped-concierge/pinniped-concierge-kube-cert-agent-x2k4m: " +
	"deletionTimestamp set, but still not removed from the Node"

// stuck is the cluster whose upgrade waits for the agent.
func stuck() *model.Cluster {
	c := well("team-a", "web", "v1.32.1+vmware.1-fips")
	c.ControlPlane.Replicas = replicas(3, 3, 2)
	x := c.Machines[2]
	x.Version, x.Phase = "v1.31.4+vmware.1-fips", "Deleting"
	x.Deleting, x.DrainStarted = ago(72*time.Minute), ago(72*time.Minute)
	x.PreTerminateHooks = []string{"kcp-cleanup"}
	x.Conditions.New[0] = model.Condition{Type: "Ready", Status: "False", Reason: "NotReady", Since: ago(72 * time.Minute),
		Message: "* Deleting: Machine deletion in progress since more than 15m, stage: DrainingNode, delay likely due to Pods not terminating"}
	x.Conditions.New[2] = model.Condition{Type: "Deleting", Status: "True", Reason: "DrainingNode", Message: drainMessage, Since: ago(72 * time.Minute)}
	c.Workload.Nodes[2].Unschedulable = true
	c.Workload.Nodes[2].Version = x.Version
	c.Workload.PodsOn = map[string]bool{x.NodeName: true}
	c.Workload.Pods = []model.Pod{
		{Meta: model.Meta{Kind: "Pod", Namespace: "pinniped-concierge", Name: "pinniped-concierge-kube-cert-agent-7f9d8", Created: ago(20 * time.Second), Deleting: ago(4 * time.Second)}, Node: x.NodeName, Phase: "Running"},
		{Meta: model.Meta{Kind: "Pod", Namespace: "kube-system", Name: "kube-apiserver-" + x.Name, Created: ago(2 * time.Hour)}, Node: x.NodeName, Phase: "Running", Mirror: true},
		{Meta: model.Meta{Kind: "Pod", Namespace: "shop", Name: "db-0", Labels: map[string]string{"app": "db"}, Created: ago(9 * time.Hour)}, Node: x.NodeName, Phase: "Running"},
	}
	c.Workload.Budgets = []model.Budget{{Meta: model.Meta{Namespace: "shop", Name: "db"}, Selector: labels.SelectorFromSet(labels.Set{"app": "db"})}}
	c.Neighbours = []model.ClusterRef{{Namespace: "team-a", Name: "api"}, {Namespace: "team-a", Name: "batch"}}
	c.Endpoints = []*model.Endpoints{{Meta: meta("Endpoints", "team-a", "web-control-plane-service", 90*24*time.Hour), Subsets: []model.EndpointSubset{{
		Ready: []model.EndpointAddress{{IP: "10.10.5.5"}, {IP: "10.10.5.6"}, {IP: "10.10.5.7"}}}}}}
	c.Sets = []*model.MachineSet{{Meta: meta("MachineSet", "team-a", "web-md-0-6d8f9", 2*time.Hour), Deployment: "web-md-0", Replicas: replicas(5, 5, 5), Version: "v1.32.1"}}
	c.HealthChecks = []*model.MachineHealthCheck{{Meta: meta("MachineHealthCheck", "team-a", "web-cp", 90*24*time.Hour)}}
	seen := ago(2 * time.Second)
	c.Findings = []model.Finding{{
		Signature: "kube-cert-agent-blocks-drain", Confidence: model.Suspected, Severity: model.Critical, Cluster: c.Ref,
		Subjects: []model.ObjectRef{x.Ref()}, Short: "agent blocks drain", KB: "410900", Article: "kube-cert-agent-blocks-drain", Since: ago(72 * time.Minute),
		Summary: "kube-cert-agent blocks the drain of web-cp-x7k2p: it is evicted, and comes back on the same cordoned node",
		Evidence: []model.Check{
			{Name: "machine-deleting", Title: "the Machine is being deleted", Weight: model.Required, Verdict: model.Yes, Detail: "since 02:14, 1h12m", Source: "Machine team-a/web-cp-x7k2p", Seen: seen},
			{Name: "draining", Title: "it is in the drain", Weight: model.Required, Verdict: model.Yes, Detail: "Deleting: DrainingNode", Source: "Machine team-a/web-cp-x7k2p, condition Deleting", Seen: seen},
			{Name: "agent-on-node", Title: "an agent pod is on its node", Weight: model.Deciding, Verdict: model.Yes, Detail: "2 in pinniped-concierge, label value v3", Source: "pods of node web-cp-x7k2p", Seen: ago(3 * time.Second)},
			{Name: "comes-back", Title: "it keeps coming back", Weight: model.Supporting, Verdict: model.Yes, Detail: "4 different pods in 60s", Source: "pods of node web-cp-x7k2p", Seen: ago(3 * time.Second)},
			{Name: "no-rule", Title: "no rule lets it pass", Weight: model.Deciding, Verdict: model.Yes, Detail: "0 MachineDrainRules in team-a", Source: "MachineDrainRules of team-a", Seen: seen},
			{Name: "others", Title: "nothing else is in the way", Weight: model.Supporting, Verdict: model.No, Detail: "budget shop/db holds shop/db-0 as well", Source: "budgets", Seen: ago(3 * time.Second)},
			{Name: "vks-version", Title: "VKS 3.3 or later", Weight: model.Deciding, Verdict: model.Unknown, Detail: "may not read PackageInstalls (forbidden)", Source: "supervisor/vks",
				Settle: "ask for get on packageinstalls.packaging.carvel.dev in vmware-system-vkg, or look in vCenter: Supervisor Management, Services"},
		},
		Advice: []string{"Do not delete the node or the Machine by hand."},
	}}
	return c
}

// picture is a fleet in which every kind of trouble is to be seen.
func picture() *model.Snapshot {
	web := stuck()

	shop := well("team-b", "shop", "v1.31.4")
	shop.ControlPlane.Replicas = replicas(0, 3, 3)
	shop.Findings = []model.Finding{{Signature: "drain-blocked", Confidence: model.Confirmed, Severity: model.Warning, Cluster: shop.Ref, Short: "budget blocks drain", Since: ago(3 * time.Hour),
		Subjects: []model.ObjectRef{shop.Machines[4].Ref()}, Summary: "the drain of shop-md-0-6d8f9-7plqz waits for shop/db-0: budget shop/db allows none",
		Evidence: []model.Check{{Name: "held", Title: "a pod holds the drain", Verdict: model.Yes, Detail: "shop/db-0, budget db allows 0", Source: "budgets", Seen: ago(time.Second)}},
		Advice:   []string{"Give shop/db one more replica, or let the budget allow one disruption."}}}
	shop.Machines[4].Phase, shop.Machines[4].Deleting, shop.Machines[4].DrainStarted = "Deleting", ago(3*time.Hour), ago(3*time.Hour)
	shop.Machines[4].Conditions.New[2] = model.Condition{Type: "Deleting", Status: "True", Reason: "DrainingNode", Since: ago(3 * time.Hour)}

	ml := well("team-c", "ml", "v1.33.0")
	ml.Deployments[0].Replicas = replicas(11, 12, 12)
	ml.Findings = []model.Finding{{Signature: "drain-blocked", Confidence: model.Suspected, Severity: model.Info, Cluster: ml.Ref, Short: "drain has just begun", Since: ago(50 * time.Second),
		Subjects: []model.ObjectRef{ml.Machines[3].Ref()}, Summary: "a drain has just begun"}}

	edge := well("team-d", "edge", "v1.32.1")
	edge.Workload = &model.Workload{NodesSource: model.Source{Name: "workload/team-d/edge/nodes", State: model.SourceUnreachable, Seen: ago(6 * time.Minute),
		Detail: "10.40.0.9:6443 does not answer (tried for 10s)"}}
	pausedOne := well("team-d", "frozen", "v1.32.1")
	pausedOne.Object.Paused = true

	sn := &model.Snapshot{At: clock(), Version: 7, Supervisor: model.Supervisor{Context: "prod-sv01", Server: "https://10.0.0.2:6443", User: "ana@vsphere.local", VKS: "3.6.1+v1.35"},
		Clusters: []*model.Cluster{web, well("team-a", "api", "v1.32.1"), shop, ml, edge, pausedOne}}
	for i := range 37 {
		sn.Clusters = append(sn.Clusters, well("team-e", fmt.Sprintf("app-%02d", i+1), "v1.32.1"))
	}
	for _, r := range []string{"clusters", "kubeadmcontrolplanes", "machinedeployments", "machines", "machinedrainrules", "virtualmachines", "virtualmachineservices", "endpoints"} {
		sn.Sources = append(sn.Sources, model.Source{Name: model.SupervisorSource(r, ""), State: model.SourceOK, Live: true, Seen: ago(time.Second)})
	}
	sn.Sources = append(sn.Sources,
		model.Source{Name: "supervisor/vks", State: model.SourceForbidden, Detail: "ana@vsphere.local may not get packageinstalls.packaging.carvel.dev in vmware-system-vkg; ask for get on them"},
		model.Source{Name: "supervisor/vspheremachines", State: model.SourceStale, Seen: ago(4 * time.Minute), Detail: "the watch broke off: connection refused; trying again"})
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
	s.view.Ask = nil
	if s.answer != nil {
		return s.answer(s)
	}
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
