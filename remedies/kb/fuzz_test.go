package kb

import (
	"os"
	"path/filepath"
	"testing"

	"vksmedic/model/signature"
)

// Whatever stands in a file, loading ends with an article or with problems that have a line,
// and what was loaded can be filled in.
func FuzzArticle(f *testing.F) {
	for _, pattern := range []string{"testdata/broken/*.yaml", "testdata/own/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, n := range names {
			data, err := os.ReadFile(n)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	reg := testRegistry()
	f.Fuzz(func(t *testing.T, data []byte) {
		a, problems := parseArticle("small.yaml", data, reg, true)
		for _, p := range problems {
			if p.Line < 1 || p.Text == "" {
				t.Errorf("a problem without a line or a text: %+v", p)
			}
		}
		if len(problems) > 0 {
			return
		}
		sc := Scope{Facts: &signature.NodeFacts{}}
		a.Title.Fill(sc)
		a.Finished.Fill(sc)
		for i := range a.Steps {
			a.Steps[i].When.Holds(sc)
			FillParams(a.Steps[i].Params, sc)
		}
	})
}

// Whatever stands in a template, checking and filling it in neither panic nor go on for ever.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{
		"{{ .Facts.Name }}", "{{ range $i, $n := .Facts.Names }}{{ if $i }}, {{ end }}{{ $n }}{{ end }}", "{{ index .Facts.Names 0 }}",
		"{{ if eq .Choice.reach \"cluster\" }}a{{ else }}b{{ end }}", "{{ with .Facts.Link }}{{ .Name }}{{ end }}",
		"{{ printf \"%s %d\" .Facts.Name .Facts.Count }}", "{{ .Facts.Begun.Format \"15:04\" }}", "{{ slice .Facts.Name 0 1 }}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		_ = try(s, staticScope(), shownText)
		for _, facts := range []any{nil, &staticFacts{}, &signature.AgentFacts{}} {
			Text(s).Fill(Scope{Facts: facts})
		}
	})
}
