//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"vksmedic/testdata/labtest"
)

// Benchmarks of the whole program, started as a user starts it. Those of its parts are in
// their packages. Their figures are printed; none fails a build.

// BenchmarkFirstFrame is the time from start to the first frame, with a Supervisor that
// takes the connection and never answers. The aim is under 100 ms.
func BenchmarkFirstFrame(b *testing.B) {
	server := silent(b)
	config := newStandIn(b).kubeconfig(b, func(k *api.Config) { k.Clusters["sv"].Server = "https://" + server })
	labtest.Program(b) // built before the clock runs.
	for b.Loop() {
		x := start(b, 120, 40, b.TempDir(), "--kubeconfig", config)
		x.WaitFor("CLUSTER")
		b.StopTimer()
		x.Kill()
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/frame")
}

// BenchmarkIdle is how much of a core the dashboard takes on the lab when nobody touches it
// and the clusters' drains hang, which is what it watches closely. The aim is under 1 %.
func BenchmarkIdle(b *testing.B) {
	lab := labtest.Start(b)
	x := start(b, 120, 40, b.TempDir(), "--kubeconfig", lab.Kubeconfig("administrator"))
	x.WaitFor("workload 4 of 4")
	const window = 20 * time.Second
	for b.Loop() {
		before := cpu(b, x.cmd.Process.Pid)
		<-time.After(window) // what is measured is what happens in this time.
		used := cpu(b, x.cmd.Process.Pid) - before
		b.ReportMetric(100*used.Seconds()/window.Seconds(), "%core")
	}
	x.Keys("q")
	_ = x.Wait()
}

// cpu is the processor time that a process has used so far.
func cpu(t testing.TB, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Skipf("SKIPPED: needs /proc: %v", err)
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	var ticks int64
	for _, s := range f[11:13] { // utime and stime, in hundredths of a second.
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
