package walk

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/kb"
)

// shownPlan is a preview on the screen: what Apply has to find again.
type shownPlan struct {
	plan  *remedies.Plan
	binds []string
	token string
	// back says what is left of what the step takes back, in a plan that has nothing to do.
	back lookedBack
	// present are the walks of the engineers who were there.
	present []string
	moved   []remedies.Line
	// blind says why nobody else can be seen; empty when they can.
	blind string
}

func (p *shownPlan) preview() remedies.Preview {
	pv := p.plan.Preview
	pv.Token, pv.Moved = p.token, p.moved
	pv.Warnings = slices.Clone(pv.Warnings)
	if p.blind != "" {
		pv.Warnings = append(pv.Warnings, p.blind)
	}
	return pv
}

// newPlan is a plan with all that belongs to it, as it was computed at one moment.
type newPlan struct {
	plan   *remedies.Plan
	binds  []string
	back   lookedBack
	others []presence
	blind  string
}

// enterChange looks whether what was applied holds, where something was, and else computes
// the preview of the current step.
func (w *Walk) enterChange(ctx context.Context, s *remedies.Scene, st *kb.Step, a remedies.Changer) error {
	w.mu.Lock()
	state := w.st.item().state
	w.mu.Unlock()
	switch state {
	case remedies.StateDone, remedies.StateByHand, remedies.StateFailed, remedies.StateUnchecked:
		w.mu.Lock()
		w.watch, w.shown = nil, nil
		w.mu.Unlock()
		p, err := w.look(ctx, s, st, a.Verify)
		if err != nil {
			return err
		}
		if !p.Done || p.Failed == "" {
			return nil
		}
		w.mu.Lock()
		w.progress = nil
		w.mu.Unlock()
	case remedies.StatePending, remedies.StateCurrent, remedies.StateSkipped, remedies.StateUndone, remedies.StateUnsure, remedies.StateNotSeen:
	}
	p, err := w.compute(ctx, s, st, a)
	if err != nil {
		return err
	}
	w.show(p, nil)
	return nil
}

// compute makes the plan, asks the place to try it without writing, reads the guards and the
// identity of the place, and looks who else is at work. It writes nothing but our own journal.
func (w *Walk) compute(ctx context.Context, s *remedies.Scene, st *kb.Step, a remedies.Changer) (*newPlan, error) {
	const races = 3
	var p *remedies.Plan
	for range races {
		var err error
		if p, err = a.Plan(ctx, s); err != nil {
			return nil, err //nolint:wrapcheck // an action's words are for the engineer.
		}
		moving, err := w.tryOut(ctx, s, p)
		if err != nil {
			return nil, err
		}
		if !moving {
			break
		}
	}
	if err := w.guards(ctx, s, st, p); err != nil {
		return nil, err
	}
	var back lookedBack
	if p.Preview.Done != "" {
		back = w.lookBack(ctx, s, st)
	}
	if p.Effect != nil {
		if len(s.Unknown) > 0 {
			block(p, "the finding does not say "+remedies.List(s.Unknown))
		}
		block(p, w.r.unkept(p.Effect))
		marks, why, err := w.identity(ctx, p.Effect.Place())
		if err != nil {
			return nil, err
		}
		p.Place = marks
		block(p, why)
		if why := w.r.cfg.ReadOnly; why != "" {
			p.Preview.Blocked = "read-only: " + why
		} else if why := w.keepsJournal(); why != "" {
			block(p, "nothing can be applied while the journal cannot be written: "+why)
		}
	}
	see, cancel := context.WithTimeout(ctx, leaseTimeout)
	defer cancel()
	others, blind := w.leases.others(see, p.Wide)
	return &newPlan{plan: p, binds: p.Binds(), back: back, others: others, blind: blind}, nil
}

// block blocks a plan for a reason, unless another one stands there already.
func block(p *remedies.Plan, why string) {
	if why != "" && p.Preview.Blocked == "" && p.Preview.Done == "" {
		p.Preview.Blocked = why
	}
}

// identity reads which place this is, and says why nothing may be written to it; empty when it
// may. The error is a question that has to be answered first.
func (w *Walk) identity(ctx context.Context, p model.Place) (now model.Marks, why string, err error) {
	w.mu.Lock()
	namespace, begun := w.st.begin.Cluster.Namespace, w.st.begin.Supervisor
	var before *model.Marks
	for i := range w.st.attempts {
		a := &w.st.attempts[i]
		if e, err := a.effect.effect(w.r.cfg.Effects); err == nil && e.Place() == p {
			before = &a.place
		}
	}
	w.mu.Unlock()
	now, err = w.r.cfg.Sites.Marks(ctx, p, namespace)
	if isQuestion(err) {
		return now, "", err //nolint:wrapcheck // it is asked.
	}
	if err != nil {
		return now, "it cannot be told whether this is still " + p.String() + ": " + remedies.Short(err), nil
	}
	if p.Kind == model.PlaceSupervisor {
		before = &begun
	}
	if before == nil {
		return now, "", nil
	}
	if same, why := model.Same(*before, now); !same {
		return now, why, nil
	}
	return now, "", nil
}

// isQuestion says whether an error is a question that has to be answered first.
func isQuestion(err error) bool {
	var q *remedies.Asking
	return errors.As(err, &q)
}

// tryOut does the dry runs and writes down what they say. moving says that the object changed
// between the plan and the dry run, so that the plan has to be made anew.
func (w *Walk) tryOut(ctx context.Context, s *remedies.Scene, p *remedies.Plan) (moving bool, err error) {
	pv := &p.Preview
	if p.Effect == nil {
		return false, nil
	}
	if pv.Confirm == "" {
		pv.Confirm = remedies.ConfirmKey
	}
	a, err := p.Effect.DryRun(ctx, s.Sites)
	if err != nil {
		return false, err //nolint:wrapcheck // a place's words are for the engineer.
	}
	pv.Server, pv.May, pv.MaySays, pv.Diff, pv.YAML = a.Server, a.May, a.MaySays, a.Diff, a.YAML
	block(p, a.Blocked)
	c := p.Effect.Command(s.Sites)
	pv.Command, pv.Shown = c.Text, c.Shown
	for _, e := range p.AlsoTry {
		also, err := e.DryRun(ctx, s.Sites)
		if err != nil {
			return false, err //nolint:wrapcheck // a place's words are for the engineer.
		}
		if also.Blocked != "" {
			block(p, "to "+e.What()+" afterwards: "+also.Blocked)
		}
	}
	return a.Moving, nil
}

// guards reads the conditions that the step needs.
func (w *Walk) guards(ctx context.Context, s *remedies.Scene, st *kb.Step, p *remedies.Plan) error {
	for _, name := range st.Needs {
		read := w.r.cfg.Guards[name]
		if read == nil {
			return fmt.Errorf("step %q needs %q, which this vksmedic does not know", st.ID, name)
		}
		g, err := read(ctx, s)
		if isQuestion(err) {
			return err
		}
		if err != nil {
			g = remedies.Guard{Holds: model.Unknown, Words: remedies.Short(err)}
		}
		g.Name = name
		p.Guards = append(p.Guards, g)
		if g.Holds != model.Yes && p.Effect != nil {
			block(p, g.Words)
		}
	}
	return nil
}

// show puts a preview on the screen, with a token of its own.
func (w *Walk) show(p *newPlan, moved []remedies.Line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.previews++
	sum := sha256.Sum256([]byte(strings.Join(p.binds, "\n")))
	w.shown = &shownPlan{plan: p.plan, binds: p.binds, back: p.back, token: tokenOf(w.st.begin.ID, w.previews, hex.EncodeToString(sum[:6])),
		present: walksOf(p.others), moved: moved, blind: p.blind}
	w.others = p.others
}

func walksOf(others []presence) []string {
	var out []string
	for _, o := range others {
		out = append(out, o.walk)
	}
	return out
}

// movedSince compares what was shown with what is so now, and who was there with who is. That
// others cannot be seen any more is a warning that was not shown.
func movedSince(shown *shownPlan, now *newPlan) []remedies.Line {
	out := remedies.Moved(shown.binds, now.binds)
	if now.blind != "" && now.blind != shown.blind {
		out = append(out, remedies.Line{Sign: '!', Text: text.Clean(now.blind)})
	}
	return append(out, newcomers(shown.present, now.others)...)
}

func newcomers(present []string, others []presence) []remedies.Line {
	var out []remedies.Line
	for _, o := range others {
		if !slices.Contains(present, o.walk) {
			out = append(out, remedies.Line{Sign: '!', Text: text.Clean(o.who + " on " + o.host + " has begun to work here")})
		}
	}
	return out
}

// Apply applies the preview whose token is given, after checking again that nothing
// moved. typed is what the engineer typed where the preview asks for a name.
func (w *Walk) Apply(ctx context.Context, token, typed string) error {
	w.op.Lock()
	defer w.op.Unlock()
	s, st, err := w.scene()
	if err != nil {
		return err
	}
	a, ok := w.action(st).(remedies.Changer)
	if !ok {
		return remedies.Tell(remedies.ErrToken, "this step changes nothing")
	}
	w.mu.Lock()
	shown, open := w.shown, w.st.open() != nil
	w.mu.Unlock()
	if err := w.confirmed(shown, token, typed); err != nil {
		return err
	}
	if open {
		return remedies.Tell(remedies.ErrUnclear, "it is not known yet whether the last change was made: r looks again")
	}
	look, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	fresh, err := w.compute(look, s, st, a)
	if err != nil {
		return w.asked(err)
	}
	if m := movedSince(shown, fresh); len(m) > 0 {
		w.show(fresh, m)
		return remedies.Tell(remedies.ErrMoved, "what you saw has changed meanwhile; nothing was applied, look again")
	}
	// From here on it goes on even if the engineer leaves; each part has a deadline of its own.
	return w.asked(w.apply(context.WithoutCancel(ctx), s, st, a, fresh.plan))
}

// confirmed checks the engineer's side of a confirmation.
func (w *Walk) confirmed(shown *shownPlan, token, typed string) error {
	if w.r.cfg.ReadOnly != "" {
		return remedies.Tell(remedies.ErrReadOnly, "nothing is changed: "+w.r.cfg.ReadOnly)
	}
	if shown == nil || token == "" || token != shown.token {
		return remedies.Tell(remedies.ErrToken, "this is not the preview on the screen; nothing was applied, look again")
	}
	pv := &shown.plan.Preview
	switch {
	case pv.May == model.No:
		return remedies.Tell(remedies.ErrForbidden, pv.Blocked)
	case pv.Blocked != "":
		return remedies.Tell(remedies.ErrBlocked, pv.Blocked)
	case pv.Done != "" || shown.plan.Effect == nil:
		return remedies.Tell(remedies.ErrBlocked, "there is nothing to do: "+pv.Done)
	case pv.Confirm == remedies.ConfirmName && typed != pv.ConfirmName:
		return remedies.Tell(remedies.ErrTyped, "type "+pv.ConfirmName+" to confirm; nothing was applied")
	}
	return nil
}

// apply takes the Lease, writes the line before, sends the change, looks where the answer does
// not settle what became of it, writes the line after, and verifies.
func (w *Walk) apply(ctx context.Context, s *remedies.Scene, st *kb.Step, a remedies.Changer, p *remedies.Plan) error {
	came, err := w.takeLease(ctx, p.Wide)
	if err != nil {
		return err
	}
	if len(came) > 0 {
		return w.again(ctx, s, st, a, came)
	}
	read, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if now, why, err := w.identity(read, p.Effect.Place()); err != nil {
		return err
	} else if why != "" {
		return remedies.Tell(remedies.ErrOtherSupervisor, "nothing was applied: "+why)
	} else if same, why := model.Same(p.Place, now); !same {
		return remedies.Tell(remedies.ErrOtherSupervisor, "nothing was applied: "+why)
	}
	c, err := carry(p.Effect)
	if err != nil {
		return err
	}
	at := s.Next
	before := &entry{Kind: entryBefore, Step: st.ID, Item: s.Item, Attempt: at.N, Effect: c, Place: &p.Place,
		TakesBack: p.TakesBack, Takes: p.Takes, Pays: p.Pays, Wide: p.Wide, Who: w.r.cfg.Who}
	if err := w.recordBefore(before); err != nil {
		return err
	}
	at.Sent = before.At
	w.mu.Lock()
	w.shown = nil
	w.mu.Unlock()
	send, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	start := w.r.cfg.Now()
	got, err := p.Effect.Send(send, s.Sites, at)
	w.underWay(at)
	w.r.log(p.Effect, w.r.cfg.Context+": "+text.Clean(st.Title.Fill(kb.Scope{}))+", "+s.Cluster.String(), err, start)
	if err == nil {
		return w.made(ctx, outcomeMade, got, "")
	}
	if isQuestion(err) { // it came up in place of the write.
		if e := w.after(at, outcomeRefused, remedies.Receipt{}, "a question came up first"); e != nil {
			return e
		}
		return err //nolint:wrapcheck // it is asked.
	}
	return w.unanswered(ctx, s, st, a, p, at, err)
}

// unanswered settles an attempt that was not answered with yes. Some refusals can come although
// the place has written the change, and no answer says nothing: in both cases the walk looks
// for the mark before it believes anything.
func (w *Walk) unanswered(ctx context.Context, s *remedies.Scene, st *kb.Step, a remedies.Changer, p *remedies.Plan, at remedies.Attempt, why error) error {
	look, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	seen, lookErr := p.Effect.Look(look, s.Sites, at)
	var no *remedies.Refusal
	refused := errors.As(why, &no)
	switch {
	case lookErr == nil && seen.Happened == remedies.HappenedYes:
		return w.made(ctx, outcomeMade, seen.Receipt, "the answer was "+remedies.Short(why)+"; the change was found made")
	case refused && !no.Doubtful, refused && lookErr == nil && (seen.Happened == remedies.HappenedNo || seen.Unmarked):
		// It was sent once and refused, and no mark was found that says otherwise. That holds for a
		// conflict also where others changed the same fields: our write, had it been stored and
		// then sent again by somebody on the way, would have its mark, unless others wrote over
		// every field of it between the answer and the look. The conflict says by itself that
		// others wrote, so it is believed. Where the server has filed earlier field managers
		// together, or the write leaves no mark, no mark says nothing: that stays in doubt.
		if err := w.after(at, outcomeRefused, remedies.Receipt{}, no.Words); err != nil {
			return err
		}
		if errors.Is(no, remedies.ErrMoved) {
			return w.again(ctx, s, st, a, []remedies.Line{{Sign: '!', Text: text.Clean(no.Words)}})
		}
		return remedies.Tell(no.Err, "not applied: "+no.Words)
	case lookErr == nil && seen.Happened == remedies.HappenedSo:
		return w.made(ctx, outcomeSo, seen.Receipt, seen.Words)
	case lookErr == nil && seen.Happened == remedies.HappenedNo && seen.Never:
		if err := w.after(at, outcomeNot, remedies.Receipt{}, seen.Words); err != nil {
			return err
		}
		return w.again(ctx, s, st, a, []remedies.Line{{Sign: '!', Text: text.Clean(seen.Words)}})
	case lookErr == nil && seen.Happened == remedies.HappenedUnsure:
		if err := w.after(at, outcomeUnsure, remedies.Receipt{}, seen.Words); err != nil {
			return err
		}
		answer := "no answer (" + remedies.Short(why) + ")"
		if refused {
			answer = "the answer was " + no.Words
		}
		return remedies.Tell(remedies.ErrUnclear, answer+", and it cannot be told whether it was applied: "+seen.Words)
	case lookErr == nil:
		return w.stillOpen(at, "no answer ("+remedies.Short(why)+"); "+seen.Words)
	}
	return w.stillOpen(at, "no answer ("+remedies.Short(why)+"); "+remedies.Short(lookErr))
}

// stillOpen says that it is not known yet what became of an attempt, and until when it may still
// be under way.
func (w *Walk) stillOpen(at remedies.Attempt, words string) error {
	if left := w.underWay(at); left > 0 {
		words += "; it may still be under way until " + w.r.cfg.Now().UTC().Add(left).Format("15:04:05Z")
	}
	return remedies.Tell(remedies.ErrUnclear, words+"; r looks again, and nothing else is done before")
}

// underWay is for how long an attempt that was not answered may still be under way; not above zero
// when it cannot be any more. The time begins when it is asked for first: when Send returns, or
// when the walk is picked up. The times in the journal are not used: clocks are set.
func (w *Walk) underWay(at remedies.Attempt) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.r.cfg.Elapsed()
	if _, known := w.waited[at.N]; !known {
		w.waited[at.N] = now
	}
	return w.waited[at.N] + effect.UnderWay - now
}

// settle finds out what became of the attempt that is open, where one is, and writes it down.
// The error says that it is still not known.
func (w *Walk) settle(ctx context.Context) error {
	w.mu.Lock()
	open := w.st.open()
	if open == nil || w.left {
		w.mu.Unlock()
		return nil
	}
	a := *open
	w.mu.Unlock()
	e, err := a.effect.effect(w.r.cfg.Effects)
	if err != nil {
		return err
	}
	why, err := w.samePlace(ctx, e.Place(), a.place)
	if err != nil {
		return err
	}
	if why != "" {
		return remedies.Tell(remedies.ErrOtherSupervisor, "whether the last change was made can be seen only at the place that it was sent to: "+why)
	}
	left := w.underWay(a.Attempt) // before the look: what comes while it looks is not missed.
	look, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	seen, err := e.Look(look, w.r.cfg.Sites, a.Attempt)
	if err != nil {
		return w.stillOpenOr(err, a.Attempt)
	}
	switch seen.Happened {
	case remedies.HappenedYes:
		return w.made(ctx, outcomeMade, seen.Receipt, "")
	case remedies.HappenedSo:
		return w.made(ctx, outcomeSo, seen.Receipt, seen.Words)
	case remedies.HappenedUnsure:
		return w.after(a.Attempt, outcomeUnsure, remedies.Receipt{}, seen.Words)
	case remedies.HappenedNo:
	}
	if !seen.Never && left > 0 {
		return w.stillOpen(a.Attempt, seen.Words)
	}
	return w.after(a.Attempt, outcomeNot, remedies.Receipt{}, seen.Words)
}

func (w *Walk) stillOpenOr(err error, at remedies.Attempt) error {
	if isQuestion(err) {
		return err
	}
	return w.stillOpen(at, remedies.Short(err))
}

// samePlace says why a place is not the one that an attempt was sent to; empty when it is. The
// error is a question that has to be answered first.
func (w *Walk) samePlace(ctx context.Context, p model.Place, then model.Marks) (why string, err error) {
	now, err := w.r.cfg.Sites.Marks(ctx, p, w.st.begin.Cluster.Namespace)
	if isQuestion(err) {
		return "", err //nolint:wrapcheck // it is asked.
	}
	if err != nil {
		return remedies.Short(err), nil
	}
	if same, why := model.Same(then, now); !same {
		return why, nil
	}
	return "", nil
}

// after writes down what became of an attempt.
func (w *Walk) after(at remedies.Attempt, o outcome, got remedies.Receipt, note string) error {
	e := &entry{Kind: entryAfter, Attempt: at.N, Outcome: o, Note: text.Clean(note)}
	if got != (remedies.Receipt{}) {
		e.Receipt = &got
	}
	return w.record(e)
}

// made writes down that the open attempt was made, and verifies it with what is read anew.
func (w *Walk) made(ctx context.Context, o outcome, got remedies.Receipt, note string) error {
	w.mu.Lock()
	open := *w.st.open()
	w.mu.Unlock()
	if err := w.after(open.Attempt, o, got, note); err != nil {
		return err
	}
	w.mu.Lock()
	w.shown, w.watch, w.progress = nil, nil, nil
	w.mu.Unlock()
	s, st, err := w.scene()
	if err != nil {
		return err
	}
	if o == outcomeSo && open.takes != nil {
		if gone, err := w.r.debtGone(ctx, open.takes); err == nil && gone != "" {
			if err := w.record(&entry{Kind: entryPaid, Step: st.ID, Item: s.Item, TakesBack: []int{open.N}, Note: gone}); err != nil {
				return err
			}
			return remedies.Tell(remedies.ErrNotDone, gone+": nothing is taken, and nothing is owed")
		}
	}
	a, ok := w.action(st).(remedies.Changer)
	if !ok {
		return nil
	}
	check, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	p, err := w.look(check, s, st, a.Verify)
	switch {
	case err != nil:
		// Not reachable is unknown, not done: r looks again.
		return w.record(&entry{Kind: entryCheck, Step: st.ID, Item: s.Item, Result: resultUnknown,
			Note: "applied; whether it works could not be read: " + remedies.Short(err)})
	case p.Done && p.Failed != "" && len(open.takesBack) > 0:
		return w.takeBackMore(ctx, st, s.Item, a, p.Failed)
	case p.Done && p.Failed != "":
		return remedies.Tell(remedies.ErrNotDone, "it was applied, but: "+p.Failed)
	}
	return nil
}

// takeBackMore shows the next thing to take back, where a step changed more than one.
func (w *Walk) takeBackMore(ctx context.Context, st *kb.Step, item string, a remedies.Changer, words string) error {
	if err := w.record(&entry{Kind: entryCheck, Step: st.ID, Item: item, Result: resultMore, Note: text.Clean(words)}); err != nil {
		return err
	}
	s, st, err := w.scene()
	if err != nil {
		return err
	}
	ask, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	w.mu.Lock()
	w.progress, w.watch = nil, nil
	w.mu.Unlock()
	p, err := w.compute(ask, s, st, a)
	if err != nil {
		return err
	}
	w.show(p, nil)
	return nil
}

// again computes a new preview after a change was not applied.
func (w *Walk) again(ctx context.Context, _ *remedies.Scene, _ *kb.Step, a remedies.Changer, m []remedies.Line) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	s, st, err := w.scene()
	if err != nil {
		return err
	}
	w.mu.Lock()
	old := w.shown
	w.mu.Unlock()
	fresh, err := w.compute(ctx, s, st, a)
	if err != nil {
		return fmt.Errorf("it changed meanwhile and nothing was applied; looking again failed: %w", err)
	}
	if old != nil {
		m = append(m, movedSince(old, fresh)...)
	}
	w.show(fresh, dropTwice(m))
	return remedies.Tell(remedies.ErrMoved, "what you saw has changed meanwhile; nothing was applied, look again")
}

func dropTwice(lines []remedies.Line) []remedies.Line {
	var out []remedies.Line
	for _, l := range lines {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// ByHand is the engineer's word that the step was done elsewhere. It is looked at; nothing
// is written to the cluster.
func (w *Walk) ByHand(ctx context.Context) error {
	w.op.Lock()
	defer w.op.Unlock()
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if err := w.settle(ctx); err != nil {
		return w.asked(err)
	}
	s, st, err := w.scene()
	if err != nil {
		return err
	}
	var watch remedies.Watch
	switch a := w.action(st).(type) {
	case remedies.Changer:
		watch = a.Verify(s)
	case remedies.Manual:
		// It may have to stay so for a while: the watch remembers since when it was, from one
		// key press to the next.
		w.mu.Lock()
		if w.watch == nil {
			w.watch = a.Verify(s)
		}
		watch = w.watch
		w.mu.Unlock()
	default:
		return remedies.Tell(remedies.ErrBlocked, "this step changes nothing")
	}
	p, err := watch(ctx)
	if err != nil {
		return w.asked(err)
	}
	if p.Failed != "" {
		w.mu.Lock()
		w.watch = nil
		w.mu.Unlock()
	}
	if !p.Done || p.Failed != "" {
		return remedies.Tell(remedies.ErrNotDone, "not done yet: "+cmp.Or(p.Failed, p.Last))
	}
	back := w.lookBack(ctx, s, st)
	if err := w.record(&entry{Kind: entryCheck, Step: st.ID, Item: s.Item, Result: resultByHand, Note: text.Clean(p.Last),
		Until: w.r.cfg.Now().UTC().Round(0), TakesBack: back.gone, Untold: back.untold}); err != nil {
		return err
	}
	w.mu.Lock()
	w.shown, w.progress = nil, nil
	w.mu.Unlock()
	return nil
}

// Watch looks, at the Lease's pace, who else is at work while a preview is open, and calls
// changed when the view has changed. When somebody comes while a preview is open, the preview
// gets a new token, so that the engineer has to look again. Watch writes nothing, and returns
// when ctx ends.
func (w *Walk) Watch(ctx context.Context, changed func()) error {
	for {
		t := time.NewTimer(w.r.cfg.LeasePace)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil
		case <-t.C:
		}
		if w.lookAround(ctx) {
			changed()
		}
	}
}

// lookAround says whether somebody came or left.
func (w *Walk) lookAround(ctx context.Context) bool {
	w.op.Lock()
	defer w.op.Unlock()
	w.mu.Lock()
	shown := w.shown
	gone := w.left || w.st.finished
	w.mu.Unlock()
	if shown == nil || gone {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, leaseTimeout)
	defer cancel()
	others, blind := w.leases.others(ctx, shown.plan.Wide)
	if ctx.Err() != nil {
		return false
	}
	now := &newPlan{plan: shown.plan, binds: shown.binds, back: shown.back, others: others, blind: blind}
	m := movedSince(shown, now)
	w.mu.Lock()
	same := slices.Equal(walksOf(w.others), walksOf(others)) && blind == shown.blind && len(m) == 0
	w.others = others
	if w.shown == shown && len(m) == 0 && blind != shown.blind { // a warning less is no other preview.
		seen := *shown
		seen.blind = blind
		w.shown = &seen
	}
	w.mu.Unlock()
	if len(m) > 0 {
		w.show(now, m)
	}
	return !same
}
