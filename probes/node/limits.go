package node

import (
	"regexp"
	"strings"

	"vksmedic/model/text"
)

// What is looked at of one output, in bytes, and how many entries of it are kept. What
// matters is within them, and the output of a broken or hostile node cannot use more
// memory.
const (
	maxOutput  = 4 << 20
	maxLines   = 1 << 15
	maxEntries = 4096
	maxNoise   = 32
	maxLine    = 400
)

// lines splits an output into cleaned lines without trailing white space; empty ones are
// left out.
func lines(out string) []string {
	if len(out) > maxOutput {
		out = out[:maxOutput]
	}
	var ls []string
	for l := range strings.SplitSeq(text.CleanLines(out), "\n") {
		if l = strings.TrimRight(l, " "); l != "" {
			ls = append(ls, l)
		}
		if len(ls) == maxLines {
			break
		}
	}
	return ls
}

// noisy collects lines that are no output of the program, up to a limit.
func noisy(list []string, line string) []string {
	if len(list) >= maxNoise {
		return list
	}
	return append(list, text.Limit(strings.TrimSpace(line), maxLine))
}

// reGap is what separates columns in a table: two spaces or more, since cells hold single
// ones ("About a minute ago").
var reGap = regexp.MustCompile(` {2,}`)
