package scenario

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1 "k8s.io/api/core/v1"

	"vksmedic/testdata/lab/internal/vsphere"
)

// nodeName is what the Kubernetes Service has in its kubeadm configuration: the
// name that the VM was given.
const nodeName = "{{ ds.meta_data.hostname }}"

// create makes the objects of the plan's cluster that a person would make; controllers
// make the rest.
func (p Plan) create(ctx context.Context, supervisor client.Client) error {
	workers := p.Name + "-np-1"
	objects := []client.Object{
		vsphere.New("VSphereCluster", p.Namespace, p.Name),
		p.template(p.controlPlaneTemplate(p.Version), p.Version),
		p.template(workers, p.Version),
		p.cluster(),
		p.controlPlane(),
		&bootstrapv1.KubeadmConfigTemplate{
			ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: workers},
			Spec: bootstrapv1.KubeadmConfigTemplateSpec{Template: bootstrapv1.KubeadmConfigTemplateResource{
				Spec: bootstrapv1.KubeadmConfigSpec{JoinConfiguration: bootstrapv1.JoinConfiguration{
					NodeRegistration: bootstrapv1.NodeRegistrationOptions{Name: nodeName},
				}},
			}},
		},
		p.workers(workers),
		p.healthCheck(p.Name+"-control-plane", metav1.LabelSelector{MatchLabels: map[string]string{
			clusterv1.ClusterNameLabel: p.Name, clusterv1.MachineControlPlaneLabel: "",
		}}),
		p.healthCheck(workers, metav1.LabelSelector{MatchLabels: map[string]string{
			clusterv1.ClusterNameLabel: p.Name, clusterv1.MachineDeploymentNameLabel: workers,
		}}),
	}
	for _, object := range objects {
		if err := supervisor.Create(ctx, object); err != nil {
			return fmt.Errorf("create %s %s/%s: %w", kindOf(object), p.Namespace, object.GetName(), err)
		}
	}
	return nil
}

func kindOf(object client.Object) string {
	if kind := object.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	return fmt.Sprintf("%T", object)
}

func infrastructureRef(kind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: vsphere.Group, Kind: kind, Name: name}
}

func (p Plan) cluster() *clusterv1.Cluster {
	return &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
		Spec: clusterv1.ClusterSpec{
			ClusterNetwork: clusterv1.ClusterNetwork{
				Pods:          clusterv1.NetworkRanges{CIDRBlocks: []string{"192.168.0.0/16"}},
				Services:      clusterv1.NetworkRanges{CIDRBlocks: []string{"10.96.0.0/16"}},
				ServiceDomain: "cluster.local",
			},
			InfrastructureRef: infrastructureRef("VSphereCluster", p.Name),
			ControlPlaneRef: clusterv1.ContractVersionedObjectReference{
				APIGroup: controlplanev1.GroupVersion.Group, Kind: "KubeadmControlPlane", Name: p.Name,
			},
		},
	}
}

// controlPlaneTemplate is the name of the VSphereMachineTemplate of a version;
// templates are never changed, so an upgrade names another.
func (p Plan) controlPlaneTemplate(version string) string {
	return p.Name + "-control-plane-" + dashed(version)
}

func (p Plan) template(name, version string) client.Object {
	template := vsphere.New("VSphereMachineTemplate", p.Namespace, name)
	template.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{
		"className": "best-effort-small", "imageName": imageName(version),
		"powerOffMode": "trySoft", "storageClass": "wcpglobal-storage-profile",
	}}}
	return template
}

func (p Plan) controlPlane() *controlplanev1.KubeadmControlPlane {
	registration := bootstrapv1.NodeRegistrationOptions{Name: nodeName}
	return &controlplanev1.KubeadmControlPlane{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
		Spec: controlplanev1.KubeadmControlPlaneSpec{
			Replicas: ptr.To(p.ControlPlanes), Version: p.Version,
			MachineTemplate: controlplanev1.KubeadmControlPlaneMachineTemplate{
				Spec: controlplanev1.KubeadmControlPlaneMachineTemplateSpec{
					InfrastructureRef: infrastructureRef("VSphereMachineTemplate", p.controlPlaneTemplate(p.Version)),
				},
			},
			KubeadmConfigSpec: bootstrapv1.KubeadmConfigSpec{
				InitConfiguration: bootstrapv1.InitConfiguration{NodeRegistration: registration},
				JoinConfiguration: bootstrapv1.JoinConfiguration{NodeRegistration: registration},
			},
		},
	}
}

func (p Plan) workers(name string) *clusterv1.MachineDeployment {
	return &clusterv1.MachineDeployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: name,
			// In the middle of an upgrade Cluster API makes no new workers; the lab's
			// tests take workers away and want them back at any time.
			Annotations: map[string]string{clusterv1.MachineSetSkipPreflightChecksAnnotation: string(clusterv1.MachineSetPreflightCheckAll)},
		},
		Spec: clusterv1.MachineDeploymentSpec{
			ClusterName: p.Name, Replicas: ptr.To(p.Workers),
			Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
				ClusterName: p.Name, Version: p.Version,
				Bootstrap: clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{
					APIGroup: bootstrapv1.GroupVersion.Group, Kind: "KubeadmConfigTemplate", Name: name,
				}},
				InfrastructureRef: infrastructureRef("VSphereMachineTemplate", name),
			}},
		},
	}
}

// healthCheck is one like those that the Kubernetes Service makes.
func (p Plan) healthCheck(name string, selector metav1.LabelSelector) *clusterv1.MachineHealthCheck {
	everything := intstr.FromString("100%")
	return &clusterv1.MachineHealthCheck{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name},
		Spec: clusterv1.MachineHealthCheckSpec{
			ClusterName: p.Name, Selector: selector,
			Checks: clusterv1.MachineHealthCheckChecks{UnhealthyNodeConditions: []clusterv1.UnhealthyNodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, TimeoutSeconds: ptr.To[int32](300)},
			}},
			Remediation: clusterv1.MachineHealthCheckRemediation{
				TriggerIf: clusterv1.MachineHealthCheckRemediationTriggerIf{UnhealthyLessThanOrEqualTo: &everything},
			},
		},
	}
}
