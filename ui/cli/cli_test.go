package cli

import (
	"bytes"
	"strings"
	"testing"
)

// What is written where, and with which status. What commands do on a Supervisor is tested
// with the whole program, in the top folder.
func TestRun(t *testing.T) {
	for name, tt := range map[string]struct {
		args     []string
		status   int
		out, err string // part of it; empty for nothing at all.
	}{
		"version":                      {[]string{"version"}, 0, "vksmedic 1.2.3\n", ""},
		"help":                         {[]string{"--help"}, 0, "Usage:", ""},
		"no such command":              {[]string{"scna"}, 2, "", `vksmedic: there is no "scna" in vksmedic; see vksmedic --help`},
		"no such flag":                 {[]string{"scan", "--colour"}, 2, "", "see vksmedic scan --help"},
		"no such format":               {[]string{"scan", "-o", "xml"}, 2, "", "choose table, json or markdown"},
		"no time":                      {[]string{"capture", "--timeout", "0s"}, 2, "", "give it some time"},
		"a dump and a Supervisor":      {[]string{"scan", "--from", "x", "--context", "y"}, 2, "", "leave one of them out"},
		"a capture of a dump":          {[]string{"capture", "--from", "x"}, 2, "", "is a dump already"},
		"a dashboard without terminal": {nil, 2, "", "not a terminal"},
		"of a workload, half said":     {[]string{"scan", "--workload-kubeconfig", "web=file"}, 2, "", "write NAMESPACE/CLUSTER=FILE"},
		"a dump from standard input":   {[]string{"scan", "--from", "-"}, 2, "standard input: is empty", ""},
		"as of, of a Supervisor":       {[]string{"scan", "--as-of", "2026-11-30T03:00:00Z"}, 2, "", "--as-of goes with --from"},
		"articles that are right":      {[]string{"article", "check", "../../remedies/kb/testdata/own"}, 0, "nothing is wrong\n", ""},
		"an article that is broken":    {[]string{"article", "check", "../../remedies/kb/testdata/broken/action-unknown.yaml"}, 1, "action-unknown.yaml:34: there is no action", ""},
		"no article":                   {[]string{"article", "check", "nothing.yaml"}, 1, "nothing.yaml: cannot be read: cannot find it", ""},
		"articles that are not named":  {[]string{"article", "check"}, 2, "", "name the files"},
		"no such help with articles":   {[]string{"article", "chek"}, 2, "", `there is no "chek" in vksmedic article`},
		"no folder of articles":        {[]string{"scan", "--articles", "nothing"}, 2, "", "unknown flag"},
		"no time at all":               {[]string{"scan", "--from", "x", "--as-of", "tomorrow"}, 2, "", "not a time like"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			var out, errOut bytes.Buffer
			status := Run(t.Context(), tt.args, Options{In: strings.NewReader(""), Out: &out, Err: &errOut, Version: "1.2.3"})
			if status != tt.status || !says(out.String(), tt.out) || !says(errOut.String(), tt.err) {
				t.Errorf("status %d\nout: %s\nerr: %s", status, out.String(), errOut.String())
			}
		})
	}
}

func says(text, part string) bool {
	if part == "" {
		return text == ""
	}
	return strings.Contains(text, part)
}
