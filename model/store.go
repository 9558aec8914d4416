package model

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Object is an observed object cut down to what is used: a *Machine, a
// *ClusterObject and so on; whatever embeds [Meta].
type Object interface{ GetMeta() *Meta }

// GetMeta is the object's metadata.
func (m *Meta) GetMeta() *Meta { return m }

// Judge finds the failure signatures of one cluster; where the cluster is nil,
// those of the Supervisor as a whole. Of the snapshot everything but Clusters and General
// is filled. review is when time alone may change the judgement, zero when it cannot.
type Judge func(c *Cluster, sn *Snapshot, now time.Time) (findings []Finding, review time.Time)

type name struct{ namespace, name string }

type rows map[string]map[name]Object // by kind.

func (r rows) put(kind string, n name, o Object) {
	if r[kind] == nil {
		r[kind] = map[name]Object{}
	}
	r[kind][n] = o
}

func (r rows) empty() bool {
	for _, m := range r {
		if len(m) > 0 {
			return false
		}
	}
	return true
}

// Store keeps the latest row of every object and builds snapshots from them.
// Only clusters that changed are built and judged again. It belongs to one
// goroutine.
type Store struct {
	judge Judge
	dump  bool
	// captured: of the past like a dump, and as complete as a live Supervisor.
	captured bool

	supervisor Supervisor
	sources    map[SourceName]Source
	all        rows
	// placed are the rows that name their cluster; loose[namespace] are those that have to
	// be joined through something else.
	placed    map[ClusterRef]rows
	loose     map[string]rows
	workloads map[ClusterRef]*Workload
	inside    inside // dumps only: objects of workload clusters that do not say of which.

	built   map[ClusterRef]*Cluster
	dirty   map[ClusterRef]bool
	allBad  bool // everything has to be built again.
	version uint64
}

// NewStore makes an empty store.
func NewStore(judge Judge) *Store {
	return &Store{judge: judge, sources: map[SourceName]Source{}, all: rows{}, placed: map[ClusterRef]rows{}, loose: map[string]rows{},
		workloads: map[ClusterRef]*Workload{}, built: map[ClusterRef]*Cluster{}, dirty: map[ClusterRef]bool{}}
}

// NewDumpStore makes a store for a dump: what it holds is taken for all there
// is, and objects that name no cluster make up one without a name.
func NewDumpStore(judge Judge) *Store {
	s := NewStore(judge)
	s.dump = true
	return s
}

// NewCaptureStore makes a store for a capture: it builds the clusters of a live Supervisor, as
// they were when it was taken.
func NewCaptureStore(judge Judge) *Store {
	s := NewStore(judge)
	s.captured = true
	return s
}

// SetSupervisor replaces what is known about the Supervisor as a whole.
func (s *Store) SetSupervisor(v Supervisor) {
	s.supervisor = v
	s.allBad = true
}

// Supervisor is what SetSupervisor was last given.
func (s *Store) Supervisor() Supervisor { return s.supervisor }

// SetSource adds or replaces a source by its name.
func (s *Store) SetSource(v Source) {
	if old, ok := s.sources[v.Name]; !ok || old.State != v.State || old.Detail != v.Detail {
		s.allBad = true
	}
	s.sources[v.Name] = v
}

// RemoveSource forgets a source.
func (s *Store) RemoveSource(n SourceName) {
	if _, ok := s.sources[n]; ok {
		delete(s.sources, n)
		s.allBad = true
	}
}

// Put adds or replaces an object.
func (s *Store) Put(o Object) {
	m := o.GetMeta()
	n := name{m.Namespace, m.Name}
	if old := s.all[m.Kind][n]; old != nil {
		s.unplace(old)
	}
	s.all.put(m.Kind, n, o)
	s.place(o)
}

// Delete forgets an object.
func (s *Store) Delete(ref ObjectRef) {
	n := name{ref.Namespace, ref.Name}
	if old := s.all[ref.Kind][n]; old != nil {
		s.unplace(old)
		delete(s.all[ref.Kind], n)
		if ref.Kind == "Cluster" {
			s.touch(ref.Namespace) // its neighbours know it.
		}
	}
}

// Replace makes objs all there is of a kind in a namespace, or everywhere when
// namespace is empty: what a list says. stay are objects that are there and that could not be
// read: what is known of them stays as it was.
func (s *Store) Replace(kind, namespace string, objs []Object, stay ...ObjectRef) {
	keep := make(map[name]bool, len(objs))
	for _, r := range stay {
		keep[name{r.Namespace, r.Name}] = true
	}
	for _, o := range objs {
		m := o.GetMeta()
		keep[name{m.Namespace, m.Name}] = true
	}
	for n := range s.all[kind] {
		if (namespace == "" || n.namespace == namespace) && !keep[n] {
			s.Delete(ObjectRef{Kind: kind, Namespace: n.namespace, Name: n.name})
		}
	}
	for _, o := range objs {
		m := o.GetMeta()
		old := s.all[kind][name{m.Namespace, m.Name}]
		if old != nil && m.ResourceVersion != "" && old.GetMeta().ResourceVersion == m.ResourceVersion {
			continue
		}
		s.Put(o)
	}
}

// SetWorkload replaces what is known of the inside of a cluster; nil forgets it.
// The value must not be changed afterwards.
func (s *Store) SetWorkload(ref ClusterRef, w *Workload) {
	if w == nil {
		delete(s.workloads, ref)
	} else {
		s.workloads[ref] = w
	}
	s.dirty[ref] = true
}

// AddLoose adds objects of workload clusters to a dump: nodes, pods, budgets,
// VolumeAttachments, namespaces. They are joined to the clusters whose Machines name
// their nodes.
func (s *Store) AddLoose(objs ...Object) {
	for _, o := range objs {
		s.inside.add(o)
	}
	s.allBad = true
}

// clusterOf is the cluster that an object names itself, if it does.
func clusterOf(o Object) (ref ClusterRef, ok bool) {
	p, ok := o.(part)
	if !ok {
		return ClusterRef{}, false
	}
	c := p.cluster()
	return ClusterRef{Namespace: o.GetMeta().Namespace, Name: c}, c != ""
}

func (s *Store) place(o Object) {
	m := o.GetMeta()
	n := name{m.Namespace, m.Name}
	if general(o) {
		s.allBad = s.allBad || !isImage(o)
		return
	}
	if ref, ok := clusterOf(o); ok {
		if s.placed[ref] == nil {
			s.placed[ref] = rows{}
		}
		s.placed[ref].put(m.Kind, n, o)
		s.dirty[ref] = true
		if b := s.built[ref]; m.Kind == "Cluster" && (b == nil || b.Object == nil) {
			s.touch(ref.Namespace) // a new one: its neighbours have to know it.
		}
		return
	}
	if s.loose[m.Namespace] == nil {
		s.loose[m.Namespace] = rows{}
	}
	s.loose[m.Namespace].put(m.Kind, n, o)
	s.touch(m.Namespace)
}

// general says whether an object is about the Supervisor, not about one cluster or namespace.
func general(o Object) bool {
	switch o.(type) {
	case *ClusterRole, *NodeConfig:
		return true
	}
	return isImage(o)
}

// isImage: images come and go, and no judgement hangs on them alone.
func isImage(o Object) bool {
	_, ok := o.(*VirtualMachineImage)
	return ok
}

func (s *Store) unplace(o Object) {
	m := o.GetMeta()
	if general(o) {
		s.allBad = s.allBad || !isImage(o)
		return
	}
	n := name{m.Namespace, m.Name}
	if ref, ok := clusterOf(o); ok {
		delete(s.placed[ref][m.Kind], n)
		s.dirty[ref] = true
		return
	}
	if r := s.loose[m.Namespace]; r != nil {
		delete(r[m.Kind], n)
		s.touch(m.Namespace)
	}
}

// touch marks all clusters of a namespace.
func (s *Store) touch(namespace string) {
	for ref := range s.placed {
		if ref.Namespace == namespace {
			s.dirty[ref] = true
		}
	}
	if s.dump {
		s.allBad = true
	}
}

// Snapshot builds the picture of this moment.
func (s *Store) Snapshot(now time.Time) *Snapshot {
	s.version++
	sn := &Snapshot{At: now, Dump: s.dump, Captured: s.captured, Supervisor: s.supervisor, Version: s.version}
	for _, k := range slices.Sorted(maps.Keys(s.sources)) {
		sn.Sources = append(sn.Sources, s.sources[k])
	}
	if s.allBad {
		for ref := range s.placed {
			s.dirty[ref] = true
		}
		for ref := range s.built {
			s.dirty[ref] = true
		}
	}
	if s.dump && s.allBad {
		s.joinInside()
	}
	for ref, c := range s.built {
		if !c.Review.IsZero() && !now.Before(c.Review) {
			s.dirty[ref] = true
		}
	}
	s.general(sn)
	for ref := range s.dirty {
		c := s.build(ref)
		if c == nil {
			delete(s.built, ref)
			// Its parts stay: watches answer in any order, and a VirtualMachine may be there
			// before the Cluster that it belongs to.
			if s.placed[ref].empty() {
				delete(s.placed, ref)
			}
			continue
		}
		if s.judge != nil {
			c.Findings, c.Review = s.judge(c, sn, now)
		}
		s.built[ref] = c
	}
	clear(s.dirty)
	s.allBad = false
	sn.Clusters = slices.SortedFunc(maps.Values(s.built), func(a, b *Cluster) int {
		if r := strings.Compare(a.Ref.Namespace, b.Ref.Namespace); r != 0 {
			return r
		}
		return strings.Compare(a.Ref.Name, b.Ref.Name)
	})
	return sn
}

// general fills in what is known of the Supervisor as a whole, and judges that.
func (s *Store) general(sn *Snapshot) {
	sn.Images = append(sorted[*VirtualMachineImage](s.all["VirtualMachineImage"]), sorted[*VirtualMachineImage](s.all["ClusterVirtualMachineImage"])...)
	sn.Roles = sorted[*ClusterRole](s.all["ClusterRole"])
	for _, kind := range NodeConfigKinds() {
		sn.NodeConfigs = append(sn.NodeConfigs, sorted[*NodeConfig](s.all[kind])...)
	}
	if s.judge != nil && len(sn.Roles) > 0 {
		sn.General, _ = s.judge(nil, sn, sn.At)
	}
}

// sorted are the rows of one type, by namespace and name.
func sorted[T Object](m map[name]Object) []T {
	var out []T
	for _, o := range m {
		if v, ok := o.(T); ok {
			out = append(out, v)
		}
	}
	byName(out)
	return out
}

// build puts a cluster together, or returns nil where nothing is left of it.
func (s *Store) build(ref ClusterRef) *Cluster {
	r := s.placed[ref]
	w := s.workloads[ref]
	if !s.exists(ref, r, w) {
		return nil
	}
	c := &Cluster{Ref: ref, Workload: w}
	if w == nil {
		c.Workload = &Workload{}
	}
	for _, m := range r {
		for _, o := range m {
			if p, ok := o.(part); ok {
				p.join(c)
			}
		}
	}
	c.order()
	s.joinLoose(c)
	for other, or := range s.placed {
		if other.Namespace == ref.Namespace && other != ref && !other.Nameless() && s.exists(other, or, nil) {
			c.Neighbours = append(c.Neighbours, other)
		}
	}
	slices.SortFunc(c.Neighbours, func(a, b ClusterRef) int { return strings.Compare(a.Name, b.Name) })
	return c
}

// exists says whether a cluster is worth a row: live, a Cluster or one of its Machines
// has to be there (leftovers such as a VirtualMachine that says of which cluster it was are
// not a cluster); of a dump, any part will do.
func (s *Store) exists(ref ClusterRef, r rows, w *Workload) bool {
	if s.dump {
		if w != nil {
			return true
		}
		for _, m := range r {
			if len(m) > 0 {
				return true
			}
		}
		return ref.Nameless() && s.unclaimed(ref.Namespace)
	}
	return len(r["Cluster"]) > 0 || len(r["Machine"]) > 0 || len(r["KubeadmControlPlane"]) > 0
}
