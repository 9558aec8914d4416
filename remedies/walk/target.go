package walk

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"vksmedic/model"
	"vksmedic/probes/object"
	"vksmedic/remedies"
)

// targetOf is a finding's first subject as the target of a walk. The name under which this
// program knows the Supervisor is left out: another user's context has another one.
func targetOf(f *model.Finding) (remedies.Target, error) {
	ref := f.Subjects[0]
	at := ref.Place
	at.Supervisor = ""
	switch at.Kind {
	case model.PlaceSupervisor, model.PlaceCluster:
		return remedies.Target{Ref: ref.In(at), Place: at}, nil
	case model.PlaceNode, model.PlaceVCenter:
	}
	return remedies.Target{}, fmt.Errorf("cannot read %s: nothing says where it lives", ref)
}

// workloadResource is the resource of a kind inside a workload cluster, from the table of kinds
// that are looked at.
func workloadResource(kind string) (schema.GroupVersionResource, bool) {
	k, ok := object.Named(kind)
	if !ok || k.Place != model.PlaceCluster || k.ByKind() || len(k.Versions) == 0 {
		return schema.GroupVersionResource{}, false
	}
	return schema.GroupVersionResource{Group: k.Groups[0], Version: k.Versions[0], Resource: k.Resource}, true
}
