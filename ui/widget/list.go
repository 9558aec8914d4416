package widget

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/ui/styles"
)

// Rows are what a list shows.
type Rows interface {
	Len() int
	// ID keeps the selection on the same row while the list changes around it; a row
	// without one cannot be selected.
	ID(i int) string
	// Draw makes the line; it is called only for rows that are seen.
	Draw(i int) string
}

// Moves are the keys of every list and every long text.
type Moves struct {
	Up, Down, PageUp, PageDown, Top, Bottom key.Binding
}

// All are the keys in the order in which help tells them.
func (k *Moves) All() []key.Binding {
	return []key.Binding{k.Up, k.Down, k.PageUp, k.PageDown, k.Top, k.Bottom}
}

// List is a scrolled list of rows, some of which can be selected.
type List struct {
	at  string // id of the selected row.
	pos int    // its index when it was last seen, for when it goes.
	off int    // first row on the screen.
	// held says that somebody moved to the row or used it. Until then the first row is the
	// selected one, whatever comes to stand there.
	held bool
	// pushed says that the row was moved by others and may be out of sight.
	pushed bool
}

// At is the id of the selected row, empty where there is none.
func (l *List) At() string { return l.at }

// Off is the index of the first row on the screen.
func (l *List) Off() int { return l.off }

// Find is the index of the selected row, or of the nearest one that can be
// selected; -1 where there is none.
func (l *List) Find(rows Rows) int {
	if !l.held {
		l.at, l.pos = "", 0
	}
	n := rows.Len()
	if l.pos >= 0 && l.pos < n && rows.ID(l.pos) == l.at && l.at != "" {
		return l.pos
	}
	if l.at != "" {
		for i := range n {
			if rows.ID(i) == l.at {
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
	l.pos = min(max(l.pos, 0), n-1)
	for d := range n {
		for _, i := range []int{l.pos + d, l.pos - d} {
			if i >= 0 && i < n && rows.ID(i) != "" {
				l.pos, l.at = i, rows.ID(i)
				return i
			}
		}
	}
	return -1
}

// Lay finds what the next frame draws of the rows, in h lines.
func (l *List) Lay(rows Rows, h int) {
	at := l.Find(rows)
	if l.pushed && at >= l.off+h {
		l.off = at - h + 1
	}
	l.pushed = false
	l.clamp(rows.Len(), h)
}

// Draw gives the h lines that are seen of the rows that were laid, each of w cells with its
// gutter.
func (l *List) Draw(st *styles.Styles, rows Rows, w, h int) []string {
	out := make([]string, 0, h)
	for i := l.off; i < rows.Len() && len(out) < h; i++ {
		s := rows.Draw(i)
		if i == l.pos && l.at != "" && rows.ID(i) == l.at {
			s = st.Selected.Render("›" + Pad(CutEnd(s, w-1), w-1))
		} else {
			s = " " + CutEnd(s, w-1)
		}
		out = append(out, s)
	}
	return out
}

// Select goes to the row with this id and scrolls it into sight.
func (l *List) Select(rows Rows, id string, h int) {
	l.at, l.held = id, true
	l.show(rows, h)
}

// show scrolls so that the selected row is seen, and the heading right above it.
func (l *List) show(rows Rows, h int) {
	if i := l.Find(rows); i >= 0 {
		top := i
		for top > 0 && i-top < 3 && rows.ID(top-1) == "" {
			top--
		}
		if top < l.off {
			l.off = top
		}
		if i >= l.off+h {
			l.off = i - h + 1
		}
	}
	l.clamp(rows.Len(), h)
}

func (l *List) clamp(n, h int) { l.off = max(0, min(l.off, n-h)) }

// Move goes n selectable rows down, or up where n is negative; where there is no
// further one it scrolls, so that the lines after the last can be read.
func (l *List) Move(rows Rows, n, h int) {
	l.Hold(rows)
	i := l.Find(rows)
	step := 1
	if n < 0 {
		step = -1
	}
	for ; n != 0; n -= step {
		j := i + step
		for j >= 0 && j < rows.Len() && rows.ID(j) == "" {
			j += step
		}
		if i < 0 || j < 0 || j >= rows.Len() || j < l.off-1 || j > l.off+h {
			// There is none, or it is out of sight: read on line by line until it comes.
			l.off += step
			l.clamp(rows.Len(), h)
			if seen := l.inSight(rows, h); seen >= 0 && (i < l.off || i >= l.off+h) {
				i, l.pos, l.at = seen, seen, rows.ID(seen)
			}
			continue
		}
		i, l.pos, l.at = j, j, rows.ID(j)
		l.show(rows, h)
	}
}

// inSight is the first row on the screen that can be selected, or -1.
func (l *List) inSight(rows Rows, h int) int {
	for i := max(l.off, 0); i < min(l.off+h, rows.Len()); i++ {
		if rows.ID(i) != "" {
			return i
		}
	}
	return -1
}

// jump goes to the first or the last row.
func (l *List) jump(rows Rows, last bool, h int) {
	l.Find(rows)
	n := rows.Len()
	from, step := 0, 1
	if last {
		from, step = n-1, -1
	}
	for i := from; i >= 0 && i < n; i += step {
		if rows.ID(i) != "" {
			l.pos, l.at = i, rows.ID(i)
			break
		}
	}
	if last {
		l.off = n
	} else {
		l.off = 0
	}
	l.clamp(n, h)
}

// page goes about one screen down or up: to the row that stands there.
func (l *List) page(rows Rows, down bool, h int) {
	if l.Find(rows) < 0 {
		l.scroll(rows.Len(), down, h)
		return
	}
	n := max(1, h-2)
	to := l.pos + n
	if !down {
		to = l.pos - n
	}
	to = min(max(to, 0), rows.Len()-1)
	l.scroll(rows.Len(), down, h)
	best := -1
	for i := range rows.Len() {
		if rows.ID(i) == "" || (best >= 0 && distance(i, to) >= distance(best, to)) {
			continue
		}
		best = i
	}
	if best >= l.off && best < l.off+h {
		l.pos, l.at = best, rows.ID(best)
	}
}

func (l *List) scroll(n int, down bool, h int) {
	if down {
		l.off += max(1, h-2)
	} else {
		l.off -= max(1, h-2)
	}
	l.clamp(n, h)
}

func distance(a, b int) int { return max(a-b, b-a) }

// Key moves the selection; it says whether the key was one of its own.
func (l *List) Key(k tea.KeyPressMsg, keys *Moves, rows Rows, h int) bool {
	var move func()
	switch {
	case key.Matches(k, keys.Up):
		move = func() { l.Move(rows, -1, h) }
	case key.Matches(k, keys.Down):
		move = func() { l.Move(rows, 1, h) }
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
	l.Hold(rows)
	move()
	return true
}

// Hold keeps the selection on its row from now on.
func (l *List) Hold(rows Rows) {
	l.Find(rows)
	l.held = true
}

// Click selects the row at a line of the list; it says whether there is one that can be
// selected, and whether it was selected already.
func (l *List) Click(rows Rows, y int) (hit, again bool) {
	i := l.off + y
	if i < 0 || i >= rows.Len() || rows.ID(i) == "" {
		return false, false
	}
	again = l.Find(rows) == i
	l.pos, l.at, l.held = i, rows.ID(i), true
	return true, again
}
