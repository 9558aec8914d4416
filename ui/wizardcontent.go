package ui

import (
	"cmp"
	"slices"
	"strings"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/ui/styles"
	"vksmedic/ui/widget"
)

// contentLines collects lines of a width.
type contentLines struct {
	f     *frame
	w     int
	lines []string
}

func (c *contentLines) put(s string) { c.lines = append(c.lines, s) }
func (c *contentLines) blank()       { c.lines = append(c.lines, "") }

// sentence wraps text under its sign.
func (c *contentLines) sentence(st *styles.Style, sign, s string) {
	lead := sign
	for _, part := range strings.Split(s, "\n") {
		for _, l := range widget.Wrap(part, c.w-widget.Width(sign)) {
			if st != nil {
				l = st.Render(lead + l)
			} else {
				l = lead + l
			}
			c.put(l)
			lead = strings.Repeat(" ", widget.Width(sign))
		}
	}
}

// field is a name and what it says.
func (c *contentLines) field(st *styles.Style, name, s string) {
	const nameWidth = 13
	for i, l := range widget.Wrap(s, c.w-nameWidth-1) {
		lead := name
		if i > 0 {
			lead = ""
		}
		if st != nil {
			l = st.Render(l)
		}
		c.put(c.f.styles.Muted.Render(widget.Pad(lead, nameWidth)) + " " + l)
	}
}

// signed is a line of code or a fact with its sign. It is wrapped and not cut, since
// this is what one agrees to; only what nobody could read is bounded, and marked.
func (c *contentLines) signed(x remedies.Line) {
	st := c.f.styles
	style := (*styles.Style)(nil)
	sign := "  "
	switch x.Sign {
	case '+':
		sign, style = "+ ", &st.Added
	case '-':
		sign, style = "- ", &st.Removed
	case '!':
		sign, style = "! ", &st.Warn
	}
	for _, part := range strings.Split(text.CleanLines(text.Limit(x.Text, widget.LongestLine)), "\n") {
		for _, l := range widget.WrapHard(part, c.w-2) {
			l = sign + l
			if style != nil {
				l = style.Render(l)
			}
			c.put(l)
		}
	}
}

// told is a fact with its sign, wrapped at spaces under its own indentation.
func (c *contentLines) told(x remedies.Line) {
	s := text.CleanLines(text.Limit(x.Text, widget.LongestLine))
	indent := s[:len(s)-len(strings.TrimLeft(s, " "))]
	sign, style := "  ", (*styles.Style)(nil)
	if x.Sign == '!' {
		sign, style = "! ", &c.f.styles.Warn
	}
	c.sentence(style, sign+indent, s[len(indent):])
}

// preview draws what a step would change; told is what stands above it already.
func (c *contentLines) preview(p *remedies.Preview, readOnly string, told []string) {
	st := c.f.styles
	if p.Done != "" {
		c.sentence(&st.Ok, styles.SignOk+" ", clean(p.Done))
		return
	}
	if len(p.Moved) > 0 {
		c.sentence(&st.Warn, styles.SignWarn+" ", "this moved since it was previewed; look again:")
		for _, x := range p.Moved {
			c.signed(x)
		}
		c.blank()
	}
	if readOnly != "" && !strings.Contains(p.Blocked, readOnly) {
		c.sentence(&st.Warn, styles.SignWarn+" ", "read-only: "+clean(readOnly))
	}
	if p.Blocked != "" {
		c.sentence(&st.Danger, styles.SignBad+" ", clean(p.Blocked))
		c.blank()
	}
	for _, x := range p.Warnings {
		if slices.Contains(told, x) {
			continue
		}
		c.sentence(&st.Warn, styles.SignWarn+" ", clean(x))
	}
	if p.Title != "" {
		c.put(st.Strong.Render(widget.CutEnd(clean(p.Title), c.w)))
	}
	for _, x := range p.Diff {
		c.signed(x)
	}
	c.blank()
	if p.Server != "" {
		c.field(nil, "server says", clean(p.Server))
	}
	c.may(p)
	for i, x := range p.Reaches {
		c.field(nil, map[bool]string{true: "also reaches"}[i == 0], clean(x))
	}
	for i, x := range p.Now {
		c.field(nil, map[bool]string{true: "now"}[i == 0], clean(x))
	}
	for i, x := range p.Means {
		c.field(nil, map[bool]string{true: "means"}[i == 0], clean(x))
	}
	if p.TakeBack != "" {
		c.field(nil, "take back", clean(p.TakeBack))
	} else if len(p.Diff) > 0 {
		c.field(&st.Danger, "take back", "this cannot be taken back")
	}
	if shown := cmp.Or(p.Shown, p.Command); shown != "" {
		c.blank()
		c.command(shown)
	}
}

// command draws a command, which may have several lines.
func (c *contentLines) command(s string) {
	lead := "$ "
	for part := range strings.SplitSeq(text.CleanLines(text.Limit(s, 16*widget.LongestLine)), "\n") {
		for _, l := range widget.WrapHard(part, c.w-2) {
			c.put(c.f.styles.Muted.Render(lead + l))
			lead = "  "
		}
	}
}

// manual draws what a person is to run.
func (c *contentLines) manual(commands []string) {
	if len(commands) == 0 {
		c.sentence(nil, "", "This is done by hand.")
		return
	}
	c.sentence(nil, "", "This is done by hand; c copies what to run:")
	c.blank()
	for _, x := range commands {
		c.command(x)
	}
}

// ask draws a question that came up in the step, and gives where its options stand.
func (c *contentLines) ask(a *remedies.Ask, option int) []span {
	c.sentence(&c.f.styles.Accent, styles.SignHere+" ", clean(a.Question))
	for _, x := range a.Lines {
		c.told(x)
	}
	c.blank()
	if a.Secret {
		c.sentence(&c.f.styles.Muted, "", "What is typed is not drawn, and is kept nowhere but in memory.")
	}
	return c.options(a.Options, option, false)
}

// items draws what a step is done for, one after another.
func (c *contentLines) items(items []remedies.ItemView) {
	w := 0
	for i := range items {
		w = max(w, widget.Width(clean(items[i].Name)))
	}
	st := c.f.styles
	w = min(w, max(16, c.w/2))
	for i := range items {
		x := &items[i]
		current := x.State == remedies.StateCurrent
		sign, style := stepSign(st, x.State, current)
		name := widget.Pad(widget.CutMiddle(clean(x.Name), w), w)
		if current {
			name = c.f.styles.Strong.Render(name)
		}
		note := clean(x.Note)
		if note == "" {
			note = stateWords(x.State)
		}
		head := style.Render(sign) + " " + name + "  "
		for _, l := range widget.Wrap(note, c.w-w-4) {
			c.put(strings.TrimRight(head+c.f.styles.Muted.Render(l), " "))
			head = strings.Repeat(" ", w+4)
		}
	}
	if len(items) > 0 {
		c.blank()
	}
}

// stateWords says a state where nothing else does; empty for what the sign alone tells.
func stateWords(s remedies.StepState) string {
	switch s {
	case remedies.StateByHand:
		return "done by hand"
	case remedies.StateSkipped:
		return "not needed"
	case remedies.StateFailed:
		return "failed"
	case remedies.StateUndone:
		return "taken back"
	case remedies.StateUnsure:
		return "begun, and its end was never written down"
	case remedies.StateUnchecked:
		return "applied; whether it works could not be read"
	case remedies.StateNotSeen:
		return "not seen"
	case remedies.StatePending, remedies.StateCurrent, remedies.StateDone:
	}
	return ""
}

// itemsWords says how many of a step's items are behind us.
func itemsWords(items []remedies.ItemView) string {
	if len(items) == 0 {
		return ""
	}
	done := 0
	for i := range items {
		if over(items[i].State) {
			done++
		}
	}
	return itoa(done) + " of " + itoa(len(items)) + " done"
}

// debts says what was taken and has to be given back.
func (c *contentLines) debts(debts []remedies.DebtView) {
	st := c.f.styles
	for i := range debts {
		d := &debts[i]
		s := "owed: " + clean(d.What)
		for _, x := range []string{d.Where, d.Cluster.String(), d.Who} {
			if x = clean(x); x != "" {
				s += ", " + x
			}
		}
		if !d.Since.IsZero() {
			s += ", since " + exact(d.Since) + ", " + text.Since(c.f.clock, d.Since)
		}
		style := &st.Danger
		if d.Overdue {
			s, style = "OVERDUE, "+s, &st.DangerStrong
		}
		c.sentence(style, styles.SignBad+" ", s)
	}
	if len(debts) > 0 {
		c.blank()
	}
}

func (c *contentLines) may(p *remedies.Preview) {
	if p.May == "" {
		return
	}
	_, style := verdict(c.f.styles, p.May)
	words := string(p.May)
	if p.MaySays != "" {
		words += ": " + clean(p.MaySays)
	}
	if p.May == model.Yes {
		style = nil
	}
	c.field(style, "may I", words)
}

// choice draws the question with its options, and gives where these stand.
func (c *contentLines) choice(x *remedies.Choice, option int, made bool) []span {
	c.sentence(nil, "", clean(x.Question))
	c.blank()
	return c.options(x.Options, option, made)
}

func (c *contentLines) options(options []remedies.Option, option int, made bool) []span {
	st := c.f.styles
	var spans []span
	for i := range options {
		o := &options[i]
		from := len(c.lines)
		mark := "  ○ "
		if i == option {
			mark = "› ● "
		}
		for _, l := range widget.Wrap(clean(o.Title), c.w-4) {
			l = mark + l
			mark = "    "
			if i == option && !made {
				l = st.Selected.Render(widget.Pad(l, c.w))
			}
			c.put(l)
		}
		for _, s := range o.Means {
			for _, l := range widget.Wrap(clean(s), c.w-6) {
				c.put("      " + st.Muted.Render(l))
			}
		}
		spans = append(spans, span{from, len(c.lines)})
		c.blank()
	}
	return spans
}

// progress draws how far a wait is; told is what stands above it already.
func (c *contentLines) progress(p *remedies.Progress, told string) {
	st := c.f.styles
	titleWidth := 0
	for _, s := range p.Stages {
		titleWidth = max(titleWidth, widget.Width(clean(s.Title)))
	}
	titleWidth = min(titleWidth, max(16, c.w/2))
	for i := range p.Stages {
		s := &p.Stages[i]
		current := s.State == remedies.StateCurrent
		sign, style := stepSign(st, s.State, current)
		title := widget.Pad(widget.CutEnd(clean(s.Title), titleWidth), titleWidth)
		if current {
			title = st.Strong.Render(title)
		}
		head := style.Render(sign) + " " + title + " " + st.Muted.Render(widget.PadLeft(took(s.Took), 7)) + "  "
		room := c.w - titleWidth - 12
		detail := clean(s.Detail)
		if word := stateWords(s.State); s.State == remedies.StateNotSeen && !strings.Contains(detail, word) {
			detail = strings.TrimSuffix(word+": "+detail, ": ")
		}
		for j, l := range widget.Wrap(detail, room) {
			if j > 0 {
				head = strings.Repeat(" ", titleWidth+12)
			}
			c.put(head + l)
			if j == 3 {
				break
			}
		}
	}
	if len(p.Stages) > 0 {
		c.blank()
	}
	if p.Last != "" && clean(p.Last) != told {
		c.sentence(&st.Muted, "last: ", text.CleanLines(text.Limit(p.Last, widget.LongestLine)))
	}
	now := c.f.clock
	if !p.Early.IsZero() && p.Early.After(now) && !p.Done {
		c.sentence(&st.Muted, "", "too early for a verdict: "+text.Age(p.Early.Sub(now))+" more")
	}
	switch {
	case p.Failed != "":
		c.sentence(&st.Danger, styles.SignBad+" ", clean(p.Failed))
	case p.Done:
		c.sentence(&st.Ok, styles.SignOk+" ", "done")
	}
}
