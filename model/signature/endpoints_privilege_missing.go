package signature

import (
	"strings"

	"vksmedic/model"
	"vksmedic/model/text"
)

// EndpointsPrivilegeMissing is the id of the signature in this file.
const EndpointsPrivilegeMissing = "endpoints-privilege-missing"

func endpointsPrivilegeMissing() Signature {
	return Signature{
		ID: EndpointsPrivilegeMissing, Title: "VM Operator's role lacks `patch` on endpoints, and nobody has given that back",
		General: true,
		Needs:   []string{"clusterroles"},
		Facts:   func() any { return &PrivilegeFacts{} },
		find:    findPrivilegeMissing,
	}
}

// PrivilegeFacts are the Facts of a finding of endpoints-privilege-missing.
type PrivilegeFacts struct {
	Role string
	// Merged says that the rule for Endpoints is one with those for other resources, as VM Operator
	// 9.0 and later have it; Others are those resources where they lost the verb too.
	Merged bool
	Others []string
}

// findPrivilegeMissing is endpoints-privilege-missing, a finding of the whole Supervisor: VM
// Operator's role lacks the verb patch on endpoints, and no debt of this program says why.
// Somebody followed the article by hand and forgot to give it back. Meanwhile the Endpoints of
// every cluster stand still, silently: VM Operator writes no event and no condition about it.
//
// Severity: critical.
func findPrivilegeMissing(v *view) []model.Finding {
	r := v.role()
	if r == nil {
		return nil
	}
	facts := &PrivilegeFacts{Role: r.Name}
	lacks := model.Check{Name: "patch-missing", Title: "VM Operator's role lacks the verb patch on endpoints", Weight: model.Required, Verdict: v.roleLacks(), Source: "ClusterRole " + r.Name, Seen: v.seen("clusterroles")}
	known := false
	for _, rule := range r.Rules {
		if rule.Allows("get", "", "endpoints") || rule.Allows("update", "", "endpoints") {
			known = true
			lacks.Detail = "its verbs on endpoints: " + text.Clean(strings.Join(rule.Verbs, ", "))
			facts.Merged = len(rule.Resources) > 1
			for _, res := range rule.Resources {
				if facts.Merged && res != "endpoints" && !allowed(r, "patch", res) {
					facts.Others = append(facts.Others, text.Clean(res))
				}
			}
		}
	}
	if !known {
		lacks.Detail = "it has no rule for endpoints at all"
	}
	debt := model.Check{Name: "no-debt", Title: "no debt of this program explains it", Weight: model.Required, Verdict: model.Yes, Source: "ClusterRole " + r.Name + ", annotations", Seen: v.seen("clusterroles"), Detail: "there is none"}
	if model.Indebted(r.Annotations) { // while it is owed the loss is explained.
		debt.Verdict, debt.Detail = model.No, "this program took it and still owes it"
	}
	others := model.Check{Name: "only-endpoints", Title: "nothing else lost the verb", Weight: model.Supporting, Verdict: model.Yes, Source: "ClusterRole " + r.Name, Seen: v.seen("clusterroles"), Detail: "endpoints alone"}
	if len(facts.Others) > 0 {
		others.Verdict, others.Detail = model.No, "of the same rule: "+text.List(facts.Others, 6)
	}
	complete := model.Check{Name: "role-complete", Title: "the role is VM Operator's whole", Weight: model.Deciding, Verdict: model.Yes, Source: "ClusterRole " + r.Name, Seen: v.seen("clusterroles"), Detail: "it has a rule for endpoints"}
	if !known {
		complete.Verdict, complete.Detail = model.Unknown, "it has no rule for endpoints: another role may grant it"
		complete.Settle = "kubectl auth can-i patch endpoints --as system:serviceaccount:vmware-system-vmop:default -A"
	}
	checks := []model.Check{lacks, debt, complete, others}
	confidence, found := model.Decide(checks)
	if !found {
		return nil
	}
	f := model.Finding{
		Confidence: confidence, Severity: model.Critical, Evidence: checks, Facts: facts,
		Subjects: []model.ObjectRef{v.onSupervisor("ClusterRole", "", r.Name)}, Short: "privilege missing",
		Summary: "VM Operator may not patch Endpoints: those of every cluster on this Supervisor stand still",
		Advice: []string{
			"Give the verb patch on endpoints back to ClusterRole " + r.Name + ", as an administrator of the Supervisor.",
			"Before that look which addresses VM Operator will drop again: of every VM that it does not call Ready.",
			"After it, touch the control plane's VirtualMachineService with an annotation: VM Operator may otherwise take a quarter of an hour to try again.",
		},
	}
	if len(facts.Others) > 0 {
		f.Summary += "; " + text.List(facts.Others, 4) + " lost it too"
		f.Advice[0] = "Give the verb patch back to the whole rule of ClusterRole " + r.Name + ": endpoints, " + text.List(facts.Others, 6) + "."
	}
	return []model.Finding{f}
}

func allowed(r *model.ClusterRole, verb, resource string) bool {
	for _, rule := range r.Rules {
		if rule.Allows(verb, "", resource) {
			return true
		}
	}
	return false
}
