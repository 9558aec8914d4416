package ui

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/ui/uitest"
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

// shot is the frame as text, with the names of its styles.
func (s *desk) shot() string {
	s.m.styles = uitest.Named()
	s.m.Update(nil) // What is laid was made with other styles.
	got, err := uitest.Markup(s.m.View().Content)
	if err != nil {
		s.t.Error(err)
	}
	return got
}

// scene brings a stage to a screen.
type scene struct {
	name string
	make func(t testing.TB, w, h int) *desk
	// sizes are other than the usual ones.
	sizes [][2]int
}

// usualSizes are those in which every screen is agreed.
func usualSizes() [][2]int { return [][2]int{{80, 24}, {120, 40}, {200, 50}} }

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
		{name: "start", make: func(t testing.TB, w, h int) *desk { return newDesk(t, w, h, Options{}) }},
		{name: "fleet", make: func(t testing.TB, w, h int) *desk { return fleetDesk(t, w, h, Options{}) }},
		{name: "fleet-calm", make: func(t testing.TB, w, h int) *desk {
			s := newDesk(t, w, h, Options{})
			sn := picture()
			sn.Clusters = sn.Clusters[6:12]
			sn.Sources = sn.Sources[:8]
			s.send(snapshotMsg{sn})
			return s
		}},
		{name: "fleet-filter", make: func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{Where: Where{Context: "prod-sv01", Server: "https://10.0.0.2:6443", User: "ana@vsphere.local", ReadOnly: "started with --read-only", Insecure: true}})
			s.keys("/", "t", "e", "a", "m", "-", "d")
			return s
		}},
		{name: "cluster", make: func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.keys("enter")
			return s
		}},
		{name: "machine", make: func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.keys("enter", "j", "j", "j", "j", "j", "enter")
			return s
		}},
		{name: "evidence", make: func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{Wizard: rescue()})
			s.keys("enter", "enter", "u")
			return s
		}},
		{name: "sources", make: func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.keys(":", "s", "o", "enter")
			return s
		}},
		{name: "commands", make: func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.send(commandMsg(remedies.Command{At: clock(), Line: "kubectl --context prod-sv01 create -n team-a -f - <<'EOF'", Where: "prod-sv01: Create the MachineDrainRule, team-a/web", Took: 31 * time.Millisecond}))
			s.send(commandMsg(remedies.Command{At: clock(), Line: "kubectl --context prod-sv01 delete -n team-a machinedrainrule vks-pod-drain-skip-pinniped", Where: "prod-sv01: Take the rule back, team-a/web", Err: "forbidden: ana@vsphere.local may not delete machinedrainrules in team-a"}))
			s.keys(":", "c", "o", "enter")
			return s
		}},
		{name: "namespaces", make: func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.keys("n")
			return s
		}},
		{name: "help", make: func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.keys("?")
			return s
		}},
		{name: "resume", make: func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.send(pendingMsg{start: true, pending: []remedies.Pending{
				{ID: "w1", Title: "Let the drain skip the agent", Cluster: model.ClusterRef{Namespace: "team-a", Name: "web"}, Target: "web-cp-x7k2p", Step: "Create the MachineDrainRule", Last: ago(20 * time.Minute), Unsure: true},
				{ID: "w2", Title: "Let the drain skip the agent", Cluster: model.ClusterRef{Namespace: "team-x", Name: "old"}, Step: "Wait for the Machine to go", Last: ago(50 * time.Hour), Refused: "it belongs to another Supervisor (identity 4d1c…): start vksmedic with that one's context"},
			}})
			return s
		}},
		{name: "wizard-look", make: func(t testing.TB, w, h int) *desk { return walkTo(t, w, h, rescue()) }},
		{name: "wizard-choice", make: func(t testing.TB, w, h int) *desk { return walkTo(t, w, h, rescue(), "enter", "down") }, sizes: [][2]int{{60, 15}}},
		{name: "wizard-choice-opens", make: func(t testing.TB, w, h int) *desk { return walkTo(t, w, h, rescue(), "enter") }, sizes: [][2]int{{60, 15}}},
		{name: "wizard-preview", make: func(t testing.TB, w, h int) *desk { return walkTo(t, w, h, rescue(), "enter", "enter") }},
		{name: "wizard-preview-end", make: func(t testing.TB, w, h int) *desk {
			return walkTo(t, w, h, rescue(), "enter", "enter", "pgdown", "pgdown", "pgdown", "pgdown")
		}},
		{name: "wizard-blocked", make: func(t testing.TB, w, h int) *desk {
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
		{name: "wizard-moved", make: func(t testing.TB, w, h int) *desk {
			s := rescue()
			s.apply = func(s *script) error {
				p := rulePreview()
				p.Token, p.Moved = "t2", []remedies.Line{{Sign: '+', Text: "MachineDrainRule a-first came meanwhile"}}
				s.view.Preview = p
				return remedies.ErrMoved
			}
			return walkTo(t, w, h, s, "enter", "enter", "pgdown", "pgdown", "pgdown", "pgdown", "a")
		}},
		{name: "wizard-name", make: func(t testing.TB, w, h int) *desk {
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
		{name: "wizard-progress", make: func(t testing.TB, w, h int) *desk {
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
		{name: "wizard-done", make: func(t testing.TB, w, h int) *desk {
			s := rescue()
			for i := range s.view.Steps {
				s.view.Steps[i].State = remedies.StateDone
			}
			s.view.Steps[4].State = remedies.StateSkipped
			s.goTo(5)
			return walkTo(t, w, h, s)
		}},
		{name: "dump", make: func(t testing.TB, w, h int) *desk { return dumpDesk(t, w, h, agentCase) }},
		{name: "evidence-unknown", make: func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.keys("/", "m", "l", "enter", "enter", "enter", "u")
			return s
		}},
		{name: "yaml", make: func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{Reader: answering(func(context.Context, Target, bool) (string, error) {
				b, err := os.ReadFile(filepath.Join(casesDir, agentCase, "1.yaml"))
				return string(b), err
			})})
			s.keys("y", "/", "d", "r", "a", "i", "n", "enter", "n")
			return s
		}},
		{name: "log", make: func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.send(logMsg(LogLine{At: clock(), Level: "warning", Text: "cluster.x-k8s.io/v1beta1 Machine is deprecated; use v1beta2"}))
			s.send(logMsg(LogLine{At: clock(), Level: "error", Text: "watch of machines broke off: connection refused"}))
			s.keys(":", "l", "o", "enter")
			return s
		}},
		{name: "findings", make: func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.keys(":", "f", "i", "enter")
			return s
		}},
		{name: "object", make: func(t testing.TB, w, h int) *desk {
			s := fleetDesk(t, w, h, Options{})
			s.keys("enter", "j", "j", "enter")
			return s
		}},
		{name: "dump-endpoints", make: func(t testing.TB, w, h int) *desk {
			return dumpDesk(t, w, h, "60-endpoints-partial-missing", "enter", "enter")
		}},
		{name: "dump-quorum", make: func(t testing.TB, w, h int) *desk {
			return dumpDesk(t, w, h, "51-quorum-blocks-remediation", "enter", "enter")
		}},
		{name: "dump-runtime", make: func(t testing.TB, w, h int) *desk {
			return dumpDesk(t, w, h, "25-deleting-over-hour-containerd-dead", "enter")
		}},
		{name: "dump-no-cluster", make: func(t testing.TB, w, h int) *desk { return dumpDesk(t, w, h, "38-bind-apiserver-6443") }},
		{name: "offers", make: func(t testing.TB, w, h int) *desk {
			s := rescue()
			s.offers = []remedies.Offer{
				{ID: "kube-cert-agent-blocks-drain", Title: "Let the drain skip the agent", KB: "410900", Address: "https://knowledge.broadcom.com/external/article/410900"},
				{ID: "our-way", Title: "Call the agent's owners first", From: "/etc/vksmedic/articles"},
			}
			return walkTo(t, w, h, s)
		}},
		{name: "walks", make: func(t testing.TB, w, h int) *desk {
			s := rescue()
			s.pending = []remedies.Pending{older(), elsewhere()}
			d := fleetDesk(t, w, h, Options{Wizard: s})
			d.keys(":", "w", "a", "enter")
			return d
		}},
		{name: "walks-put-away", make: func(t testing.TB, w, h int) *desk {
			s := rescue()
			s.pending = []remedies.Pending{older()}
			d := fleetDesk(t, w, h, Options{Wizard: s})
			d.keys(":", "w", "a", "enter", "X", "y", "e")
			return d
		}},
		{name: "wizard-ask", make: func(t testing.TB, w, h int) *desk {
			s := rescue()
			s.view.Ask = &remedies.Ask{ID: "key", Question: "The host key of 10.10.5.7 is not known. Is it the right one?",
				Lines:   []remedies.Line{{Sign: ' ', Text: "ED25519 SHA256:uNiVztksCsDhcc0u9e8BrP9wUpgLkVtCRfXKRoMLXlM"}, {Sign: '!', Text: "nobody has vouched for it"}},
				Options: []remedies.Option{{ID: "yes", Title: "Yes, go on with it"}, {ID: "no", Title: "No", Means: []string{"The step stays where it is."}}}}
			return walkTo(t, w, h, s)
		}},
		{name: "wizard-ask-secret", make: func(t testing.TB, w, h int) *desk {
			s := rescue()
			s.view.Ask = &remedies.Ask{ID: "sudo", Question: "The password of sudo for vmware-system-user on web-cp-x7k2p", Secret: true}
			return walkTo(t, w, h, s, "enter", "q", "z", "v", "x")
		}},
		{name: "wizard-manual", make: func(t testing.TB, w, h int) *desk {
			s := rescue()
			s.view.Steps[2].Kind, s.view.Steps[2].Title = remedies.StepManual, "Start containerd on the node"
			s.view.Steps[2].Why = "systemd has given up on it and starts it no more by itself."
			s.enter = func(*script) {}
			s.goTo(2)
			s.view.Commands = []string{"ssh vmware-system-user@10.10.5.7 sudo systemctl reset-failed containerd", "ssh vmware-system-user@10.10.5.7 sudo systemctl start containerd"}
			return walkTo(t, w, h, s)
		}},
		{name: "wizard-items", make: func(t testing.TB, w, h int) *desk {
			s := rescue()
			s.view.Steps[0].Items = []remedies.ItemView{{Name: "web-md-0-6d8f9-4xk2j", State: remedies.StateDone}, {Name: "web-md-0-6d8f9-7plqz", State: remedies.StateFailed, Note: "10.10.5.9:22 does not answer"},
				{Name: "web-md-0-6d8f9-8dw9s", State: remedies.StateCurrent}, {Name: "web-md-0-6d8f9-hb5tn", State: remedies.StatePending}, {Name: "web-md-0-6d8f9-zz2vc", State: remedies.StateSkipped}}
			s.enter = func(*script) {}
			return walkTo(t, w, h, s)
		}},
		{name: "wizard-not-seen", make: func(t testing.TB, w, h int) *desk {
			s := rescue()
			s.follow = func(_ context.Context, report func(remedies.Progress)) error {
				report(remedies.Progress{Done: true, Last: "the Machine is gone", Stages: []remedies.Stage{
					{Title: "drain", State: remedies.StateDone, Took: 41 * time.Second}, {Title: "volumes", State: remedies.StateNotSeen},
					{Title: "VM", State: remedies.StateNotSeen, Detail: "VirtualMachine web-cp-x7k2p is still there"},
					{Title: "node", State: remedies.StateNotSeen, Detail: "Node web-cp-x7k2p is still there"}}})
				return nil
			}
			s.goTo(3)
			return walkTo(t, w, h, s)
		}},
		{name: "wizard-failed", make: func(t testing.TB, w, h int) *desk {
			s := rescue()
			s.view.Steps[2].State, s.view.Steps[2].Undoable, s.view.Steps[3].State = remedies.StateDone, true, remedies.StateFailed
			s.follow = func(_ context.Context, report func(remedies.Progress)) error {
				p := waiting()
				p.Done, p.Failed, p.Early = true, "the rule is gone: MachineDrainRule team-a/vks-pod-drain-skip-pinniped was deleted", time.Time{}
				report(p)
				return nil
			}
			s.goTo(3)
			return walkTo(t, w, h, s)
		}},
		{name: "wizard-newcomer", make: func(t testing.TB, w, h int) *desk {
			s := rescue()
			s.watch = func(_ context.Context, changed func()) error {
				s.mu.Lock()
				p := *s.view.Preview
				p.Token, s.view.Others = "t2", []string{"ben on bastion is working on this cluster since 5s"}
				s.view.Preview = &p
				s.mu.Unlock()
				changed()
				return nil
			}
			return walkTo(t, w, h, s, "enter", "enter")
		}},
		{name: "wizard-debts", make: func(t testing.TB, w, h int) *desk {
			s := rescue()
			s.view.Debts = []remedies.DebtView{{What: "patch on endpoints", Where: "ClusterRole vmware-system-vmop-manager-role", Who: "ana@vsphere.local", Since: ago(72 * time.Minute), Overdue: true}}
			return walkTo(t, w, h, s)
		}},
		{name: "small", make: func(t testing.TB, _, _ int) *desk { return fleetDesk(t, 40, 10, Options{}) }},
	}
}

// dumpDesk shows a public case as it is.
func dumpDesk(t testing.TB, w, h int, name string, keys ...string) *desk {
	sn := caseOf(t, name)
	s := newDesk(t, w, h, Options{Where: Where{Dump: "cases/" + name}})
	s.send(snapshotMsg{sn})
	s.keys(keys...)
	return s
}

// TestGolden holds every screen, in three sizes, against what was agreed: text with the names of
// its styles. What these become on a terminal is held by the palette's test in ui/styles. -update
// writes them anew, to be looked at in the diff.
func TestGolden(t *testing.T) {
	for _, sc := range scenes() {
		for _, size := range slices.Concat(usualSizes(), sc.sizes) {
			name := sc.name + "-" + itoa(size[0]) + "x" + itoa(size[1])
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := sc.make(t, size[0], size[1])
				checkShape(t, s)
				golden(t, name, s.shot())
			})
		}
	}
}

// TestGoldenIsOfAScene: a file that no scene writes any more has to go.
func TestGoldenIsOfAScene(t *testing.T) {
	known := map[string]bool{}
	for _, sc := range scenes() {
		for _, size := range slices.Concat(usualSizes(), sc.sizes) {
			known[sc.name+"-"+itoa(size[0])+"x"+itoa(size[1])+".txt"] = true
		}
	}
	files, err := os.ReadDir(screensDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		switch {
		case known[f.Name()]:
		case *update:
			if err := os.Remove(filepath.Join(screensDir, f.Name())); err != nil {
				t.Error(err)
			}
		default:
			t.Errorf("%s is of no scene; -update removes it", f.Name())
		}
	}
}

const screensDir = "testdata/screens"

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
	path := filepath.Join(screensDir, name+".txt")
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
		t.Errorf("%s is not as agreed; -update writes it anew\n--- want\n%s\n--- got\n%s", name, want, got)
	}
}
