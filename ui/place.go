package ui

import (
	"vksmedic/model"
	"vksmedic/model/signature"
)

// Screens and targets say by a [model.Place] where something lives, so that the Supervisor,
// a cluster whose objects do not name it, and nothing at all are three things. One Supervisor
// is looked at at a time, so that places here do not name it.

func onSupervisor() model.Place { return model.OnSupervisor("") }

func inCluster(c model.ClusterRef) model.Place { return model.InCluster("", c) }

// foundIn is where a finding was made: in its cluster, or on the Supervisor where the
// signature is about that as a whole.
func foundIn(f *model.Finding) model.Place {
	if signature.General(f.Signature) {
		return onSupervisor()
	}
	return inCluster(f.Cluster)
}

// placeName is the name of a place as it stands in a table or a heading.
func placeName(p model.Place) string {
	switch p.Kind {
	case model.PlaceSupervisor:
		return "Supervisor"
	case model.PlaceCluster:
		return clusterName(p.Cluster)
	case model.PlaceNode, model.PlaceVCenter:
		return clean(p.String())
	}
	return ""
}

// clusterName is the name of a cluster as people write it. Objects in a dump may lack the
// name of their cluster, and of its vSphere Namespace.
func clusterName(r model.ClusterRef) string {
	switch {
	case r.Name != "":
		return clean(r.String())
	case r.Namespace != "":
		return clean(r.Namespace + "/(unnamed)")
	}
	return "(no named cluster)"
}
