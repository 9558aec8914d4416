package supervisor

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"vksmedic/model"
	"vksmedic/probes/object"
)

// kind is one kind that is watched.
type kind struct{ object.Kind }

// kinds are all that are watched.
func kinds() []kind {
	var out []kind
	for _, k := range object.KindsIn(model.PlaceSupervisor) {
		out = append(out, kind{k})
	}
	return out
}

// source is the source that stands for a kind, in a namespace or, where that is empty, in all of them.
func (k kind) source(namespace string) model.SourceName {
	return model.SupervisorSource(k.Resource, namespace)
}

// kindNamed is the watched kind of that name.
func kindNamed(name string) (kind, bool) {
	k, ok := object.Named(name)
	return kind{k}, ok && k.Place == model.PlaceSupervisor
}

// best picks the version to read a kind in: the best known one that is served, else the
// newest of those that are.
func best(known, served []string) string {
	for _, v := range known {
		if slices.Contains(served, v) {
			return v
		}
	}
	return newestFirst(served)[0]
}

func newestFirst(versions []string) []string {
	out := slices.Clone(versions)
	slices.SortFunc(out, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	return out
}

// resolved is a kind with the version that it is read in.
type resolved struct {
	kind
	gvr schema.GroupVersionResource
}

// what names the resource as rights do: machines.cluster.x-k8s.io.
func (r resolved) what() string { return r.gvr.GroupResource().String() }
