package plainapi

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/version"
)

func compareVersions(a, b string) int { return version.CompareKubeAwareVersionStrings(a, b) }

// managed is an object with its managed fields kept as the API server keeps them.
func managed(was, u *unstructured.Unstructured, manager string) *unstructured.Unstructured {
	gvk := u.GroupVersionKind()
	m, err := managedfields.NewDefaultCRDFieldManager(managedfields.NewDeducedTypeConverter(), asItIs{}, asItIs{}, asItIs{gvk}, gvk, gvk.GroupVersion(), "", nil)
	if err != nil {
		panic(err) // it depends on nothing that a test does.
	}
	if was == nil {
		was = &unstructured.Unstructured{}
		was.SetGroupVersionKind(gvk)
		u.SetManagedFields(nil)
	} else if was = was.DeepCopy(); was.GroupVersionKind() != gvk {
		was.SetGroupVersionKind(gvk)
	}
	out, ok := m.UpdateNoErrors(was, u, manager).(*unstructured.Unstructured)
	if !ok {
		panic("the managed fields belong to another type")
	}
	return out
}

// asItIs converts, defaults and creates objects that have no schema.
type asItIs struct{ gvk schema.GroupVersionKind }

func (asItIs) Convert(_, _, _ any) error { return nil }
func (asItIs) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (asItIs) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
func (asItIs) Default(runtime.Object) {}
func (asItIs) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

// sameButManaged says whether a write changes nothing: the server then stores nothing.
func sameButManaged(a, b *unstructured.Unstructured) bool {
	return equality.Semantic.DeepEqual(stripped(a, "managedFields", "resourceVersion"), stripped(b, "managedFields", "resourceVersion"))
}

// sameSpec says whether two objects differ in nothing but their metadata and status.
func sameSpec(a, b *unstructured.Unstructured) bool {
	x, y := stripped(a), stripped(b)
	for _, o := range []map[string]any{x, y} {
		delete(o, "metadata")
		delete(o, "status")
		delete(o, "apiVersion")
	}
	return equality.Semantic.DeepEqual(x, y)
}

func stripped(u *unstructured.Unstructured, fields ...string) map[string]any {
	c := u.DeepCopy().Object
	for _, f := range fields {
		unstructured.RemoveNestedField(c, "metadata", f)
	}
	return c
}
