package remedies

import (
	"regexp"
	"strings"

	"vksmedic/model/text"
)

var plainWord = regexp.MustCompile(`^[A-Za-z0-9@%+=:,./_-]+$`)

// quote makes one word of s for a POSIX shell. What comes from a cluster is
// cleaned first, so that no escape sequence reaches the terminal into which the
// line is pasted.
func quote(s string) string {
	s = text.Clean(s)
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
