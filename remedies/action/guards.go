package action

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/remedies"
)

// guard is a condition that articles can name with `needs`.
type guard struct {
	name, doc string
	read      func(ctx context.Context, s *remedies.Scene) (remedies.Guard, error)
}

func guards() []guard {
	return []guard{
		{"not-paused", "neither the Cluster nor, where the finding is about one, the Machine is paused", notPaused},
	}
}

// notPaused reads whether Cluster API does anything about the cluster and the Machine at all.
func notPaused(ctx context.Context, s *remedies.Scene) (remedies.Guard, error) {
	if s.Cluster.Name == "" {
		return remedies.Guard{Holds: model.Unknown, Words: "the finding names no cluster, so that it is not known whether one is paused"}, nil
	}
	asked := []named{{group: clusterv1.GroupVersion.Group, kind: "Cluster", namespace: s.Cluster.Namespace, name: s.Cluster.Name}}
	if t := &s.Target; t.Ref.Kind == "Machine" && t.Place.Kind == model.PlaceSupervisor {
		asked = append(asked, named{group: clusterv1.GroupVersion.Group, kind: "Machine", namespace: t.Ref.Namespace, name: t.Ref.Name})
	}
	var fine, paused, blind []string
	for _, n := range asked {
		ref := text.Clean(model.ObjectRef{Kind: n.kind, Namespace: n.namespace, Name: n.name}.String())
		live, err := readNamed(ctx, s, n)
		switch how := pausedBy(live); {
		case err != nil && ctx.Err() != nil:
			return remedies.Guard{}, err
		case err != nil:
			blind = append(blind, "whether "+ref+" is paused could not be read: "+remedies.Short(err))
		case n.kind == "Machine" && (live == nil || (s.Target.UID != "" && string(live.GetUID()) != s.Target.UID)):
			fine = append(fine, ref+" is gone")
		case live == nil:
			blind = append(blind, ref+" is not there")
		case how != "":
			paused = append(paused, ref+" is paused by "+how)
		default:
			fine = append(fine, ref+" is not paused")
		}
	}
	switch {
	case len(paused) > 0:
		return remedies.Guard{Holds: model.No, Words: strings.Join(append(paused, blind...), "; ")}, nil
	case len(blind) > 0:
		return remedies.Guard{Holds: model.Unknown, Words: strings.Join(blind, "; ")}, nil
	}
	return remedies.Guard{Holds: model.Yes, Words: strings.Join(fine, "; ")}, nil
}

func readNamed(ctx context.Context, s *remedies.Scene, n named) (*unstructured.Unstructured, error) {
	o, err := locate(ctx, s, n)
	if err != nil {
		return nil, err
	}
	return o.live(ctx, s)
}

// pausedBy is what pauses an object of Cluster API: spec.paused, or the annotation, whose value
// does not count (sigs.k8s.io/cluster-api util/annotations HasPaused). Empty where nothing does.
func pausedBy(u *unstructured.Unstructured) string {
	if u == nil {
		return ""
	}
	if p, _, _ := unstructured.NestedBool(u.Object, "spec", "paused"); p {
		return "spec.paused"
	}
	if _, ok := u.GetAnnotations()[clusterv1.PausedAnnotation]; ok {
		return "annotation " + clusterv1.PausedAnnotation
	}
	return ""
}
