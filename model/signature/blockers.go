package signature

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
)

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

// findBlockers collects what holds the drain besides kube-cert-agents: the pods that the
// message names, those it hides that can be found on the node, and, where it names none,
// what the pods and budgets tell.
func (x *draining) findBlockers() {
	msg := &x.d.Message
	for i := range msg.Groups {
		g := &msg.Groups[i]
		if !g.Why.Now() {
			continue
		}
		for _, n := range g.Pods {
			if x.isAgent(n) {
				continue
			}
			x.blockers = append(x.blockers, x.namedBlocker(g, n))
		}
	}
	x.hidden = msg.Hidden()
	for _, a := range x.agents {
		// An agent on the node is one of those that are counted and not named.
		if n := (lifecycle.PodName{Namespace: a.Namespace, Name: a.Name}); x.hidden > 0 && a.Seen && !a.Named && couldHide(msg, n, lifecycle.Terminating) {
			x.hidden--
		}
	}
	switch {
	case msg.Complete() || x.nodeGone():
	case msg.Form == lifecycle.FormError || msg.Form == lifecycle.FormUnreachable:
		// It does not get as far as to evict anything.
	case x.podsKnown:
		x.unnamedBlockers()
	case len(msg.Groups) == 0 && x.hidden == 0:
		x.likelyBudgets()
	}
	slices.SortStableFunc(x.blockers, func(a, b Blocker) int {
		if a.Sure != b.Sure {
			if a.Sure {
				return -1
			}
			return 1
		}
		if r := strings.Compare(a.Namespace, b.Namespace); r != 0 {
			return r
		}
		return strings.Compare(a.Name, b.Name)
	})
}

func (x *draining) isAgent(n lifecycle.PodName) bool {
	n = withNamespace(n)
	if slices.ContainsFunc(x.agents, func(a Agent) bool { return a.Name == n.Name && (a.Namespace == n.Namespace || n.Namespace == "") }) {
		return true
	}
	// One that has come back under another name.
	return strings.Contains(n.Name, agentInName) && x.pod(n) == nil &&
		slices.ContainsFunc(x.agents, func(a Agent) bool { return a.Namespace == n.Namespace && family(a.Name) == family(n.Name) })
}

func (x *draining) pod(n lifecycle.PodName) *model.Pod {
	for _, p := range x.pods {
		if p.Name == n.Name && (p.Namespace == n.Namespace || n.Namespace == "") {
			return p
		}
	}
	return nil
}

func (x *draining) namedBlocker(g *lifecycle.Group, n lifecycle.PodName) Blocker {
	b := Blocker{Namespace: n.Namespace, Name: n.Name, Why: g.Why, Named: true, Sure: true}
	p := x.pod(n)
	switch g.Why {
	case lifecycle.Terminating:
		b.Detail = "being deleted, still there"
		if p != nil {
			x.terminating(&b, p)
		}
	case lifecycle.Budget:
		b.Budget = g.BudgetName
		x.budgetDetail(&b, g, p)
	case lifecycle.Completing:
		b.Detail = "waited for until it completes"
		if p != nil {
			if t := x.treat(p); t.Outcome == lifecycle.Waited {
				b.Detail += ": " + t.Why
			}
		}
	case lifecycle.Failed:
		b.Detail = "eviction refused: " + text.Limit(g.Text, 200)
	case lifecycle.Other, lifecycle.EvictLater, lifecycle.CompleteLater:
		b.Detail = text.Limit(g.Text, 200)
	}
	return b
}

// terminating says why a pod that is being deleted may still be there.
func (x *draining) terminating(b *Blocker, p *model.Pod) {
	b.Detail = "being deleted, still there"
	var why []string
	if !p.Deleting.IsZero() {
		b.Grace = p.Deleting
		if !x.v.now.IsZero() && p.Deleting.After(x.v.now) {
			b.Detail = "being deleted, within its own grace period until " + stamp(p.Deleting)
			x.v.at(p.Deleting)
		}
	}
	if len(p.Finalizers) > 0 {
		why = append(why, "finalizers "+text.List(p.Finalizers, 3))
	}
	if x.notReady() {
		why = append(why, "its node is NotReady")
	}
	if len(p.Claims) > 0 {
		why = append(why, "volumes "+text.List(p.Claims, 3))
	}
	if len(why) > 0 {
		b.Detail += " (" + text.Clean(strings.Join(why, "; ")) + ")"
	}
}

func (x *draining) budgetDetail(b *Blocker, g *lifecycle.Group, p *model.Pod) {
	name := b.Budget
	var budget *model.Budget
	for i := range x.v.c.Workload.Budgets {
		o := &x.v.c.Workload.Budgets[i]
		if o.Namespace != b.Namespace {
			continue
		}
		if o.Name == name || name == "" && p != nil && o.Selects(p) && o.DisruptionsAllowed == 0 {
			budget = o
			break
		}
	}
	if budget != nil {
		b.Budget = budget.Name
	}
	b.Detail = "PodDisruptionBudget " + b.Budget + " allows no disruption"
	if b.Budget == "" {
		b.Detail = "a PodDisruptionBudget allows no disruption"
	}
	switch {
	case g != nil && g.Needs >= 0:
		b.Detail += fmt.Sprintf(": needs %d healthy, has %d", g.Needs, g.Has)
	case budget != nil:
		b.Detail += ": " + counts(budget)
	}
	if budget != nil && budget.DisruptionsAllowed > 0 {
		b.Detail += fmt.Sprintf("; by now it allows %d", budget.DisruptionsAllowed)
	}
}

func counts(b *model.Budget) string {
	return fmt.Sprintf("needs %d healthy of %d, has %d", b.DesiredHealthy, b.ExpectedPods, b.CurrentHealthy)
}

// unnamedBlockers looks for the pods that the message does not name among those on the
// node: the ones that it could hide, by its order.
func (x *draining) unnamedBlockers() {
	msg := &x.d.Message
	for _, p := range x.pods {
		name := lifecycle.PodName{Namespace: p.Namespace, Name: p.Name}
		if p.CertAgent() || msg.Find(p.Namespace, p.Name) != nil {
			continue
		}
		t := x.treat(p)
		if !t.Outcome.Holds() || t.Outcome == lifecycle.Fails {
			continue
		}
		b := Blocker{Namespace: p.Namespace, Name: p.Name, Sure: true}
		switch {
		case t.Outcome == lifecycle.Waited:
			b.Why, b.Detail = lifecycle.Completing, "waited for until it completes: "+t.Why
		case !p.Deleting.IsZero():
			b.Why = lifecycle.Terminating
			x.terminating(&b, p)
		default:
			budget := x.refuses(p)
			if budget == nil {
				continue
			}
			b.Why, b.Budget = lifecycle.Budget, budget.Name
			x.budgetDetail(&b, nil, p)
		}
		if msg.Form == lifecycle.FormPods && len(msg.Groups) > 0 && !couldHide(msg, name, b.Why) {
			continue
		}
		x.blockers = append(x.blockers, b)
		if x.hidden > 0 {
			x.hidden--
		}
	}
}

// refuses is a budget that refuses the eviction of a pod, or nil. Pods that do not run yet
// or any more are evicted whatever their budget says (kubernetes
// pkg/registry/core/pod/storage/eviction.go).
func (x *draining) refuses(p *model.Pod) *model.Budget {
	switch p.Phase {
	case "Pending", "Succeeded", "Failed":
		return nil
	}
	for i := range x.v.c.Workload.Budgets {
		if b := &x.v.c.Workload.Budgets[i]; b.DisruptionsAllowed == 0 && b.Selects(p) {
			return b
		}
	}
	return nil
}

// couldHide says whether a pod can be among those that a message counts without naming:
// each line names the first three in the order of "namespace/name".
func couldHide(m *lifecycle.Message, n lifecycle.PodName, why lifecycle.Why) bool {
	if m.Cut {
		return true
	}
	if m.Others > 0 && why != lifecycle.Terminating {
		return true
	}
	for i := range m.Groups {
		g := &m.Groups[i]
		if g.More == 0 || !g.Why.Now() || g.Why != why {
			continue
		}
		if len(g.Pods) == 0 || n.String() > g.Pods[len(g.Pods)-1].String() {
			return true
		}
	}
	return false
}

// likelyBudgets adds budgets that refuse every disruption, where nothing tells which pods
// are on the node: any of them may be what holds the drain.
func (x *draining) likelyBudgets() {
	for i := range x.v.c.Workload.Budgets {
		b := &x.v.c.Workload.Budgets[i]
		if b.DisruptionsAllowed != 0 || b.ExpectedPods == 0 && b.CurrentHealthy == 0 && b.DesiredHealthy == 0 {
			continue
		}
		x.blockers = append(x.blockers, Blocker{
			Namespace: b.Namespace, Why: lifecycle.Budget, Budget: b.Name,
			Detail: "allows no disruption: " + counts(b) + "; whether it has a pod on this node is not known",
		})
	}
}

// sureBlockers are those that certainly hold the drain; they are sorted first.
func (x *draining) sureBlockers() []Blocker {
	for i := range x.blockers {
		if !x.blockers[i].Sure {
			return x.blockers[:i]
		}
	}
	return x.blockers
}

// drainError is what makes the drain fail as a whole, empty where nothing is known to.
func (x *draining) drainError() string {
	msg := &x.d.Message
	if len(x.plan.Invalid) > 0 {
		r := x.plan.Invalid[0]
		return "MachineDrainRule " + r.Name + " has an invalid selector, so that every drain in " + r.Namespace + " fails (" + text.Limit(text.Clean(r.Invalid), 200) + ")"
	}
	switch {
	case msg.BadRule != "":
		return "MachineDrainRule " + msg.BadRule + " has an invalid selector, so that every drain in its vSphere Namespace fails"
	case msg.Form == lifecycle.FormUnreachable:
		return "the workload cluster does not answer Cluster API, which cannot drain without it"
	case msg.Form == lifecycle.FormError && msg.Text != "" && len(msg.Groups) == 0:
		return text.Limit(msg.Text, 300)
	}
	return ""
}

// blockerList writes the first blockers, and how many more there are.
func blockerList(bs []Blocker, limit int) string {
	names := make([]string, 0, min(len(bs), limit))
	for _, b := range bs[:min(len(bs), limit)] {
		names = append(names, b.String())
	}
	s := text.List(names, 0)
	if more := len(bs) - len(names); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}
