package signature

import (
	"fmt"
	"slices"
	"strings"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
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

// agentInName stands in the name of every kube-cert-agent: the name is
// "<app>-kube-cert-agent-…" (vmware/pinniped internal/controller/kubecertagent).
const agentInName = "kube-cert-agent"

// findAgents collects the agents on the node: the pods with the label, whatever its
// value, and those that the drain names and that could not be looked at.
func (x *draining) findAgents() {
	msg := &x.d.Message
	for _, p := range x.pods {
		if !p.CertAgent() {
			continue
		}
		a := Agent{
			Namespace: p.Namespace, Name: p.Name, UID: p.UID, Value: p.Labels[model.CertAgentLabel],
			State: podState(p), Deleting: !p.Deleting.IsZero(), Seen: true, Treatment: x.treat(p),
		}
		if g := msg.Find(p.Namespace, p.Name); g != nil && g.Why.Now() {
			a.Named = true
		}
		x.agents = append(x.agents, a)
	}
	for i := range msg.Groups {
		if !msg.Groups[i].Why.Now() {
			continue
		}
		for _, n := range msg.Groups[i].Pods {
			x.addNamedAgent(n)
		}
	}
	slices.SortStableFunc(x.agents, func(a, b Agent) int {
		if r := strings.Compare(a.Namespace, b.Namespace); r != 0 {
			return r
		}
		return strings.Compare(a.Name, b.Name)
	})
}

// addNamedAgent adds an agent that only the message names. One that is gone while another
// of its kind is on the node has come back under another name; the other stands for both.
func (x *draining) addNamedAgent(n lifecycle.PodName) {
	if !strings.Contains(n.Name, agentInName) {
		return
	}
	n = withNamespace(n)
	for i := range x.agents {
		if a := &x.agents[i]; a.Name == n.Name && (a.Namespace == n.Namespace || n.Namespace == "") {
			return
		}
	}
	for _, p := range x.pods {
		if p.Name == n.Name && p.Namespace == n.Namespace {
			return // It has the name without the label.
		}
	}
	for i := range x.agents {
		if a := &x.agents[i]; a.Seen && a.Namespace == n.Namespace && family(a.Name) == family(n.Name) {
			a.Named = true
			return
		}
	}
	s := lifecycle.Subject{
		Namespace: n.Namespace, Name: n.Name, HasKeys: []string{model.CertAgentLabel},
		NamespaceLabels: x.v.c.Workload.NamespaceLabels[n.Namespace],
	}
	x.agents = append(x.agents, Agent{Namespace: n.Namespace, Name: n.Name, Named: true, Treatment: x.plan.TreatSubject(s)})
}

// family is the part of an agent's name that stays when it is made again.
func family(name string) string {
	i := strings.Index(name, agentInName)
	if i < 0 {
		return name
	}
	return name[:i]
}

// withNamespace puts back a namespace that the text has lost, where the name says which.
func withNamespace(n lifecycle.PodName) lifecycle.PodName {
	if n.Namespace != "" {
		return n
	}
	switch family(n.Name) {
	case "pinniped-concierge-":
		n.Namespace = "pinniped-concierge"
	case "cluster-auth-pinniped-":
		n.Namespace = "vmware-system-tmc"
	}
	return n
}

// podState is "Pending, ImagePullBackOff".
func podState(p *model.Pod) string {
	var parts []string
	if p.Phase != "" {
		parts = append(parts, p.Phase)
	}
	if p.Waiting != "" {
		parts = append(parts, p.Waiting)
	}
	if !p.Deleting.IsZero() {
		parts = append(parts, "terminating")
	}
	return text.Clean(strings.Join(parts, ", "))
}

// agentSubject is an agent as the rules see it.
func (x *draining) agentSubject(a Agent) lifecycle.Subject {
	for _, p := range x.pods {
		if a.Seen && p.Namespace == a.Namespace && p.Name == a.Name {
			return lifecycle.SubjectOf(p, x.v.c.Workload.NamespaceLabels)
		}
	}
	return lifecycle.Subject{
		Namespace: a.Namespace, Name: a.Name, HasKeys: []string{model.CertAgentLabel},
		NamespaceLabels: x.v.c.Workload.NamespaceLabels[a.Namespace],
	}
}

func (x *draining) agentFacts() *AgentFacts {
	f := &AgentFacts{
		Machine: x.m.Name, Node: x.m.NodeName, Agents: x.agents, RulesUnknown: x.rulesUnknown,
		DrainStarted: x.d.Since, Others: x.blockers, Values: map[string][]string{},
	}
	subjects := make([]lifecycle.Subject, 0, len(x.agents))
	for _, a := range x.agents {
		subjects = append(subjects, x.agentSubject(a))
		if a.Namespace != "" && !slices.Contains(f.Namespaces, a.Namespace) {
			f.Namespaces = append(f.Namespaces, a.Namespace)
		}
		if a.Seen && !slices.Contains(f.Values[a.Namespace], a.Value) {
			f.Values[a.Namespace] = append(f.Values[a.Namespace], a.Value)
		}
	}
	slices.Sort(f.Namespaces)
	for _, v := range f.Values {
		slices.Sort(v)
	}
	f.Rules = x.plan.Relate(subjects)
	return f
}

// checkAgentOnNode looks for the agent itself.
func (x *draining) checkAgentOnNode() model.Check {
	c := model.Check{
		Name: "agent-on-node", Title: "a kube-cert-agent pod is on its node", Weight: model.Deciding,
		Source: x.podsSource(), Seen: x.v.c.Workload.PodsSource.Seen,
	}
	var seen, named []string
	for _, a := range x.agents {
		if a.Seen {
			seen = append(seen, a.Namespace+"/"+a.Name+" ("+model.CertAgentLabel+"="+a.Value+")")
			continue
		}
		named = append(named, lifecycle.PodName{Namespace: a.Namespace, Name: a.Name}.String())
	}
	switch {
	case len(seen) > 0:
		c.Verdict, c.Detail = model.Yes, text.Clean(text.List(seen, 4))
	case len(named) > 0 && x.podsKnown:
		c.Verdict = model.Unknown
		c.Detail = "the drain names " + text.List(named, 4) + ", which is not on the node at this moment; its message may be 20 s old"
		c.Settle = "look again in half a minute"
	case len(named) > 0:
		c.Verdict, c.Source, c.Seen = model.Yes, x.machineSource()+", condition "+x.d.Condition, x.v.seen("machines")
		why, settle := x.podsUnknown()
		c.Detail, c.Settle = "named by the drain: "+text.List(named, 4)+"; "+why, settle
	case x.podsKnown || x.nodeGone():
		c.Verdict, c.Detail = model.No, "no pod with the label "+model.CertAgentLabel+" is on it"
	case x.mayHideAgent():
		why, settle := x.podsUnknown()
		c.Verdict, c.Settle = model.Unknown, settle
		c.Detail = fmt.Sprintf("the drain waits for %s that it does not name, and %s", text.Plural(x.hidden, "pod"), why)
	default:
		c.Verdict, c.Detail = model.No, "nothing points to one"
	}
	return c
}

// mayHideAgent says whether an agent may be among the pods that the message counts without
// naming. Agents live on control plane nodes only, and are deleted without a refusal;
// each line names the first three by namespace, so that a line which has got past the
// namespaces that agents are known in cannot hide one.
func (x *draining) mayHideAgent() bool {
	w := x.v.c.Workload
	if w.HasPinniped == model.No || x.worker() || x.unreachable() {
		return false
	}
	if !x.m.ControlPlane && w.HasPinniped != model.Yes {
		return false
	}
	for _, ns := range []string{"pinniped-concierge", "vmware-system-tmc"} {
		if couldHide(&x.d.Message, lifecycle.PodName{Namespace: ns, Name: "~"}, lifecycle.Terminating) && x.hidden+len(x.agents) > 0 {
			return true
		}
	}
	return x.d.Message.Cut && x.m.ControlPlane
}
