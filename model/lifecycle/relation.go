package lifecycle

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"vksmedic/model"
)

// RuleState is how one MachineDrainRule relates to pods that a drain should skip.
type RuleState string

// The states of a rule.
const (
	// Covering rules let all of the pods pass.
	Covering RuleState = "covering"
	// Partly covering rules let some of the pods pass.
	Partly RuleState = "partly"
	// NotCovering rules match none of the pods.
	NotCovering RuleState = "not-covering"
	// Shadowed rules match pods that a rule with an earlier name decides.
	Shadowed RuleState = "shadowed"
	// InvalidRule has a selector that cannot be parsed, so that every drain fails.
	InvalidRule RuleState = "invalid"
	// OtherBehaviour rules are the first to match, and do something else than to skip.
	OtherBehaviour RuleState = "other-behaviour"
	// Unsure rules depend on something that was not read.
	Unsure RuleState = "unknown"
)

// RuleVerdict is one rule's relation to the pods, and why.
type RuleVerdict struct {
	Name  string
	State RuleState
	Why   string
	// ByName is the rule that shadows this one.
	ByName string
	// Everything says that the rule has no pods selector and behavior Skip: the Machines that it
	// reaches are deleted without evicting anything.
	Everything bool
}

// Relate says for every rule of the vSphere Namespace how it relates to the given
// pods on the plan's Machine, sorted by name.
func (p *Plan) Relate(pods []Subject) []RuleVerdict {
	var out []RuleVerdict
	for _, r := range p.Invalid {
		out = append(out, RuleVerdict{
			Name: r.Name, State: InvalidRule,
			Why: "invalid selector (" + r.Invalid + "); while it is there, every drain in " + r.Namespace + " fails",
		})
	}
	for _, o := range p.Others {
		out = append(out, RuleVerdict{Name: o.Rule.Name, State: NotCovering, Why: o.Why, Everything: skipsAll(o.Rule)})
	}
	for i, reach := range p.Rules {
		out = append(out, p.relate(i, reach, pods))
	}
	slices.SortStableFunc(out, func(a, b RuleVerdict) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func skipsAll(r *model.DrainRule) bool { return len(r.Pods) == 0 && r.Behavior == BehaviorSkip }

func (p *Plan) relate(i int, reach Reach, pods []Subject) RuleVerdict {
	r := reach.Rule
	v := RuleVerdict{Name: r.Name, Everything: skipsAll(r)}
	var matched, missed, shaded, unsure []Subject
	why, by := "", ""
	for _, s := range pods {
		switch m, w := MatchesPod(r, s); m {
		case model.No:
			missed = append(missed, s)
			continue
		case model.Unknown:
			unsure, why = append(unsure, s), w
			continue
		case model.Yes:
		}
		if earlier := p.earlier(i, s); earlier != "" {
			shaded, by = append(shaded, s), earlier
			continue
		}
		matched = append(matched, s)
	}
	switch {
	case len(pods) == 0:
		v.State, v.Why = Unsure, "no pod to compare it with is known"
	case len(shaded) > 0:
		v.State, v.ByName = Shadowed, by
		v.Why = "MachineDrainRule " + by + " comes first by name and decides for " + namespaces(shaded)
	case len(matched) == 0 && len(unsure) == 0:
		v.State, v.Why = NotCovering, whyMissed(r, missed)
	case r.Behavior != BehaviorSkip:
		v.State, v.Why = OtherBehaviour, "it matches, and its behavior is "+first(r.Behavior, "not given")+", not Skip"
	case reach.Unsure != "":
		v.State, v.Why = Unsure, reach.Unsure
	case len(unsure) > 0:
		v.State, v.Why = Unsure, why
	case len(missed) > 0:
		v.State, v.Why = Partly, "it covers "+namespaces(matched)+"; "+whyMissed(r, missed)
	default:
		v.State, v.Why = Covering, "it covers "+namespaces(matched)
		if v.Everything {
			v.Why = "it has no pods selector, so that it covers every pod: nothing at all is evicted from the Machines it reaches"
		}
	}
	return v
}

// earlier is the name of a rule before the i-th that surely decides for a pod in
// another way than to skip it; one that skips it too does no harm.
func (p *Plan) earlier(i int, s Subject) string {
	for _, reach := range p.Rules[:i] {
		if m, _ := MatchesPod(reach.Rule, s); m == model.Yes && reach.Unsure == "" {
			if reach.Rule.Behavior == BehaviorSkip {
				return ""
			}
			return reach.Rule.Name
		}
	}
	return ""
}

func namespaces(pods []Subject) string {
	var ns []string
	for _, s := range pods {
		if !slices.Contains(ns, s.Namespace) {
			ns = append(ns, s.Namespace)
		}
	}
	slices.Sort(ns)
	return strings.Join(ns, ", ")
}

// whyMissed says what about the pods a rule does not select.
func whyMissed(r *model.DrainRule, missed []Subject) string {
	var byNamespace, byLabel []string
	for _, s := range missed {
		inNamespace := false
		for _, e := range r.Pods {
			if m, _ := matchNamespace(e.Namespace, s); m == model.Yes {
				inNamespace = true
			}
		}
		if !inNamespace {
			byNamespace = add(byNamespace, s.Namespace)
			continue
		}
		byLabel = add(byLabel, wanted(r, s))
	}
	var parts []string
	if len(byNamespace) > 0 {
		parts = append(parts, "it does not cover the namespace "+strings.Join(byNamespace, ", "))
	}
	if len(byLabel) > 0 {
		parts = append(parts, "its pod selector does not match in "+strings.Join(byLabel, ", "))
	}
	return strings.Join(parts, "; ")
}

// wanted says which labels a rule asks for, and what a pod has of them.
func wanted(r *model.DrainRule, s Subject) string {
	for _, e := range r.Pods {
		if m, _ := matchNamespace(e.Namespace, s); m != model.Yes || everything(e.Pod) {
			continue
		}
		reqs, _ := e.Pod.Requirements()
		for i := range reqs {
			if s.LabelsKnown && !reqs[i].Matches(labels.Set(s.Labels)) {
				has := "not there"
				if v, ok := s.Labels[reqs[i].Key()]; ok {
					has = v
				}
				return s.Namespace + " (" + reqs[i].String() + ", and the label is " + has + ")"
			}
		}
	}
	return s.Namespace
}

func add(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// NameBefore proposes a name for a rule that sorts before all of the others and
// is still recognised: the wish itself where it already does, else the wish with a prefix. The
// result is a valid object name (RFC 1123 subdomain). ok is false where no name
// can come first, because one of the others is "0" or begins where names begin.
func NameBefore(wish string, others ...string) (name string, ok bool) {
	lowest := ""
	for _, o := range others {
		if o != wish && (lowest == "" || o < lowest) {
			lowest = o
		}
	}
	if lowest == "" || wish < lowest {
		return wish, true
	}
	// Digits sort before letters and '-' and '.' before digits, but a name begins with
	// a letter or digit: try the readable prefixes first.
	for _, prefix := range []string{"a-", "0-", "00-", "0-0-", "0--0-", "0---0-"} {
		if n := prefix + wish; n < lowest && len(n) <= 253 {
			return n, true
		}
	}
	return "", false
}
