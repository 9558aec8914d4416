package lifecycle

import "vksmedic/model"

// Available is how many replicas can be used: the available ones, or the ready ones where
// an object does not count those that are available; nil where it counts neither.
func Available(r model.Replicas) *int32 {
	if r.Available != nil {
		return r.Available
	}
	return r.Ready
}

// Lacking says whether fewer replicas can be used than are wanted.
func Lacking(r model.Replicas) bool {
	have := Available(r)
	return have != nil && r.Desired != nil && *have < *r.Desired
}

// Behind says whether some replicas are still to be replaced or updated.
func Behind(r model.Replicas) bool {
	return r.UpToDate != nil && r.Desired != nil && *r.UpToDate < *r.Desired
}

// ControlPlaneReplicas are those of a cluster's control plane, from its own object or else
// from the Cluster.
func ControlPlaneReplicas(c *model.Cluster) model.Replicas {
	if c.ControlPlane != nil {
		return c.ControlPlane.Replicas
	}
	if c.Object != nil {
		return c.Object.ControlPlaneReplicas
	}
	return model.Replicas{}
}

// WorkerReplicas are those of all MachineDeployments together, or else what the Cluster
// counts. Ready is not filled in: Available holds what can be used.
func WorkerReplicas(c *model.Cluster) model.Replicas {
	if len(c.Deployments) == 0 {
		if c.Object != nil {
			return c.Object.WorkerReplicas
		}
		return model.Replicas{}
	}
	var sum model.Replicas
	for _, d := range c.Deployments {
		sum.Desired = plus(sum.Desired, d.Replicas.Desired)
		sum.Available = plus(sum.Available, Available(d.Replicas))
		sum.UpToDate = plus(sum.UpToDate, d.Replicas.UpToDate)
	}
	return sum
}

func plus(a, b *int32) *int32 {
	if b == nil {
		return a
	}
	n := *b
	if a != nil {
		n += *a
	}
	return &n
}
