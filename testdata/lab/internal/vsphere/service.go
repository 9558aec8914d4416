package vsphere

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// servicesOf maps a VirtualMachine to the services that select it.
func (p *Provider) servicesOf(ctx context.Context, vm client.Object) []reconcile.Request {
	services := NewList("VirtualMachineService")
	if err := p.client.List(ctx, services, client.InNamespace(vm.GetNamespace())); err != nil {
		return nil // The cache answers; it fails only while it stops.
	}
	var requests []reconcile.Request
	for i := range services.Items {
		if selector(&services.Items[i]).Matches(labels.Set(vm.GetLabels())) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&services.Items[i])})
		}
	}
	return requests
}

func selector(service *unstructured.Unstructured) labels.Selector {
	set, _, err := unstructured.NestedStringMap(service.Object, "spec", "selector")
	if err != nil || len(set) == 0 {
		return labels.Nothing()
	}
	return labels.SelectorFromSet(set)
}

// reconcileService plays VM Operator's VirtualMachineService controller: a Service
// without a selector, and Endpoints of the same name that it writes itself. The
// EndpointSlices are the real mirroring controller's.
func (p *Provider) reconcileService(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := New("VirtualMachineService", request.Namespace, request.Name)
	if err := p.client.Get(ctx, request.NamespacedName, object); err != nil || object.GetDeletionTimestamp() != nil {
		return reconcile.Result{}, ignore(err)
	}
	host, err := p.endpointOf(ctx, object)
	if err != nil || host == "" {
		return reconcile.Result{}, ignore(err)
	}
	owner := metav1.OwnerReference{
		APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Name: object.GetName(), UID: object.GetUID(),
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}
	if err := p.writeService(ctx, request, owner, host); err != nil {
		return reconcile.Result{}, ignore(err)
	}
	if err := p.writeEndpoints(ctx, object, owner); err != nil {
		return reconcile.Result{}, ignore(err)
	}
	if object.Object["status"] != nil {
		return reconcile.Result{}, nil
	}
	ingress := []any{map[string]any{"ip": host}}
	object.Object["status"] = map[string]any{"loadBalancer": map[string]any{"ingress": ingress}}
	return reconcile.Result{}, ignore(p.client.Status().Update(ctx, object))
}

// endpointOf is the address that the load balancer has for the cluster, which its
// VSphereCluster says.
func (p *Provider) endpointOf(ctx context.Context, service *unstructured.Unstructured) (string, error) {
	cluster := New("VSphereCluster", service.GetNamespace(), ownerName(service, "VSphereCluster"))
	if err := p.client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster); err != nil {
		return "", err //nolint:wrapcheck // The caller looks at the kind of error.
	}
	host, _, err := unstructured.NestedString(cluster.Object, "spec", "controlPlaneEndpoint", "host")
	if err != nil {
		return "", fmt.Errorf("read the endpoint of %s: %w", cluster.GetName(), err)
	}
	return host, nil
}

func (p *Provider) writeService(ctx context.Context, request reconcile.Request, owner metav1.OwnerReference, host string) error {
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: request.Namespace, Name: request.Name}}
	if _, err := controllerutil.CreateOrPatch(ctx, p.client, service, func() error {
		service.OwnerReferences = []metav1.OwnerReference{owner}
		service.Spec.Type = corev1.ServiceTypeLoadBalancer
		service.Spec.AllocateLoadBalancerNodePorts = ptr.To(false)
		service.Spec.Ports = []corev1.ServicePort{{Name: "apiserver", Protocol: corev1.ProtocolTCP, Port: 6443, TargetPort: intstr.FromInt32(6443)}}
		return nil
	}); err != nil {
		return err //nolint:wrapcheck // The caller looks at the kind of error.
	}
	if len(service.Status.LoadBalancer.Ingress) > 0 {
		return nil
	}
	service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: host, IPMode: ptr.To(corev1.LoadBalancerIPModeVIP)}}
	return p.client.Status().Update(ctx, service) //nolint:wrapcheck // The caller looks at the kind of error.
}

// writeEndpoints follows VM Operator: a VM that is being deleted or has no address
// is left out; one with a probe is ready by its Ready condition, and stays as it
// was while there is none; one without a probe is ready.
//
//nolint:staticcheck // VM Operator writes Endpoints, not slices.
func (p *Provider) writeEndpoints(ctx context.Context, service *unstructured.Unstructured, owner metav1.OwnerReference) error {
	vms := NewList("VirtualMachine")
	if err := p.client.List(ctx, vms, client.InNamespace(service.GetNamespace()), client.MatchingLabelsSelector{Selector: selector(service)}); err != nil {
		return fmt.Errorf("list VirtualMachines: %w", err)
	}
	endpoints := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: service.GetNamespace(), Name: service.GetName()}}
	_, err := controllerutil.CreateOrPatch(ctx, p.client, endpoints, func() error {
		was := readyBefore(endpoints)
		subset := corev1.EndpointSubset{Ports: []corev1.EndpointPort{{Name: "apiserver", Port: 6443, Protocol: corev1.ProtocolTCP}}}
		for i := range vms.Items {
			vm := &vms.Items[i]
			ip, _, err := unstructured.NestedString(vm.Object, "status", "network", "primaryIP4")
			if err != nil || ip == "" || vm.GetDeletionTimestamp() != nil {
				continue
			}
			address := corev1.EndpointAddress{IP: ip, TargetRef: &corev1.ObjectReference{
				APIVersion: vm.GetAPIVersion(), Kind: vm.GetKind(), Namespace: vm.GetNamespace(), Name: vm.GetName(), UID: vm.GetUID(),
			}}
			if answers(vm, was) {
				subset.Addresses = append(subset.Addresses, address)
			} else {
				subset.NotReadyAddresses = append(subset.NotReadyAddresses, address)
			}
		}
		byIP := func(a, b corev1.EndpointAddress) int { return strings.Compare(a.IP, b.IP) }
		slices.SortFunc(subset.Addresses, byIP)
		slices.SortFunc(subset.NotReadyAddresses, byIP)
		endpoints.OwnerReferences = []metav1.OwnerReference{owner}
		endpoints.Subsets = nil
		if len(subset.Addresses)+len(subset.NotReadyAddresses) > 0 {
			endpoints.Subsets = []corev1.EndpointSubset{subset}
		}
		return nil
	})
	return err //nolint:wrapcheck // The caller looks at the kind of error.
}

//nolint:staticcheck // VM Operator writes Endpoints, not slices.
func readyBefore(endpoints *corev1.Endpoints) map[string]bool {
	was := map[string]bool{}
	for _, subset := range endpoints.Subsets {
		for _, address := range subset.Addresses {
			if address.TargetRef != nil {
				was[string(address.TargetRef.UID)] = true
			}
		}
	}
	return was
}

func answers(vm *unstructured.Unstructured, was map[string]bool) bool {
	if _, probed, err := unstructured.NestedMap(vm.Object, "spec", "readinessProbe"); err != nil || !probed {
		return true
	}
	if ready := conditionStatus(vm, "Ready"); ready != "" {
		return ready == "True"
	}
	return was[string(vm.GetUID())]
}
