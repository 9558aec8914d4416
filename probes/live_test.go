package probes

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vksmedic/model"
)

func machine(cluster, name string) *model.Machine {
	m := &model.Machine{Cluster: cluster}
	m.Kind, m.Namespace, m.Name = "Machine", "ns", name
	return m
}

func pumping(t *testing.T, judge model.Judge) (*pump, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	p := newPump(ctx, Config{Now: time.Now, Log: slog.New(slog.DiscardHandler)}, judge, func(*model.Snapshot) {})
	go p.run()
	return p, cancel
}

func TestSnapshotsKeepTheirPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, cancel := pumping(t, nil)
		defer cancel()
		if sn := <-p.out; len(sn.Clusters) != 0 {
			t.Errorf("the first snapshot has %d clusters", len(sn.Clusters))
		}
		// A change after a quiet time is shown at once.
		time.Sleep(time.Second)
		began := time.Now()
		p.Update(func(s *model.Store) { s.Put(machine("c", "m")) })
		if sn := <-p.out; len(sn.Clusters) != 1 || time.Since(began) != 0 {
			t.Errorf("%d clusters after %v", len(sn.Clusters), time.Since(began))
		}
		// A thousand changes a second are forty snapshots.
		time.Sleep(time.Second)
		if seen := busySecond(p); seen < 36 || seen > 41 {
			t.Errorf("%d snapshots in a second", seen)
		}
		time.Sleep(time.Second)
		if n := len(p.latest.Load().Clusters[0].Machines); n != 1001 {
			t.Errorf("the last snapshot has %d machines", n)
		}
	})
}

// busySecond makes a thousand changes in a second and counts the snapshots.
func busySecond(p *pump) (seen int) {
	stop := make(chan struct{})
	go func() {
		defer close(stop)
		for i := range 1000 {
			p.Update(func(s *model.Store) { s.Put(machine("c", fmt.Sprint("m", i))) })
			time.Sleep(time.Millisecond)
		}
	}()
	for {
		select {
		case <-p.out:
			seen++
		case <-stop:
			return seen
		}
	}
}

// Snapshots that are costly are few: after each comes a pause ten times as long, of half a
// second at most.
func TestCostlySnapshotsAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, cancel := pumping(t, func(*model.Cluster, *model.Snapshot, time.Time) ([]model.Finding, time.Time) {
			time.Sleep(20 * time.Millisecond)
			return nil, time.Time{}
		})
		defer cancel()
		if seen := busySecond(p); seen < 3 || seen > 6 {
			t.Errorf("%d snapshots of 20 ms each in a second", seen)
		}
	})
}

func TestSlowReaderGetsTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, cancel := pumping(t, nil)
		defer cancel()
		for i := range 5 {
			p.Update(func(s *model.Store) { s.Put(machine("c", fmt.Sprint("m", i))) })
			time.Sleep(time.Second)
		}
		if sn := <-p.out; len(sn.Clusters[0].Machines) != 5 {
			t.Errorf("%d machines", len(sn.Clusters[0].Machines))
		}
	})
}

func TestReviewComesByTimeAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		judge := func(c *model.Cluster, _ *model.Snapshot, now time.Time) ([]model.Finding, time.Time) {
			if now.Sub(began) < 2*time.Minute {
				return nil, began.Add(2 * time.Minute)
			}
			return []model.Finding{{Signature: "late", Cluster: c.Ref}}, time.Time{}
		}
		p, cancel := pumping(t, judge)
		defer cancel()
		p.Update(func(s *model.Store) { s.Put(machine("c", "m")) })
		for sn := range p.out {
			if len(sn.Findings()) == 1 {
				break
			}
		}
		if d := time.Since(began); d != 2*time.Minute {
			t.Errorf("judged again after %v", d)
		}
	})
}

func TestPanicsAreSaidAndHoldUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		judge := func(c *model.Cluster, _ *model.Snapshot, _ time.Time) ([]model.Finding, time.Time) {
			if c == nil || c.Ref.Name == "bad" {
				panic("a bug")
			}
			return []model.Finding{{Signature: "found", Cluster: c.Ref}}, time.Time{}
		}
		p, cancel := pumping(t, judge)
		defer cancel()
		p.Update(func(s *model.Store) { s.Put(machine("bad", "b")); s.Put(machine("good", "m")) })
		p.Update(func(*model.Store) { panic("another bug") })
		time.Sleep(time.Second)
		p.Update(func(s *model.Store) { s.Put(machine("good", "n")) })
		time.Sleep(time.Second)
		sn := p.latest.Load()
		if len(sn.Findings()) != 1 {
			t.Errorf("findings: %v", sn.Findings())
		}
		if src := sn.Source(model.SourceJudge); src == nil || !strings.Contains(src.Detail, "ns/bad") {
			t.Errorf("sources: %+v", sn.Sources)
		}
	})
}

func TestPanicAboutTheSupervisorIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, cancel := pumping(t, func(c *model.Cluster, _ *model.Snapshot, _ time.Time) ([]model.Finding, time.Time) {
			if c == nil {
				panic("a bug")
			}
			return nil, time.Time{}
		})
		defer cancel()
		p.Update(func(s *model.Store) { s.Put(&model.ClusterRole{Meta: model.Meta{Kind: "ClusterRole", Name: "r"}}) })
		time.Sleep(time.Second)
		p.Update(func(s *model.Store) { s.Put(machine("good", "m")) })
		time.Sleep(time.Second)
		if src := p.latest.Load().Source(model.SourceJudge); src == nil || !strings.Contains(src.Detail, "the Supervisor as a whole") {
			t.Errorf("sources: %+v", p.latest.Load().Sources)
		}
	})
}

func TestEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, cancel := pumping(t, nil)
		cancel()
		for range p.out {
			continue
		}
		for range 2 * room { // nobody waits for a pump that has ended.
			p.Update(func(*model.Store) {})
		}
	})
}

func TestGiveUpMarksWhatDidNotAnswer(t *testing.T) {
	s := model.NewStore(nil)
	s.SetSource(model.Source{Name: "supervisor/machines", State: model.SourceWaiting})
	s.SetSource(model.Source{Name: "supervisor/clusters", State: model.SourceOK})
	s.Put(machine("c", "m"))
	giveUp(s, s.Snapshot(time.Now()), []model.ClusterRef{{Namespace: "ns", Name: "c"}}, "https://192.0.2.10")
	sn := s.Snapshot(time.Now())
	var got []string
	for _, src := range sn.Sources {
		got = append(got, string(src.Name)+" "+string(src.State))
	}
	want := []string{"supervisor/clusters ok", "supervisor/machines unreachable", "workload/ns/c/budgets unreachable", "workload/ns/c/nodes unreachable", "workload/ns/c/pods unreachable"}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if d := sn.Source("supervisor/machines").Detail; !strings.HasPrefix(d, "https://192.0.2.10 did not answer") || !strings.Contains(d, "--timeout") {
		t.Errorf("%q does not say who did not answer and what to do", d)
	}
	if !settled(sn) {
		t.Error("it is still waited for something")
	}
}
