package ui

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/ui/widget"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// desk is a model without a program: messages go in, commands are run by hand.
type desk struct {
	t      testing.TB
	m      *Model
	blocks chan struct{} // closed by what then waits for good.
}

func where() Where {
	return Where{Context: "prod-sv01", Server: "https://10.0.0.2:6443", User: "ana@vsphere.local"}
}

func newDesk(t testing.TB, w, h int, o Options, blocks ...chan struct{}) *desk {
	if o.Now == nil {
		o.Now = clock
	}
	if o.Where == (Where{}) {
		o.Where = where()
	}
	if o.Capture == nil && o.Where.Dump == "" {
		o.Capture = func(context.Context, func(string)) (string, error) { return "vksmedic-prod-sv01.tar.gz", nil }
	}
	o.Address = func(f *model.Finding) string {
		if f.KB == "" {
			return ""
		}
		return "https://knowledge.broadcom.com/external/article/" + f.KB
	}
	s := &desk{t: t, m: newModel(context.Background(), o, new(atomic.Int64)), blocks: append(blocks, nil)[0]}
	s.m.timer = func(d time.Duration, then func(time.Time) tea.Msg) tea.Cmd {
		if d > widget.StandFor {
			return nil
		}
		return func() tea.Msg { return then(clock()) }
	}
	s.send(tea.WindowSizeMsg{Width: w, Height: h})
	return s
}

// send handles a message and, of what it starts, what comes back at once: no
// timers, nothing that waits.
func (s *desk) send(msg tea.Msg) {
	_, cmd := s.m.Update(msg)
	s.m.View()
	s.m.written.Add(1) // Every frame is written.
	s.run(cmd)
}

func (s *desk) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	done := make(chan tea.Msg, 1)
	go func() { done <- cmd() }()
	var msg tea.Msg
	select {
	case msg = <-done:
	case <-s.blocks:
		// The scene holds something back; what is not held back comes at once.
		const grace = 200 * time.Millisecond
		select {
		case msg = <-done:
		case <-time.After(grace):
		}
	}
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			s.run(c)
		}
	default:
		s.send(msg)
	}
}

func (s *desk) keys(names ...string) {
	for _, n := range names {
		s.send(press(n))
	}
}

func press(name string) tea.KeyPressMsg {
	codes := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "pgdown": tea.KeyPgDown,
		"pgup": tea.KeyPgUp, "home": tea.KeyHome, "end": tea.KeyEnd, "left": tea.KeyLeft, "right": tea.KeyRight, "space": tea.KeySpace, "backspace": tea.KeyBackspace}
	if c, ok := codes[name]; ok {
		return tea.KeyPressMsg{Code: c}
	}
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}
	}
	r := []rune(name)[0]
	return tea.KeyPressMsg{Code: r, Text: name}
}

func (s *desk) screen() string { return ansi.Strip(s.m.View().Content) }

type theme struct {
	name    string
	profile colorprofile.Profile
	dark    bool
}

func themes() []theme {
	return []theme{{"dark", colorprofile.TrueColor, true}, {"light", colorprofile.TrueColor, false}, {"ansi", colorprofile.ANSI, true}, {"nocolor", colorprofile.ASCII, true}}
}

// shot is the frame as the terminal gets it: reduced to the colours it has.
func (s *desk) shot(th theme) string {
	s.m.profile, s.m.dark = th.profile, th.dark
	s.send(tea.ColorProfileMsg{Profile: th.profile})
	var b bytes.Buffer
	w := &colorprofile.Writer{Forward: &b, Profile: th.profile}
	if _, err := w.WriteString(s.m.View().Content + "\n"); err != nil {
		s.t.Fatal(err)
	}
	return b.String()
}

// scene brings a stage to a screen.
type scene struct {
	name string
	make func(t testing.TB, w, h int) *desk
}

func scenes() []scene {
	fleetDesk := func(t testing.TB, w, h int, o Options) *desk {
		var blocks chan struct{}
		if x, ok := o.Wizard.(*script); ok {
			blocks = x.blocks
		}
		s := newDesk(t, w, h, o, blocks)
		s.send(snapshotMsg{picture()})
		return s
	}
	walkTo := func(t testing.TB, w, h int, script *script, steps ...string) *desk {
		s := fleetDesk(t, w, h, Options{Wizard: script})
		s.keys("enter", "enter", "enter")
		s.keys(steps...)
		return s
	}
	return []scene{
		{"start", func(t testing.TB, w, h int) *desk { return newDesk(t, w, h, Options{}) }},
		{"fleet", func(t testing.TB, w, h int) *desk { return fleetDesk(t, w, h, Options{}) }},
		{"fleet-calm", func(t testing.TB, w, h int) *desk {
			s := newDesk(t, w, h, Options{})
			sn := picture()
			sn.Clusters = sn.Clusters[6:12]
			sn.Sources = sn.Sources[:8]
			s.send(snapshotMsg{sn})
			return s
		}},
		{"fleet-filter", func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{Where: Where{Context: "prod-sv01", Server: "https://10.0.0.2:6443", User: "ana@vsphere.local", ReadOnly: "started with --read-only", Insecure: true}})
			s.keys("/", "t", "e", "a", "m", "-", "d")
			return s
		}},
		{"cluster", func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.keys("enter")
			return s
		}},
		{"machine", func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.keys("enter", "j", "j", "j", "j", "enter")
			return s
		}},
		{"evidence", func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{Wizard: rescue()})
			s.keys("enter", "enter", "u")
			return s
		}},
		{"sources", func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.keys(":", "s", "o", "enter")
			return s
		}},
		{"commands", func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.send(commandMsg(remedies.Command{At: clock(), Line: "kubectl --context prod-sv01 create -n team-a -f - <<'EOF'", Where: "prod-sv01: Create the MachineDrainRule, team-a/web", Took: 31 * time.Millisecond}))
			s.send(commandMsg(remedies.Command{At: clock(), Line: "kubectl --context prod-sv01 delete -n team-a machinedrainrule vks-pod-drain-skip-pinniped", Where: "prod-sv01: Take the rule back, team-a/web", Err: "forbidden: ana@vsphere.local may not delete machinedrainrules in team-a"}))
			s.keys(":", "c", "o", "enter")
			return s
		}},
		{"namespaces", func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.keys("n")
			return s
		}},
		{"help", func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.keys("?")
			return s
		}},
		{"resume", func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.send(pendingMsg{start: true, pending: []remedies.Pending{
				{ID: "w1", Title: "Let the drain skip the agent", Cluster: model.ClusterRef{Namespace: "team-a", Name: "web"}, Target: "web-cp-x7k2p", Step: "Create the MachineDrainRule", Last: ago(20 * time.Minute), Unsure: true},
				{ID: "w2", Title: "Let the drain skip the agent", Cluster: model.ClusterRef{Namespace: "team-x", Name: "old"}, Step: "Wait for the Machine to go", Last: ago(50 * time.Hour), Refused: "it belongs to another Supervisor (identity 4d1c…): start vksmedic with that one's context"},
			}})
			return s
		}},
		{"wizard-look", func(t testing.TB, w, h int) *desk { return walkTo(t, w, h, rescue()) }},
		{"wizard-choice", func(t testing.TB, w, h int) *desk { return walkTo(t, w, h, rescue(), "enter", "down") }},
		{"wizard-preview", func(t testing.TB, w, h int) *desk { return walkTo(t, w, h, rescue(), "enter", "enter") }},
		{"wizard-preview-end", func(t testing.TB, w, h int) *desk {
			return walkTo(t, w, h, rescue(), "enter", "enter", "pgdown", "pgdown", "pgdown", "pgdown")
		}},
		{"wizard-blocked", func(t testing.TB, w, h int) *desk {
			s := rescue()
			enter := s.enter
			s.enter = func(s *script) {
				enter(s)
				if p := s.view.Preview; p != nil {
					p.May, p.MaySays, p.Server = model.No, "user ana@vsphere.local cannot create machinedrainrules in team-a", "refused (dry run)"
					p.Blocked = "you may not create MachineDrainRules in team-a: ask an administrator, or hand over the command below and press h when it is done"
				}
			}
			return walkTo(t, w, h, s, "enter", "enter")
		}},
		{"wizard-moved", func(t testing.TB, w, h int) *desk {
			s := rescue()
			s.apply = func(s *script) error {
				p := rulePreview()
				p.Token, p.Moved = "t2", []remedies.Line{{Sign: '+', Text: "MachineDrainRule a-first came meanwhile"}}
				s.view.Preview = p
				return remedies.ErrMoved
			}
			return walkTo(t, w, h, s, "enter", "enter", "pgdown", "pgdown", "pgdown", "pgdown", "a")
		}},
		{"wizard-name", func(t testing.TB, w, h int) *desk {
			s := rescue()
			enter := s.enter
			s.enter = func(s *script) {
				enter(s)
				if p := s.view.Preview; p != nil {
					p.Confirm, p.ConfirmName, p.Title, p.TakeBack = remedies.ConfirmName, "web-cp-x7k2p", "Delete this Machine", ""
					p.Diff, p.Reaches, p.Means = []remedies.Line{{Sign: '-', Text: "Machine team-a/web-cp-x7k2p"}}, nil, []string{"Its VM and its node go with it."}
					p.Command = "kubectl --context prod-sv01 delete -n team-a machine web-cp-x7k2p"
				}
			}
			return walkTo(t, w, h, s, "enter", "enter", "pgdown", "pgdown", "pgdown", "pgdown", "a", "w", "e", "b")
		}},
		{"wizard-progress", func(t testing.TB, w, h int) *desk {
			s := rescue()
			s.follow = func(ctx context.Context, report func(remedies.Progress)) error {
				report(waiting())
				close(s.blocks)
				<-ctx.Done()
				return nil
			}
			s.blocks = make(chan struct{})
			s.view.Steps[0].State, s.view.Steps[1].State, s.view.Steps[2].State = remedies.StateDone, remedies.StateDone, remedies.StateByHand
			s.goTo(3)
			return walkTo(t, w, h, s)
		}},
		{"wizard-done", func(t testing.TB, w, h int) *desk {
			s := rescue()
			for i := range s.view.Steps {
				s.view.Steps[i].State = remedies.StateDone
			}
			s.view.Steps[4].State = remedies.StateSkipped
			s.goTo(5)
			return walkTo(t, w, h, s)
		}},
		{"dump", func(t testing.TB, w, h int) *desk {
			s := newDesk(t, w, h, Options{Where: Where{Dump: "/cases/01-pinniped/dump.tar.gz"}})
			sn := picture()
			sn.Dump, sn.Clusters = true, sn.Clusters[:3]
			sn.Sources = []model.Source{{Name: "file/objects.yaml", State: model.SourceOK, Seen: clock()}, {Name: "file/notes.txt", State: model.SourceNotUnderstood, Detail: "not YAML or JSON objects"}}
			s.send(snapshotMsg{sn})
			return s
		}},
		{"small", func(t testing.TB, _, _ int) *desk { return fleetDesk(t, 40, 10, Options{}) }},
	}
}

// TestGolden holds every screen, in three sizes and four sets of colours, against
// what was agreed; -update writes them anew, to be looked at in the diff.
func TestGolden(t *testing.T) {
	for _, sc := range scenes() {
		for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 50}} {
			name := sc.name + "-" + itoa(size[0]) + "x" + itoa(size[1])
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := sc.make(t, size[0], size[1])
				checkShape(t, s)
				for _, th := range themes() {
					if th.name == "ansi" && size[0] != 80 {
						continue
					}
					golden(t, name+"."+th.name, s.shot(th))
				}
			})
		}
	}
}

// checkShape is what holds for every frame: nothing wider or higher than the terminal.
func checkShape(t *testing.T, s *desk) {
	t.Helper()
	lines := strings.Split(s.screen(), "\n")
	if len(lines) > s.m.h {
		t.Errorf("%d lines on %d", len(lines), s.m.h)
	}
	for i, l := range lines {
		if n := widget.Width(l); n > s.m.w {
			t.Errorf("line %d is %d wide on %d: %q", i, n, s.m.w, l)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "screens", name+".txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if string(want) != got {
		t.Errorf("%s is not as agreed; -update writes it anew\n--- want\n%s\n--- got\n%s", name, ansi.Strip(string(want)), ansi.Strip(got))
	}
}
