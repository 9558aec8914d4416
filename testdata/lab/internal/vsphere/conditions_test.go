package vsphere

import (
	"testing"
	"time"
)

func TestConditionsKeepTheirTime(t *testing.T) {
	o := New("VirtualMachine", "team-a", "a")
	first := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	later := first.Add(time.Hour)
	set := func(now time.Time, status string) map[string]any {
		t.Helper()
		if err := setConditions(o, now, []condition{{kind: "Ready", status: status, reason: "R"}}, "status", "conditions"); err != nil {
			t.Fatal(err)
		}
		return o.Object["status"].(map[string]any)["conditions"].([]any)[0].(map[string]any)
	}
	set(first, "False")
	if got := set(later, "False")["lastTransitionTime"]; got != first.Format(time.RFC3339) {
		t.Errorf("an unchanged condition moved to %v", got)
	}
	if got := set(later, "True")["lastTransitionTime"]; got != later.Format(time.RFC3339) {
		t.Errorf("a changed condition kept %v", got)
	}
	if conditionStatus(o, "Ready") != "True" || conditionStatus(o, "Other") != "" {
		t.Error("conditionStatus reads something else than what was written")
	}
}

func TestHostsAreAFew(t *testing.T) {
	hosts := map[string]bool{}
	for _, address := range []string{"10.10.1.10", "10.10.1.11", "10.10.1.12", "10.10.1.13"} {
		hosts[host(address)] = true
	}
	if len(hosts) != 3 || !hosts["esx-01.lab"] {
		t.Errorf("hosts = %v", hosts)
	}
}

func TestKindsHaveTheStoredVersions(t *testing.T) {
	for kind, want := range map[string]string{
		"VSphereMachine": "vmware.infrastructure.cluster.x-k8s.io/v1beta2", "VirtualMachineService": "vmoperator.vmware.com/v1alpha5",
	} {
		if got := New(kind, "ns", "n").GetAPIVersion(); got != want {
			t.Errorf("%s is %s, want %s", kind, got, want)
		}
	}
	if got := NewList("VirtualMachine").GetKind(); got != "VirtualMachineList" {
		t.Errorf("list kind %s", got)
	}
}
