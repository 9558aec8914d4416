package ui

import (
	"context"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/ui/widget"
)

// reading shows a long text: an object as YAML or described, a change as it would be sent.
type reading struct {
	name string
	of   model.Place
	// view is nil until there is a text; waits is what it waits for, failed why there is none.
	view          *widget.Viewer
	waits, failed string
	again         func(m *Model) tea.Cmd // reads the text anew; nil where it does not change.
	cancel        context.CancelFunc
}

// readingMsg is the text that a screen waited for.
type readingMsg struct {
	reading *reading
	text    string
	err     error
}

// readFor bounds how long an object is waited for.
const readFor = 20 * time.Second

// newReading shows a text that is there.
func newReading(name, s string) *reading { return &reading{name: name, view: widget.NewViewer(s)} }

// read opens an object live, as YAML or described.
func (m *Model) read(t Target, describe bool) tea.Cmd {
	what := "YAML"
	if describe {
		what = "describe"
	}
	if m.o.Reader == nil {
		return m.say(true, "objects cannot be read here")
	}
	r := &reading{name: what + " " + clean(t.Ref.String()), of: m.top().place()}
	if t.In.Kind == model.PlaceCluster {
		r.name += " in " + placeName(t.In)
	}
	r.again = func(m *Model) tea.Cmd {
		r.stop()
		ctx, cancel := context.WithTimeout(m.ctx, readFor)
		r.cancel = cancel
		r.waits, r.failed = "reading …", ""
		reader := m.o.Reader
		return guard("reading "+t.Ref.String(), func() tea.Msg {
			defer cancel()
			read := reader.YAML
			if describe {
				read = reader.Describe
			}
			s, err := read(ctx, t)
			return readingMsg{r, s, err}
		})
	}
	return tea.Batch(m.push(r), r.again(m))
}

func (r *reading) stop() {
	if r.cancel != nil {
		r.cancel()
		r.cancel = nil
	}
}

func (r *reading) got(msg readingMsg) {
	r.waits = ""
	switch {
	case msg.err != nil:
		r.failed = text.CleanLines(text.Limit(msg.err.Error(), widget.LongestLine))
	case r.view == nil:
		r.view = widget.NewViewer(msg.text)
	default:
		r.view.Set(msg.text)
	}
}

func (r *reading) title() string                  { return r.name }
func (r *reading) place() model.Place             { return r.of }
func (r *reading) click(*Model, int, int) tea.Cmd { return nil }

func (r *reading) wheel(_ *Model, down bool) {
	if r.view != nil {
		r.view.Wheel(down)
	}
}

func (r *reading) bindings(f *frame) []key.Binding {
	k := f.keys
	out := []key.Binding{k.Back}
	if r.view != nil {
		out = append(out, k.Search)
		if s, _ := r.view.Searched(); s != "" {
			out = append(out, k.NextMatch, k.PrevMatch)
		}
		out = append(out, k.Wrap, k.Copy)
	}
	if r.again != nil {
		out = append(out, k.Refresh)
	}
	if r.view == nil {
		return out
	}
	return append(append(out, k.Left, k.Right), k.Moves.All()...)
}

func (r *reading) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	keys := m.keys
	switch {
	case key.Matches(k, keys.Back):
		r.stop()
		return m.pop(), true
	case r.again != nil && key.Matches(k, keys.Refresh):
		return r.again(m), true
	case r.view == nil:
		return nil, false
	}
	searched, _ := r.view.Searched()
	switch {
	case r.view.Key(k, &keys.Moves):
	case key.Matches(k, keys.Left):
		r.view.Sideways(false)
	case key.Matches(k, keys.Right):
		r.view.Sideways(true)
	case key.Matches(k, keys.Wrap):
		r.view.Wrap()
	case key.Matches(k, keys.Search):
		return m.ask(prompt{label: "/", accept: r.search}, searched), true
	case searched != "" && key.Matches(k, keys.NextMatch):
		r.view.Match(true)
	case searched != "" && key.Matches(k, keys.PrevMatch):
		r.view.Match(false)
	case key.Matches(k, keys.Copy):
		return m.copy(r.name, r.view.Text()), true
	default:
		return nil, false
	}
	return nil, true
}

// search finds a text, whatever its case.
func (r *reading) search(m *Model, s string) tea.Cmd {
	r.view.Search(s)
	if _, found := r.view.Searched(); s != "" && found == 0 {
		return m.say(false, "not found: "+s)
	}
	return nil
}

func (r *reading) prepare(_ *Model, f *frame) tea.Cmd {
	if r.view != nil {
		r.view.Lay(f.styles, f.w, f.h-1)
	}
	return nil
}

func (r *reading) draw(f *frame) []string {
	st := f.styles
	pos := ""
	shown := r.view != nil && r.waits == "" && r.failed == ""
	if shown {
		if seen, all, long := r.view.Below(); long {
			pos = itoa(seen) + " of " + itoa(all) + " lines"
		}
		if s, found := r.view.Searched(); s != "" {
			pos = plural(found, "match", "matches") + "   " + pos
		}
	}
	head := widget.Pad(widget.CutMiddle(r.name, max(10, f.w-widget.Width(pos)-2)), max(0, f.w-widget.Width(pos)))
	out := []string{widget.CutEnd(st.Strong.Render(head)+st.Muted.Render(pos), f.w)}
	switch {
	case shown:
		out = append(out, r.view.Draw()...)
	case r.failed != "":
		for l := range strings.SplitSeq(r.failed, "\n") {
			for _, x := range widget.Wrap(l, f.w-4) {
				out = append(out, "  "+st.Danger.Render(x))
			}
		}
	default:
		out = append(out, "  "+st.Muted.Render(r.waits))
	}
	return out[:min(len(out), f.h)]
}
