package kb

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"
)

// surroundings are what a text can speak of where it stands.
type surroundings struct {
	facts reflect.Type // a pointer to a struct; nil where the signature is not known.
	// choices are the steps before that ask, with the ids of their options (nil: options that
	// come from live data). asks are those of the whole article.
	choices map[string][]string
	asks    map[string]bool
	// done are the steps before, steps those of the whole article.
	done, steps map[string]bool
	item        bool // the step has an `each`.
	end         bool // these are the words at the end of the walk.
}

// used is what a template speaks of: what loading has to vary to try it.
type used struct {
	facts, neighbours, item            bool
	target, left, takenBack, maybeLeft bool
	choices, done                      map[string]bool
	// longest is the greatest number in the template: lists have to be longer than an index.
	longest int
}

// value is what is known of a value in a template.
type value struct {
	t reflect.Type // nil: nothing is known, since something is wrong with it already.
	// isRoot, isChoice and isDone are the scope and its two maps.
	isRoot, isChoice, isDone bool
	// what is named where it can only be one of options, such as the answer of a step that
	// asks. No options: they are not known here.
	what     string
	options  []string
	constant *string // a text that stands in the template.
	number   bool    // a number that stands in the template.
	isNil    bool
}

func of[T any]() value { return value{t: reflect.TypeFor[T]()} }

// static checks a template by its types, without filling it in: every branch, whether or not
// any facts lead there. The first problem is kept.
type static struct {
	in     surroundings
	used   used
	vars   []variable
	ranges int
	err    error
}

type variable struct {
	name string
	v    value
}

// maxRanges is how deep a range may stand in ranges: trying all of them takes time.
const maxRanges = 3

// checkTemplate says what is wrong with a template where it stands, and what it uses.
func checkTemplate(s string, in surroundings) (used, error) {
	c := static{in: in, used: used{choices: map[string]bool{}, done: map[string]bool{}}}
	if !isTemplate(s) {
		return c.used, nil
	}
	t, err := parseTemplate(s)
	if err != nil {
		return c.used, parseProblem(err)
	}
	if len(t.Templates()) > 1 || t.Tree == nil {
		return c.used, fmt.Errorf("a template is defined inside a text; expected the text itself")
	}
	root := value{isRoot: true}
	c.vars = []variable{{"$", root}}
	c.walk(root, t.Root)
	return c.used, c.err
}

var (
	noFunction  = regexp.MustCompile(`function "([^"]*)" not defined`)
	parsePrefix = regexp.MustCompile(`^.*?template: :\d+: `)
)

func parseProblem(err error) error {
	what := parsePrefix.ReplaceAllString(err.Error(), "")
	if m := noFunction.FindStringSubmatch(what); m != nil {
		return fmt.Errorf("there is no function %q; expected list, quote, clean or one of text/template's own", m[1])
	}
	if strings.Contains(what, "U+002D '-'") {
		what += `; expected an id with hyphens in quotes: index .Choice "the-id"`
		return fmt.Errorf("broken template: %s", what)
	}
	return fmt.Errorf("broken template: %s; expected a template of Go's text/template", what)
}

func (c *static) fail(format string, args ...any) value {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
	return value{}
}

func (c *static) walk(dot value, n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n == nil {
			return
		}
		for _, m := range n.Nodes {
			c.walk(dot, m)
		}
	case *parse.ActionNode:
		v := c.pipe(dot, n.Pipe)
		if len(n.Pipe.Decl) == 0 {
			c.printable(v, n.Pipe.String())
		}
	case *parse.IfNode:
		mark := len(c.vars)
		c.condition(c.pipe(dot, n.Pipe), n.Pipe)
		c.walk(dot, n.List)
		c.walk(dot, n.ElseList)
		c.vars = c.vars[:mark]
	case *parse.WithNode:
		mark := len(c.vars)
		v := c.pipe(dot, n.Pipe)
		c.condition(v, n.Pipe)
		c.walk(v, n.List)
		c.walk(dot, n.ElseList)
		c.vars = c.vars[:mark]
	case *parse.RangeNode:
		c.rangeOver(dot, n)
	case *parse.TemplateNode:
		c.fail("another template is called; expected the text itself")
	}
}

// condition refuses what is true whatever it holds.
func (c *static) condition(v value, p *parse.PipeNode) {
	if v.t != nil && v.t.Kind() == reflect.Struct {
		words := "one of its fields"
		if _, ok := v.t.MethodByName("IsZero"); ok {
			words = "not (" + p.String() + ").IsZero"
		}
		c.fail("%s is always true; expected %s", p, words)
	}
}

func (c *static) rangeOver(dot value, n *parse.RangeNode) {
	mark := len(c.vars)
	if c.ranges++; c.ranges > maxRanges {
		c.fail("a range inside of %d others; expected at most %d in one another", c.ranges-1, maxRanges)
	}
	// The variables of a range are those of its elements: their types are set below.
	v := c.commands(dot, n.Pipe)
	key, elem := value{}, value{}
	switch t := deref(v.t); {
	case v.isRoot || v.isChoice || v.isDone:
		c.fail("range over %s; expected a list of the facts", n.Pipe)
	case t == nil:
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		key, elem = of[int](), value{t: t.Elem()}
	case t.Kind() == reflect.Map:
		key, elem = value{t: t.Key()}, value{t: t.Elem()}
	default:
		c.fail("range over %s, which is %s; expected a list", n.Pipe, typeWords(t))
	}
	switch d := n.Pipe.Decl; len(d) {
	case 1:
		c.vars = append(c.vars, variable{d[0].Ident[0], elem})
	case 2:
		c.vars = append(c.vars, variable{d[0].Ident[0], key}, variable{d[1].Ident[0], elem})
	}
	c.walk(elem, n.List)
	c.ranges--
	c.vars = c.vars[:mark]
	c.walk(dot, n.ElseList)
}

// pipe is the value of a pipeline, and declares its variable.
func (c *static) pipe(dot value, p *parse.PipeNode) value {
	v := c.commands(dot, p)
	for _, d := range p.Decl {
		if !p.IsAssign {
			c.vars = append(c.vars, variable{d.Ident[0], v})
			continue
		}
		for i := range c.vars {
			if c.vars[i].name == d.Ident[0] {
				// From here on it may be the old or the new.
				c.vars[i].v = either(c.vars[i].v, v)
			}
		}
	}
	return v
}

// either is what is known of a value that is one of two.
func either(a, b value) value {
	if a.t == b.t && !a.isRoot && !a.isChoice && !a.isDone && !b.isRoot && !b.isChoice && !b.isDone {
		return value{t: a.t}
	}
	return of[any]()
}

func (c *static) commands(dot value, p *parse.PipeNode) value {
	var final *value
	for _, cmd := range p.Cmds {
		v := c.command(dot, cmd, final)
		final = &v
	}
	if final == nil {
		return value{}
	}
	return *final
}

// command is the value of one command; final is what a pipeline hands to it as last argument.
func (c *static) command(dot value, cmd *parse.CommandNode, final *value) value {
	args := func() []value {
		out := make([]value, 0, len(cmd.Args))
		for _, a := range cmd.Args[1:] {
			out = append(out, c.arg(dot, a))
		}
		if final != nil {
			out = append(out, *final)
		}
		return out
	}
	switch n := cmd.Args[0].(type) {
	case *parse.FieldNode:
		return c.chain(dot, n.Ident, args(), n)
	case *parse.VariableNode:
		return c.chain(c.variable(n.Ident[0]), n.Ident[1:], args(), n)
	case *parse.ChainNode:
		return c.chain(c.arg(dot, n.Node), n.Field, args(), n)
	case *parse.IdentifierNode:
		return c.call(n.Ident, args())
	default:
		if len(cmd.Args) > 1 || final != nil {
			return c.fail("%s is given an argument; expected a function", n)
		}
		if _, ok := n.(*parse.NilNode); ok {
			return c.fail("nil is no value; expected a field, a text or a number")
		}
		return c.arg(dot, n)
	}
}

func (c *static) arg(dot value, n parse.Node) value {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.NilNode:
		return value{isNil: true, t: reflect.TypeFor[any]()}
	case *parse.FieldNode:
		return c.chain(dot, n.Ident, nil, n)
	case *parse.VariableNode:
		return c.chain(c.variable(n.Ident[0]), n.Ident[1:], nil, n)
	case *parse.ChainNode:
		return c.chain(c.arg(dot, n.Node), n.Field, nil, n)
	case *parse.PipeNode:
		return c.pipe(dot, n)
	case *parse.IdentifierNode:
		return c.call(n.Ident, nil)
	case *parse.BoolNode:
		return of[bool]()
	case *parse.StringNode:
		return value{t: reflect.TypeFor[string](), constant: &n.Text}
	case *parse.NumberNode:
		switch {
		case n.IsInt:
			if n.Int64 >= 0 && n.Int64 < 1<<16 {
				c.used.longest = max(c.used.longest, int(n.Int64))
			}
			return value{t: reflect.TypeFor[int](), number: true}
		case n.IsFloat:
			return value{t: reflect.TypeFor[float64](), number: true}
		}
	}
	return c.fail("%s cannot be used here; expected a field, a text or a number", n)
}

func (c *static) variable(name string) value {
	for _, v := range slices.Backward(c.vars) {
		if v.name == name {
			return v.v
		}
	}
	return c.fail("there is no variable %s", name) // the parser refuses it before.
}

// chain follows fields; what is last among them may be a method with arguments.
func (c *static) chain(v value, fields []string, args []value, n parse.Node) value {
	for i, f := range fields {
		var given []value
		if i == len(fields)-1 {
			given = args
		}
		v = c.field(v, f, given, n)
	}
	if len(fields) == 0 && len(args) > 0 {
		return c.fail("%s is given an argument; expected a function", n)
	}
	return v
}

// rootFields are what a text can begin with.
func (c *static) rootFields() []string {
	out := []string{"Cluster", "Supervisor", "Facts", "Choice", "Done", "Neighbours"}
	if c.in.item {
		out = append(out, "Item")
	}
	if c.in.end {
		out = append(out, "Target", "Left", "TakenBack", "MaybeLeft")
	}
	return out
}

func (c *static) field(v value, name string, args []value, n parse.Node) value {
	switch {
	case len(args) > 0 && (v.isRoot || v.isChoice || v.isDone):
		return c.fail("%s is given an argument; expected a function", n)
	case v.isRoot:
		return c.root(name, n)
	case v.isChoice:
		return c.choiceOf(name)
	case v.isDone:
		return c.doneOf(name)
	case v.t == nil:
		return value{}
	}
	if m, ok := v.t.MethodByName(name); ok && m.IsExported() {
		return c.method(v.t, m, args)
	}
	t := deref(v.t)
	if t.Kind() != reflect.Struct {
		if m, ok := t.MethodByName(name); ok {
			return c.method(t, m, args)
		}
		return c.fail("%s: %s has no field %s; expected the value itself%s", n, typeWords(t), name, mapHint(t))
	}
	f, ok := t.FieldByName(name)
	if !ok || !f.IsExported() {
		return c.fail("%s: %s has no field %s; %s", n, typeWords(t), name, orExpected(name, exportedFields(t)))
	}
	if len(args) > 0 {
		return c.fail("%s is given an argument; expected a function", n)
	}
	return value{t: f.Type}
}

func mapHint(t reflect.Type) string {
	switch t.Kind() { //nolint:exhaustive // only these need a word.
	case reflect.Map:
		return `, or index <it> "key"`
	case reflect.Slice:
		return ", or range over it"
	}
	return ""
}

func (c *static) root(name string, n parse.Node) value {
	switch name {
	case "Cluster":
		f, _ := reflect.TypeFor[Scope]().FieldByName("Cluster")
		return value{t: f.Type}
	case "Supervisor":
		return of[string]()
	case "Facts":
		c.used.facts = true
		return value{t: c.in.facts}
	case "Choice":
		return value{isChoice: true}
	case "Done":
		return value{isDone: true}
	case "Neighbours":
		c.used.neighbours = true
		return of[[]string]()
	case "Item":
		if c.in.item {
			c.used.item = true
			return of[string]()
		}
		return c.fail(".Item is only there in the parameters of a step with each")
	case "Target", "Left", "TakenBack", "MaybeLeft":
		return c.ending(name)
	}
	return c.fail("%s: there is no .%s; %s", n, name, orExpected(name, c.rootFields()))
}

// ending is what only the words at the end of a walk can speak of.
func (c *static) ending(name string) value {
	switch {
	case !c.in.end:
		return c.fail(".%s is only known at the end of the walk; expected it in finished only", name)
	case name == "Target":
		c.used.target = true
		return value{t: reflect.TypeFor[string](), what: ".Target", options: targets()}
	case name == "Left":
		c.used.left = true
	case name == "MaybeLeft":
		c.used.maybeLeft = true
	default:
		c.used.takenBack = true
	}
	return of[[]string]()
}

func (c *static) choiceOf(id string) value {
	if _, ok := c.in.choices[id]; !ok {
		if c.in.asks[id] {
			return c.fail("choice %q is not made yet here; expected a choose step that stands before", id)
		}
		return c.fail("no step %q asks for a choice; %s", id, orExpectedSteps(id, keys(c.in.choices)))
	}
	c.used.choices[id] = true
	return value{t: reflect.TypeFor[string](), what: "choice " + strconv.Quote(id), options: c.in.choices[id]}
}

func (c *static) doneOf(id string) value {
	if !c.in.done[id] {
		if c.in.steps[id] {
			return c.fail("step %q is not done yet here; expected a step that stands before", id)
		}
		return c.fail("there is no step %q; %s", id, orExpectedSteps(id, keys(c.in.done)))
	}
	c.used.done[id] = true
	return of[bool]()
}

func orExpectedSteps(id string, known []string) string {
	if len(known) == 0 {
		return "expected a step that stands before, and there is none"
	}
	return orExpected(id, known)
}

func keys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// method is the value of a method of the facts.
func (c *static) method(t reflect.Type, m reflect.Method, args []value) value {
	takes := m.Type.NumIn() - 1 // without the receiver, which only a type that is no interface has.
	if t.Kind() == reflect.Interface {
		takes++
	}
	switch {
	case m.Type.NumOut() != 1:
		return c.fail("%s of %s can fail; expected a field", m.Name, typeWords(t))
	case m.Type.IsVariadic() || takes != len(args):
		return c.fail("%s of %s is given %d arguments; expected %d", m.Name, typeWords(t), len(args), takes)
	}
	for i, a := range args {
		c.assignable(a, m.Type.In(m.Type.NumIn()-takes+i), m.Name)
	}
	return value{t: m.Type.Out(0)}
}

// assignable refuses an argument of the wrong type.
func (c *static) assignable(a value, want reflect.Type, function string) {
	switch {
	case a.t == nil && !a.isRoot && !a.isChoice && !a.isDone:
	case a.isNil || a.isRoot || a.isChoice || a.isDone:
		c.fail("%s is given something else; expected %s", function, typeWords(want))
	case a.t.AssignableTo(want):
	case a.constant != nil && want.Kind() == reflect.String:
	case a.number && want.Kind() >= reflect.Int && want.Kind() <= reflect.Float64:
	case want.Kind() == reflect.String && a.t.Kind() == reflect.String:
		c.fail("%s is given %s; expected a text: put (print …) around it", function, typeWords(a.t))
	default:
		c.fail("%s is given %s; expected %s", function, typeWords(a.t), typeWords(want))
	}
}

// printable refuses what would be printed in Go's own form.
func (c *static) printable(v value, what string) {
	switch {
	case v.isRoot || v.isChoice || v.isDone:
		c.fail("%s cannot be printed; expected one of its fields", what)
		return
	case v.t == nil:
		return
	}
	if _, ok := v.t.MethodByName("String"); ok {
		return
	}
	switch deref(v.t).Kind() { //nolint:exhaustive // all others are printed as people write them.
	case reflect.Slice, reflect.Array:
		c.fail("%s is a list; expected list or range", what)
	case reflect.Map:
		c.fail("%s is a map; expected index or range", what)
	case reflect.Struct:
		c.fail("%s has fields; expected one of %s", what, strings.Join(exportedFields(deref(v.t)), ", "))
	case reflect.Func, reflect.Chan:
		c.fail("%s cannot be printed", what)
	}
}

func deref(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

func exportedFields(t reflect.Type) []string {
	var out []string
	for f := range t.Fields() {
		if f.IsExported() {
			out = append(out, f.Name)
		}
	}
	return out
}

// typeWords names a type for a person who writes no Go.
func typeWords(t reflect.Type) string {
	t = deref(t)
	if t == nil {
		return "nothing"
	}
	switch {
	case t == timeType:
		return "a time"
	case t.Kind() == reflect.Struct:
		return t.Name()
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return "a list of " + plainType(t.Elem())
	case t.Kind() == reflect.Map:
		return "a map from " + plainType(t.Key()) + " to " + plainType(t.Elem())
	case t.Kind() == reflect.Interface:
		return "a value of no known type"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.String && t.Name() != "string":
		return "a " + t.Name()
	case t.Kind() == reflect.String:
		return "a text"
	case t.Name() != "" && t.PkgPath() != "":
		return "a " + t.Name()
	}
	return "a number"
}

// plainType is typeWords without an article before it.
func plainType(t reflect.Type) string {
	words := typeWords(t)
	if words == "a text" {
		return "texts"
	}
	return strings.TrimPrefix(words, "a ")
}
