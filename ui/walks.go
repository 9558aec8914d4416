package ui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/ui/styles"
	"vksmedic/ui/widget"
)

// walks lists the walks that were left before their end: by esc, by a crash, on another day. It
// comes up by itself at the start where there are any of this Supervisor.
type walks struct {
	*listScreen
	pending []remedies.Pending
}

func newWalks(pending []remedies.Pending) *walks {
	v := &walks{pending: pending}
	v.listScreen = &listScreen{
		name: "walks", rows: v.walkRows, on: v.press,
		head: func(f *frame) []string {
			return []string{
				f.styles.Strong.Render("Fixes that were left before their end"),
				f.styles.Muted.Render("enter picks one up; esc goes on to the fleet, and :walks comes back here"),
				"",
			}
		},
		keys: func(f *frame) []key.Binding {
			out := []key.Binding{f.keys.Open, f.keys.PutAway}
			if slices.ContainsFunc(v.pending, func(p remedies.Pending) bool { return len(p.Wrote) > 0 }) {
				out = append(out, f.keys.Copy)
			}
			return append(out, f.keys.Back)
		},
	}
	return v
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
	if msg.start {
		// Those of another Supervisor wait until somebody works there.
		msg.pending = slices.DeleteFunc(msg.pending, func(p remedies.Pending) bool { return p.Elsewhere || p.Open })
	}
	if v, ok := m.top().(*walks); ok && msg.err == nil {
		v.pending = msg.pending
		return nil
	}
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
	return m.push(newWalks(msg.pending))
}

func (v *walks) press(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	p, wrote := v.chosen()
	switch {
	case key.Matches(k, m.keys.PutAway):
		if p == nil {
			return nil, true
		}
		return m.askPutAway(p), true
	case key.Matches(k, m.keys.Copy):
		if s := takeBack(p, wrote); s != "" {
			return m.copy("what takes it back", s), true
		}
		return m.say(false, "there is no command to copy"), true
	}
	return nil, false
}

// chosen is the walk that one is on, and the change of it; nil on its other lines.
func (v *walks) chosen() (*remedies.Pending, *remedies.Wrote) {
	r := v.selected()
	if r == nil {
		return nil, nil
	}
	for i := range v.pending {
		p := &v.pending[i]
		if r.id == p.ID {
			return p, nil
		}
		for j := range p.Wrote {
			if r.id == wroteID(p, j) {
				return p, &p.Wrote[j]
			}
		}
	}
	return nil, nil
}

func wroteID(p *remedies.Pending, i int) string { return p.ID + " wrote " + itoa(i) }

// takeBack is the command that takes one change back, or, where none is given, the commands
// for all of a walk, the newest first.
func takeBack(p *remedies.Pending, wrote *remedies.Wrote) string {
	switch {
	case wrote != nil:
		return wrote.TakeBack
	case p == nil:
		return ""
	}
	var all []string
	for _, x := range slices.Backward(p.Wrote) {
		if x.TakeBack != "" {
			all = append(all, x.TakeBack)
		}
	}
	return strings.Join(all, "\n")
}

// askPutAway has it confirmed that a walk is not pending any more.
func (m *Model) askPutAway(p *remedies.Pending) tea.Cmd {
	if p.Open {
		return m.say(true, "it is open in this window: leave it first")
	}
	id, wiz, ctx := p.ID, m.o.Wizard, m.ctx
	return m.ask(prompt{
		label: "Type yes to put this walk away; what it changed stays as it is:",
		accept: func(m *Model, s string) tea.Cmd {
			if strings.TrimSpace(s) != "yes" {
				return m.say(false, "it stays in the list")
			}
			return guard("putting a walk away", func() tea.Msg {
				if err := wiz.Forget(id); err != nil {
					return pendingMsg{err: err}
				}
				left, err := wiz.Pending(ctx)
				return pendingMsg{pending: left, err: err}
			})
		},
	}, "")
}

func (v *walks) walkRows(f *frame, _ string) rowList {
	st, w := f.styles, f.w
	if len(v.pending) == 0 {
		return rowList{line(st.Ok.Render(styles.SignOk) + " no fix was left before its end")}
	}
	var rows rowList
	for i := range v.pending {
		p := &v.pending[i]
		sign, style := styles.SignHere, &st.Accent
		open := func(m *Model) tea.Cmd { return m.resumeWalk(p) }
		switch {
		case p.Open:
			open = func(m *Model) tea.Cmd { return m.showWalk(p) }
		case p.Refused != "" || p.Elsewhere:
			sign, style = styles.SignQuiet, &st.Muted
			open = func(m *Model) tea.Cmd { return m.say(true, whyNotHere(p)) }
		}
		head := style.Render(sign) + " " + st.Strong.Render(pendingPlace(p)) + "  " + clean(p.Title)
		if p.Target != "" {
			head += "  " + clean(p.Target)
		}
		rows = append(rows, row{id: p.ID, text: widget.CutEnd(head, w-1), open: open})
		var detail []string
		if p.Step != "" {
			detail = append(detail, "left at: "+clean(p.Step))
		}
		if !p.Last.IsZero() {
			detail = append(detail, exact(p.Last)+", "+text.Since(f.clock, p.Last)+" ago")
		}
		if len(detail) > 0 {
			rows = append(rows, line("  "+st.Muted.Render(widget.CutEnd(strings.Join(detail, "   "), w-4))))
		}
		say := func(style *styles.Style, s string) {
			for _, l := range widget.Wrap(clean(s), w-5) {
				rows = append(rows, line("  "+style.Render(l)))
			}
		}
		switch {
		case p.Open:
			say(&st.Accent, "open in this window")
		case p.Elsewhere:
			say(&st.Muted, "of another Supervisor: "+strings.Join(slices.DeleteFunc([]string{p.Server, p.Context}, func(s string) bool { return s == "" }), ", context "))
		case p.Refused != "":
			say(&st.Warn, p.Refused)
		}
		for j := range p.Wrote {
			x := &p.Wrote[j]
			s := "wrote: " + clean(x.How+" "+x.Object) + st.Muted.Render("  "+exact(x.At))
			rows = append(rows, row{id: wroteID(p, j), text: "  " + s})
			if x.TakeBack == "" {
				rows = append(rows, line("    "+st.Muted.Render("nothing takes this back")))
				continue
			}
			lead := "    $ "
			for part := range strings.SplitSeq(text.CleanLines(text.Limit(x.TakeBack, widget.LongestLine)), "\n") {
				for _, l := range widget.WrapHard(part, w-8) {
					rows = append(rows, line(st.Muted.Render(lead+l)))
					lead = "      "
				}
			}
		}
		rows = append(rows, line(""))
	}
	return rows
}

// pendingPlace names the cluster of a walk; one whose journal cannot be read has none.
func pendingPlace(p *remedies.Pending) string {
	if p.Cluster == (model.ClusterRef{}) {
		return clean(p.ID)
	}
	return clusterName(p.Cluster)
}

func whyNotHere(p *remedies.Pending) string {
	if p.Refused != "" {
		return p.Refused
	}
	return "it belongs to another Supervisor: start vksmedic with context " + p.Context
}

// resumeWalk picks a walk up.
func (m *Model) resumeWalk(p *remedies.Pending) tea.Cmd {
	id, wiz := p.ID, m.o.Wizard
	w := &wizard{words: p.Title, at: walkPlace(p.Cluster), busy: "looking where it was left …"}
	return batch(m.home(w), w.start(func() (Walk, error) { return wiz.Resume(m.ctx, id) }))
}

// showWalk goes to the wizard of this window that has the walk open.
func (m *Model) showWalk(p *remedies.Pending) tea.Cmd {
	for i, s := range m.stack {
		if w, ok := s.(*wizard); ok && w.view.ID == p.ID {
			m.stack = m.stack[:i+1]
			return nil
		}
	}
	return m.say(false, "it is open in this window, and being left")
}

// walkPlace is where a walk is at work. One that names no cluster mends the Supervisor.
func walkPlace(c model.ClusterRef) model.Place {
	if c == (model.ClusterRef{}) {
		return onSupervisor()
	}
	return inCluster(c)
}
