package scenario

import (
	"regexp"
	"strings"
	"testing"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

func TestPlansAreWhatTheLabPromises(t *testing.T) {
	plans := map[string]Plan{}
	for _, p := range Plans() {
		plans[p.Key().String()] = p
	}
	if p := plans["team-a/api"]; p.ControlPlanes != 1 || p.UpgradeTo != "" || p.Budget || len(p.AgentNamespaces) != 0 {
		t.Errorf("team-a/api is not healthy: %+v", p)
	}
	for name, agents := range map[string]int{"team-a/web": 1, "team-b/shop": 2} {
		if p := plans[name]; p.ControlPlanes != 3 || p.UpgradeTo == "" || p.UpgradeTo == p.Version || len(p.AgentNamespaces) != agents || p.Budget {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := plans["team-c/ml"]; !p.Budget || len(p.AgentNamespaces) != 0 || p.Workers != 2 {
		t.Errorf("team-c/ml: %+v", p)
	}
	if len(plans) != 4 {
		t.Errorf("%d clusters", len(plans))
	}
}

func TestAgentDeployment(t *testing.T) {
	for namespace, want := range map[string]string{
		"pinniped-concierge": "pinniped-concierge-kube-cert-agent", "vmware-system-tmc": "cluster-auth-pinniped-kube-cert-agent", "mine": "mine-kube-cert-agent",
	} {
		if got := AgentDeployment(namespace); got != want {
			t.Errorf("in %s: %s, want %s", namespace, got, want)
		}
	}
}

func TestImageNamesLookLikeVMOperators(t *testing.T) {
	pattern := regexp.MustCompile(`^vmi-[0-9a-f]{17}$`)
	a, b := imageName("v1.35.4"), imageName("v1.36.3")
	if !pattern.MatchString(a) || !pattern.MatchString(b) || a == b || a != imageName("v1.35.4") {
		t.Errorf("%s, %s", a, b)
	}
}

func TestSampleMachineDrainsInBothGenerations(t *testing.T) {
	machine := sampleDrainingMachine()
	setDraining(machine, time.Date(2026, 11, 30, 8, 43, 2, 0, time.UTC))
	var messages []string
	for _, condition := range machine.Status.Conditions {
		if condition.Type == clusterv1.MachineDeletingCondition && condition.Reason == "DrainingNode" {
			messages = append(messages, condition.Message)
		}
	}
	for _, condition := range machine.Status.Deprecated.V1Beta1.Conditions { //nolint:staticcheck // What the Machine controller still writes.
		if condition.Type == "DrainingSucceeded" && condition.Reason == "Draining" {
			messages = append(messages, condition.Message)
		}
	}
	if len(messages) != 2 || messages[0] != messages[1] ||
		!strings.HasPrefix(messages[0], "Drain not completed yet (started at 2026-11-30T08:43:02Z):\n* Pod pinniped-concierge/") {
		t.Errorf("messages: %q", messages)
	}
}

func TestCheckServed(t *testing.T) {
	for _, good := range []string{"v1beta1", "v1beta2", "both"} {
		if err := CheckServed(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	if err := CheckServed("v1alpha4"); err == nil {
		t.Error("v1alpha4 was accepted")
	}
}
