package signature

import (
	"testing"
	"time"

	"vksmedic/model"
)

func TestNodeNotReady(t *testing.T) {
	const words = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"
	table(t, NodeNotReady, []try{
		{name: "the network", change: func(s *site) { s.ready("web-np-1", "False", "KubeletNotReady", words, time.Hour) }, want: model.Confirmed, severity: model.Warning, says: "cni plugin not initialized"},
		{name: "a control plane node", change: func(s *site) { s.ready("web-cp-1", "False", "KubeletNotReady", words, time.Hour) }, want: model.Confirmed, severity: model.Critical, says: "Quorum: 2 of 3"},
		{name: "just now", change: func(s *site) { s.ready("web-np-1", "False", "KubeletNotReady", words, time.Minute) }, want: model.Confirmed, severity: model.Info},
		{name: "a MachineHealthCheck's time runs", change: func(s *site) { s.ready("web-np-1", "False", "KubeletNotReady", words, 5*time.Minute) }, want: model.Confirmed, severity: model.Info, says: "leave it to that"},
		{name: "no words, 1.8", change: func(s *site) {
			s.blind().machineSaysOld("web-np-1", model.Condition{Type: "NodeHealthy", Status: "False", Reason: "NodeConditionsFailed", Message: "Node condition Ready is False. ", Since: ago(time.Hour)})
		}, want: model.Confirmed},
		{name: "the runtime says that it is not ready", change: func(s *site) {
			s.ready("web-np-1", "False", "KubeletNotReady", "container runtime not ready: RuntimeReady=false reason:X message:y", time.Hour)
		}, want: model.Confirmed, says: "answers that it is not ready"},
		{name: "silent, being deleted, in its drain", change: func(s *site) {
			s.silent("web-np-1", time.Hour).deleting("web-np-1", 10*time.Minute, "DrainingNode", header)
		}, want: model.Confirmed, says: "is silent"},
		{name: "powered off", change: func(s *site) { s.silent("web-np-1", time.Hour); s.vm("web-np-1").PowerState = "PoweredOff" }, want: model.Confirmed, evidence: []string{"vm-powered-on=no"}},
		{name: "two silent together, on one host", change: func(s *site) { s.silent("web-np-1", time.Hour).silent("web-np-2", time.Hour-time.Minute) }, want: model.Confirmed, severity: model.Warning, evidence: []string{"alone=no", "node-not-ready/web-np-1=yes"}, says: "2 nodes fell silent together"},
		{name: "all silent", change: func(s *site) {
			for _, m := range s.c.Machines {
				s.silent(m.Name, time.Hour)
			}
		}, want: model.Confirmed, severity: model.Critical, says: "certificates have expired"},
		{name: "a left-over that no Machine names", change: func(s *site) {
			s.c.Workload.Nodes = append(s.c.Workload.Nodes, model.Node{Meta: model.Meta{Kind: "Node", Name: "left-over"}, Conditions: model.Conditions{{Type: "Ready", Status: "Unknown", Reason: "NodeStatusUnknown", Message: silence, Since: ago(time.Hour)}}})
		}, want: model.Confirmed},
		{name: "read a while ago", change: func(s *site) {
			s.ready("web-np-1", "False", "KubeletNotReady", words, time.Hour)
			s.c.Workload.NodesSource = model.Source{State: model.SourceStale, Seen: ago(time.Hour), Detail: "no answer"}
			s.machine("web-np-1").Conditions = model.Generations{}
		}, want: model.Suspected, evidence: []string{"current=unknown"}},

		// Near misses.
		{name: "Ready", change: func(*site) {}},
		{name: "explained by the runtime", change: func(s *site) { s.ready("web-np-1", "False", "KubeletNotReady", bothHalves, time.Hour) }},
		{name: "explained by its VM", change: func(s *site) { s.silent("web-np-1", time.Hour) }},
		{name: "explained by a held port", change: func(s *site) {
			s.log(s.crash("kube-apiserver", "web-cp-1", 1, "CrashLoopBackOff"), "kube-apiserver", bindAPI).ready("web-cp-1", "False", "KubeletNotReady", "x", time.Hour)
		}},
		{name: "joining", change: func(s *site) {
			s.c.Node("web-np-1").Created = ago(4 * time.Minute)
			s.ready("web-np-1", "False", "KubeletNotReady", words, 4*time.Minute)
		}},
		{name: "leaving", change: func(s *site) {
			s.silent("web-np-1", 5*time.Minute).deleting("web-np-1", 10*time.Minute, "WaitingForInfrastructureDeletion", "")
		}},
		{name: "leaving, its Node goes", change: func(s *site) {
			s.silent("web-np-1", 5*time.Minute).deleting("web-np-1", 10*time.Minute, "DeletingNode", "")
		}},
		{name: "disk pressure", change: func(s *site) {
			s.c.Node("web-np-1").Conditions = append(s.c.Node("web-np-1").Conditions, model.Condition{Type: "DiskPressure", Status: "True"})
		}},
		{name: "another condition of the Machine's summary", change: func(s *site) {
			s.blind().machineSays("web-np-1", model.Condition{Type: "NodeHealthy", Status: "False", Reason: "NodeNotHealthy", Message: "* Node.DiskPressure: kubelet has disk pressure", Since: ago(time.Hour)})
		}},
		{name: "cordoned", change: func(s *site) { s.c.Node("web-np-1").Unschedulable = true }},
		{name: "no Ready condition", change: func(s *site) { s.c.Node("web-np-1").Conditions = nil }},
		{name: "the connection is down", change: func(s *site) {
			s.blind()
			s.machineSays("web-np-1", model.Condition{Type: "NodeReady", Status: "Unknown", Reason: "ConnectionDown", Since: ago(time.Hour)})
			s.machineSays("web-np-1", model.Condition{Type: "NodeHealthy", Status: "Unknown", Reason: "ConnectionDown", Since: ago(time.Hour)})
		}},
	})
}

// Nodes that fell silent at different times are different stories.
func TestSilentApart(t *testing.T) {
	s := newSite(t)
	s.silent("web-np-1", 5*time.Hour).silent("web-np-2", time.Hour)
	n := 0
	for _, f := range s.findings() {
		if f.Signature == NodeNotReady {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d findings: %s", n, list(s.findings()))
	}
}
