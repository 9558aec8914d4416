package object

import (
	"errors"
	"fmt"
	"strings"

	"vksmedic/model"
)

// ErrNotObject is returned for what is no Kubernetes object: without a kind, or without
// metadata that names it.
var ErrNotObject = errors.New("not a Kubernetes object")

// ErrUnknownKind is returned for an object of a kind that is not looked at.
var ErrUnknownKind = errors.New("not a kind that is looked at")

// Row projects an object, as JSON decodes it into a map, to its row in package model.
// The error is ErrNotObject or ErrUnknownKind, with the name of what was found.
func Row(u map[string]any) (model.Object, error) {
	t := tree(u)
	kind, apiVersion := t.str("kind"), t.str("apiVersion")
	if kind == "" {
		return nil, fmt.Errorf("%w: it has no kind", ErrNotObject)
	}
	if t.str("metadata", "name") == "" {
		return nil, fmt.Errorf("%w: the %s has no metadata.name", ErrNotObject, kind)
	}
	read := reader(apiVersion, kind)
	if read == nil {
		return nil, fmt.Errorf("%w: %s of %s", ErrUnknownKind, kind, apiVersion)
	}
	return read(t), nil
}

// The API groups whose kinds are read.
const (
	clusterGroup      = "cluster.x-k8s.io"
	controlPlaneGroup = "controlplane.cluster.x-k8s.io"
	vmOperatorGroup   = "vmoperator.vmware.com"
	eventsGroup       = "events.k8s.io"
	policyGroup       = "policy"
	storageGroup      = "storage.k8s.io"
	rbacGroup         = "rbac.authorization.k8s.io"
)

// reader finds the function for a kind. The group counts, since other products have a
// Cluster or a Machine too; where a dump left the apiVersion out, the kind alone decides.
func reader(apiVersion, kind string) func(tree) model.Object {
	group, _, slash := strings.Cut(apiVersion, "/")
	if !slash {
		group = ""
	}
	in := func(want string) bool { return apiVersion == "" || group == want }
	switch kind {
	case "Cluster":
		if in(clusterGroup) {
			return clusterRow
		}
	case "MachineDeployment":
		if in(clusterGroup) {
			return deploymentRow
		}
	case "MachineSet":
		if in(clusterGroup) {
			return setRow
		}
	case "MachineHealthCheck":
		if in(clusterGroup) {
			return healthCheckRow
		}
	case "Machine":
		if in(clusterGroup) {
			return machineRow
		}
	case "MachineDrainRule":
		if in(clusterGroup) {
			return drainRuleRow
		}
	case "KubeadmControlPlane":
		if in(controlPlaneGroup) {
			return controlPlaneRow
		}
	case "VirtualMachine":
		if in(vmOperatorGroup) {
			return virtualMachineRow
		}
	case "VirtualMachineService":
		if in(vmOperatorGroup) {
			return virtualMachineServiceRow
		}
	case "VirtualMachineImage", "ClusterVirtualMachineImage":
		if in(vmOperatorGroup) {
			return imageRow
		}
	case "ClusterRole":
		if in(rbacGroup) {
			return clusterRoleRow
		}
	case "ClusterRegistryConfig", "RegistryConfig", "ClusterDomainResolutionEntry":
		// The API group of only one of them is public, so any group of VMware's is accepted.
		if apiVersion == "" || strings.HasSuffix(group, ".vmware.com") {
			return nodeConfigRow
		}
	case "Event":
		if in("") || in(eventsGroup) {
			return eventRow
		}
	case "PodDisruptionBudget":
		if in(policyGroup) {
			return budgetRow
		}
	case "VolumeAttachment":
		if in(storageGroup) {
			return attachmentRow
		}
	case "Endpoints", "Node", "Pod", "Namespace":
		if in("") {
			return coreReader(kind)
		}
	}
	return infrastructureReader(apiVersion, group, kind)
}

func coreReader(kind string) func(tree) model.Object {
	switch kind {
	case "Endpoints":
		return endpointsRow
	case "Node":
		return nodeRow
	case "Pod":
		return podRow
	}
	return namespaceRow
}

// infrastructureReader knows the machines, clusters and machine templates of every
// infrastructure provider: the supervisor mode of CAPV
// (vmware.infrastructure.cluster.x-k8s.io), its vCenter mode and the other providers
// (infrastructure.cluster.x-k8s.io).
func infrastructureReader(apiVersion, group, kind string) func(tree) model.Object {
	ours := group == "infrastructure.cluster.x-k8s.io" || strings.HasSuffix(group, ".infrastructure.cluster.x-k8s.io") ||
		apiVersion == "" && strings.HasPrefix(kind, "VSphere")
	switch {
	case !ours:
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
