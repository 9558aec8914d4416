package model

import (
	"slices"
	"strings"
)

// legacyServiceSuffix ends the name of the control plane VirtualMachineService of clusters
// that CAPV up to v1.12 made; newer ones are called like the cluster
// (cluster-api-provider-vsphere pkg/services/vmoperator/control_plane_endpoint.go).
const legacyServiceSuffix = "-control-plane-service"

// joinLoose adds what belongs to a cluster without naming it.
func (s *Store) joinLoose(c *Cluster) {
	l := s.loose[c.Ref.Namespace]
	c.DrainRules = sorted[*DrainRule](l["MachineDrainRule"])
	for _, o := range l["KubeadmControlPlane"] {
		// One that does not name its cluster: a dump's.
		if k, ok := o.(*ControlPlane); ok && c.ControlPlane == nil && s.dump && (k.Name == c.Ref.Name || strings.HasPrefix(k.Name, c.Ref.Name+"-")) {
			c.ControlPlane = k
		}
	}
	templates := map[string]bool{}
	if c.ControlPlane != nil {
		templates[c.ControlPlane.Template.Name] = true
	}
	for _, d := range c.Deployments {
		templates[d.Template.Name] = true
	}
	each(l, func(o Object) {
		switch v := o.(type) {
		case *InfraTemplate:
			if templates[v.Name] {
				c.Templates = append(c.Templates, v)
			}
		case *VirtualMachine:
			if s.vmBelongs(c, v) {
				c.VMs = append(c.VMs, v)
			}
		case *VirtualMachineService:
			if serviceCluster(v.Name) == c.Ref.Name || s.nameless(c.Ref) {
				c.Services = append(c.Services, v)
			}
		case *InfraMachine:
			if slices.ContainsFunc(c.Machines, func(x *Machine) bool { return x.Infra.Name == v.Name }) || s.nameless(c.Ref) {
				c.InfraMachines = append(c.InfraMachines, v)
			}
		case *InfraCluster:
			if c.Object != nil && c.Object.Infra.Name == v.Name || v.Name == c.Ref.Name {
				c.InfraCluster = v
			}
		}
	})
	// These are joined through what was joined before.
	each(l, func(o Object) {
		switch v := o.(type) {
		case *Endpoints:
			if s.endpointsBelong(c, v) {
				c.Endpoints = append(c.Endpoints, v)
			}
		case *Event:
			if v.About.Name == c.Ref.Name || c.owns(v.About) || s.nameless(c.Ref) {
				c.Events = append(c.Events, v)
			}
		}
	})
	byName(c.Templates)
	byName(c.VMs)
	byName(c.Services)
	byName(c.InfraMachines)
	byName(c.Endpoints)
	slices.SortStableFunc(c.Events, func(a, b *Event) int { return a.Last.Compare(b.Last) })
}

// each visits all rows, whatever their kind, in no order.
func each(r rows, visit func(Object)) {
	for _, m := range r {
		for _, o := range m {
			visit(o)
		}
	}
}

// nameless says whether ref is the cluster without a name that a dump's unclaimed
// objects make up.
func (s *Store) nameless(ref ClusterRef) bool { return s.dump && ref.Nameless() }

// vmBelongs joins a VirtualMachine without a cluster label: it is called like its Machine,
// or owned by the object the Machine refers to.
func (s *Store) vmBelongs(c *Cluster, v *VirtualMachine) bool {
	claims := func(m *Machine) bool {
		if m.Name == v.Name {
			return true
		}
		return m.Infra.Name != "" && slices.ContainsFunc(v.Owners, func(o Owner) bool { return o.Name == m.Infra.Name })
	}
	if s.nameless(c.Ref) {
		for n := range s.all["Machine"] {
			if m, ok := s.all["Machine"][n].(*Machine); ok && n.namespace == v.Namespace && m.Cluster != "" && claims(m) {
				return false
			}
		}
		return true
	}
	return slices.ContainsFunc(c.Machines, claims)
}

// serviceCluster is the cluster that a control plane service is named after.
func serviceCluster(service string) string { return strings.TrimSuffix(service, legacyServiceSuffix) }

func (s *Store) endpointsBelong(c *Cluster, e *Endpoints) bool {
	for _, v := range c.Services {
		if v.Name == e.Name {
			return true
		}
	}
	if serviceCluster(e.Name) == c.Ref.Name {
		return true
	}
	// In the nameless cluster of a dump: what no named cluster claims.
	return s.nameless(c.Ref) && s.placed[ClusterRef{e.Namespace, serviceCluster(e.Name)}] == nil
}

// owns says whether an object is one of the cluster's.
func (c *Cluster) owns(r ObjectRef) bool {
	if r.Namespace != "" && r.Namespace != c.Ref.Namespace {
		return false
	}
	switch r.Kind {
	case "Machine", "VSphereMachine", "KubeadmConfig":
		return c.Machine(r.Name) != nil || slices.ContainsFunc(c.InfraMachines, func(m *InfraMachine) bool { return m.Name == r.Name })
	case "VirtualMachine":
		return slices.ContainsFunc(c.VMs, func(v *VirtualMachine) bool { return v.Name == r.Name })
	case "MachineSet":
		return slices.ContainsFunc(c.Sets, func(v *MachineSet) bool { return v.Name == r.Name })
	case "MachineDeployment":
		return slices.ContainsFunc(c.Deployments, func(v *MachineDeployment) bool { return v.Name == r.Name })
	case "KubeadmControlPlane":
		return c.ControlPlane != nil && c.ControlPlane.Name == r.Name
	}
	return false
}

// inside holds a dump's objects of workload clusters, which do not say of which cluster
// they are.
type inside struct {
	nodes       []*Node
	pods        []*Pod
	budgets     []*Budget
	attachments []*VolumeAttachment
	namespaces  []*Namespace
}

func (i *inside) add(o Object) {
	switch v := o.(type) {
	case *Node:
		i.nodes = append(i.nodes, v)
	case *Pod:
		i.pods = append(i.pods, v)
	case *Budget:
		i.budgets = append(i.budgets, v)
	case *VolumeAttachment:
		i.attachments = append(i.attachments, v)
	case *Namespace:
		i.namespaces = append(i.namespaces, v)
	}
}

func (i *inside) empty() bool {
	return len(i.nodes)+len(i.pods)+len(i.budgets)+len(i.attachments) == 0
}

// nowhere is the vSphere Namespace of objects of a workload cluster that nothing tells of.
const nowhere = ""

// unclaimedIn is the cluster without a name that a dump's unclaimed objects of a vSphere Namespace
// make up.
func unclaimedIn(namespace string) ClusterRef { return ClusterRef{Namespace: namespace} }

// unclaimed says whether a dump holds anything in a namespace that no named cluster claims.
func (s *Store) unclaimed(namespace string) bool {
	named := false
	for ref, r := range s.placed {
		if !ref.Nameless() && ref.Namespace == namespace && len(r) > 0 {
			named = true
		}
	}
	if named {
		return false
	}
	for kind, m := range s.loose[namespace] {
		if kind != "Event" && kind != "MachineDrainRule" && len(m) > 0 {
			return true
		}
	}
	return false
}

// joinInside distributes a dump's nodes and pods over its clusters: to the cluster whose
// Machines name the node; where only one cluster is in the dump, to that; else to one
// without a name.
func (s *Store) joinInside() {
	byNode := map[string]ClusterRef{}
	var only []ClusterRef
	for ref, r := range s.placed {
		for _, o := range r["Machine"] {
			if m, ok := o.(*Machine); ok && m.NodeName != "" {
				byNode[m.NodeName] = ref
			}
		}
		if len(r) > 0 && !ref.Nameless() {
			only = append(only, ref)
		}
	}
	for ns := range s.loose {
		if s.unclaimed(ns) {
			s.dirty[unclaimedIn(ns)] = true
		}
	}
	if s.inside.empty() {
		return
	}
	home := func(node string) ClusterRef {
		if ref, ok := byNode[node]; ok {
			return ref
		}
		if len(only) == 1 {
			return only[0]
		}
		return unclaimedIn(nowhere)
	}
	out := map[ClusterRef]*Workload{}
	get := func(ref ClusterRef) *Workload {
		w := out[ref]
		if w == nil {
			w = &Workload{PodsOn: map[string]bool{}, HasPinniped: Unknown, NamespaceLabels: map[string]map[string]string{}}
			nothing := Source{State: SourceUnreachable, Detail: "the dump holds none of this cluster"}
			w.NodesSource, w.PodsSource, w.BudgetsSource = nothing, nothing, nothing
			out[ref] = w
		}
		return w
	}
	inDump := Source{State: SourceOK}
	for _, n := range s.inside.nodes {
		w := get(home(n.Name))
		w.Nodes = append(w.Nodes, *n)
		w.NodesSource = inDump
	}
	for _, p := range s.inside.pods {
		w := get(home(p.Node))
		w.Pods = append(w.Pods, *p)
		w.PodsSource, w.BudgetsSource = inDump, inDump
		w.PodsOn[p.Node] = true
	}
	for _, b := range s.inside.budgets {
		s.joinBudget(b, out, only, get)
	}
	for _, a := range s.inside.attachments {
		w := get(home(a.Node))
		w.Attachments = append(w.Attachments, *a)
	}
	for _, n := range s.inside.namespaces {
		for _, w := range out {
			w.NamespaceLabels[n.Name] = n.Labels
		}
	}
	for ref, w := range out {
		if w.PodsSource.State == SourceOK {
			// The dump is taken for all there is: no pods on a node means an empty node.
			for i := range w.Nodes {
				w.PodsOn[w.Nodes[i].Name] = true
			}
			w.HasPinniped = No
			for i := range w.Pods {
				if w.Pods[i].CertAgent() {
					w.HasPinniped = Yes
				}
			}
		}
		s.workloads[ref] = w
		s.dirty[ref] = true
	}
}

// joinBudget adds a budget to the clusters in which it selects a pod; where it selects
// none anywhere, to the only cluster, or to the one without a name.
func (s *Store) joinBudget(b *Budget, out map[ClusterRef]*Workload, only []ClusterRef, get func(ClusterRef) *Workload) {
	found := false
	for _, w := range out {
		if slices.ContainsFunc(w.Pods, func(p Pod) bool { return b.Selects(&p) }) {
			w.Budgets = append(w.Budgets, *b)
			w.BudgetsSource = Source{State: SourceOK}
			found = true
		}
	}
	if found {
		return
	}
	ref := unclaimedIn(nowhere)
	if len(only) == 1 {
		ref = only[0]
	}
	w := get(ref)
	w.Budgets = append(w.Budgets, *b)
	w.BudgetsSource = Source{State: SourceOK}
}
