package signature

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
)

// KubeCertAgentBlocksDrain is the id of the signature in this file.
const KubeCertAgentBlocksDrain = "kube-cert-agent-blocks-drain"

func kubeCertAgentBlocksDrain() Signature {
	return Signature{
		ID: KubeCertAgentBlocksDrain, Title: "a pinniped kube-cert-agent keeps coming back and blocks the drain of a Machine", KB: "410900",
		Needs:  []string{"machines", "machinedrainrules"},
		Causes: []Relation{{MachineDeletionStalled, sameMachine}},
		Facts:  func() any { return &AgentFacts{} },
		find:   findAgentDrains,
	}
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

// findAgentDrains is kube-cert-agent-blocks-drain (KB 410900): pinniped pins its
// kube-cert-agent to the node of a kube-controller-manager by spec.nodeName, past
// scheduler and cordon, so that every eviction is answered by a new pod on the same node and
// the drain never ends.
//
// Severity: critical, since only control plane nodes have an agent, and an upgrade waits for
// them; info while the drain is younger than Youth or a rule that covers the agent is younger
// than RetryGrace.
func findAgentDrains(v *view) []model.Finding {
	var out []model.Finding
	for _, x := range v.draining() {
		if f, ok := x.agentFinding(); ok {
			out = append(out, f)
		}
	}
	return out
}

func (x *draining) agentFinding() (model.Finding, bool) {
	onNode := x.checkAgentOnNode()
	if onNode.Verdict == model.No {
		return model.Finding{}, false // Most drains: no more has to be worked out.
	}
	facts := x.agentFacts()
	rule, pass := x.checkNoRule(facts)
	checks := []model.Check{
		x.checkDeleting(), x.checkDraining(), onNode, x.checkAwaited(), rule,
		x.checkComesBack(), x.checkNothingElse(), x.checkAgentState(), x.checkCordoned(), x.checkNodeAnswers(),
		x.checkPinniped(), x.checkForEver(), x.checkGoesOn(), x.v.checkVKS(),
	}
	confidence, found := model.Decide(checks)
	if !found {
		return model.Finding{}, false
	}
	f := model.Finding{
		Confidence: confidence, Severity: model.Critical, Subjects: x.subjects(), Short: "agent blocks drain",
		Since: x.since(), Evidence: checks, Facts: facts,
	}
	for _, a := range x.agents {
		f.Subjects = append(f.Subjects, x.v.podRef(a.Namespace, a.Name))
	}
	f.Summary = x.agentSummary(facts, confidence, pass)
	f.Advice = x.agentAdvice(pass)
	switch {
	case x.young || pass == passFresh || pass == passUndated:
		f.Severity = model.Info
	case pass == passStale || pass == passUnknown && len(x.agents) > 0 && x.rulesUnknown == "" || x.worker():
		f.Severity = model.Warning
	}
	return f, true
}

// checkAwaited asks whether the drain waits for the agent, and not only for others.
func (x *draining) checkAwaited() model.Check {
	msg := &x.d.Message
	c := model.Check{
		Name: "drain-waits-for-agent", Title: "the drain waits for it", Weight: model.Deciding, Verdict: model.Unknown,
		Source: x.machineSource() + ", condition " + x.d.Condition, Seen: x.v.seen("machines"),
	}
	named := slices.IndexFunc(x.agents, func(a Agent) bool { return a.Named })
	switch {
	case x.nodeGone():
		c.Verdict, c.Detail = model.No, "the Node "+x.m.NodeName+" is gone, and Cluster API skips the drain of a node that is gone"
	case x.agentsIgnored():
		c.Verdict, c.Detail = model.No, "the node does not answer, and the drain ignores agents that are being deleted already"
	case named >= 0 && x.notReady() && x.othersTerminating():
		c.Detail = "it is named, but the node is NotReady and no pod ends on it: the agent is one of many"
		c.Settle = "mend the node first; what is left then is what blocks"
	case named >= 0:
		c.Verdict, c.Detail = model.Yes, "it names "+x.agents[named].Namespace+"/"+x.agents[named].Name+" or an earlier one of its kind"
		if g := msg.Find(x.agents[named].Namespace, x.agents[named].Name); g != nil {
			c.Detail = "it names " + x.agents[named].Namespace + "/" + x.agents[named].Name + ": " + text.Limit(g.Text, 120)
		}
	case x.turnComesLater():
		c.Verdict, c.Detail = model.No, "its turn comes after the pods that hold the drain now"
	case msg.Form == lifecycle.FormPods && x.couldHideAgent():
		if len(x.agents) > 0 {
			c.Verdict = model.Yes
		}
		c.Detail = fmt.Sprintf("it waits for %s without naming them, and an agent may be one", text.Plural(msg.Hidden(), "pod"))
		if len(x.agents) > 0 {
			c.Detail = fmt.Sprintf("it waits for %s without naming them, and an agent is on the node", text.Plural(msg.Hidden(), "pod"))
		}
	case msg.Form == lifecycle.FormPods && len(msg.Groups) > 0:
		c.Detail = "its message names other pods and not the agent, which may have come back since; it is written anew every 20 s"
		c.Settle = "look again in half a minute"
	case msg.Form == lifecycle.FormNameless:
		c.Detail = "it names no pods: Cluster API up to 1.8 never does, later ones do after the first pass"
	case msg.Form == lifecycle.FormUnreachable || msg.Form == lifecycle.FormError:
		c.Detail = "the drain fails before it gets to evict: " + cmp.Or(x.drainError(), "look at Cluster API's log")
	default:
		c.Detail = "its message does not say yet what it waits for"
	}
	return c
}

func (x *draining) couldHideAgent() bool {
	msg := &x.d.Message
	if msg.Hidden() == 0 && !msg.Cut {
		return false
	}
	if len(x.agents) == 0 {
		return true
	}
	return slices.ContainsFunc(x.agents, func(a Agent) bool {
		n := lifecycle.PodName{Namespace: a.Namespace, Name: a.Name}
		return couldHide(msg, n, lifecycle.Terminating) || couldHide(msg, n, lifecycle.Failed) || couldHide(msg, n, lifecycle.Budget)
	})
}

// agentsIgnored says that every agent is one that the drain does not wait for, because
// the node does not answer. A fresh agent on such a node is still evicted, and waited for.
func (x *draining) agentsIgnored() bool {
	if len(x.agents) == 0 {
		return false
	}
	return !slices.ContainsFunc(x.agents, func(a Agent) bool { return a.Treatment.Outcome != lifecycle.Ignored })
}

func (x *draining) othersTerminating() bool {
	return slices.ContainsFunc(x.blockers, func(b Blocker) bool { return b.Why == lifecycle.Terminating })
}

// turnComesLater says that the agents are named only among the pods that are evicted later.
func (x *draining) turnComesLater() bool {
	later := false
	for _, a := range x.agents {
		g := x.d.Message.Find(a.Namespace, a.Name)
		if g == nil {
			continue
		}
		if g.Why.Now() {
			return false
		}
		later = true
	}
	return later
}

// pass says what the existing rules do for the agents.
type pass int

const (
	passNone    pass = iota // some agent is let through by nothing.
	passFresh               // a rule covers all; it is younger than RetryGrace.
	passUndated             // a rule covers all; since when is unknown, and the drain still names an agent.
	passStale               // a rule has covered all for a while, and the drain still names an agent.
	passUnknown             // the rules are not known well enough.
	passSettled             // all are let through, and nothing says that the drain waits for them.
)

// checkNoRule asks whether a MachineDrainRule or a label lets the agents pass already.
func (x *draining) checkNoRule(f *AgentFacts) (model.Check, pass) {
	c := model.Check{
		Name: "no-rule-lets-it-pass", Title: "no MachineDrainRule lets it pass", Weight: model.Deciding,
		Source: "MachineDrainRules in " + x.m.Namespace, Seen: x.v.seen("machinedrainrules"),
	}
	p, rule, made := x.passing()
	switch p {
	case passNone:
		c.Verdict, c.Detail = model.Yes, x.rulesDetail(f)
	case passUnknown:
		c.Verdict, c.Detail = model.Unknown, x.rulesDetail(f)
		if x.rulesUnknown != "" {
			c.Settle = "kubectl get machinedrainrules -n " + x.m.Namespace
		}
	case passFresh:
		c.Verdict, c.Detail = model.Unknown, fmt.Sprintf("MachineDrainRule %s covers it, made at %s: the drain tries again every 20 s", rule, stamp(made))
		c.Settle = "wait half a minute"
	case passUndated:
		c.Verdict, c.Detail = model.Unknown, fmt.Sprintf("%s lets it pass, and the drain's last message still names it: the drain tries again every 20 s", ruleWords(rule))
		c.Settle = "wait half a minute and look again"
	case passStale:
		c.Verdict, c.Detail = model.Unknown, fmt.Sprintf("MachineDrainRule %s has covered it since %s, and the drain's last message still names it", rule, stamp(made))
		c.Settle = "look whether Cluster API's controllers run, and when the condition was last written"
	case passSettled:
		c.Verdict, c.Detail = model.No, ruleWords(rule)+" lets it pass"
	}
	return c, p
}

func ruleWords(rule string) string {
	if rule == "" {
		return "its own label " + lifecycle.PodLabel
	}
	return "MachineDrainRule " + rule
}

// passing works out what lets the agents pass: the rule, and when the youngest of those that
// do was made.
func (x *draining) passing() (p pass, rule string, made time.Time) {
	named, unsure, open, undated := false, false, false, false
	for _, a := range x.agents {
		named = named || a.Named
		t := a.Treatment
		switch {
		case t.Unsure != "":
			unsure = true
		case t.Outcome == lifecycle.Skipped:
			at := x.ruleMade(t.Rule)
			undated = undated || at.IsZero()
			if rule == "" || at.After(made) {
				rule, made = t.Rule, at
			}
		case t.Outcome == lifecycle.Ignored:
		default:
			open = true
		}
	}
	awaited := named || !x.d.Message.Complete()
	switch {
	case x.rulesUnknown != "" && named:
		return passNone, "", made // If one covered it, the drain would not wait for it.
	case x.rulesUnknown != "" || len(x.agents) == 0 && len(x.plan.Rules) > 0:
		return passUnknown, "", made
	case open || len(x.agents) == 0:
		return passNone, "", made
	case unsure && named && x.rulesSettled():
		return passNone, "", made // They had their chance: what may cover it does not.
	case unsure:
		return passUnknown, "", made
	case !undated && !x.v.now.IsZero() && x.v.now.Before(made.Add(RetryGrace)) && awaited:
		x.v.at(made.Add(RetryGrace))
		return passFresh, rule, made
	case !named:
		return passSettled, rule, made
	case undated || x.v.now.IsZero():
		return passUndated, rule, made
	}
	return passStale, rule, made
}

// rulesSettled says that every rule that reaches the Machine has been there for long enough
// to work.
func (x *draining) rulesSettled() bool {
	for _, r := range x.plan.Rules {
		made := r.Rule.Created
		if made.IsZero() || x.v.now.IsZero() || x.v.now.Before(made.Add(RetryGrace)) {
			x.v.at(made.Add(RetryGrace))
			return false
		}
	}
	return true
}

func (x *draining) ruleMade(name string) time.Time {
	for _, r := range x.v.c.DrainRules {
		if r.Name == name && r.Namespace == x.m.Namespace {
			return r.Created
		}
	}
	return time.Time{}
}

// rulesDetail tells all rules and what is with each.
func (x *draining) rulesDetail(f *AgentFacts) string {
	switch {
	case x.rulesUnknown != "":
		return x.rulesUnknown
	case x.v.sn.Supervisor.DrainRulesServed == model.No:
		return "this Supervisor serves no MachineDrainRules (Cluster API before 1.9)"
	case len(f.Rules) == 0:
		return "there is none in " + x.m.Namespace
	}
	var parts []string
	for _, r := range f.Rules {
		parts = append(parts, r.Name+" is there, "+stateWords(r))
	}
	return text.Clean(text.List(parts, 6))
}

func stateWords(r RuleVerdict) string {
	switch r.State {
	case lifecycle.Covering:
		return "covering: " + r.Why
	case lifecycle.Partly:
		return "covering only a part: " + r.Why
	case lifecycle.NotCovering:
		return "not covering: " + r.Why
	case lifecycle.Shadowed:
		return "shadowed: " + r.Why
	case lifecycle.InvalidRule:
		return "invalid: " + r.Why
	case lifecycle.OtherBehaviour:
		return "doing something else: " + r.Why
	case lifecycle.Unsure:
		return "and it is not known whether it covers: " + r.Why
	}
	return string(r.State)
}

// checkComesBack asks whether there is a new agent after each eviction.
func (x *draining) checkComesBack() model.Check {
	c := model.Check{
		Name: "agent-comes-back", Title: "it keeps coming back", Weight: model.Supporting,
		Source: x.podsSource(), Seen: x.v.c.Workload.PodsSource.Seen,
	}
	// One after the other in one namespace: agents of several namespaces stand side by side.
	type span struct {
		uids        map[string]bool
		first, last time.Time
	}
	seen := map[string]*span{}
	for _, s := range x.v.c.Workload.Sightings {
		if s.Node != x.m.NodeName || s.Last.Before(x.d.Since) {
			continue
		}
		in := seen[s.Namespace]
		if in == nil {
			in = &span{uids: map[string]bool{}, first: s.First, last: s.Last}
			seen[s.Namespace] = in
		}
		in.uids[s.UID] = true
		if s.First.Before(in.first) {
			in.first = s.First
		}
		if s.Last.After(in.last) {
			in.last = s.Last
		}
	}
	var shortest *span // of what has been one pod.
	for _, ns := range slices.Sorted(maps.Keys(seen)) {
		in := seen[ns]
		if shortest == nil || in.last.Sub(in.first) < shortest.last.Sub(shortest.first) {
			shortest = in
		}
		if len(in.uids) > 1 {
			c.Verdict = model.Yes
			c.Detail = fmt.Sprintf("%d different pods in %s between %s and %s", len(in.uids), text.Clean(ns), stamp(in.first), stamp(in.last))
			return c
		}
	}
	for _, a := range x.agents {
		if !a.Seen {
			continue
		}
		p := x.pod(lifecycle.PodName{Namespace: a.Namespace, Name: a.Name})
		if p != nil && !x.d.Since.IsZero() && x.d.Exact && p.Created.After(x.d.Since) {
			c.Verdict = model.Yes
			c.Detail = a.Namespace + "/" + a.Name + " was made at " + stamp(p.Created) + ", after the drain had begun"
			return c
		}
		if a.Named && x.d.Message.Find(a.Namespace, a.Name) == nil {
			c.Verdict = model.Yes
			c.Detail = "the drain names another one than is there now: " + a.Namespace + "/" + a.Name
			return c
		}
	}
	c.Verdict = model.Unknown
	switch {
	case shortest != nil && shortest.last.Sub(shortest.first) > RetryGrace:
		c.Verdict, c.Detail = model.No, "it has been the same pod from "+stamp(shortest.first)+" to "+stamp(shortest.last)
	case shortest != nil:
		c.Detail, c.Settle = "it was looked at for too short a time", "look again in a minute"
	default:
		c.Detail, c.Settle = "it was looked at once at most", "kubectl get pods -A -w -l "+model.CertAgentLabel+", in the workload cluster"
	}
	return c
}

func (x *draining) checkNothingElse() model.Check {
	c := model.Check{
		Name: "nothing-else-holds", Title: "nothing else is in the way", Weight: model.Supporting,
		Source: x.machineSource() + ", condition " + x.d.Condition, Seen: x.v.seen("machines"),
	}
	sure := x.sureBlockers()
	switch {
	case len(sure) > 0:
		c.Verdict, c.Detail = model.No, blockerList(sure, 12)
	case x.drainError() != "":
		c.Verdict, c.Detail = model.No, x.drainError()
	case x.hidden > 0 && !x.podsKnown:
		c.Verdict = model.Unknown
		_, c.Settle = x.podsUnknown()
		c.Detail = fmt.Sprintf("the drain waits for %s without naming them", text.Plural(x.hidden, "pod"))
	case x.d.Message.Form != lifecycle.FormPods && !x.podsKnown:
		c.Verdict, c.Detail = model.Unknown, "the drain names no pods"
		_, c.Settle = x.podsUnknown()
	default:
		c.Verdict, c.Detail = model.Yes, "no other pod holds the drain"
	}
	return c
}

func (x *draining) checkAgentState() model.Check {
	c := model.Check{
		Name: "agent-state", Title: "the agent cannot settle there", Weight: model.Supporting, Verdict: model.Unknown,
		Source: x.podsSource(), Seen: x.v.c.Workload.PodsSource.Seen,
	}
	var states []string
	for _, a := range x.agents {
		if !a.Seen {
			continue
		}
		states = append(states, a.Namespace+"/"+a.Name+": "+cmp.Or(a.State, "no state"))
		if p := x.pod(lifecycle.PodName{Namespace: a.Namespace, Name: a.Name}); p != nil {
			settled := p.Phase == "Running" && p.Waiting == "" && p.Deleting.IsZero()
			if !settled {
				c.Verdict = model.Yes
			} else if c.Verdict == model.Unknown {
				c.Verdict = model.No
			}
		}
	}
	c.Detail = text.List(states, 4)
	if len(states) == 0 {
		c.Detail, c.Settle = x.podsUnknown()
	}
	return c
}

func (x *draining) checkPinniped() model.Check {
	w := x.v.c.Workload
	c := model.Check{Name: "has-pinniped", Title: "the cluster has pinniped", Weight: model.Supporting, Source: "pods of the workload cluster", Seen: w.PodsSource.Seen}
	switch {
	case len(x.agents) > 0:
		c.Verdict, c.Detail = model.Yes, "its kube-cert-agent is there"
	case w.HasPinniped == model.Yes:
		c.Verdict, c.Detail = model.Yes, "a kube-cert-agent is on another node"
	case w.HasPinniped == model.No:
		c.Verdict, c.Detail = model.No, "no kube-cert-agent anywhere in the cluster"
	default:
		c.Verdict = model.Unknown
		c.Detail, c.Settle = "the pods could not be listed", "kubectl get pods -A -l "+model.CertAgentLabel+", in the workload cluster"
	}
	return c
}

func (x *draining) agentSummary(f *AgentFacts, conf model.Confidence, p pass) string {
	verb := "blocks"
	if conf != model.Confirmed {
		verb = "may block"
	}
	s := "kube-cert-agent " + verb + " the drain of " + x.m.Name
	if len(f.Namespaces) > 0 {
		s = "kube-cert-agent of " + strings.Join(f.Namespaces, " and ") + " " + verb + " the drain of " + x.m.Name
	}
	switch p {
	case passFresh, passUndated:
		return text.Clean(s + "; a rule lets it pass: the drain tries again every 20 s")
	case passStale:
		return text.Clean(s + " although a rule lets it pass")
	case passNone, passUnknown, passSettled:
	}
	for _, r := range f.Rules {
		switch r.State {
		case lifecycle.NotCovering, lifecycle.Partly:
			s += "; MachineDrainRule " + r.Name + " exists, " + r.Why
		case lifecycle.Shadowed:
			s += "; MachineDrainRule " + r.Name + " is shadowed by " + r.ByName
		case lifecycle.InvalidRule:
			s += "; MachineDrainRule " + r.Name + " is invalid"
		case lifecycle.Covering, lifecycle.OtherBehaviour, lifecycle.Unsure:
		}
	}
	if n := len(x.sureBlockers()); n > 0 {
		s += "; " + text.Plural(n, "other pod") + " too"
	}
	return text.Clean(text.Limit(s, 400))
}

func (x *draining) agentAdvice(p pass) []string {
	var out []string
	if why := x.v.paused(x.m); why != "" {
		out = append(out, why+": nothing goes on until it is resumed.")
	}
	switch p {
	case passFresh, passUndated:
		out = append(out, "A rule lets the agent pass already: wait, the drain tries again every 20 s.")
	case passStale:
		out = append(out, "A rule lets the agent pass already; look whether Cluster API's controllers run.")
	case passNone, passUnknown, passSettled:
		if x.v.sn.Supervisor.DrainRulesServed == model.No {
			out = append(out, "This Supervisor has no MachineDrainRules (Cluster API before 1.9).")
		}
	}
	if e := x.drainError(); e != "" {
		out = append(out, "Mend this first: "+e+".")
	}
	if x.notReady() && x.othersTerminating() {
		out = append(out, "The node is NotReady: no pod ends on it. Mend the node first.")
	}
	return append(out, noHands)
}
