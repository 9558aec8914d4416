package object

import (
	"encoding/json"
	"math"
	"strings"
	"time"
	"unicode/utf8"
	"unique"
)

// MessageLimit is how many bytes of a message are kept. No controller writes more, and
// thousands of such messages fit into memory.
const MessageLimit = 64 << 10

// wordLimit is how many bytes of any other text are kept. The longest are names, of 253 at
// most, and addresses.
const wordLimit = 1 << 10

// tree is a JSON object. Every method returns the zero value for a field that is
// missing or of another type.
type tree map[string]any

// at returns the field at a path, nil where a part of the path is missing.
func (t tree) at(path ...string) any {
	var v any = map[string]any(t)
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[p]
	}
	return v
}

func (t tree) sub(path ...string) tree {
	m, _ := t.at(path...).(map[string]any)
	return m
}

func (t tree) has(path ...string) bool { return t.at(path...) != nil }

// str is a text that is no message: it is cut to wordLimit bytes.
func (t tree) str(path ...string) string {
	s, _ := t.at(path...).(string)
	return cut(s, wordLimit)
}

// message is a text that may be long: it is cut to MessageLimit bytes.
func (t tree) message(path ...string) string {
	s, _ := t.at(path...).(string)
	return cut(s, MessageLimit)
}

// word is a str that has few different values; each value is kept in memory once for all
// objects.
func (t tree) word(path ...string) string { return intern(t.str(path...)) }

func (t tree) boolean(path ...string) bool {
	b, _ := t.at(path...).(bool)
	return b
}

func (t tree) number(path ...string) *int32 { return int32Of(t.at(path...)) }

// count is a number where absence means none.
func (t tree) count(path ...string) int32 {
	if n := t.number(path...); n != nil {
		return *n
	}
	return 0
}

func (t tree) when(path ...string) time.Time { return timeOf(t.at(path...)) }

// list holds the entries of an array that are objects; others are left out.
func (t tree) list(path ...string) []tree {
	items, _ := t.at(path...).([]any)
	out := make([]tree, 0, len(items))
	for _, i := range items {
		if m, ok := i.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func (t tree) strings(path ...string) []string {
	items, _ := t.at(path...).([]any)
	var out []string
	for _, i := range items {
		if s, ok := i.(string); ok {
			out = append(out, cut(s, wordLimit))
		}
	}
	return out
}

// table is a map of strings, such as labels; nil where there is none.
func (t tree) table(path ...string) map[string]string {
	m := t.sub(path...)
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		if s, ok := v.(string); ok {
			out[intern(cut(k, wordLimit))] = cut(s, MessageLimit)
		}
	}
	return out
}

// first is the first string of those at the given places that is not empty.
func first(s ...string) string {
	for _, x := range s {
		if x != "" {
			return x
		}
	}
	return ""
}

// firstTime is the first of the times that is not zero.
func firstTime(t ...time.Time) time.Time {
	for _, x := range t {
		if !x.IsZero() {
			return x
		}
	}
	return time.Time{}
}

// firstNumber is the first of the numbers that is there.
func firstNumber(n ...*int32) *int32 {
	for _, x := range n {
		if x != nil {
			return x
		}
	}
	return nil
}

func int32Of(v any) *int32 {
	var f float64
	switch x := v.(type) {
	case int64:
		f = float64(x)
	case int:
		f = float64(x)
	case float64:
		f = x
	case json.Number:
		n, err := x.Float64()
		if err != nil {
			return nil
		}
		f = n
	default:
		return nil
	}
	if f != math.Trunc(f) || f < math.MinInt32 || f > math.MaxInt32 {
		return nil
	}
	n := int32(f)
	return &n
}

// timeOf reads RFC 3339, with or without fractions of a second (metav1.MicroTime).
func timeOf(v any) time.Time {
	switch x := v.(type) {
	case string:
		at, err := time.Parse(time.RFC3339Nano, x)
		if err != nil {
			return time.Time{}
		}
		return at.UTC()
	case time.Time:
		return x.UTC()
	}
	return time.Time{}
}

// duration reads a metav1.Duration; nil where there is none or it makes no sense.
func (t tree) duration(path ...string) *time.Duration {
	d, err := time.ParseDuration(t.str(path...))
	if err != nil {
		return nil
	}
	return &d
}

// seconds reads a number of seconds, as the newer API versions have it.
func (t tree) seconds(path ...string) *time.Duration {
	n := t.number(path...)
	if n == nil {
		return nil
	}
	d := time.Duration(*n) * time.Second
	return &d
}

// cut shortens a text to at most limit bytes and an ellipsis. The part that is kept is copied, so
// that the memory of the whole text can be freed.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := limit
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.Clone(s[:n]) + "…"
}

func intern(s string) string {
	if s == "" {
		return ""
	}
	return unique.Make(s).Value()
}
