package model

import (
	"cmp"
	"slices"
	"strings"
)

// SortFindings puts the worst first: severity, then confirmed before suspected,
// then the oldest, then by name so that the order is stable.
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
