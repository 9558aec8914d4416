package ui

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/ui/styles"
)

// header is the two lines that stand on every screen: where one is and whether one
// can write, and how fresh all of it is.
func (m *Model) header(w int) []string {
	return []string{m.whereLine(w), m.sourcesLine(w)}
}

func (m *Model) whereLine(w int) string {
	st := &m.styles
	o := m.o.Where
	right, rightWidth := "", 0
	add := func(s string, style *styles.Style) {
		if rightWidth > 0 {
			right += " · "
			rightWidth += 3
		}
		right += style.Render(s)
		rightWidth += width(s)
	}
	if o.Dump != "" {
		add("dump", &st.Muted)
	} else {
		add(m.vks(), &st.Muted)
	}
	if o.Insecure {
		add("TLS NOT CHECKED", &st.DangerStrong)
	}
	if o.ReadOnly != "" || o.Dump != "" {
		add("read-only", &st.Strong)
	} else {
		add("read-write", &st.Accent)
	}
	room := max(0, w-len("vksmedic")-2*gap-rightWidth)
	left := m.where(room)
	return st.Strong.Render("vksmedic") + "  " + pad(left, room, false) + "  " + right
}

// where is context, user and server; the server is the first to be cut.
func (m *Model) where(room int) string {
	o := m.o.Where
	if o.Dump != "" {
		s := clean(o.Dump)
		at := ""
		if m.snap != nil && !m.snap.At.IsZero() {
			at = " as of " + exact(m.snap.At)
		} else if m.snap != nil {
			at = " (no time in it)"
		}
		return cutMiddle(s, max(8, room-width(at))) + at
	}
	parts := []string{clean(o.Context), clean(o.User), clean(host(o.Server))}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	s := strings.Join(parts, " · ")
	for width(s) > room && len(parts) > 1 {
		last := parts[len(parts)-1]
		rest := room - width(strings.Join(parts[:len(parts)-1], " · ")) - 3
		if rest >= 8 {
			parts[len(parts)-1] = cutMiddle(last, rest)
			return strings.Join(parts, " · ")
		}
		parts = parts[:len(parts)-1]
		s = strings.Join(parts, " · ")
	}
	return cutMiddle(s, room)
}

// host is a server's address without what goes without saying.
func host(server string) string {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return server
	}
	return u.Host + strings.TrimSuffix(u.Path, "/")
}

// versionWidth keeps what the Supervisor says of itself from pushing out of the line
// whether one can write.
const versionWidth = 14

func (m *Model) vks() string {
	if m.snap == nil {
		return "VKS ?"
	}
	s := m.snap.Supervisor
	switch {
	case s.VKS != "":
		v, _, _ := strings.Cut(clean(s.VKS), "+")
		return "VKS " + cutEnd(v, versionWidth)
	case s.VKSAtLeast != "":
		return "VKS ≥ " + cutEnd(clean(s.VKSAtLeast), versionWidth)
	}
	return "VKS ?"
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
func (m *Model) sourceStyle(s model.SourceState) (string, *styles.Style) {
	switch s {
	case model.SourceUnreachable:
		return signBad, &m.styles.Danger
	case model.SourceStale, model.SourceNotUnderstood:
		return signWarn, &m.styles.Warn
	case model.SourceForbidden:
		return signUnknown, &m.styles.Warn
	case model.SourceOK:
		return signOk, &m.styles.Ok
	case model.SourceNotServed, model.SourceWaiting:
	}
	return signQuiet, &m.styles.Muted
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

// sourcesLine says how fresh the picture is, worst first; :sources has all of it.
func (m *Model) sourcesLine(w int) string {
	st := &m.styles
	if m.snap == nil {
		who := host(m.o.Where.Server)
		if m.o.Where.Dump != "" {
			who = m.o.Where.Dump
		}
		return st.Muted.Render(cutEnd("asking "+clean(who)+" …", w))
	}
	now := m.now()
	var parts []string
	put := func(style *styles.Style, s string) { parts = append(parts, style.Render(s)) }
	top, bad, waiting := m.supervisorSources(now)
	if m.snap.Source(model.SourceLogin) != nil {
		put(&st.Danger, "log in again")
	}
	switch {
	case m.snap.Still():
		put(&st.Muted, plural(len(m.snap.Sources), "file", "files"))
	case top < 0 && waiting > 0:
		put(&st.Muted, "asking …")
	case top < 0: // Nothing is well; what is wrong follows.
	case top == 0:
		put(&st.Ok, "live")
	default:
		put(&st.Muted, "as of "+text.Age(top)+" ago")
	}
	if waiting > 0 && top >= 0 {
		put(&st.Muted, plural(waiting, "source", "sources")+" still asked")
	}
	if n, of := workloadSources(m.snap); of > 0 {
		style := &st.Muted
		if n < of {
			style = &st.Warn
		}
		put(style, "workload "+itoa(n)+" of "+itoa(of))
	}
	for _, b := range bad {
		_, style := m.sourceStyle(b.state)
		put(style, b.words)
	}
	s := strings.Join(parts, st.Muted.Render(" · "))
	hint := ""
	if len(bad) > 0 || m.snap.Source(model.SourceLogin) != nil {
		hint = st.Muted.Render("  :sources")
	}
	return cutEnd(s, max(0, w-width(hint))) + hint
}

type badSources struct {
	state model.SourceState
	words string
}

// supervisorSources is the age of the oldest readable source that is not a
// cluster's own (negative if there is none), the states that are not well, each
// with its number, its first name and its age, and how many are still asked.
func (m *Model) supervisorSources(now time.Time) (oldest time.Duration, bad []badSources, waiting int) {
	oldest = -1
	counts := map[model.SourceState]int{}
	firsts := map[model.SourceState]*model.Source{}
	for i := range m.snap.Sources {
		s := &m.snap.Sources[i]
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
		words := strings.ReplaceAll(string(state), "-", " ") + ": " + clean(firsts[state].Name.Short())
		if n > 1 {
			words += " +" + itoa(n-1)
		}
		if a := firsts[state].Age(now); a > 0 && state != model.SourceForbidden && state != model.SourceNotServed && !m.snap.Still() {
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

// loginWords names what renews the engineer's login while it is not taken.
func (m *Model) loginWords(w int) string {
	if m.snap == nil {
		return ""
	}
	s := m.snap.Source(model.SourceLogin)
	if s == nil {
		return ""
	}
	words := clean(s.Detail)
	if i := strings.Index(words, "kubectl vsphere login"); i >= 0 {
		words = words[i:]
	}
	return m.styles.Danger.Render(cutEnd(words, w))
}

// message is the line for what just happened.
func (m *Model) message(w int) string {
	if m.flash == "" {
		return m.loginWords(w)
	}
	s := cutEnd(m.flash, w)
	if m.flashBad {
		return m.styles.Danger.Render(s)
	}
	return m.styles.Muted.Render(s)
}

// footer is the keys that do something here, as many as fit.
func (m *Model) footer(w int) string {
	var b strings.Builder
	used := 0
	put := func(keyName, does string) bool {
		n := width(keyName) + 1 + width(does)
		if used > 0 {
			n += 3
		}
		if used+n > w {
			return false
		}
		if used > 0 {
			b.WriteString("   ")
		}
		used += n
		b.WriteString(m.styles.Accent.Render(keyName))
		b.WriteByte(' ')
		b.WriteString(does)
		return true
	}
	const help = "? help"
	w -= len(help) + 3
	for _, x := range m.top().bindings(m) {
		k, does := shortHelp(x)
		if k == "" || put(k, does) {
			continue
		}
		if short, _, more := strings.Cut(does, ","); more && put(k, short) {
			continue
		}
		break
	}
	w += len(help) + 3
	put("?", "help")
	return b.String()
}

// title is the terminal's title: where one is, whether one can write, what is wrong.
func (m *Model) title() string {
	o := m.o.Where
	parts := []string{"vksmedic"}
	if o.Dump != "" {
		parts = append(parts, clean(o.Dump), "read-only")
	} else {
		parts = append(parts, clean(o.Context), clean(o.User), clean(host(o.Server)))
		if o.ReadOnly != "" {
			parts = append(parts, "read-only")
		} else {
			parts = append(parts, "read-write")
		}
	}
	if m.snap != nil {
		bad := 0
		for _, c := range m.snap.Clusters {
			if w := c.Worst(); w != nil && w.Severity == model.Critical {
				bad++
			}
		}
		if bad > 0 {
			parts = append(parts, itoa(bad)+" critical")
		}
	}
	if name := m.top().name(); name != "" {
		parts = append(parts, name)
	}
	return ascii(strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " - "))
}

// ascii replaces what a title must not hold: in the bytes of many characters is one
// that ends a title for terminals which look at bytes, and the rest would be drawn.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

var _ tea.Model = (*Model)(nil)
