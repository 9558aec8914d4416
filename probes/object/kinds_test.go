package object

import (
	"reflect"
	"strings"
	"testing"

	"vksmedic/model"
)

// Every kind has all that the program has to know of it, and its row is made by its entry.
func TestKindsAreComplete(t *testing.T) {
	names, resources, types := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, k := range kinds() {
		if names[k.Name] || resources[k.Resource] {
			t.Errorf("%s (%s) is there twice", k.Name, k.Resource)
		}
		names[k.Name], resources[k.Resource] = true, true
		if k.Name == "" || k.Resource == "" || k.Resource != strings.ToLower(k.Resource) || k.row == nil {
			t.Errorf("%+v: an entry needs a Name, a Resource in small letters and a row", k)
			continue
		}
		if k.Place != model.PlaceSupervisor && k.Place != model.PlaceCluster {
			t.Errorf("%s lives in %q: objects live on the Supervisor or in a workload cluster", k.Name, k.Place)
		}
		if (len(k.Groups) == 0) != (len(k.Versions) == 0) || k.Place == model.PlaceCluster && k.ByKind() {
			t.Errorf("%s: groups %v and versions %v go together, and a workload cluster's kind has both", k.Name, k.Groups, k.Versions)
		}
		apiVersions := []string{""}
		for _, g := range append(k.Groups, k.ReadIn...) {
			for _, v := range k.Versions {
				apiVersions = append(apiVersions, strings.TrimPrefix(g+"/"+v, "/"))
			}
		}
		if k.ByKind() {
			apiVersions = append(apiVersions, "containerregistry.vmware.com/v1alpha1")
		}
		for _, v := range apiVersions {
			u := map[string]any{"apiVersion": v, "kind": k.Name, "metadata": map[string]any{"name": "x", "namespace": "ns"}}
			o, err := Row(u)
			if err != nil {
				t.Errorf("%s in %q: %v", k.Name, v, err)
				continue
			}
			if m := o.GetMeta(); m.Kind != k.Name || m.Name != "x" {
				t.Errorf("%s in %q becomes %+v", k.Name, v, m)
			}
			types[reflect.TypeOf(o).String()] = true
			if k.Strip != nil {
				k.Strip(u) // It has to bear an object that has nothing to take out.
			}
			if k.Keep != nil {
				k.Keep(o)
			}
		}
		for _, v := range []string{"example.com/v1", "other.x-k8s.io/v1beta1"} {
			if _, err := Row(map[string]any{"apiVersion": v, "kind": k.Name, "metadata": map[string]any{"name": "x"}}); err == nil {
				t.Errorf("another product's %s of %s is read", k.Name, v)
			}
		}
		if got, ok := Named(k.Name); !ok || got.Resource != k.Resource {
			t.Errorf("%s is not found by its name", k.Name)
		}
	}
	if len(types) < 18 {
		t.Errorf("only %d types of rows", len(types))
	}
	for _, name := range []string{"Secret", "ConfigMap", "DockerMachine", ""} {
		if _, ok := Named(name); ok {
			t.Errorf("%q is looked at", name)
		}
	}
	if n := len(KindsIn(model.PlaceSupervisor)) + len(KindsIn(model.PlaceCluster)); n != len(kinds()) {
		t.Errorf("%d of %d kinds live somewhere", n, len(kinds()))
	}
}
