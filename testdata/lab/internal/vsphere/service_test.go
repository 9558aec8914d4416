package vsphere

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"vksmedic/testdata/lab/internal/kube"
)

// vm is a VirtualMachine of the cluster web.
type vm struct {
	name, ip, ready string
	probe           bool
	worker          bool
	deleting        bool
}

func (v vm) object() *unstructured.Unstructured {
	o := New("VirtualMachine", "team-a", v.name)
	o.SetUID(types.UID("uid-" + v.name))
	role := roleControlPlane
	if v.worker {
		role = roleWorker
	}
	o.SetLabels(clusterLabels("web", role))
	o.Object["spec"] = map[string]any{}
	if v.probe {
		o.Object["spec"] = map[string]any{"readinessProbe": map[string]any{"tcpSocket": map[string]any{"port": int64(6443)}}}
	}
	status := map[string]any{}
	if v.ip != "" {
		status["network"] = map[string]any{"primaryIP4": v.ip}
	}
	if v.ready != "" {
		status["conditions"] = []any{map[string]any{"type": "Ready", "status": v.ready}}
	}
	o.Object["status"] = status
	if v.deleting {
		o.SetFinalizers([]string{"test"})
	}
	return o
}

// reconcileOnce writes the Endpoints of the cluster web with these VMs.
func reconcileOnce(t *testing.T, vms []vm, before ...client.Object) *corev1.Endpoints { //nolint:staticcheck // VM Operator writes Endpoints.
	t.Helper()
	scheme, err := kube.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	cluster := New("VSphereCluster", "team-a", "web")
	cluster.Object["spec"] = map[string]any{"controlPlaneEndpoint": map[string]any{"host": "127.20.1.100", "port": int64(6443)}}
	service := New("VirtualMachineService", "team-a", "web")
	service.SetUID("uid-service")
	service.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: cluster.GetAPIVersion(), Kind: "VSphereCluster", Name: "web", UID: "uid-cluster"}})
	service.Object["spec"] = map[string]any{"type": "LoadBalancer", "selector": asAny(clusterLabels("web", roleControlPlane))}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(cluster, service).WithObjects(before...).
		WithStatusSubresource(New("VirtualMachineService", "", ""), &corev1.Service{})
	for _, each := range vms {
		builder = builder.WithObjects(each.object())
	}
	p := &Provider{client: builder.Build()}
	for _, each := range vms {
		if each.deleting {
			if err := p.client.Delete(t.Context(), each.object()); err != nil {
				t.Fatal(err)
			}
		}
	}
	key := types.NamespacedName{Namespace: "team-a", Name: "web"}
	if _, err := p.reconcileService(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	endpoints := &corev1.Endpoints{} //nolint:staticcheck // VM Operator writes Endpoints.
	if err := p.client.Get(t.Context(), key, endpoints); err != nil {
		t.Fatal(err)
	}
	return endpoints
}

// The rules are those that VM Operator was seen to follow, one by one.
func TestEndpointsFollowVMOperator(t *testing.T) {
	for name, test := range map[string]struct {
		vms             []vm
		ready, notReady []string
	}{
		"ready by its probe":                   {vms: []vm{{name: "a", ip: "10.10.1.10", probe: true, ready: "True"}}, ready: []string{"10.10.1.10"}},
		"not ready by its probe":               {vms: []vm{{name: "a", ip: "10.10.1.10", probe: true, ready: "False"}}, notReady: []string{"10.10.1.10"}},
		"probed, no verdict yet":               {vms: []vm{{name: "a", ip: "10.10.1.10", probe: true}}, notReady: []string{"10.10.1.10"}},
		"no probe is always ready":             {vms: []vm{{name: "a", ip: "10.10.1.10", ready: "False"}}, ready: []string{"10.10.1.10"}},
		"without an address it is nowhere":     {vms: []vm{{name: "a", probe: true, ready: "True"}}},
		"a VM that is being deleted is gone":   {vms: []vm{{name: "a", ip: "10.10.1.10", deleting: true}}},
		"workers are not the control plane":    {vms: []vm{{name: "a", ip: "10.10.1.10", worker: true}}},
		"ready and not ready share one subset": {vms: []vm{{name: "b", ip: "10.10.1.11"}, {name: "a", ip: "10.10.1.10"}, {name: "c", ip: "10.10.1.12", probe: true, ready: "False"}}, ready: []string{"10.10.1.10", "10.10.1.11"}, notReady: []string{"10.10.1.12"}},
	} {
		t.Run(name, func(t *testing.T) {
			endpoints := reconcileOnce(t, test.vms)
			var ready, notReady []string
			for _, subset := range endpoints.Subsets {
				for _, address := range subset.Addresses {
					ready = append(ready, address.IP)
				}
				for _, address := range subset.NotReadyAddresses {
					notReady = append(notReady, address.IP)
				}
			}
			if !equal(ready, test.ready) || !equal(notReady, test.notReady) {
				t.Errorf("ready %v, not ready %v; want %v and %v", ready, notReady, test.ready, test.notReady)
			}
			if len(endpoints.Subsets) > 1 {
				t.Errorf("%d subsets", len(endpoints.Subsets))
			}
		})
	}
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestAVMStaysReadyWhileItsProbeIsSilent(t *testing.T) {
	before := &corev1.Endpoints{ //nolint:staticcheck // VM Operator writes Endpoints.
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web"},
		Subsets: []corev1.EndpointSubset{{ //nolint:staticcheck // VM Operator writes Endpoints.
			Addresses: []corev1.EndpointAddress{{IP: "10.10.1.10", TargetRef: &corev1.ObjectReference{UID: "uid-a"}}},
		}},
	}
	endpoints := reconcileOnce(t, []vm{{name: "a", ip: "10.10.1.10", probe: true}}, before)
	if len(endpoints.Subsets) != 1 || len(endpoints.Subsets[0].Addresses) != 1 {
		t.Errorf("subsets: %+v", endpoints.Subsets)
	}
}

// The fields are those of the Endpoints that VM Operator 9 wrote.
func TestEndpointsHaveVMOperatorsShape(t *testing.T) {
	endpoints := reconcileOnce(t, []vm{{name: "a", ip: "10.10.1.10"}})
	if len(endpoints.OwnerReferences) != 1 || endpoints.OwnerReferences[0].Kind != "VirtualMachineService" || endpoints.OwnerReferences[0].UID != "uid-service" ||
		endpoints.OwnerReferences[0].Controller == nil || !*endpoints.OwnerReferences[0].Controller {
		t.Errorf("owner: %+v", endpoints.OwnerReferences)
	}
	subset := endpoints.Subsets[0]
	if len(subset.Ports) != 1 || subset.Ports[0].Name != "apiserver" || subset.Ports[0].Port != 6443 || subset.Ports[0].Protocol != corev1.ProtocolTCP {
		t.Errorf("ports: %+v", subset.Ports)
	}
	want := corev1.ObjectReference{APIVersion: "vmoperator.vmware.com/v1alpha5", Kind: "VirtualMachine", Namespace: "team-a", Name: "a", UID: "uid-a"}
	if ref := subset.Addresses[0].TargetRef; ref == nil || *ref != want {
		t.Errorf("targetRef: %+v, want %+v", ref, want)
	}
}
