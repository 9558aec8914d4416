package model_test

import (
	"reflect"
	"testing"

	"vksmedic/model"
)

// Whatever a cluster, the inside of one, or a snapshot holds of rows is visited: captures are made of
// what is visited.
func TestPartsAreComplete(t *testing.T) {
	object := reflect.TypeFor[model.Object]()
	// fill puts one row into every field that holds rows, and returns how many those are.
	fill := func(v reflect.Value) int {
		n := 0
		for i := range v.NumField() {
			f := v.Field(i)
			typ := f.Type()
			switch {
			case typ.Kind() == reflect.Slice && typ.Elem().Implements(object):
				f.Set(reflect.Append(f, reflect.New(typ.Elem().Elem())))
			case typ.Kind() == reflect.Slice && reflect.PointerTo(typ.Elem()).Implements(object):
				f.Set(reflect.Append(f, reflect.Zero(typ.Elem())))
			case typ.Kind() == reflect.Pointer && typ.Implements(object):
				f.Set(reflect.New(typ.Elem()))
			default:
				continue
			}
			n++
		}
		return n
	}
	var c model.Cluster
	var w model.Workload
	var sn model.Snapshot
	for _, x := range []struct {
		name  string
		of    reflect.Value
		visit func(func(model.Object))
	}{
		{"Cluster", reflect.ValueOf(&c).Elem(), c.Parts},
		{"Workload", reflect.ValueOf(&w).Elem(), w.Parts},
		{"Snapshot", reflect.ValueOf(&sn).Elem(), sn.GeneralObjects},
	} {
		want, got := fill(x.of), map[reflect.Type]bool{}
		x.visit(func(o model.Object) { got[reflect.TypeOf(o)] = true })
		if want == 0 || len(got) != want {
			t.Errorf("%s holds %d kinds of rows, and %d are visited: %v; add the missing one to model/parts.go", x.name, want, len(got), got)
		}
	}
	// What is visited inside a cluster comes back by Add.
	var back model.Workload
	w.Parts(back.Add)
	if !reflect.DeepEqual(back.Nodes, w.Nodes) || len(back.Pods) != 1 || len(back.Budgets) != 1 || len(back.Attachments) != 1 {
		t.Errorf("%+v", back)
	}
}

func TestPlaces(t *testing.T) {
	web := model.ClusterRef{Namespace: "team-a", Name: "web"}
	sv := model.Supervisor{Context: "prod"}
	if !sv.Workload(web).Is(web) || sv.Place().Is(model.ClusterRef{}) || (model.Place{}).Is(model.ClusterRef{}) || model.OnNode("prod", web, "n").Is(web) {
		t.Error("only a cluster is a cluster")
	}
	ref := model.ObjectRef{Kind: "Node", Name: "n"}
	other := model.Supervisor{Context: "the same one, by another kubeconfig"}
	f := model.Finding{Subjects: []model.ObjectRef{ref.In(sv.Workload(web))}}
	for _, c := range []struct {
		ref  model.ObjectRef
		want bool
	}{
		{ref, true}, {ref.In(sv.Workload(web)), true}, {ref.In(other.Workload(web)), true},
		{ref.In(sv.Place()), false}, {ref.In(sv.Workload(model.ClusterRef{Namespace: "team-a", Name: "api"})), false},
		{model.ObjectRef{Kind: "Node", Name: "m"}, false}, {model.ObjectRef{Kind: "Machine", Name: "n"}, false},
	} {
		if f.About(c.ref) != c.want {
			t.Errorf("about %s in %s: %v, want %v", c.ref, c.ref.Place, !c.want, c.want)
		}
	}
	if ref.In(sv.Workload(web)) == ref.In(sv.Place()) || ref.In(sv.Place()).In(model.Place{}) != ref {
		t.Error("the place is part of a reference")
	}
}
