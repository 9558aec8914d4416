package effect

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/remedies"
)

// Takeable is something that can be taken from an object for a while and has to be given
// back: one entry of the allow-list. What stands in an annotation is a claim; only what is in
// the list is ever given back, and only as the list says.
type Takeable struct {
	// ID is its name in annotations, What the words for people, such as "patch on endpoints".
	ID, What string
	// Has says whether the object has it, Take takes it out, and Return puts it in. The two
	// change nothing else.
	Has          func(o map[string]any) bool
	Take, Return func(o map[string]any)
}

// claim is a debt as it stands in its annotation.
type claim struct {
	Takes string           `json:"takes"`
	For   model.ClusterRef `json:"for"`
	Who   string           `json:"who"`
	Began time.Time        `json:"began"` // of the walk.
	// Supervisor is what tells the Supervisor from others.
	Supervisor model.Marks `json:"supervisor"`
}

// Debts are the debts that an object's annotations claim, sorted by id. Claims that cannot be
// read are listed too, with nothing but their id: somebody has to look at them.
func Debts(u *unstructured.Unstructured, at model.Place) []remedies.Debt {
	notes := u.GetAnnotations()
	var out []remedies.Debt
	for _, k := range slices.Sorted(maps.Keys(notes)) {
		id, ok := strings.CutPrefix(k, model.DebtAnnotation)
		if !ok {
			continue
		}
		var c claim
		if json.Unmarshal([]byte(notes[k]), &c) != nil {
			c = claim{}
		}
		d := remedies.Debt{ID: id, Takes: c.Takes, Place: at, For: c.For, Who: text.Clean(c.Who), Since: c.Began, Supervisor: c.Supervisor,
			On: model.ObjectRef{Kind: u.GetKind(), Namespace: u.GetNamespace(), Name: u.GetName()}}
		for _, f := range u.GetManagedFields() {
			if f.Manager == id && f.Time != nil {
				d.Since = f.Time.Time // the server's clock.
			}
		}
		out = append(out, d)
	}
	return out
}

// TakeFrom is the write that takes something from an object and leaves the debt on it. What
// others have taken already stays taken, and the debt stands beside theirs. Where the object has
// not what is to be taken, and no debt for it says that it was taken, there is nothing to take:
// giving it back would give what was never there. The error is [remedies.ErrBlocked] then.
func TakeFrom(live *unstructured.Unstructured, base *Object, t Takeable, d remedies.Debt) (*Object, error) {
	want := Whole(live)
	switch {
	case t.Has(want):
		t.Take(want)
	case !slices.ContainsFunc(Debts(live, base.At), func(o remedies.Debt) bool { return o.Takes == t.ID }):
		return nil, remedies.Tell(remedies.ErrBlocked, base.Ref().String()+" does not have "+t.What+", and no debt on it says that it was taken: there is nothing to take, and nothing to give back")
	}
	b, err := json.Marshal(claim{Takes: t.ID, For: d.For, Who: d.Who, Began: d.Since.UTC().Truncate(time.Second), Supervisor: d.Supervisor})
	if err != nil {
		return nil, fmt.Errorf("cannot write down what is taken from %s: %w", base.Ref(), err)
	}
	u := &unstructured.Unstructured{Object: want}
	notes := u.GetAnnotations()
	if notes == nil {
		notes = map[string]string{}
	}
	notes[model.DebtAnnotation+d.ID] = string(b)
	u.SetAnnotations(notes)
	return base.Change(live, want), nil
}

// GiveBack is the write that takes a debt off an object, and gives back what was taken where
// no other debt for the same thing is left on it. It is nil where the object has no such debt, and
// paid says so. The error is [remedies.ErrBlocked] where the debt is there and does not say that
// this was taken.
func GiveBack(live *unstructured.Unstructured, base *Object, t Takeable, id string) (back *Object, paid string, err error) {
	debts := Debts(live, base.At)
	at := slices.IndexFunc(debts, func(d remedies.Debt) bool { return d.ID == id })
	switch {
	case at < 0:
		return nil, "the debt is paid: " + base.Ref().String() + " does not carry it any more", nil
	case debts[at].Takes != t.ID:
		return nil, "", remedies.Tell(remedies.ErrBlocked, "the annotation "+model.DebtAnnotation+id+" of "+base.Ref().String()+" does not say that "+t.What+" was taken: look at it by hand")
	}
	want := Whole(live)
	u := &unstructured.Unstructured{Object: want}
	left := u.GetAnnotations()
	delete(left, model.DebtAnnotation+id)
	if len(left) == 0 {
		left = nil
	}
	u.SetAnnotations(left)
	last := !slices.ContainsFunc(debts, func(d remedies.Debt) bool { return d.ID != id && d.Takes == t.ID })
	if last && !t.Has(want) {
		t.Return(want)
	}
	return base.Change(live, want), "", nil
}
