package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/remedies"
	"vksmedic/ui/widget"
)

// canUndo says whether something that was changed can be taken back now.
func (w *wizard) canUndo() bool {
	if w.busy != "" || w.walk == nil || w.view.Finished {
		return false
	}
	for i := range w.view.Steps {
		if w.view.Steps[i].Undoable {
			return true
		}
	}
	return false
}

// askAnswer opens the line into which an answer is typed. A secret one is not drawn.
func (w *wizard) askAnswer(m *Model, a *remedies.Ask) tea.Cmd {
	id := a.ID
	return m.ask(prompt{
		label: "Answer:", secret: a.Secret,
		accept: func(m *Model, s string) tea.Cmd {
			if now := w.view.Ask; now == nil || now.ID != id || !w.answerable() {
				return m.say(true, "that is not asked any more: nothing was answered")
			}
			return w.answer(m, id, s)
		},
	}, "")
}

// previewOpen says whether the step's preview is on the screen: not while what was applied is
// verified, nor when it is well; again when that failed.
func (w *wizard) previewOpen() bool {
	s := w.step()
	if s == nil || s.Kind != remedies.StepChange || w.view.Preview == nil || w.view.Ask != nil || w.view.Finished || w.following {
		return false
	}
	return w.progress == nil || !over(s.State) && w.progress.Failed != ""
}

// applicable is the preview that a key could apply, or nil: a change that is on the screen,
// not blocked and not done, with nothing under way.
func (w *wizard) applicable() *remedies.Preview {
	s, p := w.step(), w.view.Preview
	if !w.previewOpen() || over(s.State) || p.Token == "" ||
		p.Blocked != "" || p.Done != "" || w.view.ReadOnly != "" || w.busy != "" || w.walk == nil {
		return nil
	}
	return p
}

// canGoOn says whether enter leads to the next step.
func (w *wizard) canGoOn() bool {
	s := w.step()
	if s == nil || w.busy != "" || w.following || w.walk == nil || w.entered != s.ID || w.view.Ask != nil || !w.seenOptions() {
		return false
	}
	if over(s.State) {
		return true
	}
	switch s.Kind {
	case remedies.StepLook:
		return w.failed == ""
	case remedies.StepChoose:
		return w.failed == "" && w.view.Choice != nil
	case remedies.StepChange:
		return w.view.Preview != nil && w.view.Preview.Done != ""
	case remedies.StepWait:
		return w.progress != nil && w.progress.Done && w.progress.Failed == ""
	case remedies.StepManual: // When it was verified.
	}
	return false
}

func (w *wizard) closed() bool {
	return w.view.Finished || (w.walk == nil && w.busy == "") || (w.walk != nil && w.step() == nil)
}

func (w *wizard) bindings(f *frame) []key.Binding {
	k := f.keys
	var out []key.Binding
	idle := w.busy == "" && w.walk != nil
	switch {
	case w.closed():
		return append([]key.Binding{k.Back}, k.Moves.All()...)
	case w.answerable() && w.seenOptions():
		out = append(out, k.Answer)
	case w.canGoOn() && w.choosable():
		out = append(out, k.Choose)
	case w.canGoOn():
		out = append(out, k.Next)
	}
	if p := w.applicable(); p != nil && w.arm.Armed(p.Token) {
		out = append(out, k.Apply)
	}
	if idle && w.view.Current > 0 {
		out = append(out, k.PrevStep)
	}
	if w.canByHand() {
		out = append(out, k.ByHand)
	}
	if p := w.view.Preview; p != nil && p.YAML != "" {
		out = append(out, k.YAML)
	}
	if w.commands() != "" {
		out = append(out, k.Copy)
	}
	if w.canUndo() {
		out = append(out, k.Undo)
	}
	if idle && !w.following {
		out = append(out, k.Look)
	}
	return append(append(out, k.Leave), k.Moves.All()...)
}

// commands is what c copies: the whole command of the preview, or what a person is to run.
func (w *wizard) commands() string {
	s := w.step()
	switch {
	case s == nil:
	case s.Kind == remedies.StepManual:
		return strings.Join(w.view.Commands, "\n")
	case w.view.Preview != nil:
		return w.view.Preview.Command
	}
	return ""
}

func (w *wizard) canByHand() bool {
	s := w.step()
	if s == nil || over(s.State) || w.busy != "" || w.following || w.walk == nil || w.view.Ask != nil {
		return false
	}
	switch s.Kind {
	case remedies.StepManual:
		return true
	case remedies.StepChange:
		return w.view.Preview != nil && w.view.Preview.Done == ""
	case remedies.StepLook, remedies.StepChoose, remedies.StepWait:
	}
	return false
}

func (w *wizard) key(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
	keys := m.keys
	idle := w.busy == "" && w.walk != nil
	switch {
	case key.Matches(k, keys.Leave):
		if w.applying {
			return m.say(true, "the change is being written: wait for its answer"), true
		}
		return w.close(m), true
	case key.Matches(k, keys.Next): // Choose is the same key.
		if w.closed() {
			return w.close(m), true
		}
		switch _, options := w.options(); {
		case !w.seenOptions():
			return m.say(false, "read on first: not every option was on the screen"), true
		case w.answerable() && len(options) > 0:
			return w.answer(m, w.view.Ask.ID, options[w.option].ID), true
		case w.answerable():
			return w.askAnswer(m, w.view.Ask), true
		case w.canGoOn():
			return w.next(m), true
		}
		return nil, true
	case key.Matches(k, keys.Apply):
		return w.pressApply(m), true
	case key.Matches(k, keys.PrevStep):
		if idle && w.view.Current > 0 {
			return w.back(m), true
		}
		return nil, true
	case key.Matches(k, keys.ByHand):
		if w.canByHand() {
			return w.byHand(m), true
		}
		return nil, true
	case key.Matches(k, keys.Undo):
		if w.canUndo() {
			return w.undo(m), true
		}
		return nil, true
	case key.Matches(k, keys.Look):
		if idle && !w.following && !w.closed() {
			return w.enter(m), true
		}
		return nil, true
	case key.Matches(k, keys.YAML):
		if p := w.view.Preview; p != nil && p.YAML != "" {
			return m.push(newReading("as it would be sent", p.YAML)), true
		}
		return m.say(false, "there is nothing to show as YAML on this step"), true
	case key.Matches(k, keys.Copy):
		if s := w.commands(); s != "" {
			return m.copy("the command", s), true
		}
		return m.say(false, "there is no command on this step"), true
	}
	return nil, w.move(m, k)
}

// pressApply is the one way to a change.
func (w *wizard) pressApply(m *Model) tea.Cmd {
	p := w.applicable()
	switch {
	case p == nil:
		if why := w.refused(); why != "" {
			return m.say(true, "nothing is applied: "+why)
		}
		return nil // There is nothing that could be meant: typed ahead, or a slip.
	case w.arm.Of(p.Token) && w.arm.Skipped():
		return m.say(false, "go back up first: "+plural(w.arm.Above(), "line was", "lines were")+" skipped")
	case w.arm.Of(p.Token) && w.arm.Unread() > 0:
		return m.say(false, "read on to the end first: "+plural(w.arm.Unread(), "line", "lines")+" below")
	case !w.arm.Armed(p.Token):
		return m.say(false, "that key came before the preview was on the screen, and was thrown away")
	case p.Confirm == remedies.ConfirmName:
		return w.askName(m, p)
	}
	return w.apply(m, p.Token, "")
}

// refused is why the change that is shown cannot be applied; empty where none is shown.
func (w *wizard) refused() string {
	s, p := w.step(), w.view.Preview
	switch {
	case s == nil || p == nil || s.Kind != remedies.StepChange || over(s.State) || p.Done != "" || w.busy != "":
		return ""
	case p.Blocked != "":
		return p.Blocked
	}
	return w.view.ReadOnly
}

// askName opens the line into which the target's name is typed.
func (w *wizard) askName(m *Model, p *remedies.Preview) tea.Cmd {
	token, name := p.Token, p.ConfirmName
	return m.ask(prompt{
		label: "Type " + clean(name) + " to " + lowerFirst(clean(p.Title)) + ":",
		accept: func(m *Model, s string) tea.Cmd {
			now := w.applicable()
			switch {
			case now == nil || now.Token != token:
				return m.say(true, "the preview changed meanwhile: nothing was done")
			case strings.TrimSpace(s) != name:
				return m.say(true, "that is not "+name+": nothing was done")
			}
			return w.apply(m, token, strings.TrimSpace(s))
		},
	}, "")
}

func lowerFirst(s string) string {
	if s == "" {
		return "confirm"
	}
	if len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// move scrolls, or goes through the options of a choice. Of a preview that can be applied no
// page is turned before it was on the screen: that key was typed ahead.
func (w *wizard) move(m *Model, k tea.KeyPressMsg) bool {
	keys := m.keys
	page := max(1, w.room-2)
	switch {
	case key.Matches(k, keys.Up):
		w.byOne(m, -1)
	case key.Matches(k, keys.Down):
		w.byOne(m, 1)
	case key.Matches(k, keys.PageUp):
		w.off -= page
	case key.Matches(k, keys.PageDown):
		if !w.unseen(m) {
			w.off += page
		}
	case key.Matches(k, keys.Top):
		w.off = 0
	case key.Matches(k, keys.Bottom):
		w.off = len(w.lines)
	default:
		return false
	}
	w.bound()
	return true
}

// byOne goes to the next option or the one before, which stays in sight; where there is none
// it scrolls by a line.
func (w *wizard) byOne(m *Model, by int) {
	switch {
	case w.choose(by):
	case by < 0 || !w.unseen(m):
		w.off += by
	}
	if w.option < len(w.spans) {
		w.off = w.spans[w.option].into(w.off, w.room)
	}
}

// bound keeps what is in sight within what there is.
func (w *wizard) bound() { w.off = max(0, min(w.off, len(w.lines)-w.room)) }

// unseen says that a preview which can be applied is not yet on the screen as it is laid.
func (w *wizard) unseen(m *Model) bool {
	return w.applicable() != nil && !w.arm.OnScreen(m.written.Load())
}

func (w *wizard) wheel(m *Model, down bool) {
	switch {
	case !down:
		w.off -= widget.WheelLines
	case !w.unseen(m):
		w.off += widget.WheelLines
	}
	w.bound()
}

// click chooses nothing and applies nothing: the wizard is driven by keys.
func (w *wizard) click(*Model, int, int) tea.Cmd { return nil }
