package workload

import (
	"errors"
	"strings"
	"testing"
)

// TestVetLittleInput has kubeconfigs that are small and stand for much: none is expanded.
func TestVetLittleInput(t *testing.T) {
	var doubling strings.Builder
	doubling.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 30; i++ {
		n := string(rune('a'+i/10)) + string(rune('0'+i%10))
		p := string(rune('a'+(i-1)/10)) + string(rune('0'+(i-1)%10))
		doubling.WriteString(n + ": &" + n + " [*" + p + ", *" + p + "]\n")
	}
	for name, c := range map[string]struct{ text, words string }{
		"doubled":        {doubling.String(), "YAML anchors or aliases"},
		"one alias":      {"a: &x 1\nb: *x\n", "YAML anchors or aliases"},
		"an anchor only": {"a: &x 1\n", "YAML anchors or aliases"},
		"merged":         {"a: &x {b: 1}\nc: {<<: *x}\n", "YAML anchors or aliases"},
		"anchored key":   {"&x a: 1\n", "YAML anchors or aliases"},
		"within itself":  {"a: &x [*x]\n", "YAML anchors or aliases"},
		"large":          {"a: " + strings.Repeat("x", kubeconfigBytes), "more than 256 KiB"},
		"many values":    {"a: [" + strings.Repeat("{},", kubeconfigValues) + "]", "more than 5000 values"},
		"many lines":     {strings.Repeat("- \n", kubeconfigValues), "more than 5000 values"},
	} {
		if _, err := Vet([]byte(c.text)); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{"no YAML": "a: [", "deep": strings.Repeat("[", 4000), "a number": "7", "nothing": ""} {
		if c, err := Vet([]byte(text)); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
}
