package kb

import (
	"reflect"
	"slices"
	"time"
)

var timeType = reflect.TypeFor[time.Time]()

// call is the value of a function. The rules are those of text/template's own functions,
// which otherwise are only found out when a template is filled in.
func (c *static) call(name string, args []value) value {
	need := func(least, most int) bool {
		if len(args) < least || (most >= 0 && len(args) > most) {
			c.fail("%s is given %d arguments; expected %s", name, len(args), countWords(least, most))
			return false
		}
		return true
	}
	switch name {
	case "list":
		if need(1, 1) {
			c.assignable(args[0], reflect.TypeFor[[]string](), name)
		}
		return of[string]()
	case "quote", "clean":
		if need(1, 1) {
			c.assignable(args[0], reflect.TypeFor[string](), name)
		}
		return of[string]()
	case "print", "println", "html", "js", "urlquery":
		if need(1, -1) {
			for _, a := range args {
				c.printable(a, "what is given to "+name)
			}
		}
		return of[string]()
	case "printf":
		if need(1, -1) {
			c.assignable(args[0], reflect.TypeFor[string](), name)
		}
		return of[string]()
	case "not":
		need(1, 1)
		return of[bool]()
	case "and", "or":
		if !need(1, -1) {
			return value{}
		}
		v := args[0]
		for _, a := range args[1:] {
			v = either(v, a)
		}
		return v
	case "len":
		if need(1, 1) {
			c.hasLength(args[0])
		}
		return of[int]()
	case "index":
		if !need(2, -1) {
			return value{}
		}
		return c.index(args)
	case "slice":
		if !need(1, 4) {
			return value{}
		}
		c.hasLength(args[0])
		t := deref(args[0].t)
		if t != nil && t.Kind() == reflect.Map {
			return c.fail("slice of a map; expected a list or a text")
		}
		for _, a := range args[1:] {
			c.isNumber(a, name)
		}
		return value{t: t}
	case "eq", "ne", "lt", "le", "gt", "ge":
		most := 2
		if name == "eq" {
			most = -1
		}
		if need(2, most) {
			c.compare(name, args)
		}
		return of[bool]()
	}
	return c.fail("%s cannot be used in an article; expected list, quote, clean, print, len, index, eq or another that cannot fail", name)
}

func countWords(least, most int) string {
	words := [...]string{"none", "one", "two", "three", "four"}
	switch {
	case most < 0:
		return words[least] + " or more"
	case least == most:
		return words[least]
	default:
		return words[least] + " to " + words[most]
	}
}

func (c *static) hasLength(v value) {
	switch t := deref(v.t); {
	case v.isRoot || v.isChoice || v.isDone:
		c.fail("what is asked for its length has none; expected a list or a text")
	case t == nil:
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map || t.Kind() == reflect.String:
	default:
		c.fail("%s has no length; expected a list or a text", typeWords(t))
	}
}

// index is what stands in a list or a map. The choices and the steps that are done are asked
// by an id that stands there, so that it can be checked.
func (c *static) index(args []value) value {
	v := args[0]
	for _, i := range args[1:] {
		switch t := deref(v.t); {
		case v.isChoice || v.isDone:
			if i.constant == nil {
				return c.fail(`an id that is computed; expected it in quotes, such as index .Choice "reach"`)
			}
			if v.isChoice {
				v = c.choiceOf(*i.constant)
			} else {
				v = c.doneOf(*i.constant)
			}
		case v.isRoot:
			return c.fail("index of the whole scope; expected a list or a map")
		case t == nil:
			return value{}
		case t.Kind() == reflect.Map:
			c.assignable(i, t.Key(), "index")
			v = value{t: t.Elem()}
		case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
			c.isNumber(i, "index")
			v = value{t: t.Elem()}
		default:
			return c.fail("index of %s; expected a list or a map", typeWords(t))
		}
	}
	return v
}

func (c *static) isNumber(v value, function string) {
	if v.isRoot || v.isChoice || v.isDone || (v.t != nil && !isInteger(v.t)) {
		what := "something else"
		if v.t != nil {
			what = typeWords(v.t)
		}
		c.fail("%s is given %s; expected a whole number", function, what)
	}
}

func isInteger(t reflect.Type) bool { return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uintptr }

// compare refuses comparing what cannot be compared, and comparing a choice with an option
// that nobody can choose.
func (c *static) compare(name string, args []value) {
	for _, a := range args {
		if a.isRoot || a.isChoice || a.isDone || (a.t != nil && basicKind(a.t) == "") {
			what := "this"
			if a.t != nil {
				what = typeWords(a.t)
			}
			c.fail("%s is given %s; expected texts, numbers or true and false", name, what)
			return
		}
	}
	first := args[0]
	for _, a := range args[1:] {
		if first.t == nil || a.t == nil {
			continue
		}
		if basicKind(first.t) != basicKind(a.t) {
			c.fail("%s compares %s with %s; expected two of the same type", name, typeWords(first.t), typeWords(a.t))
			return
		}
		if name != "eq" && name != "ne" && basicKind(first.t) == "bool" {
			c.fail("%s compares true and false; expected texts or numbers", name)
			return
		}
		c.compareOption(first, a)
		c.compareOption(a, first)
	}
}

func (c *static) compareOption(a, with value) {
	if a.options == nil || with.constant == nil || slices.Contains(a.options, *with.constant) {
		return
	}
	c.fail("%s is never %q; %s", a.what, *with.constant, orExpected(*with.constant, a.options))
}

// basicKind is what text/template compares by; "" for what it does not compare.
func basicKind(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Bool:
		return "bool"
	case isInteger(t):
		return "int"
	case t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64:
		return "float"
	case t.Kind() == reflect.String:
		return "string"
	}
	return ""
}
