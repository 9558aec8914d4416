package signature

import (
	"testing"
	"time"

	"vksmedic/model"
)

// Quorum is only counted where every member is known.
func TestQuorumCounts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*site)
		words  string
		spares model.Verdict
	}{
		"all well": {func(*site) {}, "3 of 3 members healthy, 2 needed for etcd's quorum", model.Yes},
		"one down": {func(s *site) { s.silent("web-cp-1", time.Hour) }, "2 of 3 members healthy, 2 needed for etcd's quorum", model.Yes},
		"etcd's own alarm": {func(s *site) {
			s.machineSays("web-cp-1", model.Condition{Type: "EtcdMemberHealthy", Status: "False", Message: "Etcd reports alarms: NOSPACE"})
		}, "2 of 3 members healthy, 2 needed for etcd's quorum", model.Yes},
		"two down":              {func(s *site) { s.silent("web-cp-1", time.Hour).silent("web-cp-2", time.Hour) }, "1 of 3 members healthy, 2 needed for etcd's quorum", model.No},
		"nothing of the inside": {func(s *site) { s.blind() }, "3 of 3 members healthy, 2 needed for etcd's quorum", model.Yes},
		"one is not known": {func(s *site) {
			s.blind()
			s.machine("web-cp-2").Conditions = model.Generations{}
		}, "cannot be counted: of web-cp-2 nothing is known: its node was not read", model.Unknown},
	} {
		s := newSite(t)
		c.change(s)
		q := (&view{c: s.c, sn: s.sn, now: now, explained: map[*nodeView]bool{}}).quorum()
		if q.Words() != c.words || q.Spares() != c.spares {
			t.Errorf("%s: %q %s", name, q.Words(), q.Spares())
		}
	}
}
