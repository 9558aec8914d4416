package walk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/remedies/kb"
)

// Each thing that is asked of the network has a deadline of its own.
const (
	// askTimeout bounds what one key press asks of the network before anything is sent.
	askTimeout = 30 * time.Second
	// leaseTimeout bounds the taking of the Lease, sendTimeout one write, lookTimeout the look
	// after silence, and checkTimeout the first verification.
	leaseTimeout = 5 * time.Second
	sendTimeout  = 30 * time.Second
	lookTimeout  = 15 * time.Second
	checkTimeout = 30 * time.Second
	// leaveTimeout bounds what is still done when a walk is left.
	leaveTimeout = 5 * time.Second
)

// Walk is one walk through an article. Its methods may be called from several
// goroutines: View answers at once; of the others, one works at a time (Follow and
// Watch, which block for long, let the others through).
type Walk struct {
	r     *Runner
	art   *kb.Article
	facts any

	op sync.Mutex // held by the operation at work.

	mu sync.Mutex // guards what follows, never held while the network is asked.
	st *state
	// What the look at the current step brought. It is forgotten when the step is left.
	lines    []remedies.Line
	question *remedies.Choice
	ask      *remedies.Asking
	shown    *shownPlan
	commands []string
	progress *remedies.Progress
	watch    remedies.Watch
	previews int // how many were shown, so that no two tokens are alike.

	others  []presence
	unseen  string // why nobody can see us; empty when they can.
	resumed string
	trouble string // why the journal is not kept; empty when it is.
	left    bool

	// waited is since when nothing is waited for any more of an attempt that was not answered, by
	// Config.Elapsed: since its Send returned, or since it was picked up.
	waited map[int]time.Duration

	journal *journal
	// unwritten are entries that happened and are not on the disk yet.
	unwritten []*entry
	leases    *leases
}

func (r *Runner) newWalk(a *kb.Article, st *state) (*Walk, error) {
	w := &Walk{r: r, art: a, st: st, waited: map[int]time.Duration{}}
	w.leases = newLeases(r, st.begin.Cluster, st.begin.ID)
	w.facts = r.cfg.Registry.FactsOf(a.Signature)
	if w.facts != nil && len(st.begin.Facts) > 0 {
		if err := json.Unmarshal(st.begin.Facts, w.facts); err != nil {
			return nil, fmt.Errorf("cannot read what was found: %w", err)
		}
	}
	return w, nil
}

// ID is the id of the walk, also in the journal.
func (w *Walk) ID() string { return w.st.begin.ID }

// step is the current step. The caller holds mu.
func (w *Walk) step() *kb.Step { return &w.art.Steps[w.st.at.step] }

func (w *Walk) action(st *kb.Step) remedies.Action { return w.r.cfg.Actions[st.Action] }

// scope is what templates may say at this moment. The caller holds mu.
func (w *Walk) scope(item string) kb.Scope {
	choice := map[string]string{}
	for i := range w.art.Steps { // what was not asked yet counts as the default.
		if p, ok := w.art.Steps[i].Params.(interface{ Preset() string }); ok {
			choice[w.art.Steps[i].ID] = p.Preset()
		}
	}
	maps.Copy(choice, w.st.choice)
	done := map[string]bool{}
	for i := range w.st.steps {
		s := w.st.stepState(i)
		done[w.st.steps[i].id] = s == remedies.StateDone || s == remedies.StateByHand
	}
	b := &w.st.begin
	return kb.Scope{Cluster: b.Cluster, Supervisor: w.r.cfg.Context, Facts: w.facts, Choice: choice, Done: done, Item: item,
		Neighbours: remedies.Neighbours(w.r.cfg.Snapshot(), b.Cluster)}
}

// scene prepares the current step for its action.
func (w *Walk) scene() (*remedies.Scene, *kb.Step, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.st.finished || w.left {
		return nil, nil, remedies.Tell(remedies.ErrOver, "this walk is over")
	}
	st := w.step()
	item := w.st.item().name
	s, err := w.sceneOf(item)
	if err != nil {
		return nil, nil, err
	}
	s.Params, s.Unknown = kb.FillParams(st.Params, w.scope(item))
	return s, st, nil
}

// sceneOf is the scene without a step's parameters. The caller holds mu.
func (w *Walk) sceneOf(item string) (*remedies.Scene, error) {
	cfg, b := &w.r.cfg, &w.st.begin
	s := &remedies.Scene{Sites: cfg.Sites, Snapshot: cfg.Snapshot, Now: cfg.Now, Cluster: b.Cluster, Facts: w.facts, Target: b.Target,
		Choice: maps.Clone(w.scope(item).Choice), Item: item, Own: w.art.From != "", Debt: b.Debt, Who: cfg.Who, Marks: b.Supervisor, Began: w.st.began,
		Next: remedies.Attempt{Walk: b.ID, N: len(w.st.attempts) + 1}}
	for i := range w.st.attempts {
		a := &w.st.attempts[i]
		// A deletion without an answer, of which only what is so can be told, may not be over either.
		if !a.stands() && !a.takenBack && (len(a.takesBack) == 0 || a.outcome != outcomeSo) {
			continue
		}
		e, err := a.effect.effect(cfg.Effects)
		if err != nil {
			return nil, err
		}
		s.Made = append(s.Made, remedies.Made{Attempt: a.Attempt, Step: w.st.steps[a.at.step].id, Item: w.st.steps[a.at.step].items[a.at.item].name,
			Effect: e, Receipt: a.receipt, TakenBack: a.takenBack, TakesBack: slices.Clone(a.takesBack), Unsure: a.outcome == outcomeUnsure, By: w.action(&w.art.Steps[a.at.step])})
	}
	return s, nil
}

// Enter does the part of the current step that only reads: look, ask, compute the
// preview, look once at what is waited for. What was left in doubt is looked at first. It
// never writes.
func (w *Walk) Enter(ctx context.Context) error {
	w.op.Lock()
	defer w.op.Unlock()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return w.asked(w.enter(ctx))
}

// asked takes a question that came up in place of an answer.
func (w *Walk) asked(err error) error {
	var q *remedies.Asking
	if !errors.As(err, &q) {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ask = q
	return remedies.Tell(remedies.ErrAsk, q.Question)
}

// Answer answers the question that the view shows, and does the step's reading again. The
// answer is not kept here.
func (w *Walk) Answer(ctx context.Context, id, answer string) error {
	w.op.Lock()
	defer w.op.Unlock()
	w.mu.Lock()
	q := w.ask
	w.mu.Unlock()
	if q == nil || q.ID != id {
		return remedies.Tell(remedies.ErrToken, "this is not the question on the screen")
	}
	if err := q.Take(answer); err != nil {
		return err //nolint:wrapcheck // the words are the place's own, for the engineer.
	}
	w.mu.Lock()
	w.ask = nil
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return w.asked(w.enter(ctx))
}

func (w *Walk) enter(ctx context.Context) error {
	w.mu.Lock()
	w.ask = nil
	w.mu.Unlock()
	if err := w.settle(ctx); err != nil {
		return err
	}
	s, st, err := w.scene()
	if err != nil {
		return err
	}
	switch a := w.action(st).(type) {
	case remedies.Looker:
		found, err := a.Look(ctx, s)
		if err != nil {
			return err //nolint:wrapcheck // an action's words are for the engineer.
		}
		if err := w.record(&entry{Kind: entryLook, Step: st.ID, Item: s.Item, Note: text.Clean(found.Note)}); err != nil {
			return err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.lines = found.Lines
		return nil
	case remedies.Chooser:
		c, err := a.Choice(ctx, s)
		if err != nil {
			return err //nolint:wrapcheck // an action's words are for the engineer.
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if chosen := w.st.choice[st.ID]; slices.ContainsFunc(c.Options, func(o remedies.Option) bool { return o.ID == chosen }) {
			c.Selected = chosen
		}
		w.question = c
		return nil
	case remedies.Changer:
		return w.enterChange(ctx, s, st, a)
	case remedies.Manual:
		w.mu.Lock()
		w.commands = a.Commands(s)
		w.mu.Unlock()
		return nil
	case remedies.Waiter:
		w.mu.Lock()
		w.watch = nil
		w.mu.Unlock()
		_, err := w.look(ctx, s, st, a.Verify)
		return err
	}
	return fmt.Errorf("action %q does nothing", st.Action)
}

// Choose answers the question of the current step. Unknown ids, and calls at other steps, do nothing.
func (w *Walk) Choose(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.question == nil || !slices.ContainsFunc(w.question.Options, func(o remedies.Option) bool { return o.ID == id }) {
		return
	}
	c := *w.question
	c.Selected = id
	w.question = &c
}

// Next goes to the next item or step that is not skipped, or ends the walk. It writes nothing
// to the cluster, except that the Lease is given back at the end.
func (w *Walk) Next(ctx context.Context) error {
	w.op.Lock()
	defer w.op.Unlock()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	w.mu.Lock()
	if w.st.finished || w.left {
		w.mu.Unlock()
		return remedies.Tell(remedies.ErrOver, "this walk is over")
	}
	done, err := w.completed()
	w.mu.Unlock()
	if err != nil {
		return err
	}
	if done != nil {
		if err := w.record(done); err != nil {
			return err
		}
	}
	return w.asked(w.advance(ctx))
}

// completed is the entry that has to be written before the walk leaves the current step, nil
// for none; the error says why the walk cannot leave it. The caller holds mu.
func (w *Walk) completed() (*entry, error) {
	st, it := w.step(), w.st.item()
	if w.st.open() != nil {
		return nil, remedies.Tell(remedies.ErrNotYet, "it is not known yet whether the change was made: r looks again")
	}
	if over(it.state) && w.question == nil {
		return nil, nil
	}
	switch w.action(st).Kind() {
	case remedies.StepLook:
		return nil, remedies.Tell(remedies.ErrNotYet, "nothing was read yet")
	case remedies.StepChoose:
		if w.question == nil {
			return nil, remedies.Tell(remedies.ErrNotYet, "the question was not shown yet")
		}
		title := ""
		for _, o := range w.question.Options {
			if o.ID == w.question.Selected {
				title = o.Title
			}
		}
		return &entry{Kind: entryChoice, Step: st.ID, Item: it.name, Choice: w.question.Selected, Note: text.Clean(title)}, nil
	case remedies.StepChange:
		if w.shown != nil && w.shown.plan.Preview.Done != "" {
			return &entry{Kind: entrySkip, Step: st.ID, Item: it.name, Note: text.Clean(w.shown.plan.Preview.Done), TakesBack: w.shown.back.gone, Untold: w.shown.back.untold}, nil
		}
		if w.progress != nil && !w.progress.Done {
			return nil, remedies.Tell(remedies.ErrNotYet, "it is not over yet: "+w.progress.Last+"; esc leaves, and nothing is lost")
		}
		return nil, remedies.Tell(remedies.ErrNotYet, "this step is not done: a applies it, h says that you did it by hand")
	case remedies.StepManual:
		return nil, remedies.Tell(remedies.ErrNotYet, "this step is not done: h looks whether it was done")
	case remedies.StepWait:
	}
	return nil, remedies.Tell(remedies.ErrNotYet, w.waitWords(it))
}

// waitWords say how far a wait is that is not over, and which keys lead on from it. The caller
// holds mu.
func (w *Walk) waitWords(it *itemState) string {
	words := "it could not be looked at yet"
	switch p := w.progress; {
	case p != nil && p.Done && p.Failed != "":
		words = "what is waited for did not come: " + p.Failed
	case p == nil && it.state == remedies.StateFailed:
		words = "what is waited for did not come: " + it.note
	case p != nil && p.Last != "":
		words = "it is not over yet: " + p.Last
	case p != nil:
		words = "it is not over yet"
	}
	on := "r looks again"
	if w.st.at != (position{}) {
		on += ", b goes back"
	}
	if w.undoable() != nil {
		on += ", u takes back what was changed"
	}
	return words + "; " + on + ", esc leaves, and nothing is lost"
}

// lookedBack says of the attempts that a step takes back which are gone and which cannot be told.
type lookedBack struct {
	// gone are those of which nothing is left, whoever removed it: they count as taken back once
	// the step is done. untold are those of which it cannot be told what is left, or which cannot
	// be taken back: they do not count.
	gone, untold []int
}

// lookBack looks what is left of the attempts that a step takes back. What cannot be read is in
// neither list.
func (w *Walk) lookBack(ctx context.Context, s *remedies.Scene, st *kb.Step) lookedBack {
	var out lookedBack
	for i := range s.Made {
		m := &s.Made[i]
		of, _ := w.art.Step(m.Step)
		if !m.Stands() || of == nil || of.Undo != st.ID || (st.Each != "" && m.Item != s.Item) {
			continue
		}
		back, err := remedies.BackOf(ctx, s, m)
		if err != nil {
			continue
		}
		switch back.Left {
		case remedies.LeftNothing:
			out.gone = append(out.gone, m.N)
		case remedies.LeftUnknown, remedies.LeftStuck, remedies.LeftFinal:
			out.untold = append(out.untold, m.N)
		case remedies.LeftSome, remedies.LeftEnding:
		}
	}
	return out
}

// advance goes to the next item, or to the next step that is not skipped, or ends the walk.
func (w *Walk) advance(ctx context.Context) error {
	on, err := w.onward(ctx)
	if err != nil || on {
		return err
	}
	w.mu.Lock()
	owed := w.st.owed()
	w.mu.Unlock()
	if len(owed) > 0 {
		return remedies.Tell(remedies.ErrNotYet, w.r.taken(owed[0].takes)+" and is not given back: u gives it back")
	}
	return w.finish(ctx)
}

// onward goes to the next item, or to the next step that is not skipped; on says whether there is
// one.
func (w *Walk) onward(ctx context.Context) (on bool, err error) {
	w.mu.Lock()
	w.clear()
	at := w.st.at
	items := len(w.st.steps[at.step].items)
	w.mu.Unlock()
	if at.item+1 < items {
		return true, w.goTo(position{at.step, at.item + 1}, false)
	}
	for i := at.step + 1; i < len(w.art.Steps); i++ {
		st := &w.art.Steps[i]
		skip, err := w.arrive(ctx, i, st)
		if err != nil {
			return false, err
		}
		if skip == "" {
			return true, w.goTo(position{i, w.firstOpen(i)}, false)
		}
		if err := w.record(&entry{Kind: entrySkip, Step: st.ID, Note: text.Clean(skip)}); err != nil {
			return false, err
		}
	}
	return false, nil
}

// arrive says why a step is skipped; empty when it is not. A step that is done for several
// things gets to know them.
func (w *Walk) arrive(ctx context.Context, i int, st *kb.Step) (string, error) {
	w.mu.Lock()
	run := st.When == "" || st.When.Fill(w.scope("")) == "true"
	otherwise, listed := "", w.st.steps[i].listed
	if !run {
		otherwise = st.Otherwise.Fill(w.scope(""))
	}
	w.mu.Unlock()
	if !run {
		return cmp.Or(otherwise, "it is not needed"), nil
	}
	if listed {
		w.mu.Lock()
		again := w.st.stepState(i) == remedies.StateSkipped && len(w.st.steps[i].items) > 0
		w.mu.Unlock()
		if again { // what was chosen before made it unnecessary; now it is not.
			return "", w.goTo(position{i, 0}, true)
		}
		return "", nil
	}
	names, err := w.itemsOf(ctx, st)
	if err != nil {
		return "", err
	}
	if len(names) == 0 {
		return "there is nothing to do it for", nil
	}
	return "", w.record(&entry{Kind: entryItems, Step: st.ID, Items: names})
}

func (w *Walk) itemsOf(ctx context.Context, st *kb.Step) ([]string, error) {
	list := w.r.cfg.Lists[st.Each]
	if list == nil {
		return nil, fmt.Errorf("step %q: there is no list of %s", st.ID, st.Each)
	}
	w.mu.Lock()
	s, err := w.sceneOf("")
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	names, err := list(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("step %q: %w", st.ID, err)
	}
	return names, nil
}

// firstOpen is the first item of a step that is not over, else the first.
func (w *Walk) firstOpen(i int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return max(0, slices.IndexFunc(w.st.steps[i].items, func(it itemState) bool { return !over(it.state) }))
}

// goTo moves the walk; anew says that the step is done once more.
func (w *Walk) goTo(p position, anew bool) error {
	w.mu.Lock()
	w.clear()
	e := &entry{Kind: entryGo, Step: w.st.steps[p.step].id, Item: w.st.steps[p.step].items[p.item].name, Anew: anew}
	w.mu.Unlock()
	return w.record(e)
}

// clear forgets what was shown for a step, when the walk goes to another one. The caller
// holds mu.
func (w *Walk) clear() {
	w.lines, w.question, w.ask, w.shown, w.commands, w.progress, w.watch = nil, nil, nil, nil, nil, nil, nil
}

// finish ends the walk. Its last words say what is there now, as it was read live, and not what
// the steps meant to do.
func (w *Walk) finish(ctx context.Context) error {
	w.mu.Lock()
	sc := w.scope("")
	w.mu.Unlock()
	w.lastLook(ctx, &sc)
	final := text.Clean(w.art.Finished.Fill(sc))
	if err := w.record(&entry{Kind: entryEnd, Note: final}); err != nil {
		return err
	}
	w.close(ctx)
	return nil
}

// lastLook says what is left, and what may be, of what the walk made, and what became of its target.
func (w *Walk) lastLook(ctx context.Context, sc *kb.Scope) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	w.mu.Lock()
	s, err := w.sceneOf("")
	w.mu.Unlock()
	if err != nil {
		return
	}
	for i := range s.Made {
		m := &s.Made[i]
		if len(m.TakesBack) > 0 {
			continue
		}
		left, err := leftOf(ctx, s, m)
		what := m.Effect.What()
		switch {
		case err != nil || left == remedies.LeftUnknown, m.Unsure && left != remedies.LeftNothing:
			sc.MaybeLeft = append(sc.MaybeLeft, what)
		case left == remedies.LeftSome || left == remedies.LeftEnding || left == remedies.LeftStuck:
			sc.Left = append(sc.Left, what)
		case m.TakenBack:
			sc.TakenBack = append(sc.TakenBack, what)
		}
	}
	sc.Target = w.r.targetNow(ctx, &s.Target)
}

// leftOf says what is left of an attempt. Of one that was taken back, it is what is still being
// deleted.
func leftOf(ctx context.Context, s *remedies.Scene, m *remedies.Made) (remedies.Left, error) {
	if !m.TakenBack {
		back, err := remedies.BackOf(ctx, s, m)
		return back.Left, err //nolint:wrapcheck // the words are not shown.
	}
	for i := range s.Made {
		by := &s.Made[i]
		if !slices.Contains(by.TakesBack, m.N) {
			continue
		}
		if words, err := remedies.StillGoing(ctx, s, by); err != nil || words != "" {
			return remedies.LeftEnding, err //nolint:wrapcheck // the words are not shown.
		}
	}
	return remedies.LeftNothing, nil
}

// Back goes to the item or the step before; what was done stays done. At the first step, and
// while it is not known whether a change was made, it does nothing.
func (w *Walk) Back() {
	w.op.Lock()
	defer w.op.Unlock()
	w.mu.Lock()
	if w.st.finished || w.left || w.st.open() != nil {
		w.mu.Unlock()
		return
	}
	to := position{-1, 0}
	if at := w.st.at; at.item > 0 {
		to = position{at.step, at.item - 1}
	} else {
		for i := at.step - 1; i >= 0 && to.step < 0; i-- {
			if w.st.stepState(i) == remedies.StateSkipped && (w.art.Steps[i].When != "" || len(w.st.steps[i].items) == 0) {
				continue
			}
			to = position{i, max(0, len(w.st.steps[i].items)-1)}
		}
	}
	w.mu.Unlock()
	if to.step >= 0 {
		_ = w.goTo(to, false) // what cannot be written down is shown as trouble.
	}
}

// Undo goes to the step that takes back what the walk changed last and has not taken back. That
// step then is previewed and confirmed like every other. Where it is not known whether the
// last change was made, that is looked at, and nothing else is done.
func (w *Walk) Undo(ctx context.Context) error {
	w.op.Lock()
	defer w.op.Unlock()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	w.mu.Lock()
	if w.st.finished || w.left {
		w.mu.Unlock()
		return remedies.Tell(remedies.ErrOver, "this walk is over")
	}
	doubt := w.st.open() != nil
	w.mu.Unlock()
	if doubt {
		return w.asked(w.enter(ctx))
	}
	w.mu.Lock()
	undo := w.nextUndo()
	var chosen []*entry
	if undo != nil {
		chosen = w.chooseFor(undo.by)
	}
	w.mu.Unlock()
	if undo == nil {
		return remedies.Tell(remedies.ErrBlocked, "there is nothing to take back")
	}
	for _, e := range chosen {
		if err := w.record(e); err != nil {
			return err
		}
	}
	if err := w.goToUndo(ctx, undo); err != nil {
		return w.asked(err)
	}
	return w.asked(w.enter(ctx))
}

// goToUndo goes to a step that takes back, in one that is done for several things to the item
// whose change is meant.
func (w *Walk) goToUndo(ctx context.Context, u *undoing) error {
	undo, name := u.by, u.item
	_, at := w.art.Step(undo.ID)
	w.mu.Lock()
	to, listed := &w.st.steps[at], w.st.steps[at].listed
	known := listed && (undo.Each == "" || slices.ContainsFunc(to.items, func(it itemState) bool { return it.name == name }))
	w.mu.Unlock()
	if !known { // what was changed counts, also where the list does not have it any more.
		names := []string{name}
		if !listed {
			now, err := w.itemsOf(ctx, undo)
			if err != nil {
				return err
			}
			names = slices.Concat(now, names)
		}
		if err := w.record(&entry{Kind: entryItems, Step: undo.ID, Items: names}); err != nil {
			return err
		}
	}
	w.mu.Lock()
	item := max(0, slices.IndexFunc(w.st.steps[at].items, func(it itemState) bool { return it.name == name }))
	w.mu.Unlock()
	return w.goTo(position{at, item}, true)
}

// undoing is a step that takes back, and the item whose change is meant.
type undoing struct {
	by   *kb.Step
	item string
}

// undoable are the steps that take back what stands, the one of the newest change first. Those of
// changes that were looked at and cannot be taken back here come last. The caller holds mu.
func (w *Walk) undoable() []undoing {
	var out []undoing
	all := w.st.stands("")
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b *attempt) int {
		switch {
		case a.untold == b.untold:
			return 0
		case a.untold:
			return 1
		}
		return -1
	})
	for _, a := range all {
		st := &w.art.Steps[a.at.step]
		undo, _ := w.art.Step(st.Undo)
		if undo == nil {
			continue
		}
		u := undoing{undo, w.st.steps[a.at.step].items[a.at.item].name}
		if !slices.ContainsFunc(out, func(o undoing) bool { return o.by == u.by && (undo.Each == "" || o.item == u.item) }) {
			out = append(out, u)
		}
	}
	return out
}

// nextUndo is what u goes to: the step that takes back the newest change that stands; nil for
// none. Where the walk is there already and sees nothing that can be taken back, it is the one of
// the change before, so that what cannot be told does not stand in the way of the others. The
// caller holds mu.
func (w *Walk) nextUndo() *undoing {
	all := w.undoable()
	if len(all) == 0 {
		return nil
	}
	next := 0
	if w.shown != nil && w.shown.plan.Effect == nil {
		at := slices.IndexFunc(all, func(u undoing) bool {
			return u.by.ID == w.step().ID && (u.by.Each == "" || u.item == w.st.item().name)
		})
		next = (at + 1) % len(all)
	}
	return &all[next]
}

// chooseFor are the choices to record so that a step is not skipped: with them its condition,
// when, is true. The caller holds mu.
func (w *Walk) chooseFor(st *kb.Step) []*entry {
	if st.When == "" || st.When.Fill(w.scope("")) == "true" {
		return nil
	}
	for i := range w.art.Steps {
		q := &w.art.Steps[i]
		p, ok := q.Params.(interface{ Options() []string })
		if !ok {
			continue
		}
		for _, o := range p.Options() {
			sc := w.scope("")
			sc.Choice[q.ID] = o
			if st.When.Fill(sc) == "true" {
				return []*entry{{Kind: entryChoice, Step: q.ID, Choice: o, Note: "to take back what was changed"}}
			}
		}
	}
	return nil
}

// Leave puts the walk aside: it stays in the journal if anything was done in it, and the
// Lease is given back. The walk must not be used afterwards.
func (w *Walk) Leave() {
	w.op.Lock()
	defer w.op.Unlock()
	w.mu.Lock()
	if w.left {
		w.mu.Unlock()
		return
	}
	if w.st.finished {
		w.left = true
		w.mu.Unlock()
		return
	}
	idle := w.idle()
	w.mu.Unlock()
	if w.journal != nil {
		e := &entry{Kind: entryLeave}
		if idle {
			e = &entry{Kind: entryEnd, Note: "left before anything was done"}
		}
		_ = w.record(e) // what cannot be written down is not needed to go on.
	}
	w.mu.Lock()
	w.left = true
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	w.close(ctx)
}

// idle says whether nothing was done in the walk that is worth coming back to. The caller
// holds mu.
func (w *Walk) idle() bool {
	for i := range w.art.Steps {
		switch w.action(&w.art.Steps[i]).Kind() {
		case remedies.StepChange, remedies.StepManual:
			for _, it := range w.st.steps[i].items {
				if it.state != remedies.StatePending && it.state != remedies.StateSkipped {
					return false
				}
			}
		case remedies.StepLook, remedies.StepChoose, remedies.StepWait:
		}
	}
	return len(w.st.attempts) == 0
}

// giveBackLeases takes our name off the Leases. Nothing was written, and nothing is, where nothing
// may be changed.
func (w *Walk) giveBackLeases(ctx context.Context) error {
	if w.r.cfg.ReadOnly != "" {
		return nil
	}
	return w.leases.giveBack(ctx)
}

// close gives back the Lease and closes the journal.
func (w *Walk) close(ctx context.Context) {
	if err := w.giveBackLeases(ctx); err != nil {
		w.mu.Lock()
		w.trouble = remedies.Short(err)
		w.mu.Unlock()
	}
	w.mu.Lock()
	w.journal.close()
	w.journal = nil
	w.mu.Unlock()
	w.r.closed(w)
}

// record writes an entry down and changes the state by it. Where it cannot be written, the
// walk goes on, the view says so, and it is written before the next one. A line that has to be
// on the disk before a change is sent goes through [Walk.recordBefore].
func (w *Walk) record(e *entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stamp(e)
	if w.r.cfg.ReadOnly == "" {
		w.unwritten = append(w.unwritten, e)
		w.trouble = ""
		if err := w.flush(); err != nil {
			w.trouble = remedies.Short(err) + "; a crash would not be remembered"
		}
	}
	return w.st.fold(e)
}

// recordBefore writes the line that has to be on the disk before a change is sent. Where it
// cannot be written, the state stays as it was, and the caller sends nothing.
func (w *Walk) recordBefore(e *entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stamp(e)
	w.unwritten = append(w.unwritten, e)
	if err := w.flush(); err != nil {
		w.unwritten = slices.DeleteFunc(w.unwritten, func(x *entry) bool { return x == e })
		return remedies.Tell(remedies.ErrJournal, "nothing was applied: "+err.Error())
	}
	return w.st.fold(e)
}

func (w *Walk) stamp(e *entry) {
	e.V, e.At = journalVersion, w.r.cfg.Now().UTC().Round(0)
}

// flush writes what is not written yet. The caller holds mu.
func (w *Walk) flush() error {
	if w.journal == nil {
		j, err := createJournal(w.r.disk, w.r.cfg.JournalDir, w.st.begin.ID)
		if err != nil {
			return err
		}
		first := &entry{Kind: entryBegin, Begin: &w.st.begin, Who: w.r.cfg.Who, V: journalVersion, At: w.st.began}
		if err := j.write(first); err != nil {
			j.discard()
			return err
		}
		w.journal = j
	}
	for len(w.unwritten) > 0 {
		if err := w.journal.write(w.unwritten[0]); err != nil {
			return err
		}
		w.unwritten = w.unwritten[1:]
	}
	return nil
}

// keepsJournal says why the journal cannot be kept; empty when it can. It is called for each
// preview, so that the engineer reads there what blocks the change, and not only after the key.
func (w *Walk) keepsJournal() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.flush(); err != nil {
		w.trouble = remedies.Short(err) + "; a crash would not be remembered"
		return remedies.Short(err)
	}
	w.trouble = ""
	return ""
}

// View is the walk as the screen shows it. It asks nothing of anybody.
func (w *Walk) View() remedies.View {
	w.mu.Lock()
	defer w.mu.Unlock()
	b, item := &w.st.begin, w.st.item().name
	sc := w.scope(item)
	v := remedies.View{ID: b.ID, Article: w.art.ID, Title: text.Clean(w.art.Title.Fill(sc)), KB: w.art.KB, Address: w.art.Address,
		Cluster: b.Cluster, Supervisor: w.r.cfg.Context, Target: text.Clean(cmp.Or(w.art.Target.Fill(sc), b.Target.Ref.Name)), Current: w.st.at.step,
		Facts: slices.Clone(w.lines), Choice: w.question, Commands: slices.Clone(w.commands), Progress: w.progress,
		ReadOnly: w.r.cfg.ReadOnly, Resumed: w.resumed, Finished: w.st.finished, FinishedWords: w.st.final}
	if w.st.finished {
		v.Current = len(w.art.Steps)
	}
	for _, t := range w.art.Warnings {
		v.Warnings = append(v.Warnings, text.Clean(t.Fill(sc)))
	}
	for i := range w.art.Steps {
		v.Steps = append(v.Steps, w.stepView(i, sc))
	}
	if w.ask != nil {
		a := w.ask.Ask
		v.Ask = &a
	}
	if w.shown != nil {
		p := w.shown.preview()
		for _, o := range w.others {
			p.Warnings = append(p.Warnings, o.words())
		}
		v.Preview = &p
	}
	for _, d := range w.st.owed() {
		v.Debts = append(v.Debts, w.r.debtView(d.takes))
	}
	for _, p := range w.others {
		v.Others = append(v.Others, p.words())
	}
	for _, t := range []string{w.unseen, w.trouble} {
		if t != "" {
			v.Trouble = append(v.Trouble, t)
		}
	}
	return v
}

func (w *Walk) stepView(i int, sc kb.Scope) remedies.StepView {
	st, at := &w.art.Steps[i], &w.st.steps[i]
	v := remedies.StepView{ID: st.ID, Title: text.Clean(st.Title.Fill(sc)), Why: text.Clean(st.Why.Fill(sc)), Kind: w.action(st).Kind(), State: w.st.stepState(i),
		Undoable: st.Undo != "" && len(w.st.stands(st.ID)) > 0}
	here := i == w.st.at.step && !w.st.finished
	if here {
		v.State = w.st.item().state
		if v.State == remedies.StatePending {
			v.State = remedies.StateCurrent
		}
	}
	if len(at.items) == 1 {
		v.Note = at.items[0].note
	}
	if st.Each == "" {
		return v
	}
	for j, it := range at.items {
		x := remedies.ItemView{Name: it.name, State: it.state, Note: it.note}
		if here && j == w.st.at.item && x.State == remedies.StatePending {
			x.State = remedies.StateCurrent
		}
		v.Items = append(v.Items, x)
	}
	if here {
		v.Note = w.st.item().note
	}
	return v
}

func tokenOf(walk string, n int, digest string) string {
	return walk + "/" + strconv.Itoa(n) + "/" + digest
}
