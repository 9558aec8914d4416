package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vksmedic/model/signature"
)

// generated holds a part of the README to what it is made from; -update writes it anew.
func generated(t *testing.T, what, begin, end, want string) {
	t.Helper()
	const path = "../README.md"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("the README has no place for %s: %q and %q", what, begin, end)
	}
	if want = "\n" + want + "\n"; got == want {
		return
	}
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the README's table of %s is not the generated one; make golden writes it anew:\n%s", what, want)
}

// The README's table of keys is made from the key map.
func TestKeysInREADME(t *testing.T) {
	generated(t, "keys", "<!-- keys: made from ui.Keys -->\n", "<!-- /keys -->", Keys().Table())
}

// The README's table of findings is made from the declarations of the signatures. A signature with
// an article of its name has a wizard.
func TestFindingsInREADME(t *testing.T) {
	var b strings.Builder
	b.WriteString("| id | what it is | fix |\n|---|---|---|\n")
	for _, s := range signature.All() {
		about, fix := s.Title, "advice"
		if s.KB != "" {
			about += fmt.Sprintf(" ([KB %s](https://knowledge.broadcom.com/external/article/%s))", s.KB, s.KB)
		}
		if _, err := os.Stat(filepath.Join("../remedies/kb", s.ID+".yaml")); err == nil {
			fix = "wizard"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.ID, about, fix)
	}
	generated(t, "findings", "<!-- findings: made from model/signature -->\n", "<!-- /findings -->", b.String())
}
