package probes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"vksmedic/model"
	"vksmedic/probes/supervisor"
	"vksmedic/probes/workload"
)

// Once looks until every source has answered or failed and every workload cluster was
// looked into, and returns that picture. When the deadline of ctx comes first, the
// picture is what there is, and sources that had not answered are unreachable. An error
// means that it was cancelled.
func Once(ctx context.Context, conn *supervisor.Connection, config Config, judge model.Judge) (*model.Snapshot, error) {
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := Run(run, conn, config, judge)
	defer func() {
		cancel()
		l.Wait(endGrace)
	}()
	timeout := ctx.Done()
	var last <-chan time.Time
	for {
		select {
		case sn := <-l.Snapshots():
			if settled(sn) && (timeout == nil || len(l.looker.Pending(looksFor(sn))) == 0) {
				return sn, nil
			}
			if timeout == nil { // what came up since has no time left either.
				l.pump.Update(func(s *model.Store) { giveUp(s, sn, nil, conn.Server) })
			}
		case <-timeout:
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, fmt.Errorf("looking was given up: %w", ctx.Err())
			}
			timeout, last = nil, time.After(endGrace)
			sn := l.Latest()
			never := l.looker.Pending(func(model.ClusterRef) int { return 1 })
			l.pump.Update(func(s *model.Store) { giveUp(s, sn, never, conn.Server) })
		case <-last:
			// More comes in than can be taken in: the picture is what there is.
			s := *l.Latest()
			s.Sources = slices.Clone(s.Sources)
			for i := range s.Sources {
				unanswered(&s.Sources[i], conn.Server)
			}
			return &s, nil
		}
	}
}

// endGrace is how long after its time looking once may take to come to an end.
const endGrace = 2 * time.Second

// late is what is said of what has not answered in time.
const late = " did not answer in the time that was given; check the network or VPN, or give it longer with --timeout"

// unanswered marks a source that is still waited for.
func unanswered(s *model.Source, server string) {
	if s.State == model.SourceWaiting {
		s.State, s.Detail = model.SourceUnreachable, server+late
	}
}

// settled says whether no source is still waited for.
func settled(sn *model.Snapshot) bool {
	for _, s := range sn.Sources {
		if s.State == model.SourceWaiting {
			return false
		}
	}
	return len(sn.Sources) > 0
}

// looksFor says how often a cluster has to be looked into: twice where kube-cert-agents
// were seen, since only a second look tells whether they keep coming back.
func looksFor(sn *model.Snapshot) func(model.ClusterRef) int {
	return func(ref model.ClusterRef) int {
		if c := sn.Cluster(ref); c != nil && len(c.Workload.Sightings) > 0 {
			return 2
		}
		return 1
	}
}

// giveUp marks what has not answered in time: sources, and clusters that were never
// looked into.
func giveUp(s *model.Store, sn *model.Snapshot, never []model.ClusterRef, server string) {
	for _, src := range sn.Sources {
		if src.State == model.SourceWaiting {
			unanswered(&src, server)
			s.SetSource(src)
		}
	}
	for _, ref := range never {
		w := workload.Unread(ref, model.SourceUnreachable, "cluster "+ref.String()+late)
		s.SetWorkload(ref, w)
		for _, src := range []model.Source{w.NodesSource, w.PodsSource, w.BudgetsSource} {
			s.SetSource(src)
		}
	}
}
