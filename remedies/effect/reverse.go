package effect

import (
	"cmp"
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/model/text"
	"vksmedic/remedies"
)

// Reverse is what takes back what an attempt did, computed from the object as it is now: an
// object that we made is deleted, and of one that we changed, each field that still has the
// value that we gave it gets back what it had before. A deletion cannot be taken back.
func (c *Object) Reverse(ctx context.Context, s *remedies.Sites, a remedies.Attempt, got remedies.Receipt) (remedies.Back, error) {
	ref := c.Ref().String()
	if c.Verb == Delete {
		return remedies.Back{Left: remedies.LeftFinal, Words: "a deletion cannot be taken back: " + c.What()}, nil
	}
	live, err := c.Live(ctx, s)
	if err != nil {
		return remedies.Back{}, err
	}
	if over := c.Settled(live, got); over != nil {
		return *over, nil
	}
	if c.Verb == Create {
		return remedies.Back{Left: remedies.LeftSome, Plan: c.Remove(live, a.Walk)}, nil
	}
	want := Whole(live)
	changed, kept := back(want, c.Was, c.Want)
	switch {
	case !changed && kept:
		return remedies.Back{Left: remedies.LeftUnknown,
			Words: "others changed " + ref + " since, so that it cannot be told what is left of this walk's change; look by hand"}, nil
	case !changed:
		return remedies.Back{Left: remedies.LeftNothing, Words: "nothing of what this walk changed is left in " + ref}, nil
	}
	p := &remedies.Plan{Effect: c.Change(live, want)}
	p.Preview.Title, p.Preview.Confirm = "Change "+c.Ref().Kind+" "+c.Name+" back", remedies.ConfirmKey
	p.Preview.TakeBack = "walk the article again"
	if kept {
		p.Preview.Warnings = append(p.Preview.Warnings, "others changed "+ref+" since; what they changed stays")
	}
	return remedies.Back{Left: remedies.LeftSome, Plan: p}, nil
}

// Settled is what is left of the write where the object as it is now, nil for none, settles that:
// it is gone, or being deleted, or it is not known whether we wrote it, since there is no
// receipt. Nil means that its fields have to be looked at.
func (c *Object) Settled(live *unstructured.Unstructured, got remedies.Receipt) *remedies.Back {
	ref := c.Ref().String()
	uid := cmp.Or(got.UID, c.UID)
	switch {
	case live == nil, uid != "" && string(live.GetUID()) != uid:
		return &remedies.Back{Left: remedies.LeftNothing, Words: ref + " of this walk is gone already"}
	case c.Verb == Create && live.GetDeletionTimestamp() != nil:
		return &remedies.Back{Left: remedies.LeftEnding, Words: ref + " is still there; " + Ending(live)}
	case got.UID != "":
		return nil
	}
	if asWas, asWanted, other := compare(bound(live.Object), bound(c.Was), bound(c.Want)); c.Verb == Update && asWas > 0 && asWanted == 0 && other == 0 {
		return &remedies.Back{Left: remedies.LeftNothing, Words: ref + " is as it was before this walk"}
	}
	return &remedies.Back{Left: remedies.LeftUnknown, Words: "it cannot be told whether this walk wrote " + ref + "; look by hand"}
}

// StillGoing says that an object that was deleted is still there.
func (c *Object) StillGoing(ctx context.Context, s *remedies.Sites) (string, error) {
	if c.Verb != Delete {
		return "", nil
	}
	live, err := c.Live(ctx, s)
	if err != nil || live == nil || string(live.GetUID()) != c.UID {
		return "", err
	}
	return c.Ref().String() + " is still there; " + Ending(live), nil
}

// Ending says since when an object is being deleted, and what it waits for.
func Ending(u *unstructured.Unstructured) string {
	at := u.GetDeletionTimestamp()
	if at == nil {
		return "its deletion has not begun"
	}
	words := "it is being deleted since " + at.UTC().Format("15:04:05Z")
	if f := u.GetFinalizers(); len(f) > 0 {
		words += ", and waits for " + text.Clean(text.List(f, 3))
	}
	return words
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
