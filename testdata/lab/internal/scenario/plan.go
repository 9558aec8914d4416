// Package scenario brings about the states that the lab is for: clusters as people have
// them, and the failures in them. Everything is done through the APIs, as an engineer
// or a controller would do it. A status is written by hand in sample.go only, for a
// Supervisor without controllers.
//
// Start reading at Plans and Stage. StuckWorker, StuckUpgrade and Clean bring about or
// end a single failure, for tests.
package scenario

import (
	"cmp"

	"k8s.io/apimachinery/pkg/types"
)

// Plan is a workload cluster and what is wrong with it.
type Plan struct {
	Namespace, Name string
	// Version is what the cluster is made with, such as "v1.35.4".
	Version                string
	ControlPlanes, Workers int32

	// AgentNamespaces get pinniped's agent, pinned to the control plane node that
	// is replaced first.
	AgentNamespaces []string
	// UpgradeTo is set last, and the agents keep the first old node from being
	// drained.
	UpgradeTo string
	// Budget makes a worker's drain wait for a PodDisruptionBudget and for nothing
	// else.
	Budget bool
}

// Key is the Cluster's namespace and name.
func (p Plan) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
}

// The Kubernetes versions of the lab's clusters. The API servers are all the one
// version that is built.
const (
	oldVersion = "v1.35.4"
	newVersion = "v1.36.3"
)

// The namespaces in which pinniped's agent is found: its own, and that of Tanzu
// Mission Control.
const (
	PinnipedNamespace = "pinniped-concierge"
	TMCNamespace      = "vmware-system-tmc"
)

// Plans are the lab's clusters.
func Plans() []Plan {
	return []Plan{
		{Namespace: "team-a", Name: "web", Version: oldVersion, ControlPlanes: 3, Workers: 2, AgentNamespaces: []string{PinnipedNamespace}, UpgradeTo: newVersion},
		{Namespace: "team-b", Name: "shop", Version: oldVersion, ControlPlanes: 3, Workers: 2, AgentNamespaces: []string{PinnipedNamespace, TMCNamespace}, UpgradeTo: newVersion},
		{Namespace: "team-a", Name: "api", Version: newVersion, ControlPlanes: 1, Workers: 2},
		{Namespace: "team-c", Name: "ml", Version: newVersion, ControlPlanes: 1, Workers: 2, Budget: true},
	}
}

// AgentDeployment is the name of the agent's Deployment in a namespace.
func AgentDeployment(namespace string) string {
	known := map[string]string{
		PinnipedNamespace: "pinniped-concierge-kube-cert-agent",
		TMCNamespace:      "cluster-auth-pinniped-kube-cert-agent",
	}
	return cmp.Or(known[namespace], namespace+"-kube-cert-agent")
}
