package scenario

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vksmedic/testdata/lab/internal/kube"
)

// StuckWorker pins an agent to a worker node and deletes its Machine. It returns
// the Machine's name when its drain hangs. In the field only control plane nodes
// have agents; what hangs, and how, is the same, and a worker comes back in
// seconds.
func (c Clusters) StuckWorker(ctx context.Context, cluster types.NamespacedName, agentNamespace string) (string, error) {
	workload, err := c.Workload(cluster)
	if err != nil {
		return "", err
	}
	machines, err := c.machines(ctx, cluster)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(machines, func(m clusterv1.Machine) bool { return !isControlPlane(m) && machineRunning(m) })
	if i < 0 {
		return "", fmt.Errorf("cluster %s has no running worker", cluster)
	}
	worker := machines[i]
	name, err := c.workerAgent(ctx, workload, agentNamespace)
	if err != nil {
		return "", err
	}
	if err := pinAgent(ctx, workload, agentNamespace, name, worker.Status.NodeRef.Name, map[string]string{stagedLabel: "worker"}); err != nil {
		return "", err
	}
	if err := waitAgentOn(ctx, workload, agentNamespace, name, worker.Status.NodeRef.Name); err != nil {
		return "", err
	}
	if err := c.Supervisor.Delete(ctx, &worker); err != nil {
		return "", fmt.Errorf("delete Machine %s: %w", worker.Name, err)
	}
	return worker.Name, c.waitDraining(ctx, client.ObjectKeyFromObject(&worker), name)
}

// workerAgent is the name of the Deployment for a worker: the agent's own, unless
// the control plane has that.
func (c Clusters) workerAgent(ctx context.Context, workload client.Client, namespace string) (string, error) {
	name := AgentDeployment(namespace)
	existing := &appsv1.Deployment{}
	err := workload.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, existing)
	switch {
	case apierrors.IsNotFound(err):
		return name, nil
	case err != nil:
		return "", fmt.Errorf("get Deployment %s/%s: %w", namespace, name, err)
	case existing.Labels[stagedLabel] != "":
		return name, nil
	default:
		return name + "-worker", nil
	}
}

// waitAgentOn waits until the agent runs on the node.
func waitAgentOn(ctx context.Context, workload client.Client, namespace, name, node string) error {
	err := kube.Poll(ctx, interval, fmt.Sprintf("pod of %s/%s on %s", namespace, name, node), func(ctx context.Context) (bool, error) {
		var pods corev1.PodList
		if err := workload.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels{agentPodLabel: name}, client.MatchingFields{"spec.nodeName": node, "status.phase": "Running"}); err != nil {
			return false, fmt.Errorf("list the pods of %s/%s: %w", namespace, name, err)
		}
		return len(pods.Items) > 0, nil
	})
	return err
}

// Clean undoes what StuckWorker and an engineer did: it removes the staged agents
// and all MachineDrainRules of the vSphere Namespace, and waits until all workers
// run again. What Stage did to the control plane stays.
func (c Clusters) Clean(ctx context.Context, cluster types.NamespacedName) error {
	workload, err := c.Workload(cluster)
	if err != nil {
		return err
	}
	if err := c.Supervisor.DeleteAllOf(ctx, &clusterv1.MachineDrainRule{}, client.InNamespace(cluster.Namespace)); err != nil {
		return fmt.Errorf("delete the MachineDrainRules in %s: %w", cluster.Namespace, err)
	}
	var agents appsv1.DeploymentList
	if err := workload.List(ctx, &agents, client.HasLabels{stagedLabel}); err != nil {
		return fmt.Errorf("list the staged agents of %s: %w", cluster, err)
	}
	for i := range agents.Items {
		if err := workload.Delete(ctx, &agents.Items[i], client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete Deployment %s: %w", agents.Items[i].Name, err)
		}
	}
	err = kube.Poll(ctx, interval, "the workers of "+cluster.String(), func(ctx context.Context) (bool, error) {
		var deployments clusterv1.MachineDeploymentList
		if err := c.Supervisor.List(ctx, &deployments, client.InNamespace(cluster.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster.Name}); err != nil {
			return false, fmt.Errorf("list the MachineDeployments of %s: %w", cluster, err)
		}
		want := 0
		for i := range deployments.Items {
			if replicas := deployments.Items[i].Spec.Replicas; replicas != nil {
				want += int(*replicas)
			}
		}
		machines, err := c.machines(ctx, cluster)
		if err != nil {
			return false, err
		}
		workers := slices.DeleteFunc(machines, isControlPlane)
		return len(workers) == want && slices.IndexFunc(workers, func(m clusterv1.Machine) bool { return !machineRunning(m) }) < 0, nil
	})
	return err
}
