package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns s as one line that a terminal shows as it is: escape sequences,
// control characters and invisible formatting characters (which can turn text
// around or hide it) are taken out, line ends and tabs become spaces, and bytes
// that are no UTF-8 become the replacement character. Its time is linear in
// the length of s.
func Clean(s string) string { return clean(s, false) }

// CleanLines does what [Clean] does and keeps line feeds; a carriage return
// before a line feed is dropped.
func CleanLines(s string) string { return clean(s, true) }

// The bytes and runes that begin or end control sequences (ECMA-48).
const (
	bel = 0x07
	can = 0x18
	sub = 0x1a
	esc = 0x1b
	del = 0x7f

	c1First = 0x80
	c1DCS   = 0x90
	c1SOS   = 0x98
	c1CSI   = 0x9b
	c1ST    = 0x9c
	c1OSC   = 0x9d
	c1PM    = 0x9e
	c1APC   = 0x9f
)

func clean(s string, lines bool) string {
	if plain(s, lines) {
		return s
	}
	c := cleaner{s: s, lines: lines}
	c.out.Grow(len(s))
	for c.i < len(s) {
		c.step()
	}
	return c.out.String()
}

// plain says whether s needs no cleaning, which is so for nearly every text.
func plain(s string, lines bool) bool {
	for i := range len(s) {
		if b := s[i]; (b < ' ' || b >= del) && (!lines || b != '\n') {
			return false
		}
	}
	return true
}

type cleaner struct {
	s     string
	i     int
	lines bool
	out   strings.Builder
	// open says that a control string (OSC and its like) was found to have no end, so
	// that none after it has one; without it the search would be quadratic.
	open bool
}

func (c *cleaner) step() {
	r, n := utf8.DecodeRuneInString(c.s[c.i:])
	c.i += n
	switch {
	case r == utf8.RuneError && n == 1:
		c.out.WriteRune(utf8.RuneError)
	case r == esc:
		c.escape()
	case r == c1CSI:
		c.csi()
	case r == c1OSC || r == c1DCS || r == c1SOS || r == c1PM || r == c1APC:
		c.controlString()
	case r == '\r' && c.lines && strings.HasPrefix(c.s[c.i:], "\n"):
	case r == '\n' && c.lines:
		c.out.WriteByte('\n')
	case r == '\n' || r == '\r' || r == '\t' || r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029:
		c.out.WriteByte(' ')
	case r < ' ' || r == del || (r >= c1First && r <= c1APC) || hidden(r):
	default:
		c.out.WriteRune(r)
	}
}

// hidden says whether a rune is drawn as nothing or changes how others are
// drawn: the bidirectional controls, zero-width characters, tags and variation
// selectors.
func hidden(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r)
}

// escape skips what follows an ESC.
func (c *cleaner) escape() {
	if c.i >= len(c.s) {
		return
	}
	switch b := c.s[c.i]; {
	case b == '[':
		c.i++
		c.csi()
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		c.i++
		c.controlString()
	case b >= 0x20 && b <= 0x2f: // nF: intermediates, then one final byte.
		for c.i < len(c.s) && c.s[c.i] >= 0x20 && c.s[c.i] <= 0x2f {
			c.i++
		}
		if c.i < len(c.s) && c.s[c.i] >= 0x30 && c.s[c.i] <= 0x7e {
			c.i++
		}
	case b >= 0x30 && b <= 0x7e:
		c.i++
	}
}

// csi skips parameters, intermediates and the final byte of a control sequence. Of a
// sequence that is broken off, only the bytes that belong to it are skipped.
func (c *cleaner) csi() {
	for c.i < len(c.s) && c.s[c.i] >= 0x30 && c.s[c.i] <= 0x3f {
		c.i++
	}
	for c.i < len(c.s) && c.s[c.i] >= 0x20 && c.s[c.i] <= 0x2f {
		c.i++
	}
	if c.i < len(c.s) && c.s[c.i] >= 0x40 && c.s[c.i] <= 0x7e {
		c.i++
	}
}

// controlString skips up to the string terminator. A string without a terminator loses
// only its beginning: if the rest were skipped too, a name could hide the text after
// it.
func (c *cleaner) controlString() {
	if c.open {
		return
	}
	for j := c.i; j < len(c.s); j++ {
		switch b := c.s[j]; {
		case b == bel || b == can || b == sub:
			c.i = j + 1
			return
		case b == esc && j+1 < len(c.s) && c.s[j+1] == '\\':
			c.i = j + 2
			return
		case b == 0xc2 && j+1 < len(c.s) && c.s[j+1] == c1ST: // U+009C in UTF-8.
			c.i = j + 2
			return
		}
	}
	c.open = true
}
