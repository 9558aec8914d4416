package remedies

import (
	"context"
	"errors"

	"vksmedic/model/text"
)

// What a walk answers when something was not done. Each is wrapped with the words for the screen.
var (
	// ErrMoved: what was previewed is no longer so. The view holds the new preview, and in
	// its Moved what changed. Nothing was applied.
	ErrMoved = errors.New("it changed meanwhile, look again")
	// ErrToken: the token is not that of the preview on the screen. Nothing was applied.
	ErrToken = errors.New("this is not the preview that was shown, look again")
	// ErrTyped: the name that was typed is not the one that is asked for. Nothing was applied.
	ErrTyped = errors.New("that is not the name")
	// ErrReadOnly: vksmedic was started so that it changes nothing.
	ErrReadOnly = errors.New("read-only")
	// ErrForbidden: the server does not let this user do it. Nothing was applied.
	ErrForbidden = errors.New("forbidden")
	// ErrBlocked: this cannot be applied, for the reason that the preview gives.
	ErrBlocked = errors.New("cannot be applied")
	// ErrNotYet: the step is not done, so the next one cannot begin.
	ErrNotYet = errors.New("not yet")
	// ErrNotDone: what should have been done by hand is not so.
	ErrNotDone = errors.New("not done")
	// ErrUnclear: the connection broke before the answer; whether it was applied has to be looked at.
	ErrUnclear = errors.New("it is not known whether it was applied")
	// ErrJournal: the journal cannot be written. Before a change: nothing was applied.
	ErrJournal = errors.New("the journal cannot be written")
	// ErrBusy: another vksmedic on this machine has the walk open.
	ErrBusy = errors.New("another vksmedic on this machine has this walk open")
	// ErrOtherSupervisor: the walk belongs to another Supervisor than the one we are connected to.
	ErrOtherSupervisor = errors.New("this walk belongs to another Supervisor")
	// ErrAsk: a question has to be answered first; the view has it. Nothing was applied.
	ErrAsk = errors.New("a question has to be answered first")
	// ErrOver: there is no such walk, or it is over.
	ErrOver = errors.New("this walk is over")
	// ErrNoArticle: there is nothing to walk for this finding.
	ErrNoArticle = errors.New("there is no article to walk for this")
)

// told is one of the errors above with the words for the screen.
type told struct {
	kind  error
	words string
}

func (t *told) Error() string { return t.words }
func (t *told) Unwrap() error { return t.kind }

// Tell is one of the errors above with the words for the screen.
func Tell(kind error, words string) error { return &told{kind: kind, words: text.Clean(words)} }

// Short is an API error's own words, cleaned and bounded.
func Short(err error) string {
	const limit = 600
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return text.Limit(text.Clean(err.Error()), limit)
}
