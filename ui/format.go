package ui

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"vksmedic/model/text"
)

const ellipsis = "…"

// width is how many cells s takes; nearly all text is ASCII and needs no look at
// graphemes.
func width(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// cutEnd shortens s to w cells, marking the end.
func cutEnd(s string, w int) string {
	if width(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	return ansi.Truncate(s, w, ellipsis)
}

// cutMiddle shortens a name to w cells by its middle: the beginning says which
// family it is of, the end which one of it.
func cutMiddle(s string, w int) string {
	n := width(s)
	if n <= w {
		return s
	}
	if w <= 4 {
		return cutEnd(s, w)
	}
	tail := (w - 1) / 2
	if rest := strings.LastIndexByte(s, '-'); rest >= 0 && n-rest <= tail {
		// The last part of a generated name is what tells it from its sisters.
		tail = n - rest
	}
	head := w - 1 - tail
	return ansi.Truncate(s, head, "") + ellipsis + ansi.TruncateLeft(s, n-tail, "")
}

// pad fills s up with spaces to w cells.
func pad(s string, w int, right bool) string {
	n := w - width(s)
	if n <= 0 {
		return s
	}
	if right {
		return strings.Repeat(" ", n) + s
	}
	return s + strings.Repeat(" ", n)
}

// wrap breaks a sentence at spaces, and only there, so that names stay whole, into
// lines of at most w cells; words that are longer are broken.
func wrap(s string, w int) []string {
	if w < 8 {
		w = 8
	}
	if width(s) <= w {
		return []string{s}
	}
	var out []string
	at := ""
	for _, word := range strings.Fields(s) {
		for width(word) > w {
			if at != "" {
				out, at = append(out, at), ""
			}
			var head string
			head, word = split(word, w)
			out = append(out, head)
		}
		switch {
		case at == "":
			at = word
		case width(at)+1+width(word) > w:
			out, at = append(out, at), word
		default:
			at += " " + word
		}
	}
	if at != "" || len(out) == 0 {
		out = append(out, at)
	}
	return out
}

// wrapHard breaks a line of code at w cells and marks what goes on.
func wrapHard(s string, w int) []string {
	if w < 8 {
		w = 8
	}
	if width(s) <= w {
		return []string{s}
	}
	head, rest := split(s, w)
	out := []string{head}
	indent := len(s) - len(strings.TrimLeft(s, " "))
	lead := strings.Repeat(" ", min(indent, w/2)) + "↳ "
	step := w - width(lead)
	for rest != "" {
		head, rest = split(rest, step)
		out = append(out, lead+head)
	}
	return out
}

// split cuts s after w cells; it looks at no more of s than it has to.
func split(s string, w int) (head, rest string) {
	n := 0
	for n < len(s) && n < w && s[n] >= ' ' && s[n] <= '~' {
		n++
	}
	if n == w || n == len(s) {
		return s[:n], s[n:]
	}
	head = ansi.Truncate(text.Limit(s, 16*w), w, "")
	if head == "" || len(head) >= len(s) {
		return s, ""
	}
	return head, s[len(head):]
}

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

// plural is "1 node", "3 nodes".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + many
}
