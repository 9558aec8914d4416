package vsphere

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// condition is one that holds, for the status of any kind here.
type condition struct {
	kind, status, reason, message string
}

// holds is a condition that is True.
func holds(kind, reason string) condition {
	return condition{kind: kind, status: "True", reason: reason}
}

// setConditions writes the conditions under path, and keeps the time of those that
// did not change.
func setConditions(object *unstructured.Unstructured, now time.Time, conditions []condition, path ...string) error {
	before, _, err := unstructured.NestedSlice(object.Object, path...)
	if err != nil {
		return fmt.Errorf("read the conditions of %s: %w", object.GetName(), err)
	}
	since := map[condition]any{}
	for _, each := range before {
		if old, ok := each.(map[string]any); ok {
			kind, _ := old["type"].(string)
			status, _ := old["status"].(string)
			since[condition{kind: kind, status: status}] = old["lastTransitionTime"]
		}
	}
	after := make([]any, 0, len(conditions))
	for _, each := range conditions {
		at := since[condition{kind: each.kind, status: each.status}]
		if at == nil {
			at = now.UTC().Format(time.RFC3339)
		}
		written := map[string]any{"type": each.kind, "status": each.status, "lastTransitionTime": at}
		if each.reason != "" { // Conditions of the first generation have none when they are True.
			written["reason"], written["message"] = each.reason, each.message
		}
		after = append(after, written)
	}
	if err := unstructured.SetNestedSlice(object.Object, after, path...); err != nil {
		return fmt.Errorf("write the conditions of %s: %w", object.GetName(), err)
	}
	return nil
}

// set writes a field.
func set(object *unstructured.Unstructured, value any, path ...string) error {
	if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
		return fmt.Errorf("write %v of %s: %w", path, object.GetName(), err)
	}
	return nil
}

// ownerName is the name of the owner of the kind, or empty.
func ownerName(object *unstructured.Unstructured, kind string) string {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == kind {
			return owner.Name
		}
	}
	return ""
}

// ignore drops errors that mean that the object was changed or deleted meanwhile; that
// change leads to another reconcile.
func ignore(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
