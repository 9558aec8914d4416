package object

import (
	"slices"
	"strings"
	"sync"

	"vksmedic/model"
)

// Kind is one kind of object that is looked at, with all that the program has to know of it. It is
// the only list of kinds: what is watched, read, shown and captured is taken from it.
type Kind struct {
	Name     string // such as Machine.
	Resource string // its plural, as sources and rights name it.
	// Place is where it lives: what lives on the Supervisor is watched there, what lives in a
	// workload cluster is read when that is looked into.
	Place      model.PlaceKind
	Namespaced bool
	// Groups are the API groups that may serve it, the likeliest first; ReadIn are groups in which
	// a dump may hold it too. Both are empty where the group is not public: then it is found by its
	// Kind in any group of VMware's. Most Supervisors do not serve such a kind, and then it is no
	// source.
	Groups, ReadIn []string
	// Versions are those that the row was written for, the best first: the one that is stored, so
	// that the server need not convert and send the object twice.
	Versions []string
	// Fields is a field selector that the server applies; empty for all objects. Keep picks the rows
	// to keep of those that come; nil keeps all.
	Fields string
	Keep   func(model.Object) bool
	// KeepsName says that a redacted capture leaves its objects' names, also where a host has the
	// same one.
	KeepsName bool
	// Strip takes out of a copy what no capture holds of this kind, beyond what is taken out of
	// every object; nil for nothing more.
	Strip func(u map[string]any)

	row func(tree) model.Object
}

// ByKind says whether it is found by its Kind in the groups of VMware's, as its own is not public.
func (k *Kind) ByKind() bool { return len(k.Groups) == 0 }

// in says whether an object of that name in an API version is of this kind. The group counts, since
// other products have a Cluster or a Machine too; where a dump left the apiVersion out, the name
// alone decides.
func (k *Kind) in(apiVersion, group string) bool {
	switch {
	case apiVersion == "":
		return true
	case k.ByKind():
		return strings.HasSuffix(group, ".vmware.com")
	}
	return slices.Contains(k.Groups, group) || slices.Contains(k.ReadIn, group)
}

// The API groups whose kinds are read, and the versions of them that are known.
var (
	coreGroup    = []string{""}
	clusterGroup = []string{"cluster.x-k8s.io"}
	controlGroup = []string{"controlplane.cluster.x-k8s.io"}
	// CAPV's supervisor mode, then the mode that talks to vCenter itself.
	infraGroups = []string{"vmware.infrastructure.cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io"}
	vmGroup     = []string{"vmoperator.vmware.com"}

	capiVersions = []string{"v1beta2", "v1beta1", "v1alpha4", "v1alpha3"}
	vmVersions   = []string{"v1alpha6", "v1alpha5", "v1alpha4", "v1alpha3", "v1alpha2", "v1alpha1"}
	v1           = []string{"v1"}
)

// kinds are all kinds that are looked at. Secrets are never among them.
var kinds = sync.OnceValue(func() []Kind {
	return []Kind{
		{Name: "Cluster", Resource: "clusters", Place: model.PlaceSupervisor, Namespaced: true, Groups: clusterGroup, Versions: capiVersions, KeepsName: true, Strip: stripCluster, row: clusterRow},
		{Name: "Machine", Resource: "machines", Place: model.PlaceSupervisor, Namespaced: true, Groups: clusterGroup, Versions: capiVersions, KeepsName: true, row: machineRow},
		{Name: "KubeadmControlPlane", Resource: "kubeadmcontrolplanes", Place: model.PlaceSupervisor, Namespaced: true, Groups: controlGroup, Versions: capiVersions, Strip: stripControlPlane, row: controlPlaneRow},
		{Name: "MachineDeployment", Resource: "machinedeployments", Place: model.PlaceSupervisor, Namespaced: true, Groups: clusterGroup, Versions: capiVersions, row: deploymentRow},
		{Name: "MachineSet", Resource: "machinesets", Place: model.PlaceSupervisor, Namespaced: true, Groups: clusterGroup, Versions: capiVersions, row: setRow},
		{Name: "MachineHealthCheck", Resource: "machinehealthchecks", Place: model.PlaceSupervisor, Namespaced: true, Groups: clusterGroup, Versions: capiVersions, row: healthCheckRow},
		{Name: "MachineDrainRule", Resource: "machinedrainrules", Place: model.PlaceSupervisor, Namespaced: true, Groups: clusterGroup, Versions: capiVersions, row: drainRuleRow},
		{Name: "VSphereMachine", Resource: "vspheremachines", Place: model.PlaceSupervisor, Namespaced: true, Groups: infraGroups, Versions: capiVersions, KeepsName: true, row: infraMachineRow},
		{Name: "VSphereMachineTemplate", Resource: "vspheremachinetemplates", Place: model.PlaceSupervisor, Namespaced: true, Groups: infraGroups, Versions: capiVersions, row: infraTemplateRow},
		{Name: "VSphereCluster", Resource: "vsphereclusters", Place: model.PlaceSupervisor, Namespaced: true, Groups: infraGroups, Versions: capiVersions, row: infraClusterRow},
		{Name: "VirtualMachine", Resource: "virtualmachines", Place: model.PlaceSupervisor, Namespaced: true, Groups: vmGroup, Versions: vmVersions, KeepsName: true, Strip: stripMachine, row: virtualMachineRow},
		{Name: "VirtualMachineService", Resource: "virtualmachineservices", Place: model.PlaceSupervisor, Namespaced: true, Groups: vmGroup, Versions: vmVersions, row: virtualMachineServiceRow},
		{Name: "VirtualMachineImage", Resource: "virtualmachineimages", Place: model.PlaceSupervisor, Namespaced: true, Groups: vmGroup, Versions: vmVersions, Strip: stripImage, row: imageRow},
		{Name: "ClusterVirtualMachineImage", Resource: "clustervirtualmachineimages", Place: model.PlaceSupervisor, Groups: vmGroup, Versions: vmVersions, Strip: stripImage, row: imageRow},
		{Name: "Endpoints", Resource: "endpoints", Place: model.PlaceSupervisor, Namespaced: true, Groups: coreGroup, Versions: v1, Keep: ofVirtualMachines, row: endpointsRow},
		// What VM Operator complains of; its good news, every few minutes for every VM, is left out.
		{Name: "Event", Resource: "events", Place: model.PlaceSupervisor, Namespaced: true, Groups: coreGroup, ReadIn: []string{"events.k8s.io"}, Versions: v1, Fields: "involvedObject.kind=VirtualMachine,type=Warning", row: eventRow},
		{Name: "ClusterRole", Resource: "clusterroles", Place: model.PlaceSupervisor, Groups: []string{"rbac.authorization.k8s.io"}, Versions: v1, Fields: "metadata.name=" + model.VMOperatorRole, row: clusterRoleRow},
		// What makes the Supervisor change its nodes in place: the group is public for the first only.
		{Name: "ClusterRegistryConfig", Resource: "clusterregistryconfigs", Place: model.PlaceSupervisor, Strip: stripNodeConfig, row: nodeConfigRow},
		{Name: "RegistryConfig", Resource: "registryconfigs", Place: model.PlaceSupervisor, Strip: stripNodeConfig, row: nodeConfigRow},
		{Name: "ClusterDomainResolutionEntry", Resource: "clusterdomainresolutionentries", Place: model.PlaceSupervisor, Strip: stripNodeConfig, row: nodeConfigRow},

		{Name: "Node", Resource: "nodes", Place: model.PlaceCluster, Groups: coreGroup, Versions: v1, KeepsName: true, row: nodeRow},
		{Name: "Pod", Resource: "pods", Place: model.PlaceCluster, Namespaced: true, Groups: coreGroup, Versions: v1, KeepsName: true, Strip: stripPod, row: podRow},
		{Name: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Place: model.PlaceCluster, Namespaced: true, Groups: []string{"policy"}, Versions: v1, row: budgetRow},
		{Name: "VolumeAttachment", Resource: "volumeattachments", Place: model.PlaceCluster, Groups: []string{"storage.k8s.io"}, Versions: v1, row: attachmentRow},
		{Name: "Namespace", Resource: "namespaces", Place: model.PlaceCluster, Groups: coreGroup, Versions: v1, Strip: stripNamespace, row: namespaceRow},
	}
})

// byName finds a kind of the table.
var byName = sync.OnceValue(func() map[string]*Kind {
	list := kinds()
	out := make(map[string]*Kind, len(list))
	for i := range list {
		out[list[i].Name] = &list[i]
	}
	return out
})

// KindsIn are the kinds that live in a kind of place.
func KindsIn(place model.PlaceKind) []Kind {
	var out []Kind
	for _, k := range kinds() {
		if k.Place == place {
			out = append(out, k)
		}
	}
	return out
}

// Named is the kind of that name; ok is false for a kind that is not looked at, and for the machines
// and clusters of other infrastructure providers, which dumps may hold.
func Named(name string) (k Kind, ok bool) {
	p := byName()[name]
	if p == nil {
		return Kind{}, false
	}
	return *p, true
}

// reader finds the function that reads a kind.
func reader(apiVersion, kind string) func(tree) model.Object {
	group, _, slash := strings.Cut(apiVersion, "/")
	if !slash {
		group = ""
	}
	if k := byName()[kind]; k != nil && k.in(apiVersion, group) {
		return k.row
	}
	return otherProvider(group, kind)
}

// otherProvider knows the machines, clusters and machine templates of every infrastructure provider,
// by the ends of their names: dumps may hold any.
func otherProvider(group, kind string) func(tree) model.Object {
	switch {
	case group != infraGroups[1] && !strings.HasSuffix(group, "."+infraGroups[1]):
		return nil
	case strings.HasSuffix(kind, "MachineTemplate"):
		return infraTemplateRow
	case strings.HasSuffix(kind, "Machine"):
		return infraMachineRow
	case strings.HasSuffix(kind, "Cluster"):
		return infraClusterRow
	}
	return nil
}
