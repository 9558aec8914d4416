package kb

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"vksmedic/model/text"
)

// spot is one text of an article with the place where it stands.
type spot struct {
	line int
	path string // from the step's `with`, or the name of the field.
	text string
	tag  reflect.StructTag // of its field; of a list's or a map's for what is in it.
}

func (s spot) isTemplate() bool { return s.tag.Get("template") != "no" }

// decoder puts nodes into Go values by their types, strictly, and goes on after a problem.
type decoder struct {
	problems []lineProblem
	spots    []spot
	lines    map[string]int // of everything that was given, by its path.
	// objects and manifests are the objects that the parameters name.
	objects     []objectSpot
	manifests   []manifestSpot
	annotations []annotationsSpot
}

type objectSpot struct {
	path  string
	o     Object
	write bool // the step writes to it; else it is only read.
}

type annotationsSpot struct {
	path string
	m    map[string]string
}

type manifestSpot struct {
	path string
	m    Manifest
}

func (d *decoder) fail(line int, format string, args ...any) {
	d.problems = append(d.problems, lineProblem{line, fmt.Sprintf(format, args...)})
}

// line is where something was given, or the next thing around it that was.
func (d *decoder) line(path string, otherwise int) int {
	for path != "" {
		if l, ok := d.lines[path]; ok {
			return l
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return otherwise
}

// decode reads a mapping into a struct. path is what its keys stand under, "" for none.
func (d *decoder) decode(n *yaml.Node, into any, path string) {
	d.value(n, reflect.ValueOf(into).Elem(), path, "")
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// value reads one node. What is wrong is a problem at its line, and leaves v as it was.
func (d *decoder) value(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	if d.lines == nil {
		d.lines = map[string]int{}
	}
	d.lines[path] = n.Line
	switch t := v.Type(); {
	case t == reflect.TypeFor[yaml.Node]():
		v.Set(reflect.ValueOf(*n))
	case t == reflect.TypeFor[Manifest]():
		d.manifest(n, v, path)
	case t == reflect.TypeFor[time.Duration]():
		d.duration(n, v, path)
	default:
		d.plain(n, v, path, tag)
	}
}

func (d *decoder) plain(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	switch v.Kind() { //nolint:exhaustive // a registry's Check refuses the others.
	case reflect.Struct:
		d.mapping(n, v, path)
		switch o := v.Interface().(type) {
		case Object:
			d.objects = append(d.objects, objectSpot{path, o, tag.Get("use") == "write"})
		case ObjectQuery:
			d.objects = append(d.objects, objectSpot{path: path, o: Object{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, In: o.In}})
		case Annotate:
			d.annotations = append(d.annotations, annotationsSpot{join(path, "annotations"), o.Annotations})
		}
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			d.fail(n.Line, "%s is %s; expected a list", path, nodeWords(n))
			return
		}
		for i, c := range n.Content {
			e := reflect.New(v.Type().Elem()).Elem()
			d.value(c, e, fmt.Sprintf("%s[%d]", path, i), tag)
			v.Set(reflect.Append(v, e))
		}
	case reflect.Map:
		d.textMap(n, v, path, tag)
	case reflect.Bool:
		if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
			d.fail(n.Line, "%s is %s; expected true or false", path, nodeWords(n))
			return
		}
		v.SetBool(strings.EqualFold(n.Value, "true"))
	case reflect.Int:
		i, err := strconv.Atoi(n.Value)
		if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil {
			d.fail(n.Line, "%s is %s; expected a whole number", path, nodeWords(n))
			return
		}
		v.SetInt(int64(i))
	default:
		s, ok := d.text(n, path)
		if !ok {
			return
		}
		v.SetString(s)
		d.spots = append(d.spots, spot{n.Line, path, s, tag})
	}
}

// text reads a text. What YAML would take for something else has to be in quotes: other
// programs would read a version 3.10 as the number 3.1.
func (d *decoder) text(n *yaml.Node, path string) (string, bool) {
	switch {
	case n.Kind != yaml.ScalarNode:
		d.fail(n.Line, "%s is %s; expected a text", path, nodeWords(n))
	case n.Tag == "!!null":
		d.fail(n.Line, "%s is empty; expected a text", path)
	case n.Tag != "!!str":
		d.fail(n.Line, "%s is %s; expected a text: put it in quotes", path, nodeWords(n))
	case text.CleanLines(n.Value) != n.Value:
		d.fail(n.Line, "%s has invisible or control characters; expected text that is shown as it is", path)
	default:
		return n.Value, true
	}
	return "", false
}

func (d *decoder) duration(n *yaml.Node, v reflect.Value, path string) {
	t, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || t <= 0 {
		d.fail(n.Line, "%s is %s; expected a time such as 30s, 10m or 1h", path, nodeWords(n))
		return
	}
	v.SetInt(int64(t))
}

// mapping reads keys and values into a struct.
func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.fail(n.Line, "%s is %s; expected keys and values", orArticle(path), nodeWords(n))
		return
	}
	t := v.Type()
	given := map[string]bool{}
	d.pairs(n, func(key *yaml.Node, value *yaml.Node) {
		f, ok := fieldFor(t, key.Value)
		if !ok {
			meant := nearest(key.Value, keysOf(t))
			given[meant] = true // it is not missing on top of that.
			d.fail(key.Line, "unknown key %q; %s", key.Value, orExpected(key.Value, keysOf(t)))
			return
		}
		given[key.Value] = true
		d.value(value, v.FieldByIndex(f.Index), join(path, key.Value), f.Tag)
		d.lines[join(path, key.Value)] = value.Line
		if f.Tag.Get("need") != "" && value.Kind != yaml.ScalarNode && len(value.Content) == 0 {
			d.fail(value.Line, "%s is empty; expected %s", join(path, key.Value), f.Tag.Get("doc"))
		}
	})
	for f := range t.Fields() {
		key := f.Tag.Get("yaml")
		if f.Tag.Get("need") != "" && !given[key] {
			d.fail(n.Line, "%s is missing; expected %s", join(path, key), f.Tag.Get("doc"))
		}
	}
}

func orArticle(path string) string {
	if path == "" {
		return "this"
	}
	return path
}

// pairs calls do for each key with its value. A key that is no text, or is there twice, is a problem.
func (d *decoder) pairs(n *yaml.Node, do func(key, value *yaml.Node)) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch first, twice := seen[key.Value]; {
		case key.Kind != yaml.ScalarNode || key.Tag != "!!str":
			d.fail(key.Line, "a key is %s; expected a text: put it in quotes", nodeWords(key))
		case twice:
			d.fail(key.Line, "key %q is there twice, first in line %d; expected it once", key.Value, first)
		default:
			seen[key.Value] = key.Line
			do(key, n.Content[i+1])
		}
	}
}

func (d *decoder) textMap(n *yaml.Node, v reflect.Value, path string, tag reflect.StructTag) {
	if n.Kind != yaml.MappingNode {
		d.fail(n.Line, "%s is %s; expected keys and values", path, nodeWords(n))
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	d.pairs(n, func(key, value *yaml.Node) {
		if !d.noTemplate(key) {
			return
		}
		at := join(path, key.Value)
		d.lines[at] = value.Line
		if s, ok := d.text(value, at); ok {
			v.SetMapIndex(reflect.ValueOf(key.Value).Convert(v.Type().Key()), reflect.ValueOf(s).Convert(v.Type().Elem()))
			d.spots = append(d.spots, spot{value.Line, at, s, tag})
		}
	})
}

func (d *decoder) noTemplate(key *yaml.Node) bool {
	if isTemplate(key.Value) {
		d.fail(key.Line, "a template in the key %q; expected templates in values only", key.Value)
		return false
	}
	return true
}

// manifest reads a Kubernetes object as it stands.
func (d *decoder) manifest(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.fail(n.Line, "%s is %s; expected a manifest: apiVersion, kind, metadata and so on", path, nodeWords(n))
		return
	}
	m, _ := d.free(n, path).(map[string]any) //nolint:errcheck // a mapping was seen above.
	v.Set(reflect.ValueOf(Manifest(m)))
	d.manifests = append(d.manifests, manifestSpot{path, m})
}

// free reads a node by what it is, as JSON has it.
func (d *decoder) free(n *yaml.Node, path string) any {
	d.lines[path] = n.Line
	switch n.Kind {
	case yaml.MappingNode:
		m := map[string]any{}
		d.pairs(n, func(key, value *yaml.Node) {
			if !d.noTemplate(key) {
				return
			}
			m[key.Value] = d.free(value, join(path, key.Value))
		})
		return m
	case yaml.SequenceNode:
		l := []any{}
		for i, c := range n.Content {
			l = append(l, d.free(c, fmt.Sprintf("%s[%d]", path, i)))
		}
		return l
	default:
		v, err := scalar(n)
		if err != nil {
			d.fail(n.Line, "%s is %s; %v", path, nodeWords(n), err)
		}
		if s, ok := v.(string); ok {
			d.spots = append(d.spots, spot{line: n.Line, path: path, text: s})
		}
		return v
	}
}

func scalar(n *yaml.Node) (any, error) {
	switch n.Tag {
	case "!!str":
		return n.Value, nil
	case "!!null":
		return nil, nil //nolint:nilnil // null is a value in JSON.
	case "!!bool":
		return strings.EqualFold(n.Value, "true"), nil
	case "!!int":
		i, err := strconv.ParseInt(n.Value, 10, 64)
		if err != nil {
			return nil, errors.New("expected a whole decimal number of 64 bits")
		}
		return i, nil
	case "!!float":
		f, err := strconv.ParseFloat(n.Value, 64)
		if whole := strings.Trim(n.Value, "+-0123456789") == ""; err != nil || whole || f-f != 0 {
			return nil, errors.New("expected a decimal number, or a whole one of 64 bits")
		}
		return f, nil
	default:
		return nil, errors.New("expected a text: put it in quotes")
	}
}

// nodeWords says what a node is, for a person.
func nodeWords(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys and values"
	case yaml.SequenceNode:
		return "a list"
	default:
	}
	switch n.Tag {
	case "!!null":
		return "empty"
	case "!!bool":
		return "true or false (" + n.Value + ")"
	case "!!int", "!!float":
		return "the number " + n.Value
	case "!!timestamp":
		return "the date " + n.Value
	default:
		return fmt.Sprintf("the text %q", n.Value)
	}
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
		if key := f.Tag.Get("yaml"); key != "" {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// At is an error about one parameter, for an action's Check: path is the parameter as it
// stands in the article, such as "until.status" or "options[1].id".
func At(path, format string, args ...any) error {
	return &pathError{path: path, err: fmt.Errorf(format, args...)}
}

type pathError struct {
	path string
	err  error
}

func (e *pathError) Error() string { return e.err.Error() }
func (e *pathError) Unwrap() error { return e.err }
