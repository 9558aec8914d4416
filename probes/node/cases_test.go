package node

import (
	"os"
	"path/filepath"
	"testing"
)

// caseText reads an output that stands beside a public case.
func caseText(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "testdata", "cases", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The outputs of the public cases, as they were printed.
func TestCaseTexts(t *testing.T) {
	// 31: both are the start limit, though the first one's last result was exit-code.
	j := ParseJournal(caseText(t, "31-start-limit-exit-code/1.txt"))
	if !j.StartLimit || j.Result != "exit-code" || j.RestartCounter != 5 {
		t.Errorf("31, journal: %+v", j)
	}
	if u := ParseStatus(caseText(t, "31-start-limit-exit-code/2.txt")); u.Fault() != FaultStartLimit || u.Name != "containerd.service" {
		t.Errorf("31, status: %+v", u)
	}
	// 28: it runs, so that resetting it is no help; its plug-in is what is broken.
	if u := ParseStatus(caseText(t, "28-gpu-operator-broke-cri-plugin/1.txt")); u.Fault() != FaultNone || u.Journal.PluginError == "" {
		t.Errorf("28: %+v", u)
	}
	// 41: of two processes the orphan is the one that is no search.
	p := ParseProcesses(caseText(t, "41-bind-scheduler-orphan-shim/1.txt"))
	if len(p.List) != 2 || p.List[0].PID != 20020 || p.List[0].IsSearch() || p.List[0].Program() != "kube-scheduler" || !p.List[1].IsSearch() {
		t.Errorf("41, ps: %+v", p)
	}
	c := ParseContainers(caseText(t, "41-bind-scheduler-orphan-shim/2.txt"))
	if len(c.List) != 1 || c.List[0].Name != "kube-scheduler" || c.List[0].State != Exited || c.List[0].Attempt != 148 {
		t.Errorf("41, listing: %+v", c)
	}
	// 44: one process, two protocols.
	s := ParseSockets(caseText(t, "44-bind-metallb-speaker-7946/1.txt")).On(7946)
	if len(s) != 2 || s[0].Protocol != "tcp" || s[1].Protocol != "udp" || s[0].Users[0] != (SocketUser{"speaker", 4300, 7}) || s[1].Users[0].PID != 4300 {
		t.Errorf("44: %+v", s)
	}
	// 50: warnings before the table, an older layout, and a runtime that does not answer.
	for file, want := range map[string]string{"1.txt": "etcd", "2.txt": "kube-apiserver"} {
		c := ParseContainers(caseText(t, "50-crictl-output-noise/"+file))
		if len(c.List) != 1 || c.List[0].Name != want || c.List[0].State != Exited || c.Failure != "" {
			t.Errorf("50, %s: %+v", file, c)
		}
	}
	if c := ParseContainers(caseText(t, "50-crictl-output-noise/3.txt")); len(c.List) != 0 || c.Failure == "" {
		t.Errorf("50, 3.txt: %+v", c)
	}
	// 79: prompts in the place of an answer.
	if x := ParseSession(caseText(t, "79-ssh-secrets-and-expired-password/1.txt")); !x.PasswordExpired || x.Output != "" || x.Blocked() == "" {
		t.Errorf("79: %+v", x)
	}
}
