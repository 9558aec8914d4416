package capture

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"vksmedic/model"
	"vksmedic/model/signature"
)

// A large fleet: what reading it back may cost is measured against decoding its YAML alone.
const (
	manyClusters = 500
	manyMachines = 10 // of each.
)

// largeCapture writes the capture of a large fleet, and returns its file. Its objects are those of
// testdata/large, which real controllers wrote, with other names.
func largeCapture(t testing.TB, clusters, machines int) string {
	t.Helper()
	l := newLive(t)
	forms := map[string]string{}
	for _, kind := range []string{"cluster", "kubeadmcontrolplane", "machinedeployment", "machine", "vspheremachine", "virtualmachine", "node"} {
		b, err := os.ReadFile(filepath.Join("testdata", "large", kind+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if b, err = yaml.YAMLToJSON(b); err != nil {
			t.Fatal(err)
		}
		forms[kind] = string(b)
	}
	for i := range clusters {
		ref := model.ClusterRef{Namespace: fmt.Sprintf("team-%03d", i/5), Name: fmt.Sprintf("c-%03d", i)}
		named := func(in model.Place, kind, machine string) {
			doc := strings.NewReplacer("NAMESPACE", ref.Namespace, "CLUSTER", ref.Name, "MACHINE", machine).Replace(forms[kind])
			var u map[string]any
			if err := json.Unmarshal([]byte(doc), &u); err != nil {
				t.Fatal(err)
			}
			l.take(in, u)
		}
		named(model.OnSupervisor("prod"), "cluster", "")
		named(model.OnSupervisor("prod"), "kubeadmcontrolplane", "")
		named(model.OnSupervisor("prod"), "machinedeployment", "")
		for j := range machines {
			m := fmt.Sprintf("%s-%05d", ref.Name, j)
			named(model.OnSupervisor("prod"), "machine", m)
			named(model.OnSupervisor("prod"), "vspheremachine", m)
			named(model.OnSupervisor("prod"), "virtualmachine", m)
			named(model.InCluster("prod", ref), "node", m)
		}
	}
	l.store.SetSource(model.Source{Name: "supervisor/virtualmachines", State: model.SourceOK, Seen: threeAM, Live: true})
	file := filepath.Join(t.TempDir(), "large.tar.gz")
	if _, _, err := Save(t.Context(), file, l.snapshot(), l.rec, WriteOptions{Tool: "test"}); err != nil {
		t.Fatal(err)
	}
	return file
}

// unpacked is the size of a capture's files, and decodeAlone how long their YAML takes, without
// anything else.
func decodeAlone(t testing.TB, file string) (unpacked int64, took time.Duration) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	paths, content := members(t, string(raw))
	docs := make([][]byte, len(paths))
	for i, p := range paths {
		docs[i] = []byte(content[p])
		unpacked += int64(len(docs[i]))
	}
	runtime.GC()
	began := time.Now()
	for _, d := range docs {
		var u map[string]any
		if err := yaml.Unmarshal(d, &u); err != nil {
			t.Fatal(err)
		}
	}
	return unpacked, time.Since(began)
}

// readAndJudge reads and judges a capture; peak is the most that the heap held meanwhile above what
// it held before.
func readAndJudge(t testing.TB, file string) (sn *model.Snapshot, took time.Duration, peak int64) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(ReadingGC)) // As the program does.
	runtime.GC()
	before := heap()
	var most atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(2 * time.Millisecond); ; {
			most.Store(max(most.Load(), heap()))
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	began := time.Now()
	d, err := Read(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	sn = d.Snapshot(signature.Judge, time.Time{})
	took = time.Since(began)
	close(stop)
	<-stopped
	runtime.KeepAlive(d)
	return sn, took, most.Load() - before
}

// heap is what the heap holds, garbage included.
func heap() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()) //nolint:gosec // far from overflowing.
}

// What scan --from does with a large capture. It grows as the fleet does, so a fifth of it will do here;
// the benchmark does all of it and prints the figures. The bound on time is wide, since a test
// shares its machine.
func TestLargeCapture(t *testing.T) {
	file := largeCapture(t, manyClusters/5, manyMachines)
	size, alone := decodeAlone(t, file)
	sn, took, peak := readAndJudge(t, file)
	for range 2 { // The best of three: others use this machine too.
		_, a := decodeAlone(t, file)
		_, b, _ := readAndJudge(t, file)
		alone, took = min(alone, a), min(took, b)
	}
	if len(sn.Clusters) != manyClusters/5 || len(sn.Clusters[0].Machines) != manyMachines || len(sn.Clusters[manyClusters/5-1].Workload.Nodes) != manyMachines {
		t.Fatalf("%d clusters", len(sn.Clusters))
	}
	t.Logf("%d MB unpacked; decoding alone %v, read and judged in %v (%.2f times), with %d MB (%.2f times the unpacked size)",
		size>>20, alone, took, float64(took)/float64(alone), peak>>20, float64(peak)/float64(size))
	if took > 4*alone {
		t.Errorf("reading and judging takes %v, decoding alone %v", took, alone)
	}
	if peak > 2*size {
		t.Errorf("it needs %d MB for %d MB of YAML", peak>>20, size>>20)
	}
}

func BenchmarkReadLargeCapture(b *testing.B) {
	file := largeCapture(b, manyClusters, manyMachines)
	size, alone := decodeAlone(b, file)
	b.ResetTimer()
	var total time.Duration
	var most int64
	for range b.N {
		_, took, peak := readAndJudge(b, file)
		total, most = total+took, max(most, peak)
	}
	b.ReportMetric(total.Seconds()/float64(b.N)/alone.Seconds(), "x-decoding")
	b.ReportMetric(float64(most)/float64(size), "x-size")
	b.ReportMetric(float64(size)/1e6, "MB-unpacked")
}
