package print

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/signature"
	"vksmedic/probes/capture"
)

// What the notes of expect.tsv ask of the findings beyond their ids.
func TestCaseNotesBeyondDrains(t *testing.T) {
	verdict := func(t *testing.T, f *model.Finding, name string, want model.Verdict, word string) {
		t.Helper()
		if c := check(f, name); c.Verdict != want || !strings.Contains(c.Detail, word) {
			t.Errorf("%s: %s %q, want %s and %q", name, c.Verdict, c.Detail, want, word)
		}
	}
	t.Run("17 and 25 advise against deleting by hand", func(t *testing.T) {
		for _, name := range []string{"17-pdb-plus-unreachable-node", "25-deleting-over-hour-containerd-dead"} {
			_, found := caseOf(t, name)
			for _, f := range found {
				for _, a := range f.Advice {
					if low := strings.ToLower(a); strings.Contains(low, "delete the machine") && !strings.Contains(low, "do not delete") {
						t.Errorf("%s, %s: %q", name, f.Signature, a)
					}
				}
			}
		}
	})
	t.Run("19 names its stage and the volume", func(t *testing.T) {
		f := findingOf(t, "19-volumes-not-detached", signature.MachineDeletionStalled)
		facts, ok := f.Facts.(*signature.DeletionFacts)
		if !ok || facts.Stage != lifecycle.VolumeDetach || !strings.Contains(f.Summary, "db/data-pg-0") {
			t.Errorf("%+v: %s", f.Facts, f.Summary)
		}
	})
	t.Run("24 is seen from the Supervisor alone", func(t *testing.T) {
		f := findingOf(t, "24-supervisor-only-nodehealthy-message", signature.ContainerRuntimeDown)
		if s := check(f, "kubelet-says-runtime").Source; !strings.HasPrefix(s, "Machine ") || f.Confidence != model.Confirmed {
			t.Errorf("%s, read from %s", f.Confidence, s)
		}
	})
	t.Run("25 is one story, the runtime first", func(t *testing.T) {
		l, _ := judged(t, expectation{name: "25-deleting-over-hour-containerd-dead", asOf: "+2h"})
		if len(l.Findings) != 3 || l.Findings[0].Signature != signature.ContainerRuntimeDown || len(l.Findings[0].Causes) != 2 || len(l.Findings[2].CausedBy) != 2 {
			t.Errorf("%+v", l.Findings)
		}
	})
	t.Run("28 claims no start limit", func(t *testing.T) {
		f := findingOf(t, "28-gpu-operator-broke-cri-plugin", signature.ContainerRuntimeDown)
		verdict(t, f, "containerd-failed", model.Unknown, "look at the node")
	})
	t.Run("38 is confirmed with its log", func(t *testing.T) {
		d, err := capture.Read(context.Background(), filepath.Join(casesDir, "38-bind-apiserver-6443"), nil)
		if err != nil {
			t.Fatal(err)
		}
		log, err := os.ReadFile(filepath.Join(casesDir, "38-bind-apiserver-6443", "1.txt"))
		if err != nil {
			t.Fatal(err)
		}
		sn := d.Snapshot(signature.Judge, d.NewestTime)
		w := *sn.Clusters[0].Workload
		w.Logs = []model.LogExcerpt{{Namespace: "kube-system", Pod: "kube-apiserver-wc1-cp-a", Container: "kube-apiserver", Previous: true, Text: string(log)}}
		c := *sn.Clusters[0]
		c.Workload = &w
		found, _ := signature.Judge(&c, sn, sn.At)
		if len(found) != 1 || found[0].Signature != signature.PortHeldByOrphan || found[0].Confidence != model.Confirmed || !strings.Contains(found[0].Summary, "6443") {
			t.Errorf("%+v", found)
		}
	})
	t.Run("51 counts nothing that it cannot count", func(t *testing.T) {
		f := findingOf(t, "51-quorum-blocks-remediation", signature.RemediationBlockedByQuorum)
		verdict(t, f, "quorum-held", model.Unknown, "cannot be counted")
		if len(f.Subjects) != 3 {
			t.Errorf("subjects %v", f.Subjects)
		}
	})
	t.Run("57 calls the image a corroboration", func(t *testing.T) {
		f := findingOf(t, "57-endpoints-empty-image-mismatch", signature.EndpointsMissing)
		verdict(t, f, "image-differs", model.Yes, "vmi-old")
		facts, ok := f.Facts.(*signature.EndpointsFacts)
		if !ok || !slices.Equal(facts.Missing, []string{"10.10.5.5", "10.10.5.6"}) {
			t.Errorf("%+v", f.Facts)
		}
	})
	t.Run("58 stands under notReadyAddresses", func(t *testing.T) {
		f := findingOf(t, "58-endpoints-notready-addresses", signature.EndpointsMissing)
		verdict(t, f, "address-missing", model.Yes, "not ready")
	})
	t.Run("60 keeps the other two", func(t *testing.T) {
		f := findingOf(t, "60-endpoints-partial-missing", signature.EndpointsMissing)
		facts, ok := f.Facts.(*signature.EndpointsFacts)
		if !ok || !slices.Equal(facts.Missing, []string{"10.10.5.7"}) || !slices.Equal(facts.Keep, []string{"10.10.5.5", "10.10.5.6"}) || f.Severity != model.Warning {
			t.Errorf("%s %+v", f.Severity, f.Facts)
		}
	})
	t.Run("69 names the stage", func(t *testing.T) {
		f := findingOf(t, "69-orphan-vmop-refuses-delete", signature.MachineDeletionStalled)
		facts, ok := f.Facts.(*signature.DeletionFacts)
		if !ok || facts.Stage != lifecycle.Infrastructure {
			t.Errorf("%+v", f.Facts)
		}
		verdict(t, f, "operator-deletes", model.Unknown, "vmoperator.vmware.com/virtualmachine")
	})
	t.Run("73 says that the provider noticed", func(t *testing.T) {
		f := findingOf(t, "73-capv-removed-from-infra", signature.MachineUnhealthy)
		if !strings.Contains(f.Summary, "as its provider reports") {
			t.Errorf("%q", f.Summary)
		}
	})
}

// Every id that the table of cases speaks of is one that the program has.
func TestCasesNameKnownSignatures(t *testing.T) {
	for _, e := range expectations(t) {
		for _, id := range slices.Concat(e.fires, e.mustNot) {
			if !known(id) {
				t.Errorf("%s: %s is no signature", e.name, id)
			}
		}
	}
}
