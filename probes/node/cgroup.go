package node

import (
	"regexp"
	"strings"
)

// reScope is the container in a cgroup path: containerd under systemd
// (cri-containerd-ID.scope), other runtimes, and cgroupfs (/kubepods/…/ID).
var reScope = regexp.MustCompile(`(?:^|/|:)(?:cri-containerd[-:]|crio-|docker-)?([0-9a-f]{64})(?:\.scope)?(?:$|/|\n)`)

// CgroupContainer is the id of the container that a process was started in, from its
// /proc/PID/cgroup; empty where it is in none. The kernel writes that file and a process
// cannot change it, so it proves which container an orphan belonged to.
func CgroupContainer(out string) string {
	id := ""
	for _, l := range lines(out) {
		_, at, ok := strings.Cut(l, ":")
		if !ok {
			continue
		}
		g := reScope.FindStringSubmatch(at)
		switch {
		case g == nil:
		case id == "":
			id = g[1]
		case id != g[1]:
			return "" // two containers: it cannot be told which.
		}
	}
	return id
}
