package object

import (
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"vksmedic/model"
)

// infraMachineRow reads a VSphereMachine of CAPV's supervisor mode (v1beta1 with
// status.vmstatus and status.ready, v1beta2 with status.phase and
// status.initialization), of its vCenter mode, or another provider's machine.
func infraMachineRow(t tree) model.Object {
	m := &model.InfraMachine{Meta: meta(t), Conditions: generations(t)}
	m.Cluster = clusterOf(t, &m.Meta)
	m.ProviderID = t.str("spec", "providerID")
	m.Phase = intern(first(t.str("status", "phase"), t.str("status", "vmstatus"), t.str("status", "instanceState")))
	m.Ready = t.boolean("status", "ready") || m.Conditions.New.True(clusterv1.ReadyCondition) || m.Conditions.Old.True(clusterv1.ReadyCondition)
	m.Image = intern(first(t.str("spec", "imageName"), t.str("spec", "template")))
	m.FailureReason = intern(first(t.str("status", "failureReason"), t.str("status", "deprecated", "v1beta1", "failureReason")))
	m.FailureText = first(t.message("status", "failureMessage"), t.message("status", "deprecated", "v1beta1", "failureMessage"))
	return m
}

// infraTemplateRow reads a VSphereMachineTemplate, or another provider's template.
func infraTemplateRow(t tree) model.Object {
	spec := t.sub("spec", "template", "spec")
	return &model.InfraTemplate{
		Meta:  meta(t),
		Image: intern(first(spec.str("imageName"), spec.str("template"))),
		Class: spec.word("className"),
	}
}

// infraClusterRow reads a VSphereCluster, or another provider's cluster.
func infraClusterRow(t tree) model.Object {
	c := &model.InfraCluster{Meta: meta(t), Conditions: generations(t)}
	c.Cluster = clusterOf(t, &c.Meta)
	return c
}
