package drainrule

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
	"vksmedic/probes/object"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
)

const (
	drainRuleKind = "MachineDrainRule"
	// maxEntries is how many entries spec.pods and spec.machines may have (the CRD's schema).
	maxEntries = 32

	reachNamespace = "namespace"
	reachCluster   = "cluster"
)

// agents are the agent pods of one namespace that a rule has to match.
type agents struct {
	Namespace string
	// Values are the values of the agents' label, sorted; empty where only their names are known.
	Values []string
	// Pods are the same as rules see them, one for each value or one by name.
	Pods []lifecycle.Subject
}

// ruleQuestion is all that the decision about a drain rule rests on.
type ruleQuestion struct {
	Wish  string // the name that the article gives the rule.
	Label string // the label of the agents.
	Reach string // namespace or cluster.
	GVR   schema.GroupVersionResource
	// Cluster holds the Cluster's labels and the rules of the vSphere Namespace as they are now.
	Cluster *model.Cluster
	Machine *model.Machine
	Agents  []agents
	// Live are the same rules as objects, by name.
	Live map[string]*unstructured.Unstructured
}

// ruleAnswer is what to do.
type ruleAnswer struct {
	change   *effect.Object
	title    string
	done     string // nothing to do, and why.
	blocked  string // nothing can be done, and why.
	means    []string
	warnings []string
}

// decideRule finds the smallest change after which the drain of the Machine skips all of
// the agents: none, a new rule, or entries added to the rule of that name.
func decideRule(q ruleQuestion) ruleAnswer {
	var a ruleAnswer
	pods := allPods(q.Agents)
	if len(pods) == 0 {
		a.blocked = "it is not known in which namespace the agents are, so no rule can be written for them"
		return a
	}
	plan := lifecycle.NewPlan(q.Cluster, q.Machine)
	var broken []string
	for _, r := range plan.Invalid {
		if r.Name != q.Wish {
			broken = append(broken, r.Name)
		}
	}
	if len(broken) > 0 {
		a.warnings = append(a.warnings, fmt.Sprintf("MachineDrainRule %s has an invalid selector: every drain in %s fails until it is mended or deleted, whatever this rule says",
			remedies.List(broken), q.Cluster.Ref.Namespace))
	}
	open, shadows, labelled := uncovered(plan, pods)
	if len(labelled) > 0 {
		a.warnings = append(a.warnings, fmt.Sprintf("the label %s on %s beats every rule; it has to be taken off", lifecycle.PodLabel, remedies.List(labelled)))
	}
	own := q.Live[q.Wish]
	ownBroken := slices.ContainsFunc(plan.Invalid, func(r *model.DrainRule) bool { return r.Name == q.Wish })
	switch {
	case len(open) == 0 && len(broken) > 0:
		a.blocked = fmt.Sprintf("mend or delete MachineDrainRule %s first: it has an invalid selector, and every drain in %s fails until then",
			remedies.List(broken), q.Cluster.Ref.Namespace)
		return a
	case len(open) == 0 && len(labelled) > 0:
		a.blocked = "no rule helps: " + a.warnings[len(a.warnings)-1]
		return a
	case len(open) == 0 && !ownBroken:
		a.done = coveredBy(plan, pods) + " already"
		return a
	}
	if own != nil && q.extend(&a, own, plan, open, shadows) {
		return q.checked(a)
	}
	q.create(&a, open, shadows)
	return q.checked(a)
}

func allPods(groups []agents) []lifecycle.Subject {
	var out []lifecycle.Subject
	for _, g := range groups {
		out = append(out, g.Pods...)
	}
	return out
}

// uncovered are the pods that the drain does not skip, the names of the rules that decide
// for them otherwise, and the pods for which a label of their own decides. Invalid rules
// are left out: they are reported elsewhere.
func uncovered(plan *lifecycle.Plan, pods []lifecycle.Subject) (open []lifecycle.Subject, shadows, labelled []string) {
	valid := *plan
	valid.Invalid = nil
	for _, s := range pods {
		t := valid.TreatSubject(s)
		switch {
		case t.Outcome == lifecycle.Skipped && t.Unsure == "":
		case t.Outcome == lifecycle.Waited && t.Rule == "":
			labelled = append(labelled, s.Namespace+"/"+s.Name)
		default:
			open = append(open, s)
			if t.Rule != "" && t.Outcome != lifecycle.Skipped && !slices.Contains(shadows, t.Rule) {
				shadows = append(shadows, t.Rule)
			}
		}
	}
	return open, shadows, labelled
}

func coveredBy(plan *lifecycle.Plan, pods []lifecycle.Subject) string {
	rules := map[string]bool{}
	for _, s := range pods {
		if t := plan.TreatSubject(s); t.Rule != "" {
			rules[t.Rule] = true
		}
	}
	if len(rules) == 0 {
		return "the agents carry the label " + lifecycle.PodLabel + " and are skipped"
	}
	return "MachineDrainRule " + remedies.List(slices.Sorted(maps.Keys(rules))) + " lets the drain skip the agents"
}

// create makes a rule of its own: under the article's name, or one that comes before the
// rules that would shadow it.
func (q *ruleQuestion) create(a *ruleAnswer, open []lifecycle.Subject, shadows []string) {
	name, ok := q.freeName(shadows)
	if !ok {
		a.blocked = fmt.Sprintf("MachineDrainRule %s decides for the agents, and no name comes before it: change that rule, or rename it", remedies.List(shadows))
		return
	}
	spec := map[string]any{
		"drain": map[string]any{"behavior": lifecycle.BehaviorSkip},
		"pods":  q.entries(open),
	}
	if q.Reach == reachCluster {
		spec["machines"] = []any{q.machineEntry()}
	}
	c := effect.NewObject(supervisor(), effect.Create, q.GVR, drainRuleKind, q.Cluster.Ref.Namespace, name)
	c.Want = map[string]any{
		"apiVersion": q.GVR.GroupVersion().String(),
		"kind":       drainRuleKind,
		"metadata":   map[string]any{"name": name, "namespace": q.Cluster.Ref.Namespace},
		"spec":       spec,
	}
	a.change, a.title = c, "Create MachineDrainRule "+name
	if len(shadows) > 0 {
		a.warnings = append(a.warnings, fmt.Sprintf("MachineDrainRule %s matches the agents and comes first by name; the name %s comes before it",
			remedies.List(shadows), name))
	}
	if own := q.Live[q.Wish]; own != nil && name != q.Wish && !slices.Contains(shadows, q.Wish) {
		a.warnings = append(a.warnings, "there is a MachineDrainRule "+q.Wish+" already, which cannot be extended without changing what it does for other pods; it stays as it is")
	}
}

// freeName is the article's name for the rule, or one like it that nobody has and that
// comes before the rules that shadow it.
func (q *ruleQuestion) freeName(shadows []string) (string, bool) {
	first := q.Wish
	if slices.Contains(shadows, q.Wish) {
		first = "a-" + q.Wish // it is the rule of that very name that is in the way.
	}
	wish := first
	for n := 2; ; n++ {
		name, ok := lifecycle.NameBefore(wish, shadows...)
		if !ok {
			return "", false
		}
		if q.Live[name] == nil {
			return name, true
		}
		wish = fmt.Sprintf("%s-%d", first, n)
	}
}

// extend adds what is missing to the rule of the article's name. It returns false where
// that would not help, or would change what the rule does for other pods or Machines.
func (q *ruleQuestion) extend(a *ruleAnswer, own *unstructured.Unstructured, plan *lifecycle.Plan, open []lifecycle.Subject, shadows []string) bool {
	row := rowOfRule(own)
	if row == nil || row.Behavior != lifecycle.BehaviorSkip || len(row.Pods) == 0 || len(shadows) > 0 {
		return false
	}
	want := effect.Whole(own)
	pods, _, _ := unstructured.NestedSlice(want, "spec", "pods")
	machines, _, _ := unstructured.NestedSlice(want, "spec", "machines")
	reached := slices.ContainsFunc(plan.Rules, func(r lifecycle.Reach) bool { return r.Rule.Name == q.Wish && r.Unsure == "" })
	if len(machines) > 0 && (!reached || q.Reach == reachNamespace) {
		if !onlyFor(pods, q.Label) {
			return false
		}
		if q.Reach == reachNamespace {
			unstructured.RemoveNestedField(want, "spec", "machines")
			a.means = append(a.means, "The rule reached some Machines only; now it reaches every one in "+q.Cluster.Ref.Namespace+".")
		} else {
			machines = append(machines, q.machineEntry())
		}
	}
	var missing []lifecycle.Subject
	for _, s := range open {
		if m, _ := lifecycle.MatchesPod(row, s); m != model.Yes {
			missing = append(missing, s)
		}
	}
	if row.Invalid != "" {
		pods, missing = soundEntries(pods), open
		a.warnings = append(a.warnings, "the rule's broken entries are taken out: "+row.Invalid)
	}
	pods = append(pods, q.entries(missing)...)
	if len(pods) > maxEntries || len(machines) > maxEntries {
		return false
	}
	setSlice(want, pods, "spec", "pods")
	if q.Reach == reachCluster && len(machines) > 0 {
		setSlice(want, machines, "spec", "machines")
	}
	if q.Reach == reachCluster && len(machines) == 0 {
		a.means = append(a.means, "The rule that is there reaches every cluster in "+q.Cluster.Ref.Namespace+", and so will what is added.")
	}
	c := effect.NewObject(supervisor(), effect.Update, q.GVR, drainRuleKind, q.Cluster.Ref.Namespace, q.Wish).Over(own)
	c.Want = want
	a.change, a.title = c, "Change MachineDrainRule "+q.Wish
	return true
}

// checked refuses an answer that would not work, or would do too much.
func (q *ruleQuestion) checked(a ruleAnswer) ruleAnswer {
	if a.change == nil {
		return a
	}
	if err := guardDrainRule(a.change); err != nil {
		a.blocked, a.change = err.Error(), nil
		return a
	}
	after := *q.Cluster
	after.DrainRules = slices.DeleteFunc(slices.Clone(q.Cluster.DrainRules), func(r *model.DrainRule) bool { return r.Name == a.change.Name })
	row := rowOfRule(&unstructured.Unstructured{Object: a.change.Want})
	if row == nil || row.Invalid != "" {
		a.blocked, a.change = "MachineDrainRule "+a.change.Name+" has an invalid selector that cannot be mended by adding to it: mend or delete it by hand", nil
		return a
	}
	after.DrainRules = append(after.DrainRules, row)
	if open, shadows, _ := uncovered(lifecycle.NewPlan(&after, q.Machine), allPods(q.Agents)); len(open) > 0 {
		a.blocked = "no rule was found that lets the drain skip all of the agents"
		if len(shadows) > 0 {
			a.blocked += "; MachineDrainRule " + remedies.List(shadows) + " decides for them"
		}
		a.change = nil
	}
	return a
}

// entries are the entries for spec.pods: one for each namespace.
func (q *ruleQuestion) entries(pods []lifecycle.Subject) []any {
	var order []string
	values := map[string][]string{}
	unknown := map[string]bool{}
	for _, s := range pods {
		if !slices.Contains(order, s.Namespace) {
			order = append(order, s.Namespace)
		}
		v, ok := s.Labels[q.Label]
		switch {
		case !ok:
			unknown[s.Namespace] = true
		case !slices.Contains(values[s.Namespace], v):
			values[s.Namespace] = append(values[s.Namespace], v)
		}
	}
	slices.Sort(order)
	var out []any
	for _, ns := range order {
		slices.Sort(values[ns])
		out = append(out, map[string]any{
			"namespaceSelector": map[string]any{"matchLabels": map[string]any{lifecycle.NamespaceNameLabel: ns}},
			"selector":          agentSelector(q.Label, values[ns], unknown[ns]),
		})
	}
	return out
}

func agentSelector(label string, values []string, unknown bool) map[string]any {
	switch {
	case unknown || len(values) == 0:
		return map[string]any{"matchExpressions": []any{map[string]any{"key": label, "operator": "Exists"}}}
	case len(values) == 1:
		return map[string]any{"matchLabels": map[string]any{label: values[0]}}
	}
	in := make([]any, len(values))
	for i, v := range values {
		in[i] = v
	}
	return map[string]any{"matchExpressions": []any{map[string]any{"key": label, "operator": "In", "values": in}}}
}

// machineEntry selects the Machines of this cluster.
func (q *ruleQuestion) machineEntry() map[string]any {
	name := q.Cluster.Ref.Name
	if v := q.Machine.Labels[clusterv1.ClusterNameLabel]; v != "" {
		name = v
	}
	return map[string]any{"selector": map[string]any{"matchLabels": map[string]any{clusterv1.ClusterNameLabel: name}}}
}

// errSkipsAll refuses a rule, such as one with a typing error, with which a drain evicts nothing.
var errSkipsAll = errors.New("refused: a MachineDrainRule with behavior Skip and without pods would let every pod pass, and workloads would be cut off")

// guardDrainRule refuses a rule that skips pods without naming them: no spec.pods, or an
// entry whose selector matches every pod. It is asked again before anything is sent.
func guardDrainRule(c *effect.Object) error {
	if c.Of != drainRuleKind || c.Verb == effect.Delete {
		return nil
	}
	pods, _, err := unstructured.NestedSlice(c.Want, "spec", "pods")
	if err != nil || len(pods) == 0 {
		return errSkipsAll
	}
	before, _, _ := unstructured.NestedSlice(c.Was, "spec", "pods")
	for _, p := range pods {
		entry, _ := p.(map[string]any)
		sel, _, _ := unstructured.NestedMap(entry, "selector")
		if len(sel) == 0 && !containsEntry(before, p) { // what others wrote is theirs.
			return errSkipsAll
		}
	}
	return nil
}

func containsEntry(entries []any, e any) bool {
	return slices.ContainsFunc(entries, func(o any) bool { return reflect.DeepEqual(o, e) })
}

// onlyFor says whether every entry selects pods by a label.
func onlyFor(pods []any, label string) bool {
	return !slices.ContainsFunc(pods, func(p any) bool {
		entry, _ := p.(map[string]any)
		equal, _, _ := unstructured.NestedMap(entry, "selector", "matchLabels")
		if _, ok := equal[label]; ok {
			return false
		}
		exprs, _, _ := unstructured.NestedSlice(entry, "selector", "matchExpressions")
		return !slices.ContainsFunc(exprs, func(x any) bool {
			m, _ := x.(map[string]any)
			return m["key"] == label && (m["operator"] == "In" || m["operator"] == "Exists")
		})
	})
}

// soundEntries are those entries of spec.pods that can be parsed.
func soundEntries(pods []any) []any {
	return slices.DeleteFunc(slices.Clone(pods), func(p any) bool {
		row := rowOfRule(&unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": drainRuleKind,
			"metadata": map[string]any{"name": "x", "namespace": "x"}, "spec": map[string]any{"pods": []any{p}}}})
		return row == nil || row.Invalid != ""
	})
}

func rowOfRule(u *unstructured.Unstructured) *model.DrainRule {
	o, err := object.Row(u.Object)
	if err != nil {
		return nil
	}
	r, _ := o.(*model.DrainRule)
	return r
}

func setSlice(o map[string]any, v []any, path ...string) {
	_ = unstructured.SetNestedSlice(o, v, path...) // the path is made of maps: it was read from the same object.
}

// ruleLine is a rule as one line of a plan's basis.
func ruleLine(u *unstructured.Unstructured) string {
	b, err := json.Marshal(u.Object["spec"])
	if err != nil {
		b = []byte("?")
	}
	return fmt.Sprintf("MachineDrainRule %s (%s): %s", u.GetName(), u.GetUID(), text.Limit(string(b), 4096))
}

// validNamespace keeps names that come from a message out of an object when they are none.
func validNamespace(ns string) bool { return len(validation.IsDNS1123Label(ns)) == 0 }

// supervisor is where drain rules live.
func supervisor() model.Place { return model.OnSupervisor("") }
