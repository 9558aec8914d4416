package object

import (
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"vksmedic/model"
)

// machineRow reads a Machine, v1alpha3 to v1beta2.
func machineRow(t tree) model.Object {
	m := &model.Machine{Meta: meta(t), Conditions: generations(t)}
	m.Cluster = clusterOf(t, &m.Meta)
	m.ControlPlane = isControlPlane(&m.Meta)
	m.Deployment = intern(m.Labels[clusterv1.MachineDeploymentNameLabel])
	m.Set = intern(first(ownerName(&m.Meta, "MachineSet"), m.Labels[clusterv1.MachineSetNameLabel]))

	m.Phase = t.word("status", "phase")
	m.Version = t.word("spec", "version")
	m.NodeName = t.str("status", "nodeRef", "name")
	m.ProviderID = t.str("spec", "providerID")
	m.FailureDomain = intern(first(t.str("spec", "failureDomain"), t.str("status", "failureDomain")))
	m.Addresses = addresses(t.list("status", "addresses"))
	m.Infra = ref(t.sub("spec", "infrastructureRef"), m.Namespace)

	m.Paused = paused(&m.Meta)
	m.ExcludeDrain = annotated(&m.Meta, clusterv1.ExcludeNodeDrainingAnnotation)
	m.SkipRemediate = annotated(&m.Meta, clusterv1.MachineSkipRemediationAnnotation)
	m.WantsRemediate = annotated(&m.Meta, clusterv1.RemediateMachineAnnotation)
	m.PreDrainHooks = annotationsWith(&m.Meta, clusterv1.PreDrainDeleteHookAnnotationPrefix)
	m.PreTerminateHooks = annotationsWith(&m.Meta, clusterv1.PreTerminateDeleteHookAnnotationPrefix)

	// v1beta1 has durations, v1beta2 seconds.
	m.DrainTimeout, m.VolumeDetachTimeout = t.duration("spec", "nodeDrainTimeout"), t.duration("spec", "nodeVolumeDetachTimeout")
	if d := t.seconds("spec", "deletion", "nodeDrainTimeoutSeconds"); d != nil {
		m.DrainTimeout = d
	}
	if d := t.seconds("spec", "deletion", "nodeVolumeDetachTimeoutSeconds"); d != nil {
		m.VolumeDetachTimeout = d
	}

	deletion := t.sub("status", "deletion")
	m.DrainStarted = deletion.when("nodeDrainStartTime")
	m.VolumeDetachStarted = deletion.when("waitForNodeVolumeDetachStartTime")
	m.PreDrainHookStarted = deletion.when("waitForPreDrainHookStartTime")
	m.PreTerminateHookStarted = deletion.when("waitForPreTerminateHookStartTime")

	m.FailureReason = intern(first(t.str("status", "failureReason"), t.str("status", "deprecated", "v1beta1", "failureReason")))
	m.FailureMessage = first(t.message("status", "failureMessage"), t.message("status", "deprecated", "v1beta1", "failureMessage"))
	return m
}

// isControlPlane goes by the label that Cluster API sets, whatever its value, and by the
// owner where a dump lost its labels.
func isControlPlane(m *model.Meta) bool {
	if _, ok := m.Labels[clusterv1.MachineControlPlaneLabel]; ok {
		return true
	}
	for _, o := range m.Owners {
		if o.Controller && strings.HasSuffix(o.Kind, "ControlPlane") {
			return true
		}
	}
	return false
}

// addresses are the internal IP addresses, then the external ones; names are left out.
func addresses(list []tree) []string {
	var out []string
	for _, want := range []string{"InternalIP", "ExternalIP"} {
		for _, a := range list {
			if a.str("type") == want && a.str("address") != "" {
				out = append(out, a.str("address"))
			}
		}
	}
	return out
}
