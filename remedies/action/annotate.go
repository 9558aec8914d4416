package action

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/kb"
)

// annotate sets annotations of an object; the others stay.
type annotate struct{}

var _ remedies.Changer = annotate{}

// Kind is change.
func (annotate) Kind() remedies.StepKind { return remedies.StepChange }

// Plan is a write of the live object with the annotations.
func (annotate) Plan(ctx context.Context, s *remedies.Scene) (*remedies.Plan, error) {
	p, ok := s.Params.(*kb.Annotate)
	if !ok {
		return nil, wrongParams("annotate", s.Params)
	}
	out := &remedies.Plan{}
	pv := &out.Preview
	pv.Title = text.Clean("Annotate " + p.Object.Kind + " " + p.Object.Name)
	o, live, err := there(ctx, s, out, namedBy(&p.Object))
	if err != nil || live == nil {
		return out, err
	}
	ref := o.ref().String()
	left := missing(live, p.Annotations)
	if len(left) == 0 {
		return done(out, ref+" has "+annotationWords(p.Annotations)+" already"), nil
	}
	want := &unstructured.Unstructured{Object: effect.Whole(live)}
	notes := want.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	for _, k := range left {
		if was, ok := notes[k]; ok {
			pv.Warnings = append(pv.Warnings, text.Clean(fmt.Sprintf("annotation %s is there with the value %q, which is replaced", k, text.Limit(was, valueLimit))))
		}
		notes[k] = p.Annotations[k]
	}
	want.SetAnnotations(notes)
	out.Effect = o.write(effect.Update).Change(live, want.Object)
	pv.Confirm, pv.TakeBack = remedies.ConfirmKey, "the annotations get back what they were"
	return out, reach(ctx, s, out)
}

// there reads the object that a step changes. Where it returns no object, the plan says why
// nothing can be done.
func there(ctx context.Context, s *remedies.Scene, p *remedies.Plan, n named) (*spot, *unstructured.Unstructured, error) {
	o, err := locate(ctx, s, n)
	if words := asUnfit(err); words != "" {
		blocked(p, words)
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	live, err := o.live(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	if live == nil {
		blocked(p, o.ref().String()+" is not there")
		return o, nil, nil
	}
	if e := ending(s, live); e != "" {
		p.Preview.Warnings = append(p.Preview.Warnings, o.ref().String()+" does not stay: its deletion has begun")
	}
	return o, live, nil
}

// missing are the annotations that an object does not have with their values, sorted.
func missing(u *unstructured.Unstructured, want map[string]string) []string {
	have := u.GetAnnotations()
	var out []string
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if v, ok := have[k]; !ok || v != want[k] {
			out = append(out, k)
		}
	}
	return out
}

func annotationWords(notes map[string]string) string {
	names := slices.Sorted(maps.Keys(notes))
	if len(names) == 1 {
		return "annotation " + names[0]
	}
	return "annotations " + remedies.List(names)
}

// Verify looks whether the annotations are there.
func (annotate) Verify(s *remedies.Scene) remedies.Watch {
	p, ok := s.Params.(*kb.Annotate)
	if !ok {
		return broken(wrongParams("annotate", s.Params))
	}
	return remedies.Once(func(ctx context.Context) (bool, string, error) {
		o, err := locate(ctx, s, namedBy(&p.Object))
		if err != nil {
			return false, "", err
		}
		live, err := o.live(ctx, s)
		if err != nil {
			return false, "", err
		}
		ref := text.Clean(o.ref().String())
		if live == nil {
			return false, ref + " is not there", nil
		}
		if left := missing(live, p.Annotations); len(left) > 0 {
			return false, ref + " does not have " + remedies.List(left) + " as it should be", nil
		}
		return true, text.Clean(ref + " has " + annotationWords(p.Annotations)), nil
	})
}
