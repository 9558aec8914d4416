package signature

import (
	"testing"
	"time"

	"vksmedic/model"
)

func TestMachineUnhealthy(t *testing.T) {
	phase := func(name, phase string, age time.Duration) func(*site) {
		return func(s *site) {
			m := s.machine(name)
			m.Phase, m.NodeName, m.Created = phase, "", ago(age)
			s.removeNode(name)
		}
	}
	table(t, MachineUnhealthy, []try{
		{name: "Failed", change: func(s *site) {
			m := s.machine("web-np-1")
			m.Phase, m.FailureReason, m.FailureMessage = "Failed", "CreateError", "no such class"
		}, want: model.Confirmed, severity: model.Warning, says: "no such class"},
		{name: "Failed, its provider lost the VM", change: func(s *site) {
			m := s.machine("web-np-1")
			m.Phase, m.FailureReason, m.FailureMessage = "Failed", "UpdateError", "Unable to find VM by BIOS UUID 4200. The vm was removed from infra"
		}, want: model.Confirmed, says: "was removed, as its provider reports"},
		{name: "Failed without words", change: func(s *site) { s.machine("web-cp-1").Phase = "Failed" }, want: model.Confirmed, severity: model.Critical},
		{name: "Provisioning for an hour", change: func(s *site) {
			phase("web-np-1", "Provisioning", time.Hour)(s)
			s.machineSays("web-np-1", model.Condition{Type: "InfrastructureReady", Status: "False", Reason: "NotReady", Message: "waiting for a VM class"})
			s.vm("web-np-1").Conditions = model.Conditions{{Type: "VirtualMachineClassReady", Status: "False", Reason: "NotFound"}}
		}, want: model.Confirmed, evidence: []string{"waits-for=yes", "vm-says=no"}, says: "waiting for a VM class"},
		{name: "Provisioned for an hour", change: phase("web-np-1", "Provisioned", time.Hour), want: model.Confirmed},
		{name: "Pending for an hour", change: phase("web-cp-3", "Pending", time.Hour), want: model.Confirmed, severity: model.Critical},
		{name: "its infrastructure says why", change: func(s *site) {
			phase("web-np-1", "Provisioning", time.Hour)(s)
			s.c.InfraMachines[3].Conditions.Old = model.Conditions{{Type: "VMProvisioned", Status: "False", Reason: "WaitingForNetworkAddress"}}
		}, want: model.Confirmed, evidence: []string{"provider-says=yes"}},
		{name: "its Node was deleted, 1.14", change: func(s *site) {
			s.removeNode("web-np-1").machineSays("web-np-1", model.Condition{Type: "NodeReady", Status: "False", Reason: "NodeDeleted", Message: "Node web-np-1 has been deleted while the Machine still exists", Since: ago(time.Hour)})
		}, want: model.Confirmed, says: "was deleted while its Machine lives on"},
		{name: "its Node was deleted, 1.8", change: func(s *site) {
			s.removeNode("web-np-1").machineSaysOld("web-np-1", model.Condition{Type: "NodeHealthy", Status: "False", Severity: "Error", Reason: "NodeNotFound", Since: ago(time.Hour)})
		}, want: model.Confirmed},
		{name: "its Node was deleted just now", change: func(s *site) {
			s.removeNode("web-np-1").machineSays("web-np-1", model.Condition{Type: "NodeReady", Status: "False", Reason: "NodeDeleted", Message: "Node web-np-1 has been deleted while the Machine still exists", Since: ago(time.Minute)})
		}, want: model.Confirmed, severity: model.Info},
		{name: "paused", change: func(s *site) { phase("web-np-1", "Pending", time.Hour)(s); s.c.Object.Paused = true }, want: model.Confirmed, evidence: []string{"not-paused=no"}, says: "is paused"},

		// Near misses.
		{name: "Running", change: func(*site) {}},
		{name: "Provisioning for ten minutes", change: phase("web-np-1", "Provisioning", 10*time.Minute)},
		{name: "Provisioned for 29 minutes", change: phase("web-np-1", "Provisioned", 29*time.Minute)},
		{name: "Pending since an unknown time", change: func(s *site) { phase("web-np-1", "Pending", 0)(s); s.machine("web-np-1").Created = time.Time{} }},
		{name: "a dump without a time", change: func(s *site) { phase("web-np-1", "Pending", time.Hour)(s); s.at = time.Time{} }},
		{name: "updated in place", change: func(s *site) { s.machine("web-np-1").Phase = "Updating" }},
		{name: "being deleted", change: func(s *site) { s.deleting("web-np-1", 3*time.Minute, "DrainingNode", header) }},
		{name: "being deleted, and Failed before", change: func(s *site) {
			s.deleting("web-np-1", 3*time.Minute, "DrainingNode", header)
			s.machine("web-np-1").FailureReason = "CreateError"
		}},
		{name: "its node is NotReady", change: func(s *site) { s.ready("web-np-1", "False", "KubeletNotReady", "x", time.Hour) }},
		{name: "workers wait for a control plane that is on its way", change: func(s *site) {
			phase("web-np-1", "Pending", 40*time.Minute)(s)
			s.c.Object.ControlPlaneInitialized, s.c.Object.ControlPlaneUninitialized, s.c.Object.Created = false, true, ago(45*time.Minute)
		}},
		{name: "waiting to be seen by a providerID", change: func(s *site) {
			s.machineSays("web-np-1", model.Condition{Type: "NodeHealthy", Status: "Unknown", Reason: "InspectionFailed", Message: "Waiting for a Node with spec.providerID vsphere://x to exist"})
		}},
		{name: "no phase", change: func(s *site) { s.machine("web-np-1").Phase = "" }},
	})
}
