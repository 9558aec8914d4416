package ui

import (
	"strings"
	"testing"
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/ui/styles"
)

// TestStageOfADeletion is called by the model's words on every screen, whatever generation of
// conditions says it.
func TestStageOfADeletion(t *testing.T) {
	at := ago(72 * time.Minute)
	old := func(all ...model.Condition) model.Generations {
		for i := range all {
			all[i].Since = at
		}
		return model.Generations{Old: all}
	}
	for name, x := range map[string]*model.Machine{
		"v1beta1 dump, Deleting stands in the old list": {Meta: model.Meta{Deleting: at}, Conditions: old(model.Condition{Type: "Deleting", Status: "True", Reason: "WaitingForPreTerminateHook"})},
		"CAPI up to 1.8, pre-terminate hook": {Meta: model.Meta{Deleting: at}, Conditions: old(model.Condition{Type: "DrainingSucceeded", Status: "True"},
			model.Condition{Type: "VolumeDetachSucceeded", Status: "True"}, model.Condition{Type: "PreTerminateDeleteHookSucceeded", Status: "False", Reason: "WaitingExternalHook"})},
		"phase only":                      {Phase: "Deleting", Conditions: model.Generations{New: model.Conditions{{Type: "Deleting", Status: "True", Reason: "DrainingNode", Since: at}}}},
		"drain timed out, volumes waited": {Meta: model.Meta{Deleting: at}, Conditions: old(model.Condition{Type: "DrainingSucceeded", Status: "False"}, model.Condition{Type: "PreTerminateDeleteHookSucceeded", Status: "False"})},
		"a reason that nobody knows":      {Meta: model.Meta{Deleting: at}, Conditions: model.Generations{New: model.Conditions{{Type: "Deleting", Status: "True", Reason: "SomethingNew", Since: at}}}},
	} {
		t.Run(name, func(t *testing.T) {
			x.Kind, x.Namespace, x.Name, x.Cluster = "Machine", "team-a", "web-1", "web"
			c := &model.Cluster{Ref: model.ClusterRef{Namespace: "team-a", Name: "web"}, Machines: []*model.Machine{x}, Workload: &model.Workload{}}
			d := newDesk(t, 120, 40, Options{})
			d.send(snapshotMsg{&model.Snapshot{At: clock(), Clusters: []*model.Cluster{c}}})
			stage := lifecycle.StageOf(x).Stage
			wants(t, d, stage.Short()+" 1h12m")
			d.keys("enter")
			wants(t, d, stage.Words())
			d.keys("j", "enter")
			wants(t, d, "deletion", stage.Words()+" since 2026-03-14 02:14:00Z")
		})
	}
}

// TestPressureIsTrouble: these conditions are bad news when True.
func TestPressureIsTrouble(t *testing.T) {
	for _, typ := range []string{"DiskPressure", "MemoryPressure", "PIDPressure", "NetworkUnavailable"} {
		for status, sign := range map[string]string{"True": styles.SignBad, "False": styles.SignOk, "Unknown": styles.SignUnknown} {
			sn := picture()
			c := sn.Clusters[0]
			for i := range c.Workload.Nodes {
				c.Workload.Nodes[i].Conditions = append(c.Workload.Nodes[i].Conditions, model.Condition{Type: typ, Status: status, Reason: "Kubelet", Since: ago(time.Hour)})
			}
			d := newDesk(t, 120, 60, Options{})
			d.send(snapshotMsg{sn})
			d.keys("enter", "/", "x", "7", "k", "2", "p", "enter", "G", "enter")
			found := false
			for l := range strings.SplitSeq(d.screen(), "\n") {
				if strings.Contains(l, typ) {
					found = true
					if !strings.HasPrefix(strings.TrimSpace(l), sign+" "+typ) {
						t.Errorf("%s=%s: %s", typ, status, l)
					}
				}
			}
			if !found {
				t.Fatalf("%s is not on the screen\n%s", typ, d.screen())
			}
		}
	}
}
