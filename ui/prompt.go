package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"vksmedic/ui/styles"
	"vksmedic/ui/widget"
)

// prompt is the line that is typed into: a filter, a search, a view's name, the
// name that confirms a change. While it is open it gets every key.
type prompt struct {
	label string
	input textinput.Model
	// change is called after every key, accept on enter, cancel on esc; each may be nil.
	change func(m *Model, s string)
	accept func(m *Model, s string) tea.Cmd
	cancel func(m *Model)
	// secret says that the text is not drawn.
	secret bool
	// hint is what stands behind the text, for the text as it is.
	hint func(s string) string
}

// ask opens a prompt with a first text.
func (m *Model) ask(p prompt, value string) tea.Cmd {
	in := textinput.New()
	in.Prompt = ""
	in.SetStyles(textinput.Styles{}) // Its own would be white on white where the background is light.
	in.CharLimit = 512
	in.SetVirtualCursor(false)
	in.SetValue(value)
	in.CursorEnd()
	if p.secret {
		in.EchoMode = textinput.EchoPassword
	}
	cmd := in.Focus()
	p.input = in
	m.prompt = &p
	return cmd
}

func (p *prompt) key(m *Model, k tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(k, m.keys.Accept):
		m.prompt = nil
		if p.accept != nil {
			return p.accept(m, p.input.Value())
		}
		return nil
	case key.Matches(k, m.keys.Cancel):
		m.prompt = nil
		if p.cancel != nil {
			p.cancel(m)
		}
		return nil
	}
	return p.feed(m, k)
}

func (p *prompt) paste(m *Model, msg tea.PasteMsg) tea.Cmd {
	// The end of the line that was copied is not part of a name or a password.
	return p.feed(m, tea.PasteMsg{Content: clean(strings.TrimRight(msg.Content, "\r\n"))})
}

func (p *prompt) feed(m *Model, msg tea.Msg) tea.Cmd {
	in, cmd := p.input.Update(msg)
	p.input = in
	if p.change != nil {
		p.change(m, in.Value())
	}
	return cmd
}

// prepare fits the line into w cells.
func (p *prompt) prepare(w int) { p.input.SetWidth(max(8, w-widget.Width(p.label)-2)) }

func (p *prompt) draw(st *styles.Styles, r rect) (string, *tea.Cursor) {
	label := p.label
	s := st.Accent.Render(label) + " " + p.input.View()
	if p.hint != nil {
		if h := p.hint(p.input.Value()); h != "" {
			room := r.w - widget.Width(label) - 1 - widget.Width(p.input.Value()) - 3
			if room > 0 {
				s = st.Accent.Render(label) + " " + p.input.Value() + "  " + st.Muted.Render(widget.CutEnd(h, room))
			}
		}
	}
	cur := p.input.Cursor()
	if cur != nil {
		cur.X += widget.Width(label) + 1
		cur.X = min(cur.X, r.w-1)
		cur.Y = r.y
		cur.Blink = false
	}
	return widget.CutEnd(s, r.w), cur
}

// askFilter has a filter typed, which works as it grows; cancelling brings back the one before.
func (m *Model) askFilter(filter *string) tea.Cmd {
	was := *filter
	return m.ask(prompt{
		label:  "/",
		change: func(_ *Model, s string) { *filter = strings.TrimSpace(s) },
		cancel: func(*Model) { *filter = was },
	}, was)
}
