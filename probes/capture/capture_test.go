package capture

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"vksmedic/model"
)

const (
	machineYAML = `apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata: {name: web-cp-1, namespace: team-a, creationTimestamp: "2026-08-01T10:00:00Z"}
spec: {clusterName: web}
status: {phase: Running, nodeRef: {name: web-cp-1}}
`
	podYAML = `apiVersion: v1
kind: Pod
metadata:
  name: a-0
  namespace: app
  creationTimestamp: "2026-08-01T11:00:00Z"
spec: {nodeName: web-cp-1}
`
	machineJSON = `{"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine","metadata":{"name":"web-cp-1","namespace":"team-a"},"spec":{"clusterName":"web"}}`
	podJSON     = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a-0","namespace":"app"},"spec":{"nodeName":"web-cp-1"}}`
)

func stdin(t testing.TB, s string) *Dump {
	t.Helper()
	d, err := Read(context.Background(), Stdin, strings.NewReader(s))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func names(d *Dump) []string {
	var out []string
	for _, o := range d.Objects {
		out = append(out, o.GetMeta().Ref().String())
	}
	slices.Sort(out)
	return out
}

// troubles are the sources that were not understood, and why.
func troubles(d *Dump) map[string]string {
	out := map[string]string{}
	for _, s := range d.Sources {
		if s.State == model.SourceNotUnderstood {
			out[string(s.Name)] = s.Detail
		}
	}
	return out
}

var both = []string{"Machine team-a/web-cp-1", "Pod app/a-0"}

func indent(s, by string) string {
	return by + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n"+by) + "\n"
}

func item(s, by string) string { return by + "- " + strings.TrimSpace(indent(s, by+"  ")) + "\n" }

func toUTF16(s string, order binary.ByteOrder) string {
	b := make([]byte, 0, 2*len(s)+2)
	for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
		var two [2]byte
		order.PutUint16(two[:], u)
		b = append(b, two[:]...)
	}
	return string(b)
}

func gz(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func tarOf(t testing.TB, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: files[i], Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(files[i+1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, files[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The same two objects in every form.
func TestReadForms(t *testing.T) {
	list := "apiVersion: v1\nitems:\n" + item(machineYAML, "") + item(podYAML, "") + "kind: List\nmetadata:\n  resourceVersion: \"\"\n"
	for name, in := range map[string]string{
		"two documents":                     machineYAML + "---\n" + podYAML,
		"separators everywhere":             "---\n# a comment\n---\n" + machineYAML + "...\n--- # next\n" + podYAML + "---\n",
		"a separator with the document":     "--- " + machineJSON + "\n---\n" + podYAML,
		"kubectl's List":                    list,
		"List with indented items":          "kind: List\napiVersion: v1\nitems:\n" + item(machineYAML, "  ") + item(podYAML, "  "),
		"List within documents":             "# nothing\n---\n" + list + "---\n" + podYAML,
		"List in flow style":                "{kind: List, apiVersion: v1, items: [" + machineJSON + ", " + podJSON + "]}",
		"List in flow style after a block":  "kind: List\nitems: [" + machineJSON + ", " + podJSON + "]\n",
		"items of lists of the API, YAML":   "apiVersion: cluster.x-k8s.io/v1beta1\nitems:\n- metadata: {name: web-cp-1, namespace: team-a}\n  spec: {clusterName: web}\nkind: MachineList\n---\n" + podYAML,
		"items of lists of the API, JSON":   `{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a-0","namespace":"app"},"spec":{"nodeName":"web-cp-1"}}]}` + machineJSON,
		"items before the kind, JSON":       `{"items":[{"metadata":{"name":"a-0","namespace":"app"}}],"kind":"PodList","apiVersion":"v1"}` + machineJSON,
		"JSON lines":                        machineJSON + "\n" + podJSON + "\n",
		"JSON, indented":                    "{\n \"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n" + machineJSON + ",\n" + podJSON + "]}\n",
		"a JSON array":                      "[" + machineJSON + "," + podJSON + "]",
		"Windows line ends":                 strings.ReplaceAll(list, "\n", "\r\n"),
		"byte order mark":                   "\ufeff" + machineYAML + "---\n" + podYAML,
		"byte order mark, JSON":             "\ufeff" + machineJSON + podJSON,
		"UTF-16 little endian (PowerShell)": toUTF16(strings.ReplaceAll(list, "\n", "\r\n"), binary.LittleEndian),
		"UTF-16 big endian, JSON":           toUTF16(machineJSON+podJSON, binary.BigEndian),
		"gzip":                              gz(t, list),
		"tar":                               tarOf(t, "a/machine.txt", machineYAML, "a/pod", podYAML),
		"tar.gz":                            gz(t, tarOf(t, "./machine.txt", machineYAML, "pod.json.gz", gz(t, podJSON))),
		"objects of other kinds beside":     machineYAML + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\napiVersion: example.com/v9\nkind: Thing\nmetadata: {name: x}\n---\n" + podYAML,
		"an empty List beside":              "apiVersion: v1\nitems: []\nkind: List\n---\n" + machineYAML + "---\n" + podYAML + "---\napiVersion: v1\nkind: List\nitems:\n",
		"no newline at the end":             machineYAML + "---\n" + strings.TrimSpace(podYAML),
		"the same object twice":             machineYAML + "---\n" + podYAML + "---\n" + podYAML,
		"a message with separators in it":   strings.Replace(machineYAML, "phase: Running", "phase: Running, message: \"x\\n---\\ny\"", 1) + "---\n" + podYAML,
		"a comment between items":           "items:\n# first\n" + item(machineYAML, "") + "\n# second\n" + item(podYAML, "") + "kind: List\n",
	} {
		t.Run(name, func(t *testing.T) {
			d := stdin(t, in)
			if got := names(d); !slices.Equal(got, both) {
				t.Errorf("objects %v, want %v", got, both)
			}
			if bad := troubles(d); len(bad) > 0 {
				t.Errorf("not understood: %v", bad)
			}
		})
	}
}

// What makes no sense is said, and what could be read counts.
func TestReadBadInput(t *testing.T) {
	list := "apiVersion: v1\nitems:\n" + item(machineYAML, "") + item(podYAML, "") + "kind: List\n"
	for _, c := range []struct {
		name, in string
		want     []string
		why      string // a part of the reason.
	}{
		{"empty", "", nil, "is empty"},
		{"prose", "Dear colleague,\nthe cluster is stuck.\n", nil, "not a Kubernetes object"},
		{"log", strings.Repeat("E0801 12:00:00 controller.go:1] \"kind\" failed: {not json\n", 100), nil, "not a Kubernetes object"},
		{"binary", "\x7fELF\x02\x01\x01\x00\x00\x00", nil, "binary"},
		{"zip", "PK\x03\x04rest", nil, "zip"},
		{"a YAML scalar", "42\n", nil, "not a Kubernetes object"},
		{"a JSON scalar list", "[1, 2, \"x\"]", nil, "not a Kubernetes object"},
		{"a map without a kind", "metadata: {name: x}\n", nil, "not a Kubernetes object"},
		{"one broken document of three", machineYAML + "---\nkind: [unclosed\n---\n" + podYAML, both, "1 part of 3 documents"},
		{"tabs instead of spaces", machineYAML + "---\nkind: Pod\n\tmetadata: x\n", both[:1], "1 part"},
		{"truncated List", list[:len(list)-60], both[:1], ""},
		{"truncated within a string", machineYAML + "---\n" + strings.TrimSpace(podYAML)[:60] + "\"", both[:1], "1 part of 2 documents"},
		{"truncated JSON List", `{"kind":"List","items":[` + machineJSON + `,` + podJSON[:40], both[:1], "it ends within an object"},
		{"truncated JSON lines", machineJSON + "\n" + podJSON[:40], both[:1], "it ends within an object"},
		{"rubbish after JSON", machineJSON + "\nthis is no JSON", both[:1], "it breaks off"},
		{"truncated gzip", gz(t, machineYAML+"---\n"+strings.Repeat(podYAML+"---\n", 2000))[:1000], nil, ""},
		{"damaged gzip", "\x1f\x8brubbish", nil, "damaged gzip"},
		{"truncated tar", tarOf(t, "m.yaml", machineYAML, "p.yaml", podYAML)[:1024+1024-200], both[:1], ""},
		{"packed five times", gz(t, gz(t, gz(t, gz(t, gz(t, machineYAML))))), nil, "too many times"},
		{"alias bomb", bomb(), nil, ""},
		{"deeply nested", "kind: Pod\nmetadata: " + strings.Repeat("[", 20000), nil, ""},
		{"deeply nested JSON", `{"kind":"Pod","metadata":` + strings.Repeat("[", 20000), nil, ""},
		{"an anchor of another item", "items:\n- &a\n  kind: Pod\n  apiVersion: v1\n  metadata: {name: a-0, namespace: app}\n- *a\nkind: List\n", both[1:], ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := stdin(t, c.in)
			got := names(d)
			for _, want := range c.want {
				if !slices.Contains(got, want) {
					t.Errorf("objects %v, want %v among them", got, c.want)
				}
			}
			if c.want == nil && c.why != "" && len(got) > 0 {
				t.Errorf("objects %v, want none", got)
			}
			bad := strings.Join(slices.Collect(maps.Values(troubles(d))), "\n")
			if c.why != "" && !strings.Contains(bad, c.why) {
				t.Errorf("not understood: %q, want %q", bad, c.why)
			}
			if strings.ContainsAny(bad, "\x1b\x00") {
				t.Errorf("the reason is not clean: %q", bad)
			}
		})
	}
}

// bomb is YAML that would be 10^9 nodes large if its aliases were followed.
func bomb() string {
	var b strings.Builder
	b.WriteString("kind: Pod\nmetadata: {name: x}\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return b.String()
}

func TestAliasBombStaysSmall(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	stdin(t, bomb())
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 512<<20 {
		t.Errorf("it took %d MiB", grown>>20)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// zeros gives n spaces without holding them.
type spaces struct{ left int64 }

func (s *spaces) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), s.left))
	for i := range p[:n] {
		p[i] = 'x'
	}
	s.left -= int64(n)
	return n, nil
}

// A document that is too large is left out, and the ones around it are read.
func TestHugeDocumentIsLeftOut(t *testing.T) {
	const huge = documentLimit + 1<<20
	for name, in := range map[string]io.Reader{
		"one line":       io.MultiReader(strings.NewReader(machineYAML+"---\nkind: ConfigMap\ndata: "), &spaces{huge}, strings.NewReader("\n---\n"+podYAML)),
		"item of a List": io.MultiReader(strings.NewReader("items:\n"+item(machineYAML, "")+"- kind: ConfigMap\n  data: "), &spaces{huge}, strings.NewReader("\n"+item(podYAML, "")+"kind: List\n")),
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Read(context.Background(), Stdin, in)
			if err != nil {
				t.Fatal(err)
			}
			if got := names(d); !slices.Equal(got, both) {
				t.Errorf("objects %v, want %v", got, both)
			}
			if why := troubles(d)["file/standard input"]; !strings.Contains(why, "larger than 32 MiB") {
				t.Errorf("reason %q", why)
			}
		})
	}
	t.Run("JSON", func(t *testing.T) {
		d, err := Read(context.Background(), Stdin, io.MultiReader(strings.NewReader(machineJSON+`{"kind":"ConfigMap","data":"`), &spaces{huge}, strings.NewReader(`"}`)))
		if err != nil {
			t.Fatal(err)
		}
		if got := names(d); !slices.Equal(got, both[:1]) {
			t.Errorf("objects %v", got)
		}
		if why := troubles(d)["file/standard input"]; !strings.Contains(why, "exceeds the limit of 12 MiB") {
			t.Errorf("reason %q", why)
		}
	})
}

func TestReadFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("machines.out", machineYAML)
	write("deep/er/pods", podJSON)
	write("README.md", "# Notes\n\n- none\n")
	write("core", "\x7fELF\x00\x00")
	write("empty", "")
	write("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: web-ssh}\ndata: {ssh-privatekey: aHVudGVyMg==}\n")
	links := runtime.GOOS != "windows"
	if links {
		if err := os.Symlink(dir, filepath.Join(dir, "deep", "loop")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/nowhere", filepath.Join(dir, "dangling")); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Read(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := names(d); !slices.Equal(got, both) {
		t.Errorf("objects %v", got)
	}
	want := map[string]string{"file/README.md": "not a Kubernetes object", "file/core": "binary", "file/empty": "is empty"}
	if links {
		want["file/deep/loop"], want["file/dangling"] = "symbolic link", "symbolic link"
	}
	got := troubles(d)
	for file, why := range want {
		if !strings.Contains(got[file], why) {
			t.Errorf("%s: %q, want %q", file, got[file], why)
		}
	}
	if len(got) != len(want) {
		t.Errorf("not understood: %v", got)
	}
	if d.Sources[0].Name != "dump" || d.Sources[0].State != model.SourceOK {
		t.Errorf("the first source is %+v", d.Sources[0])
	}
	if s := fmt.Sprintf("%+v", d); strings.Contains(s, "hunter") || strings.Contains(s, "aHVudGVy") {
		t.Error("a Secret was kept")
	}
}

func TestUnreadableFile(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("every file can be read here")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "no"), []byte(machineYAML), 0o000); err != nil {
		t.Fatal(err)
	}
	d, err := Read(context.Background(), dir, nil)
	if err != nil || !strings.Contains(troubles(d)["file/no"], "permission denied") {
		t.Errorf("%v, %v", err, troubles(d))
	}
}

// failing breaks in the middle, as a disk or a pipe does.
type failing struct{ in io.Reader }

func (f failing) Read(p []byte) (int, error) {
	n, err := f.in.Read(p)
	if errors.Is(err, io.EOF) {
		err = errors.New("input/output error")
	}
	return n, err
}

func TestReadErrorInTheMiddle(t *testing.T) {
	d, err := Read(context.Background(), Stdin, failing{strings.NewReader(machineYAML + "---\n" + strings.Repeat("# padding\n", 2000))})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(d); !slices.Equal(got, both[:1]) || !strings.Contains(troubles(d)["file/standard input"], "input/output error") {
		t.Errorf("objects %v, not understood %v", got, troubles(d))
	}
}

func TestReadNothing(t *testing.T) {
	if _, err := Read(context.Background(), filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := Read(context.Background(), Stdin, nil); err == nil {
		t.Error("no error without a standard input")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, Stdin, strings.NewReader(machineYAML)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestNewestTime(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		name, in string
		want     time.Time
	}{
		{"none", "kind: Pod\napiVersion: v1\nmetadata: {name: x}\n", time.Time{}},
		{"created", machineYAML + "---\n" + podYAML, at("2026-08-01T11:00:00Z")},
		{"a day on which a certificate ends lies ahead", machineYAML + "  certificatesExpiryDate: x\n---\n" + strings.Replace(machineYAML, "status: {", `status: {certificatesExpiryDate: "2030-01-01T00:00:00Z", `, 1), at("2026-08-01T10:00:00Z")},
		{"a time in the spec may lie ahead", strings.Replace(machineYAML, "spec: {", `spec: {rolloutAfter: "2030-01-01T00:00:00Z", `, 1), at("2026-08-01T10:00:00Z")},
		{"a condition", strings.Replace(machineYAML, "status: {", `status: {conditions: [{type: X, lastTransitionTime: "2026-08-01T12:00:00Z"}], `, 1), at("2026-08-01T12:00:00Z")},
		{"deletion, less the grace period", strings.Replace(podYAML, "  creation", "  deletionTimestamp: \"2026-08-01T12:00:30Z\"\n  deletionGracePeriodSeconds: 30\n  creation", 1), at("2026-08-01T12:00:00Z")},
		{"an event", "kind: Event\napiVersion: v1\nmetadata: {name: e}\nlastTimestamp: \"2026-08-01T13:00:00Z\"\n", at("2026-08-01T13:00:00Z")},
		{"a Lease: a kind that is not looked at", "kind: Lease\napiVersion: coordination.k8s.io/v1\nmetadata: {name: e}\nspec: {renewTime: \"2026-08-01T13:00:00.5Z\"}\n", at("2026-08-01T13:00:00.5Z")},
		{"managed fields", "kind: Pod\napiVersion: v1\nmetadata: {name: x, managedFields: [{time: \"2026-08-01T14:00:00Z\"}]}\n", at("2026-08-01T14:00:00Z")},
		{"no time at all", strings.Replace(machineYAML, "2026-08-01T10:00:00Z", "yesterday", 1), time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := stdin(t, c.in).NewestTime; !got.Equal(c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// Pods of two clusters may have the same name.
func TestPodsOfTwoClustersAreKept(t *testing.T) {
	pod := func(node string) string {
		return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: etcd, namespace: kube-system}\nspec: {nodeName: " + node + "}\n"
	}
	machine := strings.ReplaceAll(machineYAML, "web", "api")
	sn := stdin(t, machineYAML+"---\n"+machine+pod("web-cp-1")+pod("api-cp-1")).Snapshot(nil, time.Time{})
	if len(sn.Clusters) != 2 || !sn.Dump {
		t.Fatalf("clusters %v", sn.Clusters)
	}
	for _, c := range sn.Clusters {
		if len(c.Workload.Pods) != 1 {
			t.Errorf("%s has %d pods", c.Ref, len(c.Workload.Pods))
		}
	}
}

func TestOpenAnObjectOfTheDump(t *testing.T) {
	ctx := context.Background()
	d := stdin(t, machineYAML+"---\n"+strings.Replace(podYAML, "  creation", "  managedFields: [{manager: kubelet}]\n  creation", 1)+
		"---\nkind: Event\napiVersion: v1\nmetadata: {name: e, namespace: app}\ninvolvedObject: {kind: Pod, namespace: app, name: a-0}\nreason: Killing\nmessage: stopping container\nlastTimestamp: \"2026-08-01T11:30:00Z\"\n")
	ref := model.ObjectRef{Kind: "Pod", Namespace: "app", Name: "a-0"}
	y, err := d.YAML(ctx, ref)
	if err != nil || !strings.Contains(y, "nodeName: web-cp-1") || strings.Contains(y, "managedFields") {
		t.Errorf("YAML %q, %v", y, err)
	}
	words, err := d.Describe(ctx, ref)
	if err != nil || !strings.Contains(words, "stopping container") {
		t.Errorf("Describe %q, %v", words, err)
	}
	for _, open := range []func(context.Context, model.ObjectRef) (string, error){d.YAML, d.Describe} {
		if _, err := open(ctx, model.ObjectRef{Kind: "Secret", Name: "web-ssh"}); !errors.Is(err, ErrNotInDump) {
			t.Errorf("got %v", err)
		}
	}
}

// What scan does with a large dump must not need a multiple of its size.
func BenchmarkReadList(b *testing.B) {
	var s strings.Builder
	s.WriteString("apiVersion: v1\nitems:\n")
	for i := range 2000 {
		s.WriteString(item(strings.ReplaceAll(machineYAML, "web-cp-1", fmt.Sprintf("web-cp-%d", i)), ""))
	}
	s.WriteString("kind: List\n")
	in := s.String()
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		if d := stdin(b, in); len(d.Objects) != 2000 {
			b.Fatalf("%d objects", len(d.Objects))
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(machineYAML + "---\n" + podYAML))
	f.Add([]byte("items:\n" + item(machineYAML, "") + item(podYAML, "") + "kind: List\n"))
	f.Add([]byte(`{"kind":"List","items":[` + machineJSON + `]}` + podJSON))
	f.Add([]byte("\ufeff" + machineYAML))
	f.Add([]byte(toUTF16(machineYAML, binary.LittleEndian)))
	f.Add([]byte(gz(f, tarOf(f, "a", machineYAML))))
	f.Add([]byte("items:\n  - a\n -b\n---\nitems: {a: b}\n"))
	f.Add([]byte(`{"items":{"a":[1,{}]},"kind":"Pod"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		d, err := Read(context.Background(), Stdin, bytes.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range d.Objects {
			if o.GetMeta().Kind == "" || o.GetMeta().Name == "" {
				t.Errorf("an object without a kind or name: %+v", o.GetMeta())
			}
		}
		d.Snapshot(nil, time.Time{})
	})
}
