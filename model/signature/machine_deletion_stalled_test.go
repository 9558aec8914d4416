package signature

import (
	"slices"
	"testing"
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
)

func TestMachineDeletionStalled(t *testing.T) {
	del := func(name string, since time.Duration, stage, message string) func(*site) {
		return func(s *site) { s.deleting(name, since, stage, message) }
	}
	older := func(conds ...model.Condition) func(*site) {
		return func(s *site) {
			m := s.machine("web-np-1")
			m.Phase, m.Deleting = "Deleting", ago(2*time.Hour)
			m.Conditions = model.Generations{Old: conds}
		}
	}
	const two = 2 * time.Hour
	table(t, MachineDeletionStalled, []try{
		{name: "drain", change: del("web-np-1", two, "DrainingNode", header+"\n* Pod app/a"+stuck), want: model.Confirmed, severity: model.Warning, evidence: []string{"waits-for=yes", "replacement-waits=yes", "node-ready=yes"}, says: "drains the node (app/a"},
		{name: "a control plane Machine", change: del("web-cp-1", two, "DrainingNode", header+"\n* Pod app/a"+stuck), want: model.Confirmed, severity: model.Critical},
		{name: "volumes", change: func(s *site) {
			s.deleting("web-np-1", two, "WaitingForVolumeDetach", "Waiting for Node volumes to be detached (started at 2026-08-01T10:03:00Z)\n* PersistentVolumeClaims: db/data-pg-0")
			s.c.Workload.Attachments = []model.VolumeAttachment{{Meta: model.Meta{Name: "csi-1"}, Node: "web-np-1", Volume: "pvc-1", Attached: true, Error: "failed to detach"}, {Meta: model.Meta{Name: "csi-2"}, Node: "web-np-2", Attached: true}}
		}, want: model.Confirmed, says: "VolumeAttachment csi-1 of pvc-1 (failed to detach)"},
		{name: "a pre-drain hook", change: del("web-np-1", two, "WaitingForPreDrainHook", "Waiting for pre-drain hooks to succeed (hooks: pre-drain.delete.hook.machine.cluster.x-k8s.io/backup)"), want: model.Confirmed, says: "pre-drain.delete.hook.machine.cluster.x-k8s.io/backup"},
		{name: "the control plane's own hook", change: del("web-cp-1", two, "WaitingForPreTerminateHook", "Waiting for pre-terminate hooks to succeed (hooks: pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup)"), want: model.Confirmed, says: "take the member out of etcd"},
		{name: "infrastructure, VM Operator refuses", change: func(s *site) {
			s.deleting("web-np-1", two, "WaitingForInfrastructureDeletion", "Waiting for VSphereMachine to be deleted").event("web-np-1", "Warning", "DeleteFailure", "failed to delete vm: unsupported connection state: orphaned", two)
			s.vm("web-np-1").Deleting = ago(two)
			s.c.InfraMachines[3].Deleting = ago(two)
			s.c.InfraMachines[3].Conditions.New = model.Conditions{{Type: "VirtualMachineProvisioned", Status: "False", Reason: "Deleting"}}
		}, want: model.Confirmed, evidence: []string{"operator-deletes=no", "infrastructure-says=yes"}, says: "remove it from vCenter's inventory"},
		{name: "infrastructure, VM Operator is silent", change: func(s *site) {
			s.deleting("web-np-1", two, "WaitingForInfrastructureDeletion", "Waiting for VSphereMachine to be deleted")
			s.vm("web-np-1").Deleting = ago(two)
		}, want: model.Confirmed, evidence: []string{"operator-deletes=unknown"}, says: "Look in vCenter"},
		{name: "the VirtualMachine is gone, the rest hangs", change: func(s *site) {
			s.deleting("web-np-1", two, "WaitingForInfrastructureDeletion", "Waiting for VSphereMachine to be deleted").removeVM("web-np-1")
		}, want: model.Confirmed, evidence: []string{"operator-deletes=yes"}},
		{name: "bootstrap", change: del("web-np-1", two, "WaitingForBootstrapDeletion", "Waiting for KubeadmConfig to be deleted"), want: model.Confirmed},
		{name: "the Node", change: del("web-np-1", two, "DeletingNode", "Error deleting Node, please check controller logs for errors"), want: model.Confirmed, says: "The Node does not go"},
		{name: "1.8, volumes", change: older(model.Condition{Type: "DrainingSucceeded", Status: "True"}, model.Condition{Type: "VolumeDetachSucceeded", Status: "False", Reason: "WaitingForVolumeDetach", Message: "Waiting for node volumes to be detached"}), want: model.Confirmed, says: "volumes to be detached"},
		{name: "1.8, hook", change: older(model.Condition{Type: "DrainingSucceeded", Status: "True"}, model.Condition{Type: "PreTerminateDeleteHookSucceeded", Status: "False", Severity: "Info", Reason: "WaitingExternalHook"}), want: model.Confirmed, says: "pre-terminate hooks"},
		{name: "no condition says how far", change: older(), want: model.Confirmed, evidence: []string{"stage=unknown"}},
		{name: "another limit", change: func(s *site) {
			s.o.StalledAfter = 10 * time.Minute
			s.deleting("web-np-1", 11*time.Minute, "DrainingNode", header+"\n* Pod app/a"+stuck)
		}, want: model.Confirmed},
		{name: "paused", change: func(s *site) {
			s.deleting("web-np-1", two, "DrainingNode", header)
			s.machine("web-np-1").Paused = true
		}, want: model.Confirmed, evidence: []string{"not-paused=no"}, says: "is paused"},
		{name: "another provider", change: func(s *site) {
			s.deleting("web-np-1", two, "DrainingNode", header)
			s.machine("web-np-1").Infra = model.ObjectRef{Kind: "CustomMachine", Name: "x"}
			s.removeVM("web-np-1")
		}, want: model.Confirmed},

		// Near misses.
		{name: "not deleting", change: func(*site) {}},
		{name: "59 minutes", change: del("web-np-1", 59*time.Minute, "DrainingNode", header)},
		{name: "two hours, and three are allowed", change: func(s *site) {
			s.o.StalledAfter = 3 * time.Hour
			s.deleting("web-np-1", two, "DrainingNode", header)
		}},
		{name: "the condition is there, and False", change: func(s *site) {
			s.machineSays("web-np-1", model.Condition{Type: "Deleting", Status: "False", Reason: "NotDeleting", Since: ago(30 * 24 * time.Hour)})
		}},
		{name: "since when is unknown", change: func(s *site) {
			s.deleting("web-np-1", two, "DrainingNode", header)
			s.machine("web-np-1").Deleting = time.Time{}
			s.machineSays("web-np-1", model.Condition{Type: "Deleting", Status: "True", Reason: "DrainingNode"})
		}},
		{name: "a dump without a time", change: func(s *site) {
			s.deleting("web-np-1", two, "DrainingNode", header)
			s.at = time.Time{}
		}},
		{name: "the node has been cordoned for days", change: func(s *site) { s.c.Node("web-np-1").Unschedulable = true }},
		{name: "only its VirtualMachine is being deleted", change: func(s *site) { s.vm("web-np-1").Deleting = ago(two) }},
		{name: "deletion in the future (clocks differ)", change: del("web-np-1", -time.Minute, "DrainingNode", header)},
		{name: "old drain conditions of a Machine that stayed", change: func(s *site) {
			s.machineSaysOld("web-np-1", model.Condition{Type: "DrainingSucceeded", Status: "False", Since: ago(30 * 24 * time.Hour)})
		}},
		{name: "exactly not yet", change: del("web-np-1", time.Hour-time.Second, "DrainingNode", header)},
	})
}

func TestStalledFactsAndReview(t *testing.T) {
	s := newSite(t)
	s.deleting("web-np-1", 20*time.Minute, "WaitingForVolumeDetach", "Waiting for Node volumes to be detached (started at 2026-08-01T10:03:00Z)\n* PersistentVolumeClaims: db/data-pg-0")
	_, review := Judge(s.c, s.sn, now)
	if want := ago(20 * time.Minute).Add(time.Hour); !review.Equal(want) {
		t.Fatalf("review at %v, want %v", review, want)
	}
	s.at = review
	facts, ok := s.find(MachineDeletionStalled).Facts.(*DeletionFacts)
	if !ok || facts.Stage != lifecycle.VolumeDetach || !slices.Equal(facts.WaitsFor, []string{"PersistentVolumeClaims: db/data-pg-0"}) {
		t.Errorf("%+v", facts)
	}
}
