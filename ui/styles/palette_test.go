package styles

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

var update = flag.Bool("update", false, "write the palette anew")

// TestPalette holds what each meaning becomes on each kind of terminal, as the terminal gets it:
// the golden screens only say which meaning a text has.
func TestPalette(t *testing.T) {
	var b strings.Builder
	for _, th := range []struct {
		name    string
		profile colorprofile.Profile
		dark    bool
	}{
		{"dark", colorprofile.TrueColor, true}, {"light", colorprofile.TrueColor, false},
		{"256 colours", colorprofile.ANSI256, true}, {"16 colours", colorprofile.ANSI, true}, {"no colour", colorprofile.ASCII, true},
	} {
		v := reflect.ValueOf(New(th.profile, th.dark))
		for i := range v.NumField() {
			var got bytes.Buffer
			w := &colorprofile.Writer{Forward: &got, Profile: th.profile}
			if _, err := w.WriteString(v.Field(i).Interface().(Style).Render("x")); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%-12s %-13s %q\n", th.name, v.Type().Field(i).Name, got.String())
			if th.profile == colorprofile.ASCII && strings.Contains(got.String(), "38") {
				t.Errorf("%s has a colour where there are none: %q", v.Type().Field(i).Name, got.String())
			}
		}
	}
	path := filepath.Join("testdata", "palette.txt")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if string(want) != b.String() {
		t.Errorf("the palette is not as agreed; -update writes it anew\n--- want\n%s\n--- got\n%s", want, b.String())
	}
}

// Styles stand inside one another: the end of one undoes only what its beginning did.
func TestNested(t *testing.T) {
	for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI, colorprofile.ASCII} {
		s := New(profile, true)
		row := s.Selected.Render("a" + s.Danger.Render("b") + s.Strong.Render("c") + "d")
		if strings.Contains(row, "\x1b[m") || strings.Contains(row, "\x1b[0m") {
			t.Errorf("something ends all styles: %q", row)
		}
	}
}
