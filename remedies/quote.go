package remedies

import (
	"regexp"
	"strings"

	"vksmedic/model/text"
)

var plainWord = regexp.MustCompile(`^[A-Za-z0-9@%+=:,./_-]+$`)

// Quote makes one word of s for a POSIX shell. What comes from a cluster is
// cleaned first, so that no escape sequence reaches the terminal into which the
// line is pasted.
func Quote(s string) string {
	s = text.Clean(s)
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// List joins names as a sentence does: "a, b and c".
func List(names []string) string {
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return text.Clean(names[0])
	default:
		return text.Clean(strings.Join(names[:n-1], ", ") + " and " + names[n-1])
	}
}
