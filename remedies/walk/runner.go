package walk

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/kb"
)

// Config is what a runner works with. Sites, Articles, Registry, Actions and Who have to be given.
type Config struct {
	Sites *remedies.Sites
	// Articles are those that can be walked, Registry what they were loaded with, and Actions
	// what their steps name.
	Articles *kb.Catalogue
	Registry kb.Registry
	Actions  map[string]remedies.Action
	// Guards read the conditions that articles name, Lists what a step can be done for.
	Guards map[string]func(context.Context, *remedies.Scene) (remedies.Guard, error)
	Lists  map[string]func(context.Context, *remedies.Scene) ([]string, error)
	// Effects make an empty write of each kind, to read it from the journal; that of objects is
	// always among them.
	Effects map[string]func() remedies.Effect
	// Takeables are what can be taken and has to be given back, by id; Overdue is how long a debt
	// may be open before it is an alarm (default: half an hour).
	Takeables map[string]effect.Takeable
	Overdue   time.Duration

	// Context and Server name the Supervisor for people.
	Context, Server string
	// Snapshot is the newest picture; it may return nil.
	Snapshot func() *model.Snapshot
	// JournalDir is made when the first walk is remembered, see [DefaultJournalDir].
	JournalDir string
	// ReadOnly says why nothing may be changed; empty when it may.
	ReadOnly string
	// Who is the engineer as the Supervisor knows them, Host their machine (default: its name).
	Who, Host string
	Now       func() time.Time
	// Elapsed is the time since some moment of this process, by a clock that nobody sets (default:
	// the monotonic part of time.Now). How long an unanswered change may still be under way is
	// measured by it; Now is for people.
	Elapsed func() time.Duration
	// Log is given every command that changed something. It is called from several
	// goroutines and must not block.
	Log func(remedies.Command)
	// Pace is the time between two looks of a step that waits (default: 2 s), LeasePace that
	// between two looks for other engineers while a preview is open (default: 30 s).
	Pace, LeasePace time.Duration
	// Random makes the ids of walks; default crypto/rand.
	Random io.Reader
}

// DefaultJournalDir is where the journal belongs: $XDG_STATE_HOME/vksmedic/journal, else
// below ~/.local/state, on Windows below %LocalAppData%. Empty where there is no home.
func DefaultJournalDir(getenv func(string) string) string {
	if d := getenv("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "vksmedic", "journal")
	}
	if d := getenv("LOCALAPPDATA"); d != "" {
		return filepath.Join(d, "vksmedic", "journal")
	}
	if d := getenv("HOME"); d != "" {
		return filepath.Join(d, ".local", "state", "vksmedic", "journal")
	}
	return ""
}

// Runner begins walks and finds those that are not over. It is safe for concurrent use.
type Runner struct {
	cfg  Config
	disk disk

	mu   sync.Mutex
	open map[string]*Walk // those of this program.
	// waited is since when a walk whose last change is in doubt is asked to be put away, by
	// Config.Elapsed and by its id.
	waited map[string]time.Duration
}

// NewRunner makes a runner. It asks nothing of the network.
func NewRunner(cfg Config) *Runner {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Elapsed == nil {
		start := time.Now()
		cfg.Elapsed = func() time.Duration { return time.Since(start) }
	}
	if cfg.Random == nil {
		cfg.Random = rand.Reader
	}
	if cfg.Pace <= 0 {
		cfg.Pace = 2 * time.Second
	}
	if cfg.LeasePace <= 0 {
		cfg.LeasePace = leaseRenew
	}
	if cfg.Overdue <= 0 {
		cfg.Overdue = 30 * time.Minute
	}
	if cfg.Host == "" {
		cfg.Host, _ = os.Hostname() // an empty name is drawn as such.
	}
	if cfg.Log == nil {
		cfg.Log = func(remedies.Command) {}
	}
	if cfg.Snapshot == nil {
		cfg.Snapshot = func() *model.Snapshot { return nil }
	}
	effects := map[string]func() remedies.Effect{effect.ObjectKind: func() remedies.Effect { return &effect.Object{} }}
	maps.Copy(effects, cfg.Effects)
	cfg.Effects = effects
	return &Runner{cfg: cfg, disk: realDisk{}, open: map[string]*Walk{}, waited: map[string]time.Duration{}}
}

// Offers are the articles that can be walked for a finding, those of the program first.
func (r *Runner) Offers(f *model.Finding) []remedies.Offer {
	if len(f.Subjects) == 0 {
		return nil
	}
	var out []remedies.Offer
	for _, a := range r.cfg.Articles.For(f.Signature) {
		sc := kb.Scope{Cluster: f.Cluster, Supervisor: r.cfg.Context, Facts: f.Facts}
		out = append(out, remedies.Offer{ID: a.ID, Title: text.Clean(a.Title.Fill(sc)), KB: a.KB, Address: a.Address, From: a.From})
	}
	return out
}

// Pending lists the walks that are not over, oldest first. A journal that cannot be
// read is listed with the reason in Refused.
func (r *Runner) Pending(ctx context.Context) ([]remedies.Pending, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	ids, err := journalIDs(r.disk, r.cfg.JournalDir)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	var out []remedies.Pending
	for _, id := range ids {
		rec, busy, err := r.read(id)
		switch {
		case errors.Is(err, errNoBeginning):
			continue // nothing was begun.
		case err != nil:
			out = append(out, remedies.Pending{ID: id, Refused: remedies.Short(err)})
			continue
		case rec.over():
			continue
		}
		p := r.pending(ctx, rec)
		r.mu.Lock()
		p.Open = r.open[id] != nil
		r.mu.Unlock()
		if busy && !p.Open && p.Refused == "" {
			p.Refused = "another vksmedic on this machine has it open"
		}
		p.ID = id
		out = append(out, p)
	}
	return out, nil
}

// read reads a journal; busy says that somebody has it open.
func (r *Runner) read(id string) (rec *record, busy bool, err error) {
	j, rec, err := openJournal(r.disk, r.cfg.JournalDir, id)
	j.close()
	if errors.Is(err, remedies.ErrBusy) {
		rec, err = peekJournal(r.disk, r.cfg.JournalDir, id)
		return rec, true, err
	}
	return rec, false, err
}

// notHere says why a walk cannot be picked up here, with the name of the Supervisor that it was
// begun on. Whether that is another one is said by why, where it is known.
func notHere(b *beginning, why string) string {
	return text.Clean(fmt.Sprintf("it was begun on %s, context %s: %s", b.Server, b.Context, why))
}

// elsewhere says whether two sets of marks are known to be of two Supervisors. That they are not
// known to be of one is less: they may have no uid in common.
func elsewhere(a, b model.Marks) bool {
	if a.SystemUID != "" && b.SystemUID != "" {
		return a.SystemUID != b.SystemUID
	}
	return a.Namespace == b.Namespace && a.NamespaceUID != "" && b.NamespaceUID != "" && a.NamespaceUID != b.NamespaceUID
}

func (r *Runner) pending(ctx context.Context, rec *record) (p remedies.Pending) {
	if o := rec.old; o != nil {
		return remedies.Pending{Article: o.begin.Article, Title: text.Clean(o.begin.Article), Cluster: o.begin.Cluster, Target: text.Clean(o.begin.Target.Ref.Name),
			Who: text.Clean(o.who), Began: o.began, Last: o.last, Server: text.Clean(o.begin.Server), Context: text.Clean(o.begin.Context),
			Elsewhere: o.begin.Server != r.cfg.Server, Wrote: o.words(r.cfg.Sites),
			Refused: "it was begun by an older vksmedic and cannot be continued: look at what it wrote, take that back by hand if you want to, and put it away"}
	}
	b := rec.begin
	p = remedies.Pending{Article: b.Article, Title: b.Article, Cluster: b.Cluster, Target: text.Clean(b.Target.Ref.Name), Server: text.Clean(b.Server), Context: text.Clean(b.Context),
		Began: rec.entries[0].At, Last: rec.last(), Who: text.Clean(rec.entries[0].Who)}
	now, err := r.cfg.Sites.Supervisor.Marks(ctx, b.Cluster.Namespace)
	if err != nil {
		p.Refused = "cannot tell whether it belongs to this Supervisor: " + remedies.Short(err)
	} else if same, why := model.Same(b.Supervisor, now); !same {
		p.Elsewhere, p.Refused = elsewhere(b.Supervisor, now), notHere(b, why)
	}
	c := accountsOf(rec)
	p.Unsure, p.Owes = c.open() != nil, len(c.owed()) > 0
	defer func() {
		if p.Refused != "" {
			for _, a := range c.owed() {
				p.Refused += "; " + r.taken(a.takes) + " and is not given back"
			}
		}
	}()
	a := r.cfg.Articles.ByID(b.Article)
	if a == nil || (b.Digest != "" && b.Digest != a.Digest) {
		p.Wrote = r.wrote(rec)
		if p.Refused == "" {
			p.Refused = "this vksmedic does not know the article " + text.Clean(b.Article) + " as it was: use the version that began the walk, or take back by hand what it wrote, and put it away"
		}
		return p
	}
	st, err := replay(a, rec)
	if err != nil {
		p.Wrote = r.wrote(rec)
		p.Refused = cmp.Or(p.Refused, remedies.Short(err))
		return p
	}
	w, err := r.newWalk(a, st)
	if err != nil {
		p.Refused = cmp.Or(p.Refused, remedies.Short(err))
		return p
	}
	v := w.View()
	p.Title = v.Title
	if i := st.rest(); over(st.item().state) && i >= 0 {
		p.Step = v.Steps[i].Title
	} else if v.Current < len(v.Steps) {
		p.Step = v.Steps[v.Current].Title
	}
	return p
}

// wrote is what a journal says was written, for a walk whose article is not known.
func (r *Runner) wrote(rec *record) []remedies.Wrote {
	var out []remedies.Wrote
	for i := range rec.entries {
		e := &rec.entries[i]
		switch e.Kind { //nolint:exhaustive // only these tell of writes.
		case entryBefore:
			x, err := e.Effect.effect(r.cfg.Effects)
			if err != nil {
				out = append(out, remedies.Wrote{Object: remedies.Short(err), At: e.At})
				continue
			}
			o := remedies.Wrote{Object: x.What(), How: "perhaps: its end was not written down", At: e.At}
			if c, ok := x.(*effect.Object); ok {
				o.TakeBack = takeBackByHand(c, r.cfg.Sites)
			}
			out = append(out, o)
		case entryAfter:
			if len(out) == 0 {
				continue
			}
			switch e.Outcome {
			case outcomeMade, outcomeSo:
				out[len(out)-1].How = "made"
			case outcomeRefused, outcomeNot:
				out = out[:len(out)-1]
			case outcomeOpen, outcomeUnsure:
			}
		}
	}
	return out
}

// Begin begins a walk for a finding, with the article of that id. Where one for the same object
// is in the journal and not over, it is picked up instead, so that nothing is done twice.
func (r *Runner) Begin(ctx context.Context, f *model.Finding, article string) (*Walk, error) {
	a := r.cfg.Articles.ByID(article)
	if a == nil || a.Signature != f.Signature || len(f.Subjects) == 0 {
		return nil, remedies.Tell(remedies.ErrNoArticle, "there is no article "+article+" to walk for "+f.Signature)
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	t, err := r.pin(ctx, f)
	if err != nil {
		return nil, err
	}
	facts, err := json.Marshal(f.Facts)
	if err != nil {
		return nil, fmt.Errorf("cannot keep what was found: %w", err)
	}
	return r.begin(ctx, a, beginning{Cluster: f.Cluster, Target: t, Summary: text.Limit(text.Clean(f.Summary), 500), Facts: facts})
}

// Restore begins a walk from a debt alone, whoever took it and from whatever machine. The debt is
// read anew from its object, and has to be of this Supervisor.
func (r *Runner) Restore(ctx context.Context, d remedies.Debt, article string) (*Walk, error) {
	a := r.cfg.Articles.ByID(article)
	if a == nil {
		return nil, remedies.Tell(remedies.ErrNoArticle, "there is no article "+article+" that gives back what was taken")
	}
	if _, known := r.cfg.Takeables[d.Takes]; !known {
		return nil, remedies.Tell(remedies.ErrBlocked, "the debt "+d.ID+" on "+d.On.String()+" claims that "+d.Takes+" was taken, and this vksmedic never takes that; look at the annotation by hand")
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	live, err := r.liveDebt(ctx, &d)
	if err != nil {
		return nil, err
	}
	home, err := r.clusterOf(ctx, live.For)
	if err != nil {
		return nil, err
	}
	return r.begin(ctx, a, beginning{Cluster: home, Target: remedies.Target{Ref: live.On, Place: live.Place}, Summary: "give back what was taken", Debt: live})
}

func (r *Runner) begin(ctx context.Context, a *kb.Article, b beginning) (*Walk, error) {
	marks, err := r.cfg.Sites.Supervisor.Marks(ctx, b.Cluster.Namespace)
	if err != nil {
		return nil, fmt.Errorf("cannot tell which Supervisor this is: %w", err)
	}
	b.Article, b.Digest, b.Supervisor, b.Server, b.Context = a.ID, a.Digest, marks, r.cfg.Server, r.cfg.Context
	id, trouble := r.findPending(&b)
	if errors.Is(trouble, remedies.ErrBusy) {
		return nil, trouble
	}
	if id != "" {
		return r.Resume(ctx, id)
	}
	if b.ID, err = r.newID(); err != nil {
		return nil, err
	}
	st := newState(a, b)
	st.began, st.who = r.cfg.Now().UTC().Round(0), r.cfg.Who
	w, err := r.newWalk(a, st)
	if err != nil {
		return nil, err
	}
	if trouble != nil {
		w.trouble = remedies.Short(trouble)
	}
	r.opened(w)
	if err := w.start(ctx); err != nil {
		w.Leave()
		return nil, err
	}
	return w, nil
}

// start goes to the first step that is not skipped.
func (w *Walk) start(ctx context.Context) error {
	first := &w.art.Steps[0]
	skip, err := w.arrive(ctx, 0, first)
	if err != nil || skip == "" {
		return err
	}
	if err := w.record(&entry{Kind: entrySkip, Step: first.ID, Note: text.Clean(skip)}); err != nil {
		return err
	}
	return w.advance(ctx)
}

func (r *Runner) opened(w *Walk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[w.ID()] = w
}

func (r *Runner) closed(w *Walk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, w.ID())
}

// pin reads the finding's first subject live, where it lives, so that another object of that
// name is never taken for it.
func (r *Runner) pin(ctx context.Context, f *model.Finding) (remedies.Target, error) {
	t, err := targetOf(f)
	if err != nil {
		return t, err
	}
	u, err := r.target(ctx, &t)
	if err != nil {
		return t, fmt.Errorf("cannot read %s on %s: %w", t.Ref, t.Place, err)
	}
	if u == nil {
		return t, remedies.Tell(remedies.ErrOver, t.Ref.String()+" is gone already; there is nothing to mend")
	}
	t.UID = string(u.GetUID())
	return t, nil
}

// target reads what a walk is about, live; nil where it is not there.
func (r *Runner) target(ctx context.Context, t *remedies.Target) (*unstructured.Unstructured, error) {
	if t.Place.Kind == model.PlaceCluster {
		dyn, err := r.cfg.Sites.API(ctx, t.Place)
		if err != nil {
			return nil, err //nolint:wrapcheck // worded by the caller.
		}
		gvr, ok := workloadResource(t.Ref.Kind)
		if !ok {
			return nil, fmt.Errorf("objects of the kind %s in a workload cluster are not known", t.Ref.Kind)
		}
		return get(ctx, dyn.Resource(gvr).Namespace(t.Ref.Namespace), t.Ref.Name)
	}
	gvr, namespaced, served, err := r.cfg.Sites.Supervisor.ResourceFor(ctx, t.Ref.Kind)
	if err != nil {
		return nil, err //nolint:wrapcheck // worded by the caller.
	}
	if !served {
		return nil, fmt.Errorf("the Supervisor does not serve %s", t.Ref.Kind)
	}
	var c dynamic.ResourceInterface = r.cfg.Sites.Supervisor.Dynamic().Resource(gvr)
	if namespaced {
		c = r.cfg.Sites.Supervisor.Dynamic().Resource(gvr).Namespace(t.Ref.Namespace)
	}
	return get(ctx, c, t.Ref.Name)
}

func get(ctx context.Context, c dynamic.ResourceInterface, name string) (*unstructured.Unstructured, error) {
	u, err := c.Get(ctx, name, metav1.GetOptions{})
	if effect.NotThere(err) {
		return nil, nil
	}
	return u, err //nolint:wrapcheck // worded by the caller.
}

// targetNow says what became of a walk's target.
func (r *Runner) targetNow(ctx context.Context, t *remedies.Target) string {
	u, err := r.target(ctx, t)
	switch {
	case err != nil:
		return kb.TargetUnknown
	case u == nil || (t.UID != "" && string(u.GetUID()) != t.UID):
		return kb.TargetGone
	}
	return kb.TargetThere
}

// findPending looks for a walk of the same article on the same object.
func (r *Runner) findPending(want *beginning) (string, error) {
	ids, err := journalIDs(r.disk, r.cfg.JournalDir)
	if err != nil {
		return "", err
	}
	for _, id := range slices.Backward(ids) {
		rec, busy, err := r.read(id)
		if err != nil || rec.old != nil || rec.over() || !alike(rec.begin, want) {
			continue // Pending says so where it matters.
		}
		if busy {
			r.mu.Lock()
			own := r.open[id] != nil
			r.mu.Unlock()
			if own {
				return "", remedies.Tell(remedies.ErrBusy, "this walk is open in this window already: leave it first, or go back to it")
			}
			return "", remedies.Tell(remedies.ErrBusy, "another vksmedic on this machine walks this already (journal "+id+")")
		}
		return id, nil
	}
	return "", nil
}

// alike says whether two walks mend the same thing with the same article.
func alike(a, b *beginning) bool {
	same, _ := model.Same(a.Supervisor, b.Supervisor)
	what := a.Cluster == b.Cluster && a.Debt == nil && b.Debt == nil
	if a.Debt != nil && b.Debt != nil { // the cluster that it was taken for may be gone meanwhile.
		what = a.Debt.ID == b.Debt.ID
	}
	return same && what && a.Article == b.Article && a.Digest == b.Digest && a.Target.Ref == b.Target.Ref && a.Target.UID == b.Target.UID
}

// Resume picks up a walk from the journal. A change whose end was not written down is
// looked at, never repeated.
func (r *Runner) Resume(ctx context.Context, id string) (*Walk, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if id == "" || id != filepath.Base(id) {
		return nil, remedies.Tell(remedies.ErrOver, "there is no such walk")
	}
	r.mu.Lock()
	own := r.open[id] != nil
	r.mu.Unlock()
	if own {
		return nil, remedies.Tell(remedies.ErrBusy, "this walk is open in this window already: leave it first, or go back to it")
	}
	j, rec, err := openJournal(r.disk, r.cfg.JournalDir, id)
	if err != nil {
		return nil, err
	}
	w, err := r.reopen(ctx, j, rec)
	if err != nil {
		j.close()
		return nil, err
	}
	r.opened(w)
	w.pickUp(ctx, rec)
	return w, nil
}

func (r *Runner) reopen(ctx context.Context, j *journal, rec *record) (*Walk, error) {
	if rec.old != nil {
		return nil, remedies.Tell(remedies.ErrNoArticle, "this walk was begun by an older vksmedic and cannot be continued")
	}
	b := rec.begin
	if rec.over() {
		return nil, remedies.Tell(remedies.ErrOver, "this walk is over")
	}
	now, err := r.cfg.Sites.Supervisor.Marks(ctx, b.Cluster.Namespace)
	if err != nil {
		return nil, fmt.Errorf("cannot tell which Supervisor this is: %w", err)
	}
	if same, why := model.Same(b.Supervisor, now); !same {
		return nil, remedies.Tell(remedies.ErrOtherSupervisor, "refused: "+notHere(b, why))
	}
	a := r.cfg.Articles.ByID(b.Article)
	if a == nil || (b.Digest != "" && a.Digest != b.Digest) {
		return nil, remedies.Tell(remedies.ErrNoArticle, "this vksmedic does not know the article "+b.Article+" as it was when the walk began; use the version that began it")
	}
	st, err := replay(a, rec)
	if err != nil {
		return nil, remedies.Tell(remedies.ErrNoArticle, err.Error())
	}
	w, err := r.newWalk(a, st)
	if err != nil {
		return nil, err
	}
	w.journal, w.leases.earlier = j, true
	return w, nil
}

// pickUp goes on with a walk from the journal: what was left in doubt is looked at first.
func (w *Walk) pickUp(ctx context.Context, rec *record) {
	ago := text.Age(w.r.cfg.Now().Sub(rec.last()))
	w.mu.Lock()
	n, st := w.st.at.step+1, w.step()
	if over(w.st.item().state) && w.st.rest() >= 0 {
		n, st = w.st.rest()+1, &w.art.Steps[w.st.rest()]
	}
	title := text.Clean(st.Title.Fill(w.scope("")))
	doubt := w.st.open() != nil
	wrote := len(w.st.attempts) > 0
	w.mu.Unlock()
	words := fmt.Sprintf("picked up at step %d, %q, where it was left %s ago", n, title, ago)
	if rec.unread > 0 {
		words += "; " + text.Plural(rec.unread, "broken line") + " in the journal"
	}
	_ = w.record(&entry{Kind: entryResume, Who: w.r.cfg.Who}) // the view says where it cannot be written.
	if doubt {
		words = fmt.Sprintf("vksmedic ended %s ago while it was doing step %d, %q", ago, n, title)
		words += w.settled(ctx)
	}
	w.goOn(ctx)
	w.mu.Lock()
	w.resumed = text.Clean(words)
	w.mu.Unlock()
	if wrote && w.r.cfg.ReadOnly == "" { // it was confirmed in this walk that we work here.
		w.mu.Lock()
		wide := w.st.wide()
		w.mu.Unlock()
		if _, err := w.takeLease(ctx, wide); err != nil {
			w.setUnseen("nobody can see that you work here: " + remedies.Short(err))
		}
		w.keepLease() // what could not be taken is tried again.
	}
}

// goOn goes to the first step that is not over, where the walk was left at one that is. It does
// not end the walk: its last words are read by somebody.
func (w *Walk) goOn(ctx context.Context) {
	for {
		w.mu.Lock()
		stay := w.st.open() != nil || !over(w.st.item().state) || w.st.rest() < 0
		w.mu.Unlock()
		if stay {
			return
		}
		if on, err := w.onward(ctx); err != nil || !on { // where it cannot go on by itself, enter does.
			return
		}
	}
}

// settled looks what became of the change that was left in doubt, and says it.
func (w *Walk) settled(ctx context.Context) string {
	err := w.settle(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.st.open() != nil {
		return "; whether it was applied is not known yet: " + remedies.Short(err)
	}
	a := &w.st.attempts[len(w.st.attempts)-1]
	switch a.outcome {
	case outcomeMade:
		return ": it had been applied"
	case outcomeSo:
		return ": " + a.note
	case outcomeUnsure:
		return ": it cannot be told whether it was applied; " + a.note
	case outcomeNot, outcomeRefused, outcomeOpen:
	}
	return ": it had not been applied; " + a.note
}

// Forget ends a walk in the journal without doing anything: it is no longer pending. What
// it changed stays as it is. A walk that still owes something cannot be put away, and neither can
// one whose last change may still be under way; what was taken, and whether it is owed, is in the
// journal and is read live where it was taken. No article is needed for it.
func (r *Runner) Forget(id string) error {
	if id == "" || id != filepath.Base(id) {
		return remedies.Tell(remedies.ErrOver, "there is no such walk")
	}
	j, rec, err := openJournal(r.disk, r.cfg.JournalDir, id)
	if err != nil {
		return err
	}
	defer j.close()
	if rec.over() {
		return remedies.Tell(remedies.ErrOver, "this walk is over")
	}
	if rec.old == nil {
		ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
		defer cancel()
		if why := r.unfinished(ctx, rec); why != "" {
			return remedies.Tell(remedies.ErrBlocked, why)
		}
	}
	return j.write(endEntry(r.cfg.Who, r.cfg.Now()))
}

// newID is the time and some randomness: sorted by time, and a valid name for a label or an annotation.
func (r *Runner) newID() (string, error) {
	b := make([]byte, 3)
	if _, err := io.ReadFull(r.cfg.Random, b); err != nil {
		return "", fmt.Errorf("cannot make an id: %w", err)
	}
	return r.cfg.Now().UTC().Format("20060102t150405") + "-" + hex.EncodeToString(b), nil
}

func (r *Runner) log(e remedies.Effect, where string, err error, start time.Time) {
	c := remedies.Command{At: start, Line: e.Command(r.cfg.Sites).Text, Where: text.Clean(where), Took: r.cfg.Now().Sub(start)}
	if err != nil {
		c.Err = remedies.Short(err)
	}
	r.cfg.Log(c)
}
