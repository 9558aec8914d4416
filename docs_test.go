package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a document names is there: files, folders and make targets, in every README, the
// other documents at the top, and every package comment.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	tree := readTree(t)
	targets := makeTargets(t)
	read := 0
	for _, file := range tree.files {
		var named []string
		switch {
		case filepath.Ext(file) == ".md" && path.Base(file) != "case.md": // a case quotes what somebody else wrote.
			named = tree.inMarkdown(path.Dir(file), contents(t, file))
		case path.Base(file) == "doc.go" || file == "main.go":
			named = tree.inPackageComment(t, file)
		default:
			continue
		}
		read++
		for _, n := range named {
			if why := tree.missing(path.Dir(file), n, targets); why != "" {
				t.Errorf("%s names %q: %s", file, n, why)
			}
		}
	}
	if read < 10 {
		t.Errorf("only %d documents were read", read)
	}
}

// The test above sees what it is made for, and nothing in what is right.
func TestDocumentsWithFaults(t *testing.T) {
	tree := readTree(t)
	targets := makeTargets(t)
	for text, faults := range map[string][]string{
		"see `model/snapshot.go`, `doc.go`, [the cases](testdata/cases/README.md) and `make test`":        nil,
		"write `model/signature/<id with underscores>.go`; `remedies/kb/*.yaml`, `ui/print`, `testdata/`": nil,
		"ask for `team-a/web-kubeconfig`, `machines.cluster.x-k8s.io`, `NAMESPACE/CLUSTER=FILE`":          nil,
		"`lab/internal/vsphere` stands in, `sigs.k8s.io/cluster-api/api/types.go`":                        nil,
		"do it by hand, and\nmake sure that it is right":                                                  nil,
		"<https://example.test/a.md> and [elsewhere](https://example.test/b.md) and [below](#below)":      nil,
		"```sh\nmake lab-up   # starts\nvksmedic scan\n```":                                               nil,
		"see `probes/probes.go`":                           {"probes/probes.go"},
		"see `nowhere.md`":                                 {"nowhere.md"},
		"in `ui/nowhere`, `testdata/nowhere/`":             {"ui/nowhere", "testdata/nowhere/"},
		"any of `ui/nowhere_*.go`":                         {"ui/nowhere_*.go"},
		"![a picture](testdata/nowhere.svg)":               {"testdata/nowhere.svg"},
		"look into `lab/nowhere`":                          {"lab/nowhere"},
		"    make nowhere     # by a block of code":        {"make nowhere"},
		"run `make nothing` or `make AS=devops nowhere`":   {"make nothing", "make nowhere"},
		"```sh\nmake nowhere ARGS=x && vksmedic scan\n```": {"make nowhere"},
	} {
		var found []string
		for _, n := range tree.inMarkdown("testdata", text) {
			if tree.missing("testdata", n, targets) != "" {
				found = append(found, n)
			}
		}
		if !slices.Equal(found, faults) {
			t.Errorf("%s: found %q, want %q", text, found, faults)
		}
	}
}

// tree is what is in this checkout, with slashes.
type tree struct {
	files []string
	names map[string]bool // files and folders.
}

func readTree(t *testing.T) tree {
	t.Helper()
	x := tree{names: map[string]bool{}}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "bin", "dist"}, name) {
			return filepath.SkipDir
		}
		name = filepath.ToSlash(name)
		x.names[name] = true
		if !d.IsDir() {
			x.files = append(x.files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// missing says why what a document in a folder names cannot be found; empty where it can.
// A path counts from the top or from the document's folder; a file's name alone may be
// anywhere.
func (x tree) missing(folder, named string, targets map[string]bool) string {
	if target, ok := strings.CutPrefix(named, "make "); ok {
		if !targets[target] {
			return "there is no such target in the Makefile"
		}
		return ""
	}
	want := strings.TrimSuffix(named, "/")
	for name := range x.names {
		for _, pattern := range []string{want, path.Join(folder, want)} {
			if ok, err := path.Match(pattern, name); ok && err == nil {
				return ""
			}
		}
		if !strings.Contains(want, "/") && path.Base(name) == want {
			return ""
		}
	}
	return "there is no such file or folder"
}

var (
	span     = regexp.MustCompile("`([^`\n]+)`")
	link     = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)
	indented = regexp.MustCompile("(?m)^    .*$")
	fence    = regexp.MustCompile("(?ms)^```.*?^```")
	command  = regexp.MustCompile(`\bmake((?: +[\w=$.-]+)+)`)
	instance = regexp.MustCompile(`<[^>]*>`)
	looksFit = regexp.MustCompile(`^[\w.*-]+(/[\w.*-]+)*/?$`)
	source   = regexp.MustCompile(`\.(go|md|yaml|yml|mk|svg|png|sh|mod)$`)
)

// inMarkdown is what a document in a folder names between backticks, in links and in blocks
// of commands.
func (x tree) inMarkdown(folder, text string) []string {
	var out []string
	for _, block := range append(fence.FindAllString(text, -1), indented.FindAllString(text, -1)...) {
		for line := range strings.Lines(block) {
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "make ") {
				out = append(out, made(line)...)
			}
		}
	}
	text = fence.ReplaceAllString(text, "")
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(m[1], "make ") {
			out = append(out, made(m[1])...)
		} else if n := instance.ReplaceAllString(m[1], "*"); x.isPath(folder, n) {
			out = append(out, n)
		}
	}
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], "://") {
			out = append(out, m[1])
		}
	}
	return out
}

// made are the targets of a call of make, which ends at a comment or another command.
func made(line string) []string {
	var out []string
	line, _, _ = strings.Cut(line, "#")
	for _, m := range command.FindAllStringSubmatch(line, -1) {
		for word := range strings.FieldsSeq(m[1]) {
			if !strings.Contains(word, "=") {
				out = append(out, "make "+word)
			}
		}
	}
	return out
}

// isPath says whether a word in a document names something in this checkout: it begins with
// a folder of the top or one beside the document, or ends like a source file. A file of another project is written with the path of
// its module.
func (x tree) isPath(folder, word string) bool {
	first, _, below := strings.Cut(word, "/")
	switch {
	case !looksFit.MatchString(word), strings.HasPrefix(word, "*."), source.FindString(word) == word:
		return false
	case below && strings.Contains(strings.Trim(first, "."), "."):
		return false // a module's path: a file of another project.
	case below:
		return x.names[first] || x.names[path.Join(folder, first)] || source.MatchString(word)
	}
	return source.MatchString(word)
}

// inPackageComment is what a package comment names: files and packages of ours.
func (x tree) inPackageComment(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for word := range strings.FieldsSeq(parsed.Doc.Text()) {
		word = strings.Trim(word, `.,;:()[]"`)
		ours, isOurs := strings.CutPrefix(word, "vksmedic/")
		if word = instance.ReplaceAllString(ours, "*"); isOurs && looksFit.MatchString(word) || x.isPath(path.Dir(file), word) {
			out = append(out, word)
		}
	}
	return out
}

// makeTargets are those of the Makefile and of the file that it includes.
func makeTargets(t *testing.T) map[string]bool {
	t.Helper()
	rule := regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
	out := map[string]bool{}
	for _, file := range []string{"Makefile", "testdata/lab/lab.mk"} {
		for _, m := range rule.FindAllStringSubmatch(contents(t, file), -1) {
			out[m[1]] = true
		}
	}
	return out
}

func contents(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
