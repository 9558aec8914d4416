package widget

import (
	"strings"

	"vksmedic/ui/styles"
)

// Column is one column of a table.
type Column struct {
	Title string
	// Right aligns numbers and times.
	Right bool
	// Least is how narrow the column may get when room is short; zero says that it
	// keeps its natural width, up to widestFixed.
	Least int
	// Extra columns are shown only where all others fit, the lowest first; zero is
	// always shown.
	Extra int
	// Sign is a column of one sign, close to what it is about.
	Sign bool
	// Sentence is cut at its end, everything else in its middle.
	Sentence bool
}

// Cell is one field of a row. A nil style leaves the text as it is.
type Cell struct {
	Text  string
	Style *styles.Style
}

// Gap is between two columns, and between two parts of a line.
const Gap = 2

// widestFixed bounds a column that does not give way: what stands in it is short, unless an
// odd object has something else there, which must not push the others off the screen.
const widestFixed = 24

// after is the gap behind a column.
func (c Column) after() int {
	if c.Sign {
		return 1
	}
	return Gap
}

// Table is rows of cells under columns. Its rows are added, then it is fitted into a width,
// then it draws whichever row is asked for.
type Table struct {
	columns []Column
	rows    [][]Cell
	natural []int
	widths  []int
}

// NewTable makes a table without rows.
func NewTable(columns ...Column) *Table {
	return &Table{columns: columns, natural: make([]int, len(columns))}
}

// Add adds a row: a cell for each column.
func (t *Table) Add(cells ...Cell) {
	for i := range cells {
		t.natural[i] = max(t.natural[i], Width(cells[i].Text))
	}
	t.rows = append(t.rows, cells)
}

// Len is how many rows there are.
func (t *Table) Len() int { return len(t.rows) }

// Fit divides w cells among the columns and says how wide each is; zero is left out.
func (t *Table) Fit(w int) []int {
	t.widths = fit(t.columns, t.natural, w)
	return t.widths
}

// Row draws a row.
func (t *Table) Row(i int) string { return t.draw(t.rows[i]) }

// Head draws the titles above their columns; mark is put behind the title of column marked,
// none where that is negative.
func (t *Table) Head(st *styles.Style, marked int, mark string) string {
	cells := make([]Cell, len(t.columns))
	for i, c := range t.columns {
		cells[i] = Cell{Text: c.Title, Style: st}
		if i == marked {
			cells[i].Text += mark
		}
	}
	return t.draw(cells)
}

// fit divides w cells: a width for each column, zero for one that is left out. natural are
// the widths of the widest texts, heads not counted. Columns without any text are left out
// if they are extra.
func fit(columns []Column, natural []int, w int) []int {
	out := make([]int, len(columns))
	total := -Gap
	for i, c := range columns {
		if c.Extra == 0 {
			out[i] = max(natural[i], Width(c.Title))
			if c.Least == 0 {
				out[i] = min(out[i], widestFixed)
			}
			if out[i] > 0 {
				total += out[i] + c.after()
			}
		}
	}
	for level := 1; level <= len(columns); level++ {
		for i, c := range columns {
			if c.Extra != level || natural[i] == 0 {
				continue
			}
			if n := max(natural[i], Width(c.Title)); total+n+Gap <= w {
				out[i] = n
				total += n + Gap
			}
		}
	}
	for total > w {
		widest, most := -1, 0 // the column that can give most.
		for i, c := range columns {
			if give := out[i] - c.Least; c.Least > 0 && give > most {
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

// draw puts a row into the widths.
func (t *Table) draw(cells []Cell) string {
	var b strings.Builder
	before := 0
	for i, c := range t.columns {
		w := t.widths[i]
		if w == 0 {
			continue
		}
		spaces(&b, before)
		before = c.after()
		s := cells[i].Text
		if c.Sentence {
			s = CutEnd(s, w)
		} else {
			s = CutMiddle(s, w)
		}
		lead, trail := w-Width(s), 0
		if !c.Right {
			lead, trail = 0, lead
		}
		spaces(&b, lead)
		if st := cells[i].Style; st != nil {
			s = st.Render(s)
		}
		b.WriteString(s)
		spaces(&b, trail)
	}
	return b.String()
}

func spaces(b *strings.Builder, n int) {
	for range n {
		b.WriteByte(' ')
	}
}
