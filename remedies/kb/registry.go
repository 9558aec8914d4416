package kb

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"vksmedic/remedies"
)

// Registry is what articles can speak of: the actions that their steps name, the signatures
// that they mend, the guards, and what a step can be done for.
type Registry struct {
	Actions    []Action
	Signatures []SignatureFacts
	// Guards are what `needs` can name, Each what `each` can name.
	Guards, Each []Named
}

// Named is a name that articles can use, with a sentence that says what it means.
type Named struct{ Name, Doc string }

// Action is what the loader knows of an action.
type Action struct {
	Name string
	Kind remedies.StepKind
	// Doc says in one sentence what it does; the README's table has it.
	Doc string
	// Params returns a pointer to a new, empty struct for a step's `with`. Its fields are
	// strings, booleans, integers, [time.Duration], [Manifest], maps from strings to
	// strings, and lists and structs of these. Their tags:
	//
	//	yaml:"name"             the key
	//	doc:"…"                 what it is, for the README
	//	need:"yes"              it has to be given, and must not come out empty
	//	template:"no"           it is taken as it stands; other strings are templates
	//	oneof:"a,b"             the only values
	//	form:"name|selector|path"  what it has to look like
	//	step:"change"           the id of an earlier step of that kind ("any": of any kind)
	//	use:"write"             of an [Object]: the step writes to it
	//
	// Where the struct has a method Options() []string, they are what an engineer can
	// choose; a step of the kind choose without it takes its options from live data.
	Params func() any
	// Own says that an engineer's own article may use it.
	Own bool
	// Check looks for what types cannot say. It is given the parameters with their templates
	// not filled in, and may be nil.
	Check func(params any) error
}

// SignatureFacts is a signature that articles can mend.
type SignatureFacts struct {
	ID, Title string
	// Facts returns a pointer to a new, empty value of what its findings carry.
	Facts func() any
	// General says that its findings are about the Supervisor as a whole: they name no cluster.
	General bool
}

func (r *Registry) action(name string) *Action {
	for i := range r.Actions {
		if r.Actions[i].Name == name {
			return &r.Actions[i]
		}
	}
	return nil
}

func (r *Registry) actionNames() []string {
	var out []string
	for i := range r.Actions {
		out = append(out, r.Actions[i].Name)
	}
	return out
}

func (r *Registry) signature(id string) *SignatureFacts {
	for i := range r.Signatures {
		if r.Signatures[i].ID == id {
			return &r.Signatures[i]
		}
	}
	return nil
}

// FactsOf is an empty value of what the findings of a signature carry, nil for an unknown one.
func (r *Registry) FactsOf(id string) any {
	if s := r.signature(id); s != nil {
		return s.Facts()
	}
	return nil
}

func (r *Registry) signatureIDs() []string {
	var out []string
	for _, s := range r.Signatures {
		out = append(out, s.ID)
	}
	slices.Sort(out)
	return out
}

func namesOf(named []Named) []string {
	var out []string
	for _, n := range named {
		out = append(out, n.Name)
	}
	return out
}

// Check says what is wrong with the registry itself: it is for a test of the actions.
func (r *Registry) Check() error {
	var errs []error
	names := slices.Concat(r.actionNames(), namesOf(r.Guards), namesOf(r.Each))
	for i, n := range names {
		if !idPattern.MatchString(n) || slices.Contains(names[:i], n) {
			errs = append(errs, fmt.Errorf("name %q: small letters, digits and hyphens, and each only once", n))
		}
	}
	for _, a := range r.Actions {
		if a.Doc == "" || a.Params == nil {
			errs = append(errs, fmt.Errorf("action %s: Doc and Params have to be there", a.Name))
			continue
		}
		t := reflect.TypeOf(a.Params())
		if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
			errs = append(errs, fmt.Errorf("action %s: Params returns %v; a pointer to a struct is expected", a.Name, t))
			continue
		}
		errs = append(errs, checkParamType("action "+a.Name, t.Elem()))
	}
	for _, s := range r.Signatures {
		if s.Facts == nil || reflect.TypeOf(s.Facts()).Kind() != reflect.Pointer {
			errs = append(errs, fmt.Errorf("signature %s: Facts has to return a pointer to a struct", s.ID))
		}
	}
	for _, n := range slices.Concat(r.Guards, r.Each) {
		if n.Doc == "" {
			errs = append(errs, fmt.Errorf("%s: Doc has to be there", n.Name))
		}
	}
	return errors.Join(errs...)
}

func checkParamType(where string, t reflect.Type) error {
	var errs []error
	switch {
	case t == reflect.TypeFor[Manifest](), t == reflect.TypeFor[time.Duration]():
	case t.Kind() == reflect.Slice:
		errs = append(errs, checkParamType(where, t.Elem()))
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String && t.Elem().Kind() == reflect.String:
	case t.Kind() == reflect.Struct:
		for f := range t.Fields() {
			name := where + ": " + f.Name
			if !f.IsExported() || f.Tag.Get("yaml") == "" || f.Tag.Get("doc") == "" {
				errs = append(errs, fmt.Errorf("%s: an exported field with the tags yaml and doc is expected", name))
			}
			errs = append(errs, checkParamType(name, f.Type))
		}
	case t.Kind() == reflect.String, t.Kind() == reflect.Bool, t.Kind() == reflect.Int:
	default:
		errs = append(errs, fmt.Errorf("%s: the loader cannot read a %v", where, t))
	}
	return errors.Join(errs...)
}

// chooser is a params struct that knows its options.
type chooser interface{ Options() []string }

// oneOf writes names as what was expected: "expected a, b or c".
func oneOf(names []string) string {
	switch n := len(names); n {
	case 0:
		return "nothing is expected here"
	case 1:
		return "expected " + names[0]
	default:
		return "expected " + strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
}
