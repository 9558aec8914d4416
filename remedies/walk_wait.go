package remedies

import (
	"context"
	"errors"
	"reflect"
	"time"
)

// Follow follows a step that waits until it is done or has failed, or until ctx ends, and
// reports every change. At a step that changes something it reports whether that holds.
func (w *Walk) Follow(ctx context.Context, report func(Progress)) error {
	var last Progress
	reported := false
	for {
		p, err := w.followOnce(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the engineer went elsewhere.
		}
		if errors.Is(err, ErrOver) || errors.Is(err, ErrBlocked) {
			return err
		}
		if err != nil { // the network comes and goes; what was seen last stays on the screen.
			p = last
			p.Last = "cannot look: " + short(err)
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

// followOnce looks once at the current step, and lets other operations through in between.
func (w *Walk) followOnce(ctx context.Context) (Progress, error) {
	w.op.Lock()
	defer w.op.Unlock()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	s, st, err := w.scene()
	if err != nil {
		return Progress{}, err
	}
	switch a := w.r.actions[st.Action].(type) {
	case waiter:
		return w.lookOnce(ctx, s, a)
	case changer:
		held, words, err := a.holds(ctx, s)
		if err != nil {
			return Progress{}, err
		}
		p := Progress{Done: true, Last: words}
		if !held {
			p.Failed = words
		}
		return p, nil
	}
	return Progress{}, tell(ErrBlocked, "there is nothing to wait for at this step")
}

// lookOnce looks at what is waited for and keeps it for the view.
func (w *Walk) lookOnce(ctx context.Context, s *scene, a waiter) (Progress, error) {
	if w.memory.began.IsZero() {
		w.memory = waitMemory{began: w.r.cfg.Now(), stages: map[string]stageTimes{}}
	}
	p, err := a.progress(ctx, s, &w.memory)
	if err != nil {
		return Progress{}, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.progress = &p
	switch {
	case p.Failed != "":
		w.mark(StateFailed, p.Failed)
	case p.Done:
		w.mark(StateDone, p.Last)
	default:
		w.mark(StateCurrent, "")
	}
	return p, nil
}
