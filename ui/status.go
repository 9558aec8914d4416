package ui

import (
	"net/url"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/ui/styles"
	"vksmedic/ui/widget"
)

// header is the two lines that stand on every screen: where one is and whether one
// can write, and how fresh all of it is.
func header(f *frame) []string {
	return []string{whereLine(f), sourcesLine(f)}
}

func whereLine(f *frame) string {
	st := f.styles
	o := f.where
	right, rightWidth := "", 0
	add := func(s string, style *styles.Style) {
		if rightWidth > 0 {
			right += " · "
			rightWidth += 3
		}
		right += style.Render(s)
		rightWidth += widget.Width(s)
	}
	if o.Dump != "" {
		add("dump", &st.Muted)
	} else {
		add(vks(f), &st.Muted)
	}
	if o.Insecure {
		add("TLS NOT CHECKED", &st.DangerStrong)
	}
	if o.ReadOnly != "" || o.Dump != "" {
		add("read-only", &st.Strong)
	} else {
		add("read-write", &st.Accent)
	}
	room := max(0, f.w-len("vksmedic")-2*widget.Gap-rightWidth)
	left := whereWords(f, room)
	return st.Strong.Render("vksmedic") + "  " + widget.Pad(left, room) + "  " + right
}

// whereWords is context, user and server; the server is the first to be cut.
func whereWords(f *frame, room int) string {
	o := f.where
	if o.Dump != "" {
		s := clean(o.Dump)
		at := ""
		if f.snap != nil && !f.snap.At.IsZero() {
			at = " as of " + exact(f.snap.At)
		} else if f.snap != nil {
			at = " (no time in it)"
		}
		return widget.CutMiddle(s, max(8, room-widget.Width(at))) + at
	}
	parts := []string{clean(o.Context), clean(o.User), clean(host(o.Server))}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	s := strings.Join(parts, " · ")
	for widget.Width(s) > room && len(parts) > 1 {
		last := parts[len(parts)-1]
		rest := room - widget.Width(strings.Join(parts[:len(parts)-1], " · ")) - 3
		if rest >= 8 {
			parts[len(parts)-1] = widget.CutMiddle(last, rest)
			return strings.Join(parts, " · ")
		}
		parts = parts[:len(parts)-1]
		s = strings.Join(parts, " · ")
	}
	return widget.CutMiddle(s, room)
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

func vks(f *frame) string {
	if f.snap == nil {
		return "VKS ?"
	}
	s := f.snap.Supervisor
	switch {
	case s.VKS != "":
		v, _, _ := strings.Cut(clean(s.VKS), "+")
		return "VKS " + widget.CutEnd(v, versionWidth)
	case s.VKSAtLeast != "":
		return "VKS ≥ " + widget.CutEnd(clean(s.VKSAtLeast), versionWidth)
	}
	return "VKS ?"
}

// sourcesLine says how fresh the picture is, worst first; :sources has all of it.
func sourcesLine(f *frame) string {
	st := f.styles
	if f.snap == nil {
		who := host(f.where.Server)
		if f.where.Dump != "" {
			who = f.where.Dump
		}
		return st.Muted.Render(widget.CutEnd("asking "+clean(who)+" …", f.w))
	}
	now := f.now
	var parts []string
	put := func(style *styles.Style, s string) { parts = append(parts, style.Render(s)) }
	top, bad, waiting := supervisorSources(f.snap, now)
	if f.snap.Source(model.SourceLogin) != nil {
		put(&st.Danger, "log in again")
	}
	switch {
	case f.snap.Still():
		put(&st.Muted, plural(len(f.snap.Sources), "file", "files"))
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
	if n, of := workloadSources(f.snap); of > 0 {
		style := &st.Muted
		if n < of {
			style = &st.Warn
		}
		put(style, "workload "+itoa(n)+" of "+itoa(of))
	}
	for _, b := range bad {
		_, style := sourceStyle(st, b.state)
		put(style, b.words)
	}
	s := strings.Join(parts, st.Muted.Render(" · "))
	hint := ""
	if len(bad) > 0 || f.snap.Source(model.SourceLogin) != nil {
		hint = st.Muted.Render("  :sources")
	}
	return widget.CutEnd(s, max(0, f.w-widget.Width(hint))) + hint
}

// loginWords names what renews the engineer's login while it is not taken.
func loginWords(f *frame) string {
	if f.snap == nil {
		return ""
	}
	s := f.snap.Source(model.SourceLogin)
	if s == nil {
		return ""
	}
	words := clean(s.Detail)
	if i := strings.Index(words, "kubectl vsphere login"); i >= 0 {
		words = words[i:]
	}
	return f.styles.Danger.Render(widget.CutEnd(words, f.w))
}

// message is the line for what just happened.
func message(f *frame, flash string, bad bool) string {
	if flash == "" {
		return loginWords(f)
	}
	s := widget.CutEnd(flash, f.w)
	if bad {
		return f.styles.Danger.Render(s)
	}
	return f.styles.Muted.Render(s)
}

// footer is the keys that do something here, as many as fit.
func footer(f *frame, bindings []key.Binding) string {
	var b strings.Builder
	used, w := 0, f.w
	put := func(keyName, does string) bool {
		n := widget.Width(keyName) + 1 + widget.Width(does)
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
		b.WriteString(f.styles.Accent.Render(keyName))
		b.WriteByte(' ')
		b.WriteString(does)
		return true
	}
	const help = "? help"
	w -= len(help) + 3
	for _, x := range bindings {
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
	if name := m.top().title(); name != "" {
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
