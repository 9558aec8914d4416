package node

import (
	"regexp"
	"strconv"
	"strings"

	"vksmedic/model/text"
)

// Journal is what the last lines of a service's journal tell.
type Journal struct {
	// StartLimit: systemd refused to start it ("Start request repeated too quickly"), and
	// it has not been started since.
	StartLimit bool
	// Result is that of the last failure: start-limit-hit, exit-code and so on.
	Result string
	// RestartCounter is systemd's last count of its own restarts, 0 where there is none.
	RestartCounter int
	// Remaining are processes that lived on after the service stopped.
	Remaining int
	// PluginError is the line in which containerd says that its CRI plug-in did not load:
	// then it runs and serves no kubelet.
	PluginError string
	// LastError is the last line in which the service itself tells of an error.
	LastError string
}

var (
	reFailedWith  = regexp.MustCompile(`: Failed with result '([a-z-]+)'\.`)
	reCounter     = regexp.MustCompile(`Scheduled restart job, restart counter is at (\d{1,9})\.`)
	reStartedUnit = regexp.MustCompile(`systemd\[1\]: Started [^:]*\.?$`)
	reServiceBad  = regexp.MustCompile(`level=(?:error|fatal|panic)|^containerd: |\]: containerd: `)
	rePlugin      = regexp.MustCompile(`failed to load plugin .*io\.containerd\.(?:grpc\.v1\.cri|cri\.v1)|failed to load plugin.*id=io\.containerd\.grpc\.v1\.cri|invalid plugin config`)
)

// ParseJournal reads journal lines, with or without their time and host: those of
// journalctl -u, or the tail that systemctl status prints.
func ParseJournal(out string) Journal {
	var j Journal
	for _, l := range lines(out) {
		switch {
		case strings.Contains(l, "Start request repeated too quickly"):
			j.StartLimit = true
		case reStartedUnit.MatchString(l):
			// A start ends what was said before it.
			j.StartLimit, j.Result = false, ""
		case strings.Contains(l, "remains running after unit stopped"):
			j.Remaining++
		}
		if g := reFailedWith.FindStringSubmatch(l); g != nil {
			j.Result = g[1]
			j.StartLimit = j.StartLimit || g[1] == "start-limit-hit" || g[1] == "start-limit"
		}
		if g := reCounter.FindStringSubmatch(l); g != nil {
			if n, err := strconv.Atoi(g[1]); err == nil {
				j.RestartCounter = n
			}
		}
		if rePlugin.MatchString(l) {
			j.PluginError = text.Limit(strings.TrimSpace(l), maxLine)
		}
		if reServiceBad.MatchString(l) {
			j.LastError = text.Limit(strings.TrimSpace(l), maxLine)
		}
	}
	return j
}
