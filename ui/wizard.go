package ui

import (
	"context"
	"errors"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/ui/widget"
)

// wizard walks one finding through its article. It decides nothing about the
// cluster: it shows what the walk says and passes on what the engineer asks for.
// Enter only ever reads and goes on; a change is applied by its own key, and only
// as arm allows.
type wizard struct {
	words string // what it is about, until the walk says it better.
	at    model.Place
	walk  Walk
	view  remedies.View

	// busy is what is being done in the background, in words; keys that would start
	// something else are thrown away meanwhile.
	busy string
	// applying is set while a change is being written, following while its end or a
	// wait is being watched.
	applying, following bool
	news                <-chan remedies.Progress // of the last thing that was followed.
	progress            *remedies.Progress
	failed              string // the last error, in words.
	entered             string // id of the step that was entered.
	left                bool
	stop                context.CancelFunc // ends what is in the background.

	// unwatch ends the look who else is at work while a preview is open; nil where none is
	// under way. watched says that it ended by itself, blind why where it failed; r begins anew.
	unwatch context.CancelFunc
	changes <-chan struct{}
	watched bool
	blind   string

	arm    widget.Arm
	read   choiceRead
	off    int
	option int

	// What prepare found: what the current step has to say, and where in it the options of a
	// question or a choice stand; and how many lines of it are in sight.
	lines []string
	spans []span
	room  int
}

// choiceRead is how far the options of a choice, or of a question, have been on the screen.
type choiceRead struct {
	of    string // which choice.
	lines int    // those of its options that were seen, from the first one's on.
	all   bool
}

// wizardMsg is the end of something the wizard started, or news about it.
type wizardMsg struct {
	wizard   *wizard
	did      wizardDid
	walk     Walk
	progress *remedies.Progress
	news     <-chan remedies.Progress
	changes  <-chan struct{}
	err      error
}

type wizardDid int

const (
	didBegin wizardDid = iota
	didEnter
	didNext // or went back, or to what takes a change back.
	didApply
	didByHand
	didFollow
	didProgress
	didAnswer
	didWatch   // the look who else is at work has ended.
	didChanged // it saw something.
)

func (w *wizard) start(f func() (Walk, error)) tea.Cmd {
	return w.guard("opening the article", didBegin, func() wizardMsg {
		walk, err := f()
		return wizardMsg{walk: walk, err: err}
	})
}

// guard runs f in the background and brings its end, or its panic, back to this wizard.
func (w *wizard) guard(what string, did wizardDid, f func() wizardMsg) tea.Cmd {
	inner := guard(what, func() tea.Msg {
		msg := f()
		msg.wizard, msg.did = w, did
		return msg
	})
	return func() tea.Msg {
		msg := inner()
		if p, ok := msg.(panicMsg); ok {
			// The wizard must not wait for ever; the stack goes to the log as well.
			return tea.BatchMsg{
				func() tea.Msg { return p },
				func() tea.Msg { return wizardMsg{wizard: w, did: did, err: errPanic(what)} },
			}
		}
		return msg
	}
}

type errPanic string

func (e errPanic) Error() string {
	return string(e) + " failed inside vksmedic; :log has the details, and r looks again"
}

func (w *wizard) background(m *Model) context.Context {
	w.halt()
	ctx, cancel := context.WithCancel(m.ctx)
	w.stop = cancel
	return ctx
}

func (w *wizard) halt() {
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
	w.following, w.news = false, nil
}

// changed says whether a change was made, or may have been, in a step from one on.
func (w *wizard) changed(from int) bool {
	for i := max(from, 0); i < len(w.view.Steps); i++ {
		if s := &w.view.Steps[i]; s.Kind == remedies.StepChange {
			switch s.State {
			case remedies.StateDone, remedies.StateByHand, remedies.StateFailed, remedies.StateUndone, remedies.StateUnsure, remedies.StateUnchecked:
				return true
			case remedies.StatePending, remedies.StateCurrent, remedies.StateSkipped, remedies.StateNotSeen:
			}
		}
	}
	return false
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

// refresh takes the walk's picture of this moment.
func (w *wizard) refresh() {
	before := w.stepID()
	w.view = w.walk.View()
	if w.view.Progress != nil {
		w.progress = w.view.Progress
	}
	if w.stepID() != before {
		w.off, w.progress = 0, w.view.Progress
	}
	if c := w.view.Choice; c != nil && w.view.Ask == nil {
		for i := range c.Options {
			if c.Options[i].ID == c.Selected {
				w.option = i
			}
		}
	}
	w.boundOption()
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

func (w *wizard) step() *remedies.StepView {
	if w.view.Current < 0 || w.view.Current >= len(w.view.Steps) {
		return nil
	}
	return &w.view.Steps[w.view.Current]
}

func (w *wizard) stepID() string {
	if s := w.step(); s != nil {
		return s.ID
	}
	return ""
}

// over says whether a step is behind us.
func over(s remedies.StepState) bool {
	switch s {
	case remedies.StateDone, remedies.StateByHand, remedies.StateSkipped, remedies.StateUndone:
		return true
	case remedies.StatePending, remedies.StateCurrent, remedies.StateFailed, remedies.StateUnsure, remedies.StateUnchecked, remedies.StateNotSeen:
	}
	return false
}

// enter does the read-only part of the current step.
func (w *wizard) enter(m *Model) tea.Cmd {
	if w.step() == nil || w.walk == nil {
		return nil
	}
	ctx, walk := w.background(m), w.walk
	w.busy, w.failed, w.progress, w.watched, w.blind = "looking …", "", nil, false, ""
	return w.guard("looking", didEnter, func() wizardMsg { return wizardMsg{err: walk.Enter(ctx)} })
}

func (w *wizard) next(m *Model) tea.Cmd {
	ctx, walk := w.background(m), w.walk
	w.busy, w.failed = "going on …", ""
	return w.guard("going on", didNext, func() wizardMsg { return wizardMsg{err: walk.Next(ctx)} })
}

// back goes to the step before. It waits for what is under way, so it is no work for
// Update.
func (w *wizard) back(m *Model) tea.Cmd {
	w.background(m)
	walk := w.walk
	w.busy, w.failed = "stepping back …", ""
	return w.guard("stepping back", didNext, func() wizardMsg { walk.Back(); return wizardMsg{} })
}

// undo goes to the step that takes back what was changed last: another preview,
// another confirmation.
func (w *wizard) undo(m *Model) tea.Cmd {
	ctx, walk := w.background(m), w.walk
	w.busy, w.failed = "going to what takes it back …", ""
	return w.guard("going to what takes it back", didNext, func() wizardMsg { return wizardMsg{err: walk.Undo(ctx)} })
}

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

// apply asks for the change that this preview showed.
func (w *wizard) apply(m *Model, token, typed string) tea.Cmd {
	w.halt()
	walk, ctx := w.walk, m.ctx
	w.busy, w.applying, w.failed = "applying …", true, ""
	m.quitting = false
	return w.guard("applying", didApply, func() wizardMsg { return wizardMsg{err: walk.Apply(ctx, token, typed)} })
}

func (w *wizard) byHand(m *Model) tea.Cmd {
	ctx, walk := w.background(m), w.walk
	w.busy, w.failed = "checking what was done by hand …", ""
	return w.guard("checking what was done by hand", didByHand, func() wizardMsg { return wizardMsg{err: walk.ByHand(ctx)} })
}

// answer answers the question that came up in the step. A wait that is followed goes on.
func (w *wizard) answer(m *Model, id, answer string) tea.Cmd {
	ctx, walk := m.ctx, w.walk
	w.busy, w.failed = "answering …", ""
	return w.guard("answering", didAnswer, func() wizardMsg { return wizardMsg{err: walk.Answer(ctx, id, answer)} })
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

// watch looks who else is at work while a preview is open: a newcomer is seen on it, and
// what was read before counts as unread.
func (w *wizard) watch(m *Model) tea.Cmd {
	if !w.previewOpen() || w.busy != "" || w.walk == nil || w.watched {
		w.stopWatching()
		return nil
	}
	if w.unwatch != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(m.ctx)
	walk, changes := w.walk, make(chan struct{}, 1)
	w.unwatch, w.changes = cancel, changes
	changed := func() {
		select {
		case changes <- struct{}{}:
		default: // One that was not taken yet says as much.
		}
	}
	run := w.guard("looking who else is at work", didWatch, func() wizardMsg {
		defer close(changes)
		return wizardMsg{changes: changes, err: walk.Watch(ctx, changed)}
	})
	return tea.Batch(run, w.hear(changes))
}

func (w *wizard) hear(changes <-chan struct{}) tea.Cmd {
	return func() tea.Msg {
		if _, ok := <-changes; !ok {
			return nil
		}
		return wizardMsg{wizard: w, did: didChanged, changes: changes}
	}
}

func (w *wizard) stopWatching() {
	if w.unwatch != nil {
		w.unwatch()
		w.unwatch, w.changes = nil, nil
	}
}

// gotWatch takes what the look who else is at work saw, or that it ended.
func (w *wizard) gotWatch(msg wizardMsg) tea.Cmd {
	if w.changes != msg.changes || w.walk == nil {
		return nil // Of a preview that is not open any more.
	}
	if msg.did == didChanged {
		w.refresh()
		return w.hear(msg.changes)
	}
	w.stopWatching()
	w.watched = true
	w.refresh() // It may have seen something last.
	if msg.err != nil {
		w.blind = "whether others come to work here is not seen any more: " + msg.err.Error() + "; r looks again"
	}
	return nil
}

// follow watches a wait, or a change that was applied, until it is over.
func (w *wizard) follow(m *Model) tea.Cmd {
	ctx, walk := w.background(m), w.walk
	w.following = true
	// One place: what is not drawn yet is replaced by what is newer.
	news := make(chan remedies.Progress, 1)
	report := func(p remedies.Progress) {
		for {
			select {
			case news <- p:
				return
			default:
			}
			select {
			case <-news:
			default:
			}
		}
	}
	w.news = news
	run := w.guard("following", didFollow, func() wizardMsg {
		defer close(news)
		return wizardMsg{news: news, err: walk.Follow(ctx, report)}
	})
	return tea.Batch(run, w.listen(news))
}

func (w *wizard) listen(news <-chan remedies.Progress) tea.Cmd {
	return func() tea.Msg {
		p, ok := <-news
		if !ok {
			return nil
		}
		return wizardMsg{wizard: w, did: didProgress, progress: &p, news: news}
	}
}

// got takes what came back.
func (w *wizard) got(m *Model, msg wizardMsg) tea.Cmd {
	if msg.did == didBegin {
		return w.gotWalk(m, msg)
	}
	switch msg.did {
	case didProgress:
		if w.news == msg.news && w.walk != nil {
			w.progress = msg.progress
			w.view = w.walk.View()
			w.boundOption()
		}
		return w.listen(msg.news)
	case didWatch, didChanged:
		return w.gotWatch(msg)
	case didFollow:
		if !w.following || w.news != msg.news {
			return nil // Stepped back or left; nothing failed.
		}
		w.following = false
	case didBegin, didEnter, didNext, didApply, didByHand, didAnswer:
	}
	canceled := msg.did != didFollow && msg.err != nil && m.ctx.Err() == nil && errors.Is(msg.err, context.Canceled)
	if msg.did == didApply {
		w.applying, m.quitting = false, false
	}
	if msg.did != didFollow {
		w.busy = "" // An answer may be under way when a wait ends.
	}
	if w.left {
		return w.leaveLater(m)
	}
	w.refresh()
	if msg.err != nil && !canceled {
		w.failed = msg.err.Error()
		w.off = 0
	}
	switch msg.did {
	case didEnter:
		if msg.err == nil {
			w.entered = w.stepID()
			if s := w.step(); s != nil && s.Kind == remedies.StepWait && !over(s.State) {
				return w.follow(m)
			}
		}
	case didNext:
		if msg.err == nil && !w.view.Finished {
			return w.enter(m)
		}
	case didApply:
		if msg.err == nil {
			w.off = 0
			return w.follow(m)
		}
	case didAnswer:
		if msg.err == nil && !w.following && w.view.Ask == nil && w.entered != "" {
			return w.enter(m)
		}
	case didFollow, didByHand, didBegin, didProgress, didWatch, didChanged:
	}
	return nil
}

func (w *wizard) gotWalk(m *Model, msg wizardMsg) tea.Cmd {
	w.busy = ""
	if msg.err != nil {
		w.failed = msg.err.Error()
		return nil
	}
	w.walk = msg.walk
	if w.left {
		return w.leaveLater(m)
	}
	w.refresh()
	return w.enter(m)
}

// leaveLater lets go of the walk in the background; nothing is lost.
func (w *wizard) leaveLater(m *Model) tea.Cmd {
	w.left = true
	w.halt()
	w.stopWatching()
	if w.walk == nil || w.applying || w.busy != "" {
		return nil // Done when what is under way comes back.
	}
	walk := w.walk
	w.walk = nil
	leave := guard("leaving", func() tea.Msg { walk.Leave(); return nil })
	switch {
	case w.view.Finished:
		return leave
	case !w.changed(0):
		return batch(leave, m.say(false, "left; nothing was changed"))
	}
	return batch(leave, m.say(false, "left; nothing is lost: :walks picks it up"))
}

// close goes back to where the wizard was opened; when the fix is over, to the cluster:
// the finding goes with what it found.
func (w *wizard) close(m *Model) tea.Cmd {
	cmd := batch(w.leaveLater(m), m.pop())
	if v, ok := m.top().(*evidence); ok && w.view.Finished && v.at == w.at {
		return batch(cmd, m.pop())
	}
	return cmd
}

func (w *wizard) place() model.Place { return w.at }
func (w *wizard) title() string      { return "fix " + placeName(w.at) }

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

func (w *wizard) wheel(m *Model, down bool) {
	switch {
	case !down:
		w.off -= widget.WheelLines
	case !w.unseen(m):
		w.off += widget.WheelLines
	}
	w.bound()
}

// span is where something stands among lines: from its first up to the one after its last.
type span struct{ from, upTo int }

// into scrolls so that all of it is in sight, or its beginning where it is higher than h.
func (s span) into(off, h int) int { return min(max(off, s.upTo-h), s.from) }

// prepare finds what the next View draws; the arming of a preview begins with it.
func (w *wizard) prepare(m *Model, f *frame) tea.Cmd {
	_, r := wizardLayout(wizardBody(rect{0, 0, f.w, f.h}))
	w.lines, w.spans = w.content(f, r.w)
	w.room = r.h - 1
	w.noteOptions()
	w.bound()
	p := w.applicable()
	if p == nil {
		w.arm.Clear()
		return nil
	}
	return w.arm.Lay(p.Token, w.off, w.off+w.room, len(w.lines), m.written.Load())
}

// beneath is called by Update last, whether or not the wizard is on top.
func (w *wizard) beneath(m *Model, top bool) tea.Cmd {
	switch {
	case !top:
		w.arm.Cover()
	case lay(m.w, m.h).tooSmall:
		w.arm.Clear()
	}
	return w.watch(m)
}

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

// click chooses nothing and applies nothing: the wizard is driven by keys.
func (w *wizard) click(*Model, int, int) tea.Cmd { return nil }
