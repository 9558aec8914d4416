package kb

import "testing"

// Own articles write what is in the list, and what nobody here knows; of what makes up clusters
// and VMs they write labels and annotations only.
func TestOwnKinds(t *testing.T) {
	want := map[ownMay][][2]string{
		ownAll: {
			{"", "ConfigMap"}, {"", "Event"}, {"events.k8s.io", "Event"}, {"networking.k8s.io", "NetworkPolicy"},
			{"team.example.com", "Runbook"}, {"kueue.x-k8s.io", "Workload"}, {"notvmware.com", "Note"},
		},
		ownMarks: {
			{"cluster.x-k8s.io", "Cluster"}, {"cluster.x-k8s.io", "ClusterClass"}, {"cluster.x-k8s.io", "Machine"}, {"cluster.x-k8s.io", "MachineDeployment"},
			{"cluster.x-k8s.io", "MachineSet"}, {"cluster.x-k8s.io", "MachinePool"}, {"cluster.x-k8s.io", "MachineHealthCheck"}, {"cluster.x-k8s.io", "MachineDrainRule"},
			{"controlplane.cluster.x-k8s.io", "KubeadmControlPlane"}, {"bootstrap.cluster.x-k8s.io", "KubeadmConfig"}, {"bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate"},
			{"infrastructure.cluster.x-k8s.io", "VSphereMachineTemplate"}, {"vmware.infrastructure.cluster.x-k8s.io", "VSphereMachine"}, {"ipam.cluster.x-k8s.io", "IPAddressClaim"},
			{"vmoperator.vmware.com", "VirtualMachine"}, {"vmoperator.vmware.com", "VirtualMachineService"}, {"run.tanzu.vmware.com", "TanzuKubernetesCluster"},
			{"cns.vmware.com", "CnsNodeVmAttachment"}, {"a.group.that.comes.vmware.com", "Thing"},
		},
		ownNothing: {
			{"", "Secret"}, {"", "SecretList"}, {"", "Pod"}, {"", "Node"}, {"", "Service"}, {"", "Endpoints"}, {"", "ServiceAccount"}, {"", "SomethingNew"}, {"", "List"},
			{"apps", "Deployment"}, {"batch", "Job"}, {"policy", "Eviction"}, {"policy", "PodDisruptionBudget"}, {"autoscaling", "HorizontalPodAutoscaler"},
			{"coordination.k8s.io", "Lease"}, {"discovery.k8s.io", "EndpointSlice"}, {"networking.k8s.io", "Ingress"}, {"gateway.networking.k8s.io", "Gateway"},
			{"snapshot.storage.k8s.io", "VolumeSnapshotContent"}, {"resource.k8s.io", "ResourceClaim"}, {"events.k8s.io", "EventList"}, {"newgroup", "Thing"},
			{"rbac.authorization.k8s.io", "Role"}, {"addons.cluster.x-k8s.io", "ClusterResourceSet"}, {"vmware.infrastructure.cluster.x-k8s.io", "ProviderServiceAccount"},
			{"cert-manager.io", "Issuer"}, {"kustomize.toolkit.fluxcd.io", "Kustomization"}, {"kappctrl.k14s.io", "App"}, {"cluster.x-k8s.io", "MachineList"},
		},
	}
	for may, kinds := range want {
		for _, k := range kinds {
			got := ownRuleFor(k[0], k[1])
			if got.may != may || (got.why == "") != (may == ownAll) {
				t.Errorf("%s of group %q: %+v, want %d", k[1], k[0], got, may)
			}
		}
	}
}
