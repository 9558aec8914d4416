package ui

import (
	tea "charm.land/bubbletea/v2"

	"charm.land/bubbles/v2/key"
)

// row is one line of a list.
type row struct {
	// id keeps the selection on the same thing while the list changes around it; a row
	// without one cannot be selected.
	id string
	// draw makes the line; it is called only for rows that are seen.
	draw func() string
	// text is the line where it costs nothing to have it ready.
	text string
	// target is the object that the row stands for.
	target *Target
	// open is what enter does.
	open func(m *Model) tea.Cmd
	// head is a heading that stays whatever the list is filtered for.
	head bool
}

func line(s string) row { return row{text: s} }

func (r row) String() string {
	if r.draw != nil {
		return r.draw()
	}
	return r.text
}

// list is a scrolled list of rows, some of which can be selected.
type list struct {
	at     string // id of the selected row.
	pos    int    // its index when it was last seen, for when it goes.
	off    int    // first row on the screen.
	filter string // only rows with this text are shown; empty: all.
	// held says that somebody moved to the row or used it. Until then the first row is the
	// selected one, whatever comes to stand there.
	held bool
	// pushed says that the row was moved by others and may be out of sight.
	pushed bool
}

// settle finds the selected row among rows, or the nearest one that can be
// selected; -1 where there is none.
func (l *list) settle(rows []row) int {
	if !l.held {
		l.at, l.pos = "", 0
	}
	if l.pos >= 0 && l.pos < len(rows) && rows[l.pos].id == l.at && l.at != "" {
		return l.pos
	}
	if l.at != "" {
		for i := range rows {
			if rows[i].id == l.at {
				// What came or went above it does not move it on the screen, unless the top is
				// in sight: there the worst comes to stand, and it has to be seen.
				if l.off > 0 {
					l.off += i - l.pos
				} else {
					l.pushed = true
				}
				l.pos = i
				return i
			}
		}
	}
	l.pos = min(max(l.pos, 0), len(rows)-1)
	for d := range len(rows) {
		for _, i := range []int{l.pos + d, l.pos - d} {
			if i >= 0 && i < len(rows) && rows[i].id != "" {
				l.pos, l.at = i, rows[i].id
				return i
			}
		}
	}
	return -1
}

// selected is the row one is on, or nil.
func (l *list) selected(rows []row) *row {
	if i := l.settle(rows); i >= 0 {
		return &rows[i]
	}
	return nil
}

// show scrolls so that the selected row is seen, and the heading right above it.
func (l *list) show(rows []row, h int) {
	if i := l.settle(rows); i >= 0 {
		top := i
		for top > 0 && i-top < 3 && rows[top-1].id == "" {
			top--
		}
		if top < l.off {
			l.off = top
		}
		if i >= l.off+h {
			l.off = i - h + 1
		}
	}
	l.clamp(len(rows), h)
}

func (l *list) clamp(n, h int) { l.off = max(0, min(l.off, n-h)) }

// move goes n selectable rows down, or up where n is negative; where there is no
// further one it scrolls, so that the lines after the last can be read.
func (l *list) move(rows []row, n, h int) {
	i := l.settle(rows)
	step := 1
	if n < 0 {
		step = -1
	}
	for ; n != 0; n -= step {
		j := i + step
		for j >= 0 && j < len(rows) && rows[j].id == "" {
			j += step
		}
		if i < 0 || j < 0 || j >= len(rows) || j < l.off-1 || j > l.off+h {
			// There is none, or it is out of sight: read on line by line until it comes.
			l.off += step
			l.clamp(len(rows), h)
			if seen := l.inSight(rows, h); seen >= 0 && (i < l.off || i >= l.off+h) {
				i, l.pos, l.at = seen, seen, rows[seen].id
			}
			continue
		}
		i, l.pos, l.at = j, j, rows[j].id
		l.show(rows, h)
	}
}

// inSight is the first row on the screen that can be selected, or -1.
func (l *list) inSight(rows []row, h int) int {
	for i := max(l.off, 0); i < min(l.off+h, len(rows)); i++ {
		if rows[i].id != "" {
			return i
		}
	}
	return -1
}

// jump goes to the first or the last row.
func (l *list) jump(rows []row, last bool, h int) {
	l.settle(rows)
	from, step := 0, 1
	if last {
		from, step = len(rows)-1, -1
	}
	for i := from; i >= 0 && i < len(rows); i += step {
		if rows[i].id != "" {
			l.pos, l.at = i, rows[i].id
			break
		}
	}
	if last {
		l.off = len(rows)
	} else {
		l.off = 0
	}
	l.clamp(len(rows), h)
}

// page goes about one screen down or up: to the row that stands there.
func (l *list) page(rows []row, down bool, h int) {
	if l.settle(rows) < 0 {
		l.scroll(len(rows), down, h)
		return
	}
	n := max(1, h-2)
	to := l.pos + n
	if !down {
		to = l.pos - n
	}
	to = min(max(to, 0), len(rows)-1)
	l.scroll(len(rows), down, h)
	best := -1
	for i := range rows {
		if rows[i].id == "" || (best >= 0 && abs(i-to) >= abs(best-to)) {
			continue
		}
		best = i
	}
	if best >= l.off && best < l.off+h {
		l.pos, l.at = best, rows[best].id
	}
}

func (l *list) scroll(n int, down bool, h int) {
	if down {
		l.off += max(1, h-2)
	} else {
		l.off -= max(1, h-2)
	}
	l.clamp(n, h)
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// key moves the selection; it says whether the key was one of its own.
func (l *list) key(k tea.KeyPressMsg, keys *KeyMap, rows []row, h int) bool {
	var move func()
	switch {
	case key.Matches(k, keys.Up):
		move = func() { l.move(rows, -1, h) }
	case key.Matches(k, keys.Down):
		move = func() { l.move(rows, 1, h) }
	case key.Matches(k, keys.PageUp):
		move = func() { l.page(rows, false, h) }
	case key.Matches(k, keys.PageDown):
		move = func() { l.page(rows, true, h) }
	case key.Matches(k, keys.Top):
		move = func() { l.jump(rows, false, h) }
	case key.Matches(k, keys.Bottom):
		move = func() { l.jump(rows, true, h) }
	default:
		return false
	}
	l.hold(rows)
	move()
	return true
}

// hold keeps the selection on its row from now on.
func (l *list) hold(rows []row) {
	l.settle(rows)
	l.held = true
}

// draw gives the h lines that are seen, each of w cells with its gutter.
func (l *list) draw(m *Model, rows []row, w, h int) []string {
	at := l.settle(rows)
	if l.pushed && at >= l.off+h {
		l.off = at - h + 1
	}
	l.pushed = false
	l.clamp(len(rows), h)
	out := make([]string, 0, h)
	for i := l.off; i < len(rows) && len(out) < h; i++ {
		s := rows[i].String()
		if i == at {
			s = m.styles.Selected.Render("›" + pad(cutEnd(s, w-1), w-1, false))
		} else {
			s = " " + cutEnd(s, w-1)
		}
		out = append(out, s)
	}
	return out
}

// click selects the row at a line of the list; it says whether it was selected already.
func (l *list) click(rows []row, y int) (hit, again bool) {
	i := l.off + y
	if i < 0 || i >= len(rows) || rows[i].id == "" {
		return false, false
	}
	again = l.settle(rows) == i
	l.pos, l.at, l.held = i, rows[i].id, true
	return true, again
}
