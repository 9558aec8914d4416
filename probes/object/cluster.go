package object

import (
	"net"
	"strconv"

	"vksmedic/model"
)

// clusterRow reads a Cluster, v1alpha3 to v1beta2.
func clusterRow(t tree) model.Object {
	c := &model.ClusterObject{Meta: meta(t), Conditions: generations(t)}
	c.Phase = t.word("status", "phase")
	topology := t.sub("spec", "topology")
	c.Version = topology.word("version")
	c.Class = intern(first(topology.str("classRef", "name"), topology.str("class")))
	c.Paused = t.boolean("spec", "paused") || paused(&c.Meta)
	if host := t.str("spec", "controlPlaneEndpoint", "host"); host != "" {
		c.Endpoint = net.JoinHostPort(host, strconv.Itoa(int(t.count("spec", "controlPlaneEndpoint", "port"))))
	}
	c.ControlPlane = ref(t.sub("spec", "controlPlaneRef"), c.Namespace)
	c.Infra = ref(t.sub("spec", "infrastructureRef"), c.Namespace)

	c.ControlPlaneReplicas = clusterReplicas(t, "controlPlane")
	c.ControlPlaneReplicas.Desired = firstNumber(c.ControlPlaneReplicas.Desired, topology.number("controlPlane", "replicas"))
	c.WorkerReplicas = clusterReplicas(t, "workers")
	c.WorkerReplicas.Desired = firstNumber(c.WorkerReplicas.Desired, topologyWorkers(topology))

	// status.initialization is v1beta2, status.controlPlaneReady v1beta1.
	c.ControlPlaneInitialized = t.boolean("status", "initialization", "controlPlaneInitialized") ||
		t.boolean("status", "controlPlaneReady") ||
		c.Conditions.New.True("ControlPlaneInitialized") || c.Conditions.Old.True("ControlPlaneInitialized")
	c.ControlPlaneUninitialized = !c.ControlPlaneInitialized && (t.has("status", "initialization") || t.has("status", "controlPlaneReady") ||
		c.Conditions.New.Get("ControlPlaneInitialized") != nil || c.Conditions.Old.Get("ControlPlaneInitialized") != nil)
	c.TrustVariable = trustVariable(topology.list("variables"))
	return c
}

// clusterReplicas reads the counts that Clusters carry from Cluster API 1.9 on: under
// status.v1beta2 in v1beta1, under status in v1beta2.
func clusterReplicas(t tree, part string) model.Replicas {
	r := t.sub("status", part)
	if r == nil {
		r = t.sub("status", "v1beta2", part)
	}
	return model.Replicas{
		Desired: r.number("desiredReplicas"), Current: r.number("replicas"), Ready: r.number("readyReplicas"),
		Available: r.number("availableReplicas"), UpToDate: r.number("upToDateReplicas"),
	}
}

// topologyWorkers adds up the replicas that the topology asks for; nil where one
// MachineDeployment leaves it to an autoscaler.
func topologyWorkers(topology tree) *int32 {
	list := topology.list("workers", "machineDeployments")
	if len(list) == 0 {
		return nil
	}
	var sum int32
	for _, md := range list {
		n := md.number("replicas")
		if n == nil {
			return nil
		}
		sum += *n
	}
	return &sum
}

// trustVariable says whether additional trusted certificates are configured: the trust
// part of the variable osConfiguration, or the variable trust of older ClusterClasses.
func trustVariable(variables []tree) bool {
	for _, v := range variables {
		switch v.str("name") {
		case "osConfiguration":
			if len(v.sub("value", "trust")) > 0 {
				return true
			}
		case "trust":
			if len(v.sub("value")) > 0 {
				return true
			}
		}
	}
	return false
}

// stripCluster takes the values of a topology's variables whose names say that they are secret.
func stripCluster(u map[string]any) {
	spec, _ := u["spec"].(map[string]any)
	topology, _ := spec["topology"].(map[string]any)
	list, _ := topology["variables"].([]any)
	for _, v := range list {
		m, _ := v.(map[string]any)
		name, _ := m["name"].(string)
		if _, number := m["value"].(float64); m["value"] != nil && !number && SecretName(name) {
			m["value"] = LeftOut
		}
	}
}
