package model_test

import (
	"encoding/json"
	"testing"

	"vksmedic/model"
)

// A name comes back from its parts, and its text is the one that scan prints.
func TestSourceNames(t *testing.T) {
	web := model.ClusterRef{Namespace: "team-a", Name: "web"}
	for text, n := range map[string]model.SourceName{
		"supervisor/machines":        model.SupervisorSource("machines", ""),
		"supervisor/machines@team-a": model.SupervisorSource("machines", "team-a"),
		"supervisor/vks":             model.SourceVKS,
		"workload/team-a/web/nodes":  model.WorkloadSource(web, model.PartNodes),
		"file/a/b.yaml":              model.FileSource("a/b.yaml"),
		"dump":                       model.SourceDump,
	} {
		if string(n) != text {
			t.Errorf("%q, want %q", n, text)
		}
		if b, err := json.Marshal(n); err != nil || string(b) != `"`+text+`"` {
			t.Errorf("as JSON %s, %v", b, err)
		}
	}
	if r, ns, ok := model.SupervisorSource("machines", "team-a").Supervisor(); r != "machines" || ns != "team-a" || !ok {
		t.Errorf("%q %q %v", r, ns, ok)
	}
	if r, ns, ok := model.SourceLogin.Supervisor(); r != "login" || ns != "" || !ok {
		t.Errorf("%q %q %v", r, ns, ok)
	}
	if c, part, ok := model.WorkloadSource(web, model.PartPods).Workload(); c != web || part != model.PartPods || !ok {
		t.Errorf("%v %q %v", c, part, ok)
	}
	for _, n := range []model.SourceName{"", "supervisor", "machines", model.FileSource("supervisor/machines"), model.SourceDump, model.WorkloadSource(web, "nodes")} {
		if _, _, ok := n.Supervisor(); ok || n.Of("machines") {
			t.Errorf("%q is taken for one of the Supervisor's", n)
		}
	}
	for _, n := range []model.SourceName{"workload/a/b", "workload/a/b/c/d", "supervisor/machines", model.FileSource("workload/a/b/nodes")} {
		if _, _, ok := n.Workload(); ok {
			t.Errorf("%q is taken for one of a workload cluster", n)
		}
	}
	if n := model.SupervisorSource("machines", "team-a"); !n.Of("machines") || n.Of("machinesets") || n.Short() != "machines@team-a" {
		t.Errorf("%q", n.Short())
	}
}
