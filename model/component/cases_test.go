package component

import (
	"os"
	"path/filepath"
	"testing"
)

// The logs of the public cases, as they were printed: which ports they name, and whether they
// are too unclear to act upon.
func TestCaseTexts(t *testing.T) {
	for file, c := range map[string]struct {
		ports   []int
		unclear bool
	}{
		"38-bind-apiserver-6443/1.txt":         {ports: []int{6443}},
		"40-bind-kcm-10257/1.txt":              {ports: []int{10257}},
		"43-bind-apiserver-sandbox-form/1.txt": {unclear: true},
		"46-bind-portworx-10257/1.txt":         {ports: []int{10257}},
		"48-bind-security-agent-4343/1.txt":    {ports: []int{4343, 8080}},
		"37-antrea-crash-cidr/1.txt":           {},
	} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", "cases", file))
		if err != nil {
			t.Fatal(err)
		}
		got := Binds(string(raw))
		if len(got) != len(c.ports) {
			t.Errorf("%s: %+v", file, got)
			continue
		}
		for i := range got {
			if got[i].Port != c.ports[i] {
				t.Errorf("%s: %+v", file, got)
			}
		}
		if _, unclear := Unclear(string(raw)); unclear != c.unclear {
			t.Errorf("%s: unclear %v", file, unclear)
		}
	}
}
