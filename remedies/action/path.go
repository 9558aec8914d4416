package action

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"vksmedic/model/text"
)

// nothing stands for a value that is not there.
const nothing = "-"

// path is a JSONPath as kubectl's -o custom-columns has it.
type path struct{ p *jsonpath.JSONPath }

func newPath(s string) (*path, error) {
	shown := s
	s = strings.TrimSuffix(strings.TrimPrefix(s, "{"), "}")
	s = strings.TrimPrefix(s, "$")
	if !strings.HasPrefix(s, ".") && !strings.HasPrefix(s, "[") {
		s = "." + s
	}
	p := jsonpath.New("").AllowMissingKeys(true)
	if err := p.Parse("{" + s + "}"); err != nil {
		return nil, unfitf("%q is no JSONPath: %v", shown, err)
	}
	return &path{p}, nil
}

// values are what the path leads to, cleaned; none where it leads nowhere.
func (p *path) values(o map[string]any) (out []string, err error) {
	// What an object holds is not checked, and the library indexes into it.
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("%v", r)
		}
	}()
	results, err := p.p.FindResults(o)
	if err != nil {
		return nil, fmt.Errorf("cannot follow the path: %w", err)
	}
	for _, r := range results {
		for _, v := range r {
			if !v.IsValid() || !v.CanInterface() {
				continue
			}
			if s := valueText(v.Interface()); s != "" {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

// of is what the path leads to as a text to show.
func (p *path) of(o map[string]any) string {
	v, err := p.values(o)
	switch {
	case err != nil:
		return "cannot be read: " + text.Clean(err.Error())
	case len(v) == 0:
		return nothing
	}
	return strings.Join(v, ", ")
}

// valueText is a value of an object as a text; empty for nothing.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return text.Clean(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "cannot be written: " + text.Clean(err.Error())
	}
	return text.Clean(string(b))
}
