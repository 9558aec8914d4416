package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/remedies"
)

// pendingView lists the walks that were left before their end: by esc, by a crash,
// on another day. It comes up by itself at the start where there are any.
type pendingView struct {
	plainList
	pending []remedies.Pending
}

// askPending reads the journal; start says that it is the program's start.
func (m *Model) askPending(start bool) tea.Cmd {
	wiz, ctx := m.o.Wizard, m.ctx
	if wiz == nil {
		return m.say(false, "fixes cannot be walked here")
	}
	return guard("reading the journal", func() tea.Msg {
		p, err := wiz.Pending(ctx)
		return pendingMsg{p, err, start}
	})
}

func (m *Model) gotPending(msg pendingMsg) tea.Cmd {
	switch {
	case msg.err != nil:
		return m.say(true, msg.err.Error())
	case len(msg.pending) == 0 && msg.start:
		return nil
	case len(msg.pending) == 0:
		return m.say(false, "no fix was left before its end")
	case msg.start && (len(m.stack) > 1 || m.prompt != nil):
		return m.say(false, plural(len(msg.pending), "fix was", "fixes were")+" left before the end: :walks shows them")
	}
	return m.push(&pendingView{pending: msg.pending})
}

func (v *pendingView) name() string                       { return "walks" }
func (v *pendingView) click(m *Model, _, y int) tea.Cmd   { return m.clickList(v, y) }
func (v *pendingView) wheel(m *Model, down bool)          { m.wheelList(v, down) }
func (v *pendingView) room(_ *Model, _, h int) (int, int) { return 3, h - 3 }
func (v *pendingView) bindings(m *Model) []key.Binding {
	return append([]key.Binding{m.keys.Open, m.keys.Back}, m.keys.moves()...)
}
func (v *pendingView) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) { return m.onList(v, k) }

func (v *pendingView) rows(m *Model, w int) []row {
	st := &m.styles
	var rows []row
	for i := range v.pending {
		p := &v.pending[i]
		sign, style := signHere, &st.Accent
		open := func(m *Model) tea.Cmd { return m.resumeWalk(p) }
		if p.Refused != "" {
			sign, style = signQuiet, &st.Muted
			open = func(m *Model) tea.Cmd { return m.say(true, p.Refused) }
		}
		head := style.Render(sign) + " " + st.Strong.Render(clusterName(p.Cluster)) + "  " + clean(p.Title)
		if p.Target != "" {
			head += "  " + clean(p.Target)
		}
		rows = append(rows, row{id: p.ID, text: cutEnd(head, w-1), open: open})
		detail := "left at: " + clean(p.Step)
		if !p.Last.IsZero() {
			detail += "   " + exact(p.Last) + ", " + since(m.o.Now(), p.Last) + " ago"
		}
		rows = append(rows, line("  "+st.Muted.Render(cutEnd(detail, w-4))))
		if p.Refused != "" {
			for _, l := range wrap(clean(p.Refused), w-5) {
				rows = append(rows, line("  "+st.Warn.Render(l)))
			}
		}
		rows = append(rows, line(""))
	}
	return rows
}

func (v *pendingView) draw(m *Model, w, h int) []string {
	st := &m.styles
	return m.drawList(v, []string{
		st.Strong.Render("Fixes that were left before their end"),
		st.Muted.Render("enter picks one up; esc goes on to the fleet, and :walks comes back here"),
		"",
	}, w, h)
}

// resumeWalk picks a walk up.
func (m *Model) resumeWalk(p *remedies.Pending) tea.Cmd {
	id, wiz := p.ID, m.o.Wizard
	m.stack = []screen{m.fleet}
	w := &wizard{title: p.Title, ref: p.Cluster, busy: "looking where it was left …"}
	return batch(m.push(w), w.start(m, func() (Walk, error) { return wiz.Resume(m.ctx, id) }))
}

// beginWalk starts the article of a finding.
func (m *Model) beginWalk(f *model.Finding) tea.Cmd {
	wiz := m.o.Wizard
	w := &wizard{title: f.Summary, ref: f.Cluster, busy: "opening the article …"}
	return batch(m.push(w), w.start(m, func() (Walk, error) { return wiz.Begin(m.ctx, f) }))
}
