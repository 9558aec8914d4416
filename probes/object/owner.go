package object

import (
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"vksmedic/model"
)

// controlPlaneRow reads a KubeadmControlPlane, v1alpha3 to v1beta2.
func controlPlaneRow(t tree) model.Object {
	k := &model.ControlPlane{Meta: meta(t), Conditions: generations(t)}
	k.Cluster = clusterOf(t, &k.Meta)
	k.Version = t.word("spec", "version")
	k.OldestVersion = t.word("status", "version")
	k.Replicas = replicas(t)
	if k.Replicas.Available == nil {
		k.Replicas.Available = availableByDifference(t)
	}
	k.Paused = paused(&k.Meta)
	template := t.sub("spec", "machineTemplate", "spec", "infrastructureRef") // v1beta2.
	if template == nil {
		template = t.sub("spec", "machineTemplate", "infrastructureRef") // v1beta1, v1alpha4.
	}
	if template == nil {
		template = t.sub("spec", "infrastructureTemplate") // v1alpha3.
	}
	k.Template = ref(template, k.Namespace)
	return k
}

// deploymentRow reads a MachineDeployment, v1alpha3 to v1beta2.
func deploymentRow(t tree) model.Object {
	d := &model.MachineDeployment{Meta: meta(t), Conditions: generations(t)}
	d.Cluster = clusterOf(t, &d.Meta)
	d.Version = t.word("spec", "template", "spec", "version")
	d.Replicas = replicas(t)
	d.Paused = t.boolean("spec", "paused") || paused(&d.Meta)
	d.Phase = t.word("status", "phase")
	d.Template = ref(t.sub("spec", "template", "spec", "infrastructureRef"), d.Namespace)
	return d
}

// setRow reads a MachineSet, v1alpha3 to v1beta2.
func setRow(t tree) model.Object {
	s := &model.MachineSet{Meta: meta(t), Conditions: generations(t)}
	s.Cluster = clusterOf(t, &s.Meta)
	s.Deployment = intern(first(ownerName(&s.Meta, "MachineDeployment"), s.Labels[clusterv1.MachineDeploymentNameLabel]))
	s.Version = t.word("spec", "template", "spec", "version")
	s.Replicas = replicas(t)
	return s
}

// replicas reads the counts of an object that owns Machines. v1beta2 has all of them in
// status; v1beta1 has updatedReplicas for what is up to date, repeats the newer counts in
// status.v1beta2 from Cluster API 1.9 on, and leaves a zero out.
func replicas(t tree) model.Replicas {
	newer := t.sub("status", "v1beta2")
	r := model.Replicas{
		Desired:   t.number("spec", "replicas"),
		Current:   written(t, "replicas"),
		Ready:     firstNumber(newer.number("readyReplicas"), written(t, "readyReplicas")),
		Available: firstNumber(newer.number("availableReplicas"), t.number("status", "availableReplicas")),
		UpToDate:  firstNumber(newer.number("upToDateReplicas"), t.number("status", "upToDateReplicas"), t.number("status", "updatedReplicas")),
	}
	if older(t) && t.str("kind") != "KubeadmControlPlane" {
		r.Available = firstNumber(r.Available, written(t, "availableReplicas"))
	}
	if older(t) && t.str("kind") != "MachineSet" {
		r.UpToDate = firstNumber(r.UpToDate, written(t, "updatedReplicas"))
	}
	return r
}

// written is a count of a status: absent means zero in the older API versions once the
// controller has written the status at all.
func written(t tree, field string) *int32 {
	if n := t.number("status", field); n != nil {
		return n
	}
	if older(t) && t.has("status", "observedGeneration") {
		return new(int32)
	}
	return nil
}

// availableByDifference is for the older KubeadmControlPlanes, which count what is not available.
func availableByDifference(t tree) *int32 {
	all, un := t.number("status", "replicas"), t.number("status", "unavailableReplicas")
	if !older(t) || all == nil || un == nil || *un > *all {
		return nil
	}
	n := *all - *un
	return &n
}

// healthCheckRow reads a MachineHealthCheck: unhealthyConditions with durations in
// v1beta1, checks.unhealthyNodeConditions with seconds in v1beta2.
func healthCheckRow(t tree) model.Object {
	h := &model.MachineHealthCheck{Meta: meta(t), Conditions: generations(t)}
	h.Cluster = clusterOf(t, &h.Meta)
	h.Paused = paused(&h.Meta)
	if s, err := selector(t.at("spec", "selector")); err == nil {
		h.Selector = s
	}
	for _, c := range append(t.list("spec", "unhealthyConditions"), t.list("spec", "checks", "unhealthyNodeConditions")...) {
		check := model.NodeCheck{Type: c.word("type"), Status: c.word("status")}
		if d := c.duration("timeout"); d != nil {
			check.Timeout = *d
		}
		if d := c.seconds("timeoutSeconds"); d != nil {
			check.Timeout = *d
		}
		h.NodeChecks = append(h.NodeChecks, check)
	}
	return h
}

// stripControlPlane takes the files, users, commands and tokens of the machines to come.
func stripControlPlane(u map[string]any) {
	spec, _ := u["spec"].(map[string]any)
	delete(spec, "kubeadmConfigSpec")
}
