package signature

import (
	"time"

	"vksmedic/model"
	"vksmedic/model/text"
)

// This file holds what any signature may use; a new one should look here first. The other
// files without an id for a name are shared too, each for one subject: nodes.go (a node with
// all that tells of its health), draining.go with agents.go and blockers.go (a Machine in its
// drain), quorum.go (how etcd stands), healthcheck.go (what a MachineHealthCheck will do),
// role.go (VM Operator's ClusterRole) and vks.go (the version of VKS). Anything that a second
// signature needs belongs into one of them, not into the file of the first.

// Sources: how and when something was read.

// source finds how a Supervisor resource was read for this cluster's namespace.
func (v *view) source(resource string) *model.Source {
	s, known := v.sources[resource]
	if known {
		return s
	}
	s = v.sn.Source(model.SupervisorSource(resource, v.c.Ref.Namespace))
	if s == nil {
		s = v.sn.Source(model.SupervisorSource(resource, ""))
	}
	if v.sources == nil {
		v.sources = map[string]*model.Source{}
	}
	v.sources[resource] = s
	return s
}

// seen is when a Supervisor resource was last known to be up to date.
func (v *view) seen(resource string) time.Time {
	if s := v.source(resource); s != nil {
		return s.Seen
	}
	return time.Time{}
}

// unread says why an object of a resource of the Supervisor, which was looked for and is not there,
// may be there all the same; empty where it is surely not. In a dump nothing is ever sure: what it
// holds is what somebody put into it.
func (v *view) unread(resource string) string {
	s := v.source(resource)
	switch {
	case v.sn.Dump:
		return "the dump holds none"
	case s == nil:
		return "they are not looked at"
	case s.Readable():
		return ""
	case s.State == model.SourceNotServed:
		return "this Supervisor does not serve them"
	}
	return "they could not be read: " + describe(s)
}

// describe says what is wrong with a source.
func describe(s *model.Source) string {
	if s.Detail != "" {
		return text.Clean(s.Detail)
	}
	return string(s.State)
}

// Paused: what keeps the Supervisor from mending anything by itself.

// paused says what keeps Cluster API from doing anything about a Machine, or, where m is nil, about
// the cluster; empty when nothing does.
func (v *view) paused(m *model.Machine) string {
	if v.c.Object != nil && v.c.Object.Paused {
		return "Cluster " + v.c.Ref.String() + " is paused"
	}
	if m != nil && m.Paused {
		return "Machine " + m.Namespace + "/" + m.Name + " is paused"
	}
	return ""
}

// ownerPaused says what keeps Cluster API from making the next Machine of a rollout; empty when
// nothing does.
func (v *view) ownerPaused(m *model.Machine) string {
	if k := v.c.ControlPlane; m.ControlPlane && k != nil && k.Paused {
		return "KubeadmControlPlane " + k.Namespace + "/" + k.Name + " is paused"
	}
	for _, d := range v.c.Deployments {
		if !m.ControlPlane && d.Name == m.Deployment && d.Paused {
			return "MachineDeployment " + d.Namespace + "/" + d.Name + " is paused"
		}
	}
	return ""
}

// pausedAnywhere says what is paused of cluster, Machine and its VM; empty where nothing is.
func (v *view) pausedAnywhere(m *model.Machine) string {
	if why := v.paused(m); why != "" || m == nil {
		return why
	}
	if vm := v.c.VM(m); vm != nil && vm.Paused {
		return "VirtualMachine " + vm.Namespace + "/" + vm.Name + " is paused"
	}
	return ""
}

// checkPaused says whether anything keeps the cluster from mending itself.
func (v *view) checkPaused(m *model.Machine) model.Check {
	c := model.Check{Name: "not-paused", Title: "nothing is paused", Weight: model.Supporting, Source: "Cluster, Machine and VirtualMachine, paused", Seen: v.seen("clusters")}
	why := v.pausedAnywhere(m)
	switch {
	case why != "":
		c.Verdict, c.Detail = model.No, why+": nothing mends itself until it is resumed"
	case v.c.Object == nil:
		c.Verdict, c.Detail = model.Unknown, "the Cluster was not read"
	default:
		c.Verdict, c.Detail = model.Yes, "none of them"
	}
	return c
}

// References to the subjects of a finding: each says whether its object lives on the Supervisor or
// inside the workload cluster.

// onSupervisor refers to an object of the Supervisor.
func (v *view) onSupervisor(kind, namespace, name string) model.ObjectRef {
	return model.ObjectRef{Kind: kind, Namespace: namespace, Name: name, Place: v.sn.Supervisor.Place()}
}

// inCluster refers to an object inside the workload cluster; one without a namespace, where that
// is empty.
func (v *view) inCluster(kind, namespace, name string) model.ObjectRef {
	return model.ObjectRef{Kind: kind, Namespace: namespace, Name: name, Place: v.sn.Supervisor.Workload(v.c.Ref)}
}

func (v *view) machineRef(m *model.Machine) model.ObjectRef {
	return v.onSupervisor("Machine", m.Namespace, m.Name)
}

func (v *view) nodeRef(name string) model.ObjectRef { return v.inCluster("Node", "", name) }

func (v *view) podRef(namespace, name string) model.ObjectRef {
	return v.inCluster("Pod", namespace, name)
}

// Words.

// stamp writes a point in time.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// infraSource names the infrastructure machine of a Machine.
func infraSource(m *model.Machine) string {
	if m.Infra.Name == "" {
		return "infrastructure machine of Machine " + m.Name
	}
	return m.Infra.Kind + " " + m.Infra.Name
}

const settleVM = "look in vCenter whether the VM is there, and whether it is connected, orphaned or inaccessible"
