package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"vksmedic/model"
	"vksmedic/probes/wire"
)

// How often it is asked anew what is served: soon where something is missing (a CRD may be
// on its way), seldom when all is there (an upgrade may bring other versions).
const (
	discoverMissing = time.Minute
	discoverAll     = 10 * time.Minute
)

// Watch looks at the Supervisor until ctx ends, and tells the sink. Every kind is a
// source of its own: one that is forbidden, not served or broken never holds up another.
func (c *Connection) Watch(ctx context.Context, sink Sink) { c.WatchKeeping(ctx, sink, nil) }

// WatchKeeping does what Watch does, and hands keep every object whole before the sink is told of
// its row. keep must not change or keep the object, and is called from several goroutines.
// Several watches of a connection may run at a time.
func (c *Connection) WatchKeeping(ctx context.Context, sink Sink, keep func(object map[string]any)) {
	b := &board{sink: sink, now: c.opts.Now, keep: keep}
	b.open(c)
	defer c.login.watchTrouble(b.login)()

	var all sync.WaitGroup
	for _, k := range kinds() {
		all.Go(func() { c.forever(ctx, b, k.source(""), func(ctx context.Context) { c.watchKind(ctx, b, k) }) })
	}
	all.Go(func() { c.forever(ctx, b, "", func(ctx context.Context) { c.keepDiscovering(ctx, b) }) })
	all.Go(func() { c.forever(ctx, b, "", func(ctx context.Context) { c.keepIdentity(ctx, b) }) })
	all.Go(func() { c.forever(ctx, b, "", c.keepLogin) })
	all.Go(func() { c.forever(ctx, b, model.SourceVKS, func(ctx context.Context) { c.keepVersion(ctx, b) }) })
	all.Wait()
}

// keepLogin notices a renewed login soon even when every source waits for its next try.
func (c *Connection) keepLogin(ctx context.Context) {
	for sleep(ctx, 2*stampEvery, nil) {
		c.login.lookAgain(false)
	}
}

// forever runs f until ctx ends, and again should it panic: the source then says so, and
// the others go on.
func (c *Connection) forever(ctx context.Context, b *board, source model.SourceName, f func(context.Context)) {
	wait := backoff{random: c.opts.Random}
	for ctx.Err() == nil {
		if p := recovered(func() { f(ctx) }); p != nil {
			c.opts.Log.Error("looking at the Supervisor failed inside vksmedic", "source", source, "panic", fmt.Sprint(p))
			if source != "" {
				b.trouble(source, model.SourceUnreachable, fmt.Sprintf("vksmedic itself failed while reading this: %v; please report it", p))
			}
			sleep(ctx, wait.wait(0), c.again.listen())
		}
	}
}

// recovered calls f and returns what it panicked with, nil if it did not.
func recovered(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}

// keepDiscovering asks what is served, and again from time to time.
func (c *Connection) keepDiscovering(ctx context.Context, b *board) {
	wait := backoff{random: c.opts.Random}
	missing := discoverMissing
	for {
		bell := c.again.listen()
		if err := c.discover(ctx); err != nil {
			if ctx.Err() != nil {
				return
			}
			state, why := c.Explain(err, "ask what the API serves")
			if !c.served.asked() {
				for _, k := range kinds() {
					if !k.ByKind() {
						b.trouble(k.source(""), state, why)
					}
				}
			}
			if !c.rest(ctx, &wait, err, bell) {
				return
			}
			continue
		}
		wait.reset()
		b.about(func(s *model.Supervisor) {
			s.ClusterAPI = c.served.of(clusterResource())
			s.DrainRulesServed = c.served.drainRules()
		})
		next := discoverAll
		if c.missing() {
			next = missing
			missing = min(2*missing, discoverAll)
		}
		if !sleep(ctx, next, bell) {
			return
		}
	}
}

// missing says whether a watched kind is not served.
func (c *Connection) missing() bool {
	return slices.ContainsFunc(kinds(), func(k kind) bool {
		_, ok, _ := c.served.answer(k)
		return !ok && !k.ByKind()
	})
}

// watchKind follows one kind: as soon as it is known to be served, in the version it is
// served in, everywhere or in the namespaces that are allowed.
func (c *Connection) watchKind(ctx context.Context, b *board, k kind) {
	for ctx.Err() == nil {
		changed := c.served.changed.listen()
		r, ok, known := c.served.answer(k)
		if !ok {
			switch {
			case known && k.ByKind():
				b.replace(k.Name, "", nil)
				b.remove(k.source(""))
			case known:
				b.replace(k.Name, "", nil)
				b.trouble(k.source(""), model.SourceNotServed, fmt.Sprintf("%s does not serve %s", c.Server, k.Resource))
			case !k.ByKind():
				overdue := time.AfterFunc(c.opts.Deadline, func() {
					b.overdue(k.source(""), fmt.Sprintf("%s has not answered within %v; check the network or VPN, the dashboard goes on trying", c.Server, c.opts.Deadline))
				})
				defer overdue.Stop()
			}
			if !sleep(ctx, refusedWait, changed) {
				return
			}
			continue
		}
		c.watchResolved(ctx, b, r)
	}
}

// watchResolved watches until ctx ends or the kind is served differently.
func (c *Connection) watchResolved(ctx context.Context, b *board, r resolved) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		for {
			changed := c.served.changed.listen()
			if now, ok, _ := c.served.answer(r.kind); !ok || now.gvr != r.gvr {
				cancel()
				return
			}
			if !sleep(ctx, refusedWait, changed) {
				return
			}
		}
	}()

	if !c.opts.Restrict || !r.Namespaced {
		err := c.watcher(b, r, "").run(ctx)
		if ctx.Err() != nil {
			return
		}
		if !apierrors.IsForbidden(err) || !r.Namespaced || len(c.Namespaces()) == 0 {
			c.refused(ctx, b, r, err)
			return
		}
	}
	c.watchNamespaces(ctx, b, r)
}

// refused waits after an answer that trying again will not change soon.
func (c *Connection) refused(ctx context.Context, b *board, r resolved, err error) {
	bell := c.again.listen()
	if apierrors.IsNotFound(err) {
		b.trouble(r.source(""), model.SourceNotServed, fmt.Sprintf("%s does not serve %s", c.Server, r.Resource))
	} else {
		b.trouble(r.source(""), model.SourceForbidden, c.forbidden(r))
	}
	sleep(ctx, refusedWait, bell)
}

func (c *Connection) forbidden(r resolved) string {
	if !r.Namespaced {
		return fmt.Sprintf("user %s may not list and watch %s; ask for that right", c.User, r.what())
	}
	return fmt.Sprintf("user %s may not list and watch %s in all namespaces; ask for that right, or name your vSphere Namespaces with -n", c.User, r.what())
}

// watchNamespaces watches a kind namespace by namespace. A namespace that is forbidden
// too is tried again when a person asks, or the login changes.
func (c *Connection) watchNamespaces(ctx context.Context, b *board, r resolved) {
	namespaces := c.Namespaces()
	for _, ns := range namespaces {
		b.waiting(r.source(ns))
	}
	b.remove(r.source(""))
	var all sync.WaitGroup
	for _, ns := range namespaces {
		source := r.source(ns)
		all.Go(func() {
			c.forever(ctx, b, source, func(ctx context.Context) {
				for ctx.Err() == nil {
					err := c.watcher(b, r, ns).run(ctx)
					if ctx.Err() != nil {
						return
					}
					bell := c.again.listen()
					state, why := c.Explain(err, fmt.Sprintf("list and watch %s in namespace %s", r.what(), ns))
					if apierrors.IsNotFound(err) {
						state, why = model.SourceNotServed, fmt.Sprintf("%s does not serve %s", c.Server, r.Resource)
					}
					b.trouble(source, state, why)
					sleep(ctx, refusedWait, bell)
				}
			})
		})
	}
	all.Wait()
	for _, ns := range namespaces {
		b.remove(r.source(ns))
	}
}

// DelayAsked is how long a server asked to be left alone, as far as it is obeyed (an hour at most);
// zero where err does not say.
func DelayAsked(err error) time.Duration {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return 0
	}
	if s, ok := apierrors.SuggestsClientDelay(err); ok {
		return min(time.Duration(s)*time.Second, wire.LongestWait)
	}
	return 0
}
