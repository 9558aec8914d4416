package lifecycle

import (
	"vksmedic/model"
	"vksmedic/model/text"
)

// ConditionNews says whether a condition is good news (yes), bad news (no), or neither: not
// known, or only saying what goes on.
func ConditionNews(typ, status string) model.Verdict {
	switch typ {
	case "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable":
		switch status {
		case "True":
			return model.No
		case "False":
			return model.Yes
		}
		return model.Unknown
	case "Deleting", "Paused", "RollingOut", "ScalingUp", "ScalingDown", "Remediating", "Updating":
		if status == "False" {
			return model.Yes
		}
		return model.Unknown
	}
	switch status {
	case "True":
		return model.Yes
	case "False":
		return model.No
	}
	return model.Unknown
}

// phrases say what conditions mean, when True and when False. Nobody changes them.
var phrases = map[string][2]string{
	"Ready":                                 {"ready", "not ready"},
	"Available":                             {"available", "not available"},
	"UpToDate":                              {"as its owner wants it", "not as its owner wants it: to be replaced or updated"},
	"Deleting":                              {"being deleted", "not being deleted"},
	"Paused":                                {"paused: Cluster API leaves it alone", "not paused"},
	"BootstrapConfigReady":                  {"its bootstrap data is there", "its bootstrap data is not there yet"},
	"BootstrapReady":                        {"its bootstrap data is there", "its bootstrap data is not there yet"},
	"InfrastructureReady":                   {"its VM is there", "its VM is not ready"},
	"NodeReady":                             {"its node is Ready", "its node is not Ready"},
	"NodeHealthy":                           {"its node is healthy", "its node is not healthy"},
	"HealthCheckSucceeded":                  {"the MachineHealthCheck is content", "the MachineHealthCheck finds it unhealthy"},
	"OwnerRemediated":                       {"its owner has remediated it", "its owner has to remediate it"},
	"DrainingSucceeded":                     {"its node is drained", "its node is being drained"},
	"VolumeDetachSucceeded":                 {"its volumes are detached", "its volumes are being detached"},
	"EtcdMemberHealthy":                     {"its etcd member is healthy", "its etcd member is not healthy"},
	"EtcdPodHealthy":                        {"its etcd pod is healthy", "its etcd pod is not healthy"},
	"APIServerPodHealthy":                   {"its API server pod is healthy", "its API server pod is not healthy"},
	"EtcdClusterHealthy":                    {"etcd is healthy", "etcd is not healthy"},
	"ControlPlaneAvailable":                 {"the control plane is available", "the control plane is not available"},
	"ControlPlaneInitialized":               {"the control plane was initialised", "the control plane was not initialised yet"},
	"RollingOut":                            {"a rollout is under way", "no rollout under way"},
	"ScalingUp":                             {"growing", "not growing"},
	"ScalingDown":                           {"shrinking", "not shrinking"},
	"Remediating":                           {"remediating", "not remediating"},
	"TopologyReconciled":                    {"the topology is applied", "the topology is not applied yet"},
	"MachinesReady":                         {"all Machines are ready", "not all Machines are ready"},
	"MachinesUpToDate":                      {"all Machines are as wanted", "not all Machines are as wanted"},
	"WorkersAvailable":                      {"the workers are available", "not all workers are available"},
	"WorkerMachinesReady":                   {"all workers are ready", "not all workers are ready"},
	"WorkerMachinesUpToDate":                {"all workers are as wanted", "not all workers are as wanted"},
	"ControlPlaneMachinesReady":             {"all control plane Machines are ready", "not all control plane Machines are ready"},
	"RemoteConnectionProbe":                 {"Cluster API reaches the cluster", "Cluster API does not reach the cluster"},
	"ControllerManagerPodHealthy":           {"its controller manager pod is healthy", "its controller manager pod is not healthy"},
	"SchedulerPodHealthy":                   {"its scheduler pod is healthy", "its scheduler pod is not healthy"},
	"ControlPlaneComponentsHealthy":         {"all control plane pods are healthy", "not all control plane pods are healthy"},
	"NodeKubeadmLabelsAndTaintsSet":         {"its node has kubeadm's labels and taints", "its node lacks kubeadm's labels and taints"},
	"CertificatesAvailable":                 {"its certificates are there", "its certificates are not there yet"},
	"Initialized":                           {"the control plane was initialised", "the control plane was not initialised yet"},
	"Updating":                              {"being updated in place", "not being updated in place"},
	"Resized":                               {"all replicas are there", "not all replicas are there"},
	"MachinesCreated":                       {"all Machines are made", "not all Machines are made"},
	"MachineSetReady":                       {"its MachineSet is ready", "its MachineSet is not ready"},
	"ControlPlaneReady":                     {"the control plane is ready", "the control plane is not ready"},
	"ControlPlaneMachinesUpToDate":          {"all control plane Machines are as wanted", "not all control plane Machines are as wanted"},
	"PreDrainDeleteHookSucceeded":           {"the hooks before the drain are done", "waits for hooks before the drain"},
	"PreTerminateDeleteHookSucceeded":       {"the hooks before the end are done", "waits for hooks before the end"},
	"RemediationAllowed":                    {"remediation is allowed", "remediation is not allowed"},
	"VMProvisioned":                         {"its VM is provisioned", "its VM is not provisioned"},
	"VirtualMachineProvisioned":             {"its VM is provisioned", "its VM is not provisioned"},
	"VirtualMachineCreated":                 {"made in vCenter", "not made in vCenter"},
	"VirtualMachineClassReady":              {"its VM class is there", "its VM class is not there"},
	"VirtualMachineImageReady":              {"its image is there", "its image is not there"},
	"VirtualMachineBootstrapReady":          {"its bootstrap data is there", "its bootstrap data is not there"},
	"VirtualMachineStorageReady":            {"its storage is there", "its storage is not there"},
	"VirtualMachineNetworkReady":            {"its network is there", "its network is not there"},
	"VirtualMachinePrereqReady":             {"all that it needs is there", "something that it needs is missing"},
	"VirtualMachineConditionPlacementReady": {"a host was found for it", "no host was found for it"},
	"VirtualMachineConditionVMSetResourcePolicyReady": {"its resource policy is there", "its resource policy is not there"},
	"VirtualMachineTools":                             {"VMware Tools run", "VMware Tools do not run"},
	"VirtualMachineReconcileReady":                    {"VM Operator reconciles it", "VM Operator cannot reconcile it"},
	"VirtualMachinePowerStateSynced":                  {"its power state is as wanted", "its power state is not as wanted"},
	"VirtualMachineGuestNetworkConfigSynced":          {"its guest's network is set", "its guest's network is not set"},
	"GuestCustomization":                              {"its guest is customised", "its guest is not customised"},
	"GuestBootstrap":                                  {"its guest came up", "its guest did not come up"},
	"ServiceDiscoveryReady":                           {"the Supervisor can be found from inside", "the Supervisor cannot be found from inside"},
	"ProviderServiceAccountsReady":                    {"its service accounts are there", "its service accounts are not there"},
	"ResourcePolicyReady":                             {"its resource policy is there", "its resource policy is not there"},
	"LoadBalancerReady":                               {"its load balancer is there", "its load balancer is not there"},
	"NetworkReady":                                    {"its network is there", "its network is not there"},
	"MemoryPressure":                                  {"short of memory", "memory is fine"},
	"DiskPressure":                                    {"short of disk", "disk is fine"},
	"PIDPressure":                                     {"short of process ids", "process ids are fine"},
	"NetworkUnavailable":                              {"no network", "network is fine"},
}

// ConditionWords says what a condition means; where nobody knows that, its bare status.
func ConditionWords(typ, status string) string {
	p, known := phrases[typ]
	switch {
	case known && status == "True":
		return p[0]
	case known && status == "False":
		return p[1]
	case status == "Unknown":
		return "not known"
	}
	return text.Clean(text.Limit(status, maxReason))
}
