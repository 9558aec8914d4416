package kb

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
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

// What the types say is enough: of the templates that they let pass, none fails when it is
// filled in but for what types cannot say, which is refused by trying.
func TestRandomTemplates(t *testing.T) {
	words := strings.Fields(`.Facts .Facts.Name .Facts.Names .Facts.Parts .Facts.Link .Facts.Map .Facts.Any .Facts.Count .Facts.Begun .Facts.Stage
		.Choice.reach .Choice .Done.wait .Done . $ $x 0 1 -1 "x" "cluster" nil true ( ) | index list quote print printf len eq ne lt and or not slice
		.Name .Label .With .Read .IsZero`)
	random := rand.New(rand.NewPCG(1, 2))
	pass := 0
	for range 20000 {
		s := randomTemplate(random, words)
		u, err := checkTemplate(s, staticScope())
		if err != nil {
			continue
		}
		pass++
		err = tryText(spot{line: 1, path: "text", text: s}, shownText, u, func() any { return &staticFacts{} }, choiceSteps{options: staticScope().choices})
		if err != nil && !unsayable(err) {
			t.Errorf("%s: %v", s, err)
		}
	}
	if pass < 400 {
		t.Errorf("only %d templates passed the types", pass)
	}
}

// unsayable says whether a problem is one that types cannot know of.
func unsayable(err error) bool {
	for _, words := range []string{"nil pointer", "out of range", "that is not there", "printf"} {
		if strings.Contains(err.Error(), words) {
			return true
		}
	}
	return false
}

func randomTemplate(random *rand.Rand, words []string) string {
	var b strings.Builder
	open := 0
	for range 1 + random.IntN(5) {
		what := []string{"", "", "$x := ", "if ", "range ", "with "}[random.IntN(6)]
		if strings.HasSuffix(what, " ") && what[0] != '$' {
			open++
		}
		b.WriteString("{{ " + what)
		for range 1 + random.IntN(4) {
			b.WriteString(words[random.IntN(len(words))] + " ")
		}
		b.WriteString("}}")
	}
	return b.String() + strings.Repeat("{{ end }}", open)
}
