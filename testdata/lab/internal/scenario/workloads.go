package scenario

import (
	"context"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vksmedic/testdata/lab/internal/guest"
)

// stagedLabel marks Deployments that a staging command made, so that Clean finds
// them.
const stagedLabel = "vksmedic-lab-staged"

// agentPodLabel has the Deployment's name on the agent's pods.
const agentPodLabel = "deployment.pinniped.dev"

// dataNamespace and database are the workload behind a disruption budget.
const (
	dataNamespace = "data"
	database      = "db"
)

// pinAgent creates pinniped's agent in the namespace, or pins the one that is there to
// the node. Its Deployment has what matters here of the one that the concierge writes:
// the pod template names the node, so a new pod gets there past the scheduler and past
// a cordon.
func pinAgent(ctx context.Context, workload client.Client, namespace, name, node string, labels map[string]string) error {
	if err := ensureNamespace(ctx, workload, namespace); err != nil {
		return err
	}
	existing := &appsv1.Deployment{}
	err := workload.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, existing)
	if err == nil {
		existing.Spec.Template.Spec.NodeName = node
		if err := workload.Update(ctx, existing); err != nil {
			return fmt.Errorf("pin Deployment %s/%s to %s: %w", namespace, name, node, err)
		}
		return nil
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get Deployment %s/%s: %w", namespace, name, err)
	}
	podLabels := map[string]string{guest.AgentLabel: "v3", "app": namespace, agentPodLabel: name}
	all := maps.Clone(podLabels)
	maps.Copy(all, labels)
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: all},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1), MinReadySeconds: 10,
			Selector: &metav1.LabelSelector{MatchLabels: podLabels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: podLabels},
				Spec: corev1.PodSpec{
					NodeName: node, HostNetwork: true, AutomountServiceAccountToken: ptr.To(false),
					TerminationGracePeriodSeconds: ptr.To[int64](0),
					// Those of the kube-controller-manager pod beside it.
					Tolerations: []corev1.Toleration{
						{Effect: corev1.TaintEffectNoExecute, Operator: corev1.TolerationOpExists},
						{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule},
					},
					Containers: []corev1.Container{{
						Name: "sleeper", Image: "projects.packages.broadcom.com/vsphere/iaas/pinniped-server:0.35.0",
						Command: []string{"pinniped-concierge-kube-cert-agent", "sleep"},
					}},
				},
			},
		},
	}
	if err := workload.Create(ctx, deployment); err != nil {
		return fmt.Errorf("create Deployment %s/%s: %w", namespace, name, err)
	}
	return nil
}

// createDatabase makes a Deployment of one pod whose budget allows no eviction.
func createDatabase(ctx context.Context, workload client.Client) error {
	if err := ensureNamespace(ctx, workload, dataNamespace); err != nil {
		return err
	}
	labels := map[string]string{"app": database}
	one := intstr.FromInt32(1)
	for _, object := range []client.Object{
		&policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: dataNamespace, Name: database},
			Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: labels}},
		},
		&appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: dataNamespace, Name: database, Labels: labels},
			Spec: appsv1.DeploymentSpec{
				Replicas: ptr.To[int32](1), Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: labels},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "postgres", Image: "registry.lab/postgres:17"}}},
				},
			},
		},
	} {
		if err := workload.Create(ctx, object); err != nil {
			return fmt.Errorf("create %T %s/%s: %w", object, dataNamespace, database, err)
		}
	}
	return nil
}

// databaseNode is the node on which the database runs, under a budget that the
// disruption controller has counted; empty until then.
func databaseNode(ctx context.Context, workload client.Client) (string, error) {
	budget := &policyv1.PodDisruptionBudget{}
	if err := workload.Get(ctx, client.ObjectKey{Namespace: dataNamespace, Name: database}, budget); err != nil {
		return "", fmt.Errorf("get the budget of the database: %w", err)
	}
	if budget.Status.CurrentHealthy != 1 || budget.Status.DisruptionsAllowed != 0 {
		return "", nil
	}
	var pods corev1.PodList
	if err := workload.List(ctx, &pods, client.InNamespace(dataNamespace)); err != nil {
		return "", fmt.Errorf("list the pods of the database: %w", err)
	}
	for i := range pods.Items {
		if pods.Items[i].Status.Phase == corev1.PodRunning {
			return pods.Items[i].Spec.NodeName, nil
		}
	}
	return "", nil
}

func ensureNamespace(ctx context.Context, c client.Client, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := c.Create(ctx, namespace); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("create Namespace %s: %w", name, err)
	}
	return nil
}
