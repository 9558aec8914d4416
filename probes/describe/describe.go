// Package describe writes a Kubernetes object for a person: as YAML without what only
// machines need, or in words with its conditions and events. It is used for objects of a
// Supervisor and of workload clusters alike. It is never given a Secret: its callers
// refuse them. The text stays as the cluster wrote it; the code that draws it cleans it
// (package model/text).
//
// Start reading at [Text].
package describe

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/probes/object"
)

// copies are annotations that repeat the whole object.
func copies() []string {
	return []string{"kubectl.kubernetes.io/last-applied-configuration", "cluster.x-k8s.io/conversion-data", "vmoperator.vmware.com/conversion"}
}

// YAML writes an object without managedFields and without the annotations that repeat it.
// The object is not changed.
func YAML(o map[string]any) (string, error) {
	return marshal(tidy(o))
}

// tidy returns the object without those fields. What stays the same is shared with the
// original, which is not changed.
func tidy(o map[string]any) map[string]any {
	out := maps.Clone(o)
	meta, ok := o["metadata"].(map[string]any)
	if !ok {
		return out
	}
	meta = maps.Clone(meta)
	delete(meta, "managedFields")
	if a, ok := meta["annotations"].(map[string]any); ok {
		a = maps.Clone(a)
		for _, c := range copies() {
			delete(a, c)
		}
		if len(a) == 0 {
			delete(meta, "annotations")
		} else {
			meta["annotations"] = a
		}
	}
	out["metadata"] = meta
	return out
}

// eventLimit is how many events are asked for.
const eventLimit = 500

// Events reads the events about an object, the newest last. Events written through
// events.k8s.io are the same objects and come with the others.
func Events(ctx context.Context, c dynamic.Interface, about *unstructured.Unstructured) ([]*model.Event, error) {
	sel := fields.Set{"involvedObject.kind": about.GetKind(), "involvedObject.name": about.GetName()}.AsSelector().String()
	// Events about an object without a namespace, such as a node, may be in any namespace.
	events := c.Resource(schema.GroupVersionResource{Version: "v1", Resource: "events"}).Namespace(about.GetNamespace())
	list, err := events.List(ctx, metav1.ListOptions{FieldSelector: sel, Limit: eventLimit})
	if err != nil {
		return nil, fmt.Errorf("cannot list events: %w", err)
	}
	var out []*model.Event
	for i := range list.Items {
		if o, err := object.Row(list.Items[i].Object); err == nil {
			if e, ok := o.(*model.Event); ok {
				out = append(out, e)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *model.Event) int { return a.Last.Compare(b.Last) })
	return out, nil
}

// Text writes an object in words: its kind and name, its conditions, spec and status,
// and its events. missing says why events could not be read; empty when they could. A
// zero now leaves ages out.
func Text(o map[string]any, events []*model.Event, missing string, now time.Time) string {
	w := &writer{now: now}
	u := &unstructured.Unstructured{Object: o}
	w.metadata(u)
	w.conditions("Conditions", o, "status", "conditions")
	w.conditions("Conditions (v1beta2)", o, "status", "v1beta2", "conditions")
	w.conditions("Conditions (v1beta1)", o, "status", "deprecated", "v1beta1", "conditions")
	w.part("Spec", o["spec"])
	w.part("Status", withoutConditions(o["status"]))
	w.part("Subsets", o["subsets"])
	w.events(events, missing)
	return w.b.String()
}

type writer struct {
	b   strings.Builder
	now time.Time
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

func (w *writer) field(name, value string) {
	if value != "" {
		w.line("%-14s%s", name+":", value)
	}
}

func (w *writer) metadata(u *unstructured.Unstructured) {
	w.field("Name", u.GetName())
	w.field("Namespace", u.GetNamespace())
	w.field("Kind", u.GetKind()+" ("+u.GetAPIVersion()+")")
	w.field("Created", w.when(u.GetCreationTimestamp().Time))
	if d := u.GetDeletionTimestamp(); d != nil {
		w.field("Deleting", w.when(d.Time))
	}
	w.table("Labels", u.GetLabels())
	a := u.GetAnnotations()
	for _, c := range copies() {
		delete(a, c)
	}
	w.table("Annotations", a)
	for _, o := range u.GetOwnerReferences() {
		w.field("Owner", o.Kind+" "+o.Name)
	}
	w.field("Finalizers", strings.Join(u.GetFinalizers(), ", "))
}

func (w *writer) table(name string, m map[string]string) {
	for i, k := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			name = ""
		}
		label := ""
		if name != "" {
			label = name + ":"
		}
		w.line("%-14s%s=%s", label, k, m[k])
	}
}

func (w *writer) when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	s := t.Local().Format(time.DateTime)
	if !w.now.IsZero() {
		s += " (" + text.Since(w.now, t) + " ago)"
	}
	return s
}

func (w *writer) conditions(title string, o map[string]any, path ...string) {
	list, _, err := unstructured.NestedSlice(o, path...)
	if err != nil || len(list) == 0 {
		return
	}
	w.line("\n%s:", title)
	for _, i := range list {
		c, ok := i.(map[string]any)
		if !ok {
			continue
		}
		get := func(k string) string { s, _ := c[k].(string); return s }
		s := fmt.Sprintf("  %s is %s", get("type"), cmp.Or(get("status"), "not set"))
		if r := get("reason"); r != "" && r != get("type") && r != get("status") {
			s += ": " + r
		}
		if at, err := time.Parse(time.RFC3339, get("lastTransitionTime")); err == nil {
			s += ", since " + w.when(at)
		}
		w.line("%s", s)
		for l := range strings.Lines(get("message")) {
			w.line("      %s", strings.TrimRight(l, "\r\n"))
		}
	}
}

func withoutConditions(status any) any {
	m, ok := status.(map[string]any)
	if !ok {
		return status
	}
	m = maps.Clone(m)
	for _, k := range []string{"conditions", "v1beta2", "deprecated"} {
		delete(m, k)
	}
	return m
}

func (w *writer) part(title string, v any) {
	if m, ok := v.(map[string]any); v == nil || ok && len(m) == 0 {
		return
	}
	out, err := marshal(v)
	if err != nil {
		w.line("\n%s: not shown: %v", title, err)
		return
	}
	w.line("\n%s:", title)
	for l := range strings.Lines(out) {
		w.line("  %s", strings.TrimRight(l, "\n"))
	}
}

func (w *writer) events(events []*model.Event, missing string) {
	switch {
	case missing != "":
		w.line("\nEvents: not known: %s", missing)
		return
	case len(events) == 0:
		w.line("\nEvents: none")
		return
	}
	w.line("\nEvents:")
	for _, e := range events {
		times := ""
		if e.Count > 1 {
			times = fmt.Sprintf(" (%d times)", e.Count)
		}
		w.line("  %s  %s %s%s", w.when(e.Last), e.Type, e.Reason, times)
		for l := range strings.Lines(e.Message) {
			w.line("      %s", strings.TrimRight(l, "\r\n"))
		}
	}
}
