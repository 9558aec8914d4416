package lifecycle

import (
	"slices"
	"strconv"
	"time"

	"vksmedic/model"
)

// Movement is what moves in a cluster, in a few words. The zero value says that nothing does.
type Movement struct {
	Words string
	// Since is when it began, zero where unknown; Lasts says that it is something that has a
	// beginning at all.
	Since time.Time
	Lasts bool
}

// MovementOf says what moves in a cluster. Of several Machines that are being deleted the
// one counts whose stage lasts longest; a deletion counts more than what is still to be
// replaced, and that more than a Machine that has no node yet.
func MovementOf(c *model.Cluster) Movement {
	if Paused(c) {
		return Movement{Words: "paused"}
	}
	oldest := Deletion{}
	for _, m := range c.Machines {
		if d := StageOf(m); d.Stage != NotDeleting && (oldest.Stage == NotDeleting || before(d.Since, oldest.Since)) {
			oldest = d
		}
	}
	if oldest.Stage != NotDeleting {
		return Movement{Words: oldest.Stage.Short(), Since: oldest.Since, Lasts: true}
	}
	if r := ControlPlaneReplicas(c); Behind(r) {
		return Movement{Words: "control plane " + of(*r.UpToDate, *r.Desired)}
	}
	if r := WorkerReplicas(c); Behind(r) {
		return Movement{Words: "workers " + of(*r.UpToDate, *r.Desired)}
	}
	for _, m := range c.Machines {
		switch m.Phase {
		case "Pending", "Provisioning", "Provisioned":
			return Movement{Words: "new node", Since: m.Created, Lasts: true}
		}
	}
	return Movement{}
}

func of(n, all int32) string { return strconv.Itoa(int(n)) + "/" + strconv.Itoa(int(all)) }

// before puts what is not known last.
func before(a, b time.Time) bool { return !a.IsZero() && (b.IsZero() || a.Before(b)) }

// Short is the stage in a word or two, for where there is no room for [Stage.Words]; empty
// where nothing is deleted.
func (s Stage) Short() string {
	switch s {
	case NotDeleting:
		return ""
	case Started:
		return "deleting"
	case PreDrainHook:
		return "pre-drain hooks"
	case Draining:
		return "drain"
	case VolumeDetach:
		return "volumes"
	case PreTerminateHook:
		return "pre-terminate hooks"
	case Infrastructure:
		return "infrastructure"
	case Bootstrap:
		return "bootstrap"
	case DeletingNode:
		return "node"
	case DeletionCompleted:
		return "deleted"
	}
	return string(s)
}

// Paused says whether Cluster API leaves the whole cluster alone.
func Paused(c *model.Cluster) bool { return c.Object != nil && c.Object.Paused }

// AnyPaused says whether something in the cluster is paused: nothing mends itself there.
func AnyPaused(c *model.Cluster) bool {
	if Paused(c) || (c.ControlPlane != nil && c.ControlPlane.Paused) {
		return true
	}
	return slices.ContainsFunc(c.Deployments, func(d *model.MachineDeployment) bool { return d.Paused }) ||
		slices.ContainsFunc(c.Machines, func(m *model.Machine) bool { return m.Paused }) ||
		slices.ContainsFunc(c.VMs, func(v *model.VirtualMachine) bool { return v.Paused })
}

// EtcdMembers counts the control plane Machines whose condition EtcdMemberHealthy is known:
// how many are healthy, how many there are, and how many etcd needs. All are zero where none
// is known.
func EtcdMembers(c *model.Cluster) (healthy, all, needed int) {
	for _, m := range c.Machines {
		k := m.Conditions.Get("EtcdMemberHealthy")
		if !m.ControlPlane || k == nil {
			continue
		}
		all++
		if k.Status == "True" {
			healthy++
		}
	}
	if all > 0 {
		needed = all/2 + 1
	}
	return healthy, all, needed
}
