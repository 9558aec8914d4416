package ui

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/ui/styles"
	"vksmedic/ui/widget"
)

// Model is the one Bubble Tea model: what is known, the stack of screens, and the
// line that is typed into. Only Update changes it.
type Model struct {
	ctx     context.Context //nolint:containedctx // The commands' context; Bubble Tea's Update has none.
	o       Options
	written *atomic.Int64
	timer   widget.Timer
	// pace is nil where no program runs.
	pace *pace
	keys *KeyMap

	w, h    int
	profile colorprofile.Profile
	dark    bool
	// answered says that the terminal was asked for its background, and said.
	answered bool
	styles   styles.Styles

	snap     *model.Snapshot
	fleet    *fleet
	stack    []screen
	prompt   *prompt
	flash    string
	flashBad bool
	flashNo  int

	commands []remedies.Command
	log      []LogLine
	attended model.Place
	quitting bool
	// capturing is how far the capture is that is being written; nil when none is.
	capturing <-chan string
}

// Messages. What a command found out comes back as one of these.
type (
	snapshotMsg struct{ snap *model.Snapshot }
	commandMsg  remedies.Command
	logMsg      LogLine
	tickMsg     time.Time
	flashMsg    struct{ no int }
	pendingMsg  struct {
		pending []remedies.Pending
		err     error
		start   bool
	}
	panicMsg struct {
		what  string
		cause any
		stack string
	}
)

const (
	// drawEvery is the shortest time between two snapshots that are drawn.
	drawEvery = 100 * time.Millisecond
	// flashFor is how long a message stays.
	flashFor = 8 * time.Second
	// kept is how many commands and log lines are kept for the screen.
	kept = 2000
)

func newModel(ctx context.Context, o Options, written *atomic.Int64) *Model {
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Model{
		ctx: ctx, o: o, written: written, timer: tea.Tick, keys: Keys(),
		profile: colorprofile.TrueColor, dark: true, fleet: newFleet(),
	}
	m.styles = styles.New(m.profile, m.dark)
	m.stack = []screen{m.fleet}
	return m
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{tea.RequestBackgroundColor, m.tick(), m.nextSnapshot(0), m.nextCommand(), m.nextLog()}
	if m.o.Wizard != nil {
		cmds = append(cmds, m.askPending(true))
	}
	return tea.Batch(cmds...)
}

// now is the time that ages are counted from: the clock's, or the dump's.
func (m *Model) now() time.Time {
	if m.snap != nil && m.snap.Still() {
		return m.snap.At
	}
	return m.o.Now()
}

func (m *Model) top() screen { return m.stack[len(m.stack)-1] }

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	return m, batch(m.update(msg), batch(m.prepare(), m.attend()))
}

// prepare finds what the next View draws, so that drawing changes nothing.
func (m *Model) prepare() tea.Cmd {
	var cmd tea.Cmd
	for _, s := range m.stack {
		if w, ok := s.(*wizard); ok {
			cmd = batch(cmd, w.beneath(m, s == m.top()))
		}
	}
	l := lay(m.w, m.h)
	if l.tooSmall {
		return cmd
	}
	if m.prompt != nil {
		m.prompt.prepare(l.footer.w)
	}
	return batch(cmd, m.top().prepare(m, m.frame()))
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.ColorProfileMsg:
		m.profile = msg.Profile
		m.styles = styles.New(m.profile, m.dark)
	case tea.EnvMsg:
		if !m.answered { // What the terminal itself says counts more.
			m.dark = !lightBackground(msg.Getenv("COLORFGBG"))
			m.styles = styles.New(m.profile, m.dark)
		}
	case tea.BackgroundColorMsg:
		m.answered, m.dark = true, msg.IsDark()
		m.styles = styles.New(m.profile, m.dark)
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.PasteMsg:
		// Pasted text is text, never keys.
		if m.prompt != nil {
			return m.prompt.paste(m, msg)
		}
	case tea.MouseClickMsg:
		return m.click(msg)
	case tea.MouseWheelMsg:
		if m.prompt == nil && !lay(m.w, m.h).tooSmall {
			switch msg.Button {
			case tea.MouseWheelUp:
				m.top().wheel(m, false)
			case tea.MouseWheelDown:
				m.top().wheel(m, true)
			default: // Sideways: nothing to do.
			}
		}
	case tickMsg:
		return m.tick()
	case snapshotMsg:
		m.snap = msg.snap
		return m.nextSnapshot(drawEvery)
	case commandMsg:
		m.commands = keep(m.commands, remedies.Command(msg))
		return m.nextCommand()
	case logMsg:
		m.log = keep(m.log, LogLine(msg))
		return m.nextLog()
	case flashMsg:
		if msg.no == m.flashNo {
			m.flash = ""
		}
	case pendingMsg:
		return m.gotPending(msg)
	case panicMsg:
		m.log = keep(m.log, LogLine{At: m.o.Now(), Level: "error", Text: msg.stack})
		return m.say(true, fmt.Sprintf("%s failed inside vksmedic: %v; :log has the details", msg.what, msg.cause))
	case captureMsg:
		return m.gotCapture(msg)
	case readingMsg:
		msg.reading.got(msg)
	case wizardMsg:
		return msg.wizard.got(m, msg)
	case widget.ArmMsg:
		if w, ok := m.top().(*wizard); ok {
			return w.arm.Step(msg, m.written.Load(), m.timer)
		}
	}
	return nil
}

// lightBackground reads COLORFGBG, which terminals set that do not answer when asked: the
// numbers of the text's colour and of the background's, the last one, 7 and 15 being white.
func lightBackground(colorfgbg string) bool {
	back := colorfgbg[strings.LastIndexByte(colorfgbg, ';')+1:]
	return back == "7" || back == "15"
}

func keep[T any](all []T, one T) []T {
	all = append(all, one)
	if len(all) > kept {
		all = append([]T(nil), all[len(all)-kept:]...)
	}
	return all
}

func batch(a, b tea.Cmd) tea.Cmd {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return tea.Batch(a, b)
}

// press handles a key: the line that is typed into first, then the screen, then
// what works everywhere.
func (m *Model) press(k tea.KeyPressMsg) tea.Cmd {
	if lay(m.w, m.h).tooSmall {
		// Nobody sees what a key would do.
		if key.Matches(k, m.keys.Stop) {
			return m.quit()
		}
		return nil
	}
	if key.Matches(k, m.keys.Suspend) {
		return m.suspend()
	}
	if m.prompt != nil {
		return m.prompt.key(m, k)
	}
	if key.Matches(k, m.keys.Stop) {
		return m.quit()
	}
	m.flash = ""
	if cmd, mine := m.top().key(m, k); mine {
		return cmd
	}
	switch {
	case key.Matches(k, m.keys.Help):
		return m.push(newHelp(m.top()))
	case key.Matches(k, m.keys.Command):
		return m.askView()
	case key.Matches(k, m.keys.Refresh):
		return m.refresh()
	case key.Matches(k, m.keys.Back):
		return m.pop()
	}
	return nil
}

func (m *Model) click(msg tea.MouseClickMsg) tea.Cmd {
	l := lay(m.w, m.h)
	if m.prompt != nil || l.tooSmall || msg.Button != tea.MouseLeft {
		return nil
	}
	if y := msg.Y - l.body.y; y >= 0 && y < l.body.h {
		return m.top().click(m, msg.X-l.body.x, y)
	}
	return nil
}

// push opens a screen; pop goes back to the one before, and quits from the first.
func (m *Model) push(s screen) tea.Cmd {
	m.stack = append(m.stack, s)
	return nil
}

func (m *Model) pop() tea.Cmd {
	if len(m.stack) == 1 {
		return nil
	}
	m.stack = m.stack[:len(m.stack)-1]
	return nil
}

// home goes back to the fleet and opens s on it. A wizard underneath is left first.
func (m *Model) home(s screen) tea.Cmd {
	cmd := m.leaveWizards()
	m.stack = []screen{m.fleet}
	if s != nil {
		m.stack = append(m.stack, s)
	}
	return cmd
}

func (m *Model) leaveWizards() tea.Cmd {
	var cmd tea.Cmd
	for _, s := range m.stack {
		if w, ok := s.(*wizard); ok {
			cmd = batch(cmd, w.leaveLater(m))
		}
	}
	return cmd
}

// quit ends the program. While a change is being written the first key only says
// so: the answer is worth waiting for.
func (m *Model) quit() tea.Cmd {
	for _, s := range m.stack {
		if w, ok := s.(*wizard); ok && w.applying && !m.quitting {
			m.quitting = true
			return m.say(true, "a change is being written: wait for its answer, or ctrl+c again to leave now (the next start picks it up)")
		}
	}
	return tea.Quit
}

// suspend stops the process, as the shell's own programs do with this key. Not while a change is being
// written: its answer would not be read.
func (m *Model) suspend() tea.Cmd {
	for _, s := range m.stack {
		if w, ok := s.(*wizard); ok && w.applying {
			return m.say(true, "a change is being written: wait for its answer")
		}
	}
	return tea.Suspend
}

// leave lets go of the walks when the program is over.
func (m *Model) leave() {
	for _, s := range m.stack {
		if w, ok := s.(*wizard); ok && w.walk != nil {
			w.walk.Leave()
		}
	}
}

func (m *Model) refresh() tea.Cmd {
	if m.snap != nil && m.snap.Still() {
		return m.say(false, "a dump does not change")
	}
	if m.o.Refresh != nil {
		m.o.Refresh()
	}
	return m.say(false, "looking again")
}

// attend tells the probes where one looks.
func (m *Model) attend() tea.Cmd {
	at := m.top().place()
	if at == m.attended {
		return nil
	}
	m.attended = at
	if m.o.Attend == nil {
		return nil
	}
	attend := m.o.Attend
	return guard("telling where one looks", func() tea.Msg { attend(at); return nil })
}

// say shows a sentence for a while.
func (m *Model) say(bad bool, s string) tea.Cmd {
	m.flash, m.flashBad = clean(s), bad
	m.flashNo++
	no := m.flashNo
	return m.timer(flashFor, func(time.Time) tea.Msg { return flashMsg{no} })
}

// copy puts text on the clipboard, by OSC 52.
func (m *Model) copy(what, s string) tea.Cmd {
	return tea.Batch(tea.SetClipboard(text.CleanLines(s)), m.say(false, "copied "+what+" (if the terminal allows OSC 52)"))
}

// guard turns a panic in a command into a message; Bubble Tea would end the program.
func guard(what string, f func() tea.Msg) tea.Cmd {
	return func() (msg tea.Msg) {
		defer func() {
			if r := recover(); r != nil {
				msg = panicMsg{what: what, cause: r, stack: what + ": " + fmt.Sprint(r) + "\n" + string(debug.Stack())}
			}
		}()
		return f()
	}
}

// tick draws once a second, so that ages grow; a dump stands still.
func (m *Model) tick() tea.Cmd {
	if m.snap != nil && m.snap.Still() {
		return nil
	}
	return m.timer(time.Second, func(t time.Time) tea.Msg { return tickMsg(t) })
}

// nextSnapshot waits for the next snapshot, after a pause that keeps drawing to ten
// times a second; of several that came meanwhile the newest counts.
func (m *Model) nextSnapshot(pause time.Duration) tea.Cmd {
	ch := m.o.Snapshots
	if ch == nil {
		return nil
	}
	ctx := m.ctx
	return guard("waiting for what the probes see", func() tea.Msg {
		if pause > 0 {
			t := time.NewTimer(pause)
			defer t.Stop()
			select {
			case <-ctx.Done():
				return nil
			case <-t.C:
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case s, ok := <-ch:
			if !ok {
				return nil
			}
			for {
				select {
				case newer, ok := <-ch:
					if !ok {
						return snapshotMsg{s}
					}
					s = newer
				default:
					return snapshotMsg{s}
				}
			}
		}
	})
}

func (m *Model) nextCommand() tea.Cmd {
	return receive(m.ctx, m.o.Commands, func(c remedies.Command) tea.Msg { return commandMsg(c) })
}

func (m *Model) nextLog() tea.Cmd {
	return receive(m.ctx, m.o.Log, func(l LogLine) tea.Msg { return logMsg(l) })
}

func receive[T any](ctx context.Context, ch <-chan T, wrap func(T) tea.Msg) tea.Cmd {
	if ch == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case <-ctx.Done():
			return nil
		case x, ok := <-ch:
			if !ok {
				return nil
			}
			return wrap(x)
		}
	}
}

// View implements tea.Model.
func (m *Model) View() tea.View {
	defer m.pace.drawn()
	v := tea.View{AltScreen: true, MouseMode: tea.MouseModeCellMotion, WindowTitle: m.title()}
	l := lay(m.w, m.h)
	if m.w <= 0 || m.h <= 0 {
		return v
	}
	if l.tooSmall {
		v.SetContent(strings.Join(m.tooSmall(), "\n"))
		return v
	}
	lines := make([]string, 0, m.h)
	f := m.frame()
	lines = append(lines, header(f)...)
	lines = append(lines, "")
	body := m.top().draw(f)
	lines = append(lines, body[:min(len(body), l.body.h)]...)
	for len(lines) < l.message.y {
		lines = append(lines, "")
	}
	lines = append(lines, message(f, m.flash, m.flashBad))
	if m.prompt != nil {
		s, cur := m.prompt.draw(&m.styles, l.footer)
		lines = append(lines, s)
		v.Cursor = cur
	} else {
		lines = append(lines, footer(f, m.top().bindings(f)))
	}
	v.SetContent(strings.Join(lines, "\n"))
	return v
}

func (m *Model) tooSmall() []string {
	words := []string{
		"vksmedic needs " + itoa(leastWidth) + "×" + itoa(leastHeight) + " cells;",
		"this terminal has " + itoa(m.w) + "×" + itoa(m.h) + ".",
		"Make it larger: nothing is lost.",
		"ctrl+c quits.",
	}
	if m.w < widget.Width(words[0]) {
		// The figures must not be cut.
		words = []string{
			"needs " + itoa(leastWidth) + "×" + itoa(leastHeight), "has " + itoa(m.w) + "×" + itoa(m.h),
			"ctrl+c quits", "larger: nothing is lost",
		}
	}
	var out []string
	for _, s := range words {
		if len(out) == m.h {
			break
		}
		out = append(out, widget.CutEnd(s, m.w))
	}
	return out
}
