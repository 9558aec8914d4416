package object

import (
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"vksmedic/model"
)

// drainRuleRow reads a MachineDrainRule; v1beta1 and v1beta2 are alike.
//
// A rule whose selectors are not understood is marked invalid and never treated as if
// the selector were absent, which would mean every Machine or every pod.
func drainRuleRow(t tree) model.Object {
	r := &model.DrainRule{Meta: meta(t), Behavior: t.word("spec", "drain", "behavior"), Order: t.number("spec", "drain", "order")}
	for i, e := range entries(t, r, "machines") {
		var s model.MachineSelector
		s.Machine = part(e, r, "machines", i, "selector")
		s.Cluster = part(e, r, "machines", i, "clusterSelector")
		r.Machines = append(r.Machines, s)
	}
	for i, e := range entries(t, r, "pods") {
		var s model.PodSelector
		s.Pod = part(e, r, "pods", i, "selector")
		s.Namespace = part(e, r, "pods", i, "namespaceSelector")
		r.Pods = append(r.Pods, s)
	}
	return r
}

// entries are the entries of spec.machines or spec.pods; an empty list means the same as
// no list (cluster-api, getMatchingMachineDrainRules).
func entries(t tree, r *model.DrainRule, field string) []tree {
	v := t.at("spec", field)
	if v == nil {
		return nil
	}
	items, ok := v.([]any)
	list := t.list("spec", field)
	if !ok || len(list) != len(items) {
		invalid(r, "spec."+field+" is not a list of selectors")
		return nil
	}
	return list
}

// part is one selector of an entry, nil where it is absent or empty: that matches everything.
func part(e tree, r *model.DrainRule, field string, i int, name string) labels.Selector {
	v := e.at(name)
	if emptySelector(v) {
		return nil
	}
	s, err := selector(v)
	if err != nil {
		invalid(r, fmt.Sprintf("spec.%s[%d].%s: %v", field, i, name, err))
		return labels.Nothing()
	}
	return s
}

// invalid keeps the first reason.
func invalid(r *model.DrainRule, why string) {
	if r.Invalid == "" {
		r.Invalid = cut(why, MessageLimit)
	}
}
