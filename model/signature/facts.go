package signature

import (
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
)

// RuleVerdict is how one MachineDrainRule relates to the agents.
type RuleVerdict = lifecycle.RuleVerdict

// Agent is a kube-cert-agent on the node that is drained.
type Agent struct {
	Namespace, Name, UID string
	// Value is the value of its label kube-cert-agent.pinniped.dev; empty where the pod was
	// not seen.
	Value string
	// State is its phase and why it waits: "Pending, ImagePullBackOff"; empty where not seen.
	State    string
	Deleting bool
	// Seen says that the pod was seen on the node; else it is only named by the drain.
	Seen bool
	// Named says that the drain's message names it among what it waits for.
	Named bool
	// Treatment is what the drain does with it under the rules that exist.
	Treatment lifecycle.Treatment
}

// AgentFacts are the Facts of a finding of kube-cert-agent-blocks-drain.
type AgentFacts struct {
	Machine, Node string
	// Namespaces are those in which agents are, sorted.
	Namespaces []string
	// Values are the label values of kube-cert-agent.pinniped.dev seen in each namespace,
	// sorted; none where an agent is only named.
	Values map[string][]string
	Agents []Agent
	// Rules are all MachineDrainRules of the vSphere Namespace, sorted by name.
	Rules []RuleVerdict
	// RulesUnknown says why the rules could not be read; empty when they could.
	RulesUnknown string
	// DrainStarted is zero where unknown.
	DrainStarted time.Time
	// Others is what else holds the drain.
	Others []Blocker
}

// Blocker is something other than a kube-cert-agent that holds a drain: a pod, or
// a budget whose pods are not known.
type Blocker struct {
	Namespace, Name string // of the pod; Name is empty where only the budget is known.
	Why             lifecycle.Why
	// Budget is the PodDisruptionBudget that refuses, in the pod's namespace.
	Budget string
	Detail string
	// Named says that the drain's message names it; else it was seen on the node.
	Named bool
	// Sure is false where it is only likely that this holds the drain.
	Sure bool
	// Grace is when the pod's own grace period ends, zero where unknown.
	Grace time.Time
}

// String is "namespace/name (why)".
func (b Blocker) String() string {
	s := "PodDisruptionBudget " + b.Namespace + "/" + b.Budget
	if b.Name != "" {
		s = lifecycle.PodName{Namespace: b.Namespace, Name: b.Name}.String()
	}
	return s + " (" + b.Detail + ")"
}

// DrainFacts are the Facts of a finding of drain-blocked.
type DrainFacts struct {
	Machine, Node string
	Blockers      []Blocker
	// Hidden is how many pods the drain waits for without naming them, and that could not be
	// found on the node either.
	Hidden int
	// Error is what makes the drain fail as a whole, empty where nothing does.
	Error        string
	DrainStarted time.Time
}

func podRef(namespace, name string) model.ObjectRef {
	return model.ObjectRef{Kind: "Pod", Namespace: namespace, Name: name}
}
