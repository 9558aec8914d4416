package model

import (
	"slices"
	"strings"
)

// part is a row that can say of which cluster it is. One that does not say is joined by what else is
// known of it (join.go).
type part interface {
	Object
	// cluster is the name of its cluster, empty where it does not say.
	cluster() string
	// join puts it where it belongs in its cluster.
	join(c *Cluster)
}

func (o *ClusterObject) cluster() string         { return o.Name }
func (o *ControlPlane) cluster() string          { return o.Cluster }
func (o *MachineDeployment) cluster() string     { return o.Cluster }
func (o *MachineSet) cluster() string            { return o.Cluster }
func (o *MachineHealthCheck) cluster() string    { return o.Cluster }
func (o *Machine) cluster() string               { return o.Cluster }
func (o *InfraMachine) cluster() string          { return o.Cluster }
func (o *InfraCluster) cluster() string          { return o.Cluster }
func (o *VirtualMachine) cluster() string        { return o.Cluster }
func (o *VirtualMachineService) cluster() string { return o.Cluster }

func (o *ClusterObject) join(c *Cluster)         { c.Object = o }
func (o *ControlPlane) join(c *Cluster)          { c.ControlPlane = o }
func (o *MachineDeployment) join(c *Cluster)     { c.Deployments = append(c.Deployments, o) }
func (o *MachineSet) join(c *Cluster)            { c.Sets = append(c.Sets, o) }
func (o *MachineHealthCheck) join(c *Cluster)    { c.HealthChecks = append(c.HealthChecks, o) }
func (o *Machine) join(c *Cluster)               { c.Machines = append(c.Machines, o) }
func (o *InfraMachine) join(c *Cluster)          { c.InfraMachines = append(c.InfraMachines, o) }
func (o *InfraCluster) join(c *Cluster)          { c.InfraCluster = o }
func (o *VirtualMachine) join(c *Cluster)        { c.VMs = append(c.VMs, o) }
func (o *VirtualMachineService) join(c *Cluster) { c.Services = append(c.Services, o) }

// order sorts the lists of a cluster.
func (c *Cluster) order() {
	byName(c.Deployments)
	byName(c.Sets)
	byName(c.HealthChecks)
	byName(c.InfraMachines)
	byName(c.VMs)
	byName(c.Services)
	byName(c.Machines)
	slices.SortStableFunc(c.Machines, func(a, b *Machine) int {
		if a.ControlPlane != b.ControlPlane {
			if a.ControlPlane {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Deployment, b.Deployment)
	})
}

// byName sorts rows by namespace and name.
func byName[T Object](list []T) {
	slices.SortFunc(list, func(a, b T) int {
		x, y := a.GetMeta(), b.GetMeta()
		if r := strings.Compare(x.Namespace, y.Namespace); r != 0 {
			return r
		}
		return strings.Compare(x.Name, y.Name)
	})
}

// Parts visits every object that the cluster is made of on the Supervisor.
func (c *Cluster) Parts(visit func(Object)) {
	if c.Object != nil {
		visit(c.Object)
	}
	if c.ControlPlane != nil {
		visit(c.ControlPlane)
	}
	if c.InfraCluster != nil {
		visit(c.InfraCluster)
	}
	visitAll(c.Deployments, visit)
	visitAll(c.Sets, visit)
	visitAll(c.HealthChecks, visit)
	visitAll(c.DrainRules, visit)
	visitAll(c.Templates, visit)
	visitAll(c.Machines, visit)
	visitAll(c.InfraMachines, visit)
	visitAll(c.VMs, visit)
	visitAll(c.Services, visit)
	visitAll(c.Endpoints, visit)
	visitAll(c.Events, visit)
}

// GeneralObjects visits every object that is about the Supervisor, not about one cluster.
func (s *Snapshot) GeneralObjects(visit func(Object)) {
	visitAll(s.Images, visit)
	visitAll(s.Roles, visit)
	visitAll(s.NodeConfigs, visit)
}

func visitAll[T Object](list []T, visit func(Object)) {
	for _, o := range list {
		visit(o)
	}
}

// Add takes an object that was read in the workload cluster; those that are not kept for themselves,
// such as a Namespace, are left out.
func (w *Workload) Add(o Object) {
	switch v := o.(type) {
	case *Node:
		w.Nodes = append(w.Nodes, *v)
	case *Pod:
		w.Pods = append(w.Pods, *v)
	case *Budget:
		w.Budgets = append(w.Budgets, *v)
	case *VolumeAttachment:
		w.Attachments = append(w.Attachments, *v)
	}
}

// Parts visits every object inside the workload cluster.
func (w *Workload) Parts(visit func(Object)) {
	for i := range w.Nodes {
		visit(&w.Nodes[i])
	}
	for i := range w.Pods {
		visit(&w.Pods[i])
	}
	for i := range w.Budgets {
		visit(&w.Budgets[i])
	}
	for i := range w.Attachments {
		visit(&w.Attachments[i])
	}
}
