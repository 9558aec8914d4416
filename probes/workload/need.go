package workload

import (
	"slices"

	"vksmedic/model"
)

// nodeLimit is how many nodes of a cluster have their pods read in one look.
const nodeLimit = 16

// need says how a cluster should be looked at, as far as the Supervisor knows.
type need struct {
	// possible: its API server may be there at all.
	possible bool
	// near: at once and every few seconds.
	near bool
	// nodes are those whose Machines are being deleted or unhealthy, the deleting ones first.
	nodes []string
}

func needOf(c *model.Cluster) need {
	n := need{possible: c.Object == nil || c.Object.ControlPlaneInitialized}
	var unhealthy []string
	for _, m := range c.Machines {
		if m.NodeName == "" {
			continue
		}
		n.possible = true
		switch {
		case !m.Deleting.IsZero():
			n.nodes = append(n.nodes, m.NodeName)
		case nodeTrouble(m):
			unhealthy = append(unhealthy, m.NodeName)
		}
	}
	n.nodes = append(n.nodes, unhealthy...)
	n.near = len(n.nodes) > 0
	for i := range c.Findings {
		n.near = n.near || c.Findings[i].Severity != model.Info
	}
	if c.Object != nil && !c.Object.Deleting.IsZero() && !slices.ContainsFunc(c.Machines, func(m *model.Machine) bool { return m.NodeName != "" }) {
		n.possible = false // there is nothing left to look into.
	}
	return n
}

// nodeTrouble says whether the Supervisor sees something wrong with a Machine's node.
func nodeTrouble(m *model.Machine) bool {
	for _, typ := range []string{"NodeReady", "NodeHealthy"} {
		if c := m.Conditions.Get(typ); c != nil && c.Status != "True" {
			return true
		}
	}
	// The control plane provider's view of the static pods; unknown is common while one joins.
	for _, typ := range []string{"APIServerPodHealthy", "ControllerManagerPodHealthy", "SchedulerPodHealthy", "EtcdPodHealthy"} {
		if c := m.Conditions.Get(typ); c != nil && c.Status == "False" {
			return true
		}
	}
	return false
}

// nodesOfInterest are the nodes whose pods are worth reading: those that the Supervisor
// pointed at, then those that the cluster itself shows as not ready or cordoned.
func nodesOfInterest(pointed []string, nodes []model.Node) []string {
	there := map[string]bool{}
	for i := range nodes {
		there[nodes[i].Name] = true
	}
	var out []string
	add := func(name string) {
		if there[name] && !slices.Contains(out, name) && len(out) < nodeLimit {
			out = append(out, name)
		}
	}
	for _, n := range pointed {
		add(n)
	}
	for i := range nodes {
		if nodes[i].Ready() != "True" || nodes[i].Unschedulable || !nodes[i].Deleting.IsZero() {
			add(nodes[i].Name)
		}
	}
	return out
}
