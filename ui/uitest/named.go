package uitest

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"vksmedic/ui/styles"
)

// Named are styles for screens that are read as text: [Markup] makes of what they write the
// name of each style, in brackets, whatever colours it has in which palette.
func Named() styles.Styles {
	var s styles.Styles
	v := reflect.ValueOf(&s).Elem()
	for i := range v.NumField() {
		v.Field(i).Set(reflect.ValueOf(styles.Sequences(fmt.Sprintf("\x1b[%dm", firstNamed+i), fmt.Sprintf("\x1b[%dm", endNamed))))
	}
	return s
}

// No terminal gives these numbers a meaning, so that they take no room and change nothing.
const (
	firstNamed = 900
	endNamed   = 899
)

var (
	sgr   = regexp.MustCompile(`\x1b\[([0-9;]*)m`)
	empty = regexp.MustCompile(`\[[a-z-]+\]\[/\]`)
)

// Markup turns a screen that was drawn with [Named] into text: "[danger]✖[/]". Styles may stand
// inside one another. A sequence that is none of theirs is an error.
func Markup(screen string) (string, error) {
	var err error
	t := reflect.TypeFor[styles.Styles]()
	out := sgr.ReplaceAllStringFunc(screen, func(x string) string {
		says := sgr.FindStringSubmatch(x)[1]
		n, bad := strconv.Atoi(says)
		switch {
		case says == "7": // What a viewer found: a component of Lip Gloss marks it.
			return "[match]"
		case says == "1;7":
			return "[match-here]"
		case says == "":
			return "[/]"
		case bad == nil && n == endNamed:
			return "[/]"
		case bad == nil && n >= firstNamed && n < firstNamed+t.NumField():
			return "[" + dashed(t.Field(n-firstNamed).Name) + "]"
		}
		err = fmt.Errorf("a sequence that belongs to no style: %q", x)
		return ""
	})
	out = empty.ReplaceAllString(out, "")
	lines := strings.Split(out, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	out = strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
	if i := strings.IndexByte(out, '\x1b'); i >= 0 {
		err = fmt.Errorf("a sequence that belongs to no style: %.20q", out[i:])
	}
	return out, err
}

// dashed is a name as it stands in the markup: DangerStrong is danger-strong.
func dashed(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('-')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
