package walk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/probes/supervisor"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
)

// Two engineers on one cluster see each other through a Lease in its vSphere
// Namespace. The first one holds it; who comes later stands in an annotation on it,
// so that both sides see the other. It locks nothing: it only shows who works here.
//
// Whether somebody is still there is judged by the renewals that we see, and timed by our own
// clock: their clock and ours are never compared. Somebody seen for the first time may have
// left long ago. They count as present until we have seen no renewal for the Lease's duration.
const (
	leaseFor   = 2 * time.Minute
	leaseRenew = 30 * time.Second
	// alsoPrefix and the id of a walk are the annotation of somebody who does not hold the Lease.
	alsoPrefix = "also.vksmedic/"
	// leaseManager is the field manager of what is written to a Lease.
	leaseManager = "vksmedic-lease"
	// wideNamespace is where the Lease for what reaches beyond one cluster is.
	wideNamespace = metav1.NamespaceSystem
)

func leaseResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
}

// leases are our presence in a walk: on its cluster and, where a step reaches further, on the
// whole Supervisor. A walk that belongs to no cluster has only the latter.
type leases struct {
	// turn holds one value while a request is under way: one at a time. Whoever waits for it
	// gives up with its own deadline.
	turn    chan struct{}
	cluster *lease // nil where the walk belongs to no cluster.
	wide    *lease
	// reach says that the wide Lease is kept too. It belongs to whoever has the turn.
	reach bool
	// earlier says that the walk was picked up: another process may have left our name on a Lease.
	earlier bool

	mu sync.Mutex // guards renewing.
	// renewing ends the renewals; nil where nothing is renewed.
	renewing func()
}

func newLeases(r *Runner, c model.ClusterRef, walk string) *leases {
	one := func(namespace, name, of string) *lease {
		return &lease{dyn: r.cfg.Sites.Supervisor.Dynamic(), namespace: namespace, name: name, walk: walk, who: r.cfg.Who, host: r.cfg.Host, now: r.cfg.Now,
			seen: map[string]renewal{}, whyForbidden: r.cfg.Sites.Supervisor.WhyForbidden, log: func(e *effect.Object, back bool, err error, start time.Time) {
				why := "so that others see who works on "
				if back {
					why = "so that others see that you are done with "
				}
				r.log(e, r.cfg.Context+": "+why+of, err, start)
			}}
	}
	l := &leases{turn: make(chan struct{}, 1), wide: one(wideNamespace, "vksmedic-supervisor", "the Supervisor")}
	l.wide.unseen = "nobody can see that you work here"
	if c.Namespace != "" && c.Name != "" {
		l.cluster = one(c.Namespace, "vksmedic-"+c.Name, c.String())
		l.cluster.unseen = l.wide.unseen
		l.wide.unseen = "nobody who works on another cluster can see that you change what all of them have"
	}
	return l
}

// of are those that a step of that reach needs.
func (l *leases) of(wide bool) []*lease {
	switch {
	case l.cluster == nil:
		return []*lease{l.wide}
	case wide:
		return []*lease{l.cluster, l.wide}
	}
	return []*lease{l.cluster}
}

// others reads who else is at work. It writes nothing. A Lease that is not there is nobody;
// blind says why one could not be read.
func (l *leases) others(ctx context.Context, wide bool) (others []presence, blind string) {
	if err := l.begin(ctx); err != nil {
		return nil, "cannot see whether somebody else works here: " + remedies.Short(err)
	}
	defer l.end()
	for _, x := range l.of(wide) {
		o, why := x.others(ctx)
		others = addNew(others, o)
		blind = cmp.Or(blind, why)
	}
	return others, blind
}

func addNew(to, from []presence) []presence {
	for _, p := range from {
		if !slices.ContainsFunc(to, func(o presence) bool { return o.walk == p.walk }) {
			to = append(to, p)
		}
	}
	return to
}

// kept is what came of taking or renewing the Leases. What one of them says does not keep the
// others from being written.
type kept struct {
	// others are who else stands on them.
	others []presence
	// unseen says for whom we cannot be seen, where a Lease cannot be; empty when all see us.
	unseen string
	// held says that one is ours.
	held bool
	// err is why it is not known whether one is: the server did not answer.
	err error
}

// keep takes the Leases, and the wide one as well where a step reaches beyond its cluster. A
// Lease that was taken once is kept until it is given back.
func (l *leases) keep(ctx context.Context, wide bool) kept {
	return l.each(ctx, wide, (*lease).keep)
}

// renew renews the Leases that were asked for. Where one cannot be, it only looks.
func (l *leases) renew(ctx context.Context) kept {
	return l.each(ctx, false, func(x *lease, ctx context.Context) ([]presence, error) {
		if x.none != nil {
			o, _ := x.others(ctx)
			return o, x.none
		}
		return x.keep(ctx)
	})
}

func (l *leases) each(ctx context.Context, wide bool, keep func(*lease, context.Context) ([]presence, error)) kept {
	if err := l.begin(ctx); err != nil {
		return kept{err: err}
	}
	defer l.end()
	l.reach = l.reach || wide
	var k kept
	var unseen []string
	for _, x := range l.of(l.reach) {
		o, err := keep(x, ctx)
		k.others = addNew(k.others, o)
		switch {
		case errors.Is(err, errNoLease):
			unseen = append(unseen, x.unseen+": "+err.Error())
		case err != nil:
			k.err = errors.Join(k.err, err)
		}
		k.held = k.held || !x.since.IsZero()
	}
	k.unseen = text.Clean(strings.Join(unseen, "; "))
	return k
}

func (l *leases) giveBack(ctx context.Context) error {
	l.halt()
	if err := l.begin(ctx); err != nil {
		return fmt.Errorf("cannot give back the lease, it ends by itself in %s: %w", leaseFor, err)
	}
	defer l.end()
	var out error
	for _, x := range l.of(true) {
		if l.earlier || x.tried {
			out = errors.Join(out, x.giveBack(ctx))
		}
	}
	l.reach = false
	return out
}

func (l *leases) begin(ctx context.Context) error {
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // worded by the callers.
	}
}

func (l *leases) end() { <-l.turn }

// halt ends the renewals, and says whether there were any.
func (l *leases) halt() bool {
	l.mu.Lock()
	stop := l.renewing
	l.renewing = nil
	l.mu.Unlock()
	if stop != nil {
		stop()
	}
	return stop != nil
}

// renewal is a sign of life of somebody else, and when we saw it first.
type renewal struct {
	stamp string
	at    time.Time
	// again says that a later one was seen after the first.
	again bool
}

// lease is our presence on one Lease. It is used by one goroutine at a time.
type lease struct {
	dyn             dynamic.Interface
	namespace, name string
	walk, who, host string
	now             func() time.Time
	since           time.Time // when we came; zero until the Lease was taken.
	// tried says that it was asked for: without an answer it may be ours though since is zero.
	tried bool
	// none is why the Lease cannot be; nil where it can. unseen says who cannot see us then.
	none         error
	unseen       string
	seen         map[string]renewal
	log          func(e *effect.Object, back bool, err error, start time.Time)
	whyForbidden func(ctx context.Context, ask supervisor.Ask, err error) supervisor.Refusal
}

// presence is one engineer as the Lease shows them.
type presence struct {
	walk, who, host string
	since           string // by their own clock.
	stamp           string // of the last renewal, as it stands there.
	lasts           time.Duration
	renews          bool // a renewal was seen.
}

func (p presence) words() string {
	s := p.who + " on " + p.host
	if p.host == "" {
		s = p.who
	}
	s = text.Clean(s) + " is working here since " + text.Clean(p.since)
	if !p.renews {
		s += "; no sign of life was seen yet"
	}
	return s
}

func (l *lease) client() dynamic.ResourceInterface {
	return l.dyn.Resource(leaseResource()).Namespace(l.namespace)
}

func (l *lease) others(ctx context.Context) (others []presence, blind string) {
	x, err := l.get(ctx)
	switch {
	case err == nil && x == nil:
		return nil, ""
	case apierrors.IsForbidden(err):
		return nil, "cannot see whether somebody else works here: " + l.refused(ctx, "get", "read", err)
	case err != nil:
		return nil, "cannot see whether somebody else works here: " + remedies.Short(err)
	}
	return l.present(x), ""
}

// refused says what refused a request with a 403; to is what the user may not do to leases where it
// is a right that is missing.
func (l *lease) refused(ctx context.Context, verb, to string, err error) string {
	r := leaseResource()
	why := l.whyForbidden(ctx, supervisor.Ask{Verb: verb, Group: r.Group, Resource: r.Resource, Namespace: l.namespace, Name: l.name}, err)
	if why.By == supervisor.RefusedByRights {
		return "may not " + to + " leases in " + l.namespace
	}
	return text.Clean(why.Words)
}

// get reads the Lease; nil where it is not there.
func (l *lease) get(ctx context.Context) (*coordinationv1.Lease, error) {
	u, err := l.client().Get(ctx, l.name, metav1.GetOptions{})
	if effect.NotThere(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // worded by the callers.
	}
	x := &coordinationv1.Lease{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, x); err != nil {
		return nil, fmt.Errorf("lease %s/%s cannot be understood: %w", l.namespace, l.name, err)
	}
	return x, nil
}

// present are the others that are still there.
func (l *lease) present(x *coordinationv1.Lease) []presence {
	now := l.now()
	var out []presence
	for _, p := range append([]presence{holderOf(x)}, alsoOf(x)...) {
		if p.who == "" || p.walk == l.walk {
			continue
		}
		r, known := l.seen[p.walk]
		switch {
		case !known:
			r = renewal{stamp: p.stamp, at: now}
		case r.stamp != p.stamp:
			r = renewal{stamp: p.stamp, at: now, again: true}
		}
		l.seen[p.walk] = r
		if now.Sub(r.at) < p.lasts {
			p.renews = r.again
			out = append(out, p)
		}
	}
	return out
}

func holderOf(x *coordinationv1.Lease) presence {
	if x.Spec.HolderIdentity == nil {
		return presence{}
	}
	p := parsePresence(*x.Spec.HolderIdentity)
	p.lasts = leaseFor
	if n := x.Spec.LeaseDurationSeconds; n != nil && *n > 0 {
		p.lasts = min(time.Duration(*n)*time.Second, time.Hour)
	}
	if t := x.Spec.RenewTime; t != nil {
		p.stamp = t.UTC().Format(time.RFC3339Nano)
	}
	if t := x.Spec.AcquireTime; t != nil {
		p.since = t.UTC().Format(time.RFC3339)
	}
	return p
}

// alsoOf are those that stand in annotations: since, seen, identity, separated by spaces.
func alsoOf(x *coordinationv1.Lease) []presence {
	var out []presence
	for _, k := range slices.Sorted(maps.Keys(x.Annotations)) {
		if !strings.HasPrefix(k, alsoPrefix) {
			continue
		}
		part := strings.SplitN(x.Annotations[k], " ", 3)
		if len(part) != 3 {
			continue
		}
		p := parsePresence(part[2])
		p.walk, p.since, p.stamp, p.lasts = strings.TrimPrefix(k, alsoPrefix), part[0], part[1], leaseFor
		out = append(out, p)
	}
	return out
}

// identity is the holderIdentity: who, host and walk. Users hold neither tab nor newline.
func (l *lease) identity() string { return l.who + " on " + l.host + " (vksmedic " + l.walk + ")" }

func parsePresence(id string) presence {
	p := presence{who: id}
	if rest, walk, ok := cutLast(strings.TrimSuffix(id, ")"), " (vksmedic "); ok {
		p.walk, p.who = walk, rest
		if who, host, ok := cutLast(rest, " on "); ok {
			p.who, p.host = who, host
		}
	}
	return p
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// errNoLease is what keep returns where there can be no Lease: the server lets none be written,
// or its namespace is not there.
var errNoLease = errors.New("no lease can be written")

// noLease is errNoLease with the reason as its words.
type noLease struct{ why string }

func (n *noLease) Error() string { return n.why }
func (n *noLease) Unwrap() error { return errNoLease }

// keep takes the Lease, or renews it. Where somebody else holds it, it writes us down beside
// them and returns them. Where there can be no Lease the error is [errNoLease], and the others
// are still returned as far as they can be read.
func (l *lease) keep(ctx context.Context) ([]presence, error) {
	const tries = 3
	var others []presence
	var err error
	var verb string
	l.tried, l.none = true, nil
	for range tries {
		if others, verb, err = l.keepOnce(ctx); err == nil {
			return others, nil
		}
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && (!effect.NotThere(err) || verb == string(effect.Create)) {
			break
		}
	}
	switch {
	case apierrors.IsForbidden(err):
		l.none = &noLease{l.refused(ctx, verb, "write", err)}
		return others, l.none
	case verb == string(effect.Create) && effect.NotThere(err): // what is made can lack nothing but its namespace.
		l.none = &noLease{"namespace " + l.namespace + " is not there"}
		return others, l.none
	}
	return others, fmt.Errorf("cannot write lease %s/%s: %w", l.namespace, l.name, err)
}

// keepOnce tries once; verb is what was asked of the server last.
func (l *lease) keepOnce(ctx context.Context) (others []presence, verb string, err error) {
	start := l.now()
	x, err := l.get(ctx)
	if err != nil {
		return nil, "get", err
	}
	do := effect.Update
	if x == nil {
		do = effect.Create
		x = &coordinationv1.Lease{TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
			ObjectMeta: metav1.ObjectMeta{Name: l.name, Namespace: l.namespace}}
	} else {
		others = l.present(x)
		l.dropGone(x, others)
	}
	since := l.since
	h := holderOf(x)
	if h.walk == l.walk && since.IsZero() && x.Spec.AcquireTime != nil {
		since = x.Spec.AcquireTime.Time // picked up again after a crash.
	}
	if since.IsZero() {
		since = start
	}
	if h.who == "" || h.walk == l.walk || !slices.ContainsFunc(others, func(p presence) bool { return p.walk == h.walk }) {
		l.hold(x, since, start)
	} else {
		metav1.SetMetaDataAnnotation(&x.ObjectMeta, alsoPrefix+l.walk,
			since.UTC().Format(time.RFC3339)+" "+start.UTC().Format(time.RFC3339Nano)+" "+l.identity())
	}
	if err := l.write(ctx, do, x, false, start); err != nil {
		return others, string(do), err
	}
	l.since = since
	return others, string(do), nil
}

func (l *lease) hold(x *coordinationv1.Lease, since, now time.Time) {
	id, seconds := l.identity(), int32(leaseFor/time.Second)
	acquired, renewed := metav1.NewMicroTime(since.UTC()), metav1.NewMicroTime(now.UTC())
	x.Spec.HolderIdentity, x.Spec.LeaseDurationSeconds, x.Spec.AcquireTime, x.Spec.RenewTime = &id, &seconds, &acquired, &renewed
	delete(x.Annotations, alsoPrefix+l.walk)
}

// dropGone forgets who has not been seen for long, such as after a crash.
func (l *lease) dropGone(x *coordinationv1.Lease, there []presence) {
	for _, p := range alsoOf(x) {
		if p.walk != l.walk && !slices.ContainsFunc(there, func(o presence) bool { return o.walk == p.walk }) {
			delete(x.Annotations, alsoPrefix+p.walk)
		}
	}
}

// write sends the Lease, and puts a line into the log of commands: for taking and giving
// back, not for every renewal.
func (l *lease) write(ctx context.Context, v effect.Verb, x *coordinationv1.Lease, back bool, start time.Time) error {
	o, err := runtime.DefaultUnstructuredConverter.ToUnstructured(x)
	if err != nil {
		return fmt.Errorf("cannot write lease %s/%s: %w", l.namespace, l.name, err)
	}
	unstructured.RemoveNestedField(o, "metadata", "creationTimestamp")
	u := &unstructured.Unstructured{Object: o}
	u.SetAPIVersion("coordination.k8s.io/v1")
	u.SetKind("Lease")
	e := effect.NewObject(model.OnSupervisor(""), v, leaseResource(), "Lease", l.namespace, l.name)
	switch v {
	case effect.Create:
		_, err = l.client().Create(ctx, u, metav1.CreateOptions{FieldManager: leaseManager})
	case effect.Update:
		_, err = l.client().Update(ctx, u, metav1.UpdateOptions{FieldManager: leaseManager})
	case effect.Delete:
		uid, rv := u.GetUID(), u.GetResourceVersion()
		err = l.client().Delete(ctx, l.name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &rv}})
	}
	if l.since.IsZero() || back {
		e.Want = effect.Whole(u)
		e.UID, e.ResourceVersion = string(u.GetUID()), u.GetResourceVersion()
		l.log(e, back, err, start)
	}
	return err //nolint:wrapcheck // worded by the callers.
}

// giveBack takes our name off the Lease, and removes it where nobody is left on it. The name is
// looked for even where nothing is known of it: the answer to the write may have been lost, and
// another process may have written it.
func (l *lease) giveBack(ctx context.Context) error {
	start := l.now()
	x, err := l.get(ctx)
	if apierrors.IsForbidden(err) && l.since.IsZero() {
		return nil // who may not read it has not written it.
	}
	if err == nil {
		if x == nil || !l.named(x) {
			l.since = time.Time{}
			return nil
		}
		delete(x.Annotations, alsoPrefix+l.walk)
		if h := holderOf(x); h.walk == l.walk {
			if len(l.present(x)) == 0 && l.write(ctx, effect.Delete, x, true, start) == nil {
				l.since = time.Time{}
				return nil
			}
			x.Spec.HolderIdentity, x.Spec.RenewTime, x.Spec.AcquireTime = nil, nil, nil
		}
		err = l.write(ctx, effect.Update, x, true, start)
	}
	if err != nil && !effect.NotThere(err) {
		return fmt.Errorf("cannot give back lease %s/%s, it ends by itself in %s: %w", l.namespace, l.name, leaseFor, err)
	}
	l.since = time.Time{}
	return nil
}

// named says whether our walk stands on the Lease.
func (l *lease) named(x *coordinationv1.Lease) bool {
	_, also := x.Annotations[alsoPrefix+l.walk]
	return also || holderOf(x).walk == l.walk
}

// takeLease makes us visible, and keeps us so until the walk is left. It returns lines when
// somebody came since the preview. Where a Lease may not be written the walk goes on, and
// the view says that nobody can see us; where the server does not answer, nothing is sent.
func (w *Walk) takeLease(ctx context.Context, wide bool) ([]remedies.Line, error) {
	ctx, cancel := context.WithTimeout(ctx, leaseTimeout)
	defer cancel()
	renewed := w.leases.halt()
	k := w.leases.keep(ctx, wide)
	if renewed || k.held {
		w.keepLease()
	}
	if k.err != nil {
		return nil, remedies.Tell(remedies.ErrBlocked, "not sent: "+remedies.Short(k.err)+"; nothing was applied, r looks again")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var present []string
	if w.shown != nil {
		present = w.shown.present
	}
	w.unseen, w.others = k.unseen, k.others
	return newcomers(present, k.others), nil
}

// keepLease renews the Leases until that is halted.
func (w *Walk) keepLease() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	w.leases.mu.Lock()
	if w.leases.renewing != nil {
		w.leases.mu.Unlock()
		cancel()
		return
	}
	w.leases.renewing = func() {
		cancel()
		<-done
	}
	w.leases.mu.Unlock()
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				w.setUnseen(fmt.Sprintf("the lease is no longer renewed: %v", p))
			}
		}()
		tick := time.NewTicker(leaseRenew)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			w.renew(ctx)
		}
	}()
}

// renew renews the Leases. Whom it sees is drawn, and is new for the preview that is open
// until that is looked at again.
func (w *Walk) renew(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaseTimeout)
	defer cancel()
	k := w.leases.renew(ctx)
	if errors.Is(k.err, context.Canceled) {
		return
	}
	if k.err != nil {
		w.setUnseen("nobody can see that you work here: " + remedies.Short(k.err))
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unseen, w.others = k.unseen, k.others
}

func (w *Walk) setUnseen(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unseen = text.Clean(why)
}
