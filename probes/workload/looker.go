package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/probes/supervisor"
)

// The pace of looking.
const (
	nearEvery = 4 * time.Second // plus up to two more.
	farEvery  = time.Minute     // a fifth more or less.
	// longestNear and longestFar are how seldom a cluster that does not answer is tried.
	longestNear = time.Minute
	longestFar  = 5 * time.Minute
)

// Sink takes changes to the store; see the one of package supervisor.
type Sink interface {
	Update(change func(*model.Store))
}

// Config says how to look.
type Config struct {
	// Secret reads a Secret of the Supervisor by name.
	Secret func(ctx context.Context, namespace, name string) (map[string][]byte, error)
	// Files are kubeconfigs that the engineer named for clusters.
	Files map[model.ClusterRef]string
	// Deadline is how long one look may take; zero for ten seconds.
	Deadline time.Duration
	// AtOnce is how many clusters are looked at at a time; zero for eight.
	AtOnce int
	// Only picks the clusters that are looked into; nil for all.
	Only func(model.ClusterRef) bool
	// Before is what earlier looks of another looker remember of a cluster (which agents were
	// seen, and when); nil where there was none.
	Before func(model.ClusterRef) *model.Workload
	// Keep is handed every object whole that a look reads, before the sink is told of its row; nil
	// for nobody. It must not change or keep the object, and is called from several goroutines.
	Keep func(in model.Place, object map[string]any)
	// Supervisor is the name under which places name the Supervisor.
	Supervisor string
	// Log takes what API servers have to say besides; nil for nowhere.
	Log *slog.Logger
	// Now is the clock; nil for time.Now.
	Now func() time.Time
	// Random is a number from 0 to 1 to spread looks with; nil for math/rand/v2.
	Random func() float64
}

// Looker looks into the workload clusters that snapshots show. Tell it of every snapshot
// with Observe. Its methods may be called from any goroutine.
type Looker struct {
	config Config
	wake   chan struct{}
	done   chan result

	mu       sync.Mutex
	judged   map[model.ClusterRef]judged
	wanted   map[model.ClusterRef]need
	attended model.Place
	again    bool
	targets  map[model.ClusterRef]*target
}

// target is one cluster that is looked at.
type target struct {
	ref  model.ClusterRef
	need need
	next time.Time // when to look next.
	// notBefore is until when the cluster asked to be left alone.
	notBefore time.Time
	busy      bool
	fails     int
	looks     int // finished ones.
	near      bool
	client    *client
	known     *model.Workload
}

type result struct {
	ref    model.ClusterRef
	client *client
	w      *model.Workload
	err    error
}

// New makes a looker; nothing happens until Run.
func New(c Config) *Looker {
	if c.Deadline <= 0 {
		c.Deadline = 10 * time.Second
	}
	if c.AtOnce <= 0 {
		c.AtOnce = 8
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Random == nil {
		c.Random = rand.Float64
	}
	return &Looker{config: c, wake: make(chan struct{}, 1), done: make(chan result), targets: map[model.ClusterRef]*target{}}
}

// Observe tells the looker what the Supervisor shows now.
func (l *Looker) Observe(sn *model.Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := make(map[model.ClusterRef]judged, len(sn.Clusters))
	wanted := make(map[model.ClusterRef]need, len(sn.Clusters))
	changed := len(sn.Clusters) != len(l.judged)
	for _, c := range sn.Clusters {
		j := l.judged[c.Ref]
		if j.cluster != c {
			j, changed = judged{c, needOf(c)}, true
		}
		now[c.Ref] = j
		if j.need.possible && c.Ref.Name != "" && (l.config.Only == nil || l.config.Only(c.Ref)) {
			wanted[c.Ref] = j.need
		}
	}
	l.judged, l.wanted = now, wanted
	if changed {
		l.stir()
	}
}

// judged remembers the need of a cluster for as long as nothing about it changes.
type judged struct {
	cluster *model.Cluster
	need    need
}

// Attend has one cluster looked at closely, because it is open on the screen; a place that is no
// cluster ends that.
func (l *Looker) Attend(p model.Place) {
	l.mu.Lock()
	l.attended = p
	l.mu.Unlock()
	l.stir()
}

// Refresh has every cluster looked at now.
func (l *Looker) Refresh() {
	l.mu.Lock()
	l.again = true
	l.mu.Unlock()
	l.stir()
}

func (l *Looker) stir() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Pending are the clusters that can be looked into and have not been, that many times,
// whether they answered or not.
func (l *Looker) Pending(times func(model.ClusterRef) int) []model.ClusterRef {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []model.ClusterRef
	for ref := range l.wanted {
		if t := l.targets[ref]; t == nil || t.looks < times(ref) {
			out = append(out, ref)
		}
	}
	return out
}

// Client connects to a workload cluster with the credentials that looking uses.
func (l *Looker) Client(ctx context.Context, ref model.ClusterRef) (dynamic.Interface, error) {
	c, err := l.connect(ctx, ref)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Discovery is a client that asks a workload cluster what it serves, for as long as ctx lasts.
func (l *Looker) Discovery(ctx context.Context, ref model.ClusterRef) (discovery.DiscoveryInterface, error) {
	c, err := l.connect(ctx, ref)
	if err != nil {
		return nil, err
	}
	return c.discovery(ctx)
}

// Run looks until ctx ends, and tells the sink.
func (l *Looker) Run(ctx context.Context, sink Sink) {
	var looks sync.WaitGroup
	defer looks.Wait()
	running := 0
	for {
		gone := l.plan()
		for _, ref := range gone {
			forget(sink, ref)
		}
		for _, t := range l.due(l.config.AtOnce - running) {
			running++
			looks.Go(func() { l.take(ctx, t) })
		}
		timer := time.NewTimer(l.untilNext(running))
		select {
		case <-ctx.Done():
			timer.Stop()
			go func() { // whoever still looks can report and end.
				for range running {
					<-l.done
				}
			}()
			return
		case <-l.wake:
		case <-timer.C:
		case r := <-l.done:
			running--
			l.finish(sink, r)
		}
		timer.Stop()
	}
}

// plan brings the targets in line with what is wanted and returns those that went.
func (l *Looker) plan() (gone []model.ClusterRef) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.config.Now()
	for ref, n := range l.wanted {
		t := l.targets[ref]
		if t == nil {
			t = &target{ref: ref, next: now, known: l.remembered(ref)}
			l.targets[ref] = t
		}
		near := n.near || l.attended.Is(ref) || t.known != nil && len(t.known.PodsOn) > 0
		if l.again || near && !t.near || !slices.Equal(n.nodes, t.need.nodes) {
			t.next = later(now, t.notBefore)
		}
		t.need, t.near = n, near
	}
	for ref, t := range l.targets {
		if _, ok := l.wanted[ref]; !ok && !t.busy {
			delete(l.targets, ref)
			gone = append(gone, ref)
		}
	}
	l.again = false
	return gone
}

// remembered is what another looker knew of a cluster that is good for longer than a look: not
// what it read, but what it saw come and go.
func (l *Looker) remembered(ref model.ClusterRef) *model.Workload {
	if l.config.Before == nil {
		return nil
	}
	w := l.config.Before(ref)
	if w == nil {
		return nil
	}
	return &model.Workload{Sightings: w.Sightings, HasPinniped: w.HasPinniped, NamespaceLabels: w.NamespaceLabels}
}

// due picks at most n clusters whose time has come, those with a hint of trouble first,
// and marks them busy.
func (l *Looker) due(n int) []visit {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.config.Now()
	var ready []*target
	for _, t := range l.targets {
		if !t.busy && !t.next.After(now) {
			ready = append(ready, t)
		}
	}
	slices.SortFunc(ready, func(a, b *target) int {
		if a.near != b.near {
			if a.near {
				return -1
			}
			return 1
		}
		return cmp.Or(a.next.Compare(b.next), cmp.Compare(a.ref.String(), b.ref.String()))
	})
	var out []visit
	for _, t := range ready[:min(max(n, 0), len(ready))] {
		t.busy = true
		out = append(out, visit{t.ref, t.client, t.need.nodes, t.known})
	}
	return out
}

// visit is one look to be taken.
type visit struct {
	ref    model.ClusterRef
	client *client
	nodes  []string
	known  *model.Workload
}

// untilNext is how long nothing is due.
func (l *Looker) untilNext(running int) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	wait := time.Hour
	if running >= l.config.AtOnce {
		return wait // the next thing to happen is that one of them is done.
	}
	now := l.config.Now()
	for _, t := range l.targets {
		if !t.busy {
			wait = min(wait, t.next.Sub(now))
		}
	}
	return max(wait, 0)
}

// take takes one look, with a deadline of its own.
func (l *Looker) take(ctx context.Context, v visit) {
	r := result{ref: v.ref, client: v.client}
	defer func() {
		if p := recover(); p != nil {
			l.config.Log.Error("looking into a workload cluster failed inside vksmedic", "cluster", v.ref.String(), "panic", fmt.Sprint(p))
			r.err = fmt.Errorf("vksmedic itself failed while reading this: %v; please report it", p)
		}
		l.done <- r
	}()
	ctx, cancel := context.WithTimeout(ctx, l.config.Deadline)
	defer cancel()
	r.w, r.client, r.err = l.try(ctx, v)
}

// try looks with the client there is, and with new credentials where those are refused.
func (l *Looker) try(ctx context.Context, v visit) (*model.Workload, *client, error) {
	c := v.client
	for fresh := c == nil; ; fresh = true {
		if fresh {
			var err error
			if c, err = l.connect(ctx, v.ref); err != nil {
				return nil, nil, err
			}
		}
		w, err := look(ctx, c, v.ref, v.nodes, v.known, l.config.Now)
		if err == nil || fresh || !apierrors.IsUnauthorized(err) {
			return w, c, err
		}
	}
}

// finish takes in a result and plans the next look.
func (l *Looker) finish(sink Sink, r result) {
	l.mu.Lock()
	t := l.targets[r.ref]
	if t == nil {
		l.mu.Unlock()
		return
	}
	t.busy = false
	t.looks++
	t.client = r.client
	w := r.w
	if r.err != nil {
		t.fails++
		state, why := l.explain(r)
		w = failed(r.ref, t.known, state, why)
	} else {
		t.fails = 0
	}
	t.known = w
	t.near = t.need.near || l.attended.Is(r.ref) || len(w.PodsOn) > 0
	now := l.config.Now()
	t.notBefore = now.Add(supervisor.DelayAsked(r.err))
	t.next = later(now.Add(l.pace(t)), t.notBefore)
	l.mu.Unlock()
	sink.Update(func(s *model.Store) {
		s.SetWorkload(r.ref, w)
		for _, src := range []model.Source{w.NodesSource, w.PodsSource, w.BudgetsSource} {
			s.SetSource(src)
		}
	})
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

func (l *Looker) explain(r result) (model.SourceState, string) {
	if r.client == nil { // the credentials could not be had.
		if apierrors.IsForbidden(r.err) || errors.Is(r.err, ErrRefused) {
			return model.SourceForbidden, r.err.Error()
		}
		return model.SourceUnreachable, r.err.Error()
	}
	return explain(r.err, r.client.server, "list nodes")
}

// pace is how long to wait after a look.
func (l *Looker) pace(t *target) time.Duration {
	random := l.config.Random()
	every, longest := farEvery*4/5+time.Duration(random*float64(farEvery)*2/5), longestFar
	if t.near {
		every, longest = nearEvery+time.Duration(random*float64(2*time.Second)), longestNear
	}
	for range min(t.fails, 10) {
		every = min(2*every, longest)
	}
	return every
}

// forget takes a cluster that went out of the store.
func forget(sink Sink, ref model.ClusterRef) {
	sink.Update(func(s *model.Store) {
		s.SetWorkload(ref, nil)
		for _, part := range []string{model.PartNodes, model.PartPods, model.PartBudgets} {
			s.RemoveSource(model.WorkloadSource(ref, part))
		}
	})
}
