package remedies

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"vksmedic/model/text"
)

// Diff compares two texts line by line: whole where they are small, with lines around each
// change where they are not.
func Diff(before, after string) []Line {
	const around = 1 << 10 // lines; the objects that a step changes are shown whole.
	u, err := udiff.ToUnifiedDiff("", "", before, udiff.Strings(before, after), around)
	if err != nil {
		return []Line{{Sign: '!', Text: "no diff: " + text.Clean(err.Error())}}
	}
	var out []Line
	for _, h := range u.Hunks {
		for _, l := range h.Lines {
			sign := ' '
			switch l.Kind {
			case udiff.Insert:
				sign = '+'
			case udiff.Delete:
				sign = '-'
			case udiff.Equal:
			}
			out = append(out, Line{Sign: sign, Text: text.Clean(strings.TrimSuffix(l.Content, "\n"))})
		}
	}
	return out
}

// diffLines compares two lists of lines in their order.
func diffLines(before, after []string) []Line {
	return Diff(strings.Join(before, "\n")+"\n", strings.Join(after, "\n")+"\n")
}
