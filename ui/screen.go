package ui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"vksmedic/model"
	"vksmedic/ui/widget"
)

// screen is one view on the stack: a plain struct that the model calls. Of its methods only key,
// click, wheel and prepare change it; all are called by Update.
type screen interface {
	// title is what stands in the terminal's title.
	title() string
	// place is where one looks, for the probes to look closely; no place where that is
	// nowhere in particular.
	place() model.Place
	// bindings are the keys that do something here, in the order of the last line.
	bindings(f *frame) []key.Binding
	// key handles one; false leaves it to the keys that work everywhere.
	key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool)
	// prepare is called by Update last, for the screen on top: it finds what the next frame
	// draws.
	prepare(m *Model, f *frame) tea.Cmd
	// draw gives at most f.h lines of at most f.w cells.
	draw(f *frame) []string
	click(m *Model, x, y int) tea.Cmd
	wheel(m *Model, down bool)
}

// row is one line of a list.
type row struct {
	// id keeps the selection on the same thing while the list changes around it; a row
	// without one cannot be selected.
	id string
	// draw makes the line; it is called only for rows that are seen. text is the line where it
	// costs nothing to have it ready.
	draw func() string
	text string
	// target is the object that the row stands for; open is what enter does.
	target *Target
	open   func(m *Model) tea.Cmd
	// head is a heading that stays whatever the list is filtered for.
	head bool
}

func line(s string) row { return row{text: s} }

func (r *row) String() string {
	if r.draw != nil {
		return r.draw()
	}
	return r.text
}

// rowList is what a list shows.
type rowList []row

func (r rowList) Len() int          { return len(r) }
func (r rowList) ID(i int) string   { return r[i].id }
func (r rowList) Draw(i int) string { return r[i].String() }

// listScreen is a screen that is a list under some fixed lines. What makes one list differ
// from another are its fields, which are set when it is made.
type listScreen struct {
	// name stands in the terminal's title, at is where one looks.
	name string
	at   model.Place
	// head are the lines above the list, rows those in it; selected is the id of the row one
	// is on, empty before the first frame.
	head func(f *frame) []string
	rows func(f *frame, selected string) rowList
	// foot are the lines under the list, for which footRoom lines are kept. Both may be nil.
	foot     func(f *frame) []string
	footRoom func(f *frame) int
	// fills has the foot stand at the bottom, and not right under the last row.
	fills bool
	// keys are what the last line offers besides moving. on does what its own keys do, before
	// those of every list; nil where there are none.
	keys func(f *frame) []key.Binding
	on   func(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool)
	// filters says that the list can be filtered, names that the name of a row's object can be
	// copied, still that a click does nothing.
	filters, names, still bool

	list   widget.List
	filter string // only rows with this text are shown; empty: all.

	// What prepare found: the lines above, the rows, and the room for them.
	above []string
	laid  rowList
	room  int
}

func (s *listScreen) title() string      { return s.name }
func (s *listScreen) place() model.Place { return s.at }

func (s *listScreen) bindings(f *frame) []key.Binding {
	var out []key.Binding
	if s.keys != nil {
		out = s.keys(f)
	}
	return append(out, f.keys.Moves.All()...)
}

func (s *listScreen) prepare(_ *Model, f *frame) tea.Cmd {
	before := s.list.At()
	s.laid = s.filtered(s.rows(f, before))
	s.above = nil
	if s.head != nil {
		s.above = s.head(f)
	}
	s.room = f.h - len(s.above)
	if s.footRoom != nil {
		s.room -= s.footRoom(f)
	}
	if s.filter != "" {
		s.room -= 2
	}
	s.list.Lay(s.laid, s.room)
	if s.list.At() != before {
		s.laid = s.filtered(s.rows(f, s.list.At())) // Some lists say more about the row one is on.
		s.list.Lay(s.laid, s.room)
	}
	return nil
}

// filtered are the rows that are shown: all, or those with what the list is filtered for.
func (s *listScreen) filtered(rows rowList) rowList {
	want := strings.ToLower(s.filter)
	if want == "" {
		return rows
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		return !r.head && (r.id == "" || !strings.Contains(strings.ToLower(ansi.Strip(r.String())), want))
	})
}

func (s *listScreen) draw(f *frame) []string {
	out := make([]string, 0, f.h)
	for _, l := range s.above {
		out = append(out, widget.CutEnd(l, f.w))
	}
	out = append(out, s.list.Draw(f.styles, s.laid, f.w, s.room)...)
	if s.filter != "" {
		found := 0
		for i := range s.laid {
			if s.laid[i].id != "" {
				found++
			}
		}
		words := " filter " + clean(s.filter) + ": " + plural(found, "line", "lines") + "   esc shows all"
		out = append(out, "", f.styles.Muted.Render(widget.CutEnd(words, f.w)))
	}
	if s.foot != nil {
		for s.fills && len(out) < len(s.above)+s.room {
			out = append(out, "")
		}
		out = append(out, s.foot(f)...)
	}
	return out[:min(len(out), f.h)]
}

// selected is the row one is on, or nil.
func (s *listScreen) selected() *row {
	if i := s.list.Find(s.laid); i >= 0 {
		return &s.laid[i]
	}
	return nil
}

// key handles what works on every list: moving, opening, filtering, and reading the object of
// the row one is on.
func (s *listScreen) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	if s.on != nil {
		if cmd, mine := s.on(m, k); mine {
			return cmd, true
		}
	}
	switch {
	case s.filters && key.Matches(k, m.keys.Filter):
		return m.askFilter(&s.filter), true
	case s.filters && key.Matches(k, m.keys.Back) && s.filter != "":
		s.filter = ""
		return nil, true
	case s.list.Key(k, &m.keys.Moves, s.laid, s.room):
		return nil, true
	}
	r := s.selected()
	switch {
	case key.Matches(k, m.keys.Open):
		if r == nil || r.open == nil {
			return nil, false
		}
		s.list.Hold(s.laid)
		return r.open(m), true
	case key.Matches(k, m.keys.YAML), key.Matches(k, m.keys.Describe):
		if r == nil || r.target == nil {
			return m.say(false, "there is no object on this line"), true
		}
		s.list.Hold(s.laid)
		return m.read(*r.target, key.Matches(k, m.keys.Describe)), true
	case s.names && key.Matches(k, m.keys.Copy):
		if r == nil || r.target == nil {
			return m.say(false, "there is no name on this line"), true
		}
		return m.copy("its name", r.target.Ref.Name), true
	}
	return nil, false
}

func (s *listScreen) click(m *Model, _, y int) tea.Cmd {
	if y -= len(s.above); s.still || y < 0 || y >= s.room {
		return nil
	}
	if hit, again := s.list.Click(s.laid, y); hit && again {
		if r := s.selected(); r != nil && r.open != nil {
			return r.open(m)
		}
	}
	return nil
}

func (s *listScreen) wheel(_ *Model, down bool) {
	n := widget.WheelLines
	if !down {
		n = -n
	}
	s.list.Move(s.laid, n, s.room)
}

// heading is a title above a list, with what is said behind it, and a blank line.
func heading(title, about string) func(f *frame) []string {
	return func(f *frame) []string {
		s := f.styles.Strong.Render(title)
		if about != "" {
			s += f.styles.Muted.Render("  " + about)
		}
		return []string{s, ""}
	}
}

// offering are keys that do not depend on anything.
func offering(pick func(k *KeyMap) []key.Binding) func(f *frame) []key.Binding {
	return func(f *frame) []key.Binding { return pick(f.keys) }
}
