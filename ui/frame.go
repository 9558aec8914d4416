package ui

import (
	"time"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/ui/styles"
)

// frame is all that a drawing function gets: what is known at this moment, how things look, and
// how much room there is. Whoever draws changes nothing of it, nor of the screen.
type frame struct {
	styles *styles.Styles
	keys   *KeyMap
	// now is the time that ages of what was seen are counted from: the clock's, or the dump's.
	// clock is always the clock's: what this program did has no other.
	now, clock time.Time
	snap       *model.Snapshot // nil before the first.
	where      Where
	w, h       int // of the body.

	commands []remedies.Command
	log      []LogLine
	// offers are the articles that can be walked for a finding; address is where the article of
	// one can be read, empty where there is none.
	offers  func(*model.Finding) []remedies.Offer
	address func(*model.Finding) string
	// captures says that a capture can be taken.
	captures bool
}

func (m *Model) frame() *frame {
	body := lay(m.w, m.h).body
	return &frame{
		styles: &m.styles, keys: m.keys, now: m.now(), clock: m.o.Now(), snap: m.snap, where: m.o.Where, w: body.w, h: body.h,
		commands: m.commands, log: m.log, offers: m.offersOf, address: m.addressOf, captures: m.o.Capture != nil,
	}
}

func (m *Model) addressOf(f *model.Finding) string {
	if m.o.Address == nil {
		return ""
	}
	return clean(m.o.Address(f))
}

// cluster is the cluster of that name as it is now, or nil.
func (f *frame) cluster(ref model.ClusterRef) *model.Cluster {
	if f.snap == nil {
		return nil
	}
	return f.snap.Cluster(ref)
}

// findings are those of a cluster, or of the Supervisor as a whole.
func (f *frame) findings(at model.Place) []model.Finding {
	switch {
	case f.snap == nil:
	case at.Kind == model.PlaceSupervisor:
		return f.snap.General
	case at.Kind == model.PlaceCluster:
		if c := f.snap.Cluster(at.Cluster); c != nil {
			return c.Findings
		}
	}
	return nil
}
