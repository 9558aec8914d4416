package capture

import (
	"time"

	"vksmedic/model"
)

// The documents of a capture that are no objects of a cluster: one index, and what was seen of
// each workload cluster besides its objects. They are an interface: newer programs read older
// captures.
const (
	ownVersion = "vksmedic/v1"
	indexKind  = "Capture"
	lookKind   = "Look"
	indexFile  = "index.yaml"
	lookFile   = "look.yaml"
)

// indexDoc says what a capture is and what it lacks.
type indexDoc struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// At is the moment that the capture is of.
	At   time.Time `json:"at"`
	Tool string    `json:"tool"`
	// Redacted says that addresses, hosts' and users' names are stand-ins.
	Redacted   bool          `json:"redacted"`
	Supervisor supervisorDoc `json:"supervisor"`
	// Clusters are those that the capture is of.
	Clusters []model.ClusterRef `json:"clusters"`
	// Objects is how many there are in it.
	Objects int `json:"objects"`
	// Missing is what could not be read and why, for people: it follows from Sources.
	Missing []missingDoc `json:"missing,omitempty"`
	Sources []sourceDoc  `json:"sources"`
}

type missingDoc struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

type supervisorDoc struct {
	Context          string        `json:"context"`
	Server           string        `json:"server"`
	User             string        `json:"user"`
	Identity         string        `json:"identity,omitempty"`
	Insecure         bool          `json:"insecure,omitempty"`
	VKS              string        `json:"vks,omitempty"`
	VKSAtLeast       string        `json:"vksAtLeast,omitempty"`
	VKSDetail        string        `json:"vksDetail,omitempty"`
	ClusterAPI       []string      `json:"clusterAPI,omitempty"`
	DrainRulesServed model.Verdict `json:"drainRulesServed"`
}

type sourceDoc struct {
	Name   model.SourceName  `json:"name"`
	State  model.SourceState `json:"state"`
	Seen   time.Time         `json:"seen,omitzero"`
	Live   bool              `json:"live,omitempty"`
	Detail string            `json:"detail,omitempty"`
}

// lookDoc is what was seen of a workload cluster besides its objects.
type lookDoc struct {
	APIVersion  string           `json:"apiVersion"`
	Kind        string           `json:"kind"`
	Cluster     model.ClusterRef `json:"cluster"`
	Way         string           `json:"way,omitempty"`
	Nodes       sourceDoc        `json:"nodes"`
	Pods        sourceDoc        `json:"pods"`
	Budgets     sourceDoc        `json:"budgets"`
	PodsOn      []string         `json:"podsOn,omitempty"`
	HasPinniped model.Verdict    `json:"hasPinniped,omitempty"`
	// NamespaceLabels are null where they could not be read.
	NamespaceLabels map[string]map[string]string `json:"namespaceLabels"`
	Sightings       []sightingDoc                `json:"sightings,omitempty"`
	Logs            []logDoc                     `json:"logs,omitempty"`
}

type sightingDoc struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       string    `json:"uid"`
	Node      string    `json:"node"`
	First     time.Time `json:"first"`
	Last      time.Time `json:"last"`
	Gone      bool      `json:"gone,omitempty"`
}

type logDoc struct {
	Namespace string    `json:"namespace"`
	Pod       string    `json:"pod"`
	PodUID    string    `json:"podUID,omitempty"`
	Container string    `json:"container"`
	Previous  bool      `json:"previous,omitempty"`
	Restarts  int32     `json:"restarts,omitempty"`
	Read      time.Time `json:"read,omitzero"`
	Why       string    `json:"why,omitempty"`
	Text      string    `json:"text,omitempty"`
}

func supervisorOut(s model.Supervisor) supervisorDoc {
	return supervisorDoc{
		Context: s.Context, Server: s.Server, User: s.User, Identity: s.Identity, Insecure: s.Insecure,
		VKS: s.VKS, VKSAtLeast: s.VKSAtLeast, VKSDetail: s.VKSDetail, ClusterAPI: s.ClusterAPI, DrainRulesServed: s.DrainRulesServed,
	}
}

func (d supervisorDoc) in() model.Supervisor {
	return model.Supervisor{
		Context: d.Context, Server: d.Server, User: d.User, Identity: d.Identity, Insecure: d.Insecure,
		VKS: d.VKS, VKSAtLeast: d.VKSAtLeast, VKSDetail: d.VKSDetail, ClusterAPI: d.ClusterAPI, DrainRulesServed: d.DrainRulesServed,
	}
}

func sourceOut(s model.Source) sourceDoc {
	return sourceDoc{Name: s.Name, State: s.State, Seen: s.Seen, Live: s.Live, Detail: s.Detail}
}

func (d sourceDoc) in() model.Source {
	return model.Source{Name: d.Name, State: d.State, Seen: d.Seen, Live: d.Live, Detail: d.Detail}
}

func lookOut(ref model.ClusterRef, w *model.Workload) lookDoc {
	d := lookDoc{
		APIVersion: ownVersion, Kind: lookKind, Cluster: ref, Way: w.Way,
		Nodes: sourceOut(w.NodesSource), Pods: sourceOut(w.PodsSource), Budgets: sourceOut(w.BudgetsSource),
		PodsOn: onNodes(w.PodsOn), HasPinniped: w.HasPinniped, NamespaceLabels: w.NamespaceLabels,
	}
	for _, s := range w.Sightings {
		d.Sightings = append(d.Sightings, sightingDoc{Namespace: s.Namespace, Name: s.Name, UID: s.UID, Node: s.Node, First: s.First, Last: s.Last, Gone: s.Gone})
	}
	for _, l := range w.Logs {
		d.Logs = append(d.Logs, logDoc{
			Namespace: l.Namespace, Pod: l.Pod, PodUID: l.PodUID, Container: l.Container, Previous: l.Previous,
			Restarts: l.Restarts, Read: l.Read, Why: l.Why, Text: l.Text,
		})
	}
	return d
}

// in is the picture of the cluster's inside, without its objects.
func (d lookDoc) in() *model.Workload {
	w := &model.Workload{
		Way: d.Way, NodesSource: d.Nodes.in(), PodsSource: d.Pods.in(), BudgetsSource: d.Budgets.in(),
		PodsOn: map[string]bool{}, HasPinniped: d.HasPinniped, NamespaceLabels: d.NamespaceLabels,
	}
	for _, n := range d.PodsOn {
		w.PodsOn[n] = true
	}
	for _, s := range d.Sightings {
		w.Sightings = append(w.Sightings, model.Sighting{Namespace: s.Namespace, Name: s.Name, UID: s.UID, Node: s.Node, First: s.First, Last: s.Last, Gone: s.Gone})
	}
	for _, l := range d.Logs {
		w.Logs = append(w.Logs, model.LogExcerpt{
			Namespace: l.Namespace, Pod: l.Pod, PodUID: l.PodUID, Container: l.Container, Previous: l.Previous,
			Restarts: l.Restarts, Read: l.Read, Why: l.Why, Text: l.Text,
		})
	}
	return w
}
