package remedies

import (
	"fmt"
	"reflect"
	"strings"
	"text/template"

	"vksmedic/model"
	"vksmedic/model/text"
)

// scope is what the templates of an article can say.
type scope struct {
	// Cluster is the cluster of the finding, Supervisor the kubeconfig's context.
	Cluster    model.ClusterRef
	Supervisor string
	// Facts is what the signature found out.
	Facts any
	// Choice is what was chosen so far, by the id of the step that asked.
	Choice map[string]string
	// Done says which steps are done, by their ids.
	Done map[string]bool
	// Neighbours are the names of the other clusters in the vSphere Namespace.
	Neighbours []string
}

// words are the functions that templates have besides text/template's own.
func words() template.FuncMap {
	return template.FuncMap{
		"list":  list,
		"quote": quote,
		"clean": text.Clean,
	}
}

// list joins names as a sentence does: "a, b and c".
func list(names []string) string {
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return text.Clean(names[0])
	default:
		return text.Clean(strings.Join(names[:n-1], ", ") + " and " + names[n-1])
	}
}

func parseTemplate(s string) (*template.Template, error) {
	t, err := template.New("").Option("missingkey=error").Funcs(words()).Parse(s) //nolint:gosec // articles are part of the program.
	if err != nil {
		return nil, fmt.Errorf("%q is no template: %w", s, err)
	}
	return t, nil
}

func checkTemplate(s string) error {
	_, err := parseTemplate(s)
	return err
}

// fill fills in one template.
func fill(s string, sc scope) (string, error) {
	if !strings.Contains(s, "{{") {
		return s, nil
	}
	t, err := parseTemplate(s)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, sc); err != nil {
		return "", fmt.Errorf("cannot fill in %q: %w", s, err)
	}
	return b.String(), nil
}

// fillAll returns a copy of params, a pointer to a struct, with every string in it filled in.
func fillAll(params any, sc scope) (any, error) {
	v := reflect.ValueOf(params).Elem()
	out := reflect.New(v.Type())
	err := copyStrings(out.Elem(), v, func(s string) (string, error) { return fill(s, sc) })
	return out.Interface(), err
}

// eachString calls do for every string in params.
func eachString(params any, do func(string) error) error {
	v := reflect.ValueOf(params).Elem()
	return copyStrings(reflect.New(v.Type()).Elem(), v, func(s string) (string, error) { return s, do(s) })
}

// copyStrings copies strings, and slices and structs of them; other values as they are.
func copyStrings(to, from reflect.Value, do func(string) (string, error)) error {
	switch from.Kind() { //nolint:exhaustive // parameters are made of these.
	case reflect.String:
		s, err := do(from.String())
		if err != nil {
			return err
		}
		to.SetString(s)
	case reflect.Slice:
		if from.IsNil() {
			return nil
		}
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			if err := copyStrings(to.Index(i), from.Index(i), do); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range from.NumField() {
			if err := copyStrings(to.Field(i), from.Field(i), do); err != nil {
				return err
			}
		}
	default:
		to.Set(from)
	}
	return nil
}
