package ui

import (
	"context"
	"errors"

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

// wizardMsg is the end of something the wizard started, or news about it.
type wizardMsg struct {
	wizard   *wizard
	did      wizardDid
	walk     Walk
	progress *remedies.Progress
	news     <-chan remedies.Progress
	changes  <-chan struct{}
	answered string // id of a question.
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
	return w.guard("answering", didAnswer, func() wizardMsg { return wizardMsg{answered: id, err: walk.Answer(ctx, id, answer)} })
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
	// A question that came up is drawn as one; what failed is only that it has no answer yet.
	asked := w.view.Ask != nil && (msg.did != didAnswer || w.view.Ask.ID != msg.answered)
	if msg.err != nil && !canceled && !asked {
		w.failed = msg.err.Error()
		w.off = 0
	}
	switch msg.did {
	case didEnter, didAnswer:
		if msg.err == nil && !w.following {
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
