package ui

import (
	"strconv"
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
	"vksmedic/ui/widget"
)

func itoa(n int) string { return strconv.Itoa(n) }

// clean makes a short text of a cluster fit for a row. Messages can be a million
// characters long; nothing beyond the first thousand could be seen in a row.
func clean(s string) string {
	const most = 1024
	return text.Clean(text.Limit(s, most))
}

// exact is a time as it stands in a detail.
func exact(t time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// took is how long something took or has been going on; empty where that is nothing.
func took(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return text.Age(d)
}

// plural is "1 match", "3 matches".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + many
}

// shortVersion is a Kubernetes version without its v and its build.
func shortVersion(v string) string {
	v, _, _ = strings.Cut(longVersion(v), "+")
	return v
}

// longVersion is a version with its build. One longer than any release's is cut, so that
// it does not push what stands beside it off the screen.
func longVersion(v string) string { return widget.CutMiddle(strings.TrimPrefix(clean(v), "v"), 32) }

// versionWords is "1.31.4 → 1.32.1" with the arrow that is given, or one version where
// both are the same.
func versionWords(c *model.Cluster, arrow string) string {
	from, to := lifecycle.Versions(c)
	a, b := shortVersion(from), shortVersion(to)
	switch {
	case a == "" && b == "":
		return "?"
	case from == to || to == "" || b == "":
		return a
	case a != b:
		return a + arrow + b
	default:
		// Only the build differs: that is what has to be seen.
		return longVersion(from) + arrow + longVersion(to)
	}
}

// count is a number, "?" where it is not known.
func count(n *int32) string {
	if n == nil {
		return "?"
	}
	return itoa(int(*n))
}

// replicasWords is available of desired.
func replicasWords(r model.Replicas) string {
	have := lifecycle.Available(r)
	if have == nil && r.Desired == nil {
		return "?"
	}
	return count(have) + "/" + count(r.Desired)
}

// movementWords says what moves and since when; empty where nothing does.
func movementWords(m lifecycle.Movement, now time.Time) string {
	if !m.Lasts {
		return m.Words
	}
	return m.Words + " " + text.Since(now, m.Since)
}
