package ui

import (
	"context"
	"regexp"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/model/text"
)

// viewer shows a long text: YAML, a description, a change as it would be sent. It
// can be searched, scrolled sideways and wrapped.
type viewer struct {
	title  string
	text   string
	port   viewport.Model
	state  string // what it waits for or why there is nothing; empty when the text is there.
	failed bool
	search string
	found  int
	again  func(m *Model) tea.Cmd // reads the text anew; nil where it does not change.
	of     model.Place
	cancel context.CancelFunc
}

// viewerMsg is the text a viewer waited for.
type viewerMsg struct {
	viewer *viewer
	text   string
	err    error
}

const (
	// readFor bounds how long an object is waited for.
	readFor = 20 * time.Second
	// longestLine and mostLines bound what a viewer shows.
	longestLine = 4096
	mostLines   = 100_000
)

// newViewer shows a text that is there.
func newViewer(title, s string) *viewer {
	v := &viewer{title: title, port: viewport.New()}
	v.set(s)
	return v
}

func (v *viewer) set(s string) {
	lines := strings.Split(text.CleanLines(strings.ReplaceAll(s, "\t", "    ")), "\n")
	if len(lines) > mostLines {
		lines = append(lines[:mostLines], "… and "+itoa(len(lines)-mostLines)+" lines more")
	}
	for i := range lines {
		lines[i] = text.Limit(lines[i], longestLine)
	}
	v.text, v.state = strings.Join(lines, "\n"), ""
	v.port.SetContent(v.text)
	v.port.SetHorizontalStep(8)
}

// read opens an object live, as YAML or described.
func (m *Model) read(t Target, describe bool) tea.Cmd {
	what := "YAML"
	if describe {
		what = "describe"
	}
	v := &viewer{title: what + " " + clean(t.Ref.String()), port: viewport.New(), of: m.top().place()}
	if t.In.Kind == model.PlaceCluster {
		v.title += " in " + placeName(t.In)
	}
	if m.o.Reader == nil {
		return m.say(true, "objects cannot be read here")
	}
	v.again = func(m *Model) tea.Cmd {
		v.stop()
		ctx, cancel := context.WithTimeout(m.ctx, readFor)
		v.cancel = cancel
		v.state, v.failed = "reading …", false
		reader := m.o.Reader
		return guard("reading "+t.Ref.String(), func() tea.Msg {
			defer cancel()
			f := reader.YAML
			if describe {
				f = reader.Describe
			}
			s, err := f(ctx, t)
			return viewerMsg{v, s, err}
		})
	}
	return tea.Batch(m.push(v), v.again(m))
}

func (v *viewer) stop() {
	if v.cancel != nil {
		v.cancel()
		v.cancel = nil
	}
}

func (v *viewer) got(_ *Model, msg viewerMsg) tea.Cmd {
	if msg.err != nil {
		v.state, v.failed = text.CleanLines(text.Limit(msg.err.Error(), longestLine)), true
		return nil
	}
	at := v.port.YOffset()
	v.set(msg.text)
	v.port.SetYOffset(at)
	v.find()
	return nil
}

func (v *viewer) name() string                   { return v.title }
func (v *viewer) place() model.Place             { return v.of }
func (v *viewer) click(*Model, int, int) tea.Cmd { return nil }

func (v *viewer) wheel(_ *Model, down bool) {
	if down {
		v.port.ScrollDown(wheelLines)
	} else {
		v.port.ScrollUp(wheelLines)
	}
}

func (v *viewer) bindings(m *Model) []key.Binding {
	k := m.keys
	out := []key.Binding{k.Back, k.Search}
	if v.search != "" {
		out = append(out, k.NextMatch, k.PrevMatch)
	}
	out = append(out, k.Wrap, k.Copy)
	if v.again != nil {
		out = append(out, k.Refresh)
	}
	return append(append(out, k.Left, k.Right), k.moves()...)
}

func (v *viewer) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	keys := m.keys
	switch {
	case key.Matches(k, keys.Up):
		v.port.ScrollUp(1)
	case key.Matches(k, keys.Down):
		v.port.ScrollDown(1)
	case key.Matches(k, keys.PageUp):
		v.port.PageUp()
	case key.Matches(k, keys.PageDown):
		v.port.PageDown()
	case key.Matches(k, keys.Top):
		v.port.GotoTop()
	case key.Matches(k, keys.Bottom):
		v.port.GotoBottom()
	case key.Matches(k, keys.Left):
		v.port.ScrollLeft(8)
	case key.Matches(k, keys.Right):
		v.port.ScrollRight(8)
	case key.Matches(k, keys.Wrap):
		v.port.SoftWrap = !v.port.SoftWrap
		v.port.SetXOffset(0)
	case key.Matches(k, keys.Search):
		return m.ask(prompt{label: "/", accept: func(m *Model, s string) tea.Cmd { return v.look(m, s) }}, v.search), true
	case v.search != "" && key.Matches(k, keys.NextMatch):
		v.port.HighlightNext()
	case v.search != "" && key.Matches(k, keys.PrevMatch):
		v.port.HighlightPrevious()
	case key.Matches(k, keys.Copy):
		return m.copy(v.title, v.text), true
	case v.again != nil && key.Matches(k, keys.Refresh):
		return v.again(m), true
	case key.Matches(k, keys.Back):
		v.stop()
		return m.pop(), true
	default:
		return nil, false
	}
	return nil, true
}

// look finds a text, whatever its case.
func (v *viewer) look(m *Model, s string) tea.Cmd {
	v.search = s
	v.find()
	if s != "" && v.found == 0 {
		return m.say(false, "not found: "+s)
	}
	return nil
}

func (v *viewer) find() {
	v.port.ClearHighlights()
	v.found = 0
	if v.search == "" || v.text == "" {
		return
	}
	re, err := regexp.Compile("(?i)" + regexp.QuoteMeta(v.search))
	if err != nil {
		return
	}
	const most = 5000
	at := re.FindAllStringIndex(v.text, most)
	v.found = len(at)
	v.port.SetHighlights(at)
	v.port.HighlightNext()
}

func (v *viewer) draw(m *Model, w, h int) []string {
	st := &m.styles
	pos := ""
	if v.state == "" {
		v.port.HighlightStyle = st.Match.Lip()
		v.port.SelectedHighlightStyle = st.Match.Lip().Bold(true)
		v.port.SetWidth(w)
		v.port.SetHeight(h - 1)
		if n := v.port.TotalLineCount(); n > h-1 {
			pos = itoa(min(v.port.YOffset()+h-1, n)) + " of " + itoa(n) + " lines"
		}
		if v.search != "" {
			pos = plural(v.found, "match", "matches") + "   " + pos
		}
	}
	head := st.Strong.Render(pad(cutMiddle(v.title, max(10, w-width(pos)-2)), max(0, w-width(pos)), false)) + st.Muted.Render(pos)
	out := []string{cutEnd(head, w)}
	switch {
	case v.failed:
		for _, l := range strings.Split(v.state, "\n") {
			for _, x := range wrap(l, w-4) {
				out = append(out, "  "+st.Danger.Render(x))
			}
		}
	case v.state != "":
		out = append(out, "  "+st.Muted.Render(v.state))
	default:
		for _, l := range strings.Split(v.port.View(), "\n") {
			out = append(out, strings.TrimRight(l, " "))
		}
	}
	return out[:min(len(out), h)]
}
