package lifecycle

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"vksmedic/model"
)

// Pressure on a node is bad news, a rollout is none, and what is not known is neither.
func TestConditionNews(t *testing.T) {
	for _, c := range []struct {
		typ, status string
		want        model.Verdict
	}{
		{"Ready", "True", model.Yes}, {"Ready", "False", model.No}, {"Ready", "Unknown", model.Unknown},
		{"DiskPressure", "True", model.No}, {"DiskPressure", "False", model.Yes}, {"DiskPressure", "Unknown", model.Unknown},
		{"MemoryPressure", "True", model.No}, {"PIDPressure", "True", model.No}, {"NetworkUnavailable", "True", model.No},
		{"Deleting", "True", model.Unknown}, {"RollingOut", "False", model.Yes},
	} {
		if got := ConditionNews(c.typ, c.status); got != c.want {
			t.Errorf("%s=%s: %s, want %s", c.typ, c.status, got, c.want)
		}
	}
}

// TestConditionsInWords knows every condition that the controllers were seen to write.
func TestConditionsInWords(t *testing.T) {
	files, err := filepath.Glob("../../testdata/recorded/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded objects: %v", err)
	}
	kind := regexp.MustCompile(`(?m)^ +(?:- )?(?:status: "?(?:True|False|Unknown)"?\n +)type: ([A-Za-z]+)$`)
	seen := 0
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range kind.FindAllStringSubmatch(string(b), -1) {
			seen++
			if _, ok := phrases[m[1]]; !ok {
				t.Errorf("%s: condition %s is shown as its bare status", filepath.Base(f), m[1])
			}
		}
	}
	if seen == 0 {
		t.Error("no condition was found in the recorded objects")
	}
}
