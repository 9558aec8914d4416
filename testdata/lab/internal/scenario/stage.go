package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"vksmedic/testdata/lab/internal/kube"
)

const interval = 250 * time.Millisecond

// Clusters reaches the API servers.
type Clusters struct {
	Supervisor client.Client
	// Workload returns a client of the Cluster, and an error while it has no API
	// server.
	Workload func(cluster types.NamespacedName) (client.Client, error)
	// Log takes a line for people who watch.
	Log func(format string, args ...any)
}

// Stage creates the plan's cluster and brings its failure about. It returns when
// the failure is there to be seen.
func Stage(ctx context.Context, c Clusters, p Plan) error {
	if err := p.create(ctx, c.Supervisor); err != nil {
		return err
	}
	if err := c.waitHealthy(ctx, p); err != nil {
		return err
	}
	c.Log("%s/%s: %d control plane and %d worker Machines are running", p.Namespace, p.Name, p.ControlPlanes, p.Workers)
	if p.UpgradeTo != "" {
		if _, err := c.StuckUpgrade(ctx, p, p.UpgradeTo); err != nil {
			return err
		}
	}
	if p.Budget {
		return c.blockByBudget(ctx, p)
	}
	return nil
}

// waitHealthy waits until all Machines run and the control plane reports that it is
// healthy.
func (c Clusters) waitHealthy(ctx context.Context, p Plan) error {
	err := kube.Poll(ctx, interval, p.Key().String()+" to be healthy", func(ctx context.Context) (bool, error) {
		controlPlane := &controlplanev1.KubeadmControlPlane{}
		if err := c.Supervisor.Get(ctx, p.Key(), controlPlane); err != nil {
			return false, fmt.Errorf("get KubeadmControlPlane %s: %w", p.Key(), err)
		}
		machines, err := c.machines(ctx, p.Key())
		if err != nil {
			return false, err
		}
		running := slices.IndexFunc(machines, func(m clusterv1.Machine) bool { return !machineRunning(m) }) < 0
		return running && len(machines) == int(p.ControlPlanes+p.Workers) &&
			ptr.Deref(controlPlane.Status.ReadyReplicas, 0) == p.ControlPlanes && available(controlPlane), nil
	})
	return err
}

func available(controlPlane *controlplanev1.KubeadmControlPlane) bool {
	return slices.ContainsFunc(controlPlane.Status.Conditions, conditionTrue("Available"))
}

func machineRunning(m clusterv1.Machine) bool {
	return m.DeletionTimestamp == nil && m.Status.Phase == string(clusterv1.MachinePhaseRunning)
}

// machines lists the Cluster's Machines, oldest first.
func (c Clusters) machines(ctx context.Context, cluster types.NamespacedName) ([]clusterv1.Machine, error) {
	var list clusterv1.MachineList
	if err := c.Supervisor.List(ctx, &list, client.InNamespace(cluster.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: cluster.Name}); err != nil {
		return nil, fmt.Errorf("list the Machines of %s: %w", cluster, err)
	}
	slices.SortFunc(list.Items, func(a, b clusterv1.Machine) int {
		if byAge := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); byAge != 0 {
			return byAge
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list.Items, nil
}

func isControlPlane(m clusterv1.Machine) bool {
	_, is := m.Labels[clusterv1.MachineControlPlaneLabel]
	return is
}

// StuckUpgrade pins the agents to the oldest control plane node, which is replaced
// first, and upgrades. It returns the name of that node's Machine when its drain hangs
// on them.
func (c Clusters) StuckUpgrade(ctx context.Context, p Plan, version string) (string, error) {
	workload, err := c.Workload(p.Key())
	if err != nil {
		return "", err
	}
	machines, err := c.machines(ctx, p.Key())
	if err != nil {
		return "", err
	}
	first := slices.IndexFunc(machines, isControlPlane)
	if first < 0 {
		return "", fmt.Errorf("cluster %s has no control plane Machine", p.Key())
	}
	oldest := machines[first]
	for _, namespace := range p.AgentNamespaces {
		if err := pinAgent(ctx, workload, namespace, AgentDeployment(namespace), oldest.Status.NodeRef.Name, nil); err != nil {
			return "", err
		}
	}
	if err := c.upgrade(ctx, p, version); err != nil {
		return "", err
	}
	c.Log("%s: upgrading the control plane to %s", p.Key(), version)
	if err := c.waitDraining(ctx, client.ObjectKeyFromObject(&oldest), AgentDeployment(p.AgentNamespaces[0])); err != nil {
		return "", err
	}
	c.Log("%s: the drain of control plane Machine %s hangs on the agent", p.Key(), oldest.Name)
	return oldest.Name, nil
}

// upgrade asks for another version, with its own VM template, as an engineer does.
func (c Clusters) upgrade(ctx context.Context, p Plan, version string) error {
	if err := c.Supervisor.Create(ctx, p.template(p.controlPlaneTemplate(version), version)); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("create the VSphereMachineTemplate of %s: %w", version, err)
	}
	controlPlane := &controlplanev1.KubeadmControlPlane{}
	if err := c.Supervisor.Get(ctx, p.Key(), controlPlane); err != nil {
		return fmt.Errorf("get KubeadmControlPlane %s: %w", p.Key(), err)
	}
	before := client.MergeFrom(controlPlane.DeepCopy())
	controlPlane.Spec.Version = version
	controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef.Name = p.controlPlaneTemplate(version)
	if err := c.Supervisor.Patch(ctx, controlPlane, before); err != nil {
		return fmt.Errorf("upgrade KubeadmControlPlane %s to %s: %w", p.Key(), version, err)
	}
	return nil
}

// blockByBudget deletes the worker on which the database runs.
func (c Clusters) blockByBudget(ctx context.Context, p Plan) error {
	workload, err := c.Workload(p.Key())
	if err != nil {
		return err
	}
	if err := createDatabase(ctx, workload); err != nil {
		return err
	}
	node := ""
	if err := kube.Poll(ctx, interval, "the database of "+p.Key().String(), func(ctx context.Context) (bool, error) {
		node, err = databaseNode(ctx, workload)
		return node != "", err
	}); err != nil {
		return err
	}
	machine := &clusterv1.Machine{}
	key := types.NamespacedName{Namespace: p.Namespace, Name: node} // Machine and Node have one name.
	if err := c.Supervisor.Get(ctx, key, machine); err != nil {
		return fmt.Errorf("get Machine %s: %w", key, err)
	}
	if err := c.Supervisor.Delete(ctx, machine); err != nil {
		return fmt.Errorf("delete Machine %s: %w", key, err)
	}
	if err := c.waitDraining(ctx, key, "disruption budget"); err != nil {
		return err
	}
	c.Log("%s: the drain of worker Machine %s hangs on a PodDisruptionBudget", p.Key(), node)
	return nil
}

// waitDraining waits until the Machine's drain hangs on something that Cluster
// API's message names so.
func (c Clusters) waitDraining(ctx context.Context, key types.NamespacedName, blocker string) error {
	err := kube.Poll(ctx, interval, fmt.Sprintf("the drain of Machine %s to hang on %s", key, blocker), func(ctx context.Context) (bool, error) {
		machine := &clusterv1.Machine{}
		err := c.Supervisor.Get(ctx, key, machine)
		if apierrors.IsNotFound(err) {
			return false, fmt.Errorf("the Machine %s was drained and is gone; does a MachineDrainRule in its namespace skip the pod?", key)
		}
		if err != nil {
			return false, fmt.Errorf("get Machine %s: %w", key, err)
		}
		for _, condition := range machine.Status.Conditions {
			if condition.Type == clusterv1.MachineDeletingCondition && condition.Reason == clusterv1.MachineDeletingDrainingNodeReason {
				return strings.Contains(condition.Message, blocker), nil
			}
		}
		return false, nil
	})
	return err
}
