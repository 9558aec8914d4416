package lifecycle

import (
	"fmt"
	"regexp"

	"vksmedic/model"
	"vksmedic/model/text"
)

// Quorum is how the control plane's etcd stands, member by member. Only a count in which every member
// is known is a count.
type Quorum struct {
	Members []Member
	// Unknown says why it cannot be counted; empty where it can.
	Unknown string
}

// Member is one member of etcd: a control plane Machine that has a node.
type Member struct {
	Machine *model.Machine
	Healthy model.Verdict
	// Why is what tells so.
	Why string
}

// Numbers are how many members there are, how many the quorum needs, and how many are healthy; ok is false where they cannot be counted.
func (q Quorum) Numbers() (size, needed, healthy int, ok bool) {
	for _, m := range q.Members {
		if m.Healthy == model.Yes {
			healthy++
		}
	}
	size = len(q.Members)
	return size, size/2 + 1, healthy, q.Unknown == ""
}

// Words are the numbers in words.
func (q Quorum) Words() string {
	size, needed, healthy, ok := q.Numbers()
	if !ok {
		return "cannot be counted: " + q.Unknown
	}
	return fmt.Sprintf("%d of %s healthy, %d needed for etcd's quorum", healthy, text.Plural(size, "member"), needed)
}

// Spares says whether etcd can do without a member that is dead: what is left must be a quorum
// before and after it is taken out (cluster-api's canSafelyRemoveEtcdMember). What cannot be
// counted is not known to be spared.
func (q Quorum) Spares() model.Verdict {
	size, needed, healthy, ok := q.Numbers()
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

// Refusal says whether a condition OwnerRemediated is Cluster API's refusal for etcd's sake,
// and what that means.
func Refusal(c *model.Condition) (meaning string, ok bool) {
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
