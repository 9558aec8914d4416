package effect

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"vksmedic/model/text"
)

// The shapes in which an object is used: whole, as it is sent; shown, as people read it; and
// bound, as two of them are compared.

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Whole is a deep copy of an object with all that has to be sent again, so that a write takes
// nothing away that was not meant: without what binds it (uid, resourceVersion) and what the
// server keeps when it is left out (managedFields). Nil for nil.
func Whole(u *unstructured.Unstructured) map[string]any {
	if u == nil {
		return nil
	}
	return without(u.Object, "managedFields", "uid", "resourceVersion")
}

// shown is an object as people read it: without what the server and controllers keep for
// themselves.
func shown(o map[string]any) map[string]any {
	if o == nil {
		return nil
	}
	c := bound(o)
	unstructured.RemoveNestedField(c, "metadata", "annotations", lastApplied)
	if notes, _, err := unstructured.NestedMap(c, "metadata", "annotations"); err == nil && len(notes) == 0 {
		unstructured.RemoveNestedField(c, "metadata", "annotations")
	}
	return c
}

// bound is what two objects are compared by: all that somebody wrote, and not what changes
// by itself.
func bound(o map[string]any) map[string]any {
	if o == nil {
		return nil
	}
	c := without(o, "managedFields", "uid", "resourceVersion", "generation", "creationTimestamp", "selfLink",
		"deletionTimestamp", "deletionGracePeriodSeconds")
	delete(c, "status")
	return c
}

// without is a deep copy of an object without some fields of its metadata.
func without(o map[string]any, fields ...string) map[string]any {
	c := (&unstructured.Unstructured{Object: o}).DeepCopy().Object
	for _, f := range fields {
		unstructured.RemoveNestedField(c, "metadata", f)
	}
	return c
}

// YAML is an object as text; empty for nil.
func YAML(o map[string]any) string {
	if o == nil {
		return ""
	}
	b, err := yaml.Marshal(o)
	if err != nil {
		return "# cannot be written as YAML: " + text.Clean(err.Error()) + "\n"
	}
	return string(b)
}
