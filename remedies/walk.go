package remedies

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"vksmedic/model/text"
)

// askTimeout bounds what one key press asks of the network.
const askTimeout = 30 * time.Second

// Walk is one walk through an article. Its methods may be called from several
// goroutines: View answers at once; of the others, one works at a time (Follow,
// which blocks for long, lets the others through).
type Walk struct {
	r     *Runner
	art   *Article
	begin beginning
	facts any

	op sync.Mutex // held by the operation at work.

	mu       sync.Mutex // guards what follows, never held while the network is asked.
	steps    []stepState
	current  int
	choice   map[string]string
	made     map[string]*change
	madeAt   map[string]time.Time
	lines    []Line // what the look at the current step brought.
	question *Choice
	preview  *Preview
	plan     *plan
	previews int // how many were computed, so that no two tokens are alike.
	progress *Progress
	memory   waitMemory
	others   []presence
	unseen   string // why nobody can see us; empty when they can.
	resumed  string
	trouble  string // why the journal is not kept; empty when it is.
	finished bool
	final    string
	left     bool

	journal   *journal
	lease     *lease
	stopLease func()
}

type stepState struct {
	state StepState
	note  string
}

func (r *Runner) newWalk(a *Article, b beginning) *Walk {
	w := &Walk{r: r, art: a, begin: b, steps: make([]stepState, len(a.Steps)),
		choice: map[string]string{}, made: map[string]*change{}, madeAt: map[string]time.Time{}, stopLease: func() {}}
	for i := range w.steps {
		w.steps[i].state = StatePending
	}
	w.steps[0].state = StateCurrent
	w.lease = &lease{dyn: r.cfg.Supervisor.Dynamic(), cluster: b.Cluster, walk: b.ID, who: r.cfg.Who, host: r.cfg.Host, now: r.cfg.Now,
		context: r.cfg.Context, log: func(line string, back bool, err error, took time.Duration) {
			why := "so that others see who works on "
			if back {
				why = "so that others see that you are done with "
			}
			c := Command{At: r.cfg.Now(), Line: line, Where: r.cfg.Context + ": " + why + b.Cluster.String(), Took: took}
			if err != nil {
				c.Err = short(err)
			}
			r.cfg.Log(c)
		}}
	return w
}

// decodeFacts makes facts of the type that the article's signature hands over.
func (w *Walk) decodeFacts() error {
	w.facts = factsOf(w.art.Signature)
	if err := json.Unmarshal(w.begin.Facts, w.facts); err != nil {
		return fmt.Errorf("cannot read what was found: %w", err)
	}
	return nil
}

// ID is the id of the walk, also in the journal.
func (w *Walk) ID() string { return w.begin.ID }

// step is the current step, or nil when the walk is over.
func (w *Walk) step() *Step {
	if w.current >= len(w.art.Steps) {
		return nil
	}
	return &w.art.Steps[w.current]
}

// scope is what templates may say at this moment.
func (w *Walk) scope(neighbours []string) scope {
	choice := map[string]string{}
	for i, s := range w.art.Steps { // what was not asked yet counts as the default.
		if p, ok := s.params.(*chooseParams); ok {
			choice[w.art.Steps[i].ID] = p.Default
		}
	}
	for k, v := range w.choice {
		choice[k] = v
	}
	done := map[string]bool{}
	for i, s := range w.art.Steps {
		done[s.ID] = w.steps[i].state == StateDone || w.steps[i].state == StateByHand
	}
	return scope{Cluster: w.begin.Cluster, Supervisor: w.r.cfg.Context, Facts: w.facts, Choice: choice, Done: done, Neighbours: neighbours}
}

// scene prepares the current step for its action.
func (w *Walk) scene() (*scene, *Step, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	st := w.step()
	if st == nil || w.finished {
		return nil, nil, tell(ErrOver, "this walk is over")
	}
	cfg := w.r.cfg
	s := &scene{sup: cfg.Supervisor, workload: cfg.Workload, snapshot: cfg.Snapshot, now: cfg.Now, context: cfg.Context,
		cluster: w.begin.Cluster, facts: w.facts, target: w.begin.Target,
		choice: map[string]string{}, made: map[string]*change{}, madeAt: map[string]time.Time{}}
	for k, v := range w.choice {
		s.choice[k] = v
	}
	for k, v := range w.made {
		s.made[k], s.madeAt[k] = v, w.madeAt[k]
	}
	var err error
	s.params, err = fillAll(st.params, w.scope(s.neighbours()))
	if err != nil {
		return nil, nil, fmt.Errorf("step %q of article %s: %w", st.ID, w.art.ID, err)
	}
	return s, st, nil
}

// Enter does the part of the current step that only reads: look, ask, compute the
// preview, look once at what is waited for. It never writes.
func (w *Walk) Enter(ctx context.Context) error {
	w.op.Lock()
	defer w.op.Unlock()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return w.enter(ctx)
}

func (w *Walk) enter(ctx context.Context) error {
	s, st, err := w.scene()
	if err != nil {
		return err
	}
	switch a := w.r.actions[st.Action].(type) {
	case looker:
		found, err := a.look(ctx, s)
		if err != nil {
			return err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lines = found.lines
		w.mark(StateDone, found.note)
		return nil
	case chooser:
		c := a.choice(s)
		w.mu.Lock()
		defer w.mu.Unlock()
		if chosen := w.choice[st.ID]; chosen != "" {
			c.Selected = chosen
		}
		w.question = c
		return nil
	case changer:
		return w.enterChange(ctx, s, st, a)
	case waiter:
		_, err := w.lookOnce(ctx, s, a)
		return err
	}
	return fmt.Errorf("action %q does nothing", st.Action)
}

// mark sets the state of the current step. The caller holds mu.
func (w *Walk) mark(state StepState, note string) {
	w.steps[w.current] = stepState{state: state, note: text.Clean(note)}
}

// Choose answers the question of the current step. Unknown ids, and calls at other steps, do nothing.
func (w *Walk) Choose(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	st := w.step()
	if st == nil || w.question == nil || !slices.ContainsFunc(w.question.Options, func(o Option) bool { return o.ID == id }) {
		return
	}
	c := *w.question
	c.Selected = id
	w.question = &c
	w.choice[st.ID] = id
}

// Next goes to the next step that is not skipped, or ends the walk. It writes nothing to
// the cluster, except that the Lease is given back at the end.
func (w *Walk) Next(ctx context.Context) error {
	w.op.Lock()
	defer w.op.Unlock()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return w.next(ctx)
}

func (w *Walk) next(ctx context.Context) error {
	w.mu.Lock()
	st := w.step()
	if st == nil || w.finished {
		w.mu.Unlock()
		return tell(ErrOver, "this walk is over")
	}
	if err := w.complete(st); err != nil {
		w.mu.Unlock()
		return err
	}
	left := entry{Kind: entryStep, Step: st.ID, State: w.steps[w.current].state, Note: w.steps[w.current].note, Choice: w.choice[st.ID]}
	w.mu.Unlock()
	w.remember(left)
	return w.advance(ctx)
}

// complete checks that the current step is done. The caller holds mu.
func (w *Walk) complete(st *Step) error {
	now := &w.steps[w.current]
	switch w.r.actions[st.Action].kind() {
	case StepLook:
		if now.state != StateDone {
			return tell(ErrNotYet, "nothing was read yet")
		}
	case StepChoose:
		if w.question == nil {
			return tell(ErrNotYet, "the question was not shown yet")
		}
		w.choice[st.ID] = w.question.Selected
		title := ""
		for _, o := range w.question.Options {
			if o.ID == w.question.Selected {
				title = o.Title
			}
		}
		w.mark(StateDone, title)
	case StepChange:
		switch {
		case now.state == StateDone || now.state == StateByHand || now.state == StateUndone:
		case w.preview != nil && w.preview.Done != "":
			w.mark(StateSkipped, w.preview.Done)
		default:
			return tell(ErrNotYet, "this step is not done: a applies it, h says that you did it by hand")
		}
	case StepWait:
		if w.progress == nil || !w.progress.Done || w.progress.Failed != "" {
			return tell(ErrNotYet, "it is not over yet; esc leaves, and nothing is lost")
		}
		w.mark(StateDone, w.progress.Last)
	}
	return nil
}

// advance goes to the next step that is not skipped.
func (w *Walk) advance(ctx context.Context) error {
	neighbours := (&scene{snapshot: w.r.cfg.Snapshot, cluster: w.begin.Cluster}).neighbours()
	w.mu.Lock()
	w.clear()
	for w.current++; w.current < len(w.art.Steps); w.current++ {
		st := w.step()
		run, err := true, error(nil)
		if st.When != "" {
			var says string
			says, err = fill(st.When, w.scope(neighbours))
			run = says == "true"
		}
		if err != nil {
			w.mu.Unlock()
			return err
		}
		if run {
			if w.steps[w.current].state == StatePending || w.steps[w.current].state == StateSkipped {
				w.mark(StateCurrent, "")
			}
			w.mu.Unlock()
			return nil
		}
		w.mark(StateSkipped, st.Otherwise)
	}
	final, err := fill(w.art.Finished, w.scope(neighbours))
	if err != nil {
		final = "This walk is over."
	}
	w.finished, w.final = true, text.Clean(final)
	w.mu.Unlock()
	w.remember(entry{Kind: entryEnd, Note: final})
	w.close(ctx)
	return nil
}

// clear forgets what was shown for the step that is left. The caller holds mu.
func (w *Walk) clear() {
	w.lines, w.question, w.preview, w.plan, w.progress = nil, nil, nil, nil, nil
	w.memory = waitMemory{}
}

// Back goes to the step before; what was done stays done. At the first step it does nothing.
func (w *Walk) Back() {
	w.op.Lock()
	defer w.op.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.finished {
		return
	}
	for i := w.current - 1; i >= 0; i-- {
		if w.steps[i].state == StateSkipped && w.art.Steps[i].When != "" {
			continue
		}
		if w.steps[w.current].state == StateCurrent {
			w.mark(StatePending, "")
		}
		w.clear()
		w.current = i
		return
	}
}

// Undo goes to the step that takes back what the walk changed last. That step then is
// previewed and confirmed like every other.
func (w *Walk) Undo(ctx context.Context) error {
	w.op.Lock()
	defer w.op.Unlock()
	w.mu.Lock()
	for i, st := range slices.Backward(w.art.Steps) {
		if st.Undo == "" || w.made[st.ID] == nil || w.steps[i].state == StateUndone {
			continue
		}
		undo, at := w.art.step(st.Undo)
		if w.steps[w.current].state == StateCurrent {
			w.mark(StatePending, "")
		}
		w.clear()
		w.chooseFor(undo)
		w.current = at
		w.mark(StateCurrent, "")
		w.mu.Unlock()
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		return w.enter(ctx)
	}
	w.mu.Unlock()
	return tell(ErrBlocked, "there is nothing to take back")
}

// chooseFor answers the questions before a step so that its when is true. The caller holds mu.
func (w *Walk) chooseFor(st *Step) {
	for _, q := range w.art.Steps {
		p, ok := q.params.(*chooseParams)
		if !ok || st.When == "" {
			continue
		}
		old, had := w.choice[q.ID]
		for _, o := range p.Options {
			w.choice[q.ID] = o.ID
			if says, err := fill(st.When, w.scope(nil)); err == nil && says == "true" {
				return
			}
		}
		delete(w.choice, q.ID)
		if had {
			w.choice[q.ID] = old
		}
	}
}

// Leave puts the walk aside: it stays in the journal if anything was done in it, and the
// Lease is given back. The walk must not be used afterwards.
func (w *Walk) Leave() {
	w.op.Lock()
	defer w.op.Unlock()
	w.mu.Lock()
	if w.left || w.finished {
		w.left = true
		w.mu.Unlock()
		return
	}
	w.left = true
	idle := true
	for i, st := range w.art.Steps {
		s := w.steps[i].state
		if w.r.actions[st.Action].kind() == StepChange && s != StatePending && s != StateCurrent && s != StateSkipped {
			idle = false
		}
	}
	w.mu.Unlock()
	if w.journal != nil {
		if idle {
			w.remember(entry{Kind: entryEnd, Note: "left before anything was done"})
		} else {
			w.remember(entry{Kind: entryLeave})
		}
	}
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	w.close(ctx)
}

// close gives back the Lease and closes the journal.
func (w *Walk) close(ctx context.Context) {
	w.stopLease()
	if err := w.lease.giveBack(ctx); err != nil {
		w.mu.Lock()
		w.trouble = short(err)
		w.mu.Unlock()
	}
	w.journal.close()
	w.journal = nil
}

// remember writes a line that no change hangs on. Where that fails, the walk goes on and the view says so.
func (w *Walk) remember(e entry) {
	if w.r.cfg.ReadOnly != "" {
		return // nothing is changed, so there is nothing to remember.
	}
	err := w.openJournal()
	if err == nil {
		err = w.journal.write(e)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble = ""
	if err != nil {
		w.trouble = short(err) + "; a crash would not be remembered"
	}
}

// openJournal begins the journal of this walk where it has none.
func (w *Walk) openJournal() error {
	if w.journal != nil {
		return nil
	}
	j, err := createJournal(w.r.disk, w.r.cfg.JournalDir, w.begin.ID, w.r.cfg.Now)
	if err != nil {
		return err
	}
	w.mu.Lock()
	lines := []entry{{Kind: entryBegin, Begin: &w.begin, Who: w.r.cfg.Who}}
	for i, st := range w.art.Steps { // what was done while no journal could be kept.
		if s := w.steps[i]; s.state != StatePending && s.state != StateCurrent {
			lines = append(lines, entry{Kind: entryStep, Step: st.ID, State: s.state, Note: s.note, Choice: w.choice[st.ID]})
		}
	}
	w.mu.Unlock()
	for _, e := range lines {
		if err := j.write(e); err != nil {
			j.discard()
			return err
		}
	}
	w.journal = j
	return nil
}

// View is the walk as the screen shows it. It asks nothing of anybody.
func (w *Walk) View() View {
	neighbours := (&scene{snapshot: w.r.cfg.Snapshot, cluster: w.begin.Cluster}).neighbours()
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.begin
	v := View{ID: b.ID, Article: w.art.ID, Title: w.art.Title, KB: w.art.KB, Address: w.art.Address, Warnings: slices.Clone(w.art.Warnings),
		Cluster: b.Cluster, Supervisor: w.r.cfg.Context, Target: b.Target.Ref.Name, Current: w.current,
		Facts: slices.Clone(w.lines), Choice: w.question, Preview: w.preview, Progress: w.progress,
		ReadOnly: w.r.cfg.ReadOnly, Resumed: w.resumed, Finished: w.finished, FinishedWords: w.final}
	if name, err := fill(w.art.Target, w.scope(neighbours)); err == nil {
		v.Target = text.Clean(name)
	}
	for i, st := range w.art.Steps {
		s := w.steps[i]
		v.Steps = append(v.Steps, StepView{ID: st.ID, Title: st.Title, Why: st.Why, Kind: w.r.actions[st.Action].kind(), State: s.state, Note: s.note,
			Undoable: st.Undo != "" && w.made[st.ID] != nil && s.state != StateUndone})
	}
	for _, p := range w.others {
		v.Others = append(v.Others, p.words(w.r.cfg.Now()))
	}
	if w.unseen != "" {
		v.Trouble = append(v.Trouble, w.unseen)
	}
	if w.trouble != "" {
		v.Trouble = append(v.Trouble, w.trouble)
	}
	return v
}
