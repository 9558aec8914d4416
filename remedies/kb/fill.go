package kb

import (
	"fmt"
	"reflect"
	"strings"
	"text/template"
	"text/template/parse"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/remedies"
)

// Scope is what the templates of an article can speak of.
type Scope struct {
	// Cluster is the cluster of the finding, Supervisor the context of its kubeconfig.
	Cluster    model.ClusterRef
	Supervisor string
	// Facts is what the signature found out: a pointer to the type that its findings carry.
	Facts any
	// Choice is what was chosen so far, by the id of the step that asked.
	Choice map[string]string
	// Done says which steps are done, by their ids.
	Done map[string]bool
	// Neighbours are the names of the other clusters in the vSphere Namespace.
	Neighbours []string
	// Item is what a step with `each` is done for now.
	Item string

	// The words at the end of a walk, and only they, speak of what is so then. Target says
	// whether what the walk is about is there: one of the constants below. Left is what the
	// walk made and is still there, TakenBack what it took back, and MaybeLeft what may still be
	// there: it could not be read, or whether the walk made it could not be told.
	Target                     string
	Left, TakenBack, MaybeLeft []string
}

// The values of a scope's Target.
const (
	TargetThere   = "there"
	TargetGone    = "gone"
	TargetUnknown = "unknown"
)

func targets() []string { return []string{TargetThere, TargetGone, TargetUnknown} }

// Text is a text of an article: a template of Go's text/template.
type Text string

// NotKnown stands where something could not be filled in. It is valid neither as the name of
// an object nor as a label, so that it cannot be taken for one.
const NotKnown = "(not known)"

// Fill fills the text in, fit to be shown. Loading made sure that it can be; where the facts
// are still not as they should be, [NotKnown] stands for what is missing.
func (t Text) Fill(sc Scope) string {
	s, _ := fill(string(t), sc)
	return text.CleanLines(s)
}

// Holds says whether the text, a condition, is "true" once filled in. An empty one holds.
func (t Text) Holds(sc Scope) bool {
	return t == "" || strings.TrimSpace(t.Fill(sc)) == "true"
}

// FillParams returns a copy of a step's parameters with every template filled in. unknown are
// the texts that could not be filled in completely; [NotKnown] stands in them, and a step that
// has one may change nothing. What is filled in may come from a cluster and is not cleaned
// here. params is a pointer to a struct, as [Step] has it.
func FillParams(params any, sc Scope) (filled any, unknown []string) {
	v := reflect.ValueOf(params).Elem()
	out := reflect.New(v.Type())
	fillValue(out.Elem(), v, "", func(t string) string {
		filled, err := fill(t, sc)
		if err != nil {
			unknown = append(unknown, t)
		}
		return filled
	})
	return out.Interface(), unknown
}

// fillValue copies a value and fills every string in it that is a template.
func fillValue(to, from reflect.Value, tag reflect.StructTag, do func(string) string) {
	switch from.Kind() { //nolint:exhaustive // others have no strings in them.
	case reflect.String:
		if tag.Get("template") == "no" {
			to.Set(from)
			return
		}
		to.SetString(do(from.String()))
	case reflect.Slice:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			fillValue(to.Index(i), from.Index(i), tag, do)
		}
	case reflect.Struct:
		for f, v := range from.Fields() {
			fillValue(to.FieldByIndex(f.Index), v, f.Tag, do)
		}
	case reflect.Map:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeMap(from.Type()))
		for k, v := range from.Seq2() {
			e := reflect.New(from.Type().Elem()).Elem()
			fillValue(e, v, tag, do)
			to.SetMapIndex(k, e)
		}
	case reflect.Interface:
		if from.IsNil() {
			return
		}
		e := reflect.New(from.Elem().Type()).Elem()
		fillValue(e, from.Elem(), tag, do)
		to.Set(e)
	default:
		to.Set(from)
	}
}

// functions are what templates have besides text/template's own.
func functions() template.FuncMap {
	return template.FuncMap{
		"list":  remedies.List,
		"quote": remedies.Quote,
		"clean": text.Clean,
	}
}

// isTemplate says whether there is anything to fill in.
func isTemplate(s string) bool { return strings.Contains(s, "{{") }

func parseTemplate(s string) (*template.Template, error) {
	t, err := template.New("").Option("missingkey=zero").Funcs(functions()).Parse(s) //nolint:gosec // what a template can do is checked when it is loaded.
	if err != nil {
		return nil, fmt.Errorf("cannot parse %q: %w", s, err)
	}
	return t, nil
}

// fill fills in one template. With an error comes the text with NotKnown in the places that
// could not be filled in.
func fill(s string, sc Scope) (string, error) {
	if !isTemplate(s) {
		return s, nil
	}
	t, err := parseTemplate(s)
	if err != nil {
		return NotKnown, err
	}
	out, err := execute(t, sc)
	if err == nil {
		return out, nil
	}
	return fillParts(t, sc), err
}

// fillParts fills in what can be, part by part.
func fillParts(t *template.Template, sc Scope) string {
	var b strings.Builder
	for _, n := range t.Root.Nodes {
		if literal, ok := n.(*parse.TextNode); ok {
			b.Write(literal.Text)
			continue
		}
		part, err := template.New("").Option("missingkey=zero").Funcs(functions()).
			AddParseTree("", &parse.Tree{Root: &parse.ListNode{NodeType: parse.NodeList, Nodes: []parse.Node{n}}})
		if err != nil {
			b.WriteString(NotKnown)
			continue
		}
		if out, err := execute(part, sc); err == nil {
			b.WriteString(out)
		} else {
			b.WriteString(NotKnown)
		}
	}
	return b.String()
}

// execute runs a template. A panic in it, as of a method of the facts, is an error.
func execute(t *template.Template, sc Scope) (out string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot fill in a text: %v", r)
		}
	}()
	var b strings.Builder
	if err := t.Execute(&b, sc); err != nil {
		return "", fmt.Errorf("cannot fill in a text: %w", err)
	}
	return b.String(), nil
}
