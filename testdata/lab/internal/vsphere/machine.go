package vsphere

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"vksmedic/testdata/lab/internal/guest"
)

const (
	machineFinalizer = "vspheremachine.infrastructure.cluster.x-k8s.io"
	zone             = "zone-a"
	// again is when a VM that is still booting is looked at again; nothing on the
	// Supervisor changes when it is up.
	again = 300 * time.Millisecond
)

// reconcileMachine plays CAPV's VSphereMachine controller and, behind it, VM
// Operator's VirtualMachine controller.
func (p *Provider) reconcileMachine(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := New("VSphereMachine", request.Namespace, request.Name)
	if err := p.client.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, ignore(err)
	}
	name := ownerName(object, "Machine")
	if object.GetDeletionTimestamp() != nil {
		return reconcile.Result{}, p.destroy(ctx, object, name)
	}
	machine := &clusterv1.Machine{}
	if err := p.client.Get(ctx, types.NamespacedName{Namespace: request.Namespace, Name: name}, machine); err != nil {
		return reconcile.Result{}, ignore(err)
	}
	cluster := p.Cluster(request.Namespace, machine.Spec.ClusterName)
	if machine.Spec.Bootstrap.DataSecretName == nil || cluster == nil {
		return reconcile.Result{}, nil // The Machine brings it back.
	}
	if controllerutil.AddFinalizer(object, machineFinalizer) {
		return reconcile.Result{}, ignore(p.client.Update(ctx, object))
	}
	vm, err := p.virtualMachine(ctx, object, machine, cluster)
	if err != nil {
		return reconcile.Result{}, ignore(err)
	}
	if provisioned, err := p.provision(ctx, object, vm); err != nil || !provisioned {
		return reconcile.Result{}, ignore(err)
	}
	_, controlPlane := machine.Labels[clusterv1.MachineControlPlaneLabel]
	if err := cluster.Boot(guest.VM{
		Name: name, ProviderID: providerID(object), Version: machine.Spec.Version,
		Address: p.address(client.ObjectKeyFromObject(vm), cluster.Index), ControlPlane: controlPlane,
	}); err != nil {
		return reconcile.Result{}, fmt.Errorf("boot %s: %w", name, err)
	}
	if !cluster.Running(name) {
		return reconcile.Result{RequeueAfter: again}, nil
	}
	return reconcile.Result{}, ignore(p.reportGuest(ctx, vm, controlPlane))
}

// destroy powers the VM off and removes it.
func (p *Provider) destroy(ctx context.Context, object *unstructured.Unstructured, name string) error {
	if !controllerutil.ContainsFinalizer(object, machineFinalizer) {
		return nil
	}
	if cluster := p.Cluster(object.GetNamespace(), object.GetLabels()[clusterv1.ClusterNameLabel]); cluster != nil {
		cluster.PowerOff(ctx, name)
	}
	vm := New("VirtualMachine", object.GetNamespace(), name)
	if err := p.client.Delete(ctx, vm); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete VirtualMachine %s/%s: %w", object.GetNamespace(), name, err)
	}
	p.forgetAddress(client.ObjectKeyFromObject(vm))
	controllerutil.RemoveFinalizer(object, machineFinalizer)
	return ignore(p.client.Update(ctx, object))
}

// provision reports to Cluster API that there is a VM. It returns false when it
// wrote the spec, which brings the object back.
func (p *Provider) provision(ctx context.Context, object, vm *unstructured.Unstructured) (bool, error) {
	if id, _, err := unstructured.NestedString(object.Object, "spec", "providerID"); err != nil || id == "" {
		if err := set(object, providerID(object), "spec", "providerID"); err != nil {
			return false, err
		}
		return false, p.client.Update(ctx, object) //nolint:wrapcheck // The caller looks at the kind of error.
	}
	if done, _, err := unstructured.NestedBool(object.Object, "status", "initialization", "provisioned"); err == nil && done {
		return true, nil
	}
	address, _, err := unstructured.NestedString(vm.Object, "status", "network", "primaryIP4")
	if err != nil {
		return false, fmt.Errorf("read the address of %s: %w", vm.GetName(), err)
	}
	object.Object["status"] = map[string]any{
		"addresses":      []any{map[string]any{"type": "InternalIP", "address": address}},
		"biosUUID":       string(object.GetUID()),
		"failureDomain":  zone,
		"initialization": map[string]any{"provisioned": true},
		"phase":          "Ready",
	}
	now := time.Now()
	if err := setConditions(object, now, []condition{
		holds("Ready", "Ready"), holds("VirtualMachineProvisioned", "Provisioned"), {kind: "Paused", status: "False", reason: "NotPaused"},
	}, "status", "conditions"); err != nil {
		return false, err
	}
	if err := setConditions(object, now, []condition{holds("Ready", ""), holds("VMProvisioned", "")}, "status", "deprecated", "v1beta1", "conditions"); err != nil {
		return false, err
	}
	return true, p.client.Status().Update(ctx, object) //nolint:wrapcheck // The caller looks at the kind of error.
}

// providerID joins the VM and its Node. The uid of the VSphereMachine is used for the
// BIOS UUID.
func providerID(object *unstructured.Unstructured) string {
	return "vsphere://" + string(object.GetUID())
}

// virtualMachine returns the Machine's VirtualMachine, and makes it, powered on, if
// it is new.
func (p *Provider) virtualMachine(ctx context.Context, object *unstructured.Unstructured, machine *clusterv1.Machine, cluster *guest.Cluster) (*unstructured.Unstructured, error) {
	vm := New("VirtualMachine", machine.Namespace, machine.Name)
	err := p.client.Get(ctx, client.ObjectKeyFromObject(vm), vm)
	if err == nil && vm.Object["status"] != nil {
		return vm, nil
	}
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get VirtualMachine %s/%s: %w", machine.Namespace, machine.Name, err)
	}
	if err != nil {
		describeVM(vm, object, machine)
		if err := p.client.Create(ctx, vm); err != nil {
			return nil, err //nolint:wrapcheck // The caller looks at the kind of error.
		}
	}
	if err := setVMStatus(vm, p.address(client.ObjectKeyFromObject(vm), cluster.Index), time.Now()); err != nil {
		return nil, err
	}
	if err := p.client.Status().Update(ctx, vm); err != nil {
		return nil, err //nolint:wrapcheck // The caller looks at the kind of error.
	}
	return vm, nil
}

// describeVM writes what CAPV asks VM Operator for.
func describeVM(vm, owner *unstructured.Unstructured, machine *clusterv1.Machine) {
	role := roleWorker
	spec := map[string]any{}
	if _, controlPlane := machine.Labels[clusterv1.MachineControlPlaneLabel]; controlPlane {
		role = roleControlPlane
	}
	labels := clusterLabels(machine.Spec.ClusterName, role)
	labels[clusterv1.ClusterNameLabel] = machine.Spec.ClusterName
	labels["topology.kubernetes.io/zone"] = zone
	if deployment := machine.Labels[clusterv1.MachineDeploymentNameLabel]; deployment != "" {
		labels[clusterv1.MachineDeploymentNameLabel] = deployment
	}
	vm.SetLabels(labels)
	vm.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(),
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}})
	if from, ok := owner.Object["spec"].(map[string]any); ok {
		for _, field := range []string{"className", "imageName", "storageClass"} {
			if from[field] != nil {
				spec[field] = from[field]
			}
		}
		spec["image"] = map[string]any{"kind": "ClusterVirtualMachineImage", "name": from["imageName"]}
	}
	spec["biosUUID"] = string(owner.GetUID())
	spec["powerState"] = "PoweredOn"
	spec["powerOffMode"], spec["suspendMode"], spec["restartMode"] = "TrySoft", "TrySoft", "TrySoft"
	spec["bootstrap"] = map[string]any{"cloudInit": map[string]any{
		"rawCloudConfig": map[string]any{"name": ptr.Deref(machine.Spec.Bootstrap.DataSecretName, ""), "key": "value"},
	}}
	vm.Object["spec"] = spec
}

// setVMStatus writes what VM Operator reports of a VM that vCenter has powered on.
func setVMStatus(vm *unstructured.Unstructured, address string, now time.Time) error {
	class, _, err := unstructured.NestedString(vm.Object, "spec", "className")
	if err != nil {
		return fmt.Errorf("read the class of %s: %w", vm.GetName(), err)
	}
	vm.Object["status"] = map[string]any{
		"biosUUID":   string(vm.GetUID()),
		"class":      map[string]any{"apiVersion": vm.GetAPIVersion(), "kind": "VirtualMachineClass", "name": class},
		"network":    map[string]any{"primaryIP4": address, "config": map[string]any{"dns": map[string]any{"hostName": vm.GetName()}}},
		"nodeName":   host(address),
		"powerState": "PoweredOn",
		"uniqueID":   "vm-" + string(vm.GetUID())[:8],
		"zone":       zone,
	}
	if bios, _, err := unstructured.NestedString(vm.Object, "spec", "biosUUID"); err == nil && bios != "" {
		if err := set(vm, bios, "status", "biosUUID"); err != nil {
			return err
		}
	}
	return setConditions(vm, now, provisionedConditions(), "status", "conditions")
}

func provisionedConditions() []condition {
	return []condition{
		holds("VirtualMachineClassReady", "True"),
		holds("VirtualMachineImageReady", "True"),
		holds("VirtualMachineStorageReady", "True"),
		holds("VirtualMachineBootstrapReady", "True"),
		holds("VirtualMachineConditionVMSetResourcePolicyReady", "True"),
		holds("VirtualMachineConditionPlacementReady", "True"),
		holds("VirtualMachineCreated", "True"),
		holds("VirtualMachineReconcileReady", "True"),
		{kind: "VirtualMachineTools", status: "True", reason: "VirtualMachineToolsRunning"},
	}
}

// host spreads VMs over three hosts by the last part of their address.
func host(address string) string {
	last := address[len(address)-1]
	return fmt.Sprintf("esx-0%d.lab", int(last-'0')%3+1)
}

// reportGuest gives a control plane VM that is up the readiness probe that CAPV
// sets once the control plane is initialised, and VM Operator's verdict on it.
func (p *Provider) reportGuest(ctx context.Context, vm *unstructured.Unstructured, controlPlane bool) error {
	if !controlPlane {
		return nil
	}
	if _, found, err := unstructured.NestedMap(vm.Object, "spec", "readinessProbe"); err != nil || !found {
		if err := set(vm, map[string]any{"tcpSocket": map[string]any{"port": int64(6443)}}, "spec", "readinessProbe"); err != nil {
			return err
		}
		if err := p.client.Update(ctx, vm); err != nil {
			return err //nolint:wrapcheck // The caller looks at the kind of error.
		}
	}
	if conditionStatus(vm, "Ready") == "True" {
		return nil
	}
	if err := setConditions(vm, time.Now(), append([]condition{holds("Ready", "True")}, provisionedConditions()...), "status", "conditions"); err != nil {
		return err
	}
	return p.client.Status().Update(ctx, vm) //nolint:wrapcheck // The caller looks at the kind of error.
}

// conditionStatus is the condition's status, or empty.
func conditionStatus(object *unstructured.Unstructured, kind string) string {
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	if err != nil {
		return ""
	}
	for _, each := range conditions {
		if c, ok := each.(map[string]any); ok && c["type"] == kind {
			status, _ := c["status"].(string)
			return status
		}
	}
	return ""
}
