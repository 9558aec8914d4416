package lifecycle

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"vksmedic/model"
)

// PodLabel is the label by which a pod says itself how a drain treats it; it beats every rule.
const PodLabel = "cluster.x-k8s.io/drain"

// NamespaceNameLabel is the label that every Namespace carries with its own name.
const NamespaceNameLabel = "kubernetes.io/metadata.name"

// The behaviours of a MachineDrainRule.
const (
	BehaviorDrain         = "Drain"
	BehaviorSkip          = "Skip"
	BehaviorWaitCompleted = "WaitCompleted"
)

// Outcome is what a drain does with a pod.
type Outcome string

// The outcomes.
const (
	// Evicted pods are evicted, and the drain waits until they are gone.
	Evicted Outcome = "evicted"
	// Skipped pods are left alone by a label or a rule.
	Skipped Outcome = "skipped"
	// Waited pods are not evicted, and the drain waits until they complete.
	Waited Outcome = "waited"
	// Ignored pods are never drained: DaemonSet and static pods, and on a node that does not
	// answer those that are being deleted already.
	Ignored Outcome = "ignored"
	// Fails means that the drain of the whole node fails because of this.
	Fails Outcome = "fails"
)

// Holds says whether a drain waits for a pod with this outcome.
func (o Outcome) Holds() bool { return o == Evicted || o == Waited || o == Fails }

// Treatment is what a drain does with one pod, and why.
type Treatment struct {
	Outcome Outcome
	// Rule is the MachineDrainRule that decided, empty where none did.
	Rule string
	// Order is the group in which the pod is evicted; lower ones go first.
	Order int32
	Why   string
	// Unsure says what is not known that could change the outcome; empty where it is certain.
	Unsure string
}

// Subject is a pod as rules see it.
type Subject struct {
	Namespace, Name string
	Labels          map[string]string
	// LabelsKnown is false for a pod that is known by name only; HasKeys are labels that it
	// is known to have with an unknown value.
	LabelsKnown bool
	HasKeys     []string
	// NamespaceLabels are nil where they were not read; the name's own label is always there.
	NamespaceLabels map[string]string
}

// SubjectOf makes a Subject of a pod that was seen.
func SubjectOf(p *model.Pod, namespaces map[string]map[string]string) Subject {
	return Subject{
		Namespace: p.Namespace, Name: p.Name, Labels: p.Labels, LabelsKnown: true,
		NamespaceLabels: namespaces[p.Namespace],
	}
}

// Plan is what the MachineDrainRules of a vSphere Namespace mean for one Machine.
type Plan struct {
	// Invalid are the rules with a selector that cannot be parsed: while there is one, every
	// drain in the vSphere Namespace fails.
	Invalid []*model.DrainRule
	// Rules are those that reach the Machine, or may (Unsure), sorted by name: the first that
	// matches a pod decides.
	Rules []Reach
	// Others are the rules that do not reach the Machine, and why.
	Others []Reach
}

// Reach says whether a rule reaches a Machine.
type Reach struct {
	Rule *model.DrainRule
	Why  string // why it does not, for Plan.Others.
	// Unsure says why it is not known; empty where it is certain.
	Unsure string
}

// NewPlan sorts out which rules of a cluster's vSphere Namespace reach a Machine:
// spec.machines absent reaches all, else one entry must match with both its
// selectors (cluster-api core/reconcilers/machine/drain/drain.go). Rules of other
// namespaces never do.
func NewPlan(c *model.Cluster, m *model.Machine) *Plan {
	p := &Plan{}
	if len(c.DrainRules) == 0 {
		return p
	}
	rules := slices.Clone(c.DrainRules)
	slices.SortStableFunc(rules, func(a, b *model.DrainRule) int { return strings.Compare(a.Name, b.Name) })
	for _, r := range rules {
		switch {
		case r.Namespace != m.Namespace:
			p.Others = append(p.Others, Reach{Rule: r, Why: "it is in the vSphere Namespace " + r.Namespace + ", and a rule works only in its own"})
		case r.Invalid != "":
			p.Invalid = append(p.Invalid, r)
		default:
			switch match, why := reaches(r, c, m); match {
			case model.Yes:
				p.Rules = append(p.Rules, Reach{Rule: r})
			case model.Unknown:
				p.Rules = append(p.Rules, Reach{Rule: r, Unsure: why})
			case model.No:
				p.Others = append(p.Others, Reach{Rule: r, Why: why})
			}
		}
	}
	return p
}

// reaches says whether a rule's machines match a Machine.
func reaches(r *model.DrainRule, c *model.Cluster, m *model.Machine) (v model.Verdict, why string) {
	if len(r.Machines) == 0 {
		return model.Yes, ""
	}
	unsure := ""
	clusterNo := false
	for _, e := range r.Machines {
		if !matches(e.Machine, m.Labels) {
			continue
		}
		if everything(e.Cluster) {
			return model.Yes, ""
		}
		if c.Object == nil {
			unsure = "its clusterSelector looks at labels of the Cluster, which was not read"
			continue
		}
		if e.Cluster.Matches(labels.Set(c.Object.Labels)) {
			return model.Yes, ""
		}
		clusterNo = true
	}
	switch {
	case unsure != "":
		return model.Unknown, unsure
	case clusterNo:
		return model.No, "its clusterSelector excludes this cluster"
	default:
		return model.No, "its machines selector excludes this Machine"
	}
}

func everything(s labels.Selector) bool { return s == nil || s.Empty() }

func matches(s labels.Selector, l map[string]string) bool {
	return everything(s) || s.Matches(labels.Set(l))
}

// Treat says what the drain of the plan's Machine does with a pod. Unreachable says
// that the node's Ready condition is Unknown (not False): then pods that have
// been terminating for more than a second are ignored. The order of the checks is
// the one of drain/filters.go.
func (p *Plan) Treat(pod *model.Pod, namespaces map[string]map[string]string, unreachable bool, now time.Time) Treatment {
	if unreachable && !pod.Deleting.IsZero() && (now.IsZero() || now.Sub(pod.Deleting) > time.Second) {
		return Treatment{Outcome: Ignored, Why: "it is being deleted and the node does not answer"}
	}
	if pod.DaemonSet && pod.Phase != "Succeeded" && pod.Phase != "Failed" {
		return Treatment{Outcome: Ignored, Why: "it belongs to a DaemonSet"}
	}
	if pod.Mirror {
		return Treatment{Outcome: Ignored, Why: "it is a static pod"}
	}
	return p.TreatSubject(SubjectOf(pod, namespaces))
}

// TreatSubject applies the pod's own label and then the rules.
func (p *Plan) TreatSubject(s Subject) Treatment {
	if v, ok := s.Labels[PodLabel]; ok {
		switch {
		case strings.EqualFold(v, BehaviorSkip):
			return Treatment{Outcome: Skipped, Why: "its label " + PodLabel + " says skip"}
		case strings.EqualFold(strings.Replace(v, "-", "", 1), BehaviorWaitCompleted):
			return Treatment{Outcome: Waited, Why: "its label " + PodLabel + " says " + v}
		}
	}
	if len(p.Invalid) > 0 {
		r := p.Invalid[0]
		return Treatment{Outcome: Fails, Rule: r.Name, Why: "MachineDrainRule " + r.Name + " has an invalid selector, so that every drain in " + r.Namespace + " fails"}
	}
	unsure := ""
	for _, reach := range p.Rules {
		match, why := MatchesPod(reach.Rule, s)
		if match == model.No {
			continue
		}
		if match == model.Unknown || reach.Unsure != "" {
			if unsure == "" {
				unsure = "MachineDrainRule " + reach.Rule.Name + ": " + first(why, reach.Unsure)
			}
			continue
		}
		t := byRule(reach.Rule)
		t.Unsure = unsure
		return t
	}
	return Treatment{Outcome: Evicted, Why: "no rule matches it", Unsure: unsure}
}

func byRule(r *model.DrainRule) Treatment {
	t := Treatment{Rule: r.Name, Why: "MachineDrainRule " + r.Name + " matches it"}
	switch r.Behavior {
	case BehaviorSkip:
		t.Outcome = Skipped
	case BehaviorWaitCompleted:
		t.Outcome = Waited
	case BehaviorDrain:
		t.Outcome = Evicted
		if r.Order != nil {
			t.Order = *r.Order
		}
	default:
		t.Outcome = Fails
		t.Why = "MachineDrainRule " + r.Name + " has the unknown behavior " + r.Behavior
	}
	return t
}

func first(s ...string) string {
	for _, x := range s {
		if x != "" {
			return x
		}
	}
	return ""
}

// MatchesPod says whether a rule's pods match a pod: absent matches every pod, else
// one entry must match with both its selectors. Unknown says what is not known.
func MatchesPod(r *model.DrainRule, s Subject) (v model.Verdict, why string) {
	if len(r.Pods) == 0 {
		return model.Yes, ""
	}
	unsure := ""
	for _, e := range r.Pods {
		ns, nsWhy := matchNamespace(e.Namespace, s)
		pod, podWhy := matchLabels(e.Pod, s)
		switch {
		case ns == model.No || pod == model.No:
		case ns == model.Yes && pod == model.Yes:
			return model.Yes, ""
		default:
			unsure = first(nsWhy, podWhy)
		}
	}
	if unsure != "" {
		return model.Unknown, unsure
	}
	return model.No, ""
}

func matchNamespace(sel labels.Selector, s Subject) (v model.Verdict, why string) {
	if everything(sel) {
		return model.Yes, ""
	}
	if s.NamespaceLabels != nil {
		l := s.NamespaceLabels
		if _, ok := l[NamespaceNameLabel]; !ok {
			l = labels.Merge(l, labels.Set{NamespaceNameLabel: s.Namespace})
		}
		return verdict(sel.Matches(labels.Set(l))), ""
	}
	reqs, selectable := sel.Requirements()
	if !selectable {
		return model.No, ""
	}
	// Only the label that every Namespace carries is known.
	own := labels.Set{NamespaceNameLabel: s.Namespace}
	for i := range reqs {
		if reqs[i].Key() == NamespaceNameLabel {
			if !reqs[i].Matches(own) {
				return model.No, ""
			}
			continue
		}
		why = "the labels of the Namespace " + s.Namespace + " were not read"
	}
	if why != "" {
		return model.Unknown, why
	}
	return model.Yes, ""
}

func matchLabels(sel labels.Selector, s Subject) (v model.Verdict, why string) {
	if everything(sel) {
		return model.Yes, ""
	}
	if s.LabelsKnown {
		return verdict(sel.Matches(labels.Set(s.Labels))), ""
	}
	reqs, selectable := sel.Requirements()
	if !selectable {
		return model.No, ""
	}
	for i := range reqs {
		if slices.Contains(s.HasKeys, reqs[i].Key()) {
			switch reqs[i].Operator() { //nolint:exhaustive // The others depend on the value.
			case "exists":
				continue
			case "!":
				return model.No, ""
			}
		}
		why = "the labels of the pod " + s.Name + " were not read"
	}
	if why != "" {
		return model.Unknown, why
	}
	return model.Yes, ""
}

func verdict(b bool) model.Verdict {
	if b {
		return model.Yes
	}
	return model.No
}
