package describe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"

	"vksmedic/model/text"
)

// Writing YAML that reads back: what API servers hold is any text and of any depth, and YAML's
// parsers take neither.

// Deep is the depth from which a document is hard to read, and to indent: the indentation alone grows with
// its square.
const Deep = 64

// FromJSON writes JSON as YAML. Characters that YAML does not take as they are (DEL, the C1 controls, those that
// are no characters) are escaped, so that they read back as they were.
func FromJSON(raw []byte) ([]byte, error) {
	out, err := yaml.JSONToYAML(Escaped(raw))
	if err != nil {
		return nil, fmt.Errorf("cannot write it as YAML: %w", err)
	}
	return out, nil
}

// Escaped replaces characters in the strings of a JSON text that not every parser takes by their escapes.
func Escaped(raw []byte) []byte {
	first := bytes.IndexFunc(raw, escaped)
	if first < 0 {
		return raw
	}
	var out bytes.Buffer
	out.Grow(len(raw) + 64)
	out.Write(raw[:first])
	for i := first; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			out.WriteString(`\ufffd`)
		case escaped(r):
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			out.Write(raw[i : i+n])
		}
		i += n
	}
	return out.Bytes()
}

// escaped picks what is not printable in YAML 1.1, and what its parsers read as an end of a line or of the text.
func escaped(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == utf8.RuneError || r == 0xfffe || r == 0xffff
}

// Depth is how deep a value is.
func Depth(v any) int {
	d := 0
	switch x := v.(type) {
	case map[string]any:
		for _, v := range x {
			d = max(d, Depth(v))
		}
		d++
	case []any:
		for _, v := range x {
			d = max(d, Depth(v))
		}
		d++
	}
	return d
}

// shownDeep is how much of what is too deep is shown.
const shownDeep = 2000

// shallow replaces what stands deeper than levels by its JSON, cut to what a person reads. The value is not
// changed.
func shallow(v any, levels int) any {
	if levels == 0 {
		switch v.(type) {
		case map[string]any, []any:
			raw, err := json.Marshal(v)
			if err != nil {
				return "(too deep to be shown)"
			}
			return fmt.Sprintf("(%d levels more) %s", Depth(v), text.Limit(string(raw), shownDeep))
		}
		return v
	}
	switch x := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, v := range x {
			out[k] = shallow(v, levels-1)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = shallow(x[i], levels-1)
		}
		return out
	}
	return v
}

// marshal writes a value as YAML for a person.
func marshal(v any) (string, error) {
	if Depth(v) > Deep {
		v = shallow(v, Deep)
	}
	var raw strings.Builder
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", fmt.Errorf("cannot write it as YAML: %w", err)
	}
	out, err := FromJSON([]byte(raw.String()))
	return string(out), err
}
