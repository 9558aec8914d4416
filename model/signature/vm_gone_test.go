package signature

import (
	"testing"
	"time"

	"vksmedic/model"
)

func TestVMGone(t *testing.T) {
	silent := func(node string) func(*site) { return func(s *site) { s.silent(node, time.Hour) } }
	both := func(f ...func(*site)) func(*site) {
		return func(s *site) {
			for _, x := range f {
				x(s)
			}
		}
	}
	orphan := func(reason, message string, last time.Duration) func(*site) {
		return func(s *site) { s.event("web-np-1", "Warning", reason, message, last) }
	}
	table(t, VMGone, []try{
		{name: "nothing but silence", change: silent("web-np-1"), want: model.Suspected, severity: model.Warning, evidence: []string{"vm-evidence=unknown", "only-this-node=yes", "same-vm=yes", "quorum-allows=yes", "healthcheck-acts=yes"}, says: "look in vCenter"},
		{name: "a control plane node", change: silent("web-cp-1"), want: model.Suspected, severity: model.Critical, evidence: []string{"quorum-allows=yes"}, says: "Then delete the Machine"},
		{name: "a control plane node, the others cannot be counted", change: both(silent("web-cp-1"), func(s *site) { s.c.ControlPlane, s.c.Object = nil, nil }), want: model.Suspected, evidence: []string{"quorum-allows=unknown"}, says: "Do not delete this Machine"},
		{name: "before 1.9, the Machine's message was cut off before Ready", change: func(s *site) {
			s.blind().machineSaysOld("web-np-1", model.Condition{Type: "NodeHealthy", Status: "Unknown", Reason: "NodeConditionsFailed", Message: "Node condition MemoryPressure is Unknown. Node condition DiskPressure is Unknown. ", Since: ago(time.Hour)})
		}, want: model.Suspected},
		{name: "8.0's event", change: both(silent("web-np-1"), orphan("CreateOrUpdateFailure", "VM config is not available, connectionState=orphaned", time.Minute)), want: model.Confirmed, says: "is orphaned", evidence: []string{"vm-evidence=yes"}},
		{name: "9.0.0's event", change: both(silent("web-np-1"), orphan("UpdateFailure", "failed to update VM: unsupported VM connection state: inaccessible", time.Minute)), want: model.Confirmed, evidence: []string{"operator-deletes=no"}},
		{name: "its VirtualMachine is gone", change: both(silent("web-np-1"), func(s *site) { s.removeVM("web-np-1") }), want: model.Confirmed, evidence: []string{"vm-evidence=yes"}},
		{name: "only just", change: func(s *site) { s.silent("web-np-1", time.Minute) }, want: model.Suspected, severity: model.Info},
		{name: "a MachineHealthCheck's time runs", change: func(s *site) { s.silent("web-np-1", 3*time.Minute) }, want: model.Suspected, severity: model.Info, says: "leave it to that"},
		{name: "its MachineHealthCheck is paused", change: func(s *site) {
			s.silent("web-np-1", 3*time.Minute)
			s.c.HealthChecks[1].Paused = true
		}, want: model.Suspected, severity: model.Warning, evidence: []string{"healthcheck-acts=no"}},
		{name: "another VM than the Machine's", change: both(silent("web-np-1"), func(s *site) { s.vm("web-np-1").BiosUUID = "uuid-new" }), want: model.Suspected, evidence: []string{"same-vm=no"}},
		{name: "Tools run, as its status has it", change: both(silent("web-np-1"), func(s *site) {
			s.vm("web-np-1").Conditions = model.Conditions{{Type: "VirtualMachineTools", Status: "True", Since: ago(24 * time.Hour)}}
		}), want: model.Suspected, evidence: []string{"tools-running=yes"}},
		{name: "two lost on one host, both told by events", change: both(silent("web-np-1"), silent("web-np-2"), orphan("UpdateFailure", "failed to update VM: unsupported VM connection state: orphaned", time.Minute)), want: model.Confirmed, evidence: []string{"only-this-node=no"}},
		{name: "from the Machine alone, 1.14", change: func(s *site) {
			s.blind().machineSays("web-np-1", model.Condition{Type: "NodeReady", Status: "Unknown", Reason: "NodeReadyUnknown", Message: "* Node.Ready: " + silence, Since: ago(time.Hour)})
		}, want: model.Suspected},
		{name: "from the Machine alone, 1.8", change: func(s *site) {
			s.blind().machineSaysOld("web-np-1", model.Condition{Type: "NodeHealthy", Status: "Unknown", Severity: "Warning", Reason: "NodeConditionsFailed",
				Message: "Node condition Ready is Unknown. Node condition MemoryPressure is Unknown. Node condition DiskPressure is Unknown. Node condition PIDPressure is Unknown", Since: ago(time.Hour)})
		}, want: model.Suspected},
		{name: "paused", change: both(silent("web-np-1"), func(s *site) { s.vm("web-np-1").Paused = true }), want: model.Suspected, evidence: []string{"not-paused=no"}},

		// Near misses.
		{name: "Ready", change: func(*site) {}},
		{name: "a kubelet that never spoke", change: func(s *site) {
			s.ready("web-np-1", "Unknown", "NodeStatusNeverUpdated", "Kubelet never posted node status.", time.Hour)
		}},
		{name: "only its disk is unknown", change: func(s *site) {
			s.blind().machineSays("web-np-1", model.Condition{Type: "NodeHealthy", Status: "Unknown", Reason: "NodeHealthyUnknown", Message: "* Node.DiskPressure: Condition not yet reported", Since: ago(time.Hour)})
		}},
		{name: "NotReady, but speaking", change: func(s *site) { s.ready("web-np-1", "False", "KubeletNotReady", "x", time.Hour) }},
		{name: "powered off", change: both(silent("web-np-1"), func(s *site) { s.vm("web-np-1").PowerState = "PoweredOff" })},
		{name: "being deleted", change: both(silent("web-np-1"), func(s *site) { s.deleting("web-np-1", 5*time.Minute, "DrainingNode", header) })},
		{name: "Failed, its provider noticed", change: both(silent("web-np-1"), func(s *site) { s.machine("web-np-1").Phase = "Failed" })},
		{name: "no phase", change: both(silent("web-np-1"), func(s *site) { s.machine("web-np-1").Phase = "" })},
		{name: "two silent, nothing said", change: both(silent("web-np-1"), silent("web-np-2"))},
		{name: "all silent", change: func(s *site) {
			for _, m := range s.c.Machines {
				s.silent(m.Name, time.Hour)
			}
		}},
		{name: "the connection is down", change: func(s *site) {
			s.blind()
			for _, typ := range []string{"NodeReady", "NodeHealthy"} {
				s.machineSays("web-np-1", model.Condition{Type: typ, Status: "Unknown", Reason: "ConnectionDown", Since: ago(time.Hour)})
			}
		}},
		{name: "an orphan whose node still answers", change: orphan("UpdateFailure", "failed to update VM: unsupported VM connection state: orphaned", time.Minute)},
		{name: "the Node was deleted by the cloud provider", change: func(s *site) {
			s.removeNode("web-np-1").machineSaysOld("web-np-1", model.Condition{Type: "NodeHealthy", Status: "False", Severity: "Error", Reason: "NodeNotFound"})
		}},
		{name: "only one condition Unknown, 1.8", change: func(s *site) {
			s.blind().machineSaysOld("web-np-1", model.Condition{Type: "NodeHealthy", Status: "False", Reason: "NodeConditionsFailed", Message: "Node condition Ready is False. "})
		}},
		{name: "a node that no Machine names", change: func(s *site) {
			s.c.Workload.Nodes = append(s.c.Workload.Nodes, model.Node{Meta: model.Meta{Kind: "Node", Name: "left-over"}, Conditions: model.Conditions{{Type: "Ready", Status: "Unknown", Reason: "NodeStatusUnknown", Message: silence, Since: ago(time.Hour)}}})
		}},
	})
}

// An event of long ago that was followed by a good update is no evidence.
func TestOrphanThatCameBack(t *testing.T) {
	s := newSite(t)
	s.silent("web-np-1", time.Hour).event("web-np-1", "Warning", "UpdateFailure", "failed to update VM: unsupported VM connection state: orphaned", 3*time.Hour).event("web-np-1", "Normal", "UpdateSuccess", "Update success", 2*time.Hour)
	if f := s.find(VMGone); f == nil || f.Confidence != model.Suspected {
		t.Errorf("%+v", f)
	}
}

// The VirtualMachine of a dump that holds none is not missing.
func TestDumpWithoutVMs(t *testing.T) {
	s := newSite(t)
	s.silent("web-np-1", time.Hour).removeVM("web-np-1")
	s.sn.Dump = true
	if f := s.find(VMGone); f == nil || f.Confidence != model.Suspected || evidence(f, "vm-evidence").Verdict != model.Unknown {
		t.Errorf("%+v", f)
	}
}

// Two of three control plane nodes gone: never delete, in numbers.
func TestGoneAndQuorum(t *testing.T) {
	s := newSite(t)
	s.silent("web-cp-1", time.Hour).silent("web-cp-2", time.Hour)
	s.event("web-cp-1", "Warning", "UpdateFailure", "failed to update VM: unsupported VM connection state: orphaned", time.Minute)
	f := s.find(VMGone)
	if f == nil || f.Confidence != model.Confirmed {
		t.Fatalf("found: %s", list(s.findings()))
	}
	facts, ok := f.Facts.(*VMFacts)
	if !ok || !facts.QuorumRisk || facts.Quorum != "1 of 3 members healthy, 2 needed for etcd's quorum" || facts.State != "orphaned" {
		t.Errorf("%+v", f.Facts)
	}
}
