package vsphere

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const clusterFinalizer = "vspherecluster.vmware.infrastructure.cluster.x-k8s.io"

// Labels by which VM Operator's service finds the VMs of a cluster. Two
// generations are written, as CAPV does.
const (
	roleControlPlane = "controlplane"
	roleWorker       = "node"
)

func clusterLabels(cluster, role string) map[string]string {
	return map[string]string{
		"capv.vmware.com/cluster.name": cluster, "capv.vmware.com/cluster.role": role,
		"capw.vmware.com/cluster.name": cluster, "capw.vmware.com/cluster.role": role,
	}
}

// reconcileCluster plays CAPV's VSphereCluster controller: the load balancer in
// front of the control plane, and its address.
func (p *Provider) reconcileCluster(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := New("VSphereCluster", request.Namespace, request.Name)
	if err := p.client.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, ignore(err)
	}
	name := ownerName(object, "Cluster")
	key := types.NamespacedName{Namespace: request.Namespace, Name: name}
	if object.GetDeletionTimestamp() != nil {
		p.drop(key)
		controllerutil.RemoveFinalizer(object, clusterFinalizer)
		return reconcile.Result{}, ignore(p.client.Update(ctx, object))
	}
	if name == "" {
		return reconcile.Result{}, nil // Cluster API has not adopted it yet.
	}
	endpoint := map[string]any{"host": p.Net.Endpoint(p.take(key).Index), "port": int64(6443)}
	if host, _, err := unstructured.NestedString(object.Object, "spec", "controlPlaneEndpoint", "host"); err != nil || host == "" {
		controllerutil.AddFinalizer(object, clusterFinalizer)
		if err := set(object, endpoint, "spec", "controlPlaneEndpoint"); err != nil {
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, ignore(p.client.Update(ctx, object)) // Leads to another reconcile.
	}
	if err := p.createService(ctx, object, name); err != nil {
		return reconcile.Result{}, err
	}
	if done, _, err := unstructured.NestedBool(object.Object, "status", "initialization", "provisioned"); err == nil && done {
		return reconcile.Result{}, nil
	}
	if err := setClusterStatus(object, time.Now()); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, ignore(p.client.Status().Update(ctx, object))
}

func setClusterStatus(object *unstructured.Unstructured, now time.Time) error {
	if err := set(object, true, "status", "initialization", "provisioned"); err != nil {
		return err
	}
	zones := []any{map[string]any{"name": zone, "controlPlane": true}}
	if err := unstructured.SetNestedSlice(object.Object, zones, "status", "failureDomains"); err != nil {
		return fmt.Errorf("write the zones of %s: %w", object.GetName(), err)
	}
	return setConditions(object, now, []condition{
		holds("Ready", "Ready"), holds("LoadBalancerReady", "Ready"), holds("NetworkReady", "Ready"),
		holds("ProviderServiceAccountsReady", "Ready"), holds("ResourcePolicyReady", "Ready"), holds("ServiceDiscoveryReady", "Ready"),
		{kind: "Paused", status: "False", reason: "NotPaused"},
	}, "status", "conditions")
}

// createService makes the VirtualMachineService in front of the control plane,
// named like the cluster as CAPV does since 1.13.
func (p *Provider) createService(ctx context.Context, owner *unstructured.Unstructured, cluster string) error {
	service := New("VirtualMachineService", owner.GetNamespace(), cluster)
	service.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(),
	}})
	service.Object["spec"] = map[string]any{
		"type":     "LoadBalancer",
		"ports":    []any{map[string]any{"name": "apiserver", "protocol": "TCP", "port": int64(6443), "targetPort": int64(6443)}},
		"selector": asAny(clusterLabels(cluster, roleControlPlane)),
	}
	if err := p.client.Create(ctx, service); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("create VirtualMachineService %s/%s: %w", owner.GetNamespace(), cluster, err)
	}
	return nil
}

func asAny(labels map[string]string) map[string]any {
	out := make(map[string]any, len(labels))
	for key, value := range labels {
		out[key] = value
	}
	return out
}
