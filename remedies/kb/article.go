package kb

import (
	"fmt"
	"slices"

	"vksmedic/remedies"
)

// Article is one knowledge-base article as a walk: what it is about and its steps.
type Article struct {
	// ID is the name of its file without .yaml.
	ID    string
	Title Text
	// KB is the number of the public article, Address where it can be read; both empty
	// where none is public.
	KB, Address string
	// Signature is the id of the findings that it mends.
	Signature string
	// Versions says, in words, which versions it holds for.
	Versions Text
	// Warnings are said before the first step.
	Warnings []Text
	// Target is what the walk is about, such as a Machine's name; Finished are the words at
	// the end.
	Target, Finished Text
	Steps            []Step
	// From is the folder that it was read from; empty for one that is part of the program.
	From string
	// Digest is the SHA-256 of its file, in hexadecimal. A walk that is resumed compares it:
	// another digest is another article.
	Digest string
}

// Step is one step of an article.
type Step struct {
	ID         string
	Title, Why Text
	// Action is the name of the action, and Kind its kind.
	Action string
	Kind   remedies.StepKind
	// When is "true" or "false" once filled in; the step is skipped where it is "false". An
	// empty one is never skipped.
	When Text
	// Otherwise says why the step was skipped.
	Otherwise Text
	// Undo is the id of the later step that takes this one back; empty where none does.
	Undo string
	// Each is what the step is done for, one after another; empty for a step that is done
	// once. Inside, .Item is the name of the one that it is done for now.
	Each string
	// Needs are the guards that are read again at the moment of applying.
	Needs []string
	// Params is what the action's Params returned, as the article has it: templates not yet
	// filled in; see [FillParams].
	Params any

	line int // in its file.
}

// Line is the line of the article's file on which the step begins, counted from 1.
func (s *Step) Line() int { return s.line }

// Step returns the step of that id and its place, or nil and -1.
func (a *Article) Step(id string) (*Step, int) {
	for i := range a.Steps {
		if a.Steps[i].ID == id {
			return &a.Steps[i], i
		}
	}
	return nil, -1
}

// Catalogue is a set of articles that were loaded. It is never changed.
type Catalogue struct {
	articles []*Article // the program's own first, each part sorted by id.
}

// All are all articles: those of the program first, each part sorted by id.
func (c *Catalogue) All() []*Article { return slices.Clone(c.articles) }

// ByID returns the article of that id, or nil.
func (c *Catalogue) ByID(id string) *Article {
	for _, a := range c.articles {
		if a.ID == id {
			return a
		}
	}
	return nil
}

// For are the articles that mend a signature, that of the program first.
func (c *Catalogue) For(signature string) []*Article {
	var out []*Article
	for _, a := range c.articles {
		if a.Signature == signature {
			out = append(out, a)
		}
	}
	return out
}

// With is the catalogue with an engineer's own articles behind its own. An id that both
// have is an error: the journal knows an article by its id.
func (c *Catalogue) With(own *Catalogue) (*Catalogue, error) {
	var problems Problems
	for _, a := range own.articles {
		if c.ByID(a.ID) != nil {
			problems = append(problems, Problem{File: a.file(), Line: 1,
				Text: fmt.Sprintf("the program has an article with the id %q already; rename the file and its id", a.ID)})
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return &Catalogue{articles: slices.Concat(c.articles, own.articles)}, nil
}
