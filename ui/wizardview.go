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

// How the wizard looks: the steps on the left (or in one line above), what the
// current step has to say on the right, and under it what the keys wait for.

// wizardBody is the body without the title's two lines.
func wizardBody(r rect) rect { return rect{r.x, r.y + 2, r.w, r.h - 2} }

func (w *wizard) draw(f *frame) []string {
	stepsRect, r := wizardLayout(wizardBody(rect{0, 0, f.w, f.h}))
	seen := w.lines[min(w.off, len(w.lines)):min(len(w.lines), w.off+w.room)]
	content := append(make([]string, 0, r.h), seen...)
	for len(content) < w.room {
		content = append(content, "")
	}
	content = append(content, w.status(f, r.w, len(w.lines)-w.off-len(seen)))

	out := []string{w.titleLine(f), ""}
	if stepsRect.h == 1 {
		return append(append(out, w.strip(f), ""), content...)
	}
	steps := w.stepLines(f, stepsRect.w)
	for i := range r.h {
		left := ""
		if i < len(steps) {
			left = steps[i]
		}
		out = append(out, widget.Pad(left, stepsRect.w)+"  "+content[i])
	}
	return out
}

func (w *wizard) titleLine(f *frame) string {
	st := f.styles
	title := clean(w.view.Title)
	if title == "" {
		title = clean(w.words)
	}
	right := placeName(w.at)
	if s := clean(w.view.Supervisor); s != "" {
		right += " on " + s
	}
	if w.view.KB != "" {
		right += " · KB " + clean(w.view.KB)
	}
	right = widget.CutMiddle(right, f.w/2)
	room := max(10, f.w-widget.Width(right)-2)
	title = widget.CutEnd(title, room)
	return st.Strong.Render(title) + strings.Repeat(" ", max(2, f.w-widget.Width(title)-widget.Width(right))) + st.Muted.Render(right)
}

// stepSign says how far a step is.
func stepSign(st *styles.Styles, s remedies.StepState, current bool) (string, *styles.Style) {
	switch s {
	case remedies.StateDone, remedies.StateByHand:
		if current {
			return styles.SignOk, &st.Accent
		}
		return styles.SignOk, &st.Ok
	case remedies.StateSkipped:
		return styles.SignSkipped, &st.Muted
	case remedies.StateFailed:
		return styles.SignBad, &st.Danger
	case remedies.StateUndone:
		return styles.SignUndone, &st.Muted
	case remedies.StateUnsure, remedies.StateUnchecked:
		return styles.SignUnknown, &st.Warn
	case remedies.StateNotSeen:
		return styles.SignNotSeen, &st.Warn
	case remedies.StateCurrent, remedies.StatePending:
	}
	if current {
		return styles.SignHere, &st.Accent
	}
	return " ", &st.Muted
}

func (w *wizard) stepLines(f *frame, width int) []string {
	st := f.styles
	var out []string
	for i := range w.view.Steps {
		s := &w.view.Steps[i]
		current := i == w.view.Current
		sign, style := stepSign(st, s.State, current)
		title := itoa(i+1) + " " + clean(s.Title)
		for j, l := range widget.Wrap(title, width-2) {
			if current {
				l = st.Strong.Render(l)
			}
			if j == 0 {
				out = append(out, style.Render(sign)+" "+l)
			} else {
				out = append(out, "    "+l)
			}
		}
		if note := stepNote(s); note != "" {
			for _, l := range widget.Wrap(note, width-4) {
				out = append(out, "    "+st.Muted.Render(l))
			}
		}
	}
	return out
}

func stepNote(s *remedies.StepView) string {
	if note := clean(s.Note); note != "" {
		return note
	}
	switch s.State {
	case remedies.StateByHand, remedies.StateSkipped, remedies.StateUndone, remedies.StateUnsure, remedies.StateUnchecked, remedies.StateNotSeen:
		return stateWords(s.State)
	case remedies.StatePending, remedies.StateCurrent, remedies.StateDone, remedies.StateFailed:
	}
	return itemsWords(s.Items)
}

// strip is the steps in one line, the current one with its title.
func (w *wizard) strip(f *frame) string {
	st := f.styles
	var parts []string
	for i := range w.view.Steps {
		s := &w.view.Steps[i]
		current := i == w.view.Current
		sign, style := stepSign(st, s.State, current)
		p := style.Render(sign) + " " + itoa(i+1)
		if current {
			p = style.Render(sign) + " " + st.Strong.Render(itoa(i+1)+" "+widget.CutEnd(clean(s.Title), max(12, f.w-6*len(w.view.Steps))))
		} else if over(s.State) || sign == " " {
			p = style.Render(sign) + " " + st.Muted.Render(itoa(i+1))
		}
		parts = append(parts, p)
	}
	return widget.CutEnd(strings.Join(parts, "  "), f.w)
}

// status is the last line of the content: what the keys wait for.
func (w *wizard) status(f *frame, width int, below int) string {
	st := f.styles
	more := ""
	if below > 0 {
		more = "↓ " + plural(below, "more line", "more lines") + ", pgdn"
	}
	p := w.applicable()
	switch _, options := w.options(); {
	case w.busy != "":
		return st.Accent.Render(widget.CutEnd(w.busy, width))
	case !w.seenOptions():
		return st.Accent.Render(widget.CutEnd(joinDots("read every option first", more), width))
	case w.answerable() && len(options) > 0:
		return st.Accent.Render(widget.CutEnd(joinDots("enter answers with this; esc leaves it unanswered", more), width))
	case w.answerable():
		return st.Accent.Render(widget.CutEnd(joinDots("enter opens a line for the answer; esc leaves it unanswered", more), width))
	case w.following:
		return st.Accent.Render(widget.CutEnd(joinDots("watching; esc leaves, and nothing is lost", more), width))
	case p != nil && w.arm.Of(p.Token) && w.arm.Unread() > 0:
		words := "read to the end, then a applies"
		if w.arm.Skipped() {
			words = "read what was skipped above, then a applies"
		}
		return st.Accent.Render(widget.CutEnd(joinDots(words+w.arm.Mark(), more), width))
	case p != nil && w.arm.Armed(p.Token) && p.Confirm == remedies.ConfirmName:
		return st.Accent.Render(widget.CutEnd("a asks for the name, then applies this", width))
	case p != nil && w.arm.Armed(p.Token):
		return st.Accent.Render(widget.CutEnd(joinDots("a applies this", more), width))
	case p != nil && w.arm.Of(p.Token) && w.arm.Waits():
		return st.Muted.Render(strings.TrimSpace(w.arm.Mark()))
	case w.closed():
		return st.Accent.Render(widget.CutEnd(joinDots("enter or esc goes back", more), width))
	case w.canGoOn():
		return st.Accent.Render(widget.CutEnd(joinDots("enter goes on", more), width))
	case w.progress != nil && w.progress.Failed != "":
		words := "r looks again"
		if w.view.Current > 0 {
			words += ", b steps back"
		}
		if w.canUndo() {
			words += ", u takes back"
		}
		return st.Accent.Render(widget.CutEnd(joinDots(words, more), width))
	case w.canByHand() && w.step().Kind == remedies.StepManual:
		return st.Accent.Render(widget.CutEnd(joinDots("h when it is done: it is checked then", more), width))
	}
	return st.Muted.Render(more)
}

func joinDots(a, b string) string {
	if b == "" {
		return a
	}
	return a + " · " + b
}

// content is everything the current step has to say, and where in it each option of a question
// or a choice stands.
func (w *wizard) content(f *frame, width int) (lines []string, options []span) {
	c := contentLines{f: f, w: width - 1}
	c.debts(w.view.Debts)
	if w.failed != "" {
		c.sentence(&f.styles.Danger, styles.SignBad+" ", text.CleanLines(text.Limit(w.failed, widget.LongestLine)))
		c.blank()
	}
	if w.view.Resumed != "" {
		c.sentence(&f.styles.Accent, "", clean(w.view.Resumed))
		c.blank()
	}
	for _, o := range slices.Concat(w.view.Others, w.view.Trouble) {
		c.sentence(&f.styles.Warn, styles.SignWarn+" ", clean(o))
	}
	if w.blind != "" {
		c.sentence(&f.styles.Warn, styles.SignWarn+" ", clean(w.blind))
	}
	s := w.step()
	if w.view.Finished || (s == nil && w.walk != nil) {
		words := clean(w.view.FinishedWords)
		if words == "" {
			words = "This fix is over."
		}
		c.sentence(&f.styles.Ok, styles.SignOk+" ", words)
		return c.lines, nil
	}
	if s == nil {
		return c.lines, nil
	}
	if f.w >= wizardSideBySide {
		c.put(f.styles.Strong.Render(widget.CutEnd(clean(s.Title), c.w)))
	}
	if s.Why != "" {
		c.sentence(&f.styles.Muted, "", clean(s.Why))
	}
	if w.view.Current == 0 {
		for _, x := range w.view.Warnings {
			c.sentence(&f.styles.Warn, styles.SignWarn+" ", clean(x))
		}
		if w.view.Address != "" {
			c.sentence(&f.styles.Muted, "", clean(w.view.Address))
		}
	}
	if note := stepNote(s); note != "" && s.State != remedies.StatePending && s.Kind != remedies.StepChoose {
		c.sentence(&f.styles.Accent, "", note)
	}
	if len(c.lines) > 0 && c.lines[len(c.lines)-1] != "" {
		c.blank()
	}
	c.items(s.Items)
	w.showFacts(&c)
	if w.progress != nil && s.Kind != remedies.StepLook && s.Kind != remedies.StepChoose {
		c.progress(w.progress, stepNote(s))
		c.blank()
	}
	switch {
	case w.view.Ask != nil:
		options = c.ask(w.view.Ask, w.option)
	case w.previewOpen():
		c.preview(w.view.Preview, w.view.ReadOnly, w.view.Others)
	case s.Kind == remedies.StepManual:
		c.manual(w.view.Commands)
	case s.Kind == remedies.StepChoose && w.view.Choice != nil:
		options = c.choice(w.view.Choice, w.option, !w.choosable())
	}
	for n := len(c.lines); n > 0 && c.lines[n-1] == ""; n-- {
		c.lines = c.lines[:n-1] // Nobody has to scroll to an empty line.
	}
	return c.lines, options
}

func (w *wizard) showFacts(c *contentLines) {
	for _, f := range w.view.Facts {
		c.told(f)
	}
	if len(w.view.Facts) > 0 {
		c.blank()
	}
}

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
