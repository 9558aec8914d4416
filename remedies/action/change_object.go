package action

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/kb"
)

// changeObject creates an object, or sets fields of one that is there.
type changeObject struct{}

var _ remedies.Changer = changeObject{}

// Kind is change.
func (changeObject) Kind() remedies.StepKind { return remedies.StepChange }

// manifest is an article's object as it would be sent.
type manifest struct {
	object map[string]any
	named  named
}

func manifestOf(p *kb.ChangeObject) (manifest, error) {
	m := manifest{object: runtime.DeepCopyJSON(p.Object)}
	u := &unstructured.Unstructured{Object: m.object}
	gv, err := schema.ParseGroupVersion(u.GetAPIVersion())
	if err != nil {
		return m, unfitf("apiVersion %q cannot be read", u.GetAPIVersion())
	}
	m.named = named{group: gv.Group, version: gv.Version, kind: u.GetKind(), namespace: u.GetNamespace(), name: u.GetName(), inCluster: p.In == inCluster}
	if m.named.kind == "" || m.named.name == "" {
		return m, unfitf("the object has no kind or no name")
	}
	return m, nil
}

// inCluster is the value of `in` for the workload cluster.
const inCluster = "cluster"

// Plan creates the object, or merges the fields into the live one.
func (changeObject) Plan(ctx context.Context, s *remedies.Scene) (*remedies.Plan, error) {
	p, ok := s.Params.(*kb.ChangeObject)
	if !ok {
		return nil, wrongParams("change-object", s.Params)
	}
	out := &remedies.Plan{}
	m, err := manifestOf(p)
	if words := asUnfit(err); words != "" {
		return blocked(out, words), nil
	}
	if p.Mode == kb.ModeMerge {
		return out, m.merge(ctx, s, out)
	}
	return out, m.create(ctx, s, out)
}

func (m *manifest) create(ctx context.Context, s *remedies.Scene, p *remedies.Plan) error {
	pv := &p.Preview
	pv.Title = text.Clean("Create " + m.named.kind + " " + m.named.name)
	o, err := locate(ctx, s, m.named)
	if words := asUnfit(err); words != "" {
		blocked(p, words)
		return nil
	}
	if err != nil {
		return err
	}
	live, err := o.live(ctx, s)
	if err != nil {
		return err
	}
	ref := o.ref().String()
	if live == nil {
		e := o.write(effect.Create)
		e.Want = withoutNulls(m.object)
		u := &unstructured.Unstructured{Object: e.Want}
		u.SetNamespace(o.namespace)
		p.Effect = e
		pv.Confirm, pv.TakeBack = remedies.ConfirmKey, "delete it again"
		return reach(ctx, s, p)
	}
	differs := differences(withoutNulls(m.object), live.Object, "")
	switch {
	case live.GetDeletionTimestamp() != nil:
		blocked(p, ref+" is there and being deleted; look again when it is gone")
	case len(differs) == 0:
		done(p, ref+" is there already, as it is wanted")
	default:
		blocked(p, ref+" is there already and is another: "+firstOf(differs))
	}
	return nil
}

func (m *manifest) merge(ctx context.Context, s *remedies.Scene, p *remedies.Plan) error {
	pv := &p.Preview
	pv.Title = text.Clean("Change " + m.named.kind + " " + m.named.name)
	o, live, err := there(ctx, s, p, m.named)
	if err != nil || live == nil {
		return err
	}
	if len(differences(m.fields(), live.Object, "")) == 0 {
		done(p, o.ref().String()+" is as it is wanted already")
		return nil
	}
	want := effect.Whole(live)
	for _, at := range mergeInto(want, m.fields(), "") {
		pv.Warnings = append(pv.Warnings, text.Clean("the list "+at+" is replaced whole"))
	}
	p.Effect = o.write(effect.Update).Change(live, want)
	pv.Confirm, pv.TakeBack = remedies.ConfirmKey, "each field that is still as this step made it gets back what it was"
	return reach(ctx, s, p)
}

// fields are what is merged: the manifest without what names the object.
func (m *manifest) fields() map[string]any {
	f := runtime.DeepCopyJSON(m.object)
	delete(f, "apiVersion")
	delete(f, "kind")
	for _, name := range []string{"name", "namespace", "uid", "resourceVersion"} {
		unstructured.RemoveNestedField(f, "metadata", name)
	}
	return f
}

// mergeInto sets fields of an object: a map is merged, a list or a value replaced, and a null
// takes the field away. It returns where a list with something in it was replaced.
func mergeInto(o, fields map[string]any, at string) []string {
	var lists []string
	for _, k := range sorted(fields) {
		v := fields[k]
		here := at + "." + k
		sub, isMap := v.(map[string]any)
		was, wasMap := o[k].(map[string]any)
		switch {
		case v == nil:
			delete(o, k)
		case isMap && wasMap:
			lists = append(lists, mergeInto(was, sub, here)...)
		case isMap:
			o[k] = withoutNulls(sub)
		default:
			if l, ok := o[k].([]any); ok && len(l) > 0 && !equal(v, o[k]) {
				lists = append(lists, here)
			}
			o[k] = v
		}
	}
	return lists
}

// withoutNulls is a copy of an object without its nulls, which the server drops too.
func withoutNulls(o map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range o {
		switch v := v.(type) {
		case nil:
		case map[string]any:
			out[k] = withoutNulls(v)
		default:
			out[k] = v
		}
	}
	return out
}

// differences says where an object does not have the fields that are wanted. What it has beside
// them, such as the server's defaults, does not count.
func differences(want, have map[string]any, at string) []string {
	var out []string
	for _, k := range sorted(want) {
		here := at + "." + k
		w, h := want[k], have[k]
		sub, isMap := w.(map[string]any)
		hasSub, hasMap := h.(map[string]any)
		switch {
		case w == nil && h == nil, equal(w, h):
		case isMap && hasMap:
			out = append(out, differences(sub, hasSub, here)...)
		case isMap && h == nil && len(withoutNulls(sub)) == 0:
			// An empty map, and a field that is to be away, are there when nothing is.
		case h == nil:
			out = append(out, here+" is not there")
		case w == nil:
			out = append(out, here+" is there")
		default:
			out = append(out, fmt.Sprintf("%s is %s, not %s", here, short(h), short(w)))
		}
	}
	return out
}

// equal compares a wanted value with one that is there. In lists each item has to have the
// wanted fields, in their order.
func equal(want, have any) bool {
	switch w := want.(type) {
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return len(w) == 0 && have == nil
		}
		for i := range w {
			if !equal(w[i], h[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		h, ok := have.(map[string]any)
		return ok && len(differences(w, h, "")) == 0
	case int64:
		if h, ok := have.(float64); ok {
			return float64(w) == h
		}
	case float64:
		if h, ok := have.(int64); ok {
			return w == float64(h)
		}
	}
	return want == have
}

func sorted(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func short(v any) string {
	const limit = 80
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%q", text.Limit(text.Clean(s), limit))
	}
	return text.Limit(valueText(v), limit)
}

// firstOf are the first of some differences, with how many more there are.
func firstOf(differs []string) string {
	const shown = 3
	if len(differs) <= shown {
		return strings.Join(differs, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(differs[:shown], "; "), len(differs)-shown)
}

// Verify looks whether the object has the fields of the article.
func (changeObject) Verify(s *remedies.Scene) remedies.Watch {
	p, ok := s.Params.(*kb.ChangeObject)
	if !ok {
		return broken(wrongParams("change-object", s.Params))
	}
	return remedies.Once(func(ctx context.Context) (bool, string, error) {
		m, err := manifestOf(p)
		if err != nil {
			return false, "", err
		}
		o, err := locate(ctx, s, m.named)
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
		if differs := differences(m.fields(), live.Object, ""); len(differs) > 0 {
			return false, text.Clean(ref + " is not as it is wanted: " + firstOf(differs)), nil
		}
		if e := ending(s, live); e != "" {
			return false, ref + " is as it is wanted, but does not stay: " + e, nil
		}
		return true, ref + " is as it is wanted", nil
	})
}
