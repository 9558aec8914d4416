package action

import (
	"strings"

	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/remedies/kb"
)

// byHand shows commands that a person runs elsewhere, and sees whether it was done.
type byHand struct{}

var _ remedies.Manual = byHand{}

// Kind is manual.
func (byHand) Kind() remedies.StepKind { return remedies.StepManual }

// Commands are what a person types. A command that could not be filled in, or that holds what a
// terminal must not be given, is a comment that says so.
func (byHand) Commands(s *remedies.Scene) []string {
	p, ok := s.Params.(*kb.ByHand)
	if !ok {
		return []string{"# " + wrongParams("by-hand", s.Params).Error()}
	}
	out := make([]string, 0, len(p.Commands))
	for _, c := range p.Commands {
		switch clean := text.CleanLines(c); {
		case strings.Contains(c, kb.NotKnown):
			out = append(out, "# cannot be filled in, since the finding does not say it: "+text.Clean(c))
		case clean != c:
			out = append(out, "# left out: the command holds characters that a terminal must not be given")
		default:
			out = append(out, clean)
		}
	}
	return out
}

// Verify looks whether it was done.
func (byHand) Verify(s *remedies.Scene) remedies.Watch {
	p, ok := s.Params.(*kb.ByHand)
	if !ok {
		return broken(wrongParams("by-hand", s.Params))
	}
	return remedies.Steady(watchUntil(s, &p.Until), p.Stays, p.Timeout, s.Now)
}
