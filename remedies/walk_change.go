package remedies

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"vksmedic/model"
	"vksmedic/model/text"
)

// enterChange computes the preview of the current step.
func (w *Walk) enterChange(ctx context.Context, s *scene, st *Step, a changer) error {
	w.mu.Lock()
	settled := w.steps[w.current].state
	w.mu.Unlock()
	if settled == StateUnsure {
		if err := w.settle(ctx, st, a, s); err != nil {
			return err
		}
	}
	p, others, blind, err := w.compute(ctx, s, a)
	if err != nil {
		return err
	}
	w.show(p, others, blind, nil)
	return nil
}

// compute makes the plan, asks the server to try it without storing anything, and
// looks who else is at work. It writes nothing.
func (w *Walk) compute(ctx context.Context, s *scene, a changer) (*plan, []presence, string, error) {
	const races = 3
	var p *plan
	for range races {
		var err error
		if p, err = a.plan(ctx, s); err != nil {
			return nil, nil, "", err
		}
		if p.change == nil || w.tryOut(ctx, s, p) {
			break
		}
	}
	others, blind := w.lease.others(ctx)
	pv := &p.preview
	for _, o := range others {
		pv.Warnings = append(pv.Warnings, o.words(w.r.cfg.Now()))
	}
	if blind != "" {
		pv.Warnings = append(pv.Warnings, blind)
	}
	if ro := w.r.cfg.ReadOnly; ro != "" && p.change != nil {
		pv.Blocked = "read-only: " + ro
	}
	return p, others, blind, nil
}

// tryOut does the dry run and writes down what it says. It returns false when the object
// changed between the plan and the dry run, so that the plan has to be made anew.
func (w *Walk) tryOut(ctx context.Context, s *scene, p *plan) bool {
	c, pv := p.change, &p.preview
	if pv.Confirm == "" {
		pv.Confirm = ConfirmKey
	}
	after := c.Want
	got, err := c.send(ctx, s.sup.Dynamic(), true)
	switch {
	case err == nil:
		pv.Server, pv.May = "accepted (dry run)", model.Yes
		pv.MaySays = fmt.Sprintf("%s %s in %s", c.Verb, c.Resource, c.Namespace)
		if got != nil {
			after = bare(got)
		}
	case apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) || (apierrors.IsNotFound(err) && c.Verb != verbCreate):
		pv.Server, pv.Blocked = "it is being changed by somebody else right now", "it is being changed by somebody else right now; look again"
		return false
	case apierrors.IsForbidden(err) && !deniedByWebhook(err):
		pv.Server, pv.May, pv.MaySays = "refused (dry run)", model.No, short(err)
		pv.Blocked = fmt.Sprintf("you may not %s %s in %s: %s", c.Verb, c.Resource, c.Namespace, short(err))
	case answered(err):
		pv.Server, pv.May = "refused (dry run): "+short(err), model.Unknown
		pv.MaySays = w.ask(ctx, s, c)
		pv.Blocked = "the server does not accept it: " + short(err)
	default:
		pv.Server, pv.May = "no answer to the dry run: "+short(err), model.Unknown
		pv.MaySays = w.ask(ctx, s, c)
		pv.Blocked = "the server did not answer the dry run, so nothing is applied: " + short(err)
	}
	pv.Diff = c.diff(after)
	pv.YAML = yamlOf(c.object().Object)
	if c.Verb == verbDelete {
		pv.Diff, pv.YAML = c.diff(nil), ""
	}
	pv.Command = c.command(w.r.cfg.Context)
	return true
}

// ask asks RBAC alone, where the dry run could not tell.
func (w *Walk) ask(ctx context.Context, s *scene, c *change) string {
	review := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]any{"group": c.Group, "resource": c.Resource, "verb": string(c.Verb),
			"namespace": c.Namespace, "name": c.Name}}}}
	gvr := schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}
	got, err := s.sup.Dynamic().Resource(gvr).Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return "not known: " + short(err)
	}
	if allowed, _, _ := unstructured.NestedBool(got.Object, "status", "allowed"); allowed {
		return "RBAC allows it; admission was not asked"
	}
	return "RBAC does not allow it"
}

// show puts a preview on the screen, with a token of its own.
func (w *Walk) show(p *plan, others []presence, blind string, moved []Line) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.previews++
	sum := sha256.Sum256([]byte(strings.Join(p.print(), "\n")))
	pv := p.preview
	pv.Token = fmt.Sprintf("%s/%d/%s", w.begin.ID, w.previews, hex.EncodeToString(sum[:6]))
	pv.Moved = moved
	w.plan, w.preview, w.others = p, &pv, others
	_ = blind // it is among the preview's warnings.
}

// print is all that a preview rests on, as lines: two plans with the same print are the same.
func (p *plan) print() []string {
	out := slices.Clone(p.basis)
	if c := p.change; c != nil {
		out = append(out, string(c.Verb)+" "+c.ref().String()+" "+c.UID)
		out = append(out, strings.Split(strings.TrimSuffix(yamlOf(c.Want), "\n"), "\n")...)
	}
	return append(out, "blocked: "+p.preview.Blocked, "done: "+p.preview.Done)
}

// moved compares two plans, and the engineers that were seen: nil when they are the same.
func moved(old, fresh *plan, before, now []presence) []Line {
	var out []Line
	a, b := old.print(), fresh.print()
	for _, l := range a {
		if !slices.Contains(b, l) {
			out = append(out, Line{Sign: '-', Text: text.Clean(l)})
		}
	}
	for _, l := range b {
		if !slices.Contains(a, l) {
			out = append(out, Line{Sign: '+', Text: text.Clean(l)})
		}
	}
	for _, o := range now {
		if !slices.ContainsFunc(before, func(p presence) bool { return p.walk == o.walk && p.who == o.who }) {
			out = append(out, Line{Sign: '!', Text: text.Clean(o.who + " on " + o.host + " has begun to work on this cluster")})
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
	a, ok := w.r.actions[st.Action].(changer)
	if !ok {
		return tell(ErrToken, "this step changes nothing")
	}
	w.mu.Lock()
	shown, old, before, left := w.preview, w.plan, w.others, w.left
	w.mu.Unlock()
	if err := confirmed(shown, token, typed, w.r.cfg.ReadOnly); err != nil {
		return err
	}
	if left {
		return tell(ErrOver, "this walk was left")
	}
	look, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	fresh, others, blind, err := w.compute(look, s, a)
	if err != nil {
		return err
	}
	if m := moved(old, fresh, before, others); len(m) > 0 {
		w.show(fresh, others, blind, m)
		return tell(ErrMoved, "what you saw has changed meanwhile; nothing was applied, look again")
	}
	return w.apply(ctx, s, st, a, fresh)
}

// confirmed checks the engineer's side of a confirmation.
func confirmed(shown *Preview, token, typed, readOnly string) error {
	switch {
	case readOnly != "":
		return tell(ErrReadOnly, "nothing is changed: "+readOnly)
	case shown == nil || token == "" || token != shown.Token:
		return tell(ErrToken, "this is not the preview on the screen; nothing was applied, look again")
	case shown.May == model.No:
		return tell(ErrForbidden, shown.Blocked)
	case shown.Blocked != "":
		return tell(ErrBlocked, shown.Blocked)
	case shown.Done != "":
		return tell(ErrBlocked, "there is nothing to do: "+shown.Done)
	case shown.Confirm == ConfirmName && typed != shown.ConfirmName:
		return tell(ErrTyped, "type "+shown.ConfirmName+" to confirm; nothing was applied")
	}
	return nil
}

// apply writes the line before, takes the Lease, sends the change, writes the line after,
// and verifies. Once begun it is not given up when the engineer leaves.
func (w *Walk) apply(ctx context.Context, s *scene, st *Step, a changer, p *plan) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
	defer cancel()
	if err := w.writeBefore(st, p.change); err != nil {
		return err
	}
	if m := w.takeLease(ctx); len(m) > 0 {
		w.writeAfter(st, p.change, outcomeNot, "another engineer came")
		return w.again(ctx, s, a, p, m)
	}
	start := w.r.cfg.Now()
	got, err := p.change.send(ctx, s.sup.Dynamic(), false)
	w.r.log(p.change, w.where(st), err, start)
	switch {
	case err == nil:
		return w.applied(ctx, s, st, a, p.change, got)
	case apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) || (apierrors.IsNotFound(err) && p.change.Verb != verbCreate):
		w.writeAfter(st, p.change, outcomeNot, short(err))
		return w.again(ctx, s, a, p, []Line{{Sign: '!', Text: short(err)}})
	case apierrors.IsForbidden(err):
		w.writeAfter(st, p.change, outcomeNot, short(err))
		return tell(ErrForbidden, "not applied: "+short(err))
	case answered(err):
		w.writeAfter(st, p.change, outcomeNot, short(err))
		return tell(ErrBlocked, "not applied, the server does not accept it: "+short(err))
	}
	w.writeAfter(st, p.change, outcomeUnclear, short(err))
	return w.afterSilence(ctx, s, st, a, p.change, err, start)
}

func (w *Walk) where(st *Step) string {
	return w.r.cfg.Context + ": " + st.Title + ", " + w.begin.Cluster.String()
}

// writeBefore writes the line without which nothing is sent.
func (w *Walk) writeBefore(st *Step, c *change) error {
	err := w.openJournal()
	if err == nil {
		w.mu.Lock()
		e := entry{Kind: entryBefore, Step: st.ID, Change: c, Who: w.r.cfg.Who}
		w.mu.Unlock()
		err = w.journal.write(e)
	}
	if err != nil {
		return tell(ErrJournal, "nothing was applied: "+err.Error())
	}
	return nil
}

// writeAfter writes what became of a change. Where that fails the view says so: the next
// start will look at the step instead.
func (w *Walk) writeAfter(st *Step, c *change, o outcome, note string) {
	w.remember(entry{Kind: entryAfter, Step: st.ID, Change: c, Outcome: o, Note: note})
}

// again computes a new preview after a change was not applied.
func (w *Walk) again(ctx context.Context, s *scene, a changer, old *plan, m []Line) error {
	fresh, others, blind, err := w.compute(ctx, s, a)
	if err != nil {
		return fmt.Errorf("it changed meanwhile and nothing was applied; looking again failed: %w", err)
	}
	w.mu.Lock()
	before := w.others
	w.mu.Unlock()
	w.show(fresh, others, blind, append(m, moved(old, fresh, before, others)...))
	return tell(ErrMoved, "what you saw has changed meanwhile; nothing was applied, look again")
}

// afterSilence looks whether a change was made when the connection broke before the answer.
func (w *Walk) afterSilence(ctx context.Context, s *scene, st *Step, a changer, c *change, why error, since time.Time) error {
	h, live, err := c.look(ctx, s.sup.Dynamic(), since)
	switch {
	case err == nil && h == happenedYes:
		return w.applied(ctx, s, st, a, c, live)
	case err == nil && h == happenedNot && c.Verb == verbCreate:
		// The request may still be on its way; a second one would be refused as there already.
		w.writeAfter(st, c, outcomeNot, "looked: not there")
		return tell(ErrUnclear, "no answer ("+short(why)+"), and it is not there: look again before you apply it once more")
	case err == nil && h == happenedNot:
		w.writeAfter(st, c, outcomeNot, "looked: unchanged")
		return tell(ErrUnclear, "no answer ("+short(why)+"), and nothing changed: look again before you apply it once more")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.preview, w.plan = nil, nil
	w.mark(StateUnsure, "no answer: "+short(why))
	return tell(ErrUnclear, "no answer ("+short(why)+"); whether it was applied is looked at before anything else is done")
}

// applied takes down that a change was made, and verifies it.
func (w *Walk) applied(ctx context.Context, s *scene, st *Step, a changer, c *change, got *unstructured.Unstructured) error {
	if c.Verb == verbCreate && got != nil {
		c.UID = string(got.GetUID())
	}
	w.writeAfter(st, c, outcomeApplied, "")
	w.mu.Lock()
	w.note(st, c, w.r.cfg.Now())
	s.made[st.ID], s.madeAt[st.ID] = c, w.r.cfg.Now()
	w.preview, w.plan = nil, nil
	w.mu.Unlock()
	ok, words, err := a.holds(ctx, s)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil:
		w.mark(StateDone, "applied; reading it back failed: "+short(err))
	case !ok:
		w.mark(StateFailed, words)
		return tell(ErrNotDone, "it was applied, but: "+words)
	default:
		w.mark(StateDone, words)
	}
	return nil
}

// note keeps what a step changed; a step that takes another back marks that one as undone.
// The caller holds mu.
func (w *Walk) note(st *Step, c *change, at time.Time) {
	w.made[st.ID], w.madeAt[st.ID] = c, at
	for i, o := range w.art.Steps {
		if o.Undo == st.ID && w.made[o.ID] != nil {
			w.steps[i] = stepState{state: StateUndone, note: "taken back"}
		}
	}
}

// ByHand is the engineer's word that the step was done elsewhere. It is looked at; nothing
// is written to the cluster.
func (w *Walk) ByHand(ctx context.Context) error {
	w.op.Lock()
	defer w.op.Unlock()
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	s, st, err := w.scene()
	if err != nil {
		return err
	}
	a, ok := w.r.actions[st.Action].(changer)
	if !ok {
		return tell(ErrBlocked, "this step changes nothing")
	}
	held, words, err := a.holds(ctx, s)
	if err != nil {
		return err
	}
	if !held {
		return tell(ErrNotDone, "not done yet: "+words)
	}
	w.mu.Lock()
	w.mark(StateByHand, words)
	w.preview, w.plan = nil, nil
	w.mu.Unlock()
	w.remember(entry{Kind: entryStep, Step: st.ID, State: StateByHand, Note: words})
	return nil
}

// takeLease makes us visible, and keeps us so until the walk is left. It returns lines when
// somebody came since the preview.
func (w *Walk) takeLease(ctx context.Context) []Line {
	w.stopLease()
	others, err := w.lease.keep(ctx)
	w.mu.Lock()
	before := w.others
	w.unseen = ""
	if err != nil {
		w.unseen = text.Clean(err.Error())
	} else {
		w.others = others
	}
	w.mu.Unlock()
	if err == nil {
		w.keepLease()
	}
	return moved(&plan{}, &plan{}, before, others)
}

// keepLease renews the Lease until stopLease is called.
func (w *Walk) keepLease() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	w.stopLease = func() {
		cancel()
		<-done
		w.stopLease = func() {}
	}
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				w.setUnseen(fmt.Sprintf("the lease is no longer renewed: %v", p))
			}
		}()
		tick := time.NewTicker(leaseRenew)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			w.renew(ctx)
		}
	}()
}

func (w *Walk) renew(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, leaseRenew/2)
	defer cancel()
	others, err := w.lease.keep(ctx)
	if errors.Is(err, context.Canceled) {
		return
	}
	if err != nil {
		w.setUnseen(short(err))
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unseen, w.others = "", others
}

func (w *Walk) setUnseen(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unseen = text.Clean(why)
}
