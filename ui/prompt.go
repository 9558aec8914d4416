package ui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
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

func (p *prompt) draw(m *Model, r rect) (string, *tea.Cursor) {
	label := p.label
	p.input.SetWidth(max(8, r.w-width(label)-2))
	s := m.styles.Accent.Render(label) + " " + p.input.View()
	if p.hint != nil {
		if h := p.hint(p.input.Value()); h != "" {
			room := r.w - width(label) - 1 - width(p.input.Value()) - 3
			if room > 0 {
				s = m.styles.Accent.Render(label) + " " + p.input.Value() + "  " + m.styles.Muted.Render(cutEnd(h, room))
			}
		}
	}
	cur := p.input.Cursor()
	if cur != nil {
		cur.X += width(label) + 1
		cur.X = min(cur.X, r.w-1)
		cur.Y = r.y
		cur.Blink = false
	}
	return cutEnd(s, r.w), cur
}

// view is a screen that can be opened by its name.
type view struct {
	names []string
	about string
	open  func(m *Model) tea.Cmd
}

func (m *Model) views() []view {
	return []view{
		{[]string{"fleet", "clusters"}, "every cluster", func(m *Model) tea.Cmd { return m.home(nil) }},
		{[]string{"findings"}, "every finding, worst first", func(m *Model) tea.Cmd { return m.home(&findings{}) }},
		{[]string{"sources"}, "what is looked at, and how that goes", func(m *Model) tea.Cmd { return m.push(&sources{}) }},
		{[]string{"commands"}, "what this program changed", func(m *Model) tea.Cmd { return m.push(&commandLog{}) }},
		{[]string{"log"}, "messages of the libraries", func(m *Model) tea.Cmd { return m.push(&logView{}) }},
		{[]string{"namespaces", "ns"}, "choose a vSphere Namespace", func(m *Model) tea.Cmd { return m.home(&namespaces{}) }},
		{[]string{"walks"}, "fixes that were left before their end", func(m *Model) tea.Cmd { return m.askPending(false) }},
		{[]string{"help"}, "the keys", func(m *Model) tea.Cmd { return m.push(&help{about: m.top()}) }},
		{[]string{"quit", "q"}, "leave", func(m *Model) tea.Cmd { return m.quit() }},
	}
}

// askView opens the line for a view's or a cluster's name.
func (m *Model) askView() tea.Cmd {
	return m.ask(prompt{
		label:  ":",
		accept: func(m *Model, s string) tea.Cmd { return m.openByName(strings.TrimSpace(s)) },
		hint: func(s string) string {
			var fit []string
			for _, v := range m.views() {
				if strings.HasPrefix(v.names[0], s) {
					fit = append(fit, v.names[0])
				}
			}
			if s == "" {
				fit = append(fit, "or a cluster's name")
			}
			return strings.Join(fit, " · ")
		},
	}, "")
}

func (m *Model) openByName(s string) tea.Cmd {
	if s == "" {
		return nil
	}
	for _, v := range m.views() {
		if slices.Contains(v.names, s) {
			return v.open(m)
		}
	}
	for _, v := range m.views() {
		if strings.HasPrefix(v.names[0], s) {
			return v.open(m)
		}
	}
	if m.snap != nil {
		for _, c := range m.snap.Clusters {
			if c.Ref.String() == s || c.Ref.Name == s {
				return m.home(&clusterView{ref: c.Ref})
			}
		}
	}
	return m.say(true, "there is no view and no cluster called "+s+"; : alone shows the views")
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
