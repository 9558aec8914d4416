package object

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// errNoSelector is what selector returns for a value that is no label selector at all.
var errNoSelector = errors.New("it is not a label selector")

// selector reads a metav1.LabelSelector. One that is absent (nil) selects nothing and
// an empty one selects everything, as everywhere in Kubernetes; callers whose API
// differs check before. Unlike the rest of the package it is strict: a selector that is
// half understood would select too much.
func selector(v any) (labels.Selector, error) {
	if v == nil {
		return labels.Nothing(), nil
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errNoSelector
	}
	t, s := tree(m), &metav1.LabelSelector{}
	if t.has("matchLabels") {
		entries, ok := t.at("matchLabels").(map[string]any)
		if !ok {
			return nil, errNoSelector
		}
		s.MatchLabels = t.table("matchLabels")
		if len(s.MatchLabels) != len(entries) {
			return nil, errNoSelector
		}
	}
	if t.has("matchExpressions") {
		entries, ok := t.at("matchExpressions").([]any)
		if !ok || len(t.list("matchExpressions")) != len(entries) {
			return nil, errNoSelector
		}
		for _, e := range t.list("matchExpressions") {
			s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{
				Key: e.str("key"), Operator: metav1.LabelSelectorOperator(e.str("operator")), Values: e.strings("values"),
			})
		}
	}
	out, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return nil, fmt.Errorf("cannot parse the label selector: %w", err)
	}
	return out, nil
}

// emptySelector says whether a selector is absent or selects by nothing.
func emptySelector(v any) bool {
	if v == nil {
		return true
	}
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	t := tree(m)
	exprs, exprsOK := t.at("matchExpressions").([]any)
	lbls, lblsOK := t.at("matchLabels").(map[string]any)
	return (!t.has("matchExpressions") || exprsOK && len(exprs) == 0) && (!t.has("matchLabels") || lblsOK && len(lbls) == 0)
}
