package signature

import (
	"cmp"
	"fmt"
	"time"

	"vksmedic/model"
	"vksmedic/model/text"
)

// NodeNotReady is the id of the signature in this file.
const NodeNotReady = "node-not-ready"

func nodeNotReady() Signature {
	return Signature{
		ID: NodeNotReady, Title: "a node is NotReady for a reason that nothing else explains; the kubelet's words are shown",
		Turn:  Last,
		Needs: []string{"machines"},
		Causes: []Relation{
			{DrainBlocked, sameMachine}, {MachineDeletionStalled, sameMachine},
			{RemediationBlockedByQuorum, func(cause, _ *model.Finding) bool { return factsOf[*NodeFacts](cause).ControlPlane }},
		},
		Facts: func() any { return &NodeFacts{} },
		find:  findNotReady,
	}
}

// Together is how close in time nodes fall silent that fell silent for one reason.
const Together = 5 * time.Minute

// NodeFacts are the Facts of a finding of node-not-ready.
type NodeFacts struct {
	Nodes []string
	// Silent says that the kubelets report nothing at all; else they say what is wrong.
	Silent       bool
	ControlPlane bool // one of them is of the control plane.
	// All says that no other node of the cluster is known to be well.
	All bool
}

// findNotReady is node-not-ready: a node is NotReady for a reason that no other signature
// explains. Nodes that fell silent together are told once, since one cause is likelier than many:
// a host, a network, certificates.
//
// Severity: critical where a control plane node is among them, else a warning; info while it is
// younger than Youth, or while a MachineHealthCheck's own time runs.
func findNotReady(v *view) []model.Finding {
	var out []model.Finding
	var silent []*nodeView
	for _, n := range v.nodes() {
		switch {
		case !n.down() || v.explained[n]:
		case n.status == "Unknown":
			silent = append(silent, n)
		default:
			out = append(out, v.notReadyFinding([]*nodeView{n}))
		}
	}
	for _, group := range together(silent) {
		out = append(out, v.notReadyFinding(group))
	}
	return out
}

// together splits nodes into those that fell silent within Together of the first of them;
// where that is not known, they are all together.
func together(list []*nodeView) [][]*nodeView {
	var groups [][]*nodeView
next:
	for _, n := range list {
		for i, g := range groups {
			d := n.since.Sub(g[0].since).Abs()
			if n.since.IsZero() || g[0].since.IsZero() || d <= Together {
				groups[i] = append(g, n)
				continue next
			}
		}
		groups = append(groups, []*nodeView{n})
	}
	return groups
}

func (v *view) notReadyFinding(group []*nodeView) model.Finding {
	first := group[0]
	facts := &NodeFacts{Nodes: nodeNames(group), Silent: first.status == "Unknown", All: true}
	for _, n := range v.nodes() {
		facts.All = facts.All && (n.status == "Unknown" || n.status == "")
	}
	facts.All = facts.All && len(group) > 1
	var checks []model.Check
	f := model.Finding{Confidence: model.Confirmed, Severity: model.Info, Facts: facts, Short: "node not ready"}
	waiting := true
	for _, n := range group {
		f.Subjects = append(f.Subjects, n.subjects()...)
		if !n.since.IsZero() && (f.Since.IsZero() || n.since.Before(f.Since)) {
			f.Since = n.since
		}
		if s := n.severity(); s.Rank() < f.Severity.Rank() {
			f.Severity = s
		}
		down, hc := n.checkNotReady(), n.checkHealthCheck()
		if len(group) > 1 {
			down.Name += "/" + text.Clean(n.name)
			hc.Name += "/" + text.Clean(n.name)
		}
		checks = append(checks, down, hc)
		facts.ControlPlane = facts.ControlPlane || n.controlPlane()
		waiting = n.healthCheck().running(v) && waiting
	}
	checks = append(checks, first.checkSilence(group), v.checkPaused(first.m))
	if first.m != nil {
		checks = append(checks, first.checkVMOn())
	}
	checks = append(checks, first.checkCurrent())
	f.Evidence = checks
	f.Confidence, _ = model.Decide(checks) // Each is NotReady, or it would not be in the group.
	if waiting {
		f.Severity = model.Info
	}
	f.Summary = v.notReadySummary(group, facts)
	f.Advice = v.notReadyAdvice(group, facts, waiting)
	if len(group) > 1 {
		f.Short = fmt.Sprintf("%d nodes silent", len(group))
	}
	return f
}

func (v *view) notReadySummary(group []*nodeView, facts *NodeFacts) string {
	first := group[0]
	switch {
	case facts.All:
		return text.Clean("all known nodes are silent: " + text.List(facts.Nodes, 3))
	case len(group) > 1:
		return text.Clean(fmt.Sprintf("%d nodes fell silent together: %s", len(group), text.List(facts.Nodes, 3)))
	case facts.Silent:
		return text.Clean("node " + first.name + " is silent: " + cmp.Or(first.words.Text, "its kubelet reports nothing"))
	}
	return text.Clean("node " + first.name + " is NotReady: " + cmp.Or(first.words.Text, "the Machine does not say why; its Node does"))
}

// checkSilence says what silence may mean by how many fell silent.
func (n *nodeView) checkSilence(group []*nodeView) model.Check {
	c := model.Check{Name: "alone", Title: "it is the only one", Weight: model.Supporting, Source: "nodes of the cluster", Seen: n.seen}
	hosts := map[string]bool{}
	for _, g := range group {
		if g.m == nil {
			continue
		}
		if vm := n.v.c.VM(g.m); vm != nil && vm.Host != "" {
			hosts[vm.Host] = true
		}
	}
	switch {
	case len(group) == 1:
		c.Verdict, c.Detail = model.Yes, "no other node went this way at the same time"
	default:
		c.Verdict, c.Detail = model.No, text.List(nodeNames(group), 6)
		for h := range hosts {
			if len(hosts) == 1 {
				c.Detail += "; their VMs were all on host " + text.Clean(h)
			}
		}
	}
	return c
}

// checkCurrent says whether what is known of the node is of now.
func (n *nodeView) checkCurrent() model.Check {
	c := model.Check{Name: "current", Title: "this is how it is now", Weight: model.Deciding, Verdict: model.Yes, Detail: "as it was read last", Source: n.source, Seen: n.seen}
	if n.stale != "" {
		c.Verdict, c.Detail, c.Settle = model.Unknown, n.stale, "kubectl get node "+n.name+", in the workload cluster"
	}
	return c
}

func (v *view) notReadyAdvice(group []*nodeView, facts *NodeFacts, waiting bool) []string {
	first := group[0]
	var out []string
	if why := v.pausedAnywhere(first.m); why != "" {
		out = append(out, why+": nothing goes on until it is resumed.")
	}
	if waiting {
		out = append(out, "A MachineHealthCheck's time runs: leave it to that.")
	}
	switch {
	case facts.Silent && len(group) > 1:
		out = append(out, "Several nodes at once are seldom several faults: look at their host and network, and whether the cluster's certificates have expired (kubeadm certs check-expiration, on a control plane node).")
	case facts.Silent:
		out = append(out, "Find out whether the machine lives: ping "+cmp.Or(text.Clean(first.address()), "its address")+", its console in vCenter, "+first.onNode("sudo systemctl status kubelet")+".")
	case first.words.NetworkNotReady:
		out = append(out, "The node's network plug-in is not ready: look at the antrea or calico pod on it and its events.")
	case first.words.RuntimeNotReady:
		out = append(out, "The container runtime answers that it is not ready: "+first.onNode("sudo systemctl status containerd")+".")
	default:
		out = append(out, "Look at the kubelet: "+first.onNode("sudo journalctl -u kubelet -n 100")+".")
	}
	for _, n := range group {
		if n.controlPlane() {
			return append(out, "Quorum: "+v.quorum().Words()+".")
		}
	}
	return out
}
