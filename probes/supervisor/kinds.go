package supervisor

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"vksmedic/model"
)

// kind is one kind that is watched.
type kind struct {
	name     string // Kind.
	resource string // plural; the source is called supervisor/<resource>.
	// groups are the API groups that may serve it, the likeliest first.
	groups     []string
	namespaced bool
	// known are the versions that package object was written for, the best first: the one
	// that is stored, so that the server need not convert and send the object twice.
	known []string
	// keep picks the rows to keep; nil keeps all.
	keep func(model.Object) bool
	// fields is a field selector that the server applies; empty for all objects.
	fields string
	// byKind is for kinds whose group and versions are not public: they are found by their name
	// in any group of VMware's. Most Supervisors do not serve them, and then they are no source.
	byKind bool
}

func (k kind) source() string { return "supervisor/" + k.resource }

// kinds are all that are watched. Secrets are never among them.
func kinds() []kind {
	capi := []string{"v1beta2", "v1beta1", "v1alpha4", "v1alpha3"}
	vmop := []string{"v1alpha6", "v1alpha5", "v1alpha4", "v1alpha3", "v1alpha2", "v1alpha1"}
	core, control := []string{"cluster.x-k8s.io"}, []string{"controlplane.cluster.x-k8s.io"}
	vm := []string{"vmoperator.vmware.com"}
	// CAPV's supervisor mode, then the mode that talks to vCenter itself.
	infra := []string{"vmware.infrastructure.cluster.x-k8s.io", "infrastructure.cluster.x-k8s.io"}
	return []kind{
		{name: "Cluster", resource: "clusters", groups: core, known: capi, namespaced: true},
		{name: "Machine", resource: "machines", groups: core, known: capi, namespaced: true},
		{name: "KubeadmControlPlane", resource: "kubeadmcontrolplanes", groups: control, known: capi, namespaced: true},
		{name: "MachineDeployment", resource: "machinedeployments", groups: core, known: capi, namespaced: true},
		{name: "MachineSet", resource: "machinesets", groups: core, known: capi, namespaced: true},
		{name: "MachineHealthCheck", resource: "machinehealthchecks", groups: core, known: capi, namespaced: true},
		{name: "MachineDrainRule", resource: "machinedrainrules", groups: core, known: capi, namespaced: true},
		{name: "VSphereMachine", resource: "vspheremachines", groups: infra, known: capi, namespaced: true},
		{name: "VSphereMachineTemplate", resource: "vspheremachinetemplates", groups: infra, known: capi, namespaced: true},
		{name: "VSphereCluster", resource: "vsphereclusters", groups: infra, known: capi, namespaced: true},
		{name: "VirtualMachine", resource: "virtualmachines", groups: vm, known: vmop, namespaced: true},
		{name: "VirtualMachineService", resource: "virtualmachineservices", groups: vm, known: vmop, namespaced: true},
		{name: "VirtualMachineImage", resource: "virtualmachineimages", groups: vm, known: vmop, namespaced: true},
		{name: "ClusterVirtualMachineImage", resource: "clustervirtualmachineimages", groups: vm, known: vmop},
		{name: "Endpoints", resource: "endpoints", groups: []string{""}, known: []string{"v1"}, namespaced: true, keep: ofVirtualMachines},
		// What VM Operator complains of; its good news, every few minutes for every VM, is left out.
		{name: "Event", resource: "events", groups: []string{""}, known: []string{"v1"}, namespaced: true, fields: "involvedObject.kind=VirtualMachine,type=Warning"},
		{name: "ClusterRole", resource: "clusterroles", groups: []string{"rbac.authorization.k8s.io"}, known: []string{"v1"}, fields: "metadata.name=" + model.VMOperatorRole},
		{name: "ClusterRegistryConfig", resource: "clusterregistryconfigs", byKind: true},
		{name: "RegistryConfig", resource: "registryconfigs", byKind: true},
		{name: "ClusterDomainResolutionEntry", resource: "clusterdomainresolutionentries", byKind: true},
	}
}

// kindNamed is the watched kind of that name.
func kindNamed(name string) (kind, bool) {
	for _, k := range kinds() {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}

// ofVirtualMachines keeps the Endpoints that VM Operator writes for a
// VirtualMachineService: it owns them, unless the Service was there before it.
func ofVirtualMachines(o model.Object) bool {
	e, ok := o.(*model.Endpoints)
	if !ok {
		return false
	}
	for _, w := range e.Owners {
		if w.Kind == "VirtualMachineService" {
			return true
		}
	}
	for label := range e.Labels {
		if strings.HasPrefix(label, "capv.vmware.com/") || strings.HasPrefix(label, "capw.vmware.com/") {
			return true
		}
	}
	for _, s := range e.Subsets {
		for _, a := range append(slices.Clone(s.Ready), s.NotReady...) {
			if a.Target.Kind == "VirtualMachine" {
				return true
			}
		}
	}
	return strings.HasSuffix(e.Name, "-control-plane-service")
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
