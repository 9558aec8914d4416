package action

import (
	"context"

	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/remedies/kb"
)

// choose asks the engineer one question, in the article's words.
type choose struct{}

var _ remedies.Chooser = choose{}

// Kind is choose.
func (choose) Kind() remedies.StepKind { return remedies.StepChoose }

// Choice is the question of the article.
func (choose) Choice(_ context.Context, s *remedies.Scene) (*remedies.Choice, error) {
	p, ok := s.Params.(*kb.Choose)
	if !ok {
		return nil, wrongParams("choose", s.Params)
	}
	c := &remedies.Choice{Question: text.Clean(p.Question), Selected: p.Default}
	for _, o := range p.Answers {
		means := make([]string, 0, len(o.Means))
		for _, m := range o.Means {
			means = append(means, text.Clean(m))
		}
		c.Options = append(c.Options, remedies.Option{ID: o.ID, Title: text.Clean(o.Title), Means: means})
	}
	return c, nil
}
