package signature

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vksmedic/model"
)

// tallies count, of each signature, the rows of its tables in which it has to be found, and those
// in which it must not be.
var tallies = map[string]*struct{ hits, nearMisses int }{}

func tally(id string, found bool) {
	if tallies[id] == nil {
		tallies[id] = &struct{ hits, nearMisses int }{}
	}
	if found {
		tallies[id].hits++
	} else {
		tallies[id].nearMisses++
	}
}

// TestMain looks, after all tests, whether each signature had its table.
func TestMain(m *testing.M) {
	code := m.Run()
	run := flag.Lookup("test.run").Value.String()
	if list := flag.Lookup("test.list").Value.String(); code == 0 && run == "" && list == "" && flag.Lookup("test.skip").Value.String() == "" {
		for _, s := range All() {
			if n := tallies[s.ID]; n == nil || n.hits == 0 || n.nearMisses == 0 {
				fmt.Printf("%s has no table of hits and near misses: call table(t, %q, …) in model/signature/%s_test.go, as vm_gone_test.go does\n", s.ID, s.ID, file(s))
				code = 1
			}
		}
	}
	os.Exit(code)
}

// file is what the files of a signature are called.
func file(s Signature) string { return strings.ReplaceAll(s.ID, "-", "_") }

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Whatever belongs to a signature is there.
func TestSignaturesAreComplete(t *testing.T) {
	readme := read(t, "../../README.md")
	var fires []string
	for _, line := range strings.Split(read(t, "../../testdata/cases/expect.tsv"), "\n")[1:] {
		if cols := strings.Split(line, "\t"); len(cols) == 5 {
			for _, f := range strings.FieldsFunc(cols[2], func(r rune) bool { return r == ',' || r == '|' }) {
				id, _, _ := strings.Cut(f, ":")
				fires = append(fires, id)
			}
		}
	}
	idForm := regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)+$`)
	ids := map[string]bool{}
	for _, s := range All() {
		if ids[s.ID] {
			t.Errorf("%s is declared twice", s.ID)
		}
		ids[s.ID] = true
		if !idForm.MatchString(s.ID) || s.Title == "" || s.find == nil || s.Facts == nil || len(s.Needs) == 0 {
			t.Errorf("%q: its declaration lacks an id in kebab case, a Title, a find, Facts or Needs", s.ID)
		}
		if strings.Contains(s.Title, "|") || strings.HasSuffix(s.Title, ".") {
			t.Errorf("%s: its Title stands in a table of the README: no | in it, and no full stop at its end", s.ID)
		}
		for _, f := range []string{file(s) + ".go", file(s) + "_test.go"} {
			if _, err := os.Stat(f); err != nil {
				t.Errorf("%s has no file model/signature/%s", s.ID, f)
			}
		}
		if !slices.Contains(fires, s.ID) {
			t.Errorf("%s has no case: add a folder with objects to testdata/cases (its README says how), and a row of expect.tsv with the id under fires", s.ID)
		}
		if !strings.Contains(readme, "| `"+s.ID+"` |") {
			t.Errorf("%s is not in the README's table: make golden writes it", s.ID)
		}
	}
}

// A signature whose file declares it is in the list: a function that returns a Signature, and is
// not called in signature.go, was forgotten there.
func TestAllKnowsEveryFile(t *testing.T) {
	list := read(t, "signature.go")
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	declares := regexp.MustCompile(`(?m)^func (\w+)\(\) Signature \{`)
	n := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || e.Name() == "signature.go" {
			continue
		}
		for _, g := range declares.FindAllStringSubmatch(read(t, e.Name()), -1) {
			n++
			if !strings.Contains(list, "\t"+g[1]+"(),\n") {
				t.Errorf("%s declares %s, which is not in the list of signature.go (known)", e.Name(), g[1])
			}
		}
	}
	if n != len(All()) {
		t.Errorf("%d declarations, %d signatures", n, len(All()))
	}
}

// Relations name signatures that there are, each pair once, and none goes in a circle.
func TestRelations(t *testing.T) {
	pairs := map[[2]string]bool{}
	effects := map[string][]string{}
	declare := func(by, cause, effect string, when any) {
		for _, id := range []string{cause, effect} {
			if _, ok := ByID(id); !ok {
				t.Errorf("%s names %s, which no signature is called", by, id)
			}
		}
		if reflect.ValueOf(when).IsNil() {
			t.Errorf("%s does not say when %s brings %s about", by, cause, effect)
		}
		if pairs[[2]string{cause, effect}] {
			t.Errorf("that %s brings %s about is declared twice", cause, effect)
		}
		pairs[[2]string{cause, effect}] = true
		effects[cause] = append(effects[cause], effect)
	}
	for _, s := range All() {
		for _, x := range s.Causes {
			declare(s.ID, s.ID, x.ID, x.When)
		}
		for _, x := range s.CausedBy {
			declare(s.ID, x.ID, s.ID, x.When)
		}
	}
	var follow func(id string, path []string)
	follow = func(id string, path []string) {
		if slices.Contains(path, id) {
			t.Fatalf("a circle of causes: %v", append(path, id))
		}
		for _, next := range effects[id] {
			follow(next, append(slices.Clone(path), id))
		}
	}
	for id := range maps.Keys(effects) {
		follow(id, nil)
	}
}

// The turns are kept: what tells of nodes that nothing explains comes after what explains them.
func TestTurns(t *testing.T) {
	all := All()
	if !slices.IsSortedFunc(all, func(a, b Signature) int { return int(a.Turn - b.Turn) }) {
		t.Error("not in their turns")
	}
	for _, s := range all {
		if s.ExplainsNode != nil && s.Turn == Last {
			t.Errorf("%s explains nodes after all that asks for it was judged", s.ID)
		}
	}
	r := register(Signature{ID: "c", Turn: Last}, Signature{ID: "b", Turn: OfUnexplained}, Signature{ID: "a"})
	if r.list[0].ID != "a" || r.list[2].ID != "c" {
		t.Errorf("%v", r.list)
	}
}

func TestRequires(t *testing.T) {
	got := Requires()
	if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("not sorted, or something twice: %v", got)
	}
	for _, s := range All() {
		for _, r := range s.Needs {
			if !s.General && !slices.Contains(got, r) {
				t.Errorf("%s needs %s, and it is not required: %v", s.ID, r, got)
			}
		}
	}
	if slices.Contains(got, "clusterroles") || !slices.Contains(got, "machinedrainrules") {
		t.Errorf("%v", got)
	}
	if !General(EndpointsPrivilegeMissing) || General(VMGone) || General("none") {
		t.Error("which are of the Supervisor as a whole")
	}
}

// An object that is not there was not refused where there is only a dump to look into.
func TestUnread(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*site)
		want   string
	}{
		{"read, and it is not there", func(*site) {}, ""},
		{"old", func(s *site) { s.source("clusterroles", model.SourceStale, "503") }, ""},
		{"refused", func(s *site) { s.source("clusterroles", model.SourceForbidden, "ask for list") }, "they could not be read: ask for list"},
		{"not served", func(s *site) { s.source("clusterroles", model.SourceNotServed, "") }, "this Supervisor does not serve them"},
		{"not looked at", func(s *site) { s.sn.Sources = nil }, "they are not looked at"},
		{"a dump", func(s *site) { s.sn.Dump, s.sn.Sources = true, nil }, "the dump holds none"},
		{"a dump that names a source", func(s *site) { s.sn.Dump = true; s.source("clusterroles", model.SourceForbidden, "ask for list") }, "the dump holds none"},
	} {
		s := newSite(t)
		c.change(s)
		v := &view{c: s.c, sn: s.sn, now: now}
		if got := v.unread("clusterroles"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := v.checkRoleHolds().Detail; c.want != "" && got != c.want {
			t.Errorf("%s: the check says %q, want %q", c.name, got, c.want)
		}
	}
}
