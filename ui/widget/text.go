package widget

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"vksmedic/model/text"
)

const ellipsis = "…"

// Width is how many cells s takes; nearly all text is ASCII and needs no look at
// graphemes.
func Width(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// CutEnd shortens s to w cells, marking the end.
func CutEnd(s string, w int) string {
	if Width(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	return ansi.Truncate(s, w, ellipsis)
}

// CutMiddle shortens a name to w cells by its middle: the beginning says which
// family it is of, the end which one of it.
func CutMiddle(s string, w int) string {
	n := Width(s)
	if n <= w {
		return s
	}
	if w <= 4 {
		return CutEnd(s, w)
	}
	tail := (w - 1) / 2
	if rest := strings.LastIndexByte(s, '-'); rest >= 0 && n-rest <= tail {
		// The last part of a generated name is what tells it from its sisters.
		tail = n - rest
	}
	head := w - 1 - tail
	return ansi.Truncate(s, head, "") + ellipsis + ansi.TruncateLeft(s, n-tail, "")
}

// Pad fills s up with spaces to w cells.
func Pad(s string, w int) string {
	if n := w - Width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// PadLeft fills s up with spaces before it to w cells.
func PadLeft(s string, w int) string {
	if n := w - Width(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}

// Wrap breaks a sentence at spaces, and only there, so that names stay whole, into
// lines of at most w cells; words that are longer are broken.
func Wrap(s string, w int) []string {
	if w < 8 {
		w = 8
	}
	if Width(s) <= w {
		return []string{s}
	}
	var out []string
	at := ""
	for _, word := range strings.Fields(s) {
		for Width(word) > w {
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
		case Width(at)+1+Width(word) > w:
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

// WrapHard breaks a line of code at w cells and marks what goes on.
func WrapHard(s string, w int) []string {
	if w < 8 {
		w = 8
	}
	if Width(s) <= w {
		return []string{s}
	}
	head, rest := split(s, w)
	out := []string{head}
	indent := len(s) - len(strings.TrimLeft(s, " "))
	lead := strings.Repeat(" ", min(indent, w/2)) + "↳ "
	step := w - Width(lead)
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
