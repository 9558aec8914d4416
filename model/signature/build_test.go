package signature

import (
	"maps"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"vksmedic/model"
)

var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return now.Add(-d) }

// world is one cluster, team-a/web, whose Machine web-cp-old drains since an hour, and how
// a test wants it to differ.
type world struct {
	t  *testing.T
	c  *model.Cluster
	sn *model.Snapshot
	m  *model.Machine
	at time.Time
}

const (
	agentNS   = "pinniped-concierge"
	agentName = "pinniped-concierge-kube-cert-agent-7545bc5f57-mrr9n"
	header    = "Drain not completed yet (started at 2026-08-01T11:00:00Z):"
	stuck     = ": deletionTimestamp set, but still not removed from the Node"
	named     = header + "\n* Pod " + agentNS + "/" + agentName + stuck
	nameless  = "Draining the node before deletion"
)

func newWorld(t *testing.T) *world {
	m := &model.Machine{
		Meta: model.Meta{Kind: "Machine", Namespace: "team-a", Name: "web-cp-old", Deleting: ago(61 * time.Minute),
			Labels: map[string]string{"cluster.x-k8s.io/cluster-name": "web", "cluster.x-k8s.io/control-plane": ""}},
		Cluster: "web", ControlPlane: true, Phase: "Deleting", NodeName: "web-cp-old", DrainStarted: ago(time.Hour),
	}
	seen := model.Source{State: model.SourceOK, Live: true, Seen: now}
	w := &world{t: t, m: m, at: now}
	w.c = &model.Cluster{
		Ref:      model.ClusterRef{Namespace: "team-a", Name: "web"},
		Object:   &model.ClusterObject{Meta: model.Meta{Kind: "Cluster", Namespace: "team-a", Name: "web"}},
		Machines: []*model.Machine{m},
		Workload: &model.Workload{
			NodesSource: seen, PodsSource: seen, BudgetsSource: seen, PodsOn: map[string]bool{"web-cp-old": true}, HasPinniped: model.Unknown,
			Nodes: []model.Node{{Meta: model.Meta{Kind: "Node", Name: "web-cp-old"}, Unschedulable: true, Conditions: model.Conditions{{Type: "Ready", Status: "True"}}}},
		},
	}
	w.sn = &model.Snapshot{At: now, Sources: []model.Source{
		{Name: "supervisor/machines", State: model.SourceOK, Live: true, Seen: now},
		{Name: "supervisor/machinedrainrules", State: model.SourceOK, Live: true, Seen: now},
	}}
	return w
}

// says sets what the condition says: in the newer generation, and in the older one.
func (w *world) says(message string) *world {
	w.m.Conditions = model.Generations{
		New: model.Conditions{{Type: "Deleting", Status: "True", Reason: "DrainingNode", Message: message, Since: ago(time.Hour)}},
		Old: model.Conditions{{Type: "DrainingSucceeded", Status: "False", Severity: "Info", Reason: "Draining", Message: message, Since: ago(time.Hour)}},
	}
	return w
}

// saysOld sets only the older generation.
func (w *world) saysOld(message string) *world {
	w.says(message)
	w.m.Conditions.New = nil
	w.m.DrainStarted = time.Time{}
	return w
}

func (w *world) pod(ns, name string, change ...func(*model.Pod)) *world {
	p := model.Pod{Meta: model.Meta{Kind: "Pod", Namespace: ns, Name: name, UID: ns + "/" + name, Labels: map[string]string{"app": name}, Created: ago(24 * time.Hour)}, Node: "web-cp-old", Phase: "Running", Ready: true}
	for _, f := range change {
		f(&p)
	}
	w.c.Workload.Pods = append(w.c.Workload.Pods, p)
	return w
}

func (w *world) agent(change ...func(*model.Pod)) *world {
	return w.pod(agentNS, agentName, append([]func(*model.Pod){label(model.CertAgentLabel, "v3"), func(p *model.Pod) { p.Phase, p.Ready, p.Created = "Pending", false, ago(5*time.Second) }}, change...)...)
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

func (w *world) budget(ns, name, selector string, allowed int32) *world {
	s, err := labels.Parse(selector)
	if err != nil {
		w.t.Fatal(err)
	}
	w.c.Workload.Budgets = append(w.c.Workload.Budgets, model.Budget{
		Meta: model.Meta{Kind: "PodDisruptionBudget", Namespace: ns, Name: name}, Selector: s,
		DisruptionsAllowed: allowed, CurrentHealthy: 1, DesiredHealthy: 1, ExpectedPods: 1,
	})
	return w
}

func (w *world) rule(name, behavior, podLabels, namespace string, made time.Time) *world {
	r := &model.DrainRule{Meta: model.Meta{Kind: "MachineDrainRule", Namespace: "team-a", Name: name, Created: made}, Behavior: behavior}
	if podLabels != "" || namespace != "" {
		var e model.PodSelector
		if podLabels != "" {
			e.Pod = labels.SelectorFromSet(mustSet(w.t, podLabels))
		}
		if namespace != "" {
			e.Namespace = labels.SelectorFromSet(labels.Set{"kubernetes.io/metadata.name": namespace})
		}
		r.Pods = []model.PodSelector{e}
	}
	w.c.DrainRules = append(w.c.DrainRules, r)
	return w
}

func mustSet(t *testing.T, s string) labels.Set {
	set, err := labels.ConvertSelectorToLabelsMap(s)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// blind takes away the view into the workload cluster.
func (w *world) blind() *world {
	no := model.Source{State: model.SourceUnreachable, Detail: "no answer for 6m"}
	w.c.Workload = &model.Workload{NodesSource: no, PodsSource: no, BudgetsSource: no, HasPinniped: model.Unknown}
	return w
}

func (w *world) node(status string) *world {
	w.c.Workload.Nodes[0].Conditions[0].Status = status
	return w
}

func (w *world) do(f func(w *world)) *world {
	f(w)
	return w
}

func (w *world) worker() *world {
	w.m.ControlPlane, w.m.Deployment = false, "web-md-0"
	return w
}

func (w *world) judge() map[string]*model.Finding {
	findings, _ := Judge(w.c, w.sn, w.at)
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
