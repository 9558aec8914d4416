package lifecycle

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"vksmedic/model"
)

func sel(t *testing.T, s string) labels.Selector {
	t.Helper()
	if s == "" {
		return nil
	}
	out, err := labels.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const agentLabel = "kube-cert-agent.pinniped.dev"

// entry is "labels | namespace labels" or "machine | cluster labels".
func podEntry(t *testing.T, s string) model.PodSelector {
	a, b, _ := strings.Cut(s, "|")
	return model.PodSelector{Pod: sel(t, strings.TrimSpace(a)), Namespace: sel(t, strings.TrimSpace(b))}
}

func machineEntry(t *testing.T, s string) model.MachineSelector {
	a, b, _ := strings.Cut(s, "|")
	return model.MachineSelector{Machine: sel(t, strings.TrimSpace(a)), Cluster: sel(t, strings.TrimSpace(b))}
}

type ruleSpec struct {
	name, behavior string
	machines, pods []string
	namespace      string
	invalid        string
	order          int32
}

func (r ruleSpec) rule(t *testing.T) *model.DrainRule {
	out := &model.DrainRule{Meta: model.Meta{Kind: "MachineDrainRule", Name: r.name, Namespace: r.namespace}, Behavior: r.behavior, Invalid: r.invalid}
	if out.Namespace == "" {
		out.Namespace = "team-a"
	}
	if r.order != 0 {
		out.Order = &r.order
	}
	for _, s := range r.machines {
		out.Machines = append(out.Machines, machineEntry(t, s))
	}
	for _, s := range r.pods {
		out.Pods = append(out.Pods, podEntry(t, s))
	}
	return out
}

func scene(t *testing.T, rules []ruleSpec) (*model.Cluster, *model.Machine) {
	m := &model.Machine{Meta: model.Meta{Kind: "Machine", Namespace: "team-a", Name: "web-cp-1", Labels: map[string]string{"cluster.x-k8s.io/cluster-name": "web", "cluster.x-k8s.io/control-plane": ""}}}
	c := &model.Cluster{
		Ref:      model.ClusterRef{Namespace: "team-a", Name: "web"},
		Object:   &model.ClusterObject{Meta: model.Meta{Namespace: "team-a", Name: "web", Labels: map[string]string{"env": "prod"}}},
		Machines: []*model.Machine{m}, Workload: &model.Workload{},
	}
	for _, r := range rules {
		c.DrainRules = append(c.DrainRules, r.rule(t))
	}
	return c, m
}

func agent() *model.Pod {
	return &model.Pod{Meta: model.Meta{Kind: "Pod", Namespace: "pinniped-concierge", Name: "agent-1", Labels: map[string]string{agentLabel: "v3"}}, Node: "web-cp-1", Phase: "Pending"}
}

const kb = agentLabel + "=v3 | kubernetes.io/metadata.name=pinniped-concierge"

// What a drain does with a kube-cert-agent under these rules, as cluster-api decides in
// internal/controllers/machine/drain/drain.go.
func TestTreat(t *testing.T) {
	labelled := func(v string) func(*model.Pod) {
		return func(p *model.Pod) { p.Labels[PodLabel] = v }
	}
	for _, c := range []struct {
		name     string
		rules    []ruleSpec
		pod      func(*model.Pod)
		nsLabels map[string]map[string]string
		down     bool
		noObject bool
		want     Outcome
		rule     string
		order    int32
		unsure   bool
	}{
		{name: "no rule", want: Evicted},
		{name: "the KB's rule", rules: []ruleSpec{{name: "r", behavior: "Skip", pods: []string{kb}}}, want: Skipped, rule: "r"},
		{name: "other namespace", rules: []ruleSpec{{name: "r", behavior: "Skip", pods: []string{agentLabel + "=v3 | kubernetes.io/metadata.name=vmware-system-tmc"}}}, want: Evicted},
		{name: "other value", rules: []ruleSpec{{name: "r", behavior: "Skip", pods: []string{agentLabel + "=v2 | kubernetes.io/metadata.name=pinniped-concierge"}}}, want: Evicted},
		{name: "key exists", rules: []ruleSpec{{name: "r", behavior: "Skip", pods: []string{agentLabel + " | "}}}, want: Skipped, rule: "r"},
		{name: "second entry matches: entries are alternatives", rules: []ruleSpec{{name: "r", behavior: "Skip", pods: []string{"app=x | ", kb}}}, want: Skipped, rule: "r"},
		{name: "both selectors of an entry must match", rules: []ruleSpec{{name: "r", behavior: "Skip", pods: []string{"app=x | kubernetes.io/metadata.name=pinniped-concierge", agentLabel + " | kubernetes.io/metadata.name=other"}}}, want: Evicted},
		{name: "no pods: every pod", rules: []ruleSpec{{name: "r", behavior: "Skip"}}, want: Skipped, rule: "r"},
		{name: "empty selectors match everything", rules: []ruleSpec{{name: "r", behavior: "Skip", pods: []string{" | "}, machines: []string{" | "}}}, want: Skipped, rule: "r"},
		{name: "machines selector includes", rules: []ruleSpec{{name: "r", behavior: "Skip", machines: []string{"cluster.x-k8s.io/cluster-name=web | "}, pods: []string{kb}}}, want: Skipped, rule: "r"},
		{name: "machines selector excludes", rules: []ruleSpec{{name: "r", behavior: "Skip", machines: []string{"cluster.x-k8s.io/cluster-name=api | "}, pods: []string{kb}}}, want: Evicted},
		{name: "cluster selector includes", rules: []ruleSpec{{name: "r", behavior: "Skip", machines: []string{" | env=prod"}, pods: []string{kb}}}, want: Skipped, rule: "r"},
		{name: "cluster selector excludes", rules: []ruleSpec{{name: "r", behavior: "Skip", machines: []string{" | env=test"}, pods: []string{kb}}}, want: Evicted},
		{name: "machine and cluster selector of one entry must both match", rules: []ruleSpec{{name: "r", behavior: "Skip", machines: []string{"cluster.x-k8s.io/cluster-name=web | env=test", "cluster.x-k8s.io/cluster-name=api | env=prod"}, pods: []string{kb}}}, want: Evicted},
		{name: "cluster not read", rules: []ruleSpec{{name: "r", behavior: "Skip", machines: []string{" | env=prod"}, pods: []string{kb}}}, noObject: true, want: Evicted, unsure: true},
		{name: "other vSphere Namespace", rules: []ruleSpec{{name: "r", namespace: "team-b", behavior: "Skip", pods: []string{kb}}}, want: Evicted},
		{name: "first name wins, whatever the order they come in", rules: []ruleSpec{{name: "b", behavior: "Skip", pods: []string{kb}}, {name: "a", behavior: "Drain", order: 7, pods: []string{agentLabel + " | "}}}, want: Evicted, rule: "a", order: 7},
		{name: "an earlier rule for other pods does not shadow", rules: []ruleSpec{{name: "a", behavior: "Drain", pods: []string{"app=x | "}}, {name: "b", behavior: "Skip", pods: []string{kb}}}, want: Skipped, rule: "b"},
		{name: "an earlier rule for other Machines does not shadow", rules: []ruleSpec{{name: "a", behavior: "Drain", machines: []string{"cluster.x-k8s.io/cluster-name=api | "}}, {name: "b", behavior: "Skip", pods: []string{kb}}}, want: Skipped, rule: "b"},
		{name: "names sort as bytes: digits before letters, capitals do not exist", rules: []ruleSpec{{name: "vks-10", behavior: "Drain", pods: []string{kb}}, {name: "vks-9", behavior: "Skip", pods: []string{kb}}}, want: Evicted, rule: "vks-10"},
		{name: "wait for completion", rules: []ruleSpec{{name: "r", behavior: "WaitCompleted", pods: []string{kb}}}, want: Waited, rule: "r"},
		{name: "unknown behavior fails the drain", rules: []ruleSpec{{name: "r", behavior: "Later", pods: []string{kb}}}, want: Fails, rule: "r"},
		{name: "unknown behavior for other pods does not", rules: []ruleSpec{{name: "r", behavior: "Later", pods: []string{"app=x | "}}}, want: Evicted},
		{name: "one invalid rule fails every drain", rules: []ruleSpec{{name: "z", behavior: "Skip", invalid: "spec.pods[0]: no"}, {name: "a", behavior: "Skip", pods: []string{kb}}}, want: Fails, rule: "z"},
		{name: "an invalid rule for another cluster's Machines as well", rules: []ruleSpec{{name: "z", behavior: "Skip", invalid: "x", machines: []string{"cluster.x-k8s.io/cluster-name=api | "}}}, want: Fails, rule: "z"},
		{name: "an invalid rule of another vSphere Namespace does not", rules: []ruleSpec{{name: "z", namespace: "team-b", behavior: "Skip", invalid: "x"}}, want: Evicted},
		{name: "label skip", pod: labelled("skip"), want: Skipped},
		{name: "label skip in capitals", pod: labelled("SKIP"), want: Skipped},
		{name: "label beats rules", pod: labelled("skip"), rules: []ruleSpec{{name: "r", behavior: "WaitCompleted"}}, want: Skipped},
		{name: "label beats an invalid rule for this pod", pod: labelled("skip"), rules: []ruleSpec{{name: "z", behavior: "Skip", invalid: "x"}}, want: Skipped},
		{name: "label wait-completed", pod: labelled("wait-completed"), want: Waited},
		{name: "label WaitCompleted", pod: labelled("WaitCompleted"), want: Waited},
		{name: "label with another value means nothing", pod: labelled("never"), want: Evicted},
		{name: "DaemonSet", pod: func(p *model.Pod) { p.DaemonSet = true }, want: Ignored},
		{name: "finished DaemonSet pod", pod: func(p *model.Pod) { p.DaemonSet, p.Phase = true, "Failed" }, want: Evicted},
		{name: "DaemonSet beats rules", pod: func(p *model.Pod) { p.DaemonSet = true }, rules: []ruleSpec{{name: "r", behavior: "WaitCompleted"}}, want: Ignored},
		{name: "static pod", pod: func(p *model.Pod) { p.Mirror = true }, want: Ignored},
		{name: "terminating", pod: func(p *model.Pod) { p.Deleting = now.Add(-time.Minute) }, want: Evicted},
		{name: "terminating on a node that does not answer", pod: func(p *model.Pod) { p.Deleting = now.Add(-time.Minute) }, down: true, want: Ignored},
		{name: "just terminating on a node that does not answer", pod: func(p *model.Pod) { p.Deleting = now }, down: true, want: Evicted},
		{name: "not terminating on a node that does not answer", down: true, want: Evicted},
		{name: "namespace by another label, read", nsLabels: map[string]map[string]string{"pinniped-concierge": {"team": "id"}}, rules: []ruleSpec{{name: "r", behavior: "Skip", pods: []string{" | team=id"}}}, want: Skipped, rule: "r"},
		{name: "namespace by another label, not read", rules: []ruleSpec{{name: "r", behavior: "Skip", pods: []string{" | team=id"}}}, want: Evicted, unsure: true},
		{name: "namespace by its name, and by a label that was not read", rules: []ruleSpec{{name: "r", behavior: "Skip", pods: []string{" | team=id,kubernetes.io/metadata.name=other"}}}, want: Evicted},
		{name: "labels of other namespaces read: the name's own label is still there", nsLabels: map[string]map[string]string{"pinniped-concierge": {}}, rules: []ruleSpec{{name: "r", behavior: "Skip", pods: []string{kb}}}, want: Skipped, rule: "r"},
		{name: "all but one namespace", rules: []ruleSpec{{name: "r", behavior: "Skip", pods: []string{" | kubernetes.io/metadata.name notin (kube-system)"}}}, want: Skipped, rule: "r"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl, m := scene(t, c.rules)
			if c.noObject {
				cl.Object = nil
			}
			p := agent()
			if c.pod != nil {
				c.pod(p)
			}
			got := NewPlan(cl, m).Treat(p, c.nsLabels, c.down, now)
			if got.Outcome != c.want || got.Rule != c.rule || got.Order != c.order || (got.Unsure != "") != c.unsure {
				t.Errorf("got %+v, want %s by rule %q, order %d, unsure %v", got, c.want, c.rule, c.order, c.unsure)
			}
			if got.Why == "" {
				t.Error("it does not say why")
			}
		})
	}
}

var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func TestPlanLeavesTheClusterAlone(t *testing.T) {
	c, m := scene(t, []ruleSpec{{name: "b"}, {name: "a"}})
	NewPlan(c, m)
	if c.DrainRules[0].Name != "b" {
		t.Error("the rules of the cluster were sorted in place")
	}
}

func TestRelate(t *testing.T) {
	concierge := Subject{Namespace: "pinniped-concierge", Name: "agent-1", Labels: map[string]string{agentLabel: "v3"}, LabelsKnown: true}
	tmc := Subject{Namespace: "vmware-system-tmc", Name: "agent-2", Labels: map[string]string{agentLabel: "v3"}, LabelsKnown: true}
	old := Subject{Namespace: "pinniped-concierge", Name: "agent-0", Labels: map[string]string{agentLabel: "v2"}, LabelsKnown: true}
	named := Subject{Namespace: "pinniped-concierge", Name: "pinniped-concierge-kube-cert-agent-x", HasKeys: []string{agentLabel}}
	kbTMC := agentLabel + "=v3 | kubernetes.io/metadata.name=vmware-system-tmc"
	for _, c := range []struct {
		name  string
		rules []ruleSpec
		pods  []Subject
		of    string // the rule that is asked about.
		state RuleState
		why   string // a part of it.
		by    string
		every bool
	}{
		{"covers", []ruleSpec{{name: "r", behavior: "Skip", pods: []string{kb}}}, []Subject{concierge}, "r", Covering, "pinniped-concierge", "", false},
		{"covers two with two entries", []ruleSpec{{name: "r", behavior: "Skip", pods: []string{kb, kbTMC}}}, []Subject{concierge, tmc}, "r", Covering, "pinniped-concierge, vmware-system-tmc", "", false},
		{"covers one of two", []ruleSpec{{name: "r", behavior: "Skip", pods: []string{kb}}}, []Subject{concierge, tmc}, "r", Partly, "does not cover the namespace vmware-system-tmc", "", false},
		{"other namespace", []ruleSpec{{name: "r", behavior: "Skip", pods: []string{kb}}}, []Subject{tmc}, "r", NotCovering, "does not cover the namespace vmware-system-tmc", "", false},
		{"other value", []ruleSpec{{name: "r", behavior: "Skip", pods: []string{kb}}}, []Subject{old}, "r", NotCovering, "the label is v2", "", false},
		{"other Machines", []ruleSpec{{name: "r", behavior: "Skip", machines: []string{"cluster.x-k8s.io/cluster-name=api | "}, pods: []string{kb}}}, []Subject{concierge}, "r", NotCovering, "excludes this Machine", "", false},
		{"other clusters", []ruleSpec{{name: "r", behavior: "Skip", machines: []string{" | env=test"}, pods: []string{kb}}}, []Subject{concierge}, "r", NotCovering, "excludes this cluster", "", false},
		{"other vSphere Namespace", []ruleSpec{{name: "r", namespace: "team-b", behavior: "Skip", pods: []string{kb}}}, []Subject{concierge}, "r", NotCovering, "team-b", "", false},
		{"shadowed by an earlier name", []ruleSpec{{name: "a", behavior: "Drain", pods: []string{agentLabel + " | "}}, {name: "b", behavior: "Skip", pods: []string{kb}}}, []Subject{concierge}, "b", Shadowed, "comes first by name", "a", false},
		{"the one that shadows does something else", []ruleSpec{{name: "a", behavior: "Drain", pods: []string{agentLabel + " | "}}, {name: "b", behavior: "Skip", pods: []string{kb}}}, []Subject{concierge}, "a", OtherBehaviour, "Drain", "", false},
		{"shadowed by one that waits", []ruleSpec{{name: "a", behavior: "WaitCompleted"}, {name: "b", behavior: "Skip", pods: []string{kb}}}, []Subject{concierge}, "b", Shadowed, "", "a", false},
		{"an earlier one that skips too does no harm", []ruleSpec{{name: "a", behavior: "Skip"}, {name: "b", behavior: "Skip", pods: []string{kb}}}, []Subject{concierge}, "b", Covering, "", "", false},
		{"a later one does not shadow", []ruleSpec{{name: "a", behavior: "Skip", pods: []string{kb}}, {name: "b", behavior: "Drain"}}, []Subject{concierge}, "a", Covering, "", "", false},
		{"invalid", []ruleSpec{{name: "r", behavior: "Skip", invalid: "spec.pods[0].selector: no"}}, []Subject{concierge}, "r", InvalidRule, "every drain", "", false},
		{"no pods selector", []ruleSpec{{name: "r", behavior: "Skip"}}, []Subject{concierge}, "r", Covering, "every pod", "", true},
		{"known by name only, value asked for", []ruleSpec{{name: "r", behavior: "Skip", pods: []string{kb}}}, []Subject{named}, "r", Unsure, "were not read", "", false},
		{"known by name only, key asked for", []ruleSpec{{name: "r", behavior: "Skip", pods: []string{agentLabel + " | kubernetes.io/metadata.name=pinniped-concierge"}}}, []Subject{named}, "r", Covering, "", "", false},
		{"known by name only, without the key", []ruleSpec{{name: "r", behavior: "Skip", pods: []string{"!" + agentLabel + " | "}}}, []Subject{named}, "r", NotCovering, "", "", false},
		{"no pod known", []ruleSpec{{name: "r", behavior: "Skip", pods: []string{kb}}}, nil, "r", Unsure, "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl, m := scene(t, c.rules)
			for _, v := range NewPlan(cl, m).Relate(c.pods) {
				if v.Name != c.of {
					continue
				}
				if v.State != c.state || !strings.Contains(v.Why, c.why) || v.ByName != c.by || v.Everything != c.every {
					t.Errorf("got %+v, want %s by %q, everything %v, with %q", v, c.state, c.by, c.every, c.why)
				}
				return
			}
			t.Error("the rule is not among the verdicts")
		})
	}
}

func TestNameBefore(t *testing.T) {
	const wish = "vks-pod-drain-skip-pinniped"
	for _, c := range []struct {
		others []string
		want   string
		ok     bool
	}{
		{nil, wish, true},
		{[]string{"zebra"}, wish, true},
		{[]string{wish}, wish, true},
		{[]string{"default-drain"}, "a-" + wish, true},
		{[]string{"a-drain-all"}, "0-" + wish, true},
		{[]string{"0-first", "b"}, "0-0-" + wish, true},
		{[]string{"0"}, "", false},
	} {
		got, ok := NameBefore(wish, c.others...)
		if got != c.want || ok != c.ok {
			t.Errorf("before %v: %q, %v, want %q, %v", c.others, got, ok, c.want, c.ok)
		}
		for _, o := range c.others {
			if ok && o != wish && got >= o {
				t.Errorf("%q does not come before %q", got, o)
			}
		}
	}
}
