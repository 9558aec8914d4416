package ui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/ui/styles"
	"vksmedic/ui/widget"
)

// newSources says what is looked at and how that goes.
func newSources() *listScreen {
	return &listScreen{
		name: "sources", filters: true, rows: sourceRows,
		keys: offering(func(k *KeyMap) []key.Binding { return []key.Binding{k.Back, k.Filter, k.Refresh} }),
		head: func(f *frame) []string {
			o := f.where
			where := "context " + clean(o.Context) + " · server " + clean(o.Server) + " · user " + clean(o.User)
			if o.Dump != "" {
				where = "dump " + clean(o.Dump)
			}
			return []string{f.styles.Strong.Render("Sources"), f.styles.Muted.Render(widget.CutMiddle(where, f.w)), ""}
		},
	}
}

func sourceRows(f *frame, selected string) rowList {
	st := f.styles
	if f.snap == nil {
		return rowList{line(st.Muted.Render("nothing was asked yet"))}
	}
	table := widget.NewTable(widget.Column{Sign: true}, widget.Column{Title: "SOURCE", Least: 24}, widget.Column{Title: "STATE"},
		widget.Column{Title: "AGE", Right: true}, widget.Column{Least: 20, Sentence: true})
	all := allSources(f.snap, f.now)
	for i := range all {
		x := &all[i]
		sign, style := sourceStyle(st, x.State)
		table.Add(widget.Cell{Text: sign, Style: style}, widget.Cell{Text: clean(string(x.Name))}, widget.Cell{Text: stateName(x.State), Style: style},
			widget.Cell{Text: sourceAge(*x, f.now), Style: &st.Muted}, widget.Cell{Text: clean(x.Detail), Style: &st.Muted})
	}
	room := table.Fit(f.w - 1)[4]
	var rows rowList
	for i := range all {
		rows = append(rows, row{id: string(all[i].Name), draw: func() string { return table.Row(i) }})
		if detail := clean(all[i].Detail); selected == string(all[i].Name) && widget.Width(detail) > room {
			for _, l := range widget.Wrap(detail, f.w-6) {
				rows = append(rows, line("   "+st.Muted.Render(l)))
			}
		}
	}
	return rows
}

// stateName is a source's state in words.
func stateName(s model.SourceState) string { return strings.ReplaceAll(string(s), "-", " ") }

func sourceAge(s model.Source, now time.Time) string {
	switch a := s.Age(now); {
	case s.Live && s.State == model.SourceOK:
		return "live"
	case a < 0 || now.IsZero():
		return "—"
	default:
		return text.Age(a)
	}
}

// silent says, in words, why the cluster's inside is not seen; empty where it is, or where
// its own API server was never asked.
func silent(c *model.Cluster, now time.Time) string {
	s := c.Workload.NodesSource
	switch s.State {
	case model.SourceUnreachable, model.SourceStale:
		if s.Seen.IsZero() {
			return "no answer"
		}
		return "no answer for " + text.Since(now, s.Seen)
	case model.SourceForbidden:
		return "inside not seen: forbidden"
	case model.SourceNotUnderstood:
		return "inside not understood"
	case model.SourceOK, model.SourceNotServed, model.SourceWaiting:
	}
	return ""
}

// sourceRank orders the states of a source, the worst first.
func sourceRank(s model.SourceState) int {
	switch s {
	case model.SourceUnreachable:
		return 0
	case model.SourceStale:
		return 1
	case model.SourceForbidden:
		return 2
	case model.SourceNotUnderstood:
		return 3
	case model.SourceWaiting:
		return 4
	case model.SourceNotServed:
		return 5
	case model.SourceOK:
		return 6
	}
	return 7
}

// sourceStyle is the sign and the style of a source's state.
func sourceStyle(st *styles.Styles, s model.SourceState) (string, *styles.Style) {
	switch s {
	case model.SourceUnreachable:
		return styles.SignBad, &st.Danger
	case model.SourceStale, model.SourceNotUnderstood:
		return styles.SignWarn, &st.Warn
	case model.SourceForbidden:
		return styles.SignUnknown, &st.Warn
	case model.SourceOK:
		return styles.SignOk, &st.Ok
	case model.SourceNotServed, model.SourceWaiting:
	}
	return styles.SignQuiet, &st.Muted
}

// allSources are the Supervisor's or the dump's sources and each cluster's own, the
// worst first.
func allSources(sn *model.Snapshot, now time.Time) []model.Source {
	out := slices.Clone(sn.Sources)
	have := make(map[model.SourceName]bool, len(out))
	for i := range out {
		have[out[i].Name] = true
	}
	for _, c := range sn.Clusters {
		for _, s := range []model.Source{c.Workload.NodesSource, c.Workload.PodsSource, c.Workload.BudgetsSource} {
			if s.Name != "" && !have[s.Name] {
				have[s.Name] = true
				out = append(out, s)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b model.Source) int {
		if d := cmp.Compare(sourceRank(a.State), sourceRank(b.State)); d != 0 {
			return d
		}
		// What is well is sorted by name alone: rows that change places every second
		// cannot be read.
		if d := cmp.Compare(b.Age(now), a.Age(now)); d != 0 && a.State != model.SourceOK {
			return d
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return out
}

type badSources struct {
	state model.SourceState
	words string
}

// supervisorSources is the age of the oldest readable source that is not a
// cluster's own (negative if there is none), the states that are not well, each
// with its number, its first name and its age, and how many are still asked.
func supervisorSources(sn *model.Snapshot, now time.Time) (oldest time.Duration, bad []badSources, waiting int) {
	oldest = -1
	counts := map[model.SourceState]int{}
	firsts := map[model.SourceState]*model.Source{}
	for i := range sn.Sources {
		s := &sn.Sources[i]
		if _, _, inside := s.Name.Workload(); inside || s.Name == model.SourceLogin {
			continue
		}
		switch s.State {
		case model.SourceOK:
			oldest = max(oldest, s.Age(now))
		case model.SourceWaiting:
			waiting++
		case model.SourceStale, model.SourceForbidden, model.SourceUnreachable, model.SourceNotServed, model.SourceNotUnderstood:
			counts[s.State]++
			if f := firsts[s.State]; f == nil || s.Age(now) > f.Age(now) {
				firsts[s.State] = s
			}
		}
	}
	for _, state := range []model.SourceState{
		model.SourceUnreachable, model.SourceStale, model.SourceForbidden, model.SourceNotUnderstood, model.SourceNotServed,
	} {
		n := counts[state]
		if n == 0 {
			continue
		}
		words := stateName(state) + ": " + clean(firsts[state].Name.Short())
		if n > 1 {
			words += " +" + itoa(n-1)
		}
		if a := firsts[state].Age(now); a > 0 && state != model.SourceForbidden && state != model.SourceNotServed && !sn.Still() {
			words += " " + text.Age(a)
		}
		bad = append(bad, badSources{state, words})
	}
	return oldest, bad, waiting
}

// workloadSources is in how many clusters the nodes could be read, of those asked.
func workloadSources(sn *model.Snapshot) (ok, asked int) {
	for _, c := range sn.Clusters {
		switch c.Workload.NodesSource.State {
		case model.SourceOK:
			ok++
			asked++
		case model.SourceStale, model.SourceForbidden, model.SourceUnreachable, model.SourceNotServed, model.SourceNotUnderstood:
			asked++
		case model.SourceWaiting:
		}
	}
	return ok, asked
}
