package print

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"time"

	"vksmedic/model/signature"
	"vksmedic/probes/capture"
)

// TestLostIsNotHealthy has dumps of which something was lost: nobody is told that all is well.
func TestLostIsNotHealthy(t *testing.T) {
	const machine = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nmetadata: {name: m, namespace: ns}\nspec: {clusterName: c}\nstatus: {phase: Running}\n"
	packed := func(name, content string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(content))
		_ = w.Close()
		_ = z.Close()
		return b.String()
	}
	whole := packed("objects.yaml", machine+strings.Repeat("# "+strings.Repeat("x", 100)+"\n", 1000))
	for name, c := range map[string]struct {
		text  string
		code  int
		words string
	}{
		"whole":                               {machine, Clear, "Nothing is flagged in 1 cluster"},
		"an empty list":                       {"apiVersion: v1\nkind: List\nitems: []\n", Clear, "there is no cluster to look at"},
		"nothing":                             {"hello\n", Blind, "Nothing can be said: "},
		"an archive that is cut off":          {whole[:len(whole)/2], Blind, "something was lost"},
		"an archive that is cut off early":    {whole[:20], Blind, "Nothing can be said: "},
		"a Machine that is no YAML":           {machine + "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nmetadata: {name: [\n", Blind, "something was lost: standard input: 1 part of 2 documents"},
		"only a Machine that is no YAML":      {"kind: Machine\nmetadata: {name: [\n", Blind, "Nothing can be said: "},
		"a Machine without a name":            {machine + "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nmetadata: {}\n", Blind, "has no metadata.name"},
		"a Machine whose status is none":      {machine + "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nmetadata: {name: x, namespace: ns}\nspec: {clusterName: c}\nstatus: gone\n", Blind, "the status of Machine x is no object"},
		"JSON that is cut off":                {`{"kind":"List","items":[{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine","metadata":{"name":"m","namespace":"ns"},"spec":{"clusterName":"c"}},{"kind`, Blind, "it ends within an object"},
		"a member of an archive that is none": {packed("m.yaml", "kind: Machine\nmetadata: {name: [\n"), Blind, "m.yaml"},
		"a Machine that is too large":         {machine + "---\nkind: Machine\nmetadata: {name: x}\nx: [" + strings.Repeat("{},", 1<<19) + "]\n", Blind, "500000 lines and values"},
		"prose beside it in an archive":       {packed("notes.md", "kind: Machine\nmetadata: {name: [\n"), Blind, "no object in it"},
	} {
		d, err := capture.Read(t.Context(), capture.Stdin, strings.NewReader(c.text))
		if err != nil {
			t.Fatal(err)
		}
		sn := d.Snapshot(signature.NewJudge(signature.Options{}), time.Time{})
		var b bytes.Buffer
		if err := Print(&b, Table, sn, Options{}); err != nil {
			t.Fatal(err)
		}
		if code := ExitCode(sn); code != c.code || !strings.Contains(b.String(), c.words) {
			t.Errorf("%s: %d\n%s", name, code, b.String())
		}
	}
}
