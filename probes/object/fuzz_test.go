package object

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"vksmedic/model"
)

// FuzzRow feeds the object reader whatever JSON can hold: it must not panic, keep no message
// longer than MessageLimit, and return one of its two errors for what it does not read.
func FuzzRow(f *testing.F) {
	files, err := filepath.Glob("../../testdata/recorded/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no recorded objects: %v", err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, doc := range strings.Split(string(raw), "\n---\n") {
			if j, err := yaml.YAMLToJSON([]byte(doc)); err == nil {
				var u map[string]any
				if json.Unmarshal(j, &u) != nil {
					continue
				}
				items, ok := u["items"].([]any)
				if !ok {
					f.Add(j)
				}
				for _, i := range items {
					if one, err := json.Marshal(i); err == nil {
						f.Add(one)
					}
				}
			}
		}
	}
	f.Add([]byte(`{"kind":"Pod","metadata":{"name":"p"},"status":{"initContainerStatuses":[1,{}],"containerStatuses":[{"state":{"terminated":7}}]}}`))
	f.Add([]byte(`{"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"r"},"rules":[{"verbs":[1,"get"]},7]}`))
	f.Add([]byte(`{"kind":"Machine","metadata":{"name":1,"labels":[],"ownerReferences":{}},"status":{"conditions":{"type":"Ready"}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var u map[string]any
		if json.Unmarshal(raw, &u) != nil {
			return
		}
		o, err := Row(u)
		if err != nil {
			if !errors.Is(err, ErrNotObject) && !errors.Is(err, ErrUnknownKind) {
				t.Errorf("error %v", err)
			}
			return
		}
		m := o.GetMeta()
		if m.Kind == "" || m.Name == "" {
			t.Errorf("a row without a name: %+v", m)
		}
		var conds []model.Condition
		switch v := o.(type) {
		case *model.Machine:
			conds = slices.Concat(v.Conditions.New, v.Conditions.Old)
		case *model.Node:
			conds = v.Conditions
		case *model.VirtualMachine:
			conds = v.Conditions
		}
		for _, c := range conds {
			if c.Type == "" || len(c.Message) > MessageLimit+len("…") {
				t.Errorf("condition %q with %d bytes", c.Type, len(c.Message))
			}
		}
	})
}
