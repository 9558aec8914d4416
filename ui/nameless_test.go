package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vksmedic/model/signature"
	"vksmedic/probes/capture"
)

// dumpOf reads a dump with these objects and judges it.
func dumpOf(t testing.TB, yaml string) *desk {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "objects.yaml"), []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	dump, err := capture.Read(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	sn := dump.Snapshot(signature.Judge, time.Time{})
	d := newDesk(t, 120, 30, Options{Where: Where{Dump: "dump"}, Now: func() time.Time { return sn.At }})
	d.send(snapshotMsg{sn})
	return d
}

// TestDumpWithoutMachines has objects that name no cluster, and a finding about the Supervisor:
// these are two rows with two names, and both open.
func TestDumpWithoutMachines(t *testing.T) {
	const yaml = `apiVersion: v1
kind: Node
metadata: {name: n1, creationTimestamp: "2026-01-01T00:00:00Z"}
status: {conditions: [{type: Ready, status: "False", reason: KubeletNotReady, message: "container runtime is down", lastTransitionTime: "2026-01-02T00:00:00Z"}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: vmware-system-vmop-manager-role}
rules: [{apiGroups: [""], resources: [endpoints], verbs: [get, list, watch]}]
---
apiVersion: v1
kind: Event
metadata: {name: e, namespace: default}
involvedObject: {kind: Pod, name: x}
lastTimestamp: "2026-01-03T00:00:00Z"
`
	d := dumpOf(t, yaml)
	rows := func(with string) (n int) {
		for l := range strings.SplitSeq(d.screen(), "\n") {
			if strings.Contains(l, with) {
				n++
			}
		}
		return n
	}
	if rows("Supervisor") != 1 || rows("(no named cluster)") != 1 {
		t.Fatalf("rows called Supervisor: %d, of no named cluster: %d\n%s", rows("Supervisor"), rows("(no named cluster)"), d.screen())
	}
	general := d.m.snap.General
	if len(general) != 1 || len(d.m.snap.Clusters) != 1 || len(d.m.snap.Clusters[0].Findings) == 0 {
		t.Fatalf("general %d, clusters %d", len(general), len(d.m.snap.Clusters))
	}
	d.keys("enter")
	wants(t, d, "Supervisor  ", general[0].Evidence[0].Title)
	if strings.Contains(d.screen(), "not found any more") {
		t.Error(d.screen())
	}
	d.keys("esc", "j", "enter")
	wants(t, d, "(no named cluster)", "n1")
	d.keys("enter")
	wants(t, d, "(no named cluster)  ", d.m.snap.Clusters[0].Findings[0].Evidence[0].Title)
	d.keys(":", "f", "i", "enter")
	wants(t, d, "Supervisor ", "(no named cluster) ")
	for range rows("(no named cluster)") {
		d.keys("enter")
		if strings.Contains(d.screen(), "not found any more") {
			t.Error(d.screen())
		}
		d.keys("esc", "j")
	}
}
