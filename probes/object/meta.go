package object

import (
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"vksmedic/model"
)

// meta reads what every object carries. Annotations that are copies of the whole object
// are left out: they would be most of what is kept.
func meta(t tree) model.Meta {
	m := model.Meta{
		APIVersion:      t.word("apiVersion"),
		Kind:            t.word("kind"),
		Namespace:       t.word("metadata", "namespace"),
		Name:            t.str("metadata", "name"),
		UID:             t.str("metadata", "uid"),
		ResourceVersion: t.str("metadata", "resourceVersion"),
		Created:         t.when("metadata", "creationTimestamp"),
		Deleting:        t.when("metadata", "deletionTimestamp"),
		Labels:          t.table("metadata", "labels"),
		Annotations:     t.table("metadata", "annotations"),
		Finalizers:      t.strings("metadata", "finalizers"),
	}
	delete(m.Annotations, "kubectl.kubernetes.io/last-applied-configuration")
	delete(m.Annotations, "cluster.x-k8s.io/conversion-data")
	delete(m.Annotations, "vmoperator.vmware.com/conversion")
	if len(m.Annotations) == 0 {
		m.Annotations = nil
	}
	for _, o := range t.list("metadata", "ownerReferences") {
		m.Owners = append(m.Owners, model.Owner{
			APIVersion: o.word("apiVersion"), Kind: o.word("kind"), Name: o.str("name"), UID: o.str("uid"),
			Controller: o.boolean("controller"),
		})
	}
	return m
}

// clusterOf is the name of the workload cluster that an object of Cluster API or VM
// Operator belongs to: by field, by label, by owner; empty where none of them says.
func clusterOf(t tree, m *model.Meta) string {
	return intern(first(
		t.str("spec", "clusterName"),
		m.Labels[clusterv1.ClusterNameLabel],
		m.Labels["capv.vmware.com/cluster.name"],
		m.Labels["capw.vmware.com/cluster.name"],
		ownerName(m, "Cluster"),
	))
}

// ownerName is the name of the owner of that kind of Cluster API, or empty.
func ownerName(m *model.Meta, kind string) string {
	for _, o := range m.Owners {
		if o.Kind == kind && strings.HasPrefix(o.APIVersion, clusterv1.GroupVersion.Group+"/") {
			return o.Name
		}
	}
	return ""
}

// paused says whether the annotation that pauses an object of Cluster API is there; its
// value does not count.
func paused(m *model.Meta) bool { return annotated(m, clusterv1.PausedAnnotation) }

func annotated(m *model.Meta, key string) bool {
	_, ok := m.Annotations[key]
	return ok
}

// annotationsWith are the keys of annotations in the domain of a hook, sorted.
func annotationsWith(m *model.Meta, prefix string) []string {
	var out []string
	for k := range m.Annotations {
		if k == prefix || strings.HasPrefix(k, prefix+"/") {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// ref reads a reference of either form: apiVersion (v1beta1) or apiGroup (v1beta2), with
// or without a namespace.
func ref(t tree, namespace string) model.ObjectRef {
	if t.str("name") == "" {
		return model.ObjectRef{}
	}
	return model.ObjectRef{Kind: t.word("kind"), Namespace: intern(first(t.str("namespace"), namespace)), Name: t.str("name")}
}
