package signature

import (
	"fmt"
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

func TestRemediationBlockedByQuorum(t *testing.T) {
	refuses := func(name, message string) func(*site) {
		return func(s *site) {
			s.machineSays(name, model.Condition{Type: "OwnerRemediated", Status: "False", Reason: "CannotBeRemediated", Message: message, Since: ago(10 * time.Minute)})
		}
	}
	const now12 = "KubeadmControlPlane can't remediate this Machine because this could result in etcd loosing quorum"
	old := func(message string) func(*site) {
		return func(s *site) {
			s.machineSaysOld("web-cp-1", model.Condition{Type: "OwnerRemediated", Status: "False", Severity: "Warning", Reason: "WaitingForRemediation", Message: message, Since: ago(10 * time.Minute)})
		}
	}
	table(t, RemediationBlockedByQuorum, []try{
		{name: "two of three lost", change: func(s *site) {
			refuses("web-cp-1", now12)(s)
			refuses("web-cp-2", now12)(s)
			s.silent("web-cp-1", time.Hour).silent("web-cp-2", time.Hour)
		}, want: model.Confirmed, severity: model.Critical, evidence: []string{"quorum-held=no", "member-healthy/web-cp-1=no", "member-healthy/web-cp-3=yes"}, says: "1 of 3 members healthy, 2 needed"},
		{name: "refused, and yet the quorum holds", change: func(s *site) { refuses("web-cp-1", now12)(s); s.silent("web-cp-1", time.Hour) }, want: model.Confirmed, evidence: []string{"quorum-held=yes"}, says: "2 of 3 members healthy"},
		{name: "two of five lost are not the quorum", change: func(s *site) {
			s.add("web-cp-4", "10.0.0.6", true)
			s.add("web-cp-5", "10.0.0.7", true)
			five := int32(5)
			s.c.ControlPlane.Replicas.Current = &five
			refuses("web-cp-1", now12)(s)
			s.silent("web-cp-1", time.Hour).silent("web-cp-2", time.Hour)
		}, want: model.Confirmed, evidence: []string{"quorum-held=yes"}, says: "3 of 5 members healthy, 3 needed"},
		{name: "1.14", change: refuses("web-cp-1", "KubeadmControlPlane can't remediate this Machine because this could result in loosing Kubernetes control plane components or in etcd quorum loss"), want: model.Confirmed},
		{name: "1.8", change: old("KCP can't remediate this machine because this could result in etcd loosing quorum"), want: model.Confirmed},
		{name: "spelled right one day, wrapped", change: refuses("web-cp-1", "could result in etcd\n  losing quorum"), want: model.Confirmed},
		{name: "a single one", change: refuses("web-cp-1", "KubeadmControlPlane can't remediate if current replicas are less or equal to 1"), want: model.Confirmed, says: "too few"},
		{name: "1.3", change: old("KCP waiting for having at least 3 control plane machines before triggering remediation"), want: model.Confirmed, says: "too few"},
		{name: "no leader to be", change: refuses("web-cp-1", "A control plane machine needs remediation, but there is no healthy machine to forward etcd leadership to. Skipping remediation"), want: model.Confirmed},
		{name: "it cannot be counted", change: func(s *site) {
			refuses("web-cp-1", now12)(s)
			s.blind()
			s.c.Machines[1].Conditions = model.Generations{}
		}, want: model.Confirmed, evidence: []string{"quorum-held=unknown"}},
		{name: "fewer Machines known than there are", change: func(s *site) {
			refuses("web-cp-1", now12)(s)
			five := int32(5)
			s.c.ControlPlane.Replicas.Current = &five
		}, want: model.Confirmed, evidence: []string{"quorum-held=unknown"}},
		{name: "a dead node whose Machine still says healthy", change: func(s *site) {
			refuses("web-cp-1", now12)(s)
			s.silent("web-cp-2", time.Hour)
		}, want: model.Confirmed, evidence: []string{"member-healthy/web-cp-2=no"}},
		{name: "only just", change: func(s *site) {
			s.machineSays("web-cp-1", model.Condition{Type: "OwnerRemediated", Status: "False", Message: now12, Since: ago(time.Minute)})
		}, want: model.Confirmed, severity: model.Info},

		// Near misses.
		{name: "nothing said", change: func(*site) {}},
		{name: "it is being remediated", change: refuses("web-cp-1", "Machine deletionTimestamp set")},
		{name: "it waits for another deletion", change: refuses("web-cp-1", "KubeadmControlPlane waiting for control plane Machine deletion to complete before triggering remediation")},
		{name: "it waits for a version", change: refuses("web-cp-1", "KubeadmControlPlane can't remediate while waiting for a version upgrade to v1.35.0 to be propagated from Cluster.spec.topology")},
		{name: "too many tries", change: refuses("web-cp-1", "KubeadmControlPlane can't remediate this Machine because the operation already failed 3 times (MaxRetry)")},
		{name: "a worker is deferred", change: refuses("web-np-1", "Waiting for control plane to be stable")},
		{name: "done", change: func(s *site) {
			s.machineSays("web-cp-1", model.Condition{Type: "OwnerRemediated", Status: "True", Message: now12})
		}},
		{name: "it is being deleted after all", change: func(s *site) {
			s.deleting("web-cp-1", 10*time.Minute, "DrainingNode", header)
			refuses("web-cp-1", now12)(s)
		}},
		{name: "another condition says it", change: func(s *site) {
			s.machineSays("web-cp-1", model.Condition{Type: "Ready", Status: "False", Message: now12})
		}},
		{name: "two of three lost, nobody refuses", change: func(s *site) { s.silent("web-cp-1", time.Hour).silent("web-cp-2", time.Hour) }},
		{name: "a node joins, etcd is short for a moment", change: func(s *site) {
			s.c.ControlPlane.Conditions.New = model.Conditions{{Type: "EtcdClusterHealthy", Status: "False", Message: "Etcd member web-cp-4 does not have a corresponding Machine"}}
		}},
		{name: "workers too many unhealthy", change: func(s *site) {
			s.c.HealthChecks[1].Conditions.New = model.Conditions{{Type: "RemediationAllowed", Status: "False", Reason: "TooManyUnhealthy"}}
		}},
	})
}

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

// A dead runtime, the drain that waits on it and the deletion that does not end are one story.
func TestStory(t *testing.T) {
	s := newSite(t)
	s.ready("web-np-1", "False", "KubeletNotReady", bothHalves, 3*time.Hour)
	s.deleting("web-np-1", 2*time.Hour, "DrainingNode", header+"\n* Pod app/a"+stuck)
	fs := s.findings()
	var p []*model.Finding
	for i := range fs {
		p = append(p, &fs[i])
	}
	model.SortFindings(p)
	var got []string
	for _, f := range p {
		got = append(got, f.Signature)
	}
	if want := []string{ContainerRuntimeDown, DrainBlocked, MachineDeletionStalled}; !slices.Equal(got, want) {
		t.Errorf("told as %v, want %v", got, want)
	}
	if len(p[0].Causes) != 2 || len(p[0].CausedBy) != 0 || len(p[2].CausedBy) != 2 || p[2].CausedBy[0].Subject.Name != "web-np-1" {
		t.Errorf("causes %v; caused by %v", p[0].Causes, p[2].CausedBy)
	}
	s.c.Findings = fs
	if w := s.c.Worst(); w.Signature != ContainerRuntimeDown {
		t.Errorf("the worst is %s: the cause comes first", w.Signature)
	}
}

// The same words in four condition lists are one finding.
func TestOneFindingForOneMessage(t *testing.T) {
	s := newSite(t)
	s.ready("web-np-1", "False", "KubeletNotReady", bothHalves, 3*time.Hour)
	for _, typ := range []string{"Ready", "NodeReady", "NodeHealthy"} {
		s.machineSays("web-np-1", model.Condition{Type: typ, Status: "False", Reason: "NodeNotReady", Message: "* Node.Ready: " + bothHalves, Since: ago(3 * time.Hour)})
	}
	s.machine("web-np-1").Conditions.Old = model.Conditions{{Type: "NodeHealthy", Status: "False", Reason: "NodeConditionsFailed", Message: "Node condition Ready is False. "}}
	if f := s.findings(); len(f) != 1 {
		t.Errorf("found: %s", list(f))
	}
}

// Quorum is only counted where every member is known.
func TestQuorumCounts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*site)
		words  string
		spares model.Verdict
	}{
		"all well": {func(*site) {}, "3 of 3 members healthy, 2 needed for etcd's quorum", model.Yes},
		"one down": {func(s *site) { s.silent("web-cp-1", time.Hour) }, "2 of 3 members healthy, 2 needed for etcd's quorum", model.Yes},
		"etcd's own alarm": {func(s *site) {
			s.machineSays("web-cp-1", model.Condition{Type: "EtcdMemberHealthy", Status: "False", Message: "Etcd reports alarms: NOSPACE"})
		}, "2 of 3 members healthy, 2 needed for etcd's quorum", model.Yes},
		"two down":              {func(s *site) { s.silent("web-cp-1", time.Hour).silent("web-cp-2", time.Hour) }, "1 of 3 members healthy, 2 needed for etcd's quorum", model.No},
		"nothing of the inside": {func(s *site) { s.blind() }, "3 of 3 members healthy, 2 needed for etcd's quorum", model.Yes},
		"one is not known": {func(s *site) {
			s.blind()
			s.machine("web-cp-2").Conditions = model.Generations{}
		}, "cannot be counted: of web-cp-2 nothing is known: its node was not read", model.Unknown},
	} {
		s := newSite(t)
		c.change(s)
		q := (&view{c: s.c, sn: s.sn, now: now, explained: map[*nodeView]bool{}}).quorum()
		if q.words() != c.words || q.spares() != c.spares {
			t.Errorf("%s: %q %s", name, q.words(), q.spares())
		}
	}
}

// A cluster of 500 nodes is judged as it changes; a healthy one must cost next to nothing.
func BenchmarkJudge500(b *testing.B) {
	for name, change := range map[string]func(*site){
		"healthy": func(*site) {},
		"silent": func(s *site) {
			for _, m := range s.c.Machines {
				s.silent(m.Name, time.Hour)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := newSite(&testing.T{})
			for i := range 495 {
				s.add(fmt.Sprintf("web-np-%d", i+10), fmt.Sprintf("10.1.%d.%d", i/200, i%200), false)
			}
			change(s)
			b.ReportAllocs()
			for b.Loop() {
				Judge(s.c, s.sn, now)
			}
		})
	}
}
