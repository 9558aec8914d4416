package signature

import (
	"slices"
	"testing"

	"vksmedic/model"
)

func TestEndpointsPrivilegeMissing(t *testing.T) {
	most := []string{"create", "delete", "get", "list", "update", "watch"}
	all := append(slices.Clone(most), "patch")
	merged := []string{"configmaps", "events", "persistentvolumeclaims", "services"}
	with := func(roles ...*model.ClusterRole) func(*site) { return func(s *site) { s.sn.Roles = roles } }
	annotated := role(nil, most...)
	annotated.Annotations = map[string]string{model.DebtAnnotation + "vksmedic-20261201t010000-abcdef-1": "x"}
	noted := role(nil, most...)
	noted.Annotations = map[string]string{"vksmedic.example/debt": "x"}
	granted := role(nil, most...)
	granted.Rules = append(granted.Rules, model.PolicyRule{Groups: []string{""}, Resources: []string{"endpoints"}, Verbs: []string{"patch"}})
	star := role(nil, most...)
	star.Rules[0] = model.PolicyRule{Groups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}
	named := role(nil, most...)
	named.Rules = append(named.Rules, model.PolicyRule{Groups: []string{""}, Resources: []string{"endpoints"}, Verbs: []string{"patch"}, Names: []string{"web"}})
	split := role(nil, most...)
	split.Rules = append(split.Rules, model.PolicyRule{Groups: []string{""}, Resources: merged, Verbs: all})
	other := role(nil, most...)
	other.Name = "some-other-manager-role"
	gone := role(nil)
	gone.Rules = gone.Rules[1:]
	slice := role(nil, most...)
	slice.Rules = append(slice.Rules, model.PolicyRule{Groups: []string{"discovery.k8s.io"}, Resources: []string{"endpoints", "endpointslices"}, Verbs: []string{"patch"}})
	sub := role(nil, all...)
	sub.Rules[0].Resources = []string{"endpoints/status"}

	table(t, EndpointsPrivilegeMissing, []try{
		{name: "its own rule, up to 8.0.3", change: with(role(nil, most...)), want: model.Confirmed, severity: model.Critical, evidence: []string{"only-endpoints=yes", "no-debt=yes"}},
		{name: "the merged rule of 9.0", change: with(role(merged, most...)), want: model.Confirmed, evidence: []string{"only-endpoints=no"}, says: "services lost it too"},
		{name: "split, as this program does, without its mark", change: with(split), want: model.Confirmed, evidence: []string{"only-endpoints=yes"}},
		{name: "patch for one object only", change: with(named), want: model.Confirmed},
		{name: "patch on endpoints of another group", change: with(slice), want: model.Confirmed},
		{name: "an annotation that is no debt of ours", change: with(noted), want: model.Confirmed, evidence: []string{"no-debt=yes"}},
		{name: "no rule for endpoints at all", change: with(gone), want: model.Suspected},
		{name: "no rule but for its status", change: with(sub), want: model.Suspected},

		// Near misses.
		{name: "whole", change: with(role(nil, all...))},
		{name: "whole and merged", change: with(role(merged, all...))},
		{name: "granted by another rule", change: with(granted)},
		{name: "everything by stars", change: with(star)},
		{name: "our own debt", change: with(annotated)},
		{name: "not read", change: with()},
		{name: "another role", change: with(other)},
		{name: "forbidden", change: func(s *site) { s.source("clusterroles", model.SourceForbidden, "forbidden") }},
		{name: "in other letters", change: with(role(nil, "*"))},
		{name: "patch only", change: with(role(nil, "patch"))},
	})
	s := newSite(t)
	s.sn.Roles = []*model.ClusterRole{role(merged, most...)}
	f, _ := Judge(nil, s.sn, now)
	facts, ok := f[0].Facts.(*PrivilegeFacts)
	if !ok || !facts.Merged || !slices.Equal(facts.Others, merged) || f[0].Cluster != (model.ClusterRef{}) {
		t.Errorf("%+v", f[0])
	}
	if f, _ := Judge(s.c, s.sn, now); len(f) != 0 {
		t.Errorf("it is a finding of the Supervisor, not of a cluster: %s", list(f))
	}
}
