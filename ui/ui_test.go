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

func (m *Model) bindingsNow() []key.Binding { return m.top().bindings(m) }

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

func TestArm(t *testing.T) {
	written := int64(5)
	now := func(_ time.Duration, then func(time.Time) tea.Msg) tea.Cmd {
		return func() tea.Msg { return then(clock()) }
	}
	run := func(a *arm, cmd tea.Cmd) tea.Cmd {
		t.Helper()
		if cmd == nil {
			t.Fatal("nothing to wait for")
		}
		return a.step(cmd().(armMsg), written, now)
	}
	a := &arm{}
	cmd := a.lay("t1", 0, 10, 20, written)
	cmd = run(a, cmd)
	written++
	run(a, cmd)
	if a.armed("t1") {
		t.Error("armed although half of it was never on the screen")
	}
	stale := armMsg{a.turn}
	if a.lay("t1", 15, 20, 20, written) != nil || a.unread() == 0 {
		t.Error("a jump to the end reads what lies between")
	}
	// Two pages turned before a frame was written: the one between was never seen.
	run(a, a.lay("t1", 8, 15, 20, written))
	run(a, a.lay("t1", 13, 20, 20, written))
	written++
	if a.step(armMsg{a.turn}, written, now); a.armed("t1") || a.unread() != 10 {
		t.Errorf("a page that no frame held counts as read: %+v", a)
	}
	cmd = a.lay("t1", 10, 20, 20, written)
	if a.step(stale, written+1, now); a.state != armLaid {
		t.Error("a message of before moved it on")
	}
	cmd = run(a, cmd)
	if a.armed("t1") {
		t.Error("armed before it was written")
	}
	cmd = run(a, cmd) // Nothing was written meanwhile: it waits on.
	if a.armed("t1") || a.mark() == " …" {
		t.Error("armed although nothing was written, or nothing to write")
	}
	written++
	run(a, cmd)
	if !a.armed("t1") || a.armed("t2") {
		t.Errorf("%+v", a)
	}
	if a.lay("t1", 10, 20, 20, written) != nil || !a.armed("t1") {
		t.Error("drawing it again disarms it")
	}
	if a.cover(); !a.armed("t1") {
		t.Error("another screen over it disarms it")
	}
	// What waits while another screen is over it begins anew; that screen's frames are not its.
	cmd = a.lay("t3", 0, 20, 20, written)
	cmd = run(a, cmd)
	a.cover()
	written++
	if run(a, cmd); a.armed("t3") || a.onScreen(written) {
		t.Error("armed by the frame of another screen")
	}
	cmd = run(a, a.lay("t3", 0, 20, 20, written))
	written++
	if run(a, cmd); !a.armed("t3") {
		t.Errorf("it never arms again: %+v", a)
	}
	if a.lay("t2", 0, 20, 20, written); a.armed("t1") || a.armed("t2") {
		t.Error("another preview is armed at once")
	}
	if a.lay("", 0, 0, 0, written); a.armed("") {
		t.Error("nothing is armed")
	}
}

func TestCutting(t *testing.T) {
	for _, c := range []struct {
		in   string
		w    int
		want string
	}{
		{"web-cp-x7k2p", 20, "web-cp-x7k2p"},
		{"web-md-0-6d8f9-x7k2p", 16, "web-md-0-…-x7k2p"},
		{"averyveryverylongname", 11, "avery…gname"},
		{"abc", 2, "a…"},
		{"日本語クラスター名前", 9, "日本…名前"},
	} {
		got := cutMiddle(c.in, c.w)
		if got != c.want || width(got) > c.w {
			t.Errorf("cutMiddle(%q, %d) = %q (%d cells), want %q", c.in, c.w, got, width(got), c.want)
		}
	}
	if got := strings.Join(wrap("ask for get on packageinstalls in vmware-system-vkg, or look", 30), "|"); got != "ask for get on packageinstalls|in vmware-system-vkg, or look" {
		t.Errorf("wrap: %q", got)
	}
	for _, l := range wrapHard("          kubernetes.io/metadata.name: pinniped-concierge-with-a-long-name", 40) {
		if width(l) > 40 {
			t.Errorf("wrapHard: %q", l)
		}
	}
}

func TestColumns(t *testing.T) {
	cols := []column{{sign: true}, {least: 5}, {right: true}, {extra: 2}, {extra: 1}}
	for _, c := range []struct {
		w    int
		want string
	}{{60, "[1 10 3 8 6]"}, {30, "[1 10 3 0 6]"}, {20, "[1 10 3 0 0]"}, {14, "[1 7 3 0 0]"}} {
		if got := fmt.Sprint(columnWidths(cols, []int{1, 10, 3, 8, 6}, c.w)); got != c.want {
			t.Errorf("in %d cells: %s, want %s", c.w, got, c.want)
		}
	}
	// A text without end in a column that does not give way leaves room for the others.
	if got := fmt.Sprint(columnWidths(cols, []int{1, 10, 1000, 8, 6}, 80)); got != "[1 10 24 8 6]" {
		t.Errorf("an endless text: %s", got)
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
		s.m.snap = sn
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
