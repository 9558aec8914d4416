package remedies

import (
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decodeStrict decodes a node and refuses keys that the target does not know; the
// error knows the line. (The library's own strictness ends at yaml.Node.)
func decodeStrict(n *yaml.Node, into any) error {
	if err := checkKeys(n, reflect.TypeOf(into)); err != nil {
		return err
	}
	if err := n.Decode(into); err != nil {
		return at(n.Line, "%w", err)
	}
	return nil
}

func checkKeys(n *yaml.Node, t reflect.Type) error {
	if t == reflect.TypeFor[yaml.Node]() {
		return nil
	}
	switch t.Kind() { //nolint:exhaustive // other kinds have no keys.
	case reflect.Pointer:
		return checkKeys(n, t.Elem())
	case reflect.Slice:
		for _, c := range n.Content {
			if err := checkKeys(c, t.Elem()); err != nil {
				return err
			}
		}
	case reflect.Struct:
		if n.Kind != yaml.MappingNode {
			return at(n.Line, "keys and values are expected here")
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			f, ok := fieldFor(t, n.Content[i].Value)
			if !ok {
				return at(n.Content[i].Line, "unknown key %q (known: %s)", n.Content[i].Value, strings.Join(keysOf(t), ", "))
			}
			if err := checkKeys(n.Content[i+1], f.Type); err != nil {
				return err
			}
		}
	}
	return nil
}

func fieldFor(t reflect.Type, key string) (reflect.StructField, bool) {
	for f := range t.Fields() {
		if f.Tag.Get("yaml") == key {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

func keysOf(t reflect.Type) []string {
	var out []string
	for f := range t.Fields() {
		if tag := f.Tag.Get("yaml"); tag != "" {
			out = append(out, tag)
		}
	}
	slices.Sort(out)
	return out
}
