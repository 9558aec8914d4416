package ui

import (
	"slices"
	"strings"

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
