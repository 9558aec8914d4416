package kb_test

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"vksmedic/remedies/action"
	"vksmedic/remedies/kb"
)

// registry is what the tables speak of.
func registry() kb.Registry { return action.Registry() }

var update = flag.Bool("update", false, "write the tables in README.md")

// The registry itself is as the loader wants it.
func TestRegistryOfTheTables(t *testing.T) {
	reg := registry()
	if err := reg.Check(); err != nil {
		t.Error(err)
	}
}

// The tables in README.md say what the Go types say.
func TestTables(t *testing.T) {
	have, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := withTables(string(have), registry())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(have) != want {
		t.Errorf("README.md is not what the types say; go test ./remedies/kb -run TestTables -update writes it%s", firstDifference(string(have), want))
	}
}

func firstDifference(have, want string) string {
	h, w := strings.Split(have, "\n"), strings.Split(want, "\n")
	for i := range min(len(h), len(w)) {
		if h[i] != w[i] {
			return fmt.Sprintf("\nline %d is\n%s\nand should be\n%s", i+1, h[i], w[i])
		}
	}
	return ""
}

// Whoever writes an article finds every field of it, every action and every field of the facts.
func TestTablesAreComplete(t *testing.T) {
	tables := allTables(t)
	for _, typ := range []reflect.Type{kb.ArticleType(), kb.StepType()} {
		for f := range typ.Fields() {
			if f.Tag.Get("doc") == "" || !strings.Contains(tables, "`"+f.Tag.Get("yaml")+"`") {
				t.Errorf("%s of %s is in no table", f.Name, typ)
			}
		}
	}
	for f := range reflect.TypeFor[kb.Scope]().Fields() {
		if !strings.Contains(tables, "| `."+f.Name+"` |") {
			t.Errorf(".%s is in no table", f.Name)
		}
	}
	for _, want := range []string{"### look\n", "| `objects[].columns[].path` |", "| `until.object.kind` |", "### machine-deletion-stalled\n", "| `.Facts.WaitsFor` |"} {
		if !strings.Contains(tables, want) {
			t.Errorf("%q is in no table", want)
		}
	}
	for _, name := range kb.FunctionNames() {
		if !strings.Contains(tables, "| `"+name+" ") {
			t.Errorf("function %s is in no table", name)
		}
	}
}

func allTables(t *testing.T) string {
	t.Helper()
	tables, err := makeTables(registry())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		b.WriteString(tables[name])
	}
	return b.String()
}

const (
	tableBegins = "<!-- table: "
	tableEnds   = "<!-- end -->"
)

// withTables is a text with the table in each `<!-- table: name -->` … `<!-- end -->` made anew.
func withTables(text string, reg kb.Registry) (string, error) {
	tables, err := makeTables(reg)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, tableBegins)
		b.WriteString(before)
		if !ok {
			break
		}
		name, rest, _ := strings.Cut(rest, " -->")
		_, after, ok := strings.Cut(rest, tableEnds)
		if !ok || tables[name] == "" {
			return "", fmt.Errorf("table %q: no such table, or no end", name)
		}
		b.WriteString(tableBegins + name + " -->\n" + strings.TrimSpace(tables[name]) + "\n" + tableEnds)
		delete(tables, name)
		text = after
	}
	if len(tables) > 0 {
		return "", fmt.Errorf("README.md has no place for the tables %v", slices.Sorted(maps.Keys(tables)))
	}
	return b.String(), nil
}

func makeTables(reg kb.Registry) (map[string]string, error) {
	d := docs{}
	scope, err := d.scope()
	if err != nil {
		return nil, err
	}
	facts, err := d.facts(reg)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"article": fieldTable(kb.ArticleType()), "step": fieldTable(kb.StepType()),
		"scope": scope, "functions": functionTable(), "actions": actionTables(reg),
		"guards": namedTable("guard", reg.Guards), "each": namedTable("each", reg.Each), "facts": facts, "own": ownTable(),
	}, nil
}

// ownTable is a table of the kinds of Kubernetes that own articles may write.
func ownTable() string {
	var b strings.Builder
	b.WriteString("| group | kinds |\n|---|---|\n")
	for _, group := range slices.Sorted(maps.Keys(kb.OwnKinds())) {
		fmt.Fprintf(&b, "| %s | `%s` |\n", cmp.Or(group, "core"), strings.Join(kb.OwnKinds()[group], "`, `"))
	}
	return b.String()
}

// fieldTable is a table of the fields of a struct with the tags of parameters.
func fieldTable(t reflect.Type) string {
	var b strings.Builder
	b.WriteString("| field | has to be there | what it is |\n|---|---|---|\n")
	fieldRows(&b, t, "")
	return b.String()
}

func fieldRows(b *strings.Builder, t reflect.Type, prefix string) {
	for f := range t.Fields() {
		name, need, doc := prefix+f.Tag.Get("yaml"), "", f.Tag.Get("doc")
		if f.Tag.Get("need") != "" {
			need = "yes"
		}
		switch {
		case f.Tag.Get("step") != "":
			doc += "; a step of the kind " + f.Tag.Get("step")
		case f.Tag.Get("oneof") != "":
			doc += ": `" + strings.ReplaceAll(f.Tag.Get("oneof"), ",", "`, `") + "`"
		case f.Tag.Get("template") == "no" && innermost(f.Type).Kind() == reflect.String:
			doc += " (no template)"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, need, cell(doc))
		inner, suffix := f.Type, "."
		if inner.Kind() == reflect.Slice {
			inner, suffix = inner.Elem(), "[]."
		}
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[yaml.Node]() {
			fieldRows(b, inner, name+suffix)
		}
	}
}

// cell is a text as it stands in a table's cell.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

func functionTable() string {
	return "| function | what it gives |\n|---|---|\n" +
		"| `list .Facts.Names` | a list of texts as a sentence has it: a, b and c |\n" +
		"| `quote .Facts.Name` | one word for a shell, in quotes where it needs them |\n" +
		"| `clean .Facts.Name` | the text without what a terminal would not show as it is |\n"
}

func actionTables(reg kb.Registry) string {
	var b strings.Builder
	for _, a := range reg.Actions {
		own := "Only for articles of the program."
		if a.Own {
			own = "Also for articles of your own."
		}
		fmt.Fprintf(&b, "### %s\n\nKind %s: %s. %s\n\n%s\n", a.Name, a.Kind, strings.TrimSuffix(a.Doc, "."), own, fieldTable(reflect.TypeOf(a.Params()).Elem()))
	}
	return b.String()
}

func namedTable(what string, named []kb.Named) string {
	if len(named) == 0 {
		return "There is none.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | what it means |\n|---|---|\n", what)
	for _, n := range named {
		fmt.Fprintf(&b, "| `%s` | %s |\n", n.Name, cell(n.Doc))
	}
	return b.String()
}

// docs are the doc comments of the packages that were asked for, by package path.
type docs map[string]*packageDocs

type packageDocs struct {
	fields map[string]string   // by "Type.Field".
	values map[string][]string // of types that are texts, by type.
}

// of reads a package of this module.
func (d docs) of(pkg string) (*packageDocs, error) {
	if d[pkg] != nil {
		return d[pkg], nil
	}
	dir := filepath.Join("..", "..", filepath.FromSlash(strings.TrimPrefix(pkg, "vksmedic/")))
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no Go files of package %s in %s: %w", pkg, dir, err)
	}
	p := &packageDocs{map[string]string{}, map[string][]string{}}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range f.Decls {
			if g, ok := decl.(*ast.GenDecl); ok {
				for _, s := range g.Specs {
					p.add(s)
				}
			}
		}
	}
	d[pkg] = p
	return p, nil
}

func (p *packageDocs) add(spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		st, ok := s.Type.(*ast.StructType)
		if !ok {
			return
		}
		for _, f := range st.Fields.List {
			doc := cmp.Or(f.Doc.Text(), f.Comment.Text())
			for _, n := range f.Names {
				p.fields[s.Name.Name+"."+n.Name] = strings.TrimSuffix(strings.Join(strings.Fields(doc), " "), ".")
			}
		}
	case *ast.ValueSpec:
		typ, ok := s.Type.(*ast.Ident)
		if !ok {
			return
		}
		for _, v := range s.Values {
			if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil && text != "" {
					p.values[typ.Name] = append(p.values[typ.Name], text)
				}
			}
		}
	}
}

// scope is the table of what templates can begin with.
func (d docs) scope() (string, error) {
	p, err := d.of(reflect.TypeFor[kb.Scope]().PkgPath())
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| begins with | what it is |\n|---|---|\n")
	words := map[string]string{
		"Cluster": "the finding's cluster: `.Cluster.Namespace` and `.Cluster.Name`; `.Cluster` is both",
		"Facts":   "what the finding knows; its fields stand under [Facts](#facts)",
		"Choice":  "what was chosen: `.Choice.reach` is the id of the option in the step `reach`; with a hyphen in the step's id `index .Choice \"the-step\"`. Only steps that stand before can be asked",
		"Done":    "whether a step that stands before is done, by the walk or by hand: `.Done.wait`, or `index .Done \"the-step\"`; false where it was skipped or taken back",
		"Item":    "only in `with` of a step with `each`: the name of what the step is done for now",
		"Target":  "only in `finished`: whether what the walk is about is there: `there`, `gone` or `unknown`",
		"Left":    "only in `finished`: a list of what the walk made and is still there",

		"TakenBack": "only in `finished`: a list of what the walk took back",
		"MaybeLeft": "only in `finished`: a list of what may still be there: it could not be read, or whether the walk made it could not be told",
	}
	for f := range reflect.TypeFor[kb.Scope]().Fields() {
		fmt.Fprintf(&b, "| `.%s` | %s |\n", f.Name, cell(cmp.Or(words[f.Name], p.fields["Scope."+f.Name])))
	}
	return b.String(), nil
}

// facts are the tables of what the findings of each signature know, and then of the types in them.
func (d docs) facts(reg kb.Registry) (string, error) {
	var b strings.Builder
	var types []reflect.Type // those whose fields are still to be written.
	for _, s := range reg.Signatures {
		t := reflect.TypeOf(s.Facts()).Elem()
		general := ""
		if s.General {
			general = " It is about the Supervisor as a whole: `.Cluster` is empty."
		}
		fmt.Fprintf(&b, "### %s\n\n%s.%s\n\n", s.ID, upper(s.Title), general)
		if err := d.factRows(&b, t, ".Facts", &types); err != nil {
			return "", err
		}
	}
	b.WriteString("### Types in the facts\n\n")
	slices.SortFunc(types, func(a, c reflect.Type) int { return cmp.Compare(a.Name(), c.Name()) })
	for i := 0; i < len(types); i++ {
		fmt.Fprintf(&b, "**%s**\n\n", types[i].Name())
		if err := d.factRows(&b, types[i], "", &types); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (d docs) factRows(b *strings.Builder, t reflect.Type, prefix string, types *[]reflect.Type) error {
	p, err := d.of(t.PkgPath())
	if err != nil {
		return err
	}
	b.WriteString("| field | type | what it is |\n|---|---|---|\n")
	for f := range t.Fields() {
		if !f.IsExported() {
			continue
		}
		values, err := d.values(f.Type)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "| `%s.%s` | %s | %s |\n", prefix, f.Name, kb.TypeWords(f.Type)+values, cell(p.fields[t.Name()+"."+f.Name]))
		if in := innermost(f.Type); in.Kind() == reflect.Struct && in != reflect.TypeFor[time.Time]() && !slices.Contains(*types, in) {
			*types = append(*types, in)
		}
	}
	b.WriteString("\n")
	return nil
}

func innermost(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

// values are the texts that a type of texts can be, where they are declared as constants.
func (d docs) values(t reflect.Type) (string, error) {
	in := innermost(t)
	if in.Kind() != reflect.String || in.PkgPath() == "" {
		return "", nil
	}
	p, err := d.of(in.PkgPath())
	if err != nil || len(p.values[in.Name()]) == 0 {
		return "", err
	}
	return ": `" + strings.Join(p.values[in.Name()], "`, `") + "`", nil
}

// The broken articles are refused with the same words by what the program really has.
func TestBrokenArticlesWithTheRealActions(t *testing.T) {
	want, err := os.ReadFile("testdata/broken/expect.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, p := range kb.Check([]string{"testdata/broken"}, registry()) {
		p.File = filepath.Base(p.File)
		got.WriteString(p.String() + "\n")
	}
	if got.String() != string(want) {
		t.Errorf("the broken articles are refused in other words%s", firstDifference(got.String(), string(want)))
	}
	if p := kb.Check([]string{"testdata/own"}, registry()); len(p) > 0 {
		t.Errorf("own articles that are right are refused: %v", p)
	}
}
