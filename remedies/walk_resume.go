package remedies

import (
	"context"
	"fmt"

	"vksmedic/model/text"
)

// replay brings the walk to where its journal ends.
func (w *Walk) replay(rec *record) {
	for i := range rec.entries {
		e := &rec.entries[i]
		st, at := w.art.step(e.Step)
		if st == nil {
			continue
		}
		switch e.Kind {
		case entryStep:
			w.steps[at] = stepState{state: e.State, note: e.Note}
			if e.Choice != "" {
				w.choice[st.ID] = e.Choice
			}
		case entryBefore:
			w.steps[at] = stepState{state: StateUnsure}
		case entryAfter:
			switch e.Outcome {
			case outcomeApplied:
				w.steps[at] = stepState{state: StateDone, note: "applied"}
				w.note(st, e.Change, e.At)
			case outcomeNot:
				w.steps[at] = stepState{state: StatePending}
			case outcomeUnclear:
				w.steps[at] = stepState{state: StateUnsure, note: e.Note}
			}
		case entryBegin, entryResume, entryLeave, entryEnd:
		}
	}
	w.stand(rec)
}

// stand finds the step at which the walk goes on: the one that is unsure, else the first
// that is not done.
func (w *Walk) stand(rec *record) {
	w.current = len(w.steps) - 1
	if e := rec.unsettled(); e != nil {
		if _, at := w.art.step(e.Step); at >= 0 {
			w.current = at
			return
		}
	}
	for i, st := range w.art.Steps { // everything was taken back: nothing before it is still wanted.
		if _, at := w.art.step(st.Undo); w.steps[i].state == StateUndone && at >= 0 && w.steps[at].state == StateDone {
			w.current = at
			return
		}
	}
	for i := range w.steps {
		if s := w.steps[i].state; s == StatePending || s == StateCurrent || s == StateFailed || s == StateUnsure {
			w.current = i
			w.steps[i].state = StateCurrent
			return
		}
	}
}

// pickUp goes on with a walk from the journal: what was left unsure is looked at first.
func (w *Walk) pickUp(ctx context.Context, rec *record) error {
	for _, e := range rec.entries {
		if e.Step == "" {
			continue
		}
		if st, _ := w.art.step(e.Step); st == nil {
			return tell(ErrNoArticle, fmt.Sprintf("this vksmedic's article has no step %q, which the journal stands at; use the version that began the walk", e.Step))
		}
	}
	w.replay(rec)
	ago := text.Age(w.r.cfg.Now().Sub(rec.last()))
	st := w.step()
	w.resumed = fmt.Sprintf("picked up at step %d, %q, where it was left %s ago", w.current+1, st.Title, ago)
	if rec.unread > 0 {
		w.resumed += "; " + text.Plural(rec.unread, "broken line") + " in the journal"
	}
	w.remember(entry{Kind: entryResume, Who: w.r.cfg.Who})
	if w.steps[w.current].state == StateUnsure {
		w.resumed = fmt.Sprintf("vksmedic ended %s ago while it was doing step %d, %q", ago, w.current+1, st.Title)
		a, ok := w.r.actions[st.Action].(changer)
		if !ok {
			return nil
		}
		s, _, err := w.scene()
		if err != nil {
			return err
		}
		if err := w.settle(ctx, st, a, s); err != nil {
			w.resumed += "; whether it was applied is not known yet: " + short(err)
			return nil //nolint:nilerr // the walk stands at the unsure step, and looks again when it is entered.
		}
	}
	if len(w.made) > 0 && w.r.cfg.ReadOnly == "" {
		w.takeLease(ctx) // it was confirmed in this walk that we work here.
	}
	return nil
}

// settle finds out what became of the change of an unsure step, and writes it down.
func (w *Walk) settle(ctx context.Context, st *Step, a changer, s *scene) error {
	e, err := w.lastBefore(st)
	if err != nil {
		return err
	}
	h, live, err := e.Change.look(ctx, s.sup.Dynamic(), e.At)
	if err != nil {
		return err
	}
	w.mu.Lock()
	at := w.current
	w.mu.Unlock()
	switch h {
	case happenedYes:
		if live != nil && e.Change.Verb == verbCreate {
			e.Change.UID = string(live.GetUID())
		}
		w.writeAfter(st, e.Change, outcomeApplied, "found when the walk was picked up")
		held, words, err := a.holds(ctx, s)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.note(st, e.Change, e.At)
		w.resumed += ": it had been applied"
		w.steps[at] = stepState{state: StateDone, note: text.Clean(words)}
		if err == nil && !held {
			w.steps[at].state = StateFailed
		}
	case happenedNot:
		w.writeAfter(st, e.Change, outcomeNot, "found when the walk was picked up")
		w.mu.Lock()
		defer w.mu.Unlock()
		w.resumed += ": it had not been applied"
		w.steps[at] = stepState{state: StateCurrent}
	case happenedOther:
		w.writeAfter(st, e.Change, outcomeNot, "changed by others meanwhile")
		w.mu.Lock()
		defer w.mu.Unlock()
		w.resumed += ": " + text.Clean(e.Change.ref().String()) + " was changed by others meanwhile; look at the preview"
		w.steps[at] = stepState{state: StateCurrent}
	}
	return nil
}

// lastBefore is the last line before a change of a step, as it stands in the journal.
func (w *Walk) lastBefore(st *Step) (*entry, error) {
	if w.journal == nil {
		return nil, tell(ErrJournal, "there is no journal to look at")
	}
	f, err := w.r.disk.open(w.journal.path, false)
	if err != nil {
		return nil, fmt.Errorf("cannot open the journal: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read.
	rec, _, err := readRecord(f)
	if err != nil {
		return nil, fmt.Errorf("cannot read the journal %s: %w", w.journal.path, err)
	}
	e := rec.unsettled()
	if e == nil || e.Step != st.ID || e.Change == nil {
		return nil, tell(ErrJournal, "the journal does not say what was sent")
	}
	return e, nil
}
