package probes

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/probes/supervisor"
	"vksmedic/probes/workload"
)

// Config says how to look, besides what the connection knows.
type Config struct {
	// Kubeconfigs are files that the engineer named for workload clusters
	// (--workload-kubeconfig), used instead of the Secret.
	Kubeconfigs map[model.ClusterRef]string
	// Deadline is how long one look into a workload cluster may take; zero for ten seconds.
	Deadline time.Duration
	// Only picks the workload clusters that are looked into; nil for all.
	Only func(model.ClusterRef) bool
	// Before is a picture that was taken earlier: what it saw come and go in the workload clusters
	// is remembered. Nil where there is none.
	Before *model.Snapshot
	// Keep is handed every object whole, with the place in which it lives, before its row is in a
	// snapshot. Nil for nobody. It must not change or keep the object, and is called from several
	// goroutines.
	Keep func(in model.Place, object map[string]any)
	// Seen is told of every snapshot; it has to return at once. Nil for nobody.
	Seen func(*model.Snapshot)
	// Log takes what goes wrong inside; nil for nowhere.
	Log *slog.Logger
	// Now is the clock; nil for time.Now.
	Now func() time.Time
}

// before finds a cluster in the earlier picture.
func (c Config) before() func(model.ClusterRef) *model.Workload {
	if c.Before == nil {
		return nil
	}
	known := make(map[model.ClusterRef]*model.Workload, len(c.Before.Clusters))
	for _, x := range c.Before.Clusters {
		known[x.Ref] = x.Workload
	}
	return func(ref model.ClusterRef) *model.Workload { return known[ref] }
}

// keep takes the Supervisor's objects; nil where nobody wants them.
func (c Config) keep(in model.Place) func(map[string]any) {
	if c.Keep == nil {
		return nil
	}
	return func(u map[string]any) { c.Keep(in, u) }
}

// Live is a Supervisor being looked at.
type Live struct {
	seen   func(*model.Snapshot)
	conn   *supervisor.Connection
	looker *workload.Looker
	pump   *pump
	ended  chan struct{}
	// refreshed is when a person last asked for a look, in nanoseconds since 1970.
	refreshed atomic.Int64
}

// refreshEvery is how often a person can have everything looked at again.
const refreshEvery = 2 * time.Second

// Run starts looking and returns at once; everything ends with ctx. The first snapshot is
// there immediately, with every source waiting.
func Run(ctx context.Context, conn *supervisor.Connection, config Config, judge model.Judge) *Live {
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	l := &Live{conn: conn, seen: config.Seen, ended: make(chan struct{})}
	l.looker = workload.New(workload.Config{
		Secret: conn.Secret, Files: config.Kubeconfigs, Deadline: config.Deadline, Log: config.Log, Now: config.Now,
		Only: config.Only, Before: config.before(), Keep: config.Keep, Supervisor: conn.Context,
	})
	l.pump = newPump(ctx, config, judge, l.observe)
	var all sync.WaitGroup
	all.Go(l.pump.run)
	all.Go(func() { conn.WatchKeeping(ctx, l.pump, config.keep(model.OnSupervisor(conn.Context))) })
	all.Go(func() { l.looker.Run(ctx, l.pump) })
	go func() {
		all.Wait()
		close(l.ended)
	}()
	return l
}

// observe has the looker see where it is needed.
func (l *Live) observe(sn *model.Snapshot) {
	l.looker.Observe(sn)
	if l.seen != nil {
		l.seen(sn)
	}
}

// Snapshots are the pictures as they change. The channel is closed when ctx ended.
func (l *Live) Snapshots() <-chan *model.Snapshot { return l.pump.out }

// Latest is the newest snapshot.
func (l *Live) Latest() *model.Snapshot { return l.pump.latest.Load() }

// Ended is closed when everything that looked has ended.
func (l *Live) Ended() <-chan struct{} { return l.ended }

// Wait waits until everything that looked has ended, but no longer than d: what is outside of this
// program's hands (a login plug-in that hangs) may never end.
func (l *Live) Wait(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-l.ended:
	case <-t.C:
	}
}

// Refresh looks again now: whatever failed or was refused on the Supervisor, and into
// every workload cluster. What is being watched is current anyway.
//
// A person who keeps the key pressed wants one look, not a thousand.
func (l *Live) Refresh() {
	now := time.Now().UnixNano()
	last := l.refreshed.Load()
	if time.Duration(now-last) < refreshEvery || !l.refreshed.CompareAndSwap(last, now) {
		return
	}
	l.conn.Refresh()
	l.looker.Refresh()
}

// Attend has a cluster looked at closely while it is open on the screen; any place that is no
// cluster ends that.
func (l *Live) Attend(p model.Place) { l.looker.Attend(p) }

// Workload connects to a workload cluster with the credentials that looking uses.
func (l *Live) Workload(ctx context.Context, ref model.ClusterRef) (dynamic.Interface, error) {
	c, err := l.looker.Client(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("cannot reach cluster %s: %w", ref, err)
	}
	return c, nil
}

// Discovery is a client that asks the Supervisor, or a workload cluster, what it serves, for as
// long as ctx lasts.
func (l *Live) Discovery(ctx context.Context, p model.Place) (discovery.DiscoveryInterface, error) {
	switch p.Kind {
	case model.PlaceSupervisor:
		return l.conn.Discovery(ctx)
	case model.PlaceCluster:
		c, err := l.looker.Discovery(ctx, p.Cluster)
		if err != nil {
			return nil, fmt.Errorf("cannot reach cluster %s: %w", p.Cluster, err)
		}
		return c, nil
	case model.PlaceNode, model.PlaceVCenter:
	}
	return nil, fmt.Errorf("%s has no Kubernetes API", p)
}

// YAML reads an object live, in the place that the reference names.
func (l *Live) YAML(ctx context.Context, ref model.ObjectRef) (string, error) {
	r, err := l.reader(ref)
	if err != nil {
		return "", err
	}
	return r.YAML(ctx, ref) //nolint:wrapcheck // the sentence is complete.
}

// Describe reads an object and its events live, in the place that the reference names, and writes
// them in words.
func (l *Live) Describe(ctx context.Context, ref model.ObjectRef) (string, error) {
	r, err := l.reader(ref)
	if err != nil {
		return "", err
	}
	return r.Describe(ctx, ref) //nolint:wrapcheck // the sentence is complete.
}

// reader reads objects of one place.
type reader interface {
	YAML(ctx context.Context, ref model.ObjectRef) (string, error)
	Describe(ctx context.Context, ref model.ObjectRef) (string, error)
}

func (l *Live) reader(ref model.ObjectRef) (reader, error) {
	switch ref.Place.Kind {
	case model.PlaceSupervisor:
		return l.conn, nil
	case model.PlaceCluster:
		return l.looker, nil
	case model.PlaceNode, model.PlaceVCenter:
		return nil, fmt.Errorf("cannot show %s: there are no objects on %s", ref, ref.Place)
	}
	return nil, fmt.Errorf("cannot show %s: nothing says where it lives", ref)
}

// pump is the one goroutine that owns the store.
type pump struct {
	ctx     context.Context // Updates wait for room no longer than the pump lives.
	config  Config
	store   *model.Store
	updates chan func(*model.Store)
	out     chan *model.Snapshot
	latest  atomic.Pointer[model.Snapshot]
	observe func(*model.Snapshot)

	// next is when the next snapshot may be handed out.
	next time.Time
	// review is when time alone may change a judgement; zero when it cannot.
	review time.Time
	// odd is what judging failed at, to be shown as a source.
	odd string
}

const (
	// fastest is the shortest time between two snapshots; one that took long to build is
	// followed by a pause that is pauses times as long, but at most slowest.
	fastest = 25 * time.Millisecond
	pauses  = 10
	slowest = time.Second / 2
	// room is how many updates may wait; whoever has more waits.
	room = 1024
)

func newPump(ctx context.Context, config Config, judge model.Judge, observe func(*model.Snapshot)) *pump {
	p := &pump{ctx: ctx, config: config, updates: make(chan func(*model.Store), room), out: make(chan *model.Snapshot, 1), observe: observe}
	p.store = model.NewStore(p.careful(judge))
	p.latest.Store(p.store.Snapshot(config.Now()))
	return p
}

// Update implements the sinks of the packages below.
func (p *pump) Update(change func(*model.Store)) {
	select {
	case p.updates <- change:
	case <-p.ctx.Done():
	}
}

func (p *pump) run() {
	defer close(p.out)
	p.hand()
	dirty := false
	for {
		timer := time.NewTimer(p.wait(dirty))
		select {
		case <-p.ctx.Done():
			timer.Stop()
			return
		case f := <-p.updates:
			p.apply(f)
			p.drain()
			dirty = true
		case <-timer.C:
			dirty = true
		}
		timer.Stop()
		if dirty && time.Until(p.next) <= 0 {
			p.hand()
			dirty = false
		}
	}
}

// wait is how long nothing has to be handed out: until the pace allows what changed, or
// until time alone may change a judgement.
func (p *pump) wait(dirty bool) time.Duration {
	if dirty {
		return time.Until(p.next)
	}
	wait := time.Hour
	if !p.review.IsZero() {
		wait = min(wait, p.review.Sub(p.config.Now()))
	}
	// A judgement that asks to be reviewed at once, over and over, gets one a second.
	return max(wait, time.Second)
}

// drain applies what has come meanwhile, for as much as there was room for.
func (p *pump) drain() {
	for range room {
		select {
		case f := <-p.updates:
			p.apply(f)
		default:
			return
		}
	}
}

// apply makes one change; one that panics is left out.
func (p *pump) apply(f func(*model.Store)) {
	defer func() {
		if x := recover(); x != nil {
			p.config.Log.Error("an observation could not be taken in", "panic", fmt.Sprint(x))
		}
	}()
	f(p.store)
}

// hand builds a snapshot and hands it out, in place of one that nobody has taken.
func (p *pump) hand() {
	began := time.Now()
	if p.odd != "" {
		p.store.SetSource(model.Source{Name: model.SourceJudge, State: model.SourceNotUnderstood, Seen: p.config.Now(), Detail: p.odd})
		p.odd = ""
	}
	sn := p.store.Snapshot(p.config.Now())
	p.latest.Store(sn)
	p.review = time.Time{}
	for _, c := range sn.Clusters {
		if !c.Review.IsZero() && (p.review.IsZero() || c.Review.Before(p.review)) {
			p.review = c.Review
		}
	}
	p.observe(sn)
	select {
	case <-p.out:
	default:
	}
	p.out <- sn
	ended := time.Now()
	p.next = ended.Add(min(max(fastest, pauses*ended.Sub(began)), slowest))
}

// careful keeps a signature that panics on one cluster from taking the others along.
func (p *pump) careful(judge model.Judge) model.Judge {
	if judge == nil {
		return nil
	}
	return func(c *model.Cluster, sn *model.Snapshot, now time.Time) (found []model.Finding, review time.Time) {
		defer func() {
			if x := recover(); x != nil {
				what := "the Supervisor as a whole"
				if c != nil {
					what = "cluster " + c.Ref.String()
				}
				p.odd = fmt.Sprintf("vksmedic itself failed while judging %s: %v; please report it", what, x)
				p.config.Log.Error("judging failed", "of", what, "panic", fmt.Sprint(x))
				found, review = nil, time.Time{}
			}
		}()
		return judge(c, sn, now)
	}
}
