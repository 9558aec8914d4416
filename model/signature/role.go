package signature

import (
	"cmp"

	"vksmedic/model"
)

// role is VM Operator's ClusterRole, or nil.
func (v *view) role() *model.ClusterRole {
	for _, r := range v.sn.Roles {
		if r.Name == model.VMOperatorRole {
			return r
		}
	}
	return nil
}

// roleLacks says whether the role lets VM Operator no longer patch Endpoints.
func (v *view) roleLacks() model.Verdict {
	r := v.role()
	if r == nil {
		return model.Unknown
	}
	for _, rule := range r.Rules {
		if rule.Allows("patch", "", "endpoints") {
			return model.No
		}
	}
	return model.Yes
}

// checkRoleHolds is the same as a check of other signatures.
func (v *view) checkRoleHolds() model.Check {
	c := model.Check{Name: "operator-may-patch", Title: "VM Operator may patch Endpoints", Weight: model.Supporting, Verdict: v.roleLacks().Not(), Source: "ClusterRole " + model.VMOperatorRole, Seen: v.seen("clusterroles")}
	switch c.Verdict {
	case model.Yes:
		c.Detail = "its role has the verb patch on endpoints"
	case model.No:
		c.Detail = "its role lacks the verb patch on endpoints: it changes none, of no cluster"
	case model.Unknown:
		c.Detail = cmp.Or(v.unread("clusterroles"), "it was not found")
		c.Settle = "kubectl get clusterrole " + model.VMOperatorRole + " -o yaml, as an administrator of the Supervisor"
	}
	return c
}
