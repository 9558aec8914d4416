package print

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"vksmedic/model"
	"vksmedic/model/signature"
	"vksmedic/probes/capture"
	"vksmedic/probes/object"
	"vksmedic/probes/wire"
)

// everyForm sees that a snapshot can be printed in every form, and that a table holds nothing that a terminal acts upon.
func everyForm(t *testing.T, sn *model.Snapshot) {
	t.Helper()
	for _, f := range Formats() {
		var b bytes.Buffer
		if err := Print(&b, f, sn, Options{Width: 80}); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		if f == Table && strings.ContainsAny(b.String(), "\x00\x07\x1b\x7f\u009b\u202e") {
			t.Errorf("%q", b.String())
		}
	}
	ExitCode(sn)
}

// FuzzDump reads anything as a dump, judges it and prints what is found.
func FuzzDump(f *testing.F) {
	f.Add([]byte("apiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nmetadata: {name: m, namespace: ns}\nspec: {clusterName: c}\nstatus: {phase: Failed}\n"))
	f.Add([]byte(`{"kind":"List","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"conditions":[{"type":"Ready","status":"False"}]}}]}`))
	f.Add([]byte("kind: MachineList\nitems:\n- metadata: &m {name: a}\n- metadata: *m\n---\n- x\n"))
	f.Add([]byte("apiVersion: vksmedic/v1\nkind: Capture\nat: 2026-01-01T00:00:00Z\nsupervisor: {}\nclusters: [{Namespace: a, Name: b}]\n"))
	judge := signature.NewJudge(signature.Options{})
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := capture.Read(t.Context(), capture.Stdin, bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		everyForm(t, d.Snapshot(judge, time.Time{}))
	})
}

// answer is a server that says one thing.
type answer []byte

func (a answer) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(a))}, nil
}

// FuzzAnswer takes anything for a list and for a watch of several kinds, judges what comes of it and prints that.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"m","namespace":"ns"},"spec":{"clusterName":"c"},"status":{"phase":"Failed","conditions":[{"type":"Deleting","status":"True","reason":"DrainingNode"}]}}]}`))
	f.Add([]byte(`{"type":"ADDED","object":{"metadata":{"name":"m","namespace":"ns","deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"clusterName":"c"}}}{"type":"ERROR","object":{}}`))
	judge := signature.NewJudge(signature.Options{})
	config := &rest.Config{Host: "https://sv.test"}
	f.Fuzz(func(t *testing.T, b []byte) {
		client, err := wire.NewClient(config, &http.Client{Transport: wire.NewTransport(answer(b), &url.URL{Scheme: "https", Host: "sv.test"}, nil)})
		if err != nil {
			t.Fatal(err)
		}
		store := model.NewStore(judge)
		put := func(u map[string]any) {
			if row, err := object.StrictRow(u); row != nil && (err == nil || row.GetMeta() != nil) {
				store.Put(row)
			}
		}
		for kind, gvr := range map[string]schema.GroupVersionResource{
			"Machine":             {Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "machines"},
			"Cluster":             {Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "clusters"},
			"KubeadmControlPlane": {Group: "controlplane.cluster.x-k8s.io", Version: "v1beta1", Resource: "kubeadmcontrolplanes"},
			"VirtualMachine":      {Group: "vmoperator.vmware.com", Version: "v1alpha5", Resource: "virtualmachines"},
		} {
			what := wire.What{GroupVersionResource: gvr, Kind: kind}
			_, _ = client.Page(t.Context(), what, 500, "", func(u map[string]any, _ int, err error) error { // It may be no list.
				if err == nil {
					put(u)
				}
				return nil
			})
			s, err := client.Watch(t.Context(), what, wire.Watching{ResourceVersion: "1", Life: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			for {
				e, err := s.Next()
				if err != nil {
					break
				}
				if e.Err == nil {
					put(e.Object)
				}
			}
			s.Close()
		}
		everyForm(t, store.Snapshot(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)))
	})
}
