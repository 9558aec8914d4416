package kb

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"vksmedic/remedies"
)

//go:embed *.yaml
var builtin embed.FS

// Builtin are the files of the articles that are part of the program.
func Builtin() fs.FS { return builtin }

// Load reads the articles of the program: every *.yaml at the top of files. Its error is
// [Problems], with all that is wrong in any of them.
func Load(files fs.FS, reg Registry) (*Catalogue, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("cannot list the articles: %w", err)
	}
	return loadAll(names, reg, "", func(name string) ([]byte, error) { return fs.ReadFile(files, name) }) //nolint:wrapcheck // wrapped by loadAll.
}

// LoadDir reads an engineer's own articles: every *.yaml in the folder. They may do less than
// those of the program (own.go), and a folder that others may write to is refused (trust.go;
// on Windows this is not looked at). Its error is [Problems], or says that the folder cannot
// be read.
func LoadDir(dir string, reg Registry) (*Catalogue, error) {
	resolved, err := trustedFolder(dir, os.Getuid())
	if err != nil {
		return nil, err
	}
	names, problems := articlesIn(resolved)
	if len(problems) > 0 {
		return nil, Problems(problems)
	}
	return loadAll(names, reg, dir, func(name string) ([]byte, error) { return readTrusted(filepath.Join(resolved, name), os.Getuid()) })
}

func loadAll(names []string, reg Registry, from string, read func(string) ([]byte, error)) (*Catalogue, error) {
	var problems Problems
	c := &Catalogue{}
	for _, name := range names {
		shown := filepath.Join(from, name)
		data, err := read(name)
		if err != nil {
			problems = append(problems, Problem{File: shown, Text: fmt.Sprintf("cannot be read: %v", err)})
			continue
		}
		a, found := parseArticle(shown, data, reg, from != "")
		problems = append(problems, found...)
		a.From = from
		c.articles = append(c.articles, a)
	}
	slices.SortFunc(c.articles, func(a, b *Article) int { return cmp.Compare(a.ID, b.ID) })
	if err := problems.sorted().orNil(); err != nil {
		return nil, err
	}
	return c, nil
}

// Check says all that is wrong with files that are being written, by the rules for an
// engineer's own articles. A folder stands for the articles in it.
func Check(files []string, reg Registry) []Problem {
	var problems Problems
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			in, found := articlesIn(name)
			problems = append(problems, found...)
			for _, n := range in {
				problems = append(problems, checkFile(filepath.Join(name, n), reg)...)
			}
			continue
		}
		problems = append(problems, checkFile(name, reg)...)
	}
	return problems.sorted()
}

func checkFile(name string, reg Registry) []Problem {
	if ext := filepath.Ext(name); ext != ".yaml" {
		return []Problem{{File: name, Text: "the name ends in " + cmp.Or(ext, "nothing") + "; expected .yaml"}}
	}
	data, err := readAtMost(name)
	if err != nil {
		return []Problem{{File: name, Text: fmt.Sprintf("cannot be read: %v", err)}}
	}
	_, problems := parseArticle(name, data, reg, true)
	return problems
}

// articlesIn are the names of the articles in a folder. A .yml is a problem, since it would
// be missed silently; other files are not articles.
func articlesIn(dir string) (names []string, problems []Problem) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, []Problem{{File: dir, Text: fmt.Sprintf("cannot be read: %v", err)}}
	}
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".yaml":
			names = append(names, e.Name())
		case ".yml":
			problems = append(problems, Problem{File: filepath.Join(dir, e.Name()), Text: "the name ends in .yml; expected .yaml"})
		}
	}
	return names, problems
}

// articleFile and stepFile are an article as it stands in its file. Their tags are those of
// parameters (see Action.Params).
type articleFile struct {
	ID        string      `yaml:"id" need:"yes" template:"no" doc:"the name of the file without .yaml"`
	Title     string      `yaml:"title" need:"yes" doc:"what the wizard is called"`
	KB        string      `yaml:"kb" template:"no" doc:"the number of the public article; left out where none is public, never invented"`
	Address   string      `yaml:"address" template:"no" doc:"where the public article can be read"`
	Signature string      `yaml:"signature" need:"yes" template:"no" doc:"the id of the signature that it mends; the article of the program has the same id"`
	Versions  string      `yaml:"versions" doc:"which versions it holds for, in words"`
	Warnings  []string    `yaml:"warnings" doc:"what to know before starting, a sentence each"`
	Target    string      `yaml:"target" need:"yes" doc:"what the engineer is about to mend, such as a Machine's name"`
	Finished  string      `yaml:"finished" need:"yes" doc:"what is said at the end"`
	Steps     []yaml.Node `yaml:"steps" need:"yes" doc:"the steps, from first to last"`
}

type stepFile struct {
	ID        string    `yaml:"id" need:"yes" template:"no" doc:"a name that other steps refer to"`
	Title     string    `yaml:"title" need:"yes" doc:"what it does, for the person who decides"`
	Why       string    `yaml:"why" need:"yes" doc:"why it is done"`
	Action    string    `yaml:"action" need:"yes" template:"no" doc:"what the program does, see Actions"`
	With      yaml.Node `yaml:"with" doc:"the action's parameters"`
	When      string    `yaml:"when" doc:"a condition: true or false once filled in; where it is false the step is skipped"`
	Otherwise string    `yaml:"otherwise" doc:"what is said when the step is skipped; has to be there beside when"`
	Undo      string    `yaml:"undo" template:"no" doc:"the id of the later step that takes back what this one changes"`
	Each      string    `yaml:"each" template:"no" doc:"what the step is done for, one after another; .Item is then the one that it is done for now"`
	Needs     []string  `yaml:"needs" template:"no" doc:"the guards that must hold at the moment of applying"`
}

var (
	idPattern = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	kbNumber  = regexp.MustCompile(`^[0-9]{4,8}$`)
)

// loader is one article while it is loaded.
type loader struct {
	file string
	reg  Registry
	own  bool

	article  *Article
	top      decoder
	steps    []*loadedStep
	problems []lineProblem
	// names are the lines with a template where a name is expected. Nothing further is reported
	// about such a name.
	names map[int]bool
}

// loadedStep is a step with what was read for it.
type loadedStep struct {
	Step
	action *Action // nil where there is none of that name.
	with   decoder // what the parameters are made of.
	self   decoder // what the step itself is made of.
}

// parseArticle reads and checks one article; own says that it is an engineer's own.
func parseArticle(file string, data []byte, reg Registry, own bool) (*Article, []Problem) {
	sum := sha256.Sum256(data)
	l := &loader{file: file, reg: reg, own: own, names: map[int]bool{}, article: &Article{Digest: hex.EncodeToString(sum[:])}}
	root, problems := readYAML(data)
	l.problems = problems
	if root != nil {
		l.read(root)
		l.checkIdentity()
		l.checkReferences()
		if own {
			l.checkOwn()
		}
		l.checkObjects()
		l.checkTexts()
		l.checkActions()
	}
	var out Problems
	for _, p := range l.problems {
		if l.names[p.line] && !strings.Contains(p.text, aTemplate) {
			continue
		}
		out = append(out, Problem{File: file, Line: p.line, Text: p.text})
	}
	return l.article, out.sorted()
}

func (l *loader) fail(line int, format string, args ...any) {
	l.problems = append(l.problems, lineProblem{line, fmt.Sprintf(format, args...)})
}

// read puts the nodes into the article, and its steps.
func (l *loader) read(root *yaml.Node) {
	var f articleFile
	l.top.decode(root, &f, "")
	l.problems = append(l.problems, l.top.problems...)
	a := l.article
	a.ID, a.KB, a.Address, a.Signature = f.ID, f.KB, f.Address, f.Signature
	a.Title, a.Versions, a.Target, a.Finished = Text(f.Title), Text(f.Versions), Text(f.Target), Text(f.Finished)
	for _, w := range f.Warnings {
		a.Warnings = append(a.Warnings, Text(w))
	}
	for i := range f.Steps {
		l.steps = append(l.steps, l.readStep(&f.Steps[i]))
	}
	for _, s := range l.steps {
		a.Steps = append(a.Steps, s.Step)
	}
}

func (l *loader) readStep(n *yaml.Node) *loadedStep {
	s := &loadedStep{}
	var f stepFile
	if n.Kind != yaml.MappingNode {
		l.fail(n.Line, "a step is %s; expected keys and values: id, title, why, action", nodeWords(n))
		s.line = n.Line
		return s
	}
	s.self.decode(n, &f, "")
	l.problems = append(l.problems, s.self.problems...)
	s.Step = Step{ID: f.ID, Title: Text(f.Title), Why: Text(f.Why), Action: f.Action, When: Text(f.When), Otherwise: Text(f.Otherwise),
		Undo: f.Undo, Each: f.Each, Needs: f.Needs, line: n.Line}
	if f.Action == "" {
		return s
	}
	s.action = l.reg.action(f.Action)
	if s.action == nil {
		l.fail(s.self.line("action", n.Line), "there is no action %q; %s", f.Action, orExpected(f.Action, l.reg.actionNames()))
		return s
	}
	s.Kind = s.action.Kind
	s.Params = s.action.Params()
	with := &f.With
	if with.Kind == 0 || with.Tag == "!!null" {
		with = &yaml.Node{Kind: yaml.MappingNode, Line: s.self.line("action", n.Line)}
	}
	s.with.decode(with, s.Params, "")
	l.problems = append(l.problems, s.with.problems...)
	return s
}

// checkIdentity holds file name, id and signature together.
func (l *loader) checkIdentity() {
	a := l.article
	name := strings.TrimSuffix(path.Base(filepath.ToSlash(l.file)), ".yaml")
	line := func(field string) int { return l.top.line(field, 1) }
	switch {
	case a.ID == "":
	case !idPattern.MatchString(a.ID):
		l.fail(line("id"), "id %q; expected small letters, digits and hyphens", a.ID)
	case a.ID != name:
		l.fail(line("id"), "id %q in a file called %s.yaml; expected the name of the file", a.ID, name)
	}
	switch {
	case a.Signature == "":
	case l.reg.signature(a.Signature) == nil:
		l.fail(line("signature"), "there is no signature %q; %s", a.Signature, orExpected(a.Signature, l.reg.signatureIDs()))
	case !l.own && a.ID != "" && a.ID != a.Signature:
		l.fail(line("signature"), "signature %q in article %q; expected both to be the same", a.Signature, a.ID)
	}
	if a.KB != "" && !kbNumber.MatchString(a.KB) {
		l.fail(line("kb"), "kb %q; expected the number of an article, such as 410900", a.KB)
	}
	if a.Address != "" && !strings.HasPrefix(a.Address, "https://") {
		l.fail(line("address"), "address %q; expected one that begins with https://", a.Address)
	}
	if a.Address != "" && a.KB == "" && !l.own && l.top.lines["kb"] == 0 {
		l.fail(line("address"), "an address without the number of the article; expected kb as well")
	}
}

// checkActions asks the parameters themselves, and the actions, about what types cannot say.
// It comes last, and only for parameters with which nothing else is wrong.
func (l *loader) checkActions() {
	before := slices.Clone(l.problems)
	for i, s := range l.steps {
		first, next := s.self.line("with", s.line), math.MaxInt
		if i+1 < len(l.steps) {
			next = l.steps[i+1].line
		}
		wrong := slices.ContainsFunc(before, func(p lineProblem) bool { return first <= p.line && p.line < next })
		if s.action == nil || len(s.with.problems) > 0 || wrong {
			continue
		}
		if c, ok := s.Params.(interface{ check() error }); ok {
			l.failAt(s, c.check())
		}
		if s.action.Check != nil {
			l.failAt(s, s.action.Check(s.Params))
		}
	}
}

func (l *loader) failAt(s *loadedStep, err error) {
	if err == nil {
		return
	}
	where := ""
	if p, ok := err.(*pathError); ok { //nolint:errorlint // only At makes it, and nobody wraps it.
		where = p.path
	}
	l.fail(s.with.line(where, s.self.line("with", s.line)), "%v", err)
}

// factsType is the type of the facts of the article's signature, or nil.
func (l *loader) factsType() (reflect.Type, func() any) {
	sig := l.reg.signature(l.article.Signature)
	if sig == nil || sig.Facts == nil {
		return nil, nil
	}
	return reflect.TypeOf(sig.Facts()), sig.Facts
}

func isChange(s *loadedStep) bool { return s.Kind == remedies.StepChange }
