package ui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"vksmedic/model"
)

// listed is a screen that is a list of rows. rows is called whenever the list is
// needed, for the body's width.
type listed interface {
	rows(m *Model, w int) []row
	theList() *list
	// room is how many of the body's h lines the list has, and where it begins.
	room(m *Model, w, h int) (top, lines int)
}

// rowsOf are the rows that are shown: all, or those with what the list is filtered for.
func (m *Model) rowsOf(s listed, w int) []row {
	rows := s.rows(m, w)
	want := strings.ToLower(s.theList().filter)
	if want == "" {
		return rows
	}
	return slices.DeleteFunc(rows, func(r row) bool {
		return !r.head && (r.id == "" || !strings.Contains(strings.ToLower(ansi.Strip(r.String())), want))
	})
}

// roomOf is the list's room, without the line that says what it is filtered for.
func (m *Model) roomOf(s listed, w, h int) (top, lines int) {
	top, lines = s.room(m, w, h)
	if s.theList().filter != "" {
		lines -= 2
	}
	return top, lines
}

// onFiltered handles a list that can be filtered, and all that onList does.
func (m *Model) onFiltered(s listed, k tea.KeyPressMsg) (tea.Cmd, bool) {
	l := s.theList()
	switch {
	case key.Matches(k, m.keys.Filter):
		return m.askFilter(&l.filter), true
	case key.Matches(k, m.keys.Back) && l.filter != "":
		l.filter = ""
		return nil, true
	}
	return m.onList(s, k)
}

// onList handles the keys that work on every list: moving, opening, and reading the
// object of the row one is on.
func (m *Model) onList(s listed, k tea.KeyPressMsg) (tea.Cmd, bool) {
	body := lay(m.w, m.h).body
	rows := m.rowsOf(s, body.w)
	_, h := m.roomOf(s, body.w, body.h)
	l := s.theList()
	if l.key(k, m.keys, rows, h) {
		return nil, true
	}
	r := l.selected(rows)
	switch {
	case key.Matches(k, m.keys.Open):
		if r == nil || r.open == nil {
			return nil, false
		}
		l.hold(rows)
		return r.open(m), true
	case key.Matches(k, m.keys.YAML), key.Matches(k, m.keys.Describe):
		if r == nil || r.target == nil {
			return m.say(false, "there is no object on this line"), true
		}
		l.hold(rows)
		return m.read(*r.target, key.Matches(k, m.keys.Describe)), true
	}
	return nil, false
}

func (m *Model) clickList(s listed, y int) tea.Cmd {
	body := lay(m.w, m.h).body
	rows := m.rowsOf(s, body.w)
	top, h := m.roomOf(s, body.w, body.h)
	if y -= top; y < 0 || y >= h {
		return nil
	}
	l := s.theList()
	if hit, again := l.click(rows, y); hit && again {
		if r := l.selected(rows); r != nil && r.open != nil {
			return r.open(m)
		}
	}
	return nil
}

const wheelLines = 3

func (m *Model) wheelList(s listed, down bool) {
	body := lay(m.w, m.h).body
	rows := m.rowsOf(s, body.w)
	_, h := m.roomOf(s, body.w, body.h)
	n := wheelLines
	if !down {
		n = -n
	}
	s.theList().hold(rows)
	s.theList().move(rows, n, h)
}

// drawList draws a screen that is nothing but its list under some fixed lines.
func (m *Model) drawList(s listed, head []string, w, h int) []string {
	_, n := m.roomOf(s, w, h)
	for i := range head {
		head[i] = cutEnd(head[i], w)
	}
	l := s.theList()
	rows := m.rowsOf(s, w)
	out := slices.Concat(head, l.draw(m, rows, w, n))
	if l.filter == "" {
		return out
	}
	found := 0
	for i := range rows {
		if rows[i].id != "" {
			found++
		}
	}
	return append(out, "", m.styles.Muted.Render(cutEnd(" filter "+clean(l.filter)+": "+plural(found, "line", "lines")+"   esc shows all", w)))
}

// plainList is what screens that are only a list have in common.
type plainList struct{ list list }

func (p *plainList) theList() *list                     { return &p.list }
func (p *plainList) room(_ *Model, _, h int) (int, int) { return 0, h }
func (p *plainList) place() model.Place                 { return model.Place{} }
