package signature

import (
	"slices"
	"strings"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
)

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
