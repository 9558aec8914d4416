package kb

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with an article.
type Problem struct {
	File string
	// Line is counted from 1; 0 where the file as a whole is meant.
	Line int
	// Text says what is wrong, and after a semicolon what was expected.
	Text string
}

// String is "file:line: text".
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Text
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// Problems are all that is wrong with some articles, as an error with a line for each.
type Problems []Problem

// Error is one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].String()
	}
	return strings.Join(lines, "\n")
}

// orNil is the problems as an error, or nil where there are none.
func (p Problems) orNil() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

func (p Problems) sorted() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return slices.CompactFunc(p, func(a, b Problem) bool { return a == b })
}

func (a *Article) file() string { return filepath.Join(a.From, a.ID+".yaml") }

// nearest is the known name that is closest to what was written, or "" where none is close.
func nearest(written string, known []string) string {
	best, distance := "", max(2, len(written)/3)+1
	for _, k := range known {
		if d := editDistance(strings.ToLower(written), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	return best
}

// orExpected says what may have been meant, or else what is known.
func orExpected(written string, known []string) string {
	if n := nearest(written, known); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return oneOf(known)
}

// editDistance is the number of letters to add, take away or replace (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
