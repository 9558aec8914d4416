package guest

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	controlPlaneLabel = "node-role.kubernetes.io/control-plane"
	kubeletPort       = 10250
)

// staticPods are the pods of every control plane VM; the control plane provider
// looks for them by name.
func staticPods() []string {
	return []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"}
}

// registerNode makes the VM's Node, ready. kubeletHost is where the kubelet that
// is played for it listens; empty for a worker, whose kubelet nobody calls.
func registerNode(ctx context.Context, c client.Client, vm VM, kubeletHost string) error {
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: vm.Name, Labels: map[string]string{corev1.LabelHostname: vm.Name}},
		Spec:       corev1.NodeSpec{ProviderID: vm.ProviderID},
	}
	if vm.ControlPlane {
		node.Labels[controlPlaneLabel] = ""
		node.Spec.Taints = []corev1.Taint{{Key: controlPlaneLabel, Effect: corev1.TaintEffectNoSchedule}}
	}
	if err := c.Create(ctx, node); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("create Node %s: %w", vm.Name, err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(node), node); err != nil {
		return fmt.Errorf("get Node %s: %w", vm.Name, err)
	}
	// The node lifecycle controller, which does not run here, would take this
	// taint away from a Node that is ready.
	untainted := slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(taint corev1.Taint) bool { return taint.Key == corev1.TaintNodeNotReady })
	if len(untainted) < len(node.Spec.Taints) {
		node.Spec.Taints = untainted
		if err := c.Update(ctx, node); err != nil {
			return fmt.Errorf("update Node %s: %w", vm.Name, err)
		}
	}
	now := metav1.Now()
	node.Status.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeHostName, Address: vm.Name},
		{Type: corev1.NodeInternalIP, Address: vm.Address},
	}
	if kubeletHost != "" {
		node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: kubeletHost})
		node.Status.DaemonEndpoints.KubeletEndpoint.Port = kubeletPort
	}
	node.Status.NodeInfo.KubeletVersion = vm.Version
	node.Status.NodeInfo.ContainerRuntimeVersion = "containerd://2.1.4"
	node.Status.NodeInfo.OSImage = "VMware Photon OS/Linux"
	node.Status.NodeInfo.OperatingSystem = "linux"
	node.Status.NodeInfo.Architecture = "amd64"
	node.Status.Conditions = nil
	for _, condition := range []struct {
		kind            corev1.NodeConditionType
		status          corev1.ConditionStatus
		reason, message string
	}{
		{corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"},
		{corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
		{corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
		{corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"},
	} {
		node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{
			Type: condition.kind, Status: condition.status, Reason: condition.reason, Message: condition.message,
			LastHeartbeatTime: now, LastTransitionTime: now,
		})
	}
	if err := c.Status().Update(ctx, node); err != nil {
		return fmt.Errorf("update the status of Node %s: %w", vm.Name, err)
	}
	return nil
}

// createMirrorPods makes the mirror pods of the VM's static pods, running.
func createMirrorPods(ctx context.Context, c client.Client, vm VM) error {
	node := &corev1.Node{}
	if err := c.Get(ctx, client.ObjectKey{Name: vm.Name}, node); err != nil {
		return fmt.Errorf("get Node %s: %w", vm.Name, err)
	}
	for _, name := range staticPods() {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: metav1.NamespaceSystem, Name: name + "-" + vm.Name,
				Labels: map[string]string{"component": name, "tier": "control-plane"},
				// A drain skips pods with the mirror annotation.
				Annotations: map[string]string{
					corev1.MirrorPodAnnotationKey: string(node.UID), "kubernetes.io/config.hash": string(node.UID), "kubernetes.io/config.source": "file",
				},
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID, Controller: ptr.To(true)}},
			},
			Spec: corev1.PodSpec{
				NodeName: vm.Name, HostNetwork: true, PriorityClassName: "system-node-critical",
				Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}},
				Containers:  []corev1.Container{{Name: name, Image: "registry.k8s.io/" + name + ":" + vm.Version}},
			},
		}
		if err := c.Create(ctx, pod); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("create pod %s: %w", pod.Name, err)
		}
		if err := c.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return fmt.Errorf("get pod %s: %w", pod.Name, err)
		}
		markRunning(pod, node, metav1.Now())
		if err := c.Status().Update(ctx, pod); err != nil {
			return fmt.Errorf("update the status of pod %s: %w", pod.Name, err)
		}
	}
	return nil
}

// removeMirrorPods removes them at once, as far as the API server still answers.
func removeMirrorPods(ctx context.Context, c client.Client, node string) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	for _, name := range staticPods() {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name + "-" + node}}
		if c.Delete(ctx, pod, client.GracePeriodSeconds(0)) != nil && ctx.Err() != nil {
			return
		}
	}
}

// markRunning gives the pod the status that a kubelet writes once all containers
// run.
func markRunning(pod *corev1.Pod, node *corev1.Node, now metav1.Time) {
	pod.Status.Phase = corev1.PodRunning
	pod.Status.StartTime = &now
	for _, address := range node.Status.Addresses {
		if address.Type == corev1.NodeInternalIP {
			pod.Status.HostIP = address.Address
			pod.Status.HostIPs = []corev1.HostIP{{IP: address.Address}}
			if pod.Spec.HostNetwork {
				pod.Status.PodIP = address.Address
				pod.Status.PodIPs = []corev1.PodIP{{IP: address.Address}}
			}
		}
	}
	pod.Status.Conditions = nil
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	pod.Status.ContainerStatuses = nil
	for _, container := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, Ready: true, Started: ptr.To(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
}

// createKubeadmConfig makes the ConfigMap that kubeadm leaves behind.
func createKubeadmConfig(ctx context.Context, c client.Client, cluster, version string) error {
	configMap := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "kubeadm-config"},
		Data: map[string]string{
			"ClusterConfiguration": "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nclusterName: " + cluster + "\nkubernetesVersion: " + version + "\n",
		},
	}
	if err := c.Create(ctx, configMap); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("create ConfigMap kubeadm-config: %w", err)
	}
	return nil
}
