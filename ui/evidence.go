package ui

import (
	"cmp"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/ui/styles"
	"vksmedic/ui/widget"
)

// evidence is one finding: every check with its answer, what was read and where,
// and what to do.
type evidence struct {
	*listScreen
	id string // the finding's Key.
}

func newEvidence(at model.Place, id string) *evidence {
	v := &evidence{id: id}
	v.listScreen = &listScreen{
		name: placeName(at), at: at, fills: true,
		head: v.headLines, rows: v.checkRows, keys: v.offered, on: v.press, foot: v.detail,
		footRoom: func(f *frame) int { return min(evidenceDetail(f.h), max(0, f.h-len(v.headLines(f))-3)) },
	}
	return v
}

// finding is the finding as it is now; nil where it is not found any more.
func (v *evidence) finding(f *frame) *model.Finding {
	all := f.findings(v.at)
	for i := range all {
		if all[i].Key() == v.id {
			return &all[i]
		}
	}
	return nil
}

func (v *evidence) offered(f *frame) []key.Binding {
	k := f.keys
	x := v.finding(f)
	if x == nil {
		return []key.Binding{k.Back, k.Refresh}
	}
	var out []key.Binding
	if len(f.offers(x)) > 0 {
		out = append(out, k.Walk)
	}
	out = append(out, k.Copy, k.YAML, k.Describe)
	if hasUnknown(x) {
		out = append(out, k.Unknown)
	}
	return append(out, k.Refresh, k.Back)
}

func hasUnknown(x *model.Finding) bool {
	for i := range x.Evidence {
		if x.Evidence[i].Verdict == model.Unknown {
			return true
		}
	}
	return false
}

func (v *evidence) press(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	f := m.frame()
	x := v.finding(f)
	if x == nil {
		return nil, false
	}
	switch {
	case key.Matches(k, m.keys.Walk):
		return m.walkFinding(x), true
	case key.Matches(k, m.keys.Copy):
		return m.copy("the evidence", v.plain(f, x)), true
	case key.Matches(k, m.keys.Unknown):
		v.nextUnknown(x)
		return nil, true
	case key.Matches(k, m.keys.YAML), key.Matches(k, m.keys.Describe):
		t := subject(x)
		if t == nil {
			return m.say(false, "the finding names no object"), true
		}
		return m.read(*t, key.Matches(k, m.keys.Describe)), true
	}
	return nil, false
}

func checkID(i int, c *model.Check) string { return itoa(i) + " " + c.Name }

// nextUnknown goes to the next check that is unknown, so that what would settle it
// is shown below.
func (v *evidence) nextUnknown(x *model.Finding) {
	at := -1
	for i := range x.Evidence {
		if checkID(i, &x.Evidence[i]) == v.list.At() {
			at = i
		}
	}
	for d := 1; d <= len(x.Evidence); d++ {
		i := (at + d) % len(x.Evidence)
		if x.Evidence[i].Verdict == model.Unknown {
			v.list.Select(v.laid, checkID(i, &x.Evidence[i]), v.room)
			return
		}
	}
}

// verdict is the sign and the style of a check's answer.
func verdict(st *styles.Styles, v model.Verdict) (string, *styles.Style) {
	switch v {
	case model.Yes:
		return styles.SignOk, &st.Ok
	case model.No:
		return styles.SignBad, &st.Danger
	case model.Unknown:
	}
	return styles.SignUnknown, &st.Warn
}

// headLines is what was found, in words.
func (v *evidence) headLines(f *frame) []string {
	st, w := f.styles, f.w
	x := v.finding(f)
	if x == nil {
		words := []string{st.Strong.Render(placeName(v.at)), ""}
		if v.at.Kind == model.PlaceCluster && f.cluster(v.at.Cluster) == nil {
			return append(words, st.Muted.Render(styles.SignQuiet)+" this cluster is not there (any more)")
		}
		if len(f.findings(v.at)) > 0 {
			return append(words, st.Ok.Render(styles.SignOk)+" this is not found any more; esc leads to what else is found here")
		}
		return append(words, st.Ok.Render(styles.SignOk)+" this is not found any more, and nothing else is flagged here")
	}
	sign, style := severity(st, x.Severity)
	right := string(x.Confidence)
	if x.KB != "" {
		right += " · KB " + clean(x.KB)
	}
	left := widget.CutMiddle(placeName(v.at), max(12, w-widget.Width(right)-4))
	out := []string{st.Strong.Render(left) + strings.Repeat(" ", max(2, w-widget.Width(left)-widget.Width(right))) + st.Muted.Render(right)}
	for i, l := range widget.Wrap(clean(x.Summary), w-2) {
		if i == 0 {
			l = sign + " " + l
		} else {
			l = "  " + l
		}
		out = append(out, style.Render(l))
		if i == 1 {
			break
		}
	}
	var facts []string
	if !x.Since.IsZero() {
		facts = append(facts, "since "+exact(x.Since)+" ("+text.Since(f.now, x.Since)+")")
	}
	if a := f.address(x); a != "" {
		facts = append(facts, a)
	}
	if s := strings.Join(facts, " · "); widget.Width(s) <= w-2 {
		facts = []string{s}
	}
	for _, s := range facts {
		out = append(out, "  "+st.Muted.Render(widget.CutEnd(s, w-2)))
	}
	return append(out, "")
}

func (v *evidence) checkRows(f *frame, _ string) rowList {
	x := v.finding(f)
	if x == nil {
		return nil
	}
	st, w := f.styles, f.w
	table := widget.NewTable(widget.Column{Sign: true}, widget.Column{Least: 22, Sentence: true}, widget.Column{Least: 12, Sentence: true},
		widget.Column{Extra: 1}, widget.Column{Right: true})
	for i := range x.Evidence {
		k := &x.Evidence[i]
		sign, style := verdict(st, k.Verdict)
		if k.Verdict == model.No && k.Weight == model.Supporting {
			style = &st.Muted
		}
		age := ""
		if !k.Seen.IsZero() {
			age = text.Since(f.now, k.Seen)
		}
		table.Add(widget.Cell{Text: sign, Style: style}, widget.Cell{Text: cmp.Or(clean(k.Title), clean(k.Name))}, widget.Cell{Text: clean(k.Detail), Style: &st.Muted},
			widget.Cell{Text: clean(k.Source), Style: &st.Muted}, widget.Cell{Text: age, Style: &st.Muted})
	}
	table.Fit(w - 1)
	var rows rowList
	for i := range x.Evidence {
		rows = append(rows, row{id: checkID(i, &x.Evidence[i]), draw: func() string { return table.Row(i) }})
	}
	if len(x.Advice) > 0 {
		rows = append(rows, line(""))
	}
	for _, a := range x.Advice {
		for i, l := range widget.Wrap(clean(a), w-4) {
			lead := styles.SignHere + " "
			if i > 0 {
				lead = "  "
			}
			rows = append(rows, line(lead+l))
		}
	}
	return rows
}

// detail is everything about the check that one is on, under a line that says how many
// lines of the list are below.
func (v *evidence) detail(f *frame) []string {
	x := v.finding(f)
	if x == nil {
		return nil
	}
	st, w, h, below := f.styles, f.w, v.footRoom(f), len(v.laid)-v.list.Off()-v.room
	var k *model.Check
	for i := range x.Evidence {
		if checkID(i, &x.Evidence[i]) == v.list.At() {
			k = &x.Evidence[i]
		}
	}
	if k == nil || h < 2 {
		return nil
	}
	more := ""
	if below > 0 {
		more = " ↓ " + plural(below, "more line", "more lines") + " ─"
	}
	out := []string{st.Muted.Render(strings.Repeat("─", max(0, w-widget.Width(more))) + more)}
	put := func(name, s string, most int) {
		if s == "" {
			return
		}
		lines := widget.Wrap(s, w-11)
		if most = max(most, 1); len(lines) > most {
			lines = append(lines[:most-1:most-1], widget.CutEnd(lines[most-1], w-11-len(" … c copies all"))+" … c copies all")
		}
		for i, l := range lines {
			lead := widget.Pad(name, 10)
			if i > 0 {
				lead = widget.Pad("", 10)
			}
			out = append(out, st.Muted.Render(lead)+" "+l)
		}
	}
	weight := map[model.Weight]string{model.Required: "must be yes", model.Deciding: "decides", model.Supporting: "supports, decides nothing"}
	settle := ""
	if k.Verdict == model.Unknown {
		if settle = clean(k.Settle); settle == "" {
			settle = "nothing that is known here"
		}
	}
	// What would settle it has its room before all that is said about it.
	put(string(k.Verdict), clean(k.Detail), h-2-len(widget.Wrap(settle, w-11)))
	put("settled by", settle, h)
	src := clean(k.Source)
	if !k.Seen.IsZero() {
		src += ", " + exact(k.Seen)
	}
	put("source", src, 2)
	put("weight", weight[k.Weight], 1)
	if len(out) > h {
		out = out[:h]
	}
	return out
}

// plain is the evidence as text, for a ticket.
func (v *evidence) plain(f *frame, x *model.Finding) string {
	var b strings.Builder
	b.WriteString(placeName(v.at) + ": " + clean(x.Summary) + "\n")
	b.WriteString(string(x.Severity) + ", " + string(x.Confidence))
	if x.KB != "" {
		b.WriteString(", KB " + clean(x.KB))
	}
	if a := f.address(x); a != "" {
		b.WriteString(", " + a)
	}
	b.WriteString("\n" + whereWords(f, 512) + ", " + exact(f.now) + "\n\n")
	for i := range x.Evidence {
		k := &x.Evidence[i]
		b.WriteString(widget.Pad("["+string(k.Verdict)+"]", 10) + clean(k.Title) + ": " + text.CleanLines(k.Detail) + " (" + clean(k.Source) + ")\n")
		if k.Verdict == model.Unknown && k.Settle != "" {
			b.WriteString("          settled by: " + clean(k.Settle) + "\n")
		}
	}
	for _, a := range x.Advice {
		b.WriteString("- " + clean(a) + "\n")
	}
	return b.String()
}
