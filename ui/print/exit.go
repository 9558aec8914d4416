package print

import (
	"vksmedic/model"
	"vksmedic/model/signature"
)

// The statuses with which a scan ends.
const (
	// Clear: nothing is flagged, and all that the signatures require could be read.
	Clear = 0
	// Flagged: something is found that is more than info.
	Flagged = 1
	// Blind: nothing is flagged, and something that the signatures require could not be read.
	Blind = 2
)

// ExitCode is the status with which a scan ends. A dump is taken for all there is, unless some of it was
// lost.
func ExitCode(sn *model.Snapshot) int {
	if flagged(sn) > 0 {
		return Flagged
	}
	if !sn.Dump && len(blind(sn)) > 0 || len(lost(sn)) > 0 {
		return Blind
	}
	return Clear
}

// flagged counts the findings that are more than info.
func flagged(sn *model.Snapshot) int {
	n := 0
	for _, f := range sn.Findings() {
		if f.Severity != model.Info {
			n++
		}
	}
	return n
}

// lost are the parts of a dump that may have held objects and could not be read.
func lost(sn *model.Snapshot) []model.Source {
	var out []model.Source
	for _, s := range sn.Sources {
		if s.Lost {
			out = append(out, s)
		}
	}
	return out
}

// blind are the names of what the signatures require and that could not be read.
func blind(sn *model.Snapshot) []string {
	var out []string
	for _, resource := range signature.Requires() {
		found := false
		for i := range sn.Sources {
			s := &sn.Sources[i]
			if !s.Name.Of(resource) {
				continue
			}
			found = true
			// A kind that is not served has no objects; without Machines there is nothing to judge.
			none := s.State == model.SourceNotServed && resource != "machines"
			if !s.Readable() && !none {
				out = append(out, string(s.Name))
			}
		}
		if !found {
			out = append(out, string(model.SupervisorSource(resource, "")))
		}
	}
	return out
}
