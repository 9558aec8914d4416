package action

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/remedies/kb"
)

// takeBack takes back what an earlier step of this walk did: each of its attempts, the newest
// first, one preview for each.
type takeBack struct{}

var _ remedies.Changer = takeBack{}

// Kind is change.
func (takeBack) Kind() remedies.StepKind { return remedies.StepChange }

// Plan takes back the newest attempt of the step of which something is left. What is being
// deleted is waited for. What cannot be told, or taken back, is said, and the walk can go on.
func (takeBack) Plan(ctx context.Context, s *remedies.Scene) (*remedies.Plan, error) {
	p, ok := s.Params.(*kb.TakeBack)
	if !ok {
		return nil, wrongParams("take-back", s.Params)
	}
	r := rest{}
	for _, m := range newestFirst(s, p.Step) {
		if err := r.add(ctx, s, &m); err != nil {
			return nil, err
		}
		if r.plan == nil {
			continue
		}
		r.plan.TakesBack = []int{m.N}
		r.plan.Preview.Warnings = append(r.plan.Preview.Warnings, r.open...)
		return r.plan, reach(ctx, s, r.plan)
	}
	if err := r.addGoing(ctx, s, p.Step); err != nil {
		return nil, err
	}
	out := &remedies.Plan{}
	out.Preview.Title = "Take back"
	if len(r.going) > 0 {
		return blocked(out, strings.Join(r.going, "; ")), nil
	}
	words := slices.Concat(r.open, r.gone)
	if len(words) == 0 {
		words = []string{"this walk changed nothing in that step that it has not taken back"}
	}
	return done(out, strings.Join(words, "; ")), nil
}

// newestFirst are the attempts of a step that are to be taken back, the newest first; in a step
// that is done for several things, those for the one it is done for now.
func newestFirst(s *remedies.Scene, step string) []remedies.Made {
	made := s.Of(step)
	slices.Reverse(made)
	return slices.DeleteFunc(made, func(m remedies.Made) bool { return otherItem(s, &m) })
}

func otherItem(s *remedies.Scene, m *remedies.Made) bool {
	return s.Item != "" && m.Item != "" && m.Item != s.Item
}

// rest is what is left of a step.
type rest struct {
	// plan takes back the newest attempt that can be, and left are the names of all that can be.
	plan *remedies.Plan
	left []string
	// going says what is being deleted and still there, open what is left and cannot be taken back
	// here, and gone what is not there any more.
	going, open, gone []string
}

// add looks what is left of an attempt.
func (r *rest) add(ctx context.Context, s *remedies.Scene, m *remedies.Made) error {
	back, err := remedies.BackOf(ctx, s, m)
	if err != nil {
		return err //nolint:wrapcheck // an action's words are for the engineer.
	}
	switch back.Left {
	case remedies.LeftSome:
		r.left = append(r.left, m.Effect.What())
		if r.plan == nil {
			r.plan = back.Plan
		}
	case remedies.LeftEnding:
		r.going = addOnce(r.going, back.Words)
	case remedies.LeftUnknown, remedies.LeftStuck, remedies.LeftFinal:
		r.open = addOnce(r.open, back.Words)
	case remedies.LeftNothing:
		r.gone = addOnce(r.gone, back.Words)
	}
	return nil
}

// addGoing looks whether what was taken back of a step is over: a deletion was answered at once,
// and the object may be there for long after.
func (r *rest) addGoing(ctx context.Context, s *remedies.Scene, step string) error {
	of := map[int]bool{}
	for _, m := range s.Made {
		of[m.N] = m.Step == step && !otherItem(s, &m)
	}
	for _, m := range s.Made {
		if !slices.ContainsFunc(m.TakesBack, func(n int) bool { return of[n] }) {
			continue
		}
		words, err := remedies.StillGoing(ctx, s, &m)
		if err != nil {
			return err //nolint:wrapcheck // a place's words are for the engineer.
		}
		if words != "" {
			r.going = addOnce(r.going, words)
		}
	}
	return nil
}

func addOnce(words []string, w string) []string {
	if slices.Contains(words, w) {
		return words
	}
	return append(words, w)
}

// Verify counts what is left of the step. It is over when nothing is that can be taken back; an
// object that is being deleted and still there is waited for.
func (takeBack) Verify(s *remedies.Scene) remedies.Watch {
	p, ok := s.Params.(*kb.TakeBack)
	if !ok {
		return broken(wrongParams("take-back", s.Params))
	}
	return func(ctx context.Context) (remedies.Progress, error) {
		r := rest{}
		for _, m := range newestFirst(s, p.Step) {
			if err := r.add(ctx, s, &m); err != nil {
				return remedies.Progress{}, err
			}
		}
		if len(r.left) > 0 {
			words := text.Clean(fmt.Sprintf("%s to take back: %s", moreChanges(len(r.left)), remedies.List(r.left)))
			return remedies.Progress{Done: true, Failed: words, Last: words}, nil
		}
		if err := r.addGoing(ctx, s, p.Step); err != nil {
			return remedies.Progress{}, err
		}
		switch {
		case len(r.going) > 0:
			return remedies.Progress{Last: text.Clean(strings.Join(r.going, "; "))}, nil
		case len(r.open) > 0:
			return remedies.Progress{Done: true, Last: text.Clean(strings.Join(r.open, "; "))}, nil
		}
		return remedies.Progress{Done: true, Last: "nothing of it is left"}, nil
	}
}

func moreChanges(n int) string {
	if n == 1 {
		return "1 more change"
	}
	return fmt.Sprintf("%d more changes", n)
}
