package signature

import (
	"cmp"
	"fmt"
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
)

// DrainBlocked is the id of the signature in this file.
const DrainBlocked = "drain-blocked"

func drainBlocked() Signature {
	return Signature{
		ID: DrainBlocked, Title: "a drain waits for pods that do not go; they are named, with the budget or the reason", KB: "345904",
		Needs:  []string{"machines", "machinedrainrules"},
		Causes: []Relation{{MachineDeletionStalled, sameMachine}},
		Facts:  func() any { return &DrainFacts{} },
		find:   findBlockedDrains,
	}
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

// maxPodSubjects bounds the pods that a finding lists as subjects.
const maxPodSubjects = 50

// findBlockedDrains is drain-blocked: a drain waits for pods other than a kube-cert-agent.
// Each is named with its reason.
//
// Severity: critical for a control plane Machine, where an upgrade of the whole cluster waits,
// warning for a worker; info while the drain is younger than Youth, or while every pod it
// waits for is within its own grace period.
func findBlockedDrains(v *view) []model.Finding {
	var out []model.Finding
	for _, x := range v.draining() {
		if f, ok := x.blockedFinding(); ok {
			out = append(out, f)
		}
	}
	return out
}

func (x *draining) blockedFinding() (model.Finding, bool) {
	holds := x.checkOthersHold()
	if holds.Verdict == model.No {
		return model.Finding{}, false
	}
	checks := []model.Check{
		x.checkDeleting(), x.checkDraining(), holds, x.checkReasons(),
		x.checkAllNamed(), x.checkCordoned(), x.checkNodeAnswers(), x.checkForEver(), x.checkGoesOn(),
		x.checkAgentBeside(),
	}
	confidence, found := model.Decide(checks)
	if !found {
		return model.Finding{}, false
	}
	facts := &DrainFacts{
		Machine: x.m.Name, Node: x.m.NodeName, Blockers: x.blockers, Hidden: x.hidden,
		Error: x.drainError(), DrainStarted: x.d.Since,
	}
	f := model.Finding{
		Confidence: confidence, Severity: model.Warning,
		Subjects: x.subjects(), Summary: x.blockedSummary(), Short: x.blockedShort(),
		Since: x.since(), Evidence: checks, Advice: x.blockedAdvice(), Facts: facts,
	}
	for _, b := range x.blockers {
		if b.Name != "" && len(f.Subjects) < maxPodSubjects {
			f.Subjects = append(f.Subjects, x.v.podRef(b.Namespace, b.Name))
		}
	}
	switch {
	case x.young || x.allInGrace():
		f.Severity = model.Info
	case x.m.ControlPlane:
		f.Severity = model.Critical
	}
	return f, true
}

// checkAgentBeside says whether an agent holds the drain as well: what makes it the neighbour's.
func (x *draining) checkAgentBeside() model.Check {
	c := x.checkAgentOnNode()
	c.Weight = model.Supporting
	return c
}

// checkOthersHold asks whether anything but an agent holds the drain.
func (x *draining) checkOthersHold() model.Check {
	c := model.Check{
		Name: "others-hold-drain", Title: "something holds the drain", Weight: model.Deciding,
		Source: x.machineSource() + ", condition " + x.d.Condition, Seen: x.v.seen("machines"),
	}
	sure := x.sureBlockers()
	switch {
	case x.nodeGone():
		c.Verdict, c.Detail = model.No, "the Node is gone, and Cluster API skips its drain"
	case len(sure) > 0:
		c.Verdict, c.Detail = model.Yes, blockerList(sure, 20)
		if !sure[0].Named {
			c.Source, c.Seen = x.podsSource(), x.v.c.Workload.PodsSource.Seen
		}
	case x.drainError() != "":
		c.Verdict, c.Detail = model.Yes, x.drainError()
	case len(x.blockers) > 0:
		c.Verdict, c.Detail = model.Unknown, blockerList(x.blockers, 20)
		_, c.Settle = x.podsUnknown()
		c.Source = "PodDisruptionBudgets of the workload cluster"
	case len(x.agents) > 0 || x.young || x.d.Message.Complete():
		c.Verdict, c.Detail = model.No, "nothing but a kube-cert-agent is known to hold it"
	case x.hidden > 0:
		c.Verdict, c.Detail = model.Yes, text.Plural(x.hidden, "pod")+" that the message does not name"
		_, c.Settle = x.podsUnknown()
	case x.podsKnown && !x.evictable():
		c.Verdict, c.Detail = model.No, "no pod is left on the node that the drain would wait for"
	default:
		c.Verdict = model.Unknown
		c.Detail = "the drain does not end, and nothing says what it waits for"
		if x.d.Message.Form == lifecycle.FormNameless {
			c.Detail = "the drain does not end, and this Cluster API version does not name the pods it waits for (releases up to 1.8 never do)"
		}
		if x.d.Failing {
			c.Detail = "the drain fails, and the Machine does not say why: it is in the log of capi-controller-manager"
		}
		_, c.Settle = x.podsUnknown()
	}
	return c
}

// evictable says whether a pod on the node is one that the drain waits for.
func (x *draining) evictable() bool {
	for _, p := range x.pods {
		if x.treat(p).Outcome.Holds() {
			return true
		}
	}
	return false
}

// checkReasons asks whether the reason is known: from Cluster API's own words, or by
// joining pods and budgets.
func (x *draining) checkReasons() model.Check {
	c := model.Check{
		Name: "reason-known", Title: "why it holds is known", Weight: model.Deciding,
		Source: x.machineSource() + ", condition " + x.d.Condition, Seen: x.v.seen("machines"),
	}
	sure := x.sureBlockers()
	switch {
	case len(sure) > 0:
		c.Verdict, c.Detail = model.Yes, "the drain's own words"
		if !sure[0].Named {
			c.Detail = "read from the pods on the node and the budgets that select them"
			c.Source, c.Seen = x.podsSource(), x.v.c.Workload.PodsSource.Seen
		}
	case x.drainError() != "":
		c.Verdict, c.Detail = model.Yes, "the drain's own words"
	case len(x.blockers) > 0:
		c.Verdict, c.Detail = model.Unknown, "nothing joins the budget to a pod on this node"
		_, c.Settle = x.podsUnknown()
	default:
		c.Verdict = model.Unknown
		c.Detail, c.Settle = x.podsUnknown()
		if x.podsKnown {
			c.Detail = "the pods on the node give no reason"
			c.Settle = "look into the log of capi-controller-manager for Machine " + x.m.Name
		}
	}
	return c
}

func (x *draining) checkAllNamed() model.Check {
	c := model.Check{
		Name: "all-named", Title: "all that holds it is named", Weight: model.Supporting,
		Source: x.machineSource() + ", condition " + x.d.Condition, Seen: x.v.seen("machines"),
	}
	msg := &x.d.Message
	switch {
	case x.hidden > 0:
		c.Verdict, c.Detail = model.No, fmt.Sprintf("%s more, which the message does not name", text.Plural(x.hidden, "pod"))
		_, c.Settle = x.podsUnknown()
	case msg.Cut:
		c.Verdict, c.Detail = model.Unknown, "the message was longer than is read"
	case msg.Form == lifecycle.FormPods && len(msg.Groups) > 0:
		c.Verdict, c.Detail = model.Yes, "every pod that the message counts"
	default:
		c.Verdict, c.Detail = model.Unknown, "the message names none"
		_, c.Settle = x.podsUnknown()
	}
	return c
}

// allInGrace says that every blocker is a pod that still may take its time to end.
func (x *draining) allInGrace() bool {
	if x.v.now.IsZero() || x.hidden > 0 || len(x.blockers) == 0 {
		return false
	}
	var end time.Time
	for _, b := range x.blockers {
		if b.Why != lifecycle.Terminating || !b.Grace.After(x.v.now) {
			return false
		}
		if b.Grace.After(end) {
			end = b.Grace
		}
	}
	x.v.at(end)
	return true
}

func (x *draining) blockedSummary() string {
	sure := x.sureBlockers()
	s := ""
	switch {
	case len(sure) > 0:
		s = "the drain of " + x.m.Name + " waits for " + blockerList(sure, 3)
		if x.hidden > 0 {
			s += fmt.Sprintf("; %s more not named", text.Plural(x.hidden, "pod"))
		}
	case x.drainError() != "":
		s = "the drain of " + x.m.Name + " fails: " + x.drainError()
	case len(x.blockers) > 0:
		s = "the drain of " + x.m.Name + " does not end; what may hold it: " + blockerList(x.blockers, 3)
	case x.d.Failing:
		s = "the drain of " + x.m.Name + " fails, and the Machine does not say why"
	default:
		s = "the drain of " + x.m.Name + " is stuck, and what holds it is not named"
	}
	return text.Clean(text.Limit(s, 500))
}

// blockedShort is what fits into a column.
func (x *draining) blockedShort() string {
	sure := x.sureBlockers()
	if len(sure) == 0 {
		if x.drainError() != "" {
			return "drain fails"
		}
		return "drain stuck"
	}
	n := len(sure) + x.hidden
	for _, b := range sure {
		if b.Why == lifecycle.Budget {
			return "drain: budget " + text.Clean(cmp.Or(b.Budget, b.Name))
		}
	}
	return "drain waits for " + text.Plural(n, "pod")
}

func (x *draining) blockedAdvice() []string {
	var out []string
	if why := x.v.paused(x.m); why != "" {
		out = append(out, why+": nothing goes on until it is resumed.")
	}
	if e := x.drainError(); e != "" {
		out = append(out, "Mend this first: "+e+".")
	}
	has := func(w lifecycle.Why) bool {
		for _, b := range x.blockers {
			if b.Why == w {
				return true
			}
		}
		return false
	}
	if has(lifecycle.Budget) {
		out = append(out, "Let the PodDisruptionBudget allow a disruption: run more replicas elsewhere, or lower what it asks for while the node is drained. A budget of one for a single replica can never be met.")
	}
	if has(lifecycle.Terminating) {
		out = append(out, "Look why the pod does not end: its events, its finalizers, its volumes, the kubelet of its node.")
	}
	if has(lifecycle.Failed) || has(lifecycle.Other) {
		out = append(out, "Look at what refuses the eviction: an admission webhook, a missing Namespace, more than one budget for the same pod.")
	}
	if has(lifecycle.Completing) {
		out = append(out, "The drain waits until the pod completes, as a MachineDrainRule or its label cluster.x-k8s.io/drain asks.")
	}
	if len(x.sureBlockers()) == 0 && x.m.NodeName != "" {
		out = append(out, "Look in the workload cluster: kubectl get pods -A -o wide --field-selector spec.nodeName="+x.m.NodeName+", and kubectl get pdb -A for budgets that allow no disruption.")
	}
	if x.unreachable() {
		out = append(out, "The node does not answer. If it is surely dead, the annotation machine.cluster.x-k8s.io/exclude-node-draining on its Machine skips the drain.")
	}
	return append(out, noHands)
}
