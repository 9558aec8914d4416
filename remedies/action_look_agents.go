package remedies

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
)

// lookAtAgents reads the Machine, the agents and the drain rules live, and shows what holds the drain.
type lookAtAgents struct{}

type lookAtAgentsParams struct {
	// Label is the label by which agents are known.
	Label string `yaml:"label"`
}

func (p *lookAtAgentsParams) check() error { return required("label", p.Label) }

func (lookAtAgents) kind() StepKind { return StepLook }
func (lookAtAgents) params() any    { return &lookAtAgentsParams{} }

func (lookAtAgents) look(ctx context.Context, s *scene) (seen, error) {
	p := s.params.(*lookAtAgentsParams) //nolint:errcheck,forcetypeassert // what params returned.
	m, err := s.machine(ctx)
	if err != nil {
		return seen{}, err
	}
	var out seen
	if m == nil {
		out.add('!', "Machine %s is gone: there is nothing left to mend", s.target.Ref.Name)
		out.note = "the Machine is gone"
		return out, nil
	}
	d := lifecycle.StageOf(m)
	sign := ' '
	if d.Stage != lifecycle.Draining {
		sign = '!'
	}
	since := ""
	if !d.Since.IsZero() {
		since = " since " + text.Age(s.now().Sub(d.Since))
	}
	out.add(sign, "Machine %s: %s%s", m.Name, d.Stage.Words(), since)
	if m.NodeName != "" {
		out.add(' ', "Node %s", m.NodeName)
	}
	groups, pods, blind := s.agents(ctx, p.Label)
	if blind != nil {
		out.add('!', "%s; going by what was found before", short(blind))
	}
	for _, g := range groups {
		value := "value not known"
		if len(g.Values) > 0 {
			value = list(g.Values)
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
		return seen{}, err
	}
	if len(groups) > 0 {
		out.note = fmt.Sprintf("agents in %s", list(namespacesOf(groups)))
	}
	return out, nil
}

func (o *seen) add(sign rune, format string, args ...any) {
	o.lines = append(o.lines, Line{Sign: sign, Text: text.Clean(fmt.Sprintf(format, args...))})
}

// addRules says what each drain rule of the vSphere Namespace does for the agents.
func (o *seen) addRules(ctx context.Context, s *scene, m *model.Machine, groups []agents) error {
	r, err := s.rules(ctx)
	if err != nil {
		return err
	}
	switch {
	case !r.served:
		o.add('!', "MachineDrainRule is not served: Cluster API is older than 1.9")
	case len(r.rows) == 0:
		o.add(' ', "no MachineDrainRule in %s", s.cluster.Namespace)
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

func podWords(p *model.Pod, s *scene) string {
	w := []string{p.Phase}
	if p.Waiting != "" {
		w = append(w, p.Waiting)
	}
	if !p.Deleting.IsZero() {
		w = append(w, "being deleted")
	}
	if !p.Created.IsZero() {
		w = append(w, text.Age(s.now().Sub(p.Created))+" old")
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

// required says which parameter is missing. It is asked of names and values in turn.
func required(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			return fmt.Errorf("%s has to be given", pairs[i])
		}
	}
	return nil
}
