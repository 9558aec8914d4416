package workload

import (
	"slices"
	"time"

	"vksmedic/model"
)

// AgentLabel is the label that pinniped puts on its kube-cert-agent pods, with a value
// that changed between its releases.
const AgentLabel = "kube-cert-agent.pinniped.dev"

// sightingLimit is how many sightings are remembered for a cluster.
const sightingLimit = 100

// sight adds the agents of this look to those of earlier ones. looked are the nodes whose
// pods were all read: an agent of such a node that is not among them any more is gone.
func sight(before []model.Sighting, pods []model.Pod, looked map[string]bool, now time.Time) []model.Sighting {
	out := slices.Clone(before)
	here := map[string]bool{}
	for i := range pods {
		p := &pods[i]
		if _, agent := p.Labels[AgentLabel]; !agent || !looked[p.Node] {
			continue
		}
		here[p.UID] = true
		j := slices.IndexFunc(out, func(s model.Sighting) bool { return s.UID == p.UID })
		if j < 0 {
			out = append(out, model.Sighting{Namespace: p.Namespace, Name: p.Name, UID: p.UID, Node: p.Node, First: now})
			j = len(out) - 1
		}
		out[j].Last, out[j].Gone = now, false
	}
	for i := range out {
		if looked[out[i].Node] && !here[out[i].UID] {
			out[i].Gone = true
		}
	}
	if more := len(out) - sightingLimit; more > 0 {
		out = out[more:]
	}
	return out
}
