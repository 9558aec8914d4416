package scenario

import (
	"context"
	"fmt"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vksmedic/testdata/lab/internal/kube"
	"vksmedic/testdata/lab/internal/manifest"
)

// Names of the sample's objects.
const (
	sampleNamespace = "team-b"
	sampleCluster   = "old"
	sampleMachine   = "old-x7k2p"
	sampleAgent     = "pinniped-concierge/pinniped-concierge-kube-cert-agent-6d5f8c9b7-4xk2w"
)

// CheckServed says whether served is one of v1beta1, v1beta2 and both.
func CheckServed(served string) error {
	switch served {
	case "v1beta1", "v1beta2", "both":
		return nil
	default:
		return fmt.Errorf("%q is none of v1beta1, v1beta2 and both", served)
	}
}

// Sample fills a Supervisor that has no controllers: a Cluster, its
// KubeadmControlPlane, and a Machine that hangs in its drain. Here alone a status
// is written by hand, with the words that the real controller was seen to write.
// Then all but the given versions of Cluster API are no longer served.
func Sample(ctx context.Context, c client.Client, served string) error {
	plan := Plan{Namespace: sampleNamespace, Name: sampleCluster, Version: oldVersion, ControlPlanes: 3}
	cluster := plan.cluster()
	cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "127.0.0.1", Port: 1} // Nothing listens there.
	objects := []client.Object{cluster, plan.template(plan.controlPlaneTemplate(oldVersion), oldVersion), plan.controlPlane(), sampleDrainingMachine()}
	for _, object := range objects {
		if err := c.Create(ctx, object); err != nil {
			return fmt.Errorf("create %s %s: %w", kindOf(object), object.GetName(), err)
		}
	}
	machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: sampleNamespace, Name: sampleMachine}}
	if err := c.Delete(ctx, machine); err != nil {
		return fmt.Errorf("delete Machine %s: %w", sampleMachine, err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(machine), machine); err != nil {
		return fmt.Errorf("get Machine %s: %w", sampleMachine, err)
	}
	setDraining(machine, time.Now().Add(-10*time.Minute))
	if err := c.Status().Update(ctx, machine); err != nil {
		return fmt.Errorf("write the status of Machine %s: %w", sampleMachine, err)
	}
	return serveOnly(ctx, c, served)
}

func sampleDrainingMachine() *clusterv1.Machine {
	return &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: sampleNamespace, Name: sampleMachine,
			Labels: map[string]string{
				clusterv1.ClusterNameLabel: sampleCluster, clusterv1.MachineControlPlaneLabel: "", clusterv1.MachineControlPlaneNameLabel: sampleCluster,
			},
			Finalizers: []string{clusterv1.MachineFinalizer},
		},
		Spec: clusterv1.MachineSpec{
			ClusterName: sampleCluster, Version: oldVersion,
			Bootstrap:         clusterv1.Bootstrap{DataSecretName: ptr.To(sampleMachine)},
			InfrastructureRef: infrastructureRef("VSphereMachine", sampleMachine),
			ProviderID:        "vsphere://4237a1b2-0c3d-4e5f-8a9b-0c1d2e3f4a5b",
		},
	}
}

// setDraining writes both generations of conditions, as the Machine controller
// does.
func setDraining(machine *clusterv1.Machine, since time.Time) {
	started := since.UTC().Format(time.RFC3339)
	message := "Drain not completed yet (started at " + started + "):\n* Pod " + sampleAgent + ": deletionTimestamp set, but still not removed from the Node"
	at := metav1.NewTime(since)
	machine.Status.Phase = string(clusterv1.MachinePhaseDeleting)
	machine.Status.NodeRef = clusterv1.MachineNodeReference{Name: sampleMachine}
	machine.Status.Deletion = &clusterv1.MachineDeletionStatus{NodeDrainStartTime: at}
	machine.Status.Conditions = []metav1.Condition{
		{Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue, Reason: clusterv1.MachineDeletingDrainingNodeReason, Message: message, LastTransitionTime: at},
		{Type: clusterv1.ReadyCondition, Status: metav1.ConditionFalse, Reason: clusterv1.NotReadyReason, Message: "* Deleting: Machine deletion in progress, stage: DrainingNode", LastTransitionTime: at},
	}
	//nolint:staticcheck // What the Machine controller still writes.
	machine.Status.Deprecated = &clusterv1.MachineDeprecatedStatus{V1Beta1: &clusterv1.MachineV1Beta1DeprecatedStatus{Conditions: clusterv1.Conditions{
		{Type: clusterv1.ReadyV1Beta1Condition, Status: "False", Severity: clusterv1.ConditionSeverityInfo, Reason: clusterv1.DrainingV1Beta1Reason, Message: message, LastTransitionTime: at},
		{Type: clusterv1.DrainingSucceededV1Beta1Condition, Status: "False", Severity: clusterv1.ConditionSeverityInfo, Reason: clusterv1.DrainingV1Beta1Reason, Message: message, LastTransitionTime: at},
	}}}
}

// serveOnly stops the API server from serving the other version of Cluster API.
// What is stored stays v1beta2.
func serveOnly(ctx context.Context, c client.Client, served string) error {
	if served == "both" {
		return nil
	}
	var list apiextensionsv1.CustomResourceDefinitionList
	if err := c.List(ctx, &list); err != nil {
		return fmt.Errorf("list CustomResourceDefinitions: %w", err)
	}
	for i := range list.Items {
		crd := &list.Items[i]
		if !strings.HasSuffix(crd.Spec.Group, "cluster.x-k8s.io") || len(crd.Spec.Versions) < 2 {
			continue
		}
		for v := range crd.Spec.Versions {
			crd.Spec.Versions[v].Served = crd.Spec.Versions[v].Name == served
		}
		if err := c.Update(ctx, crd); err != nil {
			return fmt.Errorf("serve %s of %s only: %w", served, crd.Name, err)
		}
	}
	if err := manifest.WaitEstablished(ctx, c); err != nil {
		return err
	}
	other := map[string]string{"v1beta1": "v1beta2", "v1beta2": "v1beta1"}[served]
	err := kube.Poll(ctx, interval, "Cluster API "+other+" to be gone", func(ctx context.Context) (bool, error) {
		gone := metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "cluster.x-k8s.io/" + other, Kind: "MachineList"}}
		return c.List(ctx, &gone) != nil, nil
	})
	return err
}
