package action

import (
	"context"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/internal/fakeapi"
	"vksmedic/remedies/kb"
)

func configMaps() schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
}

func asked(value string) *kb.Annotate {
	return &kb.Annotate{Object: theMachine(), Annotations: map[string]string{"example.com/asked": value, "example.com/who": "ana"}}
}

func note(x *site) *unstructured.Unstructured {
	return x.sup.Get("", "ConfigMap", "team-a", "note")
}

func manifestWith(data map[string]any) kb.Manifest {
	return kb.Manifest{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "note", "labels": map[string]any{"a": "b"}}, "data": data}
}

func TestAnnotate(t *testing.T) {
	x := newSite(t)
	x.change(func(u *unstructured.Unstructured) {
		u.SetAnnotations(map[string]string{"example.com/who": "bob", "other": "stays"})
	})
	p := x.plan(annotate{}, asked("yes"))
	o := object(p)
	if o == nil || o.Verb != effect.Update || o.UID != x.s.Target.UID || o.ResourceVersion == "" || p.Preview.Confirm != remedies.ConfirmKey || p.Wide {
		t.Fatalf("the plan: %+v", p)
	}
	has(t, "warnings", strings.Join(p.Preview.Warnings, "\n"), `annotation example.com/who is there with the value "bob", which is replaced`)
	x.nothingWritten()
	if v := x.verify(annotate{}, asked("yes")); v.Failed == "" {
		t.Errorf("verified before it was made: %+v", v)
	}
	x.apply(annotate{}, "note", p)
	notes := x.sup.Get(capi, "Machine", "team-a", "web-1").GetAnnotations()
	if notes["example.com/asked"] != "yes" || notes["example.com/who"] != "ana" || notes["other"] != "stays" {
		t.Errorf("annotations %v", notes)
	}
	if v := x.verify(annotate{}, asked("yes")); !v.Done || v.Failed != "" {
		t.Errorf("verify: %+v", v)
	}
	if p := x.plan(annotate{}, asked("yes")); p.Effect != nil || p.Preview.Done != "Machine team-a/web-1 has annotations example.com/asked and example.com/who already" {
		t.Errorf("once more: %+v", p.Preview)
	}
	if v := x.verify(annotate{}, asked("no")); !v.Done || v.Failed != "Machine team-a/web-1 does not have example.com/asked as it should be" {
		t.Errorf("another value: %+v", v)
	}

	back := x.plan(takeBack{}, &kb.TakeBack{Step: "note"})
	x.apply(takeBack{}, "forget", back)
	notes = x.sup.Get(capi, "Machine", "team-a", "web-1").GetAnnotations()
	if _, there := notes["example.com/asked"]; there || notes["example.com/who"] != "bob" || notes["other"] != "stays" {
		t.Errorf("taken back: %v", notes)
	}
}

// What is written is bound to what was read: a change in between is refused.
func TestAnnotateIsBound(t *testing.T) {
	x := newSite(t)
	p := x.plan(annotate{}, asked("yes"))
	x.change(func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"new": "label"}) })
	if _, err := p.Effect.Send(t.Context(), x.s.Sites, x.s.Next); err == nil {
		t.Error("it was written over a change of another")
	}
	if x.sup.Get(capi, "Machine", "team-a", "web-1").GetAnnotations() != nil {
		t.Error("it was stored")
	}
}

func TestAnnotateCannot(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(x *site)
		object  kb.Object
		blocked string
		err     string
	}{
		"not there":  {object: kb.Object{Group: capi, Kind: "Machine", Name: "web-9"}, blocked: "Machine team-a/web-9 is not there"},
		"not served": {object: kb.Object{Group: "example.com", Kind: "Machine", Name: "web-1"}, blocked: "the Supervisor does not serve Machine.example.com"},
		"not known":  {object: kb.Object{Group: capi, Kind: "Machine", Name: kb.NotKnown}, blocked: "the finding does not say which Machine is meant: (not known)"},
		"a Secret":   {object: kb.Object{Kind: "Secret", Name: "web-kubeconfig"}, blocked: "Secrets are neither shown nor changed"},
		"no answer": {object: theMachine(), err: "cannot ask the Supervisor what it serves: ",
			change: func(x *site) {
				x.sup.Engineer.Fault = failing(fakeapi.Refused)
			}},
		"discovery that is no API's": {object: theMachine(), err: "cannot ask the Supervisor what it serves: ",
			change: func(x *site) {
				x.sup.Engineer.Fault = failing(fakeapi.NotServed)
			}},
		"forbidden": {object: theMachine(), err: "cannot read Machine team-a/web-1: ",
			change: func(x *site) { x.sup.Deny(fakeapi.Denial{Verb: "get"}) }},
		"no way in": {object: theMachine(), err: "cannot ask the Supervisor what it serves: no way in was given",
			change: func(x *site) { x.s.Sites.Discovery = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			x := newSite(t)
			if tt.change != nil {
				tt.change(x)
			}
			x.s.Params = &kb.Annotate{Object: tt.object, Annotations: map[string]string{"a": "b"}}
			p, err := annotate{}.Plan(t.Context(), x.s)
			if (err != nil) != (tt.err != "") || (err != nil && !strings.HasPrefix(err.Error(), tt.err)) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if err == nil && (p.Effect != nil || p.Preview.Blocked != tt.blocked) {
				t.Errorf("%+v, want %q", p.Preview, tt.blocked)
			}
			x.nothingWritten()
		})
	}
}

// What reaches beyond the cluster is confirmed with a name, and an own article may not do it.
func TestReach(t *testing.T) {
	for name, tt := range map[string]struct {
		put              *unstructured.Unstructured
		object           kb.Object
		wide, ownMay     bool
		reaches, confirm string
	}{
		"in the vSphere Namespace": {object: theMachine(), ownMay: true},
		"of another cluster": {put: labelled(fakeapi.Object(capi+"/v1beta2", "Machine", "team-a", "db-1"), "db"), object: kb.Object{Group: capi, Kind: "Machine", Name: "db-1"},
			ownMay: true, reaches: "Machine team-a/db-1 belongs to cluster team-a/db", confirm: "db-1"},
		"another cluster itself": {put: fakeapi.Object(capi+"/v1beta2", "Cluster", "team-a", "db"), object: kb.Object{Group: capi, Kind: "Cluster", Name: "db"},
			ownMay: true, reaches: "Cluster team-a/db belongs to cluster team-a/db", confirm: "db"},
		"the cluster itself": {object: kb.Object{Group: capi, Kind: "Cluster", Name: "web"}, ownMay: true},
		"of another cluster by its spec": {put: withSpec(fakeapi.Object(capi+"/v1beta2", "Machine", "team-a", "db-1"), "db"), object: kb.Object{Group: capi, Kind: "Machine", Name: "db-1"},
			ownMay: true, reaches: "Machine team-a/db-1 belongs to cluster team-a/db", confirm: "db-1"},
		"in another vSphere Namespace": {put: fakeapi.Object("v1", "ConfigMap", "team-b", "note"), object: kb.Object{Kind: "ConfigMap", Namespace: "team-b", Name: "note"},
			wide: true, confirm: "note", reaches: "ConfigMap team-b/note is not in the vSphere Namespace of the cluster"},
		"in no namespace": {put: fakeapi.Object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "r"), object: kb.Object{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "r"},
			wide: true, confirm: "r", reaches: "ClusterRole r belongs to no vSphere Namespace: it counts for the whole Supervisor"},
		"a namespace given for a kind that has none": {put: fakeapi.Object("rbac.authorization.k8s.io/v1", "ClusterRole", "", "r"),
			object: kb.Object{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Namespace: "team-a", Name: "r"},
			wide:   true, confirm: "r", reaches: "ClusterRole r belongs to no vSphere Namespace: it counts for the whole Supervisor"},
		"inside the cluster": {object: kb.Object{Kind: "Node", Name: "web-1", In: "cluster"}},
	} {
		t.Run(name, func(t *testing.T) {
			x := newSite(t)
			if tt.put != nil {
				x.sup.Put("kubectl", tt.put)
			}
			params := &kb.Annotate{Object: tt.object, Annotations: map[string]string{"a": "b"}}
			p := x.plan(annotate{}, params)
			if p.Wide != tt.wide || strings.Join(p.Preview.Reaches, "\n") != tt.reaches || p.Preview.ConfirmName != tt.confirm || (p.Preview.Confirm == remedies.ConfirmName) != (tt.confirm != "") {
				t.Errorf("%+v", p)
			}
			x.s.Own = true
			if p := x.plan(annotate{}, params); (p.Effect != nil) != tt.ownMay || (p.Preview.Blocked == "") != tt.ownMay {
				t.Errorf("an own article: %+v", p)
			}
		})
	}
}

// An object that names no cluster itself belongs to the one that its owners belong to; where that
// cannot be read it is not taken for this cluster's.
func TestReachByOwners(t *testing.T) {
	owned := func(u *unstructured.Unstructured, by ...*unstructured.Unstructured) *unstructured.Unstructured {
		var refs []metav1.OwnerReference
		for _, o := range by {
			refs = append(refs, metav1.OwnerReference{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName(), UID: o.GetUID()})
		}
		u.SetOwnerReferences(refs)
		return u
	}
	machine := func(name string) *unstructured.Unstructured {
		return fakeapi.Object(capi+"/v1beta2", "Machine", "team-a", name)
	}
	configMap := func(name string) *unstructured.Unstructured {
		return fakeapi.Object("v1", "ConfigMap", "team-a", name)
	}
	const other, unknown = "ConfigMap team-a/note belongs to cluster team-a/db", "which cluster ConfigMap team-a/note belongs to could not be read: "
	for name, tt := range map[string]struct {
		// owners puts the owners of the ConfigMap.
		owners  func(x *site) []*unstructured.Unstructured
		reaches string
	}{
		"nobody": {func(*site) []*unstructured.Unstructured { return nil }, ""},
		"a Machine of the cluster": {func(x *site) []*unstructured.Unstructured {
			return []*unstructured.Unstructured{x.sup.Get(capi, "Machine", "team-a", "web-1")}
		}, ""},
		"another cluster": {func(x *site) []*unstructured.Unstructured {
			return []*unstructured.Unstructured{x.sup.Put("kubectl", fakeapi.Object(capi+"/v1beta2", "Cluster", "team-a", "db"))}
		}, other},
		"a Machine of another cluster": {func(x *site) []*unstructured.Unstructured {
			return []*unstructured.Unstructured{x.sup.Put("capi", labelled(machine("db-1"), "db"))}
		}, other},
		"what a Machine of another cluster owns": {func(x *site) []*unstructured.Unstructured {
			m := x.sup.Put("capi", withSpec(machine("db-1"), "db"))
			return []*unstructured.Unstructured{x.sup.Put("capi", owned(configMap("between"), m))}
		}, other},
		"one of this cluster and one of another": {func(x *site) []*unstructured.Unstructured {
			return []*unstructured.Unstructured{x.sup.Get(capi, "Machine", "team-a", "web-1"), x.sup.Put("capi", labelled(machine("db-1"), "db"))}
		}, other},
		"what nobody owns": {func(x *site) []*unstructured.Unstructured {
			return []*unstructured.Unstructured{x.sup.Put("kubectl", configMap("between"))}
		}, ""},
		"an owner that is gone": {func(x *site) []*unstructured.Unstructured {
			m := x.sup.Put("capi", labelled(machine("db-1"), "db"))
			x.sup.Remove(capi, "Machine", "team-a", "db-1")
			return []*unstructured.Unstructured{m}
		}, unknown + "its owner Machine db-1 is not there"},
		"an owner in whose place another is": {func(x *site) []*unstructured.Unstructured {
			m := x.sup.Put("capi", labelled(machine("db-1"), "db"))
			x.sup.Remove(capi, "Machine", "team-a", "db-1")
			x.sup.Put("capi", labelled(machine("db-1"), "web"))
			return []*unstructured.Unstructured{m}
		}, unknown + "its owner Machine db-1 is not there"},
		"an owner that may not be read": {func(x *site) []*unstructured.Unstructured {
			m := x.sup.Put("capi", labelled(machine("db-1"), "db"))
			x.sup.Deny(fakeapi.Denial{Verb: "get", Resource: "machines"})
			return []*unstructured.Unstructured{m}
		}, unknown + "cannot read Machine team-a/db-1: "},
		"an owner of a kind that is not served": {func(*site) []*unstructured.Unstructured {
			u := fakeapi.Object("example.com/v1", "Team", "team-a", "db")
			u.SetUID("t")
			return []*unstructured.Unstructured{u}
		}, unknown + "the Supervisor does not serve Team.example.com"},
		"itself": {func(*site) []*unstructured.Unstructured {
			u := configMap("note")
			u.SetUID("itself")
			return []*unstructured.Unstructured{u}
		}, unknown + "its owner ConfigMap note is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newSite(t)
			x.sup.Put("kubectl", owned(configMap("note"), tt.owners(x)...))
			object := kb.Object{Kind: "ConfigMap", Name: "note"}
			p := x.plan(annotate{}, &kb.Annotate{Object: object, Annotations: map[string]string{"a": "b"}})
			reaches := strings.Join(p.Preview.Reaches, "\n")
			if (reaches == "") != (tt.reaches == "") || !strings.HasPrefix(reaches, tt.reaches) || p.Wide {
				t.Errorf("it reaches %q, want %q", reaches, tt.reaches)
			}
			if named := p.Preview.Confirm == remedies.ConfirmName && p.Preview.ConfirmName == "note"; named != (tt.reaches != "") {
				t.Errorf("it is confirmed with %s %q", p.Preview.Confirm, p.Preview.ConfirmName)
			}
			if p.Effect == nil {
				t.Errorf("%+v", p.Preview)
			}
		})
	}
}

// What is made and what is taken back is held to the same.
func TestReachOfWhatIsMadeAndTakenBack(t *testing.T) {
	x := newSite(t)
	m := manifestWith(nil)
	m["metadata"].(map[string]any)["labels"] = map[string]any{"cluster.x-k8s.io/cluster-name": "db"}
	made := x.plan(changeObject{}, &kb.ChangeObject{Mode: kb.ModeCreate, Object: m})
	x.apply(changeObject{}, "record", made)
	merged := x.plan(changeObject{}, &kb.ChangeObject{Mode: kb.ModeMerge, Object: manifestWith(map[string]any{"n": "1"})})
	back := x.plan(takeBack{}, &kb.TakeBack{Step: "record"})
	for name, p := range map[string]*remedies.Plan{"made": made, "merged": merged, "taken back": back} {
		if p.Preview.Confirm != remedies.ConfirmName || p.Preview.ConfirmName != "note" || !slices.Contains(p.Preview.Reaches, "ConfigMap team-a/note belongs to cluster team-a/db") {
			t.Errorf("%s: %+v", name, p.Preview)
		}
	}
}

func withSpec(u *unstructured.Unstructured, cluster string) *unstructured.Unstructured {
	u.Object["spec"] = map[string]any{"clusterName": cluster}
	return u
}

func labelled(u *unstructured.Unstructured, cluster string) *unstructured.Unstructured {
	u.SetLabels(map[string]string{"cluster.x-k8s.io/cluster-name": cluster})
	return u
}

func TestCreate(t *testing.T) {
	x := newSite(t)
	params := &kb.ChangeObject{Mode: kb.ModeCreate, Object: manifestWith(map[string]any{"n": "1", "none": nil})}
	p := x.plan(changeObject{}, params)
	o := object(p)
	if o == nil || o.Verb != effect.Create || o.Namespace != "team-a" || p.Preview.TakeBack != "delete it again" || p.Preview.Confirm != remedies.ConfirmKey {
		t.Fatalf("the plan: %+v", p)
	}
	x.nothingWritten()
	if v := x.verify(changeObject{}, params); v.Failed != "ConfigMap team-a/note is not there" {
		t.Errorf("verified before it was made: %+v", v)
	}
	x.apply(changeObject{}, "record", p)
	if u := note(x); u == nil || u.GetNamespace() != "team-a" || u.GetManagedFields()[0].Manager != x.s.Made[0].Mark() {
		t.Fatalf("made: %v", u)
	}
	if v := x.verify(changeObject{}, params); !v.Done || v.Failed != "" {
		t.Errorf("verify: %+v", v)
	}
	if p := x.plan(changeObject{}, params); p.Preview.Done != "ConfigMap team-a/note is there already, as it is wanted" {
		t.Errorf("once more: %+v", p.Preview)
	}
	x.sup.Change("someone", "", "ConfigMap", "team-a", "note", func(u *unstructured.Unstructured) {
		u.Object["data"] = map[string]any{"n": "2", "more": "x"}
	})
	if p := x.plan(changeObject{}, params); p.Effect != nil || p.Preview.Blocked != `ConfigMap team-a/note is there already and is another: .data.n is "2", not "1"` {
		t.Errorf("another one: %+v", p.Preview)
	}
	if v := x.verify(changeObject{}, params); v.Failed != `ConfigMap team-a/note is not as it is wanted: .data.n is "2", not "1"` {
		t.Errorf("verify of another: %+v", v)
	}
}

func TestCreateNearMisses(t *testing.T) {
	capiRule := func(version string) kb.Manifest {
		return kb.Manifest{"apiVersion": capi + "/" + version, "kind": "MachineDrainRule", "metadata": map[string]any{"name": "r"}}
	}
	for name, tt := range map[string]struct {
		change  func(x *site)
		object  kb.Manifest
		in      string
		blocked string
	}{
		"a version that is served beside the newest": {object: capiRule("v1beta1")},
		"a version that is not served":               {object: capiRule("v1alpha4"), blocked: "the Supervisor serves MachineDrainRule.cluster.x-k8s.io in v1beta2 and v1beta1, not in v1alpha4 as the article has it"},
		"a kind that is not served":                  {object: capiRule("v1beta2"), change: func(x *site) { x.sup.Unserve(capi, "MachineDrainRule") }, blocked: "the Supervisor does not serve MachineDrainRule.cluster.x-k8s.io"},
		"in the cluster, without a namespace":        {object: manifestWith(nil), in: "cluster", blocked: "ConfigMap note needs a namespace inside the cluster"},
		"of which the finding does not say the name": {object: kb.Manifest{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": kb.NotKnown}}, blocked: "the finding does not say which ConfigMap is meant: (not known)"},
		"a Secret": {object: kb.Manifest{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"}}, blocked: "Secrets are neither shown nor changed"},
		"there with more fields than the article has": {object: manifestWith(map[string]any{}), change: func(x *site) { put(x, map[string]any{"n": "1"}) }, blocked: "done"},
		"there and being deleted": {object: manifestWith(map[string]any{"n": "1"}), change: func(x *site) {
			u := put(x, map[string]any{"n": "1"})
			u.SetFinalizers([]string{"f"})
			_ = unstructured.SetNestedField(u.Object, "2026-01-01T00:00:00Z", "metadata", "deletionTimestamp")
			x.sup.Put("kubectl", u)
		}, blocked: "ConfigMap team-a/note is there and being deleted; look again when it is gone"},
		"no name": {object: kb.Manifest{"apiVersion": "v1", "kind": "ConfigMap"}, blocked: "the object has no kind or no name"},
	} {
		t.Run(name, func(t *testing.T) {
			x := newSite(t)
			if tt.change != nil {
				tt.change(x)
			}
			p := x.plan(changeObject{}, &kb.ChangeObject{Mode: kb.ModeCreate, Object: tt.object, In: tt.in})
			got := p.Preview.Blocked
			if p.Preview.Done != "" {
				got = "done"
			}
			if got != tt.blocked || (p.Effect != nil) != (tt.blocked == "") {
				t.Errorf("%+v, want %q", p.Preview, tt.blocked)
			}
			x.nothingWritten()
		})
	}
}

func put(x *site, data map[string]any) *unstructured.Unstructured {
	u := fakeapi.Object("v1", "ConfigMap", "team-a", "note")
	u.SetLabels(map[string]string{"a": "b", "own": "label"})
	u.Object["data"] = data
	return x.sup.Put("kubectl", u)
}

func TestMerge(t *testing.T) {
	x := newSite(t)
	put(x, map[string]any{"n": "1", "gone": "x", "stays": "y"})
	params := &kb.ChangeObject{Mode: kb.ModeMerge, Object: manifestWith(map[string]any{"n": "2", "new": "z", "gone": nil})}
	p := x.plan(changeObject{}, params)
	if o := object(p); o == nil || o.Verb != effect.Update || o.ResourceVersion == "" {
		t.Fatalf("the plan: %+v", p)
	}
	x.apply(changeObject{}, "set", p)
	data, _, _ := unstructured.NestedStringMap(note(x).Object, "data")
	if len(data) != 3 || data["n"] != "2" || data["new"] != "z" || data["stays"] != "y" || note(x).GetLabels()["own"] != "label" {
		t.Errorf("merged: %v", data)
	}
	if v := x.verify(changeObject{}, params); !v.Done || v.Failed != "" {
		t.Errorf("verify: %+v", v)
	}
	if p := x.plan(changeObject{}, params); p.Preview.Done != "ConfigMap team-a/note is as it is wanted already" {
		t.Errorf("once more: %+v", p.Preview)
	}
	x.sup.Change("someone", "", "ConfigMap", "team-a", "note", func(u *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(u.Object, "3", "data", "n")
	})
	back := x.plan(takeBack{}, &kb.TakeBack{Step: "set"})
	has(t, "warnings", strings.Join(back.Preview.Warnings, "\n"), "others changed ConfigMap team-a/note since")
	x.apply(takeBack{}, "unset", back)
	data, _, _ = unstructured.NestedStringMap(note(x).Object, "data")
	if len(data) != 3 || data["n"] != "3" || data["gone"] != "x" || data["stays"] != "y" {
		t.Errorf("taken back: %v", data)
	}
}

func TestMergeNearMisses(t *testing.T) {
	x := newSite(t)
	params := &kb.ChangeObject{Mode: kb.ModeMerge, Object: manifestWith(map[string]any{"n": "1"})}
	if p := x.plan(changeObject{}, params); p.Preview.Blocked != "ConfigMap team-a/note is not there" {
		t.Errorf("nothing to merge into: %+v", p.Preview)
	}
	put(x, map[string]any{"n": "1"})
	if p := x.plan(changeObject{}, params); p.Preview.Done == "" {
		t.Errorf("all is there: %+v", p.Preview)
	}
	lists := &kb.ChangeObject{Mode: kb.ModeMerge, Object: kb.Manifest{"apiVersion": capi + "/v1beta2", "kind": "Machine", "metadata": map[string]any{"name": "web-1"},
		"spec": map[string]any{"list": []any{map[string]any{"name": "a", "n": int64(2)}}}}}
	x.change(func(u *unstructured.Unstructured) {
		_ = unstructured.SetNestedSlice(u.Object, []any{map[string]any{"name": "a", "n": int64(2), "default": true}}, "spec", "list")
	})
	if p := x.plan(changeObject{}, lists); p.Preview.Done == "" {
		t.Errorf("a list whose items have more fields than the article has: %+v", p.Preview)
	}
	x.change(func(u *unstructured.Unstructured) {
		_ = unstructured.SetNestedSlice(u.Object, []any{map[string]any{"name": "a", "n": int64(2)}, map[string]any{"name": "b"}}, "spec", "list")
	})
	p := x.plan(changeObject{}, lists)
	has(t, "warnings", strings.Join(p.Preview.Warnings, "\n"), "the list .spec.list is replaced whole")
	x.nothingWritten()
}

func TestDifferences(t *testing.T) {
	live := map[string]any{"n": int64(9007199254740993), "f": 1.0, "s": "x", "l": []any{"a", "b"}, "m": map[string]any{"k": "v"}, "yes": true}
	for name, tt := range map[string]struct {
		want map[string]any
		out  string
	}{
		"the same":                   {map[string]any{"n": int64(9007199254740993), "m": map[string]any{"k": "v"}, "l": []any{"a", "b"}}, ""},
		"a large number off by one":  {map[string]any{"n": int64(9007199254740992)}, ".n is 9007199254740993, not 9007199254740992"},
		"a whole number as a float":  {map[string]any{"f": int64(1)}, ""},
		"a number for a text":        {map[string]any{"s": int64(1)}, `.s is "x", not 1`},
		"another order":              {map[string]any{"l": []any{"b", "a"}}, `.l is ["a","b"], not ["b","a"]`},
		"a shorter list":             {map[string]any{"l": []any{"a"}}, `.l is ["a","b"], not ["a"]`},
		"an empty list for nothing":  {map[string]any{"none": []any{}}, ""},
		"an empty list for a list":   {map[string]any{"l": []any{}}, `.l is ["a","b"], not []`},
		"a map for a text":           {map[string]any{"s": map[string]any{"k": "v"}}, `.s is "x", not {"k":"v"}`},
		"a field that is to be away": {map[string]any{"m": map[string]any{"k": nil}}, ".m.k is there"},
		"one that is away":           {map[string]any{"none": map[string]any{"k": nil}, "m": map[string]any{"other": nil}}, ""},
		"one that is missing":        {map[string]any{"m": map[string]any{"k2": "v"}}, ".m.k2 is not there"},
		"several": {map[string]any{"a": "1", "b": "1", "c": "1", "d": "1", "e": "1"},
			".a is not there; .b is not there; .c is not there; and 2 more"},
	} {
		if got := firstOf(differences(tt.want, live, "")); got != tt.out {
			t.Errorf("%s: %q, want %q", name, got, tt.out)
		}
	}
}

// Several changes of one step are taken back one after another, the newest first.
func TestTakeBackSeveral(t *testing.T) {
	x := newSite(t)
	for _, v := range []string{"1", "2"} {
		m := manifestWith(nil)
		m["metadata"].(map[string]any)["name"] = "note-" + v
		x.apply(changeObject{}, "record", x.plan(changeObject{}, &kb.ChangeObject{Mode: kb.ModeCreate, Object: m}))
	}
	params := &kb.TakeBack{Step: "record"}
	p := x.plan(takeBack{}, params)
	if o := object(p); o == nil || o.Verb != effect.Delete || o.Name != "note-2" || len(p.TakesBack) != 1 || p.TakesBack[0] != 2 {
		t.Fatalf("the newest first: %+v", p)
	}
	x.apply(takeBack{}, "back", p)
	if v := x.verify(takeBack{}, params); !v.Done || v.Failed != "1 more change to take back: create ConfigMap team-a/note-1" {
		t.Errorf("one is left: %+v", v)
	}
	x.apply(takeBack{}, "back", x.plan(takeBack{}, params))
	if v := x.verify(takeBack{}, params); !v.Done || v.Failed != "" {
		t.Errorf("none is left: %+v", v)
	}
	if p := x.plan(takeBack{}, params); p.Preview.Done != "this walk changed nothing in that step that it has not taken back" {
		t.Errorf("once more: %+v", p.Preview)
	}
	if n := len(x.sup.Objects(configMaps())); n != 0 {
		t.Errorf("%d are left", n)
	}
}

func TestTakeBackNearMisses(t *testing.T) {
	made := func(t *testing.T) *site {
		x := newSite(t)
		x.apply(changeObject{}, "record", x.plan(changeObject{}, &kb.ChangeObject{Mode: kb.ModeCreate, Object: manifestWith(map[string]any{"n": "1"})}))
		return x
	}
	params := &kb.TakeBack{Step: "record"}
	t.Run("another step", func(t *testing.T) {
		if p := made(t).plan(takeBack{}, &kb.TakeBack{Step: "other"}); p.Effect != nil || p.Preview.Done == "" {
			t.Errorf("%+v", p)
		}
	})
	t.Run("gone already", func(t *testing.T) {
		x := made(t)
		x.sup.Remove("", "ConfigMap", "team-a", "note")
		if p := x.plan(takeBack{}, params); p.Preview.Done != "ConfigMap team-a/note of this walk is gone already" {
			t.Errorf("%+v", p.Preview)
		}
		if v := x.verify(takeBack{}, params); !v.Done || v.Failed != "" {
			t.Errorf("%+v", v)
		}
	})
	t.Run("another one of its name", func(t *testing.T) {
		x := made(t)
		x.sup.Remove("", "ConfigMap", "team-a", "note")
		put(x, map[string]any{"n": "1"})
		if p := x.plan(takeBack{}, params); p.Effect != nil {
			t.Errorf("what others made is deleted: %+v", p)
		}
	})
	t.Run("others wrote to it", func(t *testing.T) {
		x := made(t)
		x.sup.Change("someone", "", "ConfigMap", "team-a", "note", func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"new": "label"}) })
		if p := x.plan(takeBack{}, params); p.Preview.Confirm != remedies.ConfirmName || p.Preview.ConfirmName != "note" {
			t.Errorf("it goes with one key: %+v", p.Preview)
		}
	})
	t.Run("not reachable", func(t *testing.T) {
		x := made(t)
		x.sup.Engineer.Fault = failing(fakeapi.Refused)
		x.s.Params = params
		if _, err := (takeBack{}).Plan(t.Context(), x.s); err == nil {
			t.Error("a plan without a look")
		}
		if _, err := (takeBack{}).Verify(x.s)(t.Context()); err == nil {
			t.Error("done without a look")
		}
	})
	t.Run("a finalizer holds it", func(t *testing.T) {
		x := made(t)
		x.sup.Change("someone", "", "ConfigMap", "team-a", "note", func(u *unstructured.Unstructured) { u.SetFinalizers([]string{"example.com/f"}) })
		x.apply(takeBack{}, "back", x.plan(takeBack{}, params))
		v := x.verify(takeBack{}, params)
		if v.Done {
			t.Errorf("it is still there: %+v", v)
		}
		has(t, "last", v.Last, "ConfigMap team-a/note is still there; it is being deleted", "example.com/f")
		x.sup.Remove("", "ConfigMap", "team-a", "note")
		if v := x.verify(takeBack{}, params); !v.Done || v.Failed != "" {
			t.Errorf("it is gone: %+v", v)
		}
	})
	t.Run("for another item", func(t *testing.T) {
		x := newSite(t)
		x.s.Item = "node-1"
		x.apply(changeObject{}, "record", x.plan(changeObject{}, &kb.ChangeObject{Mode: kb.ModeCreate, Object: manifestWith(nil)}))
		x.s.Item = "node-2"
		if p := x.plan(takeBack{}, params); p.Effect != nil {
			t.Errorf("%+v", p)
		}
		x.s.Item = ""
		if p := x.plan(takeBack{}, params); p.Effect == nil {
			t.Errorf("a step that is done once takes all back: %+v", p)
		}
	})
	t.Run("a deletion", func(t *testing.T) {
		x := newSite(t)
		put(x, nil)
		e := effect.NewObject(x.s.Target.Place, effect.Delete, configMaps(), "ConfigMap", "team-a", "note").Over(note(x))
		x.apply(changeObject{}, "record", &remedies.Plan{Effect: e})
		if p := x.plan(takeBack{}, params); p.Effect != nil || p.Preview.Done != "a deletion cannot be taken back: delete ConfigMap team-a/note" {
			t.Errorf("%+v", p.Preview)
		}
	})
}

// ownWay is a changer that takes back in a way of its own.
type ownWay struct {
	changeObject
	left bool
}

func (sp ownWay) TakeBack(_ context.Context, _ *remedies.Scene, m *remedies.Made) (remedies.Back, error) {
	if !sp.left {
		return remedies.Back{Left: remedies.LeftNothing, Words: "nothing of its own is left"}, nil
	}
	p := &remedies.Plan{Effect: m.Effect}
	p.Preview.Title = "in its own way"
	return remedies.Back{Left: remedies.LeftSome, Plan: p}, nil
}

func TestTakeBackByTheAction(t *testing.T) {
	for _, left := range []bool{true, false} {
		x := newSite(t)
		p := x.plan(changeObject{}, &kb.ChangeObject{Mode: kb.ModeCreate, Object: manifestWith(nil)})
		x.apply(ownWay{left: left}, "record", p)
		back := x.plan(takeBack{}, &kb.TakeBack{Step: "record"})
		if left && (back.Preview.Title != "in its own way" || len(back.TakesBack) != 1) {
			t.Errorf("%+v", back)
		}
		if !left && back.Preview.Done != "nothing of its own is left" {
			t.Errorf("%+v", back)
		}
		if v := x.verify(takeBack{}, &kb.TakeBack{Step: "record"}); (v.Failed == "") == left {
			t.Errorf("left %v: %+v", left, v)
		}
	}
}
