package kb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOwnArticles(t *testing.T) {
	if problems := Check([]string{"testdata/own"}, registry()); len(problems) > 0 {
		t.Fatal(Problems(problems))
	}
}

// Each broken article has one line that says what is wrong with it.
func TestBrokenArticles(t *testing.T) {
	data, err := os.ReadFile("testdata/broken/expect.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(data)), "\n")
	var got []string
	for _, p := range Check([]string{"testdata/broken"}, registry()) {
		p.File = filepath.Base(p.File)
		got = append(got, p.String())
	}
	if len(want) < 30 {
		t.Errorf("%d lines are expected; thirty at least", len(want))
	}
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("line %d:\n got %s\nwant %s", i+1, g, w)
		}
	}
	names, _ := filepath.Glob("testdata/broken/*.yaml")
	if len(names) != len(want) {
		t.Errorf("%d files and %d lines", len(names), len(want))
	}
}
