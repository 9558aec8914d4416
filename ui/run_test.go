package ui

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/ui/uitest"
)

// start runs the real program on an emulator.
func start(t testing.TB, w, h int, o Options) *uitest.Terminal {
	t.Helper()
	if o.Where == (Where{}) {
		o.Where = where()
	}
	if o.Now == nil {
		o.Now = clock
	}
	return uitest.Run(t, w, h, func(ctx context.Context, c uitest.Console) error {
		o.In, o.Out, o.Env, o.Tea, o.Emulated = c.In, c.Out, c.Env, append(c.Tea, o.Tea...), true
		return Run(ctx, o)
	})
}

// feed hands out snapshots one by one.
func feed(all ...*model.Snapshot) chan *model.Snapshot {
	ch := make(chan *model.Snapshot, len(all))
	for _, s := range all {
		ch <- s
	}
	return ch
}

// answering is a Reader that answers what a test wants.
type answering func(ctx context.Context, t Target, describe bool) (string, error)

func (r answering) YAML(ctx context.Context, t Target) (string, error)     { return r(ctx, t, false) }
func (r answering) Describe(ctx context.Context, t Target) (string, error) { return r(ctx, t, true) }

func TestFirstFrameBeforeAnyAnswer(t *testing.T) {
	x := start(t, 80, 24, Options{Snapshots: make(chan *model.Snapshot)})
	x.WaitFor("vksmedic", "asking 10.0.0.2:6443", "read-write")
	if title := x.Title(); !strings.Contains(title, "prod-sv01") || !strings.Contains(title, "ana@vsphere.local") {
		t.Errorf("title %q", title)
	}
	x.Keys("q")
	if err := x.Wait(); err != nil {
		t.Error(err)
	}
	if x.AltScreen() {
		t.Error("the terminal was not given back")
	}
}

// TestRescueByKeys goes the whole way: flag, cluster, evidence, fix, done.
func TestRescueByKeys(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := rescue()
			release := make(chan struct{})
			s.follow = func(ctx context.Context, report func(remedies.Progress)) error {
				if s.View().Steps[s.View().Current].Kind != remedies.StepWait {
					report(remedies.Progress{Done: true, Last: "the rule is there and matches"})
					return nil
				}
				report(waiting())
				select {
				case <-release:
				case <-ctx.Done():
					return nil
				}
				report(remedies.Progress{Done: true, Last: "the Machine is gone"})
				return nil
			}
			attended := make(chan model.Place, 100)
			x := start(t, size[0], size[1], Options{Snapshots: feed(picture()), Wizard: s, Attend: func(p model.Place) { attended <- p }})
			x.WaitFor("agent blocks drain", "team-a/web")
			x.Keys("enter")
			x.WaitFor("control plane 2 of 3", "web-cp-x7k2p")
			if p := <-attended; p != model.InCluster("", model.ClusterRef{Namespace: "team-a", Name: "web"}) {
				t.Errorf("attended to %v", p)
			}
			x.Keys("enter")
			x.WaitFor("KB 410900", "no MachineDrainRule lets it pass")
			x.Keys("enter")
			x.WaitFor("2 agents in pinniped-concierge", "enter goes on")
			x.Keys("enter")
			x.WaitFor("Which clusters shall the rule reach?", "● Every cluster")
			x.Keys("j")
			x.WaitFor("● Only cluster web")
			x.Keys("k")
			x.WaitFor("● Every cluster")
			x.Keys("enter")
			x.WaitFor("+ kind: MachineDrainRule")
			readOn(x)
			x.WaitFor("a applies this", "take back")
			if got := s.appliedSoFar(); len(got) > 0 {
				t.Fatalf("applied before a: %v", got)
			}
			x.Keys("a")
			x.WaitFor("the rule is there and matches", "enter goes on")
			if got := s.appliedSoFar(); !slices.Equal(got, []string{"t1"}) {
				t.Fatalf("applied %v", got)
			}
			x.Keys("enter")
			x.WaitFor("kcp-cleanup", "too early for a verdict")
			close(release)
			x.WaitFor("the Machine is gone", "enter goes on")
			x.Keys("enter")
			x.WaitFor("Shall the rule stay?")
			x.Keys("enter")
			x.WaitFor("is gone. The drain rule stays")
			x.Keys("esc")
			x.WaitFor("web-cp-x7k2p", "MACHINE") // The cluster: what was found may be gone by now.
			x.WaitGone("left; nothing is lost")
			x.Keys("esc", "q")
			if err := x.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTypedAhead types everything at once, as somebody does whose screen hangs: no
// key that came before the preview was on the screen applies anything.
func TestTypedAhead(t *testing.T) {
	s := rescue()
	s.hold, s.holdAt = make(chan struct{}), "rule"
	x := start(t, 80, 24, Options{Snapshots: feed(picture()), Wizard: s})
	x.WaitFor("agent blocks drain")
	// The whole way, blindly, before anything of it is on the screen.
	x.Type("\r\r\raaa\raaaGa\raGaaa\r")
	x.WaitUntil("be where the preview is computed", func(screen string) bool {
		if strings.Contains(screen, "▸ 3") && strings.Contains(screen, "looking …") {
			return true
		}
		if strings.Contains(screen, "enter goes on") {
			x.Type("\raa")
		}
		return false
	})
	x.Type("aGaaaa\ra\r")
	s.hold <- struct{}{}
	x.WaitFor("+ ")
	// And while it is drawn for the first time.
	x.Type("aaaaGaaaa\r\r")
	x.Keys("g")
	readOn(x)
	if got := s.appliedSoFar(); len(got) > 0 {
		t.Fatalf("a key that was typed ahead applied %v", got)
	}
	x.Keys("enter", "enter", "space", "pgdown", "pgdown", "pgdown", "pgdown")
	readOn(x)
	if got := s.appliedSoFar(); len(got) > 0 {
		t.Fatalf("enter applied %v", got)
	}
	close(s.hold)
	x.Keys("a")
	x.WaitFor("the rule is there and matches")
	if got := s.appliedSoFar(); len(got) != 1 {
		t.Fatalf("applied %v", got)
	}
}

// readOn reads a preview to its end, page by page.
func readOn(x *uitest.Terminal) {
	for {
		var s string
		x.WaitUntil("the page is on the screen", func(now string) bool {
			s = now
			return strings.Contains(now, "a applies this") ||
				strings.Contains(now, "read to the end, then a applies") && !strings.Contains(now, "a applies …") && !strings.Contains(now, "a applies ‥")
		})
		if strings.Contains(s, "a applies this") {
			return
		}
		x.Keys("pgdown")
		x.WaitUntil("the page turns", func(now string) bool { return now != s })
	}
}

// TestUnreadPreview holds a down until the last line was on the screen.
func TestUnreadPreview(t *testing.T) {
	s := rescue()
	x := start(t, 80, 24, Options{Snapshots: feed(picture()), Wizard: s})
	x.WaitFor("agent blocks drain")
	x.Keys("enter", "enter", "enter")
	x.WaitFor("enter goes on")
	x.Keys("enter")
	x.WaitFor("Which clusters shall")
	x.Keys("enter")
	x.WaitFor("read to the end, then a applies")
	x.Keys("a")
	x.WaitFor("read on to the end first")
	if got := s.appliedSoFar(); len(got) > 0 {
		t.Fatalf("applied %v", got)
	}
	// Neither a jump to the end, nor pages turned before they were drawn.
	x.Keys("G")
	x.WaitFor("read what was skipped above")
	x.Keys("a")
	x.WaitFor("go back up first")
	x.Keys("g", "pgdown", "pgdown", "pgdown", "pgdown", "a")
	// Another preview under the eyes begins anew.
	readOn(x)
	s.apply = func(s *script) error {
		p := rulePreview()
		p.Token, p.Moved = "t2", []remedies.Line{{Sign: '+', Text: "MachineDrainRule a-first came meanwhile"}}
		s.view.Preview = p
		return remedies.ErrMoved
	}
	x.Keys("a")
	x.WaitFor("a-first came meanwhile", "read to the end, then a applies")
	x.Keys("a", "a")
	x.WaitFor("read on to the end first")
	if got := s.appliedSoFar(); !slices.Equal(got, []string{"t1"}) {
		t.Fatalf("applied %v", got)
	}
}

func TestNameHasToBeTyped(t *testing.T) {
	s := rescue()
	enter := s.enter
	s.enter = func(s *script) {
		enter(s)
		if p := s.view.Preview; p != nil {
			p.Confirm, p.ConfirmName, p.Title, p.Diff, p.Command = remedies.ConfirmName, "web-cp-x7k2p", "Delete this Machine", nil, ""
		}
	}
	x := start(t, 80, 24, Options{Snapshots: feed(picture()), Wizard: s})
	x.WaitFor("agent blocks drain")
	x.Keys("enter", "enter", "enter")
	x.WaitFor("enter goes on")
	x.Keys("enter")
	x.WaitFor("Which clusters shall")
	x.Keys("enter")
	x.WaitFor("a asks for the name")
	x.Keys("a")
	x.WaitFor("Type web-cp-x7k2p to delete this Machine:")
	x.Type("web-cp-x7k2\r")
	x.WaitFor("nothing was done")
	if got := s.appliedSoFar(); len(got) > 0 {
		t.Fatalf("applied %v", got)
	}
	x.Keys("a")
	x.WaitFor("Type web-cp-x7k2p to delete this Machine:")
	x.Type("web-cp-x7k2p\r")
	x.WaitFor("the rule is there and matches")
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.typed, []string{"web-cp-x7k2p"}) {
		t.Errorf("typed %q", s.typed)
	}
}

func TestReadOnlyAndBlockedOfferNoApply(t *testing.T) {
	for name, change := range map[string]func(*script){
		"read-only": func(s *script) { s.view.ReadOnly = "started with --read-only" },
		"blocked": func(s *script) {
			enter := s.enter
			s.enter = func(s *script) {
				enter(s)
				if p := s.view.Preview; p != nil {
					p.Blocked, p.May = "you may not create MachineDrainRules in team-a", model.No
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := rescue()
			change(s)
			x := start(t, 120, 40, Options{Snapshots: feed(picture()), Wizard: s})
			x.WaitFor("agent blocks drain")
			x.Keys("enter", "enter", "enter")
			x.WaitFor("enter goes on")
			x.Keys("enter")
			x.WaitFor("Which clusters shall")
			x.Keys("enter")
			x.WaitFor("+ kind: MachineDrainRule", "h by hand")
			x.Keys("pgdown", "pgdown", "pgdown", "pgdown", "a", "a", "a", "?")
			x.WaitFor("On this screen")
			if got := s.appliedSoFar(); len(got) > 0 {
				t.Fatalf("applied %v", got)
			}
			if strings.Contains(x.Screen(), "a applies") {
				t.Error("apply is offered")
			}
			x.Keys("esc", "h")
			x.WaitFor("enter goes on")
		})
	}
}

// TestStartWithPending asks before anything else, and refuses what belongs elsewhere.
func TestStartWithPending(t *testing.T) {
	s := rescue()
	s.goTo(2)
	s.view.Steps[2].State = remedies.StateDone
	s.view.Resumed = "vksmedic ended while this step was changing something: the rule was looked at, and is there"
	s.pending = []remedies.Pending{
		{ID: "w2", Title: "Let the drain skip the agent", Cluster: model.ClusterRef{Namespace: "x", Name: "old"}, Step: "Wait", Refused: "it belongs to another Supervisor"},
		{ID: "w1", Title: "Let the drain skip the agent", Cluster: model.ClusterRef{Namespace: "team-a", Name: "web"}, Step: "Create the MachineDrainRule"},
	}
	x := start(t, 80, 24, Options{Snapshots: feed(picture()), Wizard: s})
	x.WaitFor("left before their end", "it belongs to another Supervisor")
	x.Keys("enter")
	x.WaitFor("it belongs to another Supervisor", "left at: Create")
	x.Keys("j", "enter")
	x.WaitFor("the rule was looked at,")
	x.Keys("esc")
	x.WaitFor("agent blocks drain", "nothing is lost")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left != 1 {
		t.Errorf("left %d times", s.left)
	}
}

func TestReadingObjects(t *testing.T) {
	asked := make(chan Target, 10)
	r := answering(func(_ context.Context, t Target, describe bool) (string, error) {
		asked <- t
		if describe {
			return "", errors.New("cannot read machine team-a/web-cp-x7k2p: forbidden for user ana; ask for get on machines")
		}
		var b strings.Builder
		b.WriteString("kind: Machine\n")
		for i := range 200 {
			fmt.Fprintf(&b, "line%d: value\n", i)
		}
		b.WriteString("needle: \x1b[31mred\x1b]0;evil\x07\n")
		return b.String(), nil
	})
	x := start(t, 80, 24, Options{Snapshots: feed(picture()), Reader: r})
	x.WaitFor("agent blocks drain")
	x.Keys("enter")
	x.WaitFor("web-cp-x7k2p")
	x.Keys("j", "j", "j", "j", "j", "y")
	x.WaitFor("kind: Machine", "line3: value")
	if got := <-asked; got.Ref.Kind != "Machine" || got.Ref.Name != "web-cp-x7k2p" || got.In.Kind != model.PlaceSupervisor {
		t.Errorf("asked for %+v", got)
	}
	x.Keys("/")
	x.Type("needle\r")
	x.WaitFor("needle: red", "1 match")
	x.Keys("g")
	x.WaitFor("kind: Machine")
	x.Keys("c")
	x.WaitFor("copied")
	x.WaitUntil("find it on the clipboard", func(string) bool { return x.Clipboard() != "" })
	copied, err := base64.StdEncoding.DecodeString(x.Clipboard())
	if err != nil || !strings.HasPrefix(string(copied), "kind: Machine\nline0") || strings.ContainsRune(string(copied), 0x1b) {
		t.Errorf("copied %.60q, %v", copied, err)
	}
	x.Keys("esc", "d")
	x.WaitFor("forbidden for user ana")
}

func TestCopyEvidence(t *testing.T) {
	x := start(t, 80, 24, Options{Snapshots: feed(picture())})
	x.WaitFor("agent blocks drain")
	x.Keys("enter")
	x.WaitFor("control plane 2 of 3")
	x.Keys("enter")
	x.WaitFor("no MachineDrainRule lets it pass")
	x.Keys("c")
	x.WaitFor("copied")
	x.WaitUntil("find it on the clipboard", func(string) bool { return x.Clipboard() != "" })
	got, err := base64.StdEncoding.DecodeString(x.Clipboard())
	for _, want := range []string{"team-a/web: kube-cert-agent of pinniped-concierge blocks", "KB 410900", "[yes]     it is in the drain: since 2026-03-14T01:37:28Z"} {
		if err != nil || !strings.Contains(string(got), want) {
			t.Errorf("no %q in what was copied (%v):\n%s", want, err, got)
		}
	}
}

// TestHostileText has escape sequences and endless messages in every place that a
// cluster can write to; none may reach the terminal, and every frame keeps its shape.
func TestHostileText(t *testing.T) {
	evil := "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b1;1H\u202e" + strings.Repeat("A", 1<<20) + "\r\n\x00"
	sn := picture()
	c := sn.Clusters[0]
	c.Findings[0].Summary, c.Findings[0].Short = evil, evil
	for i := range c.Findings[0].Evidence {
		k := &c.Findings[0].Evidence[i]
		k.Title, k.Detail, k.Source, k.Settle = evil, evil, evil, evil
	}
	c.Findings[0].Advice = []string{evil}
	x0 := c.Machines[2]
	x0.Phase, x0.FailureMessage, x0.Addresses = evil, evil, []string{evil}
	x0.Conditions.New = append(x0.Conditions.New, model.Condition{Type: evil, Status: evil, Reason: evil, Message: evil})
	c.VMs[2].Host, c.VMs[2].PowerState = evil, evil
	c.Object.Class, c.Object.Version = evil, evil
	sn.Sources[0] = model.Source{Name: model.SourceName(evil), State: model.SourceUnreachable, Detail: evil}
	sn.Supervisor.VKS = evil
	logs := make(chan LogLine, 1)
	logs <- LogLine{At: clock(), Level: evil, Text: evil}
	commands := make(chan remedies.Command, 1)
	commands <- remedies.Command{At: clock(), Line: evil, Where: evil, Err: evil}
	s := rescue()
	enter := s.enter
	s.enter = func(s *script) {
		enter(s)
		s.view.Facts = []remedies.Line{{Sign: '+', Text: evil}}
		s.view.Title, s.view.Others = evil, []string{evil}
	}
	x := start(t, 80, 24, Options{
		Snapshots: feed(sn), Wizard: s, Log: logs, Commands: commands,
		Where:  Where{Context: "evil\x1b]0;owned\x07", User: evil, Server: evil},
		Reader: answering(func(context.Context, Target, bool) (string, error) { return evil, nil }),
	})
	x.KeepRaw()
	x.WaitFor("team-a/web")
	x.Keys("enter")
	x.WaitFor("web-cp-9wq4m")
	x.Keys("j", "j", "j", "j", "j", "enter")
	x.WaitFor("▸ web-cp-x7k2p")
	x.Keys("y")
	x.WaitFor("YAML Machine", "AAAAAAAA")
	x.Keys("esc", "esc", "g", "enter")
	x.WaitFor("confirmed · KB")
	x.Keys("enter")
	x.WaitFor("KB 410900", "AAAAAAAA", "enter goes on")
	x.Keys("esc", ":")
	x.Type("sources\r")
	x.WaitFor("Sources", "vspheremachines")
	x.Keys(":")
	x.Type("log\r")
	x.WaitFor("messages of the libraries")
	x.Keys(":")
	x.Type("commands\r")
	x.WaitFor("what this program changed")
	raw := x.Raw()
	for _, bad := range []string{"\x1b]0;owned", "\x1b[31mred", "\u202e", "\x9b", "\x00"} {
		if strings.Contains(raw, bad) {
			t.Errorf("%q reached the terminal", bad)
		}
	}
	for _, r := range x.Title() {
		if r < ' ' || r > '~' {
			t.Errorf("title %.80q", x.Title())
			break
		}
	}
}

func TestResizeWhileDrawing(t *testing.T) {
	ch := make(chan *model.Snapshot)
	stop := make(chan struct{})
	sn := picture()
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			select {
			case <-stop:
				return
			case ch <- func() *model.Snapshot { x := *sn; return &x }():
			}
		}
	}()
	defer wg.Wait()
	defer close(stop)
	x := start(t, 120, 40, Options{Snapshots: ch})
	x.WaitFor("agent blocks drain")
	for _, size := range [][2]int{{80, 24}, {200, 50}, {61, 16}, {40, 10}, {1, 1}, {120, 40}} {
		x.Resize(size[0], size[1])
		switch {
		case size[0] >= leastWidth:
			x.WaitFor("team-a/web", "? help")
		case size[0] > 10:
			x.WaitFor("needs 60×15 cells")
		}
	}
	x.WaitFor("team-a/web", "agent blocks drain", "ENDPOINT")
}

func TestMouse(t *testing.T) {
	x := start(t, 80, 24, Options{Snapshots: feed(picture())})
	x.WaitFor("agent blocks drain")
	x.Click(10, 5)
	x.WaitFor("›▲ team-b/shop")
	x.Wheel(true)
	x.WaitFor("›· team-d/frozen")
	x.Wheel(false)
	x.WaitFor("›▲ team-b/shop")
	x.Click(10, 5)
	x.WaitFor("team-b/shop  1.31.4")
}

func TestNoTerminal(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out bytes.Buffer
	err = Run(context.Background(), Options{In: f, Out: &out})
	if !errors.Is(err, ErrNoTerminal) || !strings.Contains(err.Error(), "vksmedic scan") || out.Len() > 0 {
		t.Errorf("%v; wrote %q", err, out.String())
	}
}

// TestPanicInACommand is shown, and the program goes on.
func TestPanicInACommand(t *testing.T) {
	r := answering(func(context.Context, Target, bool) (string, error) { panic("boom") })
	x := start(t, 80, 24, Options{Snapshots: feed(picture()), Reader: r})
	x.WaitFor("agent blocks drain")
	x.Keys("y")
	x.WaitFor("failed inside vksmedic: boom")
	x.Keys("esc", "j")
	x.WaitFor("›▲ team-b/shop")
	x.Keys(":")
	x.Type("log\r")
	x.WaitFor("panic")
}

// TestPanicInUpdate gives the terminal back.
func TestPanicInUpdate(t *testing.T) {
	x := start(t, 80, 24, Options{Snapshots: feed(picture()), Refresh: func() { panic("boom") }})
	x.WaitFor("agent blocks drain")
	x.Keys("r")
	if err := x.Wait(); !errors.Is(err, tea.ErrProgramPanic) {
		t.Errorf("ended with %v", err)
	}
	if x.AltScreen() {
		t.Error("the terminal was not given back")
	}
}

func TestEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	x := uitest.Run(t, 80, 24, func(_ context.Context, c uitest.Console) error {
		return Run(ctx, Options{In: c.In, Out: c.Out, Env: c.Env, Tea: c.Tea, Emulated: true, Where: where()})
	})
	x.WaitFor("asking")
	cancel()
	if err := x.Wait(); err != nil {
		t.Error(err)
	}
	if x.AltScreen() {
		t.Error("the terminal was not given back")
	}
}

// TestQuitWhileApplying asks once more before it leaves a change without its answer.
func TestQuitWhileApplying(t *testing.T) {
	s := rescue()
	hold := make(chan struct{})
	s.apply = func(s *script) error {
		s.mu.Unlock()
		<-hold
		s.mu.Lock()
		s.view.Steps[s.view.Current].State = remedies.StateDone
		return nil
	}
	x := start(t, 120, 40, Options{Snapshots: feed(picture()), Wizard: s})
	x.WaitFor("agent blocks drain")
	x.Keys("enter", "enter", "enter")
	x.WaitFor("enter goes on")
	x.Keys("enter")
	x.WaitFor("Which clusters shall")
	x.Keys("enter")
	x.WaitFor("a applies this")
	x.Keys("a")
	x.WaitFor("applying …")
	x.Keys("esc")
	x.WaitFor("wait for its answer")
	x.Keys("ctrl+c")
	x.WaitFor("ctrl+c again to leave now")
	close(hold)
	x.WaitFor("the rule is there and matches")
}

// TestFleetKeys narrows, sorts and widens the fleet.
func TestFleetKeys(t *testing.T) {
	x := start(t, 80, 24, Options{Snapshots: feed(picture())})
	x.WaitFor("26 more in good health")
	x.Keys("a")
	x.WaitGone("more in good health")
	x.Keys("G")
	x.WaitFor("team-e/app-37")
	x.Keys("g", "s")
	x.WaitFor("CLUSTER↓", "›✖ team-a/web")
	x.Keys("n")
	x.WaitFor("all namespaces", "team-d")
	x.Keys("j", "j", "j", "j", "enter")
	x.WaitFor("namespace team-d: 2 of 43")
	x.Keys("esc", "/")
	x.Type("app-1")
	x.WaitFor("filter app-1: 10 of 43")
	x.Keys("enter", "/", "esc")
	x.WaitFor("filter app-1: 10 of 43")
	x.Keys("esc", ":")
	x.Type("team-b/shop\r")
	x.WaitFor("team-b/shop  1.31.4", "confirmed")
	x.Keys(":")
	x.Type("nonsense\r")
	x.WaitFor("there is no view and no cluster called nonsense")
	x.Keys("q")
	x.WaitFor("team-e/app-14", "CLUSTER↓")
}
