package capture

import (
	"cmp"
	"encoding/json"
	"slices"

	"vksmedic/model"
	"vksmedic/probes/object"
)

// taken is what makes a dump a capture: the documents that are none of a cluster's objects.
type taken struct {
	index *indexDoc
	looks map[model.ClusterRef]lookDoc
}

// own takes one of our own documents; false where it is none.
func (d *Dump) own(u map[string]any) (mine bool, trouble string) {
	if v, _ := u["apiVersion"].(string); v != ownVersion {
		return false, ""
	}
	switch kind, _ := u["kind"].(string); kind {
	case indexKind:
		var i indexDoc
		if err := decode(u, &i); err != nil {
			return true, "the index of the capture is not understood: " + err.Error()
		}
		if d.taken.index != nil {
			return true, "there is more than one capture; read them one by one"
		}
		d.taken.index = &i
	case lookKind:
		var l lookDoc
		if err := decode(u, &l); err != nil {
			return true, "it is not understood: " + err.Error()
		}
		if d.taken.looks == nil {
			d.taken.looks = map[model.ClusterRef]lookDoc{}
		}
		d.taken.looks[l.Cluster] = l
	default:
		return false, ""
	}
	return true, ""
}

func decode(u map[string]any, into any) error {
	raw, err := json.Marshal(u)
	if err != nil {
		return err //nolint:wrapcheck // the caller says what it was.
	}
	return json.Unmarshal(raw, into) //nolint:wrapcheck // the caller says what it was.
}

// loose says whether an object is of a workload cluster.
func loose(o model.Object) bool {
	k, ok := object.Named(o.GetMeta().Kind)
	return ok && k.Place == model.PlaceCluster
}

// captured puts a capture into a store: everything comes to where it was, sources too, so that
// it is judged as the live Supervisor was.
func (d *Dump) captured(judge model.Judge) *model.Store {
	s := model.NewCaptureStore(judge)
	s.SetSupervisor(d.taken.index.Supervisor.in())
	for _, src := range d.taken.index.Sources {
		s.SetSource(src.in())
	}
	for _, src := range d.Sources {
		if src.Name != model.SourceDump {
			s.SetSource(src)
		}
	}
	workloads := map[model.ClusterRef]*model.Workload{}
	for ref, l := range d.taken.looks {
		workloads[ref] = l.in()
	}
	for i, o := range d.Objects {
		if !loose(o) {
			s.Put(o)
			continue
		}
		w := workloads[d.places[i].Cluster]
		if w == nil {
			continue // Nothing says how it was read.
		}
		w.Add(o)
	}
	for ref, w := range workloads {
		order(w)
		s.SetWorkload(ref, w)
	}
	return s
}

// order puts the parts of a workload cluster into the order in which looking has them.
func order(w *model.Workload) {
	by := func(a, b *model.Meta) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	}
	slices.SortStableFunc(w.Nodes, func(a, b model.Node) int { return by(&a.Meta, &b.Meta) })
	slices.SortStableFunc(w.Pods, func(a, b model.Pod) int { return by(&a.Meta, &b.Meta) })
	slices.SortStableFunc(w.Budgets, func(a, b model.Budget) int { return by(&a.Meta, &b.Meta) })
	slices.SortStableFunc(w.Attachments, func(a, b model.VolumeAttachment) int { return by(&a.Meta, &b.Meta) })
}

// chosen leaves the clusters that a capture is of: of their neighbours it only knows that they are
// there.
func (d *Dump) chosen(sn *model.Snapshot) {
	sn.Clusters = slices.DeleteFunc(sn.Clusters, func(c *model.Cluster) bool {
		return !slices.Contains(d.taken.index.Clusters, c.Ref)
	})
}
