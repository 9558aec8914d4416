package signature

import (
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
)

// draining is a Machine in its drain with all that is known about it.
type draining struct {
	v    *view
	m    *model.Machine
	d    lifecycle.Deletion
	plan *lifecycle.Plan
	// rulesUnknown says why the MachineDrainRules are not known; empty when they are.
	rulesUnknown string

	node *model.Node // nil where not known.
	// pods are those on the node; podsKnown says that there are no others.
	pods      []*model.Pod
	podsKnown bool

	agents   []Agent
	blockers []Blocker
	// hidden is how many pods the message counts that are neither named nor found on the node.
	hidden int
	young  bool
}

// draining finds the Machines of the cluster that are in their drain, once for all
// signatures.
func (v *view) draining() []*draining {
	if v.drainsRead {
		return v.drains
	}
	v.drainsRead = true
	for _, m := range v.c.Machines {
		if !lifecycle.Deletes(m) {
			continue
		}
		d := lifecycle.StageOf(m)
		if d.Stage != lifecycle.Draining {
			continue
		}
		x := &draining{v: v, m: m, d: d, plan: lifecycle.NewPlan(v.c, m), rulesUnknown: v.rulesUnknown()}
		x.look()
		x.findAgents()
		x.findBlockers()
		x.young = v.young(x.d.Since)
		v.drains = append(v.drains, x)
	}
	return v.drains
}

// rulesUnknown says why the MachineDrainRules of the namespace are not known.
func (v *view) rulesUnknown() string {
	if v.sn.Dump || v.sn.Supervisor.DrainRulesServed == model.No {
		return ""
	}
	s := v.source("machinedrainrules")
	switch {
	case s == nil:
		return "the MachineDrainRules have not been read yet"
	case s.Readable(), s.State == model.SourceNotServed:
		return ""
	}
	return "the MachineDrainRules could not be read: " + describe(s)
}

// look finds the node and the pods on it.
func (x *draining) look() {
	if x.m.NodeName == "" {
		return
	}
	w := x.v.c.Workload
	x.node = x.v.c.Node(x.m.NodeName)
	x.podsKnown = w.PodsOn[x.m.NodeName] && w.PodsSource.Readable()
	for i := range w.Pods {
		if w.Pods[i].Node == x.m.NodeName {
			x.pods = append(x.pods, &w.Pods[i])
		}
	}
}

// unreachable is what Cluster API means by it: the Ready condition is Unknown. Then pods that
// are being deleted are ignored by the drain; with False they are not
// (controllers/noderefutil/util.go).
func (x *draining) unreachable() bool { return x.node != nil && x.node.Ready() == "Unknown" }

func (x *draining) notReady() bool { return x.node != nil && x.node.Ready() == "False" }

// nodeGone says that the Node is surely no longer there; then the drain is skipped.
func (x *draining) nodeGone() bool {
	w := x.v.c.Workload
	return !x.v.sn.Dump && x.m.NodeName != "" && x.node == nil && w.NodesSource.State == model.SourceOK && len(w.Nodes) > 0
}

func (x *draining) treat(p *model.Pod) lifecycle.Treatment {
	return x.plan.Treat(p, x.v.c.Workload.NamespaceLabels, x.unreachable(), x.v.now)
}

// worker says that the Machine surely belongs to no control plane.
func (x *draining) worker() bool {
	return !x.m.ControlPlane && (x.m.Deployment != "" || x.m.Set != "")
}

func (x *draining) machineSource() string {
	return "Machine " + x.m.Namespace + "/" + x.m.Name
}

func (x *draining) podsSource() string {
	return "pods on node " + x.m.NodeName
}

// podsUnknown says why the pods on the node are not known, and what would settle that.
func (x *draining) podsUnknown() (why, settle string) {
	w := x.v.c.Workload
	settle = "kubectl get pods -A -o wide --field-selector spec.nodeName=" + x.m.NodeName + ", in the workload cluster"
	switch {
	case x.m.NodeName == "":
		return "the Machine names no node", "look at the Machine's status.nodeRef"
	case x.v.sn.Dump:
		return "the dump holds no pods of node " + x.m.NodeName, settle
	case w.PodsSource.Detail != "" && !w.PodsSource.Readable():
		return "the pods could not be read: " + text.Clean(w.PodsSource.Detail), settle
	}
	return "the pods on node " + x.m.NodeName + " have not been read", settle
}

func (x *draining) subjects() []model.ObjectRef {
	out := []model.ObjectRef{x.v.machineRef(x.m)}
	if x.m.NodeName != "" {
		out = append(out, x.v.nodeRef(x.m.NodeName))
	}
	return out
}

// The checks that both drain signatures have in common.

func (x *draining) checkDeleting() model.Check {
	detail := "the condition Deleting is True"
	switch {
	case !x.d.Begun.IsZero():
		detail = "since " + stamp(x.d.Begun)
	case x.m.Phase == "Deleting":
		detail = "its phase is Deleting; since when is unknown"
	}
	return model.Check{
		Name: "machine-deleting", Title: "the Machine is being deleted", Weight: model.Required, Verdict: model.Yes,
		Detail: detail, Source: x.machineSource(), Seen: x.v.seen("machines"),
	}
}

func (x *draining) checkDraining() model.Check {
	detail := "since when is unknown"
	if !x.d.Since.IsZero() {
		detail = "since " + stamp(x.d.Since)
		if !x.d.Exact {
			detail = "not before " + stamp(x.d.Since)
		}
	}
	if x.v.now.IsZero() {
		detail += "; how long that is cannot be said, since the dump has no time"
	}
	if x.d.Text != "" {
		detail += ": " + text.Limit(x.d.Text, 400)
	}
	return model.Check{
		Name: "in-drain", Title: "it is in the drain", Weight: model.Required, Verdict: model.Yes,
		Detail: detail, Source: x.machineSource() + ", condition " + x.d.Condition, Seen: x.v.seen("machines"),
	}
}

func (x *draining) checkCordoned() model.Check {
	c := model.Check{Name: "node-cordoned", Title: "the node is cordoned", Weight: model.Supporting, Source: "Node " + x.m.NodeName, Seen: x.v.c.Workload.NodesSource.Seen}
	switch {
	case x.node == nil:
		c.Verdict, c.Detail, c.Settle = model.Unknown, "the Node was not read", "kubectl get node "+x.m.NodeName+", in the workload cluster"
	case x.node.Unschedulable:
		c.Verdict, c.Detail = model.Yes, "unschedulable"
	default:
		c.Verdict, c.Detail = model.No, "the node takes new pods: the drain may not have begun, or someone has uncordoned it"
	}
	return c
}

func (x *draining) checkNodeAnswers() model.Check {
	c := model.Check{Name: "node-ready", Title: "the node is Ready, so that pods can end on it", Weight: model.Supporting, Source: "Node " + x.m.NodeName, Seen: x.v.c.Workload.NodesSource.Seen}
	if x.node == nil {
		c.Verdict, c.Detail, c.Settle = model.Unknown, "the Node was not read", "kubectl get node "+x.m.NodeName+", in the workload cluster"
		return c
	}
	message := ""
	if r := x.node.Conditions.Get("Ready"); r != nil && r.Message != "" {
		message = ": " + text.Limit(text.Clean(r.Message), 200)
	}
	switch x.node.Ready() {
	case "True":
		c.Verdict, c.Detail = model.Yes, "Ready"
	case "False":
		c.Verdict, c.Detail = model.No, "NotReady"+message+"; no pod ends on it, and the drain waits for all of them"
	case "Unknown":
		c.Verdict, c.Detail = model.No, "it does not answer"+message+"; the drain ignores pods that are being deleted already"
	default:
		c.Verdict, c.Detail = model.Unknown, "it has no Ready condition"
	}
	return c
}

func (x *draining) checkForEver() model.Check {
	c := model.Check{Name: "waits-for-ever", Title: "the drain has no time limit", Weight: model.Supporting, Source: x.machineSource() + ", node drain timeout", Seen: x.v.seen("machines")}
	t := x.m.DrainTimeout
	switch {
	case t == nil || *t <= 0:
		c.Verdict, c.Detail = model.Yes, "no node drain timeout is set: it waits for ever"
	case x.d.Since.IsZero():
		c.Verdict, c.Detail = model.No, "after "+text.Age(*t)+" the drain is skipped and the deletion goes on"
	default:
		c.Verdict, c.Detail = model.No, "at "+stamp(x.d.Since.Add(*t))+" the drain is skipped and the deletion goes on"
	}
	return c
}

func (x *draining) checkGoesOn() model.Check {
	c := model.Check{Name: "not-paused", Title: "nothing is paused", Weight: model.Supporting, Source: "Cluster, Machine and its owner, paused", Seen: x.v.seen("machines")}
	switch why, owner := x.v.paused(x.m), x.v.ownerPaused(x.m); {
	case why != "":
		c.Verdict, c.Detail = model.No, why+": Cluster API does nothing until it is resumed"
	case owner != "":
		c.Verdict, c.Detail = model.No, owner+": the rollout does not go on after this Machine until it is resumed"
	case x.v.c.Object == nil:
		c.Verdict, c.Detail = model.Unknown, "the Cluster was not read"
	default:
		c.Verdict, c.Detail = model.Yes, "neither the Cluster, nor the Machine, nor what makes new ones"
	}
	return c
}

// since is when the drain began, for the finding.
func (x *draining) since() time.Time { return x.d.Since }

// noHands is what both drain signatures warn of (KB 345904): Cluster API skips the
// drain of a node that is gone, and with it what protects the workloads.
const noHands = "Do not delete the Node or the Machine by hand: the Machine is being deleted already, and without its Node the drain is skipped with all that protects the workloads."
