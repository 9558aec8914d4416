package ui

import (
	"strconv"
	"strings"

	"vksmedic/ui/styles"
)

func itoa(n int) string { return strconv.Itoa(n) }

// column is one column of a table.
type column struct {
	title string
	// right aligns numbers and times.
	right bool
	// least is how narrow the column may get when room is short; zero says that it
	// keeps its natural width, up to widestFixed.
	least int
	// extra columns are shown only where all others fit, the lowest first; zero is
	// always shown.
	extra int
	// sign is a column of one sign, close to what it is about.
	sign bool
	// sentence is cut at its end, everything else in its middle.
	sentence bool
}

// cell is one field of a row.
type cell struct {
	text  string
	style *styles.Style
}

const gap = 2

// widestFixed bounds a column that does not give way: what stands in it is short, unless an
// odd object has something else there, which must not push the others off the screen.
const widestFixed = 24

// after is the gap behind a column.
func (c column) after() int {
	if c.sign {
		return 1
	}
	return gap
}

// columnWidths divides w cells: a width for each column, zero for one that is left
// out. natural are the widths of the widest texts, heads not counted. Columns
// without any text are left out if they are extra.
func columnWidths(cols []column, natural []int, w int) []int {
	out := make([]int, len(cols))
	total := -gap
	for i, c := range cols {
		if c.extra == 0 {
			out[i] = max(natural[i], width(c.title))
			if c.least == 0 {
				out[i] = min(out[i], widestFixed)
			}
			if out[i] > 0 {
				total += out[i] + c.after()
			}
		}
	}
	for level := 1; level <= len(cols); level++ {
		for i, c := range cols {
			if c.extra != level || natural[i] == 0 {
				continue
			}
			if n := max(natural[i], width(c.title)); total+n+gap <= w {
				out[i] = n
				total += n + gap
			}
		}
	}
	for total > w {
		widest, most := -1, 0 // the column that can give most.
		for i, c := range cols {
			if give := out[i] - c.least; c.least > 0 && give > most {
				widest, most = i, give
			}
		}
		if widest < 0 {
			break
		}
		out[widest]--
		total--
	}
	return out
}

// measure widens natural by a row.
func measure(natural []int, cells []cell) {
	for i := range cells {
		natural[i] = max(natural[i], width(cells[i].text))
	}
}

// drawRow puts a row into its widths.
func drawRow(cols []column, widths []int, cells []cell) string {
	var b strings.Builder
	before := 0
	for i, c := range cols {
		w := widths[i]
		if w == 0 {
			continue
		}
		spaces(&b, before)
		before = c.after()
		s := cells[i].text
		if c.sentence {
			s = cutEnd(s, w)
		} else {
			s = cutMiddle(s, w)
		}
		lead, trail := w-width(s), 0
		if !c.right {
			lead, trail = 0, lead
		}
		spaces(&b, lead)
		if st := cells[i].style; st != nil {
			s = st.Render(s)
		}
		b.WriteString(s)
		spaces(&b, trail)
	}
	return b.String()
}

// drawHead puts the titles above their columns.
func drawHead(cols []column, widths []int, st *styles.Style) string {
	cells := make([]cell, len(cols))
	for i, c := range cols {
		cells[i] = cell{text: c.title, style: st}
	}
	return drawRow(cols, widths, cells)
}

func spaces(b *strings.Builder, n int) {
	for range n {
		b.WriteByte(' ')
	}
}
