package capture

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"vksmedic/model"
)

// readAll reads a dump.
func readAll(t *testing.T, text string) *Dump {
	t.Helper()
	d, err := Read(t.Context(), Stdin, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestLittleInput has documents that are small and stand for much: they are named, and what stands around them is
// read.
func TestLittleInput(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("kind: ConfigMap\nmetadata: {name: bomb}\ndata:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&bomb, "  a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	for name, c := range map[string]struct{ text, words string }{
		"aliases":        {bomb.String(), "aliases"},
		"within itself":  {"kind: ConfigMap\ndata: &x {a: *x}\n", "aliases"},
		"a long text":    {"kind: ConfigMap\ndata: &x " + strings.Repeat("y", 1<<20) + "\nmore: [" + strings.Repeat("*x, ", 40) + "]\n", "aliases"},
		"empty objects":  {"kind: ConfigMap\ndata: [" + strings.Repeat("{},", 1<<20) + "]\n", "500000 lines and values"},
		"empty items":    {"kind: ConfigMap\ndata:\n" + strings.Repeat("- \n", 1<<19), "500000 lines and values"},
		"deep":           {"kind: ConfigMap\ndata: " + strings.Repeat("{a: ", 20_000) + "1" + strings.Repeat("}", 20_000) + "\n", "9500 levels"},
		"a long line":    {"kind: ConfigMap\ndata: " + strings.Repeat("x", 20<<20) + "\n", "16 MiB"},
		"deep, as lists": {"kind: ConfigMap\ndata: " + strings.Repeat("[", 20_000) + "\n", "9500 levels"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d := readAll(t, machineYAML+"---\n"+c.text+"---\n"+podYAML)
			runtime.ReadMemStats(&after)
			if len(d.Objects) != 2 {
				t.Errorf("%d objects", len(d.Objects))
			}
			if why := troubles(d)["file/standard input"]; !strings.Contains(why, c.words) {
				t.Errorf("%q", why)
			}
			if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 250 {
				t.Errorf("%d MB were needed", mb)
			}
		})
	}
	// A few aliases are a person's way to write less.
	d := readAll(t, "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nmetadata: &m {name: m, namespace: ns}\nspec: {clusterName: c, copy: *m}\n")
	if len(d.Objects) != 1 || len(troubles(d)) != 0 {
		t.Errorf("%+v", d)
	}
}

func TestLittleJSON(t *testing.T) {
	for name, c := range map[string]struct{ text, words string }{
		"empty objects": {`{"kind":"ConfigMap","data":[` + strings.Repeat(`{},`, 1<<20) + `{}]}`, "250000 values"},
		"in a List":     {`{"kind":"List","items":[{"kind":"ConfigMap","data":[` + strings.Repeat(`{},`, 1<<20) + `{}]}]}`, "250000 values"},
		"deep":          {`{"kind":"ConfigMap","data":` + strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_001), "9500 levels"},
		"long":          {`{"kind":"ConfigMap","data":"` + strings.Repeat("x", 20<<20) + `"}`, "12 MiB"},
	} {
		d := readAll(t, machineJSON+c.text+strings.Replace(machineJSON, `"name":"`, `"name":"other-`, 1))
		if len(d.Objects) != 2 {
			t.Errorf("%s: %d objects", name, len(d.Objects))
		}
		if why := troubles(d)["file/standard input"]; !strings.Contains(why, c.words) {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// TestManyFiles counts the files that make no sense instead of listing all, and does not read for ever.
func TestManyFiles(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		z := tar.NewWriter(w)
		var err error
		for i := 0; err == nil && i < 2*filesLimit; i++ {
			if err = z.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: fmt.Sprint("f", i), Mode: 0o600, Size: 1}); err == nil {
				_, err = z.Write([]byte("x"))
			}
		}
		_ = w.CloseWithError(err)
	}()
	d, err := Read(t.Context(), Stdin, r)
	_ = r.Close()
	if err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprint(d.Sources)
	if len(d.Sources) > notesLimit+5 || !strings.Contains(all, "further files that were not understood") {
		t.Errorf("%d sources", len(d.Sources))
	}
}

// odd are characters that YAML does not take as they are, and some that it does.
func odd() string {
	var b strings.Builder
	b.WriteString("plain \" \\ ' : # é ")
	for r := rune(1); r < 0xa1; r++ {
		b.WriteRune(r)
	}
	for _, r := range []rune{0xad, 0x2028, 0x2029, 0x202e, 0xfeff, 0xfffd, 0xfffe, 0xffff, 0xfdd0, 0xe000, 0x1fffe, 0x1ffff, 0x10ffff, 0x1f600} {
		b.WriteRune(r)
	}
	return b.String()
}

// TestOddCharacters writes a capture of an object with every odd character, as text, key and name of a label, and
// reads back the same object.
func TestOddCharacters(t *testing.T) {
	for _, redacted := range []bool{false, true} {
		l := newLive(t)
		machine := map[string]any{
			"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
			"metadata": map[string]any{"name": "m", "namespace": "team-a", "uid": "u", "annotations": map[string]any{"a/" + odd(): odd()}},
			"spec":     map[string]any{"clusterName": "web", "x": odd()},
			"status":   map[string]any{"failureMessage": odd()},
		}
		l.take(model.OnSupervisor("prod"), machine)
		o := WriteOptions{}
		if redacted {
			o.Redactor = NewRedactor()
		}
		var b bytes.Buffer
		s, err := Write(t.Context(), &b, l.store.Snapshot(threeAM), l.rec, o)
		if err != nil || s.Objects != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		d, err := Read(t.Context(), Stdin, &b)
		if err != nil || len(d.Objects) != 1 {
			t.Fatalf("%v: %+v", err, d.Sources)
		}
		u, err := d.object(d.Objects[0].GetMeta().Ref())
		if err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(machine)
		got, _ := json.Marshal(u)
		if !redacted && !bytes.Equal(want, got) {
			t.Errorf("read back as\n%q\nwant\n%q", got, want)
		}
	}
}

// TestDeepObjects reads back an object of 9,000 levels, and says which one is missing where it cannot.
func TestDeepObjects(t *testing.T) {
	deep := func(n int) any {
		var v any = "x"
		for range n {
			v = map[string]any{"a": v}
		}
		return v
	}
	for n, objects := range map[int]int{100: 2, 9_000: 2, 9_600: 1} {
		l := newLive(t)
		for _, name := range []string{"deep", "flat"} {
			u := map[string]any{
				"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine", "metadata": map[string]any{"name": name, "namespace": "team-a", "uid": name}, "spec": map[string]any{"clusterName": "web"},
			}
			if name == "deep" {
				u["spec"].(map[string]any)["x"] = deep(n)
			}
			l.take(model.OnSupervisor("prod"), u)
		}
		var b bytes.Buffer
		s, err := Write(t.Context(), &b, l.store.Snapshot(threeAM), l.rec, WriteOptions{})
		if err != nil || s.Objects != objects {
			t.Fatalf("%d levels: %+v, %v", n, s, err)
		}
		if objects < 2 && !strings.Contains(strings.Join(s.Missing, ";"), "Machine team-a/deep: it cannot be written") {
			t.Errorf("%d levels: %v", n, s.Missing)
		}
		d, err := Read(t.Context(), Stdin, &b)
		if err != nil || len(d.Objects) != objects {
			t.Errorf("%d levels: %d objects, %v", n, len(d.Objects), err)
		}
	}
}
