package describe

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

func TestYAMLOfOddText(t *testing.T) {
	text := "a\x7fb\u0085c\u009bd\u2028e\ufffef\uffff\U0001fffeg\ufeff"
	s, err := YAML(map[string]any{"kind": "Machine", "x": text})
	if err != nil {
		t.Fatal(err)
	}
	var back map[string]any
	if err := yaml.Unmarshal([]byte(s), &back); err != nil || back["x"] != text {
		t.Errorf("%q, %v\n%s", back["x"], err, s)
	}
}

func TestDeepYAMLIsShort(t *testing.T) {
	var v any = "x"
	for range 9_000 {
		v = map[string]any{"a": v}
	}
	o := map[string]any{"kind": "Machine", "spec": v}
	began := time.Now()
	s, err := YAML(o)
	if err != nil || len(s) > 64<<10 || !strings.Contains(strings.Join(strings.Fields(s), " "), "levels more)") {
		t.Errorf("%d bytes, %v", len(s), err)
	}
	if d := Text(o, nil, "", time.Time{}); len(d) > 64<<10 || !strings.Contains(strings.Join(strings.Fields(d), " "), "levels more)") {
		t.Errorf("%d bytes", len(d))
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}
