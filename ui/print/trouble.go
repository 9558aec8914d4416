package print

import (
	"path"
	"strings"

	"vksmedic/model"
	"vksmedic/model/text"
)

// trouble is what keeps sources from being well. A Supervisor that is out of reach takes
// all of its kinds along, for one reason, which is said once.
type trouble struct {
	state  model.SourceState
	names  []string
	detail string
}

// troubles are those of a picture, in the order of their first sources.
func troubles(sn *model.Snapshot) []*trouble {
	type reason struct {
		state  model.SourceState
		detail string
	}
	var all []*trouble
	known := map[reason]*trouble{}
	for _, s := range sn.Sources {
		if s.State == model.SourceOK {
			continue
		}
		r := reason{state(s.State), text.Clean(strings.TrimSpace(s.Detail))}
		t := known[r]
		if t == nil || r.detail == "" {
			t = &trouble{state: r.state, detail: r.detail}
			known[r] = t
			all = append(all, t)
		}
		t.names = append(t.names, text.Clean(string(s.Name)))
	}
	return all
}

// list names the sources; what a name has in common with the one before stands once, as
// in supervisor/clusters, machines.
func (t *trouble) list() string {
	var b strings.Builder
	for i, n := range t.names {
		if i > 0 {
			b.WriteString(", ")
			if path.Dir(n) == path.Dir(t.names[i-1]) {
				n = path.Base(n)
			}
		}
		b.WriteString(n)
	}
	return b.String()
}
