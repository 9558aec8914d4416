package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

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
