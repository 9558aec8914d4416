package signature

import (
	"testing"
	"time"

	"vksmedic/model"
)

const (
	bothHalves = "[container runtime is down, PLEG is not healthy: pleg was last seen active 7m29s ago; threshold is 3m0s]"
	onlyDown   = "container runtime is down"
	onlyPLEG   = "PLEG is not healthy: pleg was last seen active 16h17m50.791825508s ago; threshold is 3m0s"
	restarted  = "[container runtime status check may not have completed yet, PLEG is not healthy: pleg has yet to be successful]"
)

func TestContainerRuntimeDown(t *testing.T) {
	down := func(node, message string, since time.Duration) func(*site) {
		return func(s *site) { s.ready(node, "False", "KubeletNotReady", message, since) }
	}
	onMachine := func(typ, reason, message string) func(*site) {
		return func(s *site) {
			s.blind().machineSays("web-np-1", model.Condition{Type: typ, Status: "False", Reason: reason, Message: message, Since: ago(10 * time.Minute)})
		}
	}
	table(t, ContainerRuntimeDown, []try{
		{name: "a worker, both halves", change: down("web-np-1", bothHalves, 10*time.Minute), want: model.Confirmed, severity: model.Warning,
			evidence: []string{"both-halves=yes", "kubelet-long-up=yes", "kubelet-reports=yes", "containerd-failed=unknown", "change-pushed=no", "trust-set=no", "cluster-unavailable=no", "replicas-missing=no", "vks-affected=unknown"}},
		{name: "a control plane node", change: down("web-cp-1", bothHalves, 10*time.Minute), want: model.Confirmed, severity: model.Critical, says: "2 of 3 members healthy, 2 needed"},
		{name: "only just", change: down("web-np-1", bothHalves, time.Minute), want: model.Confirmed, severity: model.Info},
		{name: "no brackets, wrapped", change: down("web-np-1", "container runtime is down,PLEG is not\n  healthy: pleg was la\nst seen active 5m0s ago", time.Hour), want: model.Confirmed},
		{name: "with the network's words", change: down("web-np-1", bothHalves[:len(bothHalves)-1]+", container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:x]", time.Hour), want: model.Confirmed},
		{name: "the runtime alone", change: down("web-np-1", onlyDown, 10*time.Minute), want: model.Suspected, severity: model.Warning, evidence: []string{"both-halves=unknown"}},
		{name: "PLEG alone", change: down("web-np-1", onlyPLEG, 10*time.Hour), want: model.Suspected, says: "does not answer its kubelet in time"},
		{name: "evented PLEG alone", change: down("web-np-1", "EventedPLEG is not healthy: EventedPLEG: pleg event channel capacity is full with 1001 events", time.Hour), want: model.Suspected},
		{name: "restarted kubelet, an hour long", change: down("web-np-1", restarted, time.Hour), want: model.Suspected, evidence: []string{"kubelet-long-up=unknown"}},
		{name: "restarted kubelet, PLEG seen before", change: down("web-np-1", "[container runtime status check may not have completed yet, PLEG is not healthy: pleg was last seen active 16m6.559177445s ago; threshold is 3m0s]", 17*time.Minute), want: model.Suspected, evidence: []string{"kubelet-long-up=yes"}},
		{name: "last words under Unknown", change: func(s *site) { s.ready("web-np-1", "Unknown", "NodeStatusUnknown", bothHalves, time.Hour) }, want: model.Suspected, evidence: []string{"kubelet-reports=unknown"}},
		{name: "from NodeReady alone", change: onMachine("NodeReady", "NodeNotReady", "* Node.Ready: "+bothHalves), want: model.Confirmed},
		{name: "from NodeHealthy alone", change: func(s *site) {
			s.machine("web-np-1").Conditions.New = nil
			onMachine("NodeHealthy", "NodeNotHealthy", "* Node.Ready: "+bothHalves)(s)
		}, want: model.Confirmed},
		{name: "the Node was read, the Machine says later", change: func(s *site) {
			s.c.Workload.NodesSource.Seen = ago(8 * time.Minute)
			s.machineSays("web-np-1", model.Condition{Type: "NodeReady", Status: "False", Reason: "NodeNotReady", Message: "* Node.Ready: " + bothHalves, Since: ago(4 * time.Minute)})
		}, want: model.Confirmed},
		{name: "what set it off came before", change: func(s *site) {
			down("web-np-1", bothHalves, 10*time.Minute)(s)
			s.sn.NodeConfigs = []*model.NodeConfig{{Meta: model.Meta{Kind: "ClusterRegistryConfig", Name: "harbor", Created: ago(15 * time.Minute)}}}
			s.sn.Supervisor.VKS = "3.6.1+v1.35"
			s.c.Object.TrustVariable = true
			two := int32(1)
			s.c.Object.WorkerReplicas.Available = &two
			s.c.Object.Conditions.New[0] = model.Condition{Type: "Available", Status: "False", Message: "* WorkersAvailable: x"}
		}, want: model.Confirmed, evidence: []string{"change-pushed=yes", "vks-affected=yes", "trust-set=yes", "replicas-missing=yes", "cluster-unavailable=yes"}},
		{name: "what may set it off came after", change: func(s *site) {
			down("web-np-1", bothHalves, 10*time.Minute)(s)
			s.sn.NodeConfigs = []*model.NodeConfig{{Meta: model.Meta{Kind: "RegistryConfig", Name: "r", Namespace: "x", Created: ago(time.Minute)}}}
			s.sn.Supervisor.VKS = "3.6.2+v1.35"
		}, want: model.Confirmed, evidence: []string{"change-pushed=no", "vks-affected=no"}},
		{name: "only a lower bound of the version is known", change: func(s *site) {
			down("web-np-1", bothHalves, 10*time.Minute)(s)
			s.sn.Supervisor.VKSAtLeast = "3.7.0"
		}, want: model.Confirmed, evidence: []string{"vks-affected=no"}},
		{name: "a lower bound that says nothing", change: func(s *site) {
			down("web-np-1", bothHalves, 10*time.Minute)(s)
			s.sn.Supervisor.VKSAtLeast = "3.5.0"
		}, want: model.Confirmed, evidence: []string{"vks-affected=unknown"}},
		{name: "those objects may not be read", change: func(s *site) {
			down("web-np-1", bothHalves, 10*time.Minute)(s)
			s.source("clusterregistryconfigs", model.SourceForbidden, "forbidden")
			s.sn.Supervisor.VKS = "3.5.1+v1.34"
		}, want: model.Confirmed, evidence: []string{"change-pushed=unknown", "vks-affected=no"}},
		{name: "the Machine is deleting, its drain waits", change: func(s *site) {
			down("web-np-1", bothHalves, 10*time.Minute)(s)
			s.deleting("web-np-1", 10*time.Minute, "DrainingNode", header+"\n* Pod app/a"+stuck)
		}, want: model.Confirmed, says: "it goes on once the runtime runs"},
		{name: "the Cluster is paused", change: func(s *site) {
			down("web-np-1", bothHalves, 10*time.Minute)(s)
			s.c.Object.Paused = true
		}, want: model.Confirmed, evidence: []string{"not-paused=no"}, says: "paused"},
		{name: "a dump without a time", change: func(s *site) {
			down("web-np-1", bothHalves, 10*time.Minute)(s)
			s.at, s.sn.Dump = time.Time{}, true
			s.sn.Sources = nil
		}, want: model.Confirmed, severity: model.Warning},

		// Near misses.
		{name: "Ready", change: func(*site) {}},
		{name: "Ready, with the words in another condition", change: func(s *site) {
			s.c.Node("web-np-1").Conditions = append(s.c.Node("web-np-1").Conditions, model.Condition{Type: "MemoryPressure", Status: "False", Message: bothHalves})
		}},
		{name: "the network alone", change: down("web-np-1", "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized", time.Hour)},
		{name: "the runtime answers that it is not ready", change: down("web-np-1", "container runtime not ready: RuntimeReady=false reason:ContainerdNotReady message:x", time.Hour)},
		{name: "silent", change: func(s *site) { s.silent("web-np-1", time.Hour) }},
		{name: "the kubelet was started just now", change: down("web-np-1", restarted, 2*time.Minute)},
		{name: "1.8 gives no words", change: func(s *site) {
			s.blind().machineSaysOld("web-np-1", model.Condition{Type: "NodeHealthy", Status: "False", Severity: "Warning", Reason: "NodeConditionsFailed", Message: "Node condition Ready is False. ", Since: ago(time.Hour)})
		}},
		{name: "an old message under True", change: func(s *site) {
			s.blind().machineSays("web-np-1", model.Condition{Type: "NodeReady", Status: "True", Reason: "NodeReady", Message: bothHalves, Since: ago(time.Hour)})
		}},
		{name: "its VM is being destroyed", change: func(s *site) {
			down("web-np-1", bothHalves, 10*time.Minute)(s)
			s.deleting("web-np-1", 20*time.Minute, "WaitingForInfrastructureDeletion", "Waiting for VSphereMachine to be deleted")
		}},
		{name: "the connection is down", change: func(s *site) {
			s.blind().machineSays("web-np-1", model.Condition{Type: "NodeReady", Status: "Unknown", Reason: "ConnectionDown", Message: bothHalves, Since: ago(time.Hour)})
			s.machineSays("web-np-1", model.Condition{Type: "NodeHealthy", Status: "Unknown", Reason: "ConnectionDown", Since: ago(time.Hour)})
			s.machine("web-np-1").Conditions.Old = nil
		}},
		{name: "disk pressure", change: func(s *site) {
			s.c.Node("web-np-1").Conditions = append(s.c.Node("web-np-1").Conditions, model.Condition{Type: "DiskPressure", Status: "True", Reason: "KubeletHasDiskPressure"})
		}},
		{name: "no Ready condition at all", change: func(s *site) { s.c.Node("web-np-1").Conditions = nil }},
		{name: "an event that speaks of it", change: func(s *site) { s.event("web-np-1", "Warning", "x", bothHalves, time.Minute) }},
	})
}

// A kubelet that may just have started is judged again when it had its time.
func TestRuntimeReview(t *testing.T) {
	s := newSite(t)
	s.ready("web-np-1", "False", "KubeletNotReady", restarted, 3*time.Minute)
	_, review := Judge(s.c, s.sn, now)
	if want := ago(3 * time.Minute).Add(StartingUp); !review.Equal(want) {
		t.Errorf("review at %v, want %v", review, want)
	}
}
