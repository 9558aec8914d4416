package text

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Limit cuts s to at most limit bytes, at the beginning of a character, and marks
// the cut with an ellipsis (which is not counted). A limit below zero is zero.
func Limit(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := max(limit, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// Age writes a duration as people read it at a glance, in at most two units: 12s, 4m,
// 1h12m, 3d4h. A negative duration, which clocks that differ can give, is 0s.
func Age(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d <= 0:
		return "0s"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < day:
		return two(int(d/time.Hour), "h", int(d%time.Hour/time.Minute), "m")
	default:
		return two(int(d/day), "d", int(d%day/time.Hour), "h")
	}
}

func two(big int, bigUnit string, small int, smallUnit string) string {
	s := strconv.Itoa(big) + bigUnit
	if small != 0 {
		s += strconv.Itoa(small) + smallUnit
	}
	return s
}

// List writes up to limit names, joined by commas, and how many more there are:
// "a, b, c and 4 more". A limit of zero or less names all.
func List(names []string, limit int) string {
	if limit <= 0 || len(names) <= limit {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:limit], ", ") + " and " + strconv.Itoa(len(names)-limit) + " more"
}

// Plural is "1 pod", "2 pods".
func Plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// Since is how long ago t was at now, by [Age]; "?" where either is not known.
func Since(now, t time.Time) string {
	if now.IsZero() || t.IsZero() {
		return "?"
	}
	return Age(now.Sub(t))
}
