package effect

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/remedies"
)

// Reverse is what takes back what an attempt did, computed from the object as it is now: an
// object that we made is deleted, and of one that we changed, each field that still has the
// value that we gave it gets back what it had before. A deletion cannot be taken back.
func (c *Object) Reverse(ctx context.Context, s *remedies.Sites, a remedies.Attempt, got remedies.Receipt) (*remedies.Plan, string, error) {
	if c.Verb == Delete {
		return nil, "a deletion cannot be taken back", nil
	}
	if got.UID == "" {
		return nil, "it is not known whether this walk wrote " + c.Ref().String() + ", so it is not taken back", nil
	}
	live, err := c.Live(ctx, s)
	if err != nil {
		return nil, "", err
	}
	if live == nil || string(live.GetUID()) != got.UID {
		return nil, c.Ref().String() + " of this walk is gone already", nil
	}
	if c.Verb == Create {
		return c.Remove(live, a.Walk), "", nil
	}
	want := Whole(live)
	changed, kept := back(want, c.Was, c.Want)
	if !changed {
		return nil, "nothing of what this walk changed is left in " + c.Ref().String(), nil
	}
	p := &remedies.Plan{Effect: c.Change(live, want)}
	p.Preview.Title, p.Preview.Confirm = "Change "+c.Ref().Kind+" "+c.Name+" back", remedies.ConfirmKey
	p.Preview.TakeBack = "walk the article again"
	if kept {
		p.Preview.Warnings = append(p.Preview.Warnings, "others changed "+c.Ref().String()+" since; what they changed stays")
	}
	return p, "", nil
}

// Change is the write that makes the live object like want.
func (c *Object) Change(live *unstructured.Unstructured, want map[string]any) *Object {
	n := NewObject(c.At, Update, c.GVR(), c.Of, c.Namespace, c.Name).Over(live)
	n.Want = want
	return n
}

// Remove is the plan that deletes the live object. Where somebody else than the walk has
// written to it, or the walk did not make it, more goes than the walk brought: that cannot be
// taken back, so the object's name has to be typed.
func (c *Object) Remove(live *unstructured.Unstructured, walk string) *remedies.Plan {
	p := &remedies.Plan{Effect: NewObject(c.At, Delete, c.GVR(), c.Of, c.Namespace, c.Name).Over(live)}
	pv := &p.Preview
	pv.Title, pv.Confirm, pv.TakeBack = "Delete "+c.Of+" "+c.Name, remedies.ConfirmKey, "walk the article again"
	switch {
	case c.Verb == Create && onlyBy(live, remedies.MarkPrefix(walk)):
		return p
	case c.Verb == Create:
		pv.Warnings = append(pv.Warnings, "others wrote to "+c.Ref().String()+" since this walk made it; what they wrote goes with it")
	default:
		pv.Warnings = append(pv.Warnings, "this walk did not make "+c.Ref().String()+"; it is deleted whole, with what others wrote")
	}
	pv.Confirm, pv.ConfirmName, pv.TakeBack = remedies.ConfirmName, c.Name, ""
	return p
}

// back sets each field of live that still has the value of want back to what it was. kept says
// that others changed some of them since.
func back(live, was, want map[string]any) (changed, kept bool) {
	for _, k := range keys(was, want) {
		old, had := was[k]
		ours, have := want[k]
		now, there := live[k]
		switch {
		case had == have && reflect.DeepEqual(old, ours):
			continue // not changed by us.
		case isMap(old, had) && isMap(ours, have) && isMap(now, there) && there:
			sub, _ := now.(map[string]any)
			c, x := back(sub, asMap(old), asMap(ours))
			if len(sub) == 0 && !had {
				delete(live, k)
			}
			changed, kept = changed || c, kept || x
		case there == have && reflect.DeepEqual(now, ours):
			changed = true
			if had {
				live[k] = old
			} else {
				delete(live, k)
			}
		case there == had && reflect.DeepEqual(now, old):
			// It is as it was already.
		default:
			kept = true
		}
	}
	return changed, kept
}

// isMap says whether a value is a map, or is not there and can stand for an empty one.
func isMap(v any, there bool) bool {
	_, ok := v.(map[string]any)
	return ok || !there
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func keys(a, b map[string]any) []string {
	out := make([]string, 0, len(a)+len(b))
	for k := range a {
		out = append(out, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			out = append(out, k)
		}
	}
	return out
}
