package remedies

import (
	"fmt"
	"slices"
)

// choose asks the engineer one question, in the article's words.
type choose struct{}

type chooseParams struct {
	Question string         `yaml:"question"`
	Default  string         `yaml:"default"`
	Options  []chooseOption `yaml:"options"`
}

type chooseOption struct {
	ID    string   `yaml:"id"`
	Title string   `yaml:"title"`
	Means []string `yaml:"means"`
}

func (p *chooseParams) check() error {
	if p.Question == "" || len(p.Options) < 2 {
		return fmt.Errorf("a choice needs a question and two options or more")
	}
	if !slices.ContainsFunc(p.Options, func(o chooseOption) bool { return o.ID == p.Default }) {
		return fmt.Errorf("default %q is none of the options", p.Default)
	}
	return nil
}

func (choose) kind() StepKind { return StepChoose }
func (choose) params() any    { return &chooseParams{} }

func (choose) choice(s *scene) *Choice {
	p := s.params.(*chooseParams) //nolint:errcheck,forcetypeassert // what params returned.
	c := &Choice{Question: p.Question, Selected: p.Default}
	for _, o := range p.Options {
		c.Options = append(c.Options, Option(o))
	}
	return c
}
