package object

import (
	"k8s.io/apimachinery/pkg/version"

	"vksmedic/model"
)

// conditions reads one list.
func conditions(list []tree) model.Conditions {
	if len(list) == 0 {
		return nil
	}
	out := make(model.Conditions, 0, len(list))
	for _, c := range list {
		if r := condition(c); r.Type != "" {
			out = append(out, r)
		}
	}
	return out
}

func condition(c tree) model.Condition {
	return model.Condition{
		Type: c.word("type"), Status: c.word("status"), Reason: c.word("reason"),
		Message: c.message("message"), Severity: c.word("severity"), Since: c.when("lastTransitionTime"),
	}
}

// generations reads the lists of both generations of an object of Cluster API or one of
// its providers. They live in four places:
//
//	served version            older generation                     newer generation
//	v1beta1, before 1.9       status.conditions                    -
//	v1beta1, from 1.9         status.conditions                    status.v1beta2.conditions
//	v1beta2                   status.deprecated.v1beta1.conditions status.conditions
//
// Some dumps mix them: a v1beta1 dump of a rancher cluster has entries of the newer
// generation in status.conditions. Such an entry is known by its fields (the newer
// generation has observedGeneration, the older one severity) and is put into both
// lists.
func generations(t tree) model.Generations {
	plain := t.list("status", "conditions")
	g := model.Generations{
		New: conditions(t.list("status", "v1beta2", "conditions")),
		Old: conditions(t.list("status", "deprecated", "v1beta1", "conditions")),
	}
	if plainIsNew(t) {
		g.New = append(conditions(plain), g.New...)
		g.Old = addMissing(g.Old, plain, func(c tree) bool { return c.str("severity") != "" })
		return g
	}
	g.Old = append(conditions(plain), g.Old...)
	g.New = addMissing(g.New, plain, func(c tree) bool {
		return c.has("observedGeneration") && c.str("severity") == ""
	})
	return g
}

// plainIsNew says whether status.conditions holds the newer generation. The other lists
// of the object decide that, and without them its API version.
func plainIsNew(t tree) bool {
	switch {
	case t.has("status", "deprecated", "v1beta1"):
		return true
	case t.has("status", "v1beta2"):
		return false
	}
	return !older(t)
}

// older says whether the object is of an API version of Cluster API or a provider that
// came before v1beta2.
func older(t tree) bool {
	m := model.Meta{APIVersion: t.str("apiVersion")}
	v := m.APIVersion
	if g := m.Group(); g != "" {
		v = v[len(g)+1:]
	}
	return version.CompareKubeAwareVersionStrings(v, "v1beta2") < 0
}

// addMissing appends to have the entries that belong there by their fields and whose type it
// lacks.
func addMissing(have model.Conditions, plain []tree, belongs func(tree) bool) model.Conditions {
	for _, c := range plain {
		if r := condition(c); r.Type != "" && belongs(c) && have.Get(r.Type) == nil {
			have = append(have, r)
		}
	}
	return have
}
