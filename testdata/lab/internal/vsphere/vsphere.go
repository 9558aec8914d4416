// Package vsphere stands in for CAPV, VM Operator and vCenter: it turns VSphereClusters
// and VSphereMachines into VirtualMachines, a VirtualMachineService with its Service
// and Endpoints, and running guests, in the order and with the fields that the real
// ones were seen to write. It brings no failure about: a VM that is asked for comes up,
// and one that is deleted goes.
//
// Addresses of VMs (10.10.x.y) and names of hosts are data only. The control plane
// endpoint is a real loopback address.
//
// Start reading at Add.
package vsphere

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"vksmedic/testdata/lab/internal/component"
	"vksmedic/testdata/lab/internal/guest"
	"vksmedic/testdata/lab/internal/loopback"
	"vksmedic/testdata/lab/internal/proc"
)

// Group is CAPV's API group in supervisor mode.
const Group = "vmware.infrastructure.cluster.x-k8s.io"

// The versions that the shipped definitions store.
var (
	infrastructure = schema.GroupVersion{Group: Group, Version: "v1beta2"}                    //nolint:gochecknoglobals // A constant.
	vmOperator     = schema.GroupVersion{Group: "vmoperator.vmware.com", Version: "v1alpha5"} //nolint:gochecknoglobals // A constant.
)

// New returns an empty object of one of the kinds of this package.
func New(kind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(gvk(kind))
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// NewList returns an empty list of one of the kinds of this package.
func NewList(kind string) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk(kind + "List"))
	return list
}

func gvk(kind string) schema.GroupVersionKind {
	if len(kind) > len("VSphere") && kind[:len("VSphere")] == "VSphere" {
		return infrastructure.WithKind(kind)
	}
	return vmOperator.WithKind(kind)
}

// Provider has the workload clusters of a lab.
type Provider struct {
	// Net, Dir, Programs, Launcher and Log are handed to the guests.
	Net      *loopback.Net
	Dir      string
	Programs component.Programs
	Launcher *proc.Launcher
	Log      func(format string, args ...any)

	ctx    context.Context // The lab's life: guests outlast a reconcile.
	client client.Client

	mu        sync.Mutex
	clusters  map[types.NamespacedName]*guest.Cluster
	addresses map[types.NamespacedName]string // By VM.
	used      map[int]bool                    // Indexes of clusters.
}

// Add adds the controllers to the Supervisor's manager. Guests end with ctx.
func (p *Provider) Add(ctx context.Context, mgr ctrl.Manager) error {
	p.ctx, p.client = ctx, mgr.GetClient()
	p.clusters, p.addresses, p.used = map[types.NamespacedName]*guest.Cluster{}, map[types.NamespacedName]string{}, map[int]bool{}

	toInfrastructure := func(kind string) handler.EventHandler {
		return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
			var ref clusterv1.ContractVersionedObjectReference
			switch o := object.(type) {
			case *clusterv1.Cluster:
				ref = o.Spec.InfrastructureRef
			case *clusterv1.Machine:
				ref = o.Spec.InfrastructureRef
			}
			if ref.Kind != kind {
				return nil
			}
			return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: ref.Name}}}
		})
	}
	for what, err := range map[string]error{
		"VSphereClusters": ctrl.NewControllerManagedBy(mgr).Named("vspherecluster").For(New("VSphereCluster", "", "")).
			Watches(&clusterv1.Cluster{}, toInfrastructure("VSphereCluster")).Complete(reconcile.Func(p.reconcileCluster)),
		"VSphereMachines": ctrl.NewControllerManagedBy(mgr).Named("vspheremachine").For(New("VSphereMachine", "", "")).
			Watches(&clusterv1.Machine{}, toInfrastructure("VSphereMachine")).Complete(reconcile.Func(p.reconcileMachine)),
		"VirtualMachineServices": ctrl.NewControllerManagedBy(mgr).Named("virtualmachineservice").For(New("VirtualMachineService", "", "")).
			Owns(&corev1.Service{}).Owns(&corev1.Endpoints{}). //nolint:staticcheck // VM Operator writes Endpoints, not slices.
			Watches(New("VirtualMachine", "", ""), handler.EnqueueRequestsFromMapFunc(p.servicesOf)).Complete(reconcile.Func(p.reconcileService)),
	} {
		if err != nil {
			return fmt.Errorf("play the infrastructure's %s: %w", what, err)
		}
	}
	return nil
}

// Cluster returns a workload cluster, or nil if it has no infrastructure yet.
func (p *Provider) Cluster(namespace, name string) *guest.Cluster {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.clusters[types.NamespacedName{Namespace: namespace, Name: name}]
}

// take returns the workload cluster, and makes it if it is new.
func (p *Provider) take(key types.NamespacedName) *guest.Cluster {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.clusters[key]; c != nil {
		return c
	}
	index := 1
	for p.used[index] {
		index++
	}
	p.used[index] = true
	c := guest.NewCluster(p.ctx, guest.Config{
		Namespace: key.Namespace, Name: key.Name, Index: index, Net: p.Net,
		Dir:      filepath.Join(p.Dir, key.Namespace+"."+key.Name),
		Programs: p.Programs, Launcher: p.Launcher, Supervisor: p.client, Log: p.Log,
	})
	p.clusters[key] = c
	return c
}

// drop ends a workload cluster. Its number can be taken again.
func (p *Provider) drop(key types.NamespacedName) {
	p.mu.Lock()
	c := p.clusters[key]
	delete(p.clusters, key)
	p.mu.Unlock()
	if c == nil {
		return
	}
	c.Stop()
	p.mu.Lock()
	delete(p.used, c.Index)
	p.mu.Unlock()
}

// address gives a VM its address in its cluster's network, 10.10.<cluster>.<n>.
func (p *Provider) address(vm types.NamespacedName, cluster int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if address := p.addresses[vm]; address != "" {
		return address
	}
	taken := map[string]bool{}
	for _, address := range p.addresses {
		taken[address] = true
	}
	for last := 10; ; last++ { // More than 240 VMs of a cluster never fit the machine.
		address := fmt.Sprintf("10.10.%d.%d", cluster, last)
		if !taken[address] {
			p.addresses[vm] = address
			return address
		}
	}
}

func (p *Provider) forgetAddress(vm types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.addresses, vm)
}
