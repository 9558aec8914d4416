package signature

import (
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
)

// RemediationBlockedByQuorum is the id of the signature in this file.
const RemediationBlockedByQuorum = "remediation-blocked-by-quorum"

func remediationBlockedByQuorum() Signature {
	return Signature{
		ID: RemediationBlockedByQuorum, Title: "Cluster API will not remediate, because etcd would lose its quorum",
		Needs: []string{"machines"},
		Facts: func() any { return &QuorumFacts{} },
		find:  findQuorumBlocks,
	}
}

// QuorumFacts are the Facts of a finding of remediation-blocked-by-quorum.
type QuorumFacts struct {
	// Refused are the Machines that Cluster API will not remediate.
	Refused []string
	// Counted says whether the numbers below could be counted.
	Counted                bool
	Members, Needed, Alive int
	// Lost says that the quorum itself is lost, not only at risk.
	Lost model.Verdict
}

// refused is a Machine with Cluster API's refusal.
type refused struct {
	m       *model.Machine
	c       *model.Condition
	meaning string
}

// findQuorumBlocks is remediation-blocked-by-quorum: Cluster API says that it will not replace
// an unhealthy control plane Machine, since etcd would lose its quorum. That it refuses does not
// mean that the quorum is lost.
//
// Severity: critical; info while the refusal is younger than Youth, as one is common for a moment
// while a control plane rolls.
func findQuorumBlocks(v *view) []model.Finding {
	var list []refused
	for _, m := range v.c.Machines {
		if lifecycle.Deletes(m) {
			continue // It is being replaced after all.
		}
		for _, conds := range []model.Conditions{m.Conditions.New, m.Conditions.Old} {
			c := conds.Get("OwnerRemediated")
			if meaning, ok := lifecycle.Refusal(c); ok {
				list = append(list, refused{m, c, meaning})
				break
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	q := v.quorum()
	checks := []model.Check{v.checkRefused(list), v.checkQuorumHeld(q)}
	checks = append(checks, v.checkMembers(q)...)
	checks = append(checks, v.checkPaused(list[0].m))
	confidence, found := model.Decide(checks)
	if !found {
		return nil
	}
	f := model.Finding{
		Confidence: confidence, Severity: model.Critical,
		Short: "remediation refused", Evidence: checks, Since: oldest(list),
	}
	facts := &QuorumFacts{Lost: checks[1].Verdict.Not()}
	facts.Members, facts.Needed, facts.Alive, facts.Counted = q.Numbers()
	for _, r := range list {
		f.Subjects = append(f.Subjects, v.machineRef(r.m))
		facts.Refused = append(facts.Refused, r.m.Name)
	}
	f.Facts = facts
	f.Summary = text.Clean("Cluster API will not replace " + text.List(facts.Refused, 3) + ": " + list[0].meaning)
	if facts.Counted {
		f.Summary += "; " + q.Words()
	}
	f.Advice = []string{
		"Mend the nodes that are down; Cluster API goes on by itself once enough members are healthy.",
		"Do not delete a control plane Machine: its member of etcd goes with it.",
	}
	if facts.Lost == model.Yes {
		f.Advice = append(f.Advice, "The quorum is lost: until enough members are back the cluster's API can change nothing.")
	}
	if v.young(f.Since) {
		f.Severity = model.Info
	}
	return []model.Finding{f}
}

func oldest(list []refused) time.Time {
	var t time.Time
	for _, r := range list {
		if s := r.c.Since; !s.IsZero() && (t.IsZero() || s.Before(t)) {
			t = s
		}
	}
	return t
}

func (v *view) checkRefused(list []refused) model.Check {
	var said []string
	seen := map[string]bool{}
	for _, r := range list {
		s := strings.Join(strings.Fields(text.Clean(text.Limit(r.c.Message, 400))), " ")
		if !seen[s] {
			seen[s] = true
			said = append(said, r.m.Name+": "+s)
		}
	}
	return model.Check{
		Name: "remediation-refused", Title: "Cluster API refuses to remediate a control plane Machine", Weight: model.Required, Verdict: model.Yes,
		Detail: text.Clean(text.List(said, 6)), Source: "Machines of the control plane, condition OwnerRemediated", Seen: v.seen("machines"),
	}
}

// checkQuorumHeld tells the refusal from a quorum that is really lost.
func (v *view) checkQuorumHeld(q lifecycle.Quorum) model.Check {
	c := model.Check{Name: "quorum-held", Title: "etcd still has its quorum", Weight: model.Supporting, Detail: q.Words(), Source: "control plane Machines and their nodes", Seen: v.seen("machines")}
	_, needed, healthy, ok := q.Numbers()
	switch {
	case !ok:
		c.Verdict, c.Settle = model.Unknown, "etcdctl endpoint status --cluster, on a control plane node"
	case healthy >= needed:
		c.Verdict = model.Yes
	default:
		c.Verdict = model.No
	}
	return c
}

// checkMembers is one line for each member.
func (v *view) checkMembers(q lifecycle.Quorum) []model.Check {
	var out []model.Check
	for _, m := range q.Members {
		c := model.Check{Name: "member-healthy/" + text.Clean(m.Machine.Name), Title: text.Clean(m.Machine.Name) + " is healthy", Weight: model.Supporting, Verdict: m.Healthy, Detail: m.Why,
			Source: "Machine " + m.Machine.Namespace + "/" + m.Machine.Name + " and its node", Seen: v.seen("machines")}
		if h := m.Machine.Conditions.Get("NodeHealthy"); m.Healthy == model.No && h != nil && h.Status == "True" {
			c.Detail += "; its Machine still says NodeHealthy"
		}
		if m.Healthy == model.Unknown {
			c.Settle = "kubectl get node " + m.Machine.NodeName + ", in the workload cluster"
		}
		out = append(out, c)
	}
	return out
}
