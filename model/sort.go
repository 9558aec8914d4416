package model

import (
	"cmp"
	"slices"
	"strings"
)

// SortFindings puts the worst first: severity, then confirmed before suspected,
// then the oldest, then by name so that the order is stable. Findings that are one story
// stay together, where the worst of them belongs, each after what brings it about.
func SortFindings(f []*Finding) {
	slices.SortStableFunc(f, func(a, b *Finding) int {
		if less(a, b) {
			return -1
		}
		if less(b, a) {
			return 1
		}
		return 0
	})
	tell(f)
}

// chapter is how a link of a cluster's finding is looked up.
type chapter struct {
	place Place
	link  Link
}

// tell moves causes before their effects and keeps each story together.
func tell(f []*Finding) {
	if !slices.ContainsFunc(f, func(x *Finding) bool { return len(x.CausedBy) > 0 }) {
		return
	}
	by := make(map[chapter]*Finding, len(f))
	for _, x := range f {
		by[chapter{x.Place, x.Link()}] = x
	}
	told := make(map[*Finding]bool, len(f))
	out := make([]*Finding, 0, len(f))
	var visit func(x *Finding)
	visit = func(x *Finding) {
		if x == nil || told[x] {
			return
		}
		told[x] = true // Before its causes, so that a circle ends.
		for _, l := range x.CausedBy {
			visit(by[chapter{x.Place, l}])
		}
		out = append(out, x)
		for _, l := range x.Causes {
			visit(by[chapter{x.Place, l}])
		}
	}
	for _, x := range f {
		visit(x)
	}
	copy(f, out)
}

func less(a, b *Finding) bool {
	if r := cmp.Compare(a.Severity.Rank(), b.Severity.Rank()); r != 0 {
		return r < 0
	}
	if a.Confidence != b.Confidence {
		return a.Confidence == Confirmed
	}
	if !a.Since.Equal(b.Since) {
		if a.Since.IsZero() || b.Since.IsZero() {
			return b.Since.IsZero()
		}
		return a.Since.Before(b.Since)
	}
	return strings.Compare(a.Key(), b.Key()) < 0
}
