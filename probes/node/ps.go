package node

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"vksmedic/model/text"
)

// Process is one line of ps.
type Process struct {
	User    string
	PID     int
	Parent  int
	Started string // as ps prints it: 08:41, Sep07 or 2025.
	TTY     string // "?" for none.
	Time    string
	Command string // the command line, which a process may write itself.
}

// Program is the base name of the first word of the command line. The process chooses it
// itself, so it is shown and never taken for proof.
func (p Process) Program() string {
	first, _, _ := strings.Cut(p.Command, " ")
	return path.Base(first)
}

// IsSearch says whether the line is the search that found it: grep, pgrep or ps.
func (p Process) IsSearch() bool {
	switch p.Program() {
	case "grep", "egrep", "fgrep", "pgrep", "ps", "rg", "awk":
		return true
	}
	return false
}

// Processes is what ps said.
type Processes struct {
	List  []Process
	Noise []string
}

// With is the process of that PID.
func (p Processes) With(pid int) (Process, bool) {
	for _, x := range p.List {
		if x.PID == pid {
			return x, true
		}
	}
	return Process{}, false
}

// reProcess is a line of ps -f: UID PID PPID C STIME TTY TIME CMD.
var reProcess = regexp.MustCompile(`^\s*(\S+)\s+(\d{1,10})\s+(\d{1,10})\s+(\d{1,3})\s+(\S+)\s+(\S+)\s+((?:\d+-)?\d{1,4}:\d{2}(?::\d{2})?)\s+(\S.*)$`)

// ParseProcesses reads ps -f, with or without its header.
func ParseProcesses(out string) Processes {
	var p Processes
	for _, l := range lines(out) {
		g := reProcess.FindStringSubmatch(l)
		if g == nil {
			if f := strings.Fields(l); len(f) < 3 || f[0] != "UID" || f[1] != "PID" {
				p.Noise = noisy(p.Noise, l)
			}
			continue
		}
		pid, err := strconv.Atoi(g[2])
		parent, err2 := strconv.Atoi(g[3])
		if err != nil || err2 != nil || pid <= 0 || len(p.List) >= maxEntries {
			p.Noise = noisy(p.Noise, l)
			continue
		}
		p.List = append(p.List, Process{User: g[1], PID: pid, Parent: parent, Started: g[5], TTY: g[6], Time: g[7], Command: text.Limit(g[8], maxNoise*maxLine)})
	}
	return p
}
