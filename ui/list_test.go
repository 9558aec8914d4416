package ui

import (
	"strings"
	"testing"
)

// TestSelectionBeforeTheFirstKey is the worst cluster, whichever that comes to be; what was
// opened stays selected.
func TestSelectionBeforeTheFirstKey(t *testing.T) {
	s := newDesk(t, 80, 24, Options{})
	s.send(snapshotMsg{picture()})
	if !strings.Contains(s.screen(), "›✖ team-a/web") {
		t.Fatal(s.screen())
	}
	sn := picture()
	sn.Clusters = append(sn.Clusters, stuckNamed("team-z", "worse"))
	s.send(snapshotMsg{sn})
	if !strings.Contains(s.screen(), "›✖ team-z/worse") {
		t.Error(s.screen())
	}
	s.keys("enter", "esc")
	sn = picture()
	sn.Clusters = append(sn.Clusters, stuckNamed("team-z", "worse"), stuckNamed("team-y", "as-bad"))
	s.send(snapshotMsg{sn})
	if got := s.screen(); !strings.Contains(got, "›✖ team-z/worse") || !strings.Contains(got, " ✖ team-y/as-bad") {
		t.Error(got)
	}
}

// TestTheWorstIsInSight when it comes to stand above the row one is on.
func TestTheWorstIsInSight(t *testing.T) {
	s := newDesk(t, 80, 24, Options{})
	s.send(snapshotMsg{picture()})
	s.keys("a", "g", "j")
	sn := picture()
	sn.Clusters = append(sn.Clusters, stuckNamed("team-z", "worse"))
	s.send(snapshotMsg{sn})
	if got := s.screen(); !strings.Contains(got, "✖ team-z/worse") || !strings.Contains(got, "›▲ team-b/shop") {
		t.Error(got)
	}
}
