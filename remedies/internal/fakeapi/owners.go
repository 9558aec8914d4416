package fakeapi

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// owner is one entry of managedFields: who owns which fields.
type owner struct {
	manager string
	version string
	at      time.Time
	fields  map[string]bool
}

const (
	// maxManagers and ancientManager are the API server's: of more managers than that, the
	// oldest are filed together.
	maxManagers    = 10
	ancientManager = "ancient-changes"
	sep            = "\x00"
)

// leaves are the fields of an object by their paths. Lists are taken whole, as those of RBAC are.
func leaves(o map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range o {
		switch k {
		case "apiVersion", "kind", "status":
		case "metadata":
			m, _ := v.(map[string]any)
			for _, f := range []string{"labels", "annotations", "finalizers", "ownerReferences"} {
				if x, ok := m[f]; ok {
					addLeaves(out, "metadata"+sep+f, x)
				}
			}
		default:
			addLeaves(out, k, v)
		}
	}
	return out
}

func addLeaves(out map[string]any, path string, v any) {
	m, ok := v.(map[string]any)
	if !ok || len(m) == 0 {
		out[path] = v
		return
	}
	for k, x := range m {
		addLeaves(out, path+sep+k, x)
	}
}

// own is who owns what after a manager made after out of before.
func own(owners []owner, before, after map[string]any, manager, version string, now time.Time) []owner {
	was, is := leaves(before), leaves(after)
	out := make([]owner, 0, len(owners)+1)
	ours := owner{manager: manager, version: version, fields: map[string]bool{}}
	for _, o := range owners {
		o.fields = maps.Clone(o.fields)
		if o.manager == manager && o.version == version {
			ours = o
			continue
		}
		out = append(out, o)
	}
	changed := false
	for f, v := range is {
		if old, had := was[f]; had && reflect.DeepEqual(old, v) {
			continue
		}
		changed = true
		for i := range out {
			delete(out[i].fields, f)
		}
		ours.fields[f] = true
	}
	for f := range was {
		if _, still := is[f]; still {
			continue
		}
		changed = true
		delete(ours.fields, f)
		for i := range out {
			delete(out[i].fields, f)
		}
	}
	if changed {
		ours.at = now.Truncate(time.Second)
	}
	out = append(out, ours)
	out = slices.DeleteFunc(out, func(o owner) bool { return len(o.fields) == 0 })
	return capped(out)
}

// capped files the oldest managers together, where there are too many.
func capped(owners []owner) []owner {
	if len(owners) <= maxManagers {
		return owners
	}
	slices.SortFunc(owners, func(a, b owner) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.manager, b.manager))
	})
	// The first one that is merged gives the entry its place; each further one makes it one less.
	n := len(owners) - maxManagers + 1
	merged := owner{manager: ancientManager, version: owners[0].version, fields: map[string]bool{}}
	for _, o := range owners[:n] {
		maps.Copy(merged.fields, o.fields)
		merged.at = o.at
	}
	return append([]owner{merged}, owners[n:]...)
}

// managedFields are owners as they stand in an object.
func managedFields(owners []owner) []any {
	out := make([]any, 0, len(owners))
	for _, o := range owners {
		fields := map[string]any{}
		for _, f := range slices.Sorted(maps.Keys(o.fields)) {
			at := fields
			for _, p := range strings.Split(f, sep) {
				next, ok := at["f:"+p].(map[string]any)
				if !ok {
					next = map[string]any{}
					at["f:"+p] = next
				}
				at = next
			}
		}
		out = append(out, map[string]any{"manager": o.manager, "operation": "Update", "apiVersion": o.version,
			"time": o.at.UTC().Format(time.RFC3339), "fieldsType": "FieldsV1", "fieldsV1": fields})
	}
	return out
}
