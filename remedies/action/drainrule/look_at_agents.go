package drainrule

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
	"vksmedic/remedies"
)

// lookAtAgents reads the Machine, the agents and the drain rules live, and shows what holds the drain.
type lookAtAgents struct{}

// found is what a look brought, while it is put together.
type found remedies.Found

// LookAtAgentsParams are the parameters of look-at-agents.
type LookAtAgentsParams struct {
	Label string `yaml:"label" need:"yes" doc:"the label by which agents are known"`
}

// Kind is look.
func (lookAtAgents) Kind() remedies.StepKind { return remedies.StepLook }

// Look reads the Machine, the agents and the rules.
func (lookAtAgents) Look(ctx context.Context, sc *remedies.Scene) (remedies.Found, error) {
	s := scene{sc}
	p := s.Params.(*LookAtAgentsParams) //nolint:errcheck,forcetypeassert // what params returned.
	m, err := s.machine(ctx)
	if err != nil {
		return remedies.Found{}, err
	}
	var out found
	if m == nil {
		out.add('!', "Machine %s is gone: there is nothing left to mend", s.Target.Ref.Name)
		out.Note = "the Machine is gone"
		return remedies.Found(out), nil
	}
	d := lifecycle.StageOf(m)
	sign := ' '
	if d.Stage != lifecycle.Draining {
		sign = '!'
	}
	since := ""
	if !d.Since.IsZero() {
		since = " since " + text.Age(s.Now().Sub(d.Since))
	}
	out.add(sign, "Machine %s: %s%s", m.Name, d.Stage.Words(), since)
	if m.NodeName != "" {
		out.add(' ', "Node %s", m.NodeName)
	}
	groups, pods, blind := s.agents(ctx, p.Label)
	if blind != nil {
		out.add('!', "%s; going by what was found before", remedies.Short(blind))
	}
	for _, g := range groups {
		value := "value not known"
		if len(g.Values) > 0 {
			value = remedies.List(g.Values)
		}
		out.add(' ', "agents in namespace %s, label %s: %s", g.Namespace, p.Label, value)
		for _, pod := range onNode(pods, g.Namespace, m.NodeName) {
			out.add(' ', "  %s on this node, %s", pod.Name, podWords(&pod, s))
		}
	}
	if len(groups) == 0 {
		out.add('!', "no agent was seen and none is named: the rule cannot be written without its namespace")
	}
	if err := out.addRules(ctx, s, m, groups); err != nil {
		return remedies.Found{}, err
	}
	if len(groups) > 0 {
		out.Note = fmt.Sprintf("agents in %s", remedies.List(namespacesOf(groups)))
	}
	return remedies.Found(out), nil
}

func (o *found) add(sign rune, format string, args ...any) {
	o.Lines = append(o.Lines, remedies.Line{Sign: sign, Text: text.Clean(fmt.Sprintf(format, args...))})
}

// addRules says what each drain rule of the vSphere Namespace does for the agents.
func (o *found) addRules(ctx context.Context, s scene, m *model.Machine, groups []agents) error {
	r, err := s.rules(ctx)
	if err != nil {
		return err
	}
	switch {
	case !r.served:
		o.add('!', "MachineDrainRule is not served: Cluster API is older than 1.9")
	case len(r.rows) == 0:
		o.add(' ', "no MachineDrainRule in %s", s.Cluster.Namespace)
	}
	for _, v := range lifecycle.NewPlan(s.picture(ctx, r), m).Relate(allPods(groups)) {
		sign := ' '
		if v.State == lifecycle.InvalidRule || v.State == lifecycle.OtherBehaviour {
			sign = '!'
		}
		o.add(sign, "MachineDrainRule %s: %s; %s", v.Name, strings.ReplaceAll(string(v.State), "-", " "), v.Why)
	}
	return nil
}

func onNode(pods []model.Pod, namespace, node string) []model.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(p model.Pod) bool { return p.Namespace != namespace || p.Node != node })
}

func podWords(p *model.Pod, s scene) string {
	w := []string{p.Phase}
	if p.Waiting != "" {
		w = append(w, p.Waiting)
	}
	if !p.Deleting.IsZero() {
		w = append(w, "being deleted")
	}
	if !p.Created.IsZero() {
		w = append(w, text.Age(s.Now().Sub(p.Created))+" old")
	}
	return strings.Join(w, ", ")
}

func namespacesOf(groups []agents) []string {
	var out []string
	for _, g := range groups {
		out = append(out, g.Namespace)
	}
	return out
}
