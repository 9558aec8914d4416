package drainrule

import (
	"context"
	"fmt"
	"strings"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
)

// drainRule makes the drain of the Machine skip the agents: by a new
// MachineDrainRule, or by a change to the one that is there.
type drainRule struct{}

// RuleParams are the parameters of drain-rule.
type RuleParams struct {
	Name  string `yaml:"name" need:"yes" form:"name" doc:"the rule's name, where it is free"`
	Label string `yaml:"label" need:"yes" doc:"the label of the agents"`
	Reach string `yaml:"reach" need:"yes" oneof:"namespace,cluster" doc:"namespace: every Machine in the vSphere Namespace; cluster: those of this cluster"`
}

// Kind is change.
func (drainRule) Kind() remedies.StepKind { return remedies.StepChange }

// Plan says which rule is made or changed.
func (drainRule) Plan(ctx context.Context, sc *remedies.Scene) (*remedies.Plan, error) {
	s := scene{sc}
	p := s.Params.(*RuleParams) //nolint:errcheck,forcetypeassert // what params returned.
	out := &remedies.Plan{Preview: remedies.Preview{Title: "MachineDrainRule " + p.Name}}
	m, err := s.machine(ctx)
	if err != nil {
		return nil, err
	}
	if over := drainOver(m); over != "" {
		out.Basis = []string{over}
		out.Preview.Done = "Machine " + s.Target.Ref.Name + " " + over + ": there is nothing to do any more"
		return out, nil
	}
	out.Basis = []string{"Machine " + m.Name + " (" + m.UID + ") is in its drain"}
	r, err := s.rules(ctx)
	if err != nil {
		return nil, err
	}
	if !r.served {
		notServed(s, &out.Preview, m)
		return out, nil
	}
	groups, _, blind := s.agents(ctx, p.Label)
	if blind != nil {
		out.Preview.Warnings = append(out.Preview.Warnings, remedies.Short(blind)+"; the rule goes by what was found before")
	}
	for _, g := range groups {
		out.Basis = append(out.Basis, fmt.Sprintf("agents in %s: %s", g.Namespace, remedies.List(g.Values)))
	}
	out.Basis = append(out.Basis, r.lines()...)
	a := decideRule(ruleQuestion{Wish: p.Name, Label: p.Label, Reach: p.Reach, GVR: r.gvr, Cluster: s.picture(ctx, r), Machine: m,
		Agents: groups, Live: r.live})
	pv := &out.Preview
	if a.title != "" {
		pv.Title = a.title
	}
	pv.Done, pv.Blocked = a.done, a.blocked
	pv.Warnings = append(pv.Warnings, a.warnings...)
	pv.Means = a.means
	if a.change != nil {
		out.Effect = a.change
		reaches(ctx, s, pv, a.change)
	}
	return out, nil
}

// drainOver says why the drain does not have to be helped any more; empty while it runs
// or has not begun.
func drainOver(m *model.Machine) string {
	if m == nil {
		return "is gone"
	}
	switch d := lifecycle.StageOf(m); {
	case d.Stage == lifecycle.NotDeleting:
		return "is not being deleted"
	case d.Stage.Index() > lifecycle.Draining.Index():
		return "is through its drain"
	}
	return ""
}

// reaches says what the rule touches besides this Machine, and how it is taken back. The
// clusters are read live, since they bind; how many Machines there are comes from the
// picture, which may still be filling up, and does not.
func reaches(ctx context.Context, s scene, pv *remedies.Preview, c *effect.Object) {
	machines := nested(c.Want, "spec", "machines")
	n, here := 0, 0
	if sn := s.Snapshot(); sn != nil {
		for _, k := range sn.Clusters {
			if k.Ref.Namespace != s.Cluster.Namespace {
				continue
			}
			n += len(k.Machines)
			if k.Ref == s.Cluster {
				here = len(k.Machines)
			}
		}
	}
	if len(machines) == 0 {
		switch others, err := s.otherClusters(ctx); {
		case err != nil:
			pv.Reaches = append(pv.Reaches, "every cluster in "+s.Cluster.Namespace+"; which there are could not be read: "+remedies.Short(err))
		case len(others) > 0:
			pv.Reaches = append(pv.Reaches, text.List(others, 10))
		default:
			pv.Reaches = append(pv.Reaches, "no other cluster: there is none in "+s.Cluster.Namespace+" now")
		}
		if n > 0 {
			pv.Now = append(pv.Now, fmt.Sprintf("%s in %s", text.Plural(n, "Machine"), s.Cluster.Namespace))
		}
		pv.Means = append(pv.Means, "It also counts for clusters that come later, and for nodes that a health check replaces.")
	} else {
		pv.Reaches = append(pv.Reaches, "no cluster but those that it names")
		if here > 0 {
			pv.Now = append(pv.Now, fmt.Sprintf("%s of %s", text.Plural(here, "Machine"), s.Cluster.Name))
		}
	}
	pv.Means = append(pv.Means, "The drain no longer waits for the agents: they end with their node, and pinniped starts one elsewhere.")
	pv.TakeBack = "delete the rule"
	if c.Verb == effect.Update {
		pv.TakeBack = "take out what is added here"
	}
}

// nested is a list in an object; nil where there is none. It is not copied.
func nested(o map[string]any, path ...string) []any {
	var v any = o
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[p]
	}
	l, _ := v.([]any)
	return l
}

// notServed says what is left where Cluster API has no drain rules. Nothing is applied
// then: both ways have a price that the engineer has to weigh.
func notServed(s scene, pv *remedies.Preview, m *model.Machine) {
	pv.Title = "No MachineDrainRule here"
	pv.Blocked = "MachineDrainRule is not served: this Cluster API is older than 1.9 (VKS before 3.3). Nothing is applied; what is left is done by hand."
	kubectl := strings.Join(s.Sites.Kubectl, " ")
	pv.Means = []string{
		"Either give the drain an end: nodeDrainTimeout on the control plane in the Cluster's topology (spec.topology.controlPlane.nodeDrainTimeout, such as 10m). " +
			"When it is over, Cluster API skips what is left of the drain: pods that a disruption budget protects are cut off too, in every later drain.",
		"Or skip the drain of this one Machine: " + kubectl + " annotate machine -n " + remedies.Quote(m.Namespace) + " " + remedies.Quote(m.Name) +
			" machine.cluster.x-k8s.io/exclude-node-draining= . Every pod on the node then ends with its VM, whatever budgets say: look at what runs there first.",
		"Do not delete the node or the Machine by hand. The lasting way is a VKS of 3.3 or later.",
		"h looks whether one of the two was done.",
	}
}

// Verify says whether the drain will skip the agents, or needs no help any more.
func (drainRule) Verify(sc *remedies.Scene) remedies.Watch {
	p := sc.Params.(*RuleParams) //nolint:errcheck,forcetypeassert // the registry's type.
	return remedies.Once(func(ctx context.Context) (bool, string, error) { return agentsPass(ctx, scene{sc}, p.Label) })
}

// agentsPass reads live whether the Machine's drain lets the agents pass.
func agentsPass(ctx context.Context, s scene, label string) (bool, string, error) {
	m, err := s.machine(ctx)
	if err != nil {
		return false, "", err
	}
	if over := drainOver(m); over != "" {
		return true, "Machine " + s.Target.Ref.Name + " " + over, nil
	}
	r, err := s.rules(ctx)
	if err != nil {
		return false, "", err
	}
	switch {
	case m.ExcludeDrain:
		return true, "Machine " + m.Name + " is not drained (exclude-node-draining)", nil
	case !r.served && m.DrainTimeout != nil && *m.DrainTimeout > 0:
		return true, "the drain ends after " + text.Age(*m.DrainTimeout) + " (node drain timeout)", nil
	case !r.served:
		return false, "MachineDrainRule is not served, and neither a node drain timeout nor exclude-node-draining is set", nil
	}
	groups, _, _ := s.agents(ctx, label)
	pods := allPods(groups)
	if len(pods) == 0 {
		return false, "it is not known in which namespace the agents are", nil
	}
	plan := lifecycle.NewPlan(s.picture(ctx, r), m)
	if len(plan.Invalid) > 0 {
		return false, "MachineDrainRule " + plan.Invalid[0].Name + " has an invalid selector, so that every drain in " + s.Cluster.Namespace + " fails", nil
	}
	open, shadows, labelled := uncovered(plan, pods)
	switch {
	case len(labelled) > 0:
		return false, "the label " + lifecycle.PodLabel + " on " + remedies.List(labelled) + " beats every rule", nil
	case len(open) > 0 && len(shadows) > 0:
		return false, "MachineDrainRule " + remedies.List(shadows) + " comes first and decides for the agents", nil
	case len(open) > 0:
		return false, "no MachineDrainRule lets the drain skip the agents in " + open[0].Namespace, nil
	}
	return true, coveredBy(plan, pods), nil
}
