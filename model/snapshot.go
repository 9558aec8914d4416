package model

import (
	"slices"
	"time"
)

// Supervisor is what is known about the Supervisor as a whole.
type Supervisor struct {
	// Context is the name under which this program knows the Supervisor: the context of the
	// engineer's kubeconfig, or the path of a dump.
	Context      string
	Server, User string
	// Identity is the uid of its kube-system namespace, or another stable mark where that
	// may not be read (see probes/supervisor).
	Identity string
	// Insecure says that the engineer's kubeconfig switches certificate checking off.
	Insecure bool
	// VKS is the version of the vSphere Kubernetes Service, such as 3.6.1+v1.35; empty where
	// it could not be read, and then VKSDetail says why. VKSAtLeast is a lower bound taken
	// from elsewhere (a ClusterClass), empty where there is none.
	VKS, VKSAtLeast, VKSDetail string
	// ClusterAPI are the served versions of cluster.x-k8s.io, newest first; nil where unknown.
	ClusterAPI []string
	// DrainRulesServed says whether MachineDrainRule is served (from Cluster API 1.9).
	DrainRulesServed Verdict
}

// Place is the Supervisor's own API.
func (s *Supervisor) Place() Place { return OnSupervisor(s.Context) }

// Workload is the API of a workload cluster.
func (s *Supervisor) Workload(c ClusterRef) Place { return InCluster(s.Context, c) }

// Snapshot is the picture of one moment. It is never changed once handed out.
type Snapshot struct {
	At time.Time
	// Dump says that this was read from files: nothing will change, and durations are as
	// of At (zero where the dump holds no time at all: durations are unknown).
	Dump bool
	// Captured says that this was read from a capture: all that vksmedic knew of a live
	// Supervisor at At, sources that could not be read included, so that it is judged as live.
	// Nothing will change.
	Captured   bool
	Supervisor Supervisor
	Sources    []Source
	// Clusters, sorted by namespace and name.
	Clusters []*Cluster
	Images   []*VirtualMachineImage
	// Roles are the ClusterRoles that are looked at: VM Operator's.
	Roles []*ClusterRole
	// NodeConfigs are the objects that make the Supervisor change its clusters' nodes in place.
	NodeConfigs []*NodeConfig
	// General are the findings about the Supervisor as a whole: their cluster has no name.
	General []Finding
	// Version grows with every snapshot of a store.
	Version uint64
}

// Still says whether this is of the past and will never change: a dump or a capture.
func (s *Snapshot) Still() bool { return s.Dump || s.Captured }

// Cluster returns the cluster of that name, or nil.
func (s *Snapshot) Cluster(ref ClusterRef) *Cluster {
	for _, c := range s.Clusters {
		if c.Ref == ref {
			return c
		}
	}
	return nil
}

// In is the same picture with the clusters of these namespaces only; all of them where
// none is named.
func (s *Snapshot) In(namespaces []string) *Snapshot {
	if len(namespaces) == 0 {
		return s
	}
	out := *s
	out.Clusters = nil
	for _, c := range s.Clusters {
		if slices.Contains(namespaces, c.Ref.Namespace) {
			out.Clusters = append(out.Clusters, c)
		}
	}
	return &out
}

// Source returns the source of that name, or nil.
func (s *Snapshot) Source(name SourceName) *Source {
	for i := range s.Sources {
		if s.Sources[i].Name == name {
			return &s.Sources[i]
		}
	}
	return nil
}

// Findings are all findings of all clusters, worst first.
func (s *Snapshot) Findings() []*Finding {
	var out []*Finding
	for _, c := range s.Clusters {
		for i := range c.Findings {
			out = append(out, &c.Findings[i])
		}
	}
	for i := range s.General {
		out = append(out, &s.General[i])
	}
	SortFindings(out)
	return out
}

// Cluster is one workload cluster with all that belongs to it: the unit that is judged.
type Cluster struct {
	Ref ClusterRef
	// Object is the Cluster itself; nil where only its parts were seen (a dump, or a
	// namespace in which Clusters may not be read).
	Object       *ClusterObject
	ControlPlane *ControlPlane
	Deployments  []*MachineDeployment
	Sets         []*MachineSet
	HealthChecks []*MachineHealthCheck
	// Machines, control plane first, then by deployment and name.
	Machines      []*Machine
	InfraMachines []*InfraMachine
	InfraCluster  *InfraCluster
	Templates     []*InfraTemplate
	VMs           []*VirtualMachine
	Services      []*VirtualMachineService
	Endpoints     []*Endpoints
	// DrainRules are all rules of the vSphere Namespace, sorted by name: the order in which
	// Cluster API applies them.
	DrainRules []*DrainRule
	// Neighbours are the other clusters of the vSphere Namespace: what a rule without a
	// machine selector also reaches.
	Neighbours []ClusterRef
	// Events about its objects, where they were read (dumps; live they are read when asked for).
	Events   []*Event
	Workload *Workload // never nil.
	Findings []Finding
	// Review is when time alone may change the judgement; zero when it cannot.
	Review time.Time
}

// Machine returns the Machine of that name, or nil.
func (c *Cluster) Machine(name string) *Machine {
	for _, m := range c.Machines {
		if m.Name == name {
			return m
		}
	}
	return nil
}

// Node returns the node of that name, or nil.
func (c *Cluster) Node(name string) *Node {
	for i := range c.Workload.Nodes {
		if c.Workload.Nodes[i].Name == name {
			return &c.Workload.Nodes[i]
		}
	}
	return nil
}

// VM returns the VirtualMachine of a Machine, or nil: by name, else by its owner (a
// VSphereMachine that the Machine refers to).
func (c *Cluster) VM(m *Machine) *VirtualMachine {
	for _, v := range c.VMs {
		if v.Name == m.Name {
			return v
		}
	}
	for _, v := range c.VMs {
		for _, o := range v.Owners {
			if o.Name == m.Infra.Name && m.Infra.Name != "" {
				return v
			}
		}
	}
	return nil
}

// Worst is the severest of its findings, or nil; where another one that is as severe brings it
// about, that one.
func (c *Cluster) Worst() *Finding {
	var w *Finding
	for i := range c.Findings {
		if w == nil || less(&c.Findings[i], w) {
			w = &c.Findings[i]
		}
	}
	for i := 0; w != nil && i < len(c.Findings); i++ {
		cause := c.cause(w)
		if cause == nil {
			break
		}
		w = cause
	}
	return w
}

// cause is a finding that brings f about and is as severe, or nil.
func (c *Cluster) cause(f *Finding) *Finding {
	for _, l := range f.CausedBy {
		for i := range c.Findings {
			if x := &c.Findings[i]; x.Severity == f.Severity && x.Link() == l {
				return x
			}
		}
	}
	return nil
}
