package supervisor

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestKubectl(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	for _, f := range []string{one, two} {
		if err := os.WriteFile(f, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		flag, env string
		want      []string
	}{
		"a flag":                     {flag: one, env: two, want: []string{"kubectl", "--kubeconfig", one, "--context", "prod"}},
		"the environment":            {env: two, want: []string{"kubectl", "--kubeconfig", two, "--context", "prod"}},
		"a list":                     {env: one + ":" + two, want: []string{"env", "KUBECONFIG=" + one + ":" + two, "kubectl", "--context", "prod"}},
		"a list with a file missing": {env: one + ":" + dir + "/nothing", want: []string{"kubectl", "--kubeconfig", one, "--context", "prod"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", c.env)
			got := (&Connection{Context: "prod", opts: Options{Kubeconfig: c.flag}}).Kubectl()
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
