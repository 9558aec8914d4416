package supervisor

import (
	"os"
	"path/filepath"
	"strings"
)

// Kubectl are the words with which a command for this Supervisor begins, not quoted: kubectl,
// the kubeconfig and the context. Names of contexts repeat across kubeconfigs, so both are
// needed wherever the command is typed.
func (c *Connection) Kubectl() []string {
	rules := loadingRules(c.opts.Kubeconfig)
	var files []string
	for _, f := range rules.GetLoadingPrecedence() {
		if _, err := os.Stat(f); err != nil {
			continue
		}
		if abs, err := filepath.Abs(f); err == nil {
			f = abs
		}
		files = append(files, f)
	}
	words := []string{"kubectl"}
	switch {
	case len(files) == 1:
		words = append(words, "--kubeconfig", files[0])
	case len(files) > 1: // a list that is merged has no flag.
		words = []string{"env", "KUBECONFIG=" + strings.Join(files, string(filepath.ListSeparator)), "kubectl"}
	}
	if c.Context != "" {
		words = append(words, "--context", c.Context)
	}
	return words
}
