package ui

import "vksmedic/remedies"

// choiceRead is how far the options of a choice, or of a question, have been on the screen.
type choiceRead struct {
	of    string // which choice.
	lines int    // those of its options that were seen, from the first one's on.
	all   bool
}

// choosable says whether the current step is a choice that can be made, or made anew: as
// long as nothing was changed that rests on it.
func (w *wizard) choosable() bool {
	s := w.step()
	return s != nil && s.Kind == remedies.StepChoose && w.view.Choice != nil && w.view.Ask == nil && !w.changed(w.view.Current+1)
}

// answerable says whether there is a question that waits for an answer. It may come up while
// a wait is followed.
func (w *wizard) answerable() bool {
	return w.view.Ask != nil && w.walk != nil && w.busy == "" && !w.view.Finished
}

// options are those of the question or of the choice that can be made now, under the id of
// what they belong to.
func (w *wizard) options() (of string, options []remedies.Option) {
	switch {
	case w.answerable():
		of, options = "ask "+w.view.Ask.ID, w.view.Ask.Options
	case w.choosable():
		of, options = "choice "+w.stepID(), w.view.Choice.Options
	}
	for i := range options {
		of += "\n" + options[i].ID
	}
	return of, options
}

// seenOptions says whether all options were on the screen: enter takes none before.
func (w *wizard) seenOptions() bool {
	of, options := w.options()
	return len(options) == 0 || w.read.of == of && w.read.all
}

// boundOption keeps the option one is on among those that there are.
func (w *wizard) boundOption() {
	n := 0
	switch {
	case w.view.Ask != nil:
		n = len(w.view.Ask.Options)
	case w.view.Choice != nil:
		n = len(w.view.Choice.Options)
	}
	w.option = max(0, min(w.option, n-1))
}

// choose goes to another option; false where there is none to go to.
func (w *wizard) choose(step int) bool {
	_, options := w.options()
	if len(options) == 0 || w.busy != "" || w.walk == nil {
		return false
	}
	w.option = min(max(w.option+step, 0), len(options)-1)
	if w.view.Ask == nil {
		w.walk.Choose(options[w.option].ID)
		w.refresh()
	}
	return true
}

// span is where something stands among lines: from its first up to the one after its last.
type span struct{ from, upTo int }

// into scrolls so that all of it is in sight, or its beginning where it is higher than h.
func (s span) into(off, h int) int { return min(max(off, s.upTo-h), s.from) }

// noteOptions notes which options the next View draws. A choice that opens shows its first one.
func (w *wizard) noteOptions() {
	of, options := w.options()
	if len(options) == 0 {
		return
	}
	if w.read.of != of {
		w.read = choiceRead{of: of}
		w.off = w.spans[0].into(w.off, w.room)
	}
	w.bound()
	first, last := w.spans[0].from, w.spans[len(w.spans)-1].upTo
	if w.off <= first+w.read.lines { // What was jumped over was not read.
		w.read.lines = max(w.read.lines, w.off+w.room-first)
	}
	w.read.all = w.read.all || w.read.lines >= last-first
}
