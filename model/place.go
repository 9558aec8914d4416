package model

// PlaceKind says what kind of place something lives in.
type PlaceKind string

// The kinds of places. The empty kind is no place at all: a reference that carries it says
// nothing about where its object lives.
const (
	// PlaceSupervisor is the Supervisor's own API.
	PlaceSupervisor PlaceKind = "supervisor"
	// PlaceCluster is the API of a workload cluster.
	PlaceCluster PlaceKind = "cluster"
	// PlaceNode is one node of a workload cluster, reached over SSH.
	PlaceNode PlaceKind = "node"
	// PlaceVCenter is a vCenter.
	PlaceVCenter PlaceKind = "vcenter"
)

// Place is where something lives. Every place belongs to a Supervisor; its kind says what
// in it is meant, so that the Supervisor itself, a cluster, and nothing at all are never
// taken for one another.
type Place struct {
	Kind PlaceKind `json:"kind"`
	// Supervisor is the name under which this program knows the Supervisor: the context of
	// its kubeconfig, or the name of a dump. It tells places of one run apart; the identity
	// that a journal keeps is made of marks instead.
	Supervisor string `json:"supervisor,omitempty"`
	// Cluster is the workload cluster of a PlaceCluster or PlaceNode.
	Cluster ClusterRef `json:"cluster,omitzero"`
	// Name is the name of the node, or the address of the vCenter.
	Name string `json:"name,omitempty"`
}

// OnSupervisor is the Supervisor's own API.
func OnSupervisor(supervisor string) Place {
	return Place{Kind: PlaceSupervisor, Supervisor: supervisor}
}

// InCluster is the API of a workload cluster.
func InCluster(supervisor string, c ClusterRef) Place {
	return Place{Kind: PlaceCluster, Supervisor: supervisor, Cluster: c}
}

// OnNode is a node of a workload cluster.
func OnNode(supervisor string, c ClusterRef, node string) Place {
	return Place{Kind: PlaceNode, Supervisor: supervisor, Cluster: c, Name: node}
}

// InVCenter is a vCenter.
func InVCenter(supervisor, address string) Place {
	return Place{Kind: PlaceVCenter, Supervisor: supervisor, Name: address}
}

// Is says whether this is the workload cluster of that name, under whatever name the Supervisor
// is known.
func (p Place) Is(c ClusterRef) bool { return p.Kind == PlaceCluster && p.Cluster == c }

// String names the place for people.
func (p Place) String() string {
	switch p.Kind {
	case PlaceSupervisor:
		if p.Supervisor == "" {
			return "the Supervisor"
		}
		return "Supervisor " + p.Supervisor
	case PlaceCluster:
		return "cluster " + p.Cluster.String()
	case PlaceNode:
		return "node " + p.Name + " of cluster " + p.Cluster.String()
	case PlaceVCenter:
		return "vCenter " + p.Name
	}
	return "no place"
}
