package action

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/kb"
)

// takeBack takes back what an earlier step of this walk did: each of its attempts, the newest
// first, one preview for each.
type takeBack struct{}

var _ remedies.Changer = takeBack{}

// Kind is change.
func (takeBack) Kind() remedies.StepKind { return remedies.StepChange }

// Plan takes back the newest attempt of the step of which something is left.
func (takeBack) Plan(ctx context.Context, s *remedies.Scene) (*remedies.Plan, error) {
	p, ok := s.Params.(*kb.TakeBack)
	if !ok {
		return nil, wrongParams("take-back", s.Params)
	}
	var gone []string
	for _, m := range newestFirst(s, p.Step) {
		back, why, err := backOf(ctx, s, &m)
		if err != nil {
			return nil, err
		}
		if back != nil {
			back.TakesBack = []int{m.N}
			return back, reach(ctx, s, back)
		}
		if !slices.Contains(gone, why) {
			gone = append(gone, why)
		}
	}
	out := &remedies.Plan{}
	out.Preview.Title = "Take back"
	if len(gone) == 0 {
		gone = []string{"this walk changed nothing in that step that it has not taken back"}
	}
	return done(out, strings.Join(gone, "; ")), nil
}

// newestFirst are the attempts of a step that are not taken back, the newest first; in a step that is done
// for several things, those for the one it is done for now.
func newestFirst(s *remedies.Scene, step string) []remedies.Made {
	made := s.Of(step)
	slices.Reverse(made)
	return slices.DeleteFunc(made, func(m remedies.Made) bool { return s.Item != "" && m.Item != "" && m.Item != s.Item })
}

// backOf is the plan that takes an attempt back; nil where nothing of it is left, and why says so.
func backOf(ctx context.Context, s *remedies.Scene, m *remedies.Made) (back *remedies.Plan, why string, err error) {
	if by, ok := m.By.(remedies.TakerBack); ok {
		back, err = by.TakeBack(ctx, s, m)
		if err != nil {
			return nil, "", err //nolint:wrapcheck // an action's words are for the engineer.
		}
		if back != nil && back.Preview.Done == "" {
			return back, "", nil
		}
		if back != nil {
			return nil, back.Preview.Done, nil
		}
		return nil, "nothing is left of " + m.Effect.What(), nil
	}
	r, ok := m.Effect.(remedies.Reversible)
	if !ok {
		out := &remedies.Plan{}
		out.Preview.Title = text.Clean("Take back " + m.Effect.What())
		return blocked(out, "this cannot be taken back: "+m.Effect.What()), "", nil
	}
	back, why, err = r.Reverse(ctx, s.Sites, m.Attempt, m.Receipt)
	if err != nil {
		return nil, "", err //nolint:wrapcheck // a place's words are for the engineer.
	}
	return back, why, nil
}

// Verify counts what is left of the step. It is over when nothing is; an object that is being
// deleted and still there is waited for.
func (takeBack) Verify(s *remedies.Scene) remedies.Watch {
	p, ok := s.Params.(*kb.TakeBack)
	if !ok {
		return broken(wrongParams("take-back", s.Params))
	}
	return func(ctx context.Context) (remedies.Progress, error) {
		var left []string
		for _, m := range newestFirst(s, p.Step) {
			back, _, err := backOf(ctx, s, &m)
			if err != nil {
				return remedies.Progress{}, err
			}
			if back != nil {
				left = append(left, m.Effect.What())
			}
		}
		if len(left) > 0 {
			words := fmt.Sprintf("%s to take back: %s", moreChanges(len(left)), remedies.List(left))
			return remedies.Progress{Done: true, Failed: text.Clean(words), Last: text.Clean(words)}, nil
		}
		for _, m := range s.Made {
			if _, ours := m.By.(takeBack); !ours {
				continue
			}
			words, err := stillGoing(ctx, s, &m)
			if err != nil || words != "" {
				return remedies.Progress{Last: words}, err
			}
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

// stillGoing says that an object that was deleted is still there; empty where it is gone.
func stillGoing(ctx context.Context, s *remedies.Scene, m *remedies.Made) (string, error) {
	e, ok := m.Effect.(*effect.Object)
	if !ok || e.Verb != effect.Delete {
		return "", nil
	}
	live, err := e.Live(ctx, s.Sites)
	if err != nil {
		return "", err
	}
	if live == nil || string(live.GetUID()) != e.UID {
		return "", nil
	}
	return text.Clean(e.Ref().String() + " is still there" + endingWords(s, live)), nil
}

func endingWords(s *remedies.Scene, u *unstructured.Unstructured) string {
	if words := ending(s, u); words != "" {
		return "; " + words
	}
	return ""
}
