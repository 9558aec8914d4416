package signature

import (
	"fmt"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
)

// quorum counts the control plane's members: the Machines that have a node, one etcd each.
// A Machine that has joined no node has no member yet.
func (v *view) quorum() lifecycle.Quorum {
	var q lifecycle.Quorum
	for _, m := range v.c.Machines {
		if !m.ControlPlane || m.NodeName == "" {
			continue
		}
		q.Members = append(q.Members, v.member(m))
	}
	switch {
	case len(q.Members) == 0:
		q.Unknown = "no control plane Machine with a node is known"
	case v.c.ControlPlane == nil && v.c.Object == nil:
		q.Unknown = "neither the KubeadmControlPlane nor the Cluster is known, so that nobody says how many there should be"
	}
	if n := v.machinesWanted(); q.Unknown == "" && int(n) > len(q.Members)+v.joiningMachines() {
		q.Unknown = fmt.Sprintf("%d control plane Machines are wanted and %d are known", n, len(q.Members))
	}
	for _, m := range q.Members {
		if m.Healthy == model.Unknown && q.Unknown == "" {
			q.Unknown = "of " + text.Clean(m.Machine.Name) + " nothing is known: " + m.Why
		}
	}
	return q
}

// machinesWanted is how many replicas the control plane has, as its own object counts them.
func (v *view) machinesWanted() int32 {
	if v.c.ControlPlane == nil {
		return 0
	}
	if n := v.c.ControlPlane.Replicas.Current; n != nil {
		return *n
	}
	return 0
}

func (v *view) joiningMachines() int {
	n := 0
	for _, m := range v.c.Machines {
		if m.ControlPlane && m.NodeName == "" {
			n++
		}
	}
	return n
}

// member judges one Machine's etcd. NodeHealthy may still be True on a Machine whose node is
// dead, and EtcdMemberHealthy too (the provider asks the first member that answers), so good
// news from the Machine alone needs the node's own; bad news does not.
func (v *view) member(m *model.Machine) lifecycle.Member {
	x := lifecycle.Member{Machine: m, Healthy: model.Unknown}
	n := v.nodeOf(m.NodeName)
	hc := m.Conditions.Get("HealthCheckSucceeded")
	etcd := m.Conditions.Get("EtcdMemberHealthy")
	pod := m.Conditions.Get("EtcdPodHealthy")
	switch {
	case n != nil && (n.status == "False" || n.status == "Unknown"):
		x.Healthy, x.Why = model.No, n.saying()
	case n != nil && n.gone:
		x.Healthy, x.Why = model.No, "its Node is gone"
	case hc != nil && hc.Status == "False":
		x.Healthy, x.Why = model.No, text.Limit(text.Clean(hc.Message), 200)
	case etcd != nil && etcd.Status == "False":
		x.Healthy, x.Why = model.No, "etcd: "+text.Limit(text.Clean(etcd.Message), 200)
	case pod != nil && pod.Status == "False":
		x.Healthy, x.Why = model.No, "etcd's pod: "+text.Limit(text.Clean(pod.Message), 200)
	case n != nil && n.status == "True" && n.stale == "":
		x.Healthy, x.Why = model.Yes, "its node is Ready"
	default:
		x.Why = "its node was not read"
	}
	return x
}
