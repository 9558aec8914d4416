package walk

import (
	"fmt"
	"slices"
	"time"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/remedies/kb"
)

// state is what a walk knows: the fold of its journal. Only [state.fold] changes it.
type state struct {
	begin beginning
	began time.Time
	who   string
	steps []stepState
	// at is where the walk stands.
	at       position
	choice   map[string]string // by the id of the step that asked.
	attempts []attempt
	finished bool
	final    string
}

// position is a step and one of its items.
type position struct{ step, item int }

// stepState is a step; one that is not done for several things has one item without a name.
type stepState struct {
	id    string
	items []itemState
	// listed says that the items are known.
	listed bool
}

type itemState struct {
	name  string
	state remedies.StepState
	note  string
	// until is when a verification was watched to.
	until time.Time
}

// attempt is one time that an effect was sent.
type attempt struct {
	remedies.Attempt
	at        position
	effect    *carried
	place     model.Marks
	takesBack []int
	takes     *remedies.Debt
	pays      string
	outcome   outcome
	note      string
	receipt   remedies.Receipt
	// takenBack says that a later attempt took it back.
	takenBack bool
	// untold says that it was to be taken back, and that it could not be told what is left of it, or
	// what is left cannot be taken back.
	untold bool
	// before is the state of the item before the attempt, for when it was not made.
	before remedies.StepState
}

func newState(a *kb.Article, b beginning) *state {
	s := &state{begin: b, steps: make([]stepState, len(a.Steps)), choice: map[string]string{}}
	for i := range s.steps {
		s.steps[i] = stepState{id: a.Steps[i].ID, items: []itemState{{state: remedies.StatePending}}, listed: a.Steps[i].Each == ""}
	}
	return s
}

// replay is the state at the end of a journal.
func replay(a *kb.Article, rec *record) (*state, error) {
	s := newState(a, *rec.begin)
	for i := range rec.entries {
		if err := s.fold(&rec.entries[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// fold takes an entry and changes the state. It is the only thing that does, while the walk
// runs and when it is picked up again.
func (s *state) fold(e *entry) error {
	switch e.Kind {
	case entryBegin:
		s.began, s.who = e.At, e.Who
		return nil
	case entryResume, entryLeave:
		return nil
	case entryEnd:
		s.finished, s.final = true, e.Note
		return nil
	case entryItems, entryGo, entryLook, entryChoice, entrySkip, entryBefore, entryAfter, entryCheck:
	default:
		return fmt.Errorf("the journal has a line of the kind %q, which this vksmedic does not know", e.Kind)
	}
	if e.Kind == entryAfter {
		return s.foldAfter(e)
	}
	at, err := s.find(e)
	if err != nil {
		return err
	}
	st := &s.steps[at.step]
	it := &st.items[at.item]
	switch e.Kind { //nolint:exhaustive // the others are handled above.
	case entryItems:
		if !st.listed {
			st.listed, st.items = true, nil
		}
		for _, name := range e.Items {
			if !slices.ContainsFunc(st.items, func(it itemState) bool { return it.name == name }) {
				st.items = append(st.items, itemState{name: name, state: remedies.StatePending})
			}
		}
	case entryGo:
		s.at = at
		if e.Anew {
			for i := range st.items {
				if i == at.item || st.items[i].state == remedies.StateSkipped {
					st.items[i] = itemState{name: st.items[i].name, state: remedies.StatePending}
				}
			}
		}
	case entryLook:
		it.state, it.note = remedies.StateDone, e.Note
	case entryChoice:
		s.choice[e.Step] = e.Choice
		it.state, it.note = remedies.StateDone, e.Note
	case entrySkip:
		s.lookedBack(e)
		for i := range st.items {
			it := &st.items[i]
			if (e.Item == "" || it.name == e.Item) && !over(it.state) {
				it.state, it.note = remedies.StateSkipped, e.Note
			}
		}
	case entryBefore:
		return s.foldBefore(e, at, it)
	case entryCheck:
		s.lookedBack(e)
		it.state, it.note, it.until = stateOf(e.Result), e.Note, e.Until
	}
	return nil
}

// find is where an entry belongs.
func (s *state) find(e *entry) (position, error) {
	i := slices.IndexFunc(s.steps, func(st stepState) bool { return st.id == e.Step })
	if i < 0 {
		return position{}, fmt.Errorf("the article has no step %q, at which its journal stands; use the version that began the walk", e.Step)
	}
	if e.Kind == entryItems || e.Kind == entrySkip {
		return position{step: i}, nil
	}
	j := slices.IndexFunc(s.steps[i].items, func(it itemState) bool { return it.name == e.Item })
	if j < 0 {
		return position{}, fmt.Errorf("step %q is not done for %q", e.Step, e.Item)
	}
	return position{i, j}, nil
}

func (s *state) foldBefore(e *entry, at position, it *itemState) error {
	if s.open() != nil {
		return fmt.Errorf("attempt %d began while another was open", e.Attempt)
	}
	if e.Attempt != len(s.attempts)+1 {
		return fmt.Errorf("attempt %d comes after %d", e.Attempt, len(s.attempts))
	}
	a := attempt{Attempt: remedies.Attempt{Walk: s.begin.ID, N: e.Attempt, Sent: e.At}, at: at, effect: e.Effect,
		takesBack: e.TakesBack, takes: e.Takes, pays: e.Pays, before: it.state}
	if e.Place != nil {
		a.place = *e.Place
	}
	s.attempts = append(s.attempts, a)
	// The change is in doubt from this line on: if the program ends now, it is settled as when
	// no answer comes.
	it.state, it.note = remedies.StateUnsure, ""
	return nil
}

func (s *state) foldAfter(e *entry) error {
	a := s.open()
	if a == nil || a.N != e.Attempt {
		return fmt.Errorf("the end of attempt %d, which is not open", e.Attempt)
	}
	a.outcome, a.note = e.Outcome, e.Note
	if e.Receipt != nil {
		a.receipt = *e.Receipt
	}
	it := &s.steps[a.at.step].items[a.at.item]
	switch e.Outcome {
	case outcomeMade, outcomeSo:
		it.state, it.note = remedies.StateUnchecked, e.Note
		s.takenBack(a.takesBack)
	case outcomeRefused, outcomeNot:
		it.state, it.note = a.before, ""
	case outcomeUnsure:
		it.state, it.note = remedies.StateUnchecked, e.Note
	case outcomeOpen:
		return fmt.Errorf("attempt %d ends without an outcome", e.Attempt)
	}
	return nil
}

// lookedBack takes what was seen of the attempts that a step takes back.
func (s *state) lookedBack(e *entry) {
	for _, n := range e.Untold {
		if n >= 1 && n <= len(s.attempts) {
			s.attempts[n-1].untold = true
		}
	}
	s.takenBack(e.TakesBack)
}

// takenBack marks attempts, and their steps where nothing that was made there is left.
func (s *state) takenBack(numbers []int) {
	for _, n := range numbers {
		if n < 1 || n > len(s.attempts) {
			continue
		}
		a := &s.attempts[n-1]
		a.takenBack = true
		left := slices.ContainsFunc(s.attempts, func(o attempt) bool { return o.at == a.at && o.stands() })
		if it := &s.steps[a.at.step].items[a.at.item]; !left {
			it.state, it.note = remedies.StateUndone, "taken back"
		}
	}
}

// stands says whether something of the attempt may be left: it was made, or whether it was
// cannot be told, and it was not taken back.
func (a *attempt) stands() bool {
	return (a.outcome == outcomeMade || a.outcome == outcomeUnsure) && !a.takenBack
}

// open is the attempt of which it is not known what became, or nil.
func (s *state) open() *attempt {
	for i := range s.attempts {
		if s.attempts[i].outcome == outcomeOpen {
			return &s.attempts[i]
		}
	}
	return nil
}

// stands are the attempts of which something may be left, of a step, or of all where it is empty.
func (s *state) stands(step string) []*attempt {
	var out []*attempt
	for i := range s.attempts {
		if a := &s.attempts[i]; a.stands() && (step == "" || s.steps[a.at.step].id == step) {
			out = append(out, a)
		}
	}
	return out
}

// owed are the debts that were taken and not paid.
func (s *state) owed() []*remedies.Debt {
	var out []*remedies.Debt
	for i := range s.attempts {
		a := &s.attempts[i]
		if a.takes == nil || a.takenBack || (a.outcome != outcomeMade && a.outcome != outcomeSo && a.outcome != outcomeUnsure) {
			continue
		}
		paid := slices.ContainsFunc(s.attempts, func(p attempt) bool {
			return p.pays == a.takes.ID && (p.outcome == outcomeMade || p.outcome == outcomeSo)
		})
		if !paid {
			out = append(out, a.takes)
		}
	}
	return out
}

// rest is the first step from the current one on that is not over; -1 where there is none.
func (s *state) rest() int {
	for i := s.at.step; i < len(s.steps); i++ {
		if !over(s.stepState(i)) {
			return i
		}
	}
	return -1
}

func (s *state) item() *itemState { return &s.steps[s.at.step].items[s.at.item] }

// stepState is the state of a step: that of its first item that is not over, or else of the
// last one.
func (s *state) stepState(i int) remedies.StepState {
	st := &s.steps[i]
	if len(st.items) == 1 {
		return st.items[0].state
	}
	for _, it := range st.items {
		if !over(it.state) {
			return it.state
		}
	}
	if len(st.items) == 0 {
		return remedies.StateSkipped
	}
	return st.items[len(st.items)-1].state
}

// over says whether nothing more has to be done for a step, or for one item of it.
func over(s remedies.StepState) bool {
	switch s {
	case remedies.StateDone, remedies.StateByHand, remedies.StateSkipped, remedies.StateUndone:
		return true
	case remedies.StatePending, remedies.StateCurrent, remedies.StateFailed, remedies.StateUnsure, remedies.StateUnchecked, remedies.StateNotSeen:
	}
	return false
}

func stateOf(r result) remedies.StepState {
	switch r {
	case resultDone:
		return remedies.StateDone
	case resultFailed:
		return remedies.StateFailed
	case resultByHand:
		return remedies.StateByHand
	case resultMore:
		return remedies.StatePending
	case resultUnknown:
	}
	return remedies.StateUnchecked
}
