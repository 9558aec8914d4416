package supervisor

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"vksmedic/model/signature"
)

// What the signatures ask for by its name is watched.
func TestWhatSignaturesNeedIsWatched(t *testing.T) {
	var watched []string
	for _, k := range kinds() {
		watched = append(watched, k.Resource)
	}
	for _, s := range signature.All() {
		for _, r := range s.Needs {
			if !slices.Contains(watched, r) {
				t.Errorf("%s needs %s, which is not watched: it is not among the kinds of this package", s.ID, r)
			}
		}
	}
	files, err := filepath.Glob("../../model/signature/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no signatures", err)
	}
	asks := regexp.MustCompile(`\.(?:seen|source|unread)\("([a-z]+)"\)`)
	n := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range asks.FindAllStringSubmatch(string(b), -1) {
			n++
			if !slices.Contains(watched, g[1]) {
				t.Errorf("%s asks how %s were read, which are not watched", filepath.Base(f), g[1])
			}
		}
	}
	if n == 0 {
		t.Error("no signature asks how anything was read: the pattern of this test is wrong")
	}
}
