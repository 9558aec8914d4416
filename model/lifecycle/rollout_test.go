package lifecycle

import (
	"testing"
	"time"

	"vksmedic/model"
)

func n32(n int32) *int32 { return &n }

func TestVersions(t *testing.T) {
	machines := func(vs ...string) (out []*model.Machine) {
		for _, v := range vs {
			out = append(out, &model.Machine{Version: v})
		}
		return out
	}
	for name, c := range map[string]struct {
		c        model.Cluster
		from, to string
	}{
		"an upgrade": {model.Cluster{Object: &model.ClusterObject{Version: "v1.10.0"}, Machines: machines("v1.10.0", "v1.9.3", "")}, "v1.9.3", "v1.10.0"},
		"only the build moves": {model.Cluster{Object: &model.ClusterObject{Version: "v1.32.1+vmware.2"}, Machines: machines("v1.32.1+vmware.1")},
			"v1.32.1+vmware.1", "v1.32.1+vmware.2"},
		"only Machines":             {model.Cluster{Machines: machines("v1.32.1", "v1.31.4", "v1.33.0")}, "v1.31.4", "v1.33.0"},
		"only a control plane":      {model.Cluster{ControlPlane: &model.ControlPlane{Version: "v1.32.1", OldestVersion: "v1.31.4"}}, "v1.31.4", "v1.32.1"},
		"only the Cluster":          {model.Cluster{Object: &model.ClusterObject{Version: "v1.32.1"}}, "v1.32.1", "v1.32.1"},
		"nothing says anything":     {model.Cluster{}, "", ""},
		"a Cluster without version": {model.Cluster{Object: &model.ClusterObject{}, ControlPlane: &model.ControlPlane{Version: "v1.32.1"}}, "v1.32.1", "v1.32.1"},
	} {
		if from, to := Versions(&c.c); from != c.from || to != c.to {
			t.Errorf("%s: %q to %q, want %q to %q", name, from, to, c.from, c.to)
		}
	}
}

func TestReplicas(t *testing.T) {
	ready := model.Replicas{Desired: n32(3), Ready: n32(2)}
	if n := Available(ready); n == nil || *n != 2 || !Lacking(ready) {
		t.Errorf("ready counts where available is not known: %v", n)
	}
	if Lacking(model.Replicas{Desired: n32(3)}) || Lacking(model.Replicas{Ready: n32(0)}) || Available(model.Replicas{}) != nil {
		t.Error("what is not known is not lacking")
	}
	if !Behind(model.Replicas{Desired: n32(3), UpToDate: n32(2)}) || Behind(model.Replicas{Desired: n32(3)}) {
		t.Error("behind")
	}
	c := &model.Cluster{Deployments: []*model.MachineDeployment{{Replicas: ready}, {Replicas: model.Replicas{Desired: n32(5), Available: n32(5), UpToDate: n32(4)}}}}
	if r := WorkerReplicas(c); *r.Desired != 8 || *r.Available != 7 || *r.UpToDate != 4 {
		t.Errorf("workers: %+v", r)
	}
	c = &model.Cluster{Object: &model.ClusterObject{WorkerReplicas: ready, ControlPlaneReplicas: ready}}
	if WorkerReplicas(c) != ready || ControlPlaneReplicas(c) != ready {
		t.Error("the Cluster counts where nothing else does")
	}
	c.ControlPlane = &model.ControlPlane{Replicas: model.Replicas{Desired: n32(1)}}
	if *ControlPlaneReplicas(c).Desired != 1 {
		t.Error("the control plane's own object counts more")
	}
}

func TestMovement(t *testing.T) {
	deleting := func(reason string, since time.Duration) *model.Machine {
		return &model.Machine{Meta: model.Meta{Deleting: ago(since)}, Conditions: model.Generations{New: model.Conditions{
			{Type: "Deleting", Status: "True", Reason: reason, Since: ago(since)}}}}
	}
	behind := model.Replicas{Desired: n32(3), UpToDate: n32(1)}
	for name, c := range map[string]struct {
		c     model.Cluster
		words string
		since time.Time
	}{
		"nothing": {model.Cluster{Machines: []*model.Machine{{Phase: "Running"}}}, "", time.Time{}},
		"the stage that lasts longest": {model.Cluster{Machines: []*model.Machine{deleting("WaitingForPreTerminateHook", time.Minute), deleting("DrainingNode", time.Hour)}},
			"drain", ago(time.Hour)},
		"a deletion before what is behind": {model.Cluster{ControlPlane: &model.ControlPlane{Replicas: behind}, Machines: []*model.Machine{deleting("WaitingForVolumeDetach", time.Hour)}},
			"volumes", ago(time.Hour)},
		"the control plane": {model.Cluster{ControlPlane: &model.ControlPlane{Replicas: behind}}, "control plane 1/3", time.Time{}},
		"the workers":       {model.Cluster{Deployments: []*model.MachineDeployment{{Replicas: behind}}}, "workers 1/3", time.Time{}},
		"a new node":        {model.Cluster{Machines: []*model.Machine{{Meta: model.Meta{Created: ago(time.Minute)}, Phase: "Provisioning"}}}, "new node", ago(time.Minute)},
		"paused":            {model.Cluster{Object: &model.ClusterObject{Paused: true}, Machines: []*model.Machine{deleting("DrainingNode", time.Hour)}}, "paused", time.Time{}},
	} {
		if got := MovementOf(&c.c); got.Words != c.words || !got.Since.Equal(c.since) || got.Lasts != !c.since.IsZero() {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Every stage has a short form, and no two have the same.
func TestShortStages(t *testing.T) {
	seen := map[string]Stage{}
	for _, s := range Stages() {
		w := s.Short()
		if w == "" || w == string(s) || len(w) > len("pre-terminate hooks") {
			t.Errorf("%s: %q", s, w)
		}
		if other, twice := seen[w]; twice {
			t.Errorf("%s and %s are both called %s", s, other, w)
		}
		seen[w] = s
	}
}

func TestAnyPaused(t *testing.T) {
	for name, c := range map[string]*model.Cluster{
		"the Cluster":         {Object: &model.ClusterObject{Paused: true}},
		"the control plane":   {ControlPlane: &model.ControlPlane{Paused: true}},
		"a MachineDeployment": {Deployments: []*model.MachineDeployment{{Paused: true}}},
		"a Machine":           {Machines: []*model.Machine{{Paused: true}}},
		"a VM":                {VMs: []*model.VirtualMachine{{Paused: true}}},
	} {
		if !AnyPaused(c) || Paused(c) != (c.Object != nil) {
			t.Errorf("%s is paused, and nobody says so", name)
		}
	}
	if AnyPaused(&model.Cluster{Object: &model.ClusterObject{}}) {
		t.Error("nothing is paused")
	}
}

func TestEtcdMembers(t *testing.T) {
	member := func(status string) *model.Machine {
		return &model.Machine{ControlPlane: true, Conditions: model.Generations{New: model.Conditions{{Type: "EtcdMemberHealthy", Status: status}}}}
	}
	c := &model.Cluster{Machines: []*model.Machine{member("True"), member("False"), member("True"), {ControlPlane: true}, {}}}
	if healthy, all, needed := EtcdMembers(c); healthy != 2 || all != 3 || needed != 2 {
		t.Errorf("%d of %d, %d needed", healthy, all, needed)
	}
	if healthy, all, needed := EtcdMembers(&model.Cluster{}); healthy+all+needed != 0 {
		t.Error("nothing is known, and counted")
	}
}
