package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

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

// onList handles the keys that work on every list: moving, opening, and reading the
// object of the row one is on.
func (m *Model) onList(s listed, k tea.KeyPressMsg) (tea.Cmd, bool) {
	body := lay(m.w, m.h).body
	rows := s.rows(m, body.w)
	_, h := s.room(m, body.w, body.h)
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
	rows := s.rows(m, body.w)
	top, h := s.room(m, body.w, body.h)
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
	rows := s.rows(m, body.w)
	_, h := s.room(m, body.w, body.h)
	n := wheelLines
	if !down {
		n = -n
	}
	s.theList().hold(rows)
	s.theList().move(rows, n, h)
}

// drawList draws a screen that is nothing but its list under some fixed lines.
func (m *Model) drawList(s listed, head []string, w, h int) []string {
	_, n := s.room(m, w, h)
	for i := range head {
		head[i] = cutEnd(head[i], w)
	}
	return append(head, s.theList().draw(m, s.rows(m, w), w, n)...)
}

// plainList is what screens that are only a list have in common.
type plainList struct{ list list }

func (p *plainList) theList() *list                     { return &p.list }
func (p *plainList) room(_ *Model, _, h int) (int, int) { return 0, h }
func (p *plainList) cluster() model.ClusterRef          { return model.ClusterRef{} }
