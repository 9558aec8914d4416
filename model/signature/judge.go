package signature

import (
	"time"

	"vksmedic/model"
)

// Ids of the signatures. They are an interface: scan prints them.
const (
	KubeCertAgentBlocksDrain = "kube-cert-agent-blocks-drain"
	DrainBlocked             = "drain-blocked"

	ContainerRuntimeDown       = "container-runtime-down"
	PortHeldByOrphan           = "port-held-by-orphan"
	EndpointsMissing           = "endpoints-missing"
	VMGone                     = "vm-gone"
	MachineDeletionStalled     = "machine-deletion-stalled"
	RemediationBlockedByQuorum = "remediation-blocked-by-quorum"
	EndpointsPrivilegeMissing  = "endpoints-privilege-missing"
	MachineUnhealthy           = "machine-unhealthy"
	NodeNotReady               = "node-not-ready"
)

// Youth is how long a thing may last before it is an alarm: a drain takes a while
// even where nothing is wrong. Younger ones are info.
const Youth = 2 * time.Minute

// RetryGrace is how long after a MachineDrainRule was made the drain is given to take
// notice. Cluster API drains again every 20 s
// (drainRetryInterval in core/reconcilers/machine/machine_controller.go).
const RetryGrace = time.Minute

// Signature is one known failure.
type Signature struct {
	// ID is its name in findings; Title says what it is.
	ID, Title string
	find      func(*view) []model.Finding
	// general says that it is about the Supervisor as a whole, not about one cluster.
	general bool
}

// All are the signatures that are known, in the order in which they are judged.
func All() []Signature {
	return []Signature{
		{ID: KubeCertAgentBlocksDrain, Title: "a pinniped kube-cert-agent keeps coming back and blocks the drain of a Machine", find: findAgentDrains},
		{ID: DrainBlocked, Title: "a drain waits for pods that do not go", find: findBlockedDrains},
		{ID: ContainerRuntimeDown, Title: "a node's container runtime is down", find: findRuntimeDown},
		{ID: PortHeldByOrphan, Title: "a system pod cannot start, since a lost process holds its port", find: findOrphans},
		{ID: EndpointsMissing, Title: "healthy control plane nodes are missing from the control plane's Endpoints", find: findMissingEndpoints},
		{ID: VMGone, Title: "the VM under a node is gone, and the Supervisor still shows it running", find: findGoneVMs},
		{ID: MachineDeletionStalled, Title: "a Machine has been Deleting for too long", find: findStalledDeletions},
		{ID: RemediationBlockedByQuorum, Title: "Cluster API does not remediate, since etcd could lose its quorum", find: findQuorumBlocks},
		{ID: EndpointsPrivilegeMissing, Title: "VM Operator may not patch Endpoints, and nobody has given that back", find: findPrivilegeMissing, general: true},
		{ID: MachineUnhealthy, Title: "a Machine is Failed, does not become a node, or has lost it", find: findUnhealthyMachines},
		// Last, since it tells what nothing before it explains.
		{ID: NodeNotReady, Title: "a node is NotReady for a reason that nothing else explains", find: findNotReady},
	}
}

// General says whether a signature is about the Supervisor as a whole: its findings name no cluster.
func General(id string) bool {
	for _, s := range All() {
		if s.ID == id {
			return s.general
		}
	}
	return false
}

// Options of judging.
type Options struct {
	// StalledAfter is how long the deletion of a Machine may take; zero is the constant
	// StalledAfter.
	StalledAfter time.Duration
}

// Requires are the Supervisor's resources without which nothing can be said about the
// signatures: where one cannot be read, that nothing was found means nothing. What else
// is missing makes a check unknown.
func Requires() []string {
	return []string{"machines", "machinedrainrules", "virtualmachines", "virtualmachineservices", "endpoints"}
}

// Judge is a model.Judge: it finds every signature of All in a cluster, or, where there is none,
// those of the Supervisor as a whole. A now that is zero means that durations are unknown.
func Judge(c *model.Cluster, sn *model.Snapshot, now time.Time) (findings []model.Finding, review time.Time) {
	return judge(c, sn, now, Options{})
}

// NewJudge is [Judge] with options.
func NewJudge(o Options) model.Judge {
	return func(c *model.Cluster, sn *model.Snapshot, now time.Time) ([]model.Finding, time.Time) {
		return judge(c, sn, now, o)
	}
}

func judge(c *model.Cluster, sn *model.Snapshot, now time.Time, o Options) (findings []model.Finding, review time.Time) {
	if o.StalledAfter <= 0 {
		o.StalledAfter = StalledAfter
	}
	general := c == nil
	if general {
		c = &model.Cluster{Workload: &model.Workload{}}
	}
	v := &view{c: c, sn: sn, now: now, opts: o, explained: map[*nodeView]bool{}}
	for _, s := range All() {
		if s.general == general {
			findings = append(findings, s.find(v)...)
		}
	}
	link(findings)
	return findings, v.review
}

var _ model.Judge = Judge

// view is a cluster as the signatures look at it.
type view struct {
	c   *model.Cluster
	sn  *model.Snapshot
	now time.Time // zero: durations are unknown.
	// review is the earliest moment at which time alone changes a judgement.
	review time.Time

	drains     []*draining
	drainsRead bool

	opts      Options
	nodeViews []*nodeView
	nodesBy   map[string]*nodeView // by name.
	nodesRead bool
	// explained are the nodes whose being NotReady a signature has explained.
	explained map[*nodeView]bool
}

// explain says that a signature has told why a node is NotReady.
func (v *view) explain(n *nodeView) { v.explained[n] = true }

// at asks to be judged again at a moment, if that is still to come.
func (v *view) at(t time.Time) {
	if t.IsZero() || v.now.IsZero() || v.sn.Dump || !t.After(v.now) {
		return
	}
	if v.review.IsZero() || t.Before(v.review) {
		v.review = t
	}
}

// young says whether something that began at a time is too young to be an alarm, and
// asks to be judged again when it no longer is. Where the beginning or the time is not known
// nothing is young.
func (v *view) young(began time.Time) bool {
	if began.IsZero() || v.now.IsZero() {
		return false
	}
	end := began.Add(Youth)
	v.at(end)
	return v.now.Before(end)
}

// source finds how a Supervisor resource was read for this cluster's namespace.
func (v *view) source(resource string) *model.Source {
	if s := v.sn.Source("supervisor/" + resource + "@" + v.c.Ref.Namespace); s != nil {
		return s
	}
	return v.sn.Source("supervisor/" + resource)
}

// seen is when a Supervisor resource was last known to be up to date.
func (v *view) seen(resource string) time.Time {
	if s := v.source(resource); s != nil {
		return s.Seen
	}
	return time.Time{}
}

// paused says what keeps Cluster API from doing anything about a Machine, or, where m is nil, about
// the cluster; empty when nothing does.
func (v *view) paused(m *model.Machine) string {
	if v.c.Object != nil && v.c.Object.Paused {
		return "Cluster " + v.c.Ref.String() + " is paused"
	}
	if m != nil && m.Paused {
		return "Machine " + m.Namespace + "/" + m.Name + " is paused"
	}
	return ""
}

// ownerPaused says what keeps Cluster API from making the next Machine of a rollout; empty when
// nothing does.
func (v *view) ownerPaused(m *model.Machine) string {
	if k := v.c.ControlPlane; m.ControlPlane && k != nil && k.Paused {
		return "KubeadmControlPlane " + k.Namespace + "/" + k.Name + " is paused"
	}
	for _, d := range v.c.Deployments {
		if !m.ControlPlane && d.Name == m.Deployment && d.Paused {
			return "MachineDeployment " + d.Namespace + "/" + d.Name + " is paused"
		}
	}
	return ""
}

// stamp writes a point in time.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
