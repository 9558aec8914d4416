package ui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"vksmedic/model"
)

// TestKeysDoWhatIsSaid presses every key that a screen shows: each is one of its own
// or works everywhere.
func TestKeysDoWhatIsSaid(t *testing.T) {
	for _, sc := range scenes() {
		if sc.name == "small" {
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			for _, b := range sc.make(t, 80, 24).m.bindingsNow() {
				for _, k := range b.Keys() {
					s := sc.make(t, 80, 24)
					if s.m.prompt != nil {
						return // A line that is typed into has no other keys.
					}
					msg := press(k)
					if msg.String() != k {
						t.Fatalf("the test presses %q for %q", msg.String(), k)
					}
					_, mine := s.m.top().key(s.m, msg)
					if !mine && !key.Matches(msg, s.m.keys.Help, s.m.keys.Command, s.m.keys.Refresh, s.m.keys.Back) {
						t.Errorf("%s (%s) is shown and does nothing", k, b.Help().Desc)
					}
				}
			}
		})
	}
}

func (m *Model) bindingsNow() []key.Binding { return m.top().bindings(m.frame()) }

// TestHelpShowsEveryKey: what a screen's last line offers stands in its group as well.
func TestHelpShowsEveryKey(t *testing.T) {
	in := map[string]bool{}
	for _, g := range Keys().Groups() {
		for _, b := range g.Keys {
			if b.Help().Key == "" || b.Help().Desc == "" {
				t.Errorf("%v has no help", b.Keys())
			}
			in[b.Help().Key+b.Help().Desc] = true
		}
	}
	for _, sc := range scenes() {
		for _, b := range sc.make(t, 120, 40).m.bindingsNow() {
			if !in[b.Help().Key+b.Help().Desc] {
				t.Errorf("%s: %s %s is in no group", sc.name, b.Help().Key, b.Help().Desc)
			}
		}
	}
}

// TestDrawingChangesNothing: of no screen, nor of the model.
func TestDrawingChangesNothing(t *testing.T) {
	for _, sc := range scenes() {
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			s := sc.make(t, 120, 40)
			state := func() string {
				all := fmt.Sprintf("%+v", *s.m)
				for _, x := range s.m.stack {
					switch x := x.(type) {
					case *listScreen:
						all += fmt.Sprintf("%+v", *x)
					case *fleet:
						all += fmt.Sprintf("%+v %+v", *x, *x.listScreen)
					case *evidence:
						all += fmt.Sprintf("%+v %+v", *x, *x.listScreen)
					case *walks:
						all += fmt.Sprintf("%+v %+v", *x, *x.listScreen)
					case *wizard:
						all += fmt.Sprintf("%+v", *x)
					case *reading:
						all += fmt.Sprintf("%+v", *x)
					default:
						t.Fatalf("what is in a %T is not looked at", x)
					}
				}
				if s.m.prompt != nil {
					all += fmt.Sprintf("%+v", *s.m.prompt)
				}
				return all
			}
			before, first := state(), s.m.View().Content
			if second := s.m.View().Content; second != first {
				t.Error("drawn again it is another")
			}
			if state() != before {
				t.Error("drawing changed something")
			}
		})
	}
}

// TestSelectionStays on its cluster while others come and go above it.
func TestSelectionStays(t *testing.T) {
	s := newDesk(t, 80, 24, Options{})
	s.send(snapshotMsg{picture()})
	s.keys("j", "j")
	if !strings.Contains(s.screen(), "›i team-c/ml") {
		t.Fatal(s.screen())
	}
	sn := picture()
	sn.Clusters = append(sn.Clusters, stuckNamed("team-z", "worse"))
	s.send(snapshotMsg{sn})
	if !strings.Contains(s.screen(), "›i team-c/ml") {
		t.Error(s.screen())
	}
}

func stuckNamed(ns, name string) *model.Cluster {
	c := well(ns, name, "v1.32.1")
	c.Findings = []model.Finding{{Signature: "x", Severity: model.Critical, Confidence: model.Confirmed, Cluster: c.Ref, Short: "worse", Since: ago(100 * time.Hour)}}
	return c
}

func TestVersionsInWords(t *testing.T) {
	for _, c := range []struct{ run, want, words string }{
		{"v1.32.1", "v1.32.1", "1.32.1"},
		{"v1.31.4+vmware.1-fips", "v1.32.1+vmware.1-fips", "1.31.4 → 1.32.1"},
		{"v1.32.1+vmware.1", "v1.32.1+vmware.2", "1.32.1+vmware.1 → 1.32.1+vmware.2"},
		{"v1.9.3", "v1.10.0", "1.9.3 → 1.10.0"},
		{"", "", "?"},
	} {
		x := &model.Cluster{Object: &model.ClusterObject{Version: c.want}, Machines: []*model.Machine{{Version: c.want}, {Version: c.run}}, Workload: &model.Workload{}}
		if got := versionWords(x, " → "); got != c.words {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// fleetOf is a large fleet.
func fleetOf(n int) *model.Snapshot {
	sn := picture()
	for i := range n - len(sn.Clusters) {
		sn.Clusters = append(sn.Clusters, well("team-"+itoa(i%20), fmt.Sprintf("c-%03d", i), "v1.32.1"))
	}
	return sn
}

// BenchmarkFleetView draws a fleet of 500 clusters.
func BenchmarkFleetView(b *testing.B) {
	s := newDesk(b, 200, 50, Options{})
	s.send(snapshotMsg{fleetOf(500)})
	s.keys("a")
	b.ReportAllocs()
	for b.Loop() {
		s.m.View()
	}
}

// BenchmarkFleetSnapshot takes a snapshot of 500 clusters and draws it.
func BenchmarkFleetSnapshot(b *testing.B) {
	s := newDesk(b, 200, 50, Options{})
	one, two := fleetOf(500), fleetOf(500)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		sn := one
		if i%2 == 1 {
			sn = two
		}
		s.m.Update(snapshotMsg{sn})
		s.m.View()
	}
}

// stamped is a terminal that notes when it was written to.
type stamped struct{ at chan time.Time }

func (s stamped) Write(p []byte) (int, error) {
	select {
	case s.at <- time.Now():
	default:
	}
	return len(p), nil
}

// BenchmarkKeyToBytes is the time from a key message to the bytes of its frame, Bubble
// Tea's pacing included: every key moves the selection among 500 clusters.
func BenchmarkKeyToBytes(b *testing.B) {
	out := stamped{make(chan time.Time, 64)}
	keys := make(chan tea.KeyPressMsg)
	in, quit := io.Pipe()
	done := make(chan error, 1)
	sn := fleetOf(500)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var took []time.Duration
	m := newModel(ctx, Options{Where: where(), Now: clock, Snapshots: feed(sn)}, new(atomic.Int64))
	p := newProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out),
		tea.WithWindowSize(200, 50), tea.WithColorProfile(colorprofile.TrueColor), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	go func() { _, err := p.Run(); done <- err }()
	go func() {
		for k := range keys {
			p.Send(k)
		}
	}()
	<-out.at
	quiet := func() {
		// Until nothing was written for as long as three frames take.
		for {
			select {
			case <-out.at:
			case <-time.After(30 * time.Millisecond):
				return
			}
		}
	}
	quiet()
	keys <- press("a")
	quiet()
	for i := 0; b.Loop(); i++ {
		k := press("j")
		if i/400%2 == 1 {
			k = press("k")
		}
		begin := time.Now()
		keys <- k
		took = append(took, (<-out.at).Sub(begin))
		quietFor := time.NewTimer(time.Duration(i%7) * time.Millisecond)
		<-quietFor.C
		for len(out.at) > 0 {
			<-out.at
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	close(keys)
	p.Quit()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, tea.ErrProgramKilled) {
		b.Fatal(err)
	}
	_ = quit.Close()
}
