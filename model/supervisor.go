package model

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// Machine is a Cluster API Machine.
type Machine struct {
	Meta
	Cluster      string // spec.clusterName, or the cluster-name label.
	ControlPlane bool
	Deployment   string // MachineDeployment, by label; empty for control plane machines.
	Set          string // MachineSet that owns it.

	Phase         string // as the API has it: Pending, Provisioning, Provisioned, Running, Updating, Deleting, Deleted, Failed, Unknown.
	Version       string
	NodeName      string // status.nodeRef.name.
	ProviderID    string
	FailureDomain string
	Addresses     []string  // internal addresses first, then external ones; no host names.
	Infra         ObjectRef // spec.infrastructureRef.

	Paused         bool // by annotation; the Cluster's own pause is on the Cluster.
	ExcludeDrain   bool // machine.cluster.x-k8s.io/exclude-node-draining.
	SkipRemediate  bool // cluster.x-k8s.io/skip-remediation.
	WantsRemediate bool // cluster.x-k8s.io/remediate-machine.
	// Hooks are the names of pre-drain and pre-terminate hook annotations.
	PreDrainHooks, PreTerminateHooks []string

	// DrainTimeout and VolumeDetachTimeout: nil or zero waits for ever.
	DrainTimeout, VolumeDetachTimeout *time.Duration

	Conditions Generations

	// Starts of the deletion's stages (status.deletion, from Cluster API 1.9; the hooks from 1.14).
	DrainStarted, VolumeDetachStarted, PreDrainHookStarted, PreTerminateHookStarted time.Time

	FailureReason, FailureMessage string
}

// Replicas counts the machines of a control plane, a MachineDeployment or a cluster.
// A pointer is nil where the served API version does not tell.
type Replicas struct {
	Desired, Current, Ready, Available, UpToDate *int32
}

// ClusterObject is the Cluster API Cluster itself.
type ClusterObject struct {
	Meta
	Phase   string
	Version string // spec.topology.version.
	Class   string // spec.topology.class or classRef.name.
	Paused  bool   // spec.paused or annotation.
	// Endpoint is host:port of the control plane, empty until known.
	Endpoint string
	// ControlPlane and Infra are what the Cluster refers to.
	ControlPlane, Infra     ObjectRef
	ControlPlaneReplicas    Replicas
	WorkerReplicas          Replicas
	Conditions              Generations
	ControlPlaneInitialized bool
	// ControlPlaneUninitialized says that the Cluster itself says so; neither is set where it
	// says nothing of the kind.
	ControlPlaneUninitialized bool
	// TrustVariable says that osConfiguration.trust (or the older trust) is set in the topology's variables.
	TrustVariable bool
}

// ControlPlane is a KubeadmControlPlane.
type ControlPlane struct {
	Meta
	Cluster    string
	Version    string // spec.version: what is wanted.
	Replicas   Replicas
	Paused     bool
	Template   ObjectRef // the infrastructure template of its machines.
	Conditions Generations
	// OldestVersion is status.version: the lowest version among its machines.
	OldestVersion string
}

// MachineDeployment is a Cluster API MachineDeployment.
type MachineDeployment struct {
	Meta
	Cluster    string
	Version    string
	Replicas   Replicas
	Paused     bool
	Phase      string
	Template   ObjectRef
	Conditions Generations
}

// MachineSet is a Cluster API MachineSet.
type MachineSet struct {
	Meta
	Cluster    string
	Deployment string
	Version    string
	Replicas   Replicas
	Conditions Generations
}

// MachineHealthCheck is a Cluster API MachineHealthCheck.
type MachineHealthCheck struct {
	Meta
	Cluster string
	// Selector picks the Machines; nil where it cannot be parsed.
	Selector labels.Selector
	// NodeChecks are the node conditions that make a Machine unhealthy.
	NodeChecks []NodeCheck
	Paused     bool
	Conditions Generations
}

// NodeCheck is one unhealthy node condition of a MachineHealthCheck.
type NodeCheck struct {
	Type, Status string
	Timeout      time.Duration
}

// DrainRule is a Cluster API MachineDrainRule (from v1.9). What it means is in
// package drain.
type DrainRule struct {
	Meta
	Behavior string // Drain, Skip or WaitCompleted.
	Order    *int32
	// Machines: absent (nil) matches every Machine in the namespace.
	Machines []MachineSelector
	// Pods: absent (nil) matches every pod.
	Pods []PodSelector
	// Invalid says which selector cannot be parsed; such a rule makes every drain in
	// its namespace fail (cluster-api internal/controllers/machine/drain/drain.go).
	Invalid string
}

// MachineSelector is one entry of a drain rule's machines; both parts must match.
type MachineSelector struct {
	Machine, Cluster labels.Selector // nil matches everything.
}

// PodSelector is one entry of a drain rule's pods; both parts must match.
type PodSelector struct {
	Pod, Namespace labels.Selector // nil matches everything.
}

// InfraMachine is a VSphereMachine (or another provider's machine).
type InfraMachine struct {
	Meta
	Cluster       string
	ProviderID    string
	Phase         string
	Ready         bool
	Image         string
	Conditions    Generations
	FailureReason string
	FailureText   string
}

// InfraTemplate is a VSphereMachineTemplate.
type InfraTemplate struct {
	Meta
	Image, Class string
}

// InfraCluster is a VSphereCluster.
type InfraCluster struct {
	Meta
	Cluster    string
	Conditions Generations
}

// VirtualMachine is VM Operator's VirtualMachine, of any API version.
type VirtualMachine struct {
	Meta
	Cluster    string
	PowerState string // PoweredOn, PoweredOff or Suspended, however the API version spells it.
	WantPower  string // spec.powerState.
	Host       string // status.nodeName, or status.host in older versions.
	Address    string // primary IPv4, else IPv6.
	Address6   string // primary IPv6 where Address is IPv4.
	Image      string // name of the image it was made from.
	Class      string
	MoID       string // status.uniqueID.
	BiosUUID   string
	HasProbe   bool // spec.readinessProbe is set.
	Paused     bool
	Conditions Conditions
}

// VirtualMachineService is VM Operator's VirtualMachineService.
type VirtualMachineService struct {
	Meta
	Cluster  string
	Type     string
	Selector map[string]string
	Ports    []ServicePort
	Ingress  []string // addresses of the load balancer.
}

// ServicePort is one port of a service or of Endpoints.
type ServicePort struct {
	Name     string
	Port     int32
	Protocol string
}

// VirtualMachineImage is a (Cluster)VirtualMachineImage: names only.
type VirtualMachineImage struct {
	Meta
	DisplayName string
	ProviderID  string
}

// Endpoints is a core/v1 Endpoints object of a control plane service.
type Endpoints struct {
	Meta
	Subsets []EndpointSubset
}

// EndpointSubset is one subset of Endpoints.
type EndpointSubset struct {
	Ready, NotReady []EndpointAddress
	Ports           []ServicePort
}

// EndpointAddress is an address in Endpoints and what it points to.
type EndpointAddress struct {
	IP     string
	Target ObjectRef
	UID    string
}

// ClusterRole is a ClusterRole of the Supervisor, cut down to its rules.
type ClusterRole struct {
	Meta
	Rules []PolicyRule
}

// PolicyRule is one rule of a ClusterRole.
type PolicyRule struct {
	Groups, Resources, Verbs []string
	// Names are those of the objects it is limited to; none means all.
	Names []string
}

// Allows says whether the rule lets a verb be used on every object of a resource.
func (r PolicyRule) Allows(verb, group, resource string) bool {
	in := func(list []string, s string) bool { return slices.Contains(list, s) || slices.Contains(list, "*") }
	return len(r.Names) == 0 && in(r.Groups, group) && in(r.Resources, resource) && in(r.Verbs, verb)
}

// VMOperatorRole is the ClusterRole of VM Operator's manager
// (vm-operator config/rbac/role.yaml and config/wcp/vmoperator/kustomization.yaml).
const VMOperatorRole = "vmware-system-vmop-manager-role"

// NodeConfig is an object that makes the Supervisor change the nodes of its clusters in
// place, from VKS 3.6 on: ClusterRegistryConfig, RegistryConfig or
// ClusterDomainResolutionEntry. Only its name and age are looked at.
type NodeConfig struct{ Meta }

// NodeConfigKinds are the kinds of a [NodeConfig]. Their API group and versions are not
// public (containerregistry.vmware.com for one of them); they are found by kind.
func NodeConfigKinds() []string {
	return []string{"ClusterDomainResolutionEntry", "ClusterRegistryConfig", "RegistryConfig"}
}

// Event is a Kubernetes event, from either API.
type Event struct {
	Meta
	About           ObjectRef
	Type            string
	Reason, Message string
	Count           int32
	First, Last     time.Time
}
