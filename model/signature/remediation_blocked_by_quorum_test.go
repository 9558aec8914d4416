package signature

import (
	"testing"
	"time"

	"vksmedic/model"
)

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
