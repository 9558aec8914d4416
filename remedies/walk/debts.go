package walk

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
)

func (r *Runner) debtView(d *remedies.Debt) remedies.DebtView {
	what := d.Takes
	if t, ok := r.cfg.Takeables[d.Takes]; ok {
		what = t.What
	}
	return remedies.DebtView{What: what, Where: d.On.String(), Cluster: d.For, Who: d.Who, Since: d.Since, Overdue: r.cfg.Now().Sub(d.Since) > r.cfg.Overdue}
}

// taken says what was taken from what.
func (r *Runner) taken(d *remedies.Debt) string {
	return text.Clean(r.debtView(d).What + " was taken from " + d.On.String())
}

// debtsNow are the debts that a debt's object carries now; there says whether the object is there.
func (r *Runner) debtsNow(ctx context.Context, d *remedies.Debt) (debts []remedies.Debt, there bool, err error) {
	u, err := r.target(ctx, &remedies.Target{Ref: d.On, Place: d.Place})
	if err != nil {
		return nil, false, fmt.Errorf("cannot read %s, which carries the debt: %s", d.On, remedies.Short(err))
	}
	if u == nil {
		return nil, false, nil
	}
	return effect.Debts(u, d.Place), true, nil
}

// debtGone says why a debt is owed no more, as it is read live; empty where it still is.
func (r *Runner) debtGone(ctx context.Context, d *remedies.Debt) (string, error) {
	debts, there, err := r.debtsNow(ctx, d)
	switch {
	case err != nil:
		return "", err
	case !there:
		return d.On.String() + " is gone, and with it what was taken", nil
	case !slices.ContainsFunc(debts, func(o remedies.Debt) bool { return o.ID == d.ID }):
		return d.On.String() + " does not carry the debt", nil
	}
	return "", nil
}

// liveDebt is a debt as its object carries it now. Anybody can write an annotation: it has to say
// that it was taken on this Supervisor, and what was taken has to be known.
func (r *Runner) liveDebt(ctx context.Context, d *remedies.Debt) (*remedies.Debt, error) {
	debts, there, err := r.debtsNow(ctx, d)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(debts, func(o remedies.Debt) bool { return o.ID == d.ID })
	switch {
	case !there:
		return nil, remedies.Tell(remedies.ErrOver, d.On.String()+" is gone: there is nothing to give back")
	case at < 0:
		return nil, remedies.Tell(remedies.ErrOver, "the debt is paid: "+d.On.String()+" does not carry it any more")
	case debts[at].Takes != d.Takes:
		return nil, remedies.Tell(remedies.ErrMoved, "the debt "+d.ID+" on "+d.On.String()+" claims something else now; look again")
	}
	live := debts[at]
	marks, err := r.cfg.Sites.Supervisor.Marks(ctx, live.For.Namespace)
	if err != nil {
		return nil, fmt.Errorf("cannot tell which Supervisor this is: %w", err)
	}
	if same, why := model.Same(live.Supervisor, marks); !same {
		return nil, remedies.Tell(remedies.ErrOtherSupervisor, "the debt "+live.ID+" on "+live.On.String()+" was not taken here, so it is not given back here: "+why)
	}
	return &live, nil
}

// clusterOf is a cluster that a debt names, where there is one: it decides in which namespace a
// Lease is written. It is none where the cluster is not there, or may not be read.
func (r *Runner) clusterOf(ctx context.Context, c model.ClusterRef) (model.ClusterRef, error) {
	none := model.ClusterRef{}
	if c.Namespace == "" || c.Name == "" {
		return none, nil
	}
	gvr, namespaced, served, err := r.cfg.Sites.Supervisor.ResourceFor(ctx, "Cluster")
	if err != nil {
		return none, fmt.Errorf("cannot tell whether there is a cluster %s: %w", c, err)
	}
	if !served || !namespaced {
		return none, nil
	}
	_, err = r.cfg.Sites.Supervisor.Dynamic().Resource(gvr).Namespace(c.Namespace).Get(ctx, c.Name, metav1.GetOptions{})
	switch {
	case err == nil:
		return c, nil
	case effect.NotThere(err), apierrors.IsForbidden(err):
		return none, nil
	}
	return none, fmt.Errorf("cannot tell whether there is a cluster %s: %w", c, err)
}

// unkept says why a write could not be read from the journal again; empty where it can. It is
// asked before anything is sent: nothing could find out or take back what it did.
func (r *Runner) unkept(e remedies.Effect) string {
	c, err := carry(e)
	if err != nil {
		return remedies.Short(err)
	}
	again, err := c.effect(r.cfg.Effects)
	if err != nil {
		return "it could not be looked for after a crash: " + remedies.Short(err)
	}
	if !slices.Equal(again.Binds(), e.Binds()) {
		return "it could not be looked for after a crash: the journal would not have it as it is sent"
	}
	return ""
}

// unfinished says why a walk cannot be put away yet; empty where it can.
func (r *Runner) unfinished(ctx context.Context, rec *record) string {
	c := accountsOf(rec)
	for _, a := range c.owed() {
		if why := r.owedNow(ctx, rec, a); why != "" {
			return why
		}
	}
	a := c.open()
	if a == nil {
		return ""
	}
	if a.takes != nil {
		if why := r.owedNow(ctx, rec, a); why != "" {
			return why
		}
	}
	if r.ended(ctx, rec, a) {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	id, now := rec.begin.ID, r.cfg.Elapsed()
	if _, asked := r.waited[id]; !asked {
		r.waited[id] = now
	}
	if left := r.waited[id] + effect.UnderWay - now; left > 0 {
		return "it is not known whether its last change was made, and it may still be under way until " + r.cfg.Now().UTC().Add(left).Format("15:04:05Z") +
			": pick the walk up, or put it away then"
	}
	return ""
}

// owedNow says why what an attempt took is owed still, as it is read live where it was taken; empty
// where it is not.
func (r *Runner) owedNow(ctx context.Context, rec *record, a *attempt) string {
	words := r.taken(a.takes) + " and is not given back: give it back first, in this walk or from the debt on the object"
	if a.outcome == outcomeOpen {
		words = "it is not known whether " + r.taken(a.takes) + ": pick the walk up, and give it back first"
	}
	if why := r.notThere(ctx, rec, a); why != "" {
		return words + "; it cannot be looked at here: " + why
	}
	gone, err := r.debtGone(ctx, a.takes)
	switch {
	case err != nil:
		return words + "; " + remedies.Short(err)
	case gone == "":
		return words
	}
	return ""
}

// notThere says why the place that an attempt was sent to cannot be looked at from here; empty
// where it can.
func (r *Runner) notThere(ctx context.Context, rec *record, a *attempt) string {
	e, err := a.effect.effect(r.cfg.Effects)
	if err != nil {
		return remedies.Short(err)
	}
	now, err := r.cfg.Sites.Marks(ctx, e.Place(), rec.begin.Cluster.Namespace)
	if err != nil {
		return remedies.Short(err)
	}
	if same, why := model.Same(a.place, now); !same {
		return why
	}
	return ""
}

// ended says that an attempt that was not answered cannot be made any more, or was made.
func (r *Runner) ended(ctx context.Context, rec *record, a *attempt) bool {
	if r.notThere(ctx, rec, a) != "" {
		return false
	}
	e, err := a.effect.effect(r.cfg.Effects)
	if err != nil {
		return false
	}
	seen, err := e.Look(ctx, r.cfg.Sites, a.Attempt)
	return err == nil && (seen.Happened != remedies.HappenedNo || seen.Never)
}
