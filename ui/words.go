package ui

import (
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
	"vksmedic/ui/styles"
)

// The signs. Each stands beside a word that says the same.
const (
	signBad     = "✖"
	signWarn    = "▲"
	signInfo    = "i"
	signOk      = "✔"
	signUnknown = "?"
	signQuiet   = "·"
	signHere    = "▸"
	signNotSeen = "◌"
)

// severity is the sign and the style of a severity.
func (m *Model) severity(s model.Severity) (string, *styles.Style) {
	switch s {
	case model.Critical:
		return signBad, &m.styles.Danger
	case model.Warning:
		return signWarn, &m.styles.Warn
	case model.Info:
		return signInfo, &m.styles.Accent
	}
	return signQuiet, &m.styles.Muted
}

// verdict is the sign and the style of a check's answer.
func (m *Model) verdict(v model.Verdict) (string, *styles.Style) {
	switch v {
	case model.Yes:
		return signOk, &m.styles.Ok
	case model.No:
		return signBad, &m.styles.Danger
	case model.Unknown:
	}
	return signUnknown, &m.styles.Warn
}

// shortVersion is a Kubernetes version without its v and its build.
func shortVersion(v string) string {
	v, _, _ = strings.Cut(longVersion(v), "+")
	return v
}

// longVersion is a version with its build. One longer than any release's is cut, so that
// it does not push what stands beside it off the screen.
func longVersion(v string) string { return cutMiddle(strings.TrimPrefix(clean(v), "v"), 32) }

// versionWords is "1.31.4 → 1.32.1" with the arrow that is given, or one version where
// both are the same.
func versionWords(c *model.Cluster, arrow string) string {
	from, to := lifecycle.Versions(c)
	a, b := shortVersion(from), shortVersion(to)
	switch {
	case a == "" && b == "":
		return "?"
	case from == to || to == "" || b == "":
		return a
	case a != b:
		return a + arrow + b
	default:
		// Only the build differs: that is what has to be seen.
		return longVersion(from) + arrow + longVersion(to)
	}
}

// count32 is a number, "?" where it is not known.
func count32(n *int32) string {
	if n == nil {
		return "?"
	}
	return itoa(int(*n))
}

// replicasWords is available of desired.
func replicasWords(r model.Replicas) string {
	have := lifecycle.Available(r)
	if have == nil && r.Desired == nil {
		return "?"
	}
	return count32(have) + "/" + count32(r.Desired)
}

// movementWords says what moves in a cluster and since when; empty where nothing does.
func movementWords(c *model.Cluster, now time.Time) string {
	m := lifecycle.MovementOf(c)
	if !m.Lasts {
		return m.Words
	}
	return m.Words + " " + text.Since(now, m.Since)
}

// silent says, in words, why the cluster's inside is not seen; empty where it is, or where
// its own API server was never asked.
func silent(c *model.Cluster, now time.Time) string {
	s := c.Workload.NodesSource
	switch s.State {
	case model.SourceUnreachable, model.SourceStale:
		if s.Seen.IsZero() {
			return "no answer"
		}
		return "no answer for " + text.Since(now, s.Seen)
	case model.SourceForbidden:
		return "inside not seen: forbidden"
	case model.SourceNotUnderstood:
		return "inside not understood"
	case model.SourceOK, model.SourceNotServed, model.SourceWaiting:
	}
	return ""
}

// nodeWords says how a Machine's node is.
func nodeWords(c *model.Cluster, x *model.Machine) (string, bool) {
	if x.NodeName == "" {
		return "—", false
	}
	n := c.Node(x.NodeName)
	if n == nil {
		if c.Workload.NodesSource.Readable() {
			return "gone", true
		}
		return "?", false
	}
	word, bad := "Ready", false
	switch n.Ready() {
	case "True":
	case "False":
		word, bad = "NotReady", true
	case "":
		word = "?"
	default:
		word, bad = "Unknown", true
	}
	if n.Unschedulable {
		word += ",sd"
	}
	return word, bad
}

// vmWords says whether the VM runs, as the Supervisor shows it.
func vmWords(v *model.VirtualMachine) (string, bool) {
	if v == nil {
		return "—", false
	}
	state := clean(v.PowerState)
	switch strings.ToLower(state) {
	case "poweredon":
		return "on", false
	case "poweredoff":
		return "off", true
	case "suspended":
		return "susp", true
	case "":
		return "?", false
	}
	return state, true
}

// findingWords is what the fleet says about a cluster's findings.
func findingWords(c *model.Cluster) string {
	w := c.Worst()
	if w == nil {
		return ""
	}
	s := clean(w.Short)
	if s == "" {
		s = clean(w.Summary)
	}
	if w.Confidence == model.Suspected {
		s += "?"
	}
	if n := len(c.Findings) - 1; n > 0 {
		s += " +" + itoa(n)
	}
	return s
}

// conditionTone says whether a condition is good news, bad news, or neither: not known, or
// only saying what goes on.
func conditionTone(typ, status string) model.Verdict {
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

// conditionWords says what a condition means.
func conditionWords(typ, status string) string {
	p, known := phrases[typ]
	switch {
	case known && status == "True":
		return p[0]
	case known && status == "False":
		return p[1]
	case status == "Unknown":
		return "not known"
	}
	return clean(status)
}

// took is a duration in the past, or how long something has been going on.
func took(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return text.Age(d)
}
