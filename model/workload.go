package model

import (
	"time"

	"k8s.io/apimachinery/pkg/labels"
)

// Workload is what is known of the inside of a workload cluster.
type Workload struct {
	// Nodes, Pods and Budgets say how each of the three went. Pods are looked at only on
	// nodes that need it: PodsOn says for which nodes the list is complete.
	NodesSource, PodsSource, BudgetsSource Source

	Nodes   []Node
	Pods    []Pod
	PodsOn  map[string]bool
	Budgets []Budget
	// NamespaceLabels are the labels of the namespaces in which pods were seen; nil where
	// they could not be read.
	NamespaceLabels map[string]map[string]string
	// Sightings are the kube-cert-agent pods seen so far on nodes that were looked at,
	// the gone ones too, oldest first.
	Sightings []Sighting
	// HasPinniped says whether a kube-cert-agent was found anywhere in the cluster; unknown
	// where the pods could not be listed.
	HasPinniped Verdict
	// Attachments are VolumeAttachments of nodes that were looked at. They have no source of
	// their own: that there are none says nothing, since they may not have been read.
	Attachments []VolumeAttachment
	// Logs are excerpts of the logs of containers that fail, the newest lines; only of those
	// that a signature asked for.
	Logs []LogExcerpt
	// Way says how the API server was reached: the address that answered.
	Way string
}

// Node is a Node of a workload cluster.
type Node struct {
	Meta
	Unschedulable bool
	Taints        []Taint
	Conditions    Conditions
	Addresses     []string
	ProviderID    string
	Version       string // kubelet version.
	// Heartbeat is when the kubelet last confirmed the Ready condition, zero where not known.
	Heartbeat time.Time
}

// Taint is a node's taint.
type Taint struct{ Key, Value, Effect string }

// Ready is the status of the Ready condition: True, False, Unknown, or empty where there is none.
func (n *Node) Ready() string {
	if c := n.Conditions.Get("Ready"); c != nil {
		return c.Status
	}
	return ""
}

// Pod is a pod, cut down to what drains and signatures look at.
type Pod struct {
	Meta
	Node  string
	Phase string
	// Waiting is why a container waits (ContainerCreating, ImagePullBackOff, CrashLoopBackOff), empty when none does.
	Waiting        string
	WaitingMessage string
	Mirror         bool // a static pod's mirror.
	DaemonSet      bool // controlled by a DaemonSet.
	Ready          bool
	HostNetwork    bool
	Restarts       int32
	// Containers are its containers, those that initialise it first.
	Containers []Container
	Claims     []string // names of PersistentVolumeClaims.
}

// Container is a container of a pod, as its status tells.
type Container struct {
	Name     string
	Init     bool
	Ready    bool
	Running  bool
	Restarts int32
	// Waiting is why it waits, empty when it does not.
	Waiting string
	// Ended and Last are how it ended, if it does not run now, and how it ended before that; nil
	// where it did not, or nothing is known of it.
	Ended, Last *Ending
}

// Ending is how a container ended.
type Ending struct {
	ExitCode int32
	Reason   string
	// Message is what it left as its last words, where it is set up to leave any.
	Message string
	At      time.Time
}

// LogExcerpt is the end of a container's log.
type LogExcerpt struct {
	Namespace, Pod, Container string
	// PodUID is the pod's at the time, empty where that is not known.
	PodUID string
	// Previous says that it is the log of the container that ran before.
	Previous bool
	// Restarts is how often the container had been restarted by then.
	Restarts int32
	// Text is empty where nothing could be read, and then Why says why.
	Text, Why string
	Read      time.Time
}

// Budget is a PodDisruptionBudget.
type Budget struct {
	Meta
	Selector           labels.Selector // nil where it cannot be parsed; labels.Nothing() where it selects none.
	DisruptionsAllowed int32
	CurrentHealthy     int32
	DesiredHealthy     int32
	ExpectedPods       int32
	MinAvailable       string
	MaxUnavailable     string
}

// Sighting is one pod as it was seen over several looks.
type Sighting struct {
	Namespace, Name, UID, Node string
	First, Last                time.Time
	Gone                       bool
}

// VolumeAttachment is a storage.k8s.io VolumeAttachment.
type VolumeAttachment struct {
	Meta
	Node     string
	Volume   string
	Attached bool
	Error    string
}

// Namespace is a namespace of a workload cluster: for its labels.
type Namespace struct{ Meta }

// CertAgentLabel marks pinniped's kube-cert-agent pods, with a value that depends on the
// version: "true", v2, v3 (vmware/pinniped internal/controller/kubecertagent).
const CertAgentLabel = "kube-cert-agent.pinniped.dev"

// CertAgent says whether the pod is a kube-cert-agent, by its label.
func (p *Pod) CertAgent() bool {
	_, ok := p.Labels[CertAgentLabel]
	return ok
}

// Selects says whether the budget covers a pod: same namespace, and its selector matches.
func (b *Budget) Selects(p *Pod) bool {
	return b.Namespace == p.Namespace && b.Selector != nil && b.Selector.Matches(labels.Set(p.Labels))
}

// Ending is how the container ended last; nil where nothing is known of it.
func (c *Container) Ending() *Ending {
	if c.Ended != nil {
		return c.Ended
	}
	return c.Last
}
