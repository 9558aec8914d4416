package walk

import (
	"context"
	"errors"
	"reflect"
	"time"

	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/remedies/kb"
)

// Follow follows what the current step waits for until it is done or has failed, or until ctx
// ends, and reports every change. A step that shows a preview waits for nothing.
func (w *Walk) Follow(ctx context.Context, report func(remedies.Progress)) error {
	var last remedies.Progress
	reported := false
	for {
		p, err := w.followOnce(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the engineer went elsewhere.
		}
		if errors.Is(err, remedies.ErrOver) || errors.Is(err, remedies.ErrBlocked) || errors.Is(err, remedies.ErrUnclear) || errors.Is(err, remedies.ErrAsk) {
			return err
		}
		if errors.Is(err, errNothingToFollow) {
			return nil
		}
		if err != nil { // the network comes and goes; what was seen last stays on the screen.
			p = last
			p.Last = "cannot look: " + remedies.Short(err)
			w.mu.Lock()
			w.progress = &p
			w.mu.Unlock()
		}
		if !reported || !reflect.DeepEqual(p, last) {
			report(p)
		}
		last, reported = p, true
		if p.Done {
			return nil
		}
		t := time.NewTimer(w.r.cfg.Pace)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil
		case <-t.C:
		}
	}
}

// errNothingToFollow is a step that has a preview on the screen, or that is over.
var errNothingToFollow = errors.New("there is nothing to wait for")

// followOnce looks once at the current step, and lets other operations through in between.
func (w *Walk) followOnce(ctx context.Context) (remedies.Progress, error) {
	w.op.Lock()
	defer w.op.Unlock()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if err := w.settle(ctx); err != nil {
		return remedies.Progress{}, w.asked(err)
	}
	s, st, err := w.scene()
	if err != nil {
		return remedies.Progress{}, err
	}
	w.mu.Lock()
	preview := w.shown != nil
	w.mu.Unlock()
	switch a := w.action(st).(type) { // a changer, and what is done by hand, can verify as well: the order counts.
	case remedies.Changer:
		if preview {
			return remedies.Progress{}, errNothingToFollow
		}
		p, err := w.look(ctx, s, st, a.Verify)
		return p, w.asked(err)
	case remedies.Manual:
	case remedies.Waiter:
		p, err := w.look(ctx, s, st, a.Verify)
		return p, w.asked(err)
	}
	return remedies.Progress{}, remedies.Tell(remedies.ErrBlocked, "there is nothing to wait for at this step")
}

// look looks once at what the step is for, keeps it for the view, and writes down a verdict
// that is new.
func (w *Walk) look(ctx context.Context, s *remedies.Scene, st *kb.Step, verify func(*remedies.Scene) remedies.Watch) (remedies.Progress, error) {
	w.mu.Lock()
	if w.watch == nil {
		w.watch = verify(s)
	}
	watch, was := w.watch, *w.st.item()
	w.mu.Unlock()
	p, err := watch(ctx)
	if err != nil {
		return remedies.Progress{}, err
	}
	w.mu.Lock()
	w.progress = &p
	w.mu.Unlock()
	e := &entry{Kind: entryCheck, Step: st.ID, Item: s.Item, Result: resultDone, Note: text.Clean(p.Last), Until: w.r.cfg.Now().UTC().Round(0)}
	switch {
	case !p.Done:
		return p, nil
	case p.Failed != "":
		e.Result, e.Note = resultFailed, text.Clean(p.Failed)
	case was.state == remedies.StateByHand:
		e.Result = resultByHand
	}
	if e.Result != resultFailed {
		back := w.lookBack(ctx, s, st)
		e.TakesBack, e.Untold = back.gone, back.untold
	}
	if was.state == stateOf(e.Result) && was.note == e.Note && len(e.TakesBack) == 0 {
		return p, nil
	}
	return p, w.record(e)
}
