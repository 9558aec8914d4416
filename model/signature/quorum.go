package signature

import (
	"fmt"
	"regexp"

	"vksmedic/model"
	"vksmedic/model/text"
)

// quorum is how the control plane's etcd stands, member by member. Only a count in which
// every member is known is a count.
type quorum struct {
	members []member
	// unknown says why it cannot be counted; empty where it can.
	unknown string
}

type member struct {
	machine *model.Machine
	healthy model.Verdict
	why     string
}

// quorum counts the control plane's members: the Machines that have a node, one etcd each.
// A Machine that has joined no node has no member yet.
func (v *view) quorum() quorum {
	var q quorum
	for _, m := range v.c.Machines {
		if !m.ControlPlane || m.NodeName == "" {
			continue
		}
		q.members = append(q.members, v.member(m))
	}
	switch {
	case len(q.members) == 0:
		q.unknown = "no control plane Machine with a node is known"
	case v.c.ControlPlane == nil && v.c.Object == nil:
		q.unknown = "neither the KubeadmControlPlane nor the Cluster is known, so that nobody says how many there should be"
	}
	if n := v.machinesWanted(); q.unknown == "" && int(n) > len(q.members)+v.joiningMachines() {
		q.unknown = fmt.Sprintf("%d control plane Machines are wanted and %d are known", n, len(q.members))
	}
	for _, m := range q.members {
		if m.healthy == model.Unknown && q.unknown == "" {
			q.unknown = "of " + text.Clean(m.machine.Name) + " nothing is known: " + m.why
		}
	}
	return q
}

// machinesWanted is how many replicas the control plane has, as its own object counts them.
func (v *view) machinesWanted() int32 {
	if v.c.ControlPlane == nil {
		return 0
	}
	if n := v.c.ControlPlane.Replicas.Current; n != nil {
		return *n
	}
	return 0
}

func (v *view) joiningMachines() int {
	n := 0
	for _, m := range v.c.Machines {
		if m.ControlPlane && m.NodeName == "" {
			n++
		}
	}
	return n
}

// member judges one Machine's etcd. NodeHealthy may still be True on a Machine whose node is
// dead, and EtcdMemberHealthy too (the provider asks the first member that answers), so good
// news from the Machine alone needs the node's own; bad news does not.
func (v *view) member(m *model.Machine) member {
	x := member{machine: m, healthy: model.Unknown}
	n := v.nodeOf(m.NodeName)
	hc := m.Conditions.Get("HealthCheckSucceeded")
	etcd := m.Conditions.Get("EtcdMemberHealthy")
	pod := m.Conditions.Get("EtcdPodHealthy")
	switch {
	case n != nil && (n.status == "False" || n.status == "Unknown"):
		x.healthy, x.why = model.No, n.saying()
	case n != nil && n.gone:
		x.healthy, x.why = model.No, "its Node is gone"
	case hc != nil && hc.Status == "False":
		x.healthy, x.why = model.No, text.Limit(text.Clean(hc.Message), 200)
	case etcd != nil && etcd.Status == "False":
		x.healthy, x.why = model.No, "etcd: "+text.Limit(text.Clean(etcd.Message), 200)
	case pod != nil && pod.Status == "False":
		x.healthy, x.why = model.No, "etcd's pod: "+text.Limit(text.Clean(pod.Message), 200)
	case n != nil && n.status == "True" && n.stale == "":
		x.healthy, x.why = model.Yes, "its node is Ready"
	default:
		x.why = "its node was not read"
	}
	return x
}

// size, needed and healthy are the numbers; ok is false where they cannot be counted.
func (q quorum) numbers() (size, needed, healthy int, ok bool) {
	for _, m := range q.members {
		if m.healthy == model.Yes {
			healthy++
		}
	}
	size = len(q.members)
	return size, size/2 + 1, healthy, q.unknown == ""
}

// words are the numbers in words.
func (q quorum) words() string {
	size, needed, healthy, ok := q.numbers()
	if !ok {
		return "cannot be counted: " + q.unknown
	}
	return fmt.Sprintf("%d of %s healthy, %d needed for etcd's quorum", healthy, text.Plural(size, "member"), needed)
}

// spares says whether etcd can do without a member that is dead: what is left must be a quorum
// before and after it is taken out (cluster-api's canSafelyRemoveEtcdMember). What cannot be
// counted is not known to be spared.
func (q quorum) spares() model.Verdict {
	size, needed, healthy, ok := q.numbers()
	after := (size-1)/2 + 1
	switch {
	case !ok:
		return model.Unknown
	case healthy >= needed && healthy >= after:
		return model.Yes
	}
	return model.No
}

// The refusals of the KubeadmControlPlane (controlplane/kubeadm remediation.go). The
// misspelling is theirs; releases from 1.13 speak of the control plane's components too.
var (
	reRefusesQuorum  = regexp.MustCompile(`(?i)etcd\s+(?:loosing|losing)\s+quorum|etcd\s+quorum\s+loss|(?:loosing|losing)\s+Kubernetes\s+control\s+plane\s+components`)
	reRefusesSingle  = regexp.MustCompile(`(?i)can't\s+remediate\s+if\s+current\s+replicas\s+are\s+less\s+or\s+equal\s+to\s+1|waiting\s+for\s+having\s+at\s+least\s+3\s+control\s+plane\s+machines`)
	reRefusesLeader  = regexp.MustCompile(`(?i)no\s+healthy\s+machine\s+to\s+forward\s+etcd\s+leadership`)
	reRefusesUnknown = regexp.MustCompile(`(?i)failed\s+to\s+check\s+etcd\s+cluster\s+health\s+before\s+remediation`)
)

// refusal says whether a condition OwnerRemediated is Cluster API's refusal for etcd's sake,
// and what that means.
func refusal(c *model.Condition) (meaning string, ok bool) {
	if c == nil || c.Status == "True" {
		return "", false
	}
	message := text.Limit(c.Message, 4096)
	switch {
	case reRefusesQuorum.MatchString(message):
		return "etcd could lose its quorum", true
	case reRefusesSingle.MatchString(message):
		return "there are too few control plane Machines to take one away", true
	case reRefusesLeader.MatchString(message):
		return "no healthy member could take over etcd's leadership", true
	case reRefusesUnknown.MatchString(message):
		return "the health of etcd could not be read", true
	}
	return "", false
}
