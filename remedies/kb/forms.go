package kb

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

// checkSelector says what is wrong with a label selector.
func checkSelector(s string) error {
	if _, err := labels.Parse(s); err != nil {
		return fmt.Errorf("%w; expected a label selector such as app=web", err)
	}
	return nil
}

// checkPath says what is wrong with a JSONPath as kubectl's -o custom-columns has it: fields
// after dots, and in brackets an index, a name in quotes, * or a filter. It may stand in braces.
func checkPath(s string) error {
	const expected = "; expected a JSONPath such as .status.phase or .status.conditions[?(@.type==\"Ready\")].status"
	if strings.HasPrefix(s, "{") != strings.HasSuffix(s, "}") {
		return errors.New("a brace without its other" + expected)
	}
	s = strings.TrimSuffix(strings.TrimPrefix(s, "{"), "}")
	s = strings.TrimPrefix(s, "$")
	if s != "" && s[0] != '.' && s[0] != '[' {
		s = "." + s
	}
	if strings.Trim(s, ".") == "" {
		return errors.New("it names no field" + expected)
	}
	for s != "" {
		var ok bool
		switch s[0] {
		case '.':
			s, ok = afterField(strings.TrimPrefix(s[1:], "."))
		case '[':
			s, ok = afterBracket(s)
		}
		if !ok {
			return errors.New("it cannot be read" + expected)
		}
	}
	return nil
}

// afterField skips a field's name, in which a dot may be escaped.
func afterField(s string) (string, bool) {
	i := 0
	for i < len(s) && s[i] != '.' && s[i] != '[' {
		switch {
		case s[i] == '\\':
			i++
		case strings.IndexByte(" \t\"'(){}]|,;", s[i]) >= 0:
			return s, false
		}
		i++
	}
	if i == 0 {
		// `.[0]`, as kubectl takes it.
		return s, s != "" && s[0] == '['
	}
	return s[min(i, len(s)):], i <= len(s)
}

// afterBracket skips what stands in brackets, which may be in one another and in quotes.
func afterBracket(s string) (string, bool) {
	depth, quote := 0, byte(0)
	for i := range len(s) {
		switch b := s[i]; {
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '"' || b == '\'':
			quote = b
		case b == '[' || b == '(':
			depth++
		case b == ']' || b == ')':
			if depth--; depth == 0 {
				return s[i+1:], i > 1
			}
		}
	}
	return s, false
}
