package ui

import (
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/remedies"
)

// The small screens: sources, commands, log, namespaces, findings and help. Each is
// a list and nothing else.

// sources says what is looked at and how that goes.
type sources struct{ plainList }

func (s *sources) name() string                       { return "sources" }
func (s *sources) click(m *Model, _, y int) tea.Cmd   { return m.clickList(s, y) }
func (s *sources) wheel(m *Model, down bool)          { m.wheelList(s, down) }
func (s *sources) room(_ *Model, _, h int) (int, int) { return 3, h - 3 }
func (s *sources) bindings(m *Model) []key.Binding {
	return append([]key.Binding{m.keys.Back, m.keys.Filter, m.keys.Refresh}, m.keys.moves()...)
}

func (s *sources) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) { return m.onFiltered(s, k) }

func (s *sources) rows(m *Model, w int) []row {
	if m.snap == nil {
		return []row{line(m.styles.Muted.Render("nothing was asked yet"))}
	}
	now := m.now()
	cols := []column{{sign: true}, {title: "SOURCE", least: 24}, {title: "STATE"}, {title: "AGE", right: true}, {title: "", least: 20, sentence: true}}
	natural := make([]int, len(cols))
	all := allSources(m.snap, now)
	cells := make([][]cell, len(all))
	for i := range all {
		x := &all[i]
		sign, style := m.sourceStyle(x.State)
		cells[i] = []cell{{sign, style}, {clean(string(x.Name)), nil}, {strings.ReplaceAll(string(x.State), "-", " "), style},
			{sourceAge(*x, now), &m.styles.Muted}, {clean(x.Detail), &m.styles.Muted}}
		measure(natural, cells[i])
	}
	widths := columnWidths(cols, natural, w-1)
	var rows []row
	for i := range all {
		rows = append(rows, row{id: string(all[i].Name), draw: func() string { return drawRow(cols, widths, cells[i]) }})
		if at := s.list.at; at == string(all[i].Name) && width(clean(all[i].Detail)) > widths[4] {
			for _, l := range wrap(clean(all[i].Detail), w-6) {
				rows = append(rows, line("   "+m.styles.Muted.Render(l)))
			}
		}
	}
	return rows
}

func sourceAge(s model.Source, now time.Time) string {
	switch a := s.Age(now); {
	case s.Live && s.State == model.SourceOK:
		return "live"
	case a < 0 || now.IsZero():
		return "—"
	default:
		return text.Age(a)
	}
}

func (s *sources) draw(m *Model, w, h int) []string {
	o := m.o.Where
	where := "context " + clean(o.Context) + " · server " + clean(o.Server) + " · user " + clean(o.User)
	if o.Dump != "" {
		where = "dump " + clean(o.Dump)
	}
	return m.drawList(s, []string{m.styles.Strong.Render("Sources"), m.styles.Muted.Render(cutMiddle(where, w)), ""}, w, h)
}

// commandLog is every command and request of this program that changed something.
type commandLog struct{ plainList }

func (s *commandLog) name() string                       { return "commands" }
func (s *commandLog) click(m *Model, _, y int) tea.Cmd   { return m.clickList(s, y) }
func (s *commandLog) wheel(m *Model, down bool)          { m.wheelList(s, down) }
func (s *commandLog) room(_ *Model, _, h int) (int, int) { return 2, h - 2 }
func (s *commandLog) bindings(m *Model) []key.Binding {
	return append([]key.Binding{m.keys.Back, m.keys.Copy}, m.keys.moves()...)
}

func (s *commandLog) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	if key.Matches(k, m.keys.Copy) {
		for i := range m.commands {
			if c := &m.commands[i]; commandID(c, i) == s.list.at {
				return m.copy("the command", c.Line), true
			}
		}
		return m.say(false, "there is no command to copy"), true
	}
	return m.onList(s, k)
}

func commandID(c *remedies.Command, i int) string { return c.At.String() + itoa(i) }

func (s *commandLog) rows(m *Model, w int) []row {
	st := &m.styles
	if len(m.commands) == 0 {
		return []row{line(st.Muted.Render("nothing was changed so far"))}
	}
	var rows []row
	for i := len(m.commands) - 1; i >= 0; i-- {
		c := &m.commands[i]
		sign, style := signOk, &st.Ok
		if c.Err != "" {
			sign, style = signBad, &st.Danger
		}
		tail := clean(c.Where)
		if c.Took > 0 {
			tail += " " + c.Took.Round(time.Millisecond).String()
		}
		rows = append(rows, row{id: commandID(c, i), text: style.Render(sign) + " " + st.Muted.Render(c.At.UTC().Format("15:04:05Z")+"  "+tail)})
		lead := "  $ "
		for _, part := range strings.Split(text.CleanLines(c.Line), "\n") {
			for _, l := range wrapHard(part, w-6) {
				rows = append(rows, line(lead+l))
				lead = "    "
			}
		}
		if c.Err != "" {
			for _, l := range wrap(clean(c.Err), w-6) {
				rows = append(rows, line("    "+st.Danger.Render(l)))
			}
		}
	}
	return rows
}

func (s *commandLog) draw(m *Model, w, h int) []string {
	return m.drawList(s, []string{m.styles.Strong.Render("Commands") + m.styles.Muted.Render("  what this program changed, as the lines that would do the same"), ""}, w, h)
}

// logView is what the libraries had to say.
type logView struct{ plainList }

func (s *logView) name() string                       { return "log" }
func (s *logView) click(m *Model, _, y int) tea.Cmd   { return m.clickList(s, y) }
func (s *logView) wheel(m *Model, down bool)          { m.wheelList(s, down) }
func (s *logView) room(_ *Model, _, h int) (int, int) { return 2, h - 2 }
func (s *logView) bindings(m *Model) []key.Binding {
	return append([]key.Binding{m.keys.Back, m.keys.Copy}, m.keys.moves()...)
}

func (s *logView) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	if key.Matches(k, m.keys.Copy) {
		var b strings.Builder
		for _, l := range m.log {
			b.WriteString(exact(l.At) + " " + l.Level + " " + text.CleanLines(l.Text) + "\n")
		}
		return m.copy("the log", b.String()), true
	}
	return m.onList(s, k)
}

func (s *logView) rows(m *Model, w int) []row {
	st := &m.styles
	if len(m.log) == 0 {
		return []row{line(st.Muted.Render("nothing was logged so far"))}
	}
	var rows []row
	for i := len(m.log) - 1; i >= 0; i-- {
		l := m.log[i]
		style := &st.Muted
		switch l.Level {
		case "error":
			style = &st.Danger
		case "warning":
			style = &st.Warn
		}
		for j, part := range strings.Split(text.CleanLines(text.Limit(l.Text, longestLine)), "\n") {
			for n, x := range wrap(part, w-22) {
				lead := pad("", 19, false)
				id := ""
				if j == 0 && n == 0 {
					lead = st.Muted.Render(l.At.UTC().Format("15:04:05Z")) + " " + style.Render(pad(cutEnd(clean(l.Level), 7), 9, false))
					id = itoa(i)
				}
				rows = append(rows, row{id: id, text: lead + x})
			}
		}
	}
	return rows
}

func (s *logView) draw(m *Model, w, h int) []string {
	return m.drawList(s, []string{m.styles.Strong.Render("Log") + m.styles.Muted.Render("  messages of the libraries and of the API; newest first"), ""}, w, h)
}

// namespaces lets one choose a vSphere Namespace for the fleet.
type namespaces struct{ plainList }

func (s *namespaces) name() string                       { return "namespaces" }
func (s *namespaces) click(m *Model, _, y int) tea.Cmd   { return m.clickList(s, y) }
func (s *namespaces) wheel(m *Model, down bool)          { m.wheelList(s, down) }
func (s *namespaces) room(_ *Model, _, h int) (int, int) { return 2, h - 2 }
func (s *namespaces) bindings(m *Model) []key.Binding {
	return append([]key.Binding{m.keys.Open, m.keys.Back}, m.keys.moves()...)
}
func (s *namespaces) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) { return m.onList(s, k) }

func (s *namespaces) rows(m *Model, _ int) []row {
	if m.snap == nil {
		return nil
	}
	now := m.now()
	type tally struct{ clusters, flagged int }
	by := map[string]*tally{}
	total := &tally{}
	var names []string
	for _, c := range m.snap.Clusters {
		t := by[c.Ref.Namespace]
		if t == nil {
			t = &tally{}
			by[c.Ref.Namespace] = t
			names = append(names, c.Ref.Namespace)
		}
		t.clusters++
		total.clusters++
		if fleetRank(c, now) <= model.Warning.Rank() {
			t.flagged++
			total.flagged++
		}
	}
	slices.Sort(names)
	pick := func(ns, shown string, t *tally) row {
		mark := "  "
		if m.fleet.namespace == ns {
			mark = signHere + " "
		}
		s := mark + pad(cutMiddle(shown, 34), 36, false) + pad(plural(t.clusters, "cluster", "clusters"), 14, false)
		if t.flagged > 0 {
			s += m.styles.Danger.Render(itoa(t.flagged) + " flagged")
		}
		return row{id: "ns " + ns, text: s, open: func(m *Model) tea.Cmd {
			m.fleet.namespace = ns
			return m.home(nil)
		}}
	}
	rows := []row{pick("", "all namespaces", total)}
	for _, n := range names {
		rows = append(rows, pick(n, clean(n), by[n]))
	}
	return rows
}

func (s *namespaces) draw(m *Model, w, h int) []string {
	return m.drawList(s, []string{m.styles.Strong.Render("vSphere Namespaces"), ""}, w, h)
}

// findings is every finding of every cluster.
type findings struct{ plainList }

func (s *findings) name() string                       { return "findings" }
func (s *findings) click(m *Model, _, y int) tea.Cmd   { return m.clickList(s, y) }
func (s *findings) wheel(m *Model, down bool)          { m.wheelList(s, down) }
func (s *findings) room(_ *Model, _, h int) (int, int) { return 2, h - 2 }
func (s *findings) bindings(m *Model) []key.Binding {
	return append([]key.Binding{m.keys.Open, m.keys.Filter, m.keys.YAML, m.keys.Describe, m.keys.Back}, m.keys.moves()...)
}
func (s *findings) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) { return m.onFiltered(s, k) }

func (s *findings) rows(m *Model, w int) []row {
	if m.snap == nil {
		return nil
	}
	all := m.snap.Findings()
	if len(all) == 0 {
		return []row{line(m.styles.Ok.Render(signOk) + " nothing is flagged")}
	}
	return m.findingRows(all, w, true)
}

func (s *findings) draw(m *Model, w, h int) []string {
	return m.drawList(s, []string{m.styles.Strong.Render("Findings"), ""}, w, h)
}

// findingRows is a row for each finding; each opens its evidence.
func (m *Model) findingRows(all []*model.Finding, w int, withCluster bool) []row {
	cols := []column{{sign: true}, {least: 12}, {least: 20, sentence: true}, {}, {right: true}}
	natural := make([]int, len(cols))
	cells := make([][]cell, len(all))
	now := m.now()
	for i, f := range all {
		sign, style := m.severity(f.Severity)
		name := ""
		if withCluster {
			name = placeName(foundIn(f))
		}
		age := ""
		if !f.Since.IsZero() {
			age = text.Since(now, f.Since)
		}
		cells[i] = []cell{{sign, style}, {name, nil}, {clean(f.Summary), style}, {string(f.Confidence), &m.styles.Muted}, {age, &m.styles.Muted}}
		measure(natural, cells[i])
	}
	if !withCluster {
		cols = append(cols[:1], cols[2:]...)
		natural = append(natural[:1], natural[2:]...)
		for i := range cells {
			cells[i] = append(cells[i][:1], cells[i][2:]...)
		}
	}
	widths := columnWidths(cols, natural, w-1)
	rows := make([]row, 0, len(all))
	for i, f := range all {
		id := f.Key()
		rows = append(rows, row{
			id:     "finding " + id,
			draw:   func() string { return drawRow(cols, widths, cells[i]) },
			target: subject(f),
			open:   func(m *Model) tea.Cmd { return m.push(&evidence{at: foundIn(f), id: id}) },
		})
	}
	return rows
}

// help shows the keys of the screen it was called from, and those of all others.
type help struct {
	plainList
	about screen
}

func (s *help) name() string                   { return "help" }
func (s *help) click(*Model, int, int) tea.Cmd { return nil }
func (s *help) wheel(m *Model, down bool)      { m.wheelList(s, down) }
func (s *help) place() model.Place             { return s.about.place() }
func (s *help) bindings(m *Model) []key.Binding {
	return append([]key.Binding{m.keys.Back}, m.keys.moves()...)
}

func (s *help) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	if key.Matches(k, m.keys.Help) {
		return m.pop(), true
	}
	return m.onList(s, k)
}

func (s *help) rows(m *Model, w int) []row {
	st := &m.styles
	var rows []row
	group := func(title string, keys []key.Binding) {
		rows = append(rows, line(st.Strong.Render(title)))
		perLine := 1
		if w >= 150 {
			perLine = 3
		} else if w >= 72 {
			perLine = 2
		}
		cell := (w - 4) / perLine
		var b strings.Builder
		for i, x := range keys {
			h := x.Help()
			b.WriteString("  " + st.Accent.Render(pad(h.Key, 8, false)) + " " + pad(cutEnd(h.Desc, cell-12), cell-11, false))
			if i%perLine == perLine-1 || i == len(keys)-1 {
				rows = append(rows, line(strings.TrimRight(b.String(), " ")))
				b.Reset()
			}
		}
		rows = append(rows, line(""))
	}
	here := slices.DeleteFunc(slices.Clone(s.about.bindings(m)), func(x key.Binding) bool {
		k, _ := shortHelp(x)
		return k == ""
	})
	group("On this screen", here)
	for _, g := range m.keys.Groups() {
		group(g.Name, g.Keys)
	}
	rows = append(rows, line(st.Strong.Render("Views, after :")))
	for _, v := range m.views() {
		rows = append(rows, line("  "+st.Accent.Render(pad(v.names[0], 12, false))+v.about))
	}
	rows = append(rows, line(""), line(st.Strong.Render("Signs")),
		line("  "+st.Danger.Render(signBad+" critical")+"   "+st.Warn.Render(signWarn+" warning")+"   "+st.Accent.Render(signInfo+" info")+
			"   "+st.Ok.Render(signOk+" well")+"   "+st.Warn.Render(signUnknown+" unknown")),
		line("  "+st.Muted.Render(signQuiet+" under way, paused or silent")))
	for _, l := range wrap("The mouse wheel moves, a click selects, a second one opens; with shift the terminal selects text.", w-4) {
		rows = append(rows, line("  "+st.Muted.Render(l)))
	}
	return rows
}

func (s *help) draw(m *Model, w, h int) []string { return m.drawList(s, nil, w, h) }
