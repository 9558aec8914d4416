package print

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vksmedic/model"
	"vksmedic/model/signature"
	"vksmedic/probes/capture"
)

const recordedDir = "../../testdata/recorded"

// recorded judges objects that the real controllers wrote, some time after the newest of them.
func recorded(t *testing.T, later time.Duration, files ...string) *model.Snapshot {
	t.Helper()
	var all bytes.Buffer
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(recordedDir, f))
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString("---\n")
		all.Write(raw)
		all.WriteString("\n")
	}
	d, err := capture.Read(context.Background(), capture.Stdin, &all)
	if err != nil {
		t.Fatal(err)
	}
	return d.Snapshot(signature.Judge, d.NewestTime.Add(later))
}

func found(sn *model.Snapshot) []string {
	var out []string
	for _, f := range sn.Findings() {
		out = append(out, f.Signature+":"+string(f.Confidence))
	}
	return out
}

func detail(sn *model.Snapshot, id, check string) string {
	for _, f := range sn.Findings() {
		for _, c := range f.Evidence {
			if f.Signature == id && c.Name == check {
				return string(c.Verdict) + ": " + c.Detail
			}
		}
	}
	return ""
}

// The signatures on what was recorded from the real Cluster API, CAPV and VM Operator.
func TestRecorded(t *testing.T) {
	const chain = "chain-capi1.14.2-capv1.16.1-vmop9.0.0-"
	for name, c := range map[string]struct {
		files []string
		later time.Duration
		want  []string
		check [3]string // signature, check, part of its answer.
	}{
		"the whole chain in good health": {files: []string{chain + "cluster.yaml", chain + "kcp.yaml", chain + "md.yaml", chain + "machineset.yaml", chain + "ma.yaml", chain + "vspheremachine.yaml",
			chain + "vspheremachinetemplate.yaml", chain + "vspherecluster.yaml", chain + "vm.yaml", chain + "vmservice.yaml", chain + "ep.yaml"}, later: time.Minute},
		"an orphan, v1beta2": {files: []string{"chain-orphan-ma.yaml", "chain-orphan-vm.yaml", "chain-orphan-vspheremachine.yaml"}, later: 10 * time.Minute,
			want: []string{"vm-gone:suspected"}, check: [3]string{"vm-gone", "same-vm", "yes"}},
		"an orphan, v1beta1": {files: []string{"chain-orphan-ma.as-v1beta1.yaml", "chain-orphan-vm.yaml"}, later: 10 * time.Minute, want: []string{"vm-gone:suspected"}},
		"an orphan with its events": {files: []string{"chain-orphan-ma.yaml", "chain-orphan-vm.yaml", "chain-orphan-vspheremachine.yaml", "chain-orphan-events.yaml"}, later: 10 * time.Minute,
			want: []string{"vm-gone:confirmed"}, check: [3]string{"vm-gone", "vm-evidence", "orphaned"}},
		"an orphan being deleted": {files: []string{"chain-orphan-deleting-ma.yaml", "chain-orphan-deleting-vm.yaml", "chain-orphan-deleting-vspheremachine.yaml", "chain-orphan-deleting-events.yaml"}, later: 2 * time.Hour,
			want: []string{"machine-deletion-stalled:confirmed"}, check: [3]string{"machine-deletion-stalled", "operator-deletes", "unsupported"}},
		"an orphan just being deleted": {files: []string{"chain-orphan-deleting-ma.yaml", "chain-orphan-deleting-vm.yaml", "chain-orphan-deleting-events.yaml"}, later: time.Minute},
		"the privilege taken": {files: []string{"chain-s3-frozen-clusterrole.yaml", "chain-s3-frozen-ep.yaml", "chain-s3-frozen-vmservice.yaml", "chain-s3-frozen-vm.yaml"}, later: 10 * time.Minute,
			want: []string{"endpoints-missing:confirmed", "endpoints-privilege-missing:confirmed"}, check: [3]string{"endpoints-missing", "operator-may-patch", "no"}},
		"the roles as they ship, 8.0.3": {files: []string{"vmop-8.0.3-clusterrole.yaml"}},
		"9.0.0":                         {files: []string{"vmop-9.0.0-clusterrole.yaml"}},
		"9.1.0":                         {files: []string{"vmop-9.1.0-clusterrole.yaml"}},
		"two ready and listed":          {files: []string{"vmop-9.0.0-two-ready-ep-tkc-01-control-plane-service.yaml", "vmop-9.0.0-two-ready-vm-tkc-01-cp-1.yaml", "vmop-9.0.0-two-ready-vm-tkc-01-cp-3.yaml", "vmop-9.0.0-vmservice-tkc-01-control-plane-service.yaml"}, later: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			sn := recorded(t, c.later, c.files...)
			got := found(sn)
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("found %v, want %v", got, c.want)
				for _, f := range sn.Findings() {
					t.Log(f.Summary)
				}
			}
			if c.check[0] != "" && !strings.Contains(detail(sn, c.check[0], c.check[1]), c.check[2]) {
				t.Errorf("%s says %q, want %q in it", c.check[1], detail(sn, c.check[0], c.check[1]), c.check[2])
			}
		})
	}
}

// FuzzJudge: whatever a dump holds, reading, judging and printing it neither panics nor writes
// control characters.
func FuzzJudge(f *testing.F) {
	for _, dir := range []string{casesDir, recordedDir} {
		_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".yaml") {
				if raw, err := os.ReadFile(path); err == nil && len(raw) < 32<<10 {
					f.Add(raw)
				}
			}
			return nil
		})
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := capture.Read(context.Background(), capture.Stdin, bytes.NewReader(raw))
		if err != nil {
			return
		}
		for _, at := range []time.Time{{}, d.NewestTime, d.NewestTime.Add(3 * time.Hour)} {
			sn := d.Store(signature.Judge).Snapshot(at)
			var b bytes.Buffer
			if err := Print(&b, JSON, sn, Options{}); err != nil {
				t.Fatal(err)
			}
			for _, x := range sn.Findings() {
				if len(x.Evidence) == 0 || x.Summary == "" || strings.ContainsAny(x.Summary+x.Short, "\n\x1b") {
					t.Errorf("finding %+v", x)
				}
			}
		}
	})
}
