package node

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"vksmedic/model/text"
)

// Unit is what systemd says of a service.
type Unit struct {
	Name string
	// Load is loaded, not-found, masked and so on; Active is active, failed, inactive,
	// activating; Sub is running, failed, dead, auto-restart.
	Load, Active, Sub string
	// Result is success, exit-code, start-limit-hit and so on.
	Result   string
	UnitFile string // enabled, disabled, masked.
	// Restarts is how often systemd itself restarted it, -1 where that was not said.
	Restarts int
	MainPID  int
	// Since is when it came into this state, zero where that cannot be read.
	Since   time.Time
	Journal Journal
	// Refused says that a start was refused for being tried too often.
	Refused bool
	// Said is false where the output has nothing about a unit.
	Said bool
}

// Fault is what is wrong with a service, as far as systemd tells.
type Fault string

// The faults of a service.
const (
	// FaultNone: it runs. It may still not answer.
	FaultNone Fault = "running"
	// FaultStartLimit: systemd refuses to start it, it was started too often.
	FaultStartLimit Fault = "start-limit"
	// FaultCrashing: it ends by itself with an error; resetting its state cannot help.
	FaultCrashing Fault = "crashing"
	// FaultStopped: somebody stopped it.
	FaultStopped Fault = "stopped"
	FaultMasked  Fault = "masked"
	// FaultMissing: there is no such unit.
	FaultMissing Fault = "not-found"
	// FaultChanging: it is being started or stopped.
	FaultChanging Fault = "changing"
	FaultUnknown  Fault = "unknown"
)

// Fault judges the unit. A start limit shows in three ways: in the result; where the last
// start really failed, only in the journal ("Start request repeated too quickly") while
// the result is exit-code; and in the answer to a start.
func (u Unit) Fault() Fault {
	switch {
	case !u.Said:
		return FaultUnknown
	case u.Load == "not-found":
		return FaultMissing
	case u.Load == "masked" || u.UnitFile == "masked" || u.UnitFile == "masked-runtime":
		return FaultMasked
	case u.Active == "active" || u.Active == "reloading":
		return FaultNone
	case u.startLimit():
		return FaultStartLimit
	case u.Active == "failed" || u.Sub == "auto-restart":
		return FaultCrashing
	case u.Active == "inactive":
		return FaultStopped
	case u.Active == "activating" || u.Active == "deactivating":
		return FaultChanging
	}
	return FaultUnknown
}

func (u Unit) startLimit() bool {
	if u.Result == "start-limit-hit" || u.Result == "start-limit" {
		return true
	}
	return u.Active == "failed" && (u.Journal.StartLimit || u.Refused) || u.Active == "" && u.Refused
}

// ReallyFails says that a start limit came from a service that fails by itself, so that
// resetting it and starting it again will only fail again.
func (u Unit) ReallyFails() bool {
	return u.Result == "exit-code" || u.Result == "signal" || u.Result == "core-dump" || u.Journal.Result == "exit-code"
}

var reProperty = regexp.MustCompile(`^([A-Z][A-Za-z]{1,40})=(.*)$`)

// ParseShow reads systemctl show -p …: one property a line, in systemd's order.
func ParseShow(out string) Unit {
	u := Unit{Restarts: -1}
	for _, l := range lines(out) {
		g := reProperty.FindStringSubmatch(l)
		if g == nil {
			u.remark(l)
			continue
		}
		v := text.Limit(g[2], maxLine)
		switch g[1] {
		case "Id", "Names":
			u.Name = v
		case "LoadState":
			u.Load = v
		case "ActiveState":
			u.Active, u.Said = v, true
		case "SubState":
			u.Sub = v
		case "Result":
			u.Result = v
		case "UnitFileState":
			u.UnitFile = v
		case "NRestarts":
			if n, err := strconv.Atoi(v); err == nil && n >= 0 {
				u.Restarts = n
			}
		case "MainPID":
			if n, err := strconv.Atoi(v); err == nil && n >= 0 {
				u.MainPID = n
			}
		case "StateChangeTimestamp":
			u.Since = systemdTime(v)
		}
	}
	return u
}

// remark takes in what systemctl says besides the state.
func (u *Unit) remark(l string) {
	switch {
	case strings.Contains(l, "start of the service was attempted too often"):
		u.Refused, u.Said = true, true
	case strings.HasPrefix(l, "Unit ") && strings.HasSuffix(l, "could not be found."):
		u.Load, u.Said = "not-found", true
	}
}

var (
	// The bullet was ● in every state, then tells the state; a terminal without UTF-8 has *.
	reUnitHead = regexp.MustCompile(`^\s*(?:[●○×↻*x]\s+)([\w@.\\:-]{1,200}\.service)(?:\s+-\s.*)?$`)
	reLoaded   = regexp.MustCompile(`^\s*Loaded:\s+(\S+)(?:\s+\((?:[^;)]*;\s*)?([a-z-]+)[;)])?`)
	reActive   = regexp.MustCompile(`^\s*Active:\s+([a-z-]+)(?:\s+\(([^)]*)\))?(?:\s+\(Result:\s+([a-z-]+)\))?(?:\s+since\s+([^;]+))?`)
	reMainPID  = regexp.MustCompile(`^\s*Main PID:\s+(\d{1,10})`)
	reResult   = regexp.MustCompile(`^Result:\s+([a-z-]+)$`)
)

// ParseStatus reads systemctl status, of systemd 219 to the newest: old and new bullets,
// the lines that came and went between, and the journal's tail below them.
func ParseStatus(out string) Unit {
	u := Unit{Restarts: -1}
	ls := lines(out)
	for i, l := range ls {
		if i > maxEntries {
			break
		}
		if g := reUnitHead.FindStringSubmatch(l); g != nil && u.Name == "" {
			u.Name = g[1]
			continue
		}
		if g := reLoaded.FindStringSubmatch(l); g != nil && u.Load == "" {
			u.Load, u.UnitFile = g[1], g[2]
			continue
		}
		if g := reActive.FindStringSubmatch(l); g != nil && u.Active == "" {
			u.active(g)
			continue
		}
		if g := reMainPID.FindStringSubmatch(l); g != nil && u.MainPID == 0 {
			if n, err := strconv.Atoi(g[1]); err == nil {
				u.MainPID = n
			}
			continue
		}
		u.remark(l)
	}
	u.Journal = ParseJournal(out)
	return u
}

func (u *Unit) active(g []string) {
	u.Active, u.Result, u.Said = g[1], g[3], true
	switch r := reResult.FindStringSubmatch(g[2]); {
	case r != nil:
		u.Result = r[1]
		u.Sub = g[1] // "failed (Result: …)": the sub state is not printed, and is failed.
	default:
		u.Sub = g[2]
	}
	if u.Result == "" && u.Active == "active" {
		u.Result = "success"
	}
	u.Since = systemdTime(g[4])
}

// systemdTime reads systemd's own form, which the node writes in its own zone; only UTC
// can be told from the name.
func systemdTime(s string) time.Time {
	s = strings.TrimSpace(s)
	for _, layout := range []string{"Mon 2006-01-02 15:04:05 MST", "Mon 2006-01-02 15:04:05.999999 MST"} {
		if t, err := time.Parse(layout, s); err == nil && (strings.HasSuffix(s, "UTC") || strings.HasSuffix(s, "GMT")) {
			return t.UTC()
		}
	}
	return time.Time{}
}
