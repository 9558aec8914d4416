package effect

import (
	"errors"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vksmedic/model"
	"vksmedic/model/signature"
	"vksmedic/probes/object"
	"vksmedic/remedies"
)

// patchOn is the verb patch in the role's only rule.
func patchOn() Takeable {
	rule := func(o map[string]any) map[string]any { return o["rules"].([]any)[0].(map[string]any) }
	has := func(o map[string]any) bool { return slices.Contains(rule(o)["verbs"].([]any), any("patch")) }
	return Takeable{ID: "patch-endpoints", What: "patch on endpoints", Has: has,
		Take: func(o map[string]any) {
			rule(o)["verbs"] = slices.DeleteFunc(rule(o)["verbs"].([]any), func(v any) bool { return v == "patch" })
		},
		Return: func(o map[string]any) { rule(o)["verbs"] = append(rule(o)["verbs"].([]any), "patch") }}
}

func operatorRole(verbs ...any) (*unstructured.Unstructured, *Object) {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
		"metadata": map[string]any{"name": model.VMOperatorRole, "uid": "u", "resourceVersion": "1"},
		"rules":    []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"endpoints"}, "verbs": verbs}}}}
	return u, NewObject(model.OnSupervisor(""), Update, schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
		"ClusterRole", "", model.VMOperatorRole)
}

func debtNumber(n int) remedies.Debt {
	return remedies.Debt{ID: remedies.Attempt{Walk: "20261201t010000-abcdef", N: n}.Mark(), Takes: "patch-endpoints", Who: "ana", Since: time.Unix(1, 0)}
}

// privilegeMissing are the findings of the whole Supervisor, with this as VM Operator's role.
func privilegeMissing(t *testing.T, role map[string]any) []model.Finding {
	t.Helper()
	row, err := object.Row(role)
	if err != nil {
		t.Fatal(err)
	}
	sn := &model.Snapshot{Roles: []*model.ClusterRole{row.(*model.ClusterRole)},
		Sources: []model.Source{{Name: model.SupervisorSource("clusterroles", ""), State: model.SourceOK, Live: true}}}
	f, _ := signature.Judge(nil, sn, time.Unix(2, 0))
	return slices.DeleteFunc(f, func(f model.Finding) bool { return f.Signature != signature.EndpointsPrivilegeMissing })
}

// While it is owed that the verb was taken, its lack is no finding. Without the debt it is one.
func TestWhatIsOwedIsNoFinding(t *testing.T) {
	role, base := operatorRole("get", "update", "patch")
	o, err := TakeFrom(role, base, patchOn(), debtNumber(1))
	if err != nil {
		t.Fatal(err)
	}
	if f := privilegeMissing(t, o.Want); len(f) != 0 {
		t.Errorf("our own debt is a finding: %+v", f)
	}
	forgotten := &unstructured.Unstructured{Object: o.Want}
	forgotten.SetAnnotations(nil)
	if f := privilegeMissing(t, o.Want); len(f) != 1 {
		t.Errorf("without the debt there are %d findings", len(f))
	}
}

// What the object does not have, and of which no debt says that it was taken, is not taken: giving
// it back would give what was never there.
func TestNothingIsTakenThatIsNotThere(t *testing.T) {
	role, base := operatorRole("get")
	if o, err := TakeFrom(role, base, patchOn(), debtNumber(1)); !errors.Is(err, remedies.ErrBlocked) {
		t.Errorf("taken: %+v, %v", o, err)
	}
	role.SetAnnotations(map[string]string{model.DebtAnnotation + "vksmedic-x-1": "{", model.DebtAnnotation + "vksmedic-x-2": `{"takes": "another"}`})
	if o, err := TakeFrom(role, base, patchOn(), debtNumber(1)); !errors.Is(err, remedies.ErrBlocked) {
		t.Errorf("taken beside debts for other things: %+v, %v", o, err)
	}
	role.SetAnnotations(map[string]string{model.DebtAnnotation + "vksmedic-x-1": `{"takes": "patch-endpoints"}`})
	o, err := TakeFrom(role, base, patchOn(), debtNumber(1))
	if err != nil {
		t.Fatal(err)
	}
	// It returns with the last of the two.
	first := &unstructured.Unstructured{Object: o.Want}
	back, _, err := GiveBack(first, base, patchOn(), debtNumber(1).ID)
	if err != nil || patchOn().Has(back.Want) {
		t.Fatalf("given back with a debt left: %v, %v", back, err)
	}
	back, _, err = GiveBack(&unstructured.Unstructured{Object: back.Want}, base, patchOn(), "vksmedic-x-1")
	if err != nil || !patchOn().Has(back.Want) || model.Indebted((&unstructured.Unstructured{Object: back.Want}).GetAnnotations()) {
		t.Errorf("not given back with the last debt: %v, %v", back, err)
	}
}

// A debt that does not say that this was taken gives nothing back, and is not called paid.
func TestAnotherDebtIsNotPaid(t *testing.T) {
	for name, says := range map[string]string{"another": `{"takes": "another"}`, "nothing that can be read": "{"} {
		role, base := operatorRole("get")
		role.SetAnnotations(map[string]string{model.DebtAnnotation + "vksmedic-x-1": says})
		if o, paid, err := GiveBack(role, base, patchOn(), "vksmedic-x-1"); !errors.Is(err, remedies.ErrBlocked) || o != nil || paid != "" {
			t.Errorf("%s: %+v, %q, %v", name, o, paid, err)
		}
	}
	role, base := operatorRole("get")
	if o, paid, err := GiveBack(role, base, patchOn(), "vksmedic-x-1"); err != nil || o != nil || paid == "" {
		t.Errorf("no debt: %+v, %q, %v", o, paid, err)
	}
}
