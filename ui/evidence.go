package ui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/model/text"
)

// evidence is one finding: every check with its answer, what was read and where,
// and what to do.
type evidence struct {
	list list
	at   model.Place
	id   string // the finding's Key.
}

func (v *evidence) finding(m *Model) *model.Finding {
	all := m.findingsOf(v.at)
	for i := range all {
		if all[i].Key() == v.id {
			return &all[i]
		}
	}
	return nil
}

// findingsOf are those of a cluster, or of the Supervisor as a whole.
func (m *Model) findingsOf(at model.Place) []model.Finding {
	switch {
	case m.snap == nil:
	case at.Kind == model.PlaceSupervisor:
		return m.snap.General
	case at.Kind == model.PlaceCluster:
		if c := m.snap.Cluster(at.Cluster); c != nil {
			return c.Findings
		}
	}
	return nil
}

func (v *evidence) theList() *list                   { return &v.list }
func (v *evidence) place() model.Place               { return v.at }
func (v *evidence) click(m *Model, _, y int) tea.Cmd { return m.clickList(v, y) }
func (v *evidence) wheel(m *Model, down bool)        { m.wheelList(v, down) }
func (v *evidence) name() string                     { return placeName(v.at) }

func (v *evidence) room(m *Model, w, h int) (top, lines int) {
	top = len(v.head(m, w))
	return top, max(3, h-top-evidenceDetail(h))
}

func (v *evidence) bindings(m *Model) []key.Binding {
	k := m.keys
	f := v.finding(m)
	if f == nil {
		return []key.Binding{k.Back, k.Refresh}
	}
	var out []key.Binding
	if len(m.offersOf(f)) > 0 {
		out = append(out, k.Walk)
	}
	out = append(out, k.Copy, k.YAML, k.Describe)
	if hasUnknown(f) {
		out = append(out, k.Unknown)
	}
	return append(append(out, k.Refresh, k.Back), k.moves()...)
}

func hasUnknown(f *model.Finding) bool {
	for i := range f.Evidence {
		if f.Evidence[i].Verdict == model.Unknown {
			return true
		}
	}
	return false
}

func (v *evidence) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	f := v.finding(m)
	if f == nil {
		return nil, false
	}
	switch {
	case key.Matches(k, m.keys.Walk):
		return m.walkFinding(f), true
	case key.Matches(k, m.keys.Copy):
		return m.copy("the evidence", v.plain(m, f)), true
	case key.Matches(k, m.keys.Unknown):
		v.nextUnknown(m, f)
		return nil, true
	case key.Matches(k, m.keys.YAML), key.Matches(k, m.keys.Describe):
		t := subject(f)
		if t == nil {
			return m.say(false, "the finding names no object"), true
		}
		return m.read(*t, key.Matches(k, m.keys.Describe)), true
	}
	return m.onList(v, k)
}

// subject is the object that a finding is about; nil where it names none.
func subject(f *model.Finding) *Target {
	if len(f.Subjects) == 0 {
		return nil
	}
	in := onSupervisor()
	if inWorkload(f.Subjects[0].Kind) {
		in = foundIn(f)
	}
	return &Target{Ref: f.Subjects[0], In: in}
}

func inWorkload(kind string) bool {
	switch kind {
	case "Node", "Pod", "PodDisruptionBudget", "VolumeAttachment":
		return true
	}
	return false
}

func checkID(i int, c *model.Check) string { return itoa(i) + " " + c.Name }

// nextUnknown goes to the next check that is unknown, so that what would settle it
// is shown below.
func (v *evidence) nextUnknown(m *Model, f *model.Finding) {
	at := -1
	for i := range f.Evidence {
		if checkID(i, &f.Evidence[i]) == v.list.at {
			at = i
		}
	}
	for d := 1; d <= len(f.Evidence); d++ {
		i := (at + d) % len(f.Evidence)
		if f.Evidence[i].Verdict == model.Unknown {
			v.list.at, v.list.held = checkID(i, &f.Evidence[i]), true
			body := lay(m.w, m.h).body
			_, h := v.room(m, body.w, body.h)
			v.list.show(v.rows(m, body.w), h)
			return
		}
	}
}

// head is what was found, in words.
func (v *evidence) head(m *Model, w int) []string {
	st := &m.styles
	f := v.finding(m)
	if f == nil {
		words := []string{st.Strong.Render(placeName(v.at)), ""}
		if v.at.Kind == model.PlaceCluster && m.clusterNow(v.at.Cluster) == nil {
			return append(words, st.Muted.Render(signQuiet)+" this cluster is not there (any more)")
		}
		if len(m.findingsOf(v.at)) > 0 {
			return append(words, st.Ok.Render(signOk)+" this is not found any more; esc leads to what else is found here")
		}
		return append(words, st.Ok.Render(signOk)+" this is not found any more, and nothing else is flagged here")
	}
	sign, style := m.severity(f.Severity)
	right := string(f.Confidence)
	if f.KB != "" {
		right += " · KB " + clean(f.KB)
	}
	left := cutMiddle(placeName(v.at), max(12, w-width(right)-4))
	out := []string{st.Strong.Render(left) + strings.Repeat(" ", max(2, w-width(left)-width(right))) + st.Muted.Render(right)}
	for i, l := range wrap(clean(f.Summary), w-2) {
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
	if !f.Since.IsZero() {
		facts = append(facts, "since "+exact(f.Since)+" ("+text.Since(m.now(), f.Since)+")")
	}
	if m.o.Address != nil {
		if a := clean(m.o.Address(f)); a != "" {
			facts = append(facts, a)
		}
	}
	if s := strings.Join(facts, " · "); width(s) <= w-2 {
		facts = []string{s}
	}
	for _, s := range facts {
		out = append(out, "  "+st.Muted.Render(cutEnd(s, w-2)))
	}
	return append(out, "")
}

func (v *evidence) rows(m *Model, w int) []row {
	f := v.finding(m)
	if f == nil {
		return nil
	}
	st := &m.styles
	now := m.now()
	cols := []column{{sign: true}, {least: 22, sentence: true}, {least: 12, sentence: true}, {extra: 1}, {right: true}}
	natural := make([]int, len(cols))
	cells := make([][]cell, len(f.Evidence))
	for i := range f.Evidence {
		k := &f.Evidence[i]
		sign, style := m.verdict(k.Verdict)
		if k.Verdict == model.No && k.Weight == model.Supporting {
			style = &st.Muted
		}
		age := ""
		if !k.Seen.IsZero() {
			age = text.Since(now, k.Seen)
		}
		title := clean(k.Title)
		if title == "" {
			title = clean(k.Name)
		}
		cells[i] = []cell{{sign, style}, {title, nil}, {clean(k.Detail), &st.Muted}, {clean(k.Source), &st.Muted}, {age, &st.Muted}}
		measure(natural, cells[i])
	}
	widths := columnWidths(cols, natural, w-1)
	var rows []row
	for i := range f.Evidence {
		rows = append(rows, row{id: checkID(i, &f.Evidence[i]), draw: func() string { return drawRow(cols, widths, cells[i]) }})
	}
	if len(f.Advice) > 0 {
		rows = append(rows, line(""))
	}
	for _, a := range f.Advice {
		for i, l := range wrap(clean(a), w-4) {
			lead := signHere + " "
			if i > 0 {
				lead = "  "
			}
			rows = append(rows, line(lead+l))
		}
	}
	return rows
}

func (v *evidence) draw(m *Model, w, h int) []string {
	f := v.finding(m)
	head := v.head(m, w)
	if f == nil {
		return head
	}
	_, n := v.room(m, w, h)
	rows := v.rows(m, w)
	out := slices.Concat(head, v.list.draw(m, rows, w, n))
	for len(out) < len(head)+n {
		out = append(out, "")
	}
	return append(out, v.detail(m, f, w, h-len(out), len(rows)-v.list.off-n)...)
}

// detail is everything about the check that one is on, under a line that says how many
// lines of the list are below.
func (v *evidence) detail(m *Model, f *model.Finding, w, h, below int) []string {
	st := &m.styles
	var k *model.Check
	for i := range f.Evidence {
		if checkID(i, &f.Evidence[i]) == v.list.at {
			k = &f.Evidence[i]
		}
	}
	if k == nil || h < 2 {
		return nil
	}
	more := ""
	if below > 0 {
		more = " ↓ " + plural(below, "more line", "more lines") + " ─"
	}
	out := []string{st.Muted.Render(strings.Repeat("─", max(0, w-width(more))) + more)}
	put := func(name, s string, most int) {
		if s == "" {
			return
		}
		lines := wrap(s, w-11)
		if most = max(most, 1); len(lines) > most {
			lines = append(lines[:most-1:most-1], cutEnd(lines[most-1], w-11-len(" … c copies all"))+" … c copies all")
		}
		for i, l := range lines {
			lead := pad(name, 10, false)
			if i > 0 {
				lead = pad("", 10, false)
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
	put(string(k.Verdict), clean(k.Detail), h-2-len(wrap(settle, w-11)))
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
func (v *evidence) plain(m *Model, f *model.Finding) string {
	var b strings.Builder
	b.WriteString(placeName(v.at) + ": " + clean(f.Summary) + "\n")
	b.WriteString(string(f.Severity) + ", " + string(f.Confidence))
	if f.KB != "" {
		b.WriteString(", KB " + clean(f.KB))
	}
	if m.o.Address != nil {
		if a := clean(m.o.Address(f)); a != "" {
			b.WriteString(", " + a)
		}
	}
	b.WriteString("\n" + m.where(512) + ", " + exact(m.now()) + "\n\n")
	for i := range f.Evidence {
		k := &f.Evidence[i]
		b.WriteString(pad("["+string(k.Verdict)+"]", 10, false) + clean(k.Title) + ": " + text.CleanLines(k.Detail) + " (" + clean(k.Source) + ")\n")
		if k.Verdict == model.Unknown && k.Settle != "" {
			b.WriteString("          settled by: " + clean(k.Settle) + "\n")
		}
	}
	for _, a := range f.Advice {
		b.WriteString("- " + clean(a) + "\n")
	}
	return b.String()
}
