package remedies

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed kb/*.yaml
var kbFiles embed.FS

// Article is one knowledge-base article as a walk: what it is about and its steps.
type Article struct {
	ID, Title string
	// KB is the number of the article, Address where it can be read; both empty where
	// none is public.
	KB, Address string
	// Signature is the id of the findings that it mends.
	Signature string
	// Versions says, in words, which versions it holds for.
	Versions string
	// Warnings are said before the first step.
	Warnings []string
	// Target is a template for what the walk is about, such as a Machine's name.
	Target string
	// Finished is a template for the words at the end.
	Finished string
	Steps    []Step
}

// Step is one step of an article.
type Step struct {
	ID, Title, Why string
	Action         string
	// When is a template; the step is skipped where it says anything but "true". Empty: never skipped.
	When string
	// Otherwise says, in words, why the step was skipped.
	Otherwise string
	// Undo is the id of the step that takes this one back; empty where none does.
	Undo string

	params any // as the action wants them, templates not yet filled in.
	line   int // in its file.
}

// articleFile and stepFile are an article as it stands in its file.
type articleFile struct {
	ID        string     `yaml:"id"`
	Title     string     `yaml:"title"`
	KB        string     `yaml:"kb"`
	Address   string     `yaml:"address"`
	Signature string     `yaml:"signature"`
	Versions  string     `yaml:"versions"`
	Warnings  []string   `yaml:"warnings"`
	Target    string     `yaml:"target"`
	Finished  string     `yaml:"finished"`
	Steps     []stepFile `yaml:"steps"`
}

type stepFile struct {
	ID        string    `yaml:"id"`
	Title     string    `yaml:"title"`
	Why       string    `yaml:"why"`
	Action    string    `yaml:"action"`
	When      string    `yaml:"when"`
	Otherwise string    `yaml:"otherwise"`
	Undo      string    `yaml:"undo"`
	With      yaml.Node `yaml:"with"`
}

// loadArticles reads every article in the folder, by id. One that is not right
// is an error that says the file and the line.
func loadArticles(files fs.FS, actions map[string]action) (map[string]*Article, error) {
	names, err := fs.Glob(files, "kb/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("cannot list the articles: %w", err)
	}
	out := map[string]*Article{}
	for _, name := range names {
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("cannot read article %s: %w", name, err)
		}
		a, err := parseArticle(name, data, actions)
		if err != nil {
			return nil, err
		}
		if out[a.ID] != nil {
			return nil, fmt.Errorf("%s:1: there already is an article with the id %q", name, a.ID)
		}
		out[a.ID] = a
	}
	return out, nil
}

var idPattern = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// parseArticle reads and checks one article.
func parseArticle(file string, data []byte, actions map[string]action) (*Article, error) {
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(data)).Decode(&doc); err != nil {
		return nil, fmt.Errorf("%s: is no YAML: %w", file, err)
	}
	root := doc.Content[0]
	var f articleFile
	if err := decodeStrict(root, &f); err != nil {
		return nil, inFile(file, err)
	}
	a := &Article{ID: f.ID, Title: f.Title, KB: f.KB, Address: f.Address, Signature: f.Signature, Versions: f.Versions,
		Warnings: f.Warnings, Target: f.Target, Finished: f.Finished}
	lines := stepLines(root)
	for i, sf := range f.Steps {
		s := Step{ID: sf.ID, Title: sf.Title, Why: sf.Why, Action: sf.Action, When: sf.When, Otherwise: sf.Otherwise, Undo: sf.Undo, line: lines[i]}
		act := actions[sf.Action]
		if act == nil {
			return nil, inFile(file, at(s.line, "step %q: there is no action %q", sf.ID, sf.Action))
		}
		s.params = act.params()
		with := sf.With
		if with.Kind == 0 {
			with = yaml.Node{Kind: yaml.MappingNode, Line: s.line}
		}
		if err := decodeStrict(&with, s.params); err != nil {
			return nil, inFile(file, err)
		}
		a.Steps = append(a.Steps, s)
	}
	if err := a.check(actions); err != nil {
		return nil, inFile(file, err)
	}
	return a, nil
}

// check looks for what decoding cannot see.
func (a *Article) check(actions map[string]action) error {
	switch {
	case !idPattern.MatchString(a.ID):
		return at(1, "id %q: only small letters, digits and hyphens", a.ID)
	case a.Title == "" || a.Signature == "" || a.Target == "" || a.Finished == "":
		return at(1, "title, signature, target and finished have to be there")
	case factsOf(a.Signature) == nil:
		return at(1, "there is no signature %q that hands over facts", a.Signature)
	case a.Address != "" && a.KB == "":
		return at(1, "an address without the number of the article")
	case len(a.Steps) == 0:
		return at(1, "no steps")
	}
	if err := errors.Join(checkTemplate(a.Target), checkTemplate(a.Finished)); err != nil {
		return at(1, "%w", err)
	}
	seen := map[string]bool{}
	for i, s := range a.Steps {
		if !idPattern.MatchString(s.ID) || seen[s.ID] {
			return at(s.line, "step id %q: small letters, digits and hyphens, and each only once", s.ID)
		}
		seen[s.ID] = true
		if s.Title == "" || s.Why == "" {
			return at(s.line, "step %q: title and why have to be there", s.ID)
		}
		if s.When != "" && s.Otherwise == "" {
			return at(s.line, "step %q: when without otherwise", s.ID)
		}
		if s.Undo != "" && !slices.ContainsFunc(a.Steps[i+1:], func(o Step) bool { return o.ID == s.Undo && actions[o.Action].kind() == StepChange }) {
			return at(s.line, "step %q: undo %q is no later step that changes something", s.ID, s.Undo)
		}
		if err := checkTemplate(s.When); err != nil {
			return at(s.line, "step %q: when: %w", s.ID, err)
		}
		if err := eachString(s.params, checkTemplate); err != nil {
			return at(s.line, "step %q: %w", s.ID, err)
		}
		if c, ok := s.params.(interface{ check() error }); ok {
			if err := c.check(); err != nil {
				return at(s.line, "step %q: %w", s.ID, err)
			}
		}
	}
	return nil
}

// step returns the step of that id and its place, or nil.
func (a *Article) step(id string) (*Step, int) {
	for i := range a.Steps {
		if a.Steps[i].ID == id {
			return &a.Steps[i], i
		}
	}
	return nil, -1
}

// stepLines are the lines on which the steps begin.
func stepLines(root *yaml.Node) []int {
	var out []int
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "steps" {
			for _, n := range root.Content[i+1].Content {
				out = append(out, n.Line)
			}
		}
	}
	return out
}

// lineError is an error at a line of a file.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return e.err.Error() }
func (e *lineError) Unwrap() error { return e.err }

func at(line int, format string, args ...any) error {
	return &lineError{line: line, err: fmt.Errorf(format, args...)}
}

func inFile(file string, err error) error {
	var l *lineError
	if errors.As(err, &l) {
		return fmt.Errorf("%s:%d: %w", file, l.line, err)
	}
	return fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "yaml: "))
}
