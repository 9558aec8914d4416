package remedies

import (
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
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"vksmedic/model"
	"vksmedic/model/text"
)

// Supervisor is what the runner needs of the connection.
type Supervisor interface {
	// Identity is a stable mark of this Supervisor: the uid of its kube-system namespace.
	Identity(ctx context.Context) (string, error)
	Dynamic() dynamic.Interface
	// ResourceFor is the resource of a kind in the version that we like best of those served.
	ResourceFor(ctx context.Context, kind string) (gvr schema.GroupVersionResource, namespaced, served bool, err error)
}

// Command is one command or request that changed something, for the log on the screen.
type Command struct {
	At time.Time
	// Line is the kubectl or ssh line that would do the same; it may have several lines.
	Line string
	// Where is the context, and what it was for.
	Where string
	// Err is empty when it worked.
	Err  string
	Took time.Duration
}

// Config is what a runner works with. Supervisor, Snapshot, Who and JournalDir have to be given.
type Config struct {
	Supervisor Supervisor
	// Context and Server name the Supervisor for people.
	Context, Server string
	// Workload connects to a workload cluster; nil where that is not possible.
	Workload func(ctx context.Context, c model.ClusterRef) (dynamic.Interface, error)
	// Snapshot is the newest picture; it may return nil.
	Snapshot func() *model.Snapshot
	// JournalDir is made when the first walk is remembered, see [DefaultJournalDir].
	JournalDir string
	// ReadOnly says why nothing may be changed; empty when it may.
	ReadOnly string
	// Who is the engineer as the Supervisor knows them, Host their machine (default: its name).
	Who, Host string
	Now       func() time.Time
	// Log is given every command that changed something. It is called from several
	// goroutines and must not block.
	Log func(Command)
	// Pace is the time between two looks of a step that waits; default 2 s.
	Pace time.Duration
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
	cfg      Config
	actions  map[string]action
	articles map[string]*Article
	disk     disk
}

// NewRunner checks the articles and makes a runner. It asks nothing of the network.
func NewRunner(cfg Config) (*Runner, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Random == nil {
		cfg.Random = rand.Reader
	}
	if cfg.Pace <= 0 {
		cfg.Pace = 2 * time.Second
	}
	if cfg.Host == "" {
		cfg.Host, _ = os.Hostname() // an empty name is drawn as such.
	}
	if cfg.Log == nil {
		cfg.Log = func(Command) {}
	}
	if cfg.Snapshot == nil {
		cfg.Snapshot = func() *model.Snapshot { return nil }
	}
	r := &Runner{cfg: cfg, actions: allActions(), disk: realDisk{}}
	var err error
	r.articles, err = loadArticles(kbFiles, r.actions)
	return r, err
}

// Articles are all articles, by id.
func (r *Runner) Articles() []*Article {
	var out []*Article
	for _, id := range slices.Sorted(maps.Keys(r.articles)) {
		out = append(out, r.articles[id])
	}
	return out
}

// Pending is a walk in the journal that is not over.
type Pending struct {
	ID, Article, Title string
	Cluster            model.ClusterRef
	Target             string
	Who                string
	Began, Last        time.Time
	// Step is the title of the step it stands at; Unsure says that the program ended
	// while that step was changing something.
	Step   string
	Unsure bool
	// Refused says why it cannot be picked up here; empty when it can.
	Refused string
	// Open says that this very program has it open.
	Open bool
	// Elsewhere says that it belongs to another Supervisor; Server and Context name that one.
	Elsewhere       bool
	Server, Context string
	// Wrote is what it changed, for a walk that cannot be gone on with: it was begun by an
	// older vksmedic, or its article is not known any more.
	Wrote []Wrote
}

// Wrote is one change that a walk made.
type Wrote struct {
	// Object is what was changed, How in a word: create, update, delete.
	Object, How string
	At          time.Time
	// TakeBack is the command that takes it back by hand; empty where none does.
	TakeBack string
}

// Pending lists the walks that are not over, oldest first. A journal that cannot be
// read is listed with the reason in Refused.
func (r *Runner) Pending(ctx context.Context) ([]Pending, error) {
	ids, err := journalIDs(r.cfg.JournalDir)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	identity, idErr := r.cfg.Supervisor.Identity(ctx)
	var out []Pending
	for _, id := range ids {
		j, rec, err := openJournal(r.disk, r.cfg.JournalDir, id, r.cfg.Now)
		j.close()
		switch {
		case errors.Is(err, errNoBeginning):
			continue // nothing was begun.
		case err != nil:
			out = append(out, Pending{ID: id, Refused: short(err)})
			continue
		case rec.over():
			continue
		}
		p := r.pending(rec)
		switch {
		case idErr != nil:
			p.Refused = "cannot tell whether it belongs to this Supervisor: " + short(idErr)
		case identity != rec.begin.Supervisor:
			p.Refused = otherSupervisor(rec.begin)
		}
		out = append(out, p)
	}
	return out, nil
}

func otherSupervisor(b *beginning) string {
	return text.Clean(fmt.Sprintf("it belongs to another Supervisor (%s, context %s); start vksmedic with that context", b.Server, b.Context))
}

func (r *Runner) pending(rec *record) Pending {
	b := rec.begin
	p := Pending{ID: b.ID, Article: b.Article, Title: b.Article, Cluster: b.Cluster, Target: b.Target.Ref.Name,
		Began: rec.entries[0].At, Last: rec.last(), Who: rec.entries[0].Who, Unsure: rec.unsettled() != nil}
	a := r.articles[b.Article]
	if a == nil {
		p.Refused = "this vksmedic does not know the article " + text.Clean(b.Article)
		return p
	}
	p.Title = a.Title
	w := r.newWalk(a, *b)
	w.replay(rec)
	if w.current < len(a.Steps) {
		p.Step = a.Steps[w.current].Title
	}
	return p
}

// Begin begins the walk of a finding. Where one for the same Machine is in the journal
// and not over, it is picked up instead, so that nothing is done twice.
func (r *Runner) Begin(ctx context.Context, f *model.Finding) (*Walk, error) {
	a := r.articles[f.Article]
	if a == nil || len(f.Subjects) == 0 {
		return nil, tell(ErrNoArticle, "there is no article to walk for "+f.Signature)
	}
	identity, err := r.cfg.Supervisor.Identity(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot tell which Supervisor this is: %w", err)
	}
	t, err := r.pin(ctx, f.Subjects[0].In(model.Place{}))
	if err != nil {
		return nil, err
	}
	id, trouble := r.findPending(identity, f, t)
	if errors.Is(trouble, ErrBusy) {
		return nil, trouble
	}
	if id != "" {
		return r.Resume(ctx, id)
	}
	facts, err := json.Marshal(f.Facts)
	if err != nil {
		return nil, fmt.Errorf("cannot keep what was found: %w", err)
	}
	if id, err = r.newID(); err != nil {
		return nil, err
	}
	w := r.newWalk(a, beginning{ID: id, Article: a.ID, Supervisor: identity, Server: r.cfg.Server, Context: r.cfg.Context,
		Cluster: f.Cluster, Target: t, Summary: text.Limit(text.Clean(f.Summary), 500), Facts: facts})
	if err := w.decodeFacts(); err != nil {
		return nil, err
	}
	if trouble != nil {
		w.trouble = short(trouble)
	}
	return w, nil
}

// pin reads the target live, so that another object of that name is never taken for it.
func (r *Runner) pin(ctx context.Context, ref model.ObjectRef) (target, error) {
	gvr, _, served, err := r.cfg.Supervisor.ResourceFor(ctx, ref.Kind)
	if err != nil {
		return target{}, fmt.Errorf("cannot read %s: %w", ref, err)
	}
	if !served {
		return target{}, fmt.Errorf("cannot read %s: the Supervisor does not serve %s", ref, ref.Kind)
	}
	u, err := r.cfg.Supervisor.Dynamic().Resource(gvr).Namespace(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return target{}, tell(ErrOver, ref.String()+" is gone already; there is nothing to mend")
	}
	if err != nil {
		return target{}, fmt.Errorf("cannot read %s: %w", ref, err)
	}
	return target{Ref: ref, UID: string(u.GetUID())}, nil
}

// findPending looks for a walk of the same article on the same object.
func (r *Runner) findPending(identity string, f *model.Finding, t target) (string, error) {
	ids, err := journalIDs(r.cfg.JournalDir)
	if err != nil {
		return "", err
	}
	for _, id := range slices.Backward(ids) {
		j, rec, err := openJournal(r.disk, r.cfg.JournalDir, id, r.cfg.Now)
		j.close()
		if errors.Is(err, ErrBusy) {
			if b := r.peek(id); b != nil && b.Supervisor == identity && b.Cluster == f.Cluster && b.Target == t {
				return "", tell(ErrBusy, "another vksmedic on this machine walks this already (journal "+id+")")
			}
		}
		if err != nil || rec.over() {
			continue // Pending says so where it matters.
		}
		if b := rec.begin; b.Supervisor == identity && b.Article == f.Article && b.Cluster == f.Cluster && b.Target == t {
			return id, nil
		}
	}
	return "", nil
}

// peek reads the beginning of a journal that somebody else holds.
func (r *Runner) peek(id string) *beginning {
	f, err := r.disk.open(filepath.Join(r.cfg.JournalDir, id+journalSuffix), false)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read.
	rec, _, err := readRecord(f)
	if err != nil || rec.over() {
		return nil
	}
	return rec.begin
}

// Resume picks up a walk from the journal. A change whose end was not written down is
// looked at, never repeated.
func (r *Runner) Resume(ctx context.Context, id string) (*Walk, error) {
	if id == "" || id != filepath.Base(id) {
		return nil, tell(ErrOver, "there is no such walk")
	}
	identity, err := r.cfg.Supervisor.Identity(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot tell which Supervisor this is: %w", err)
	}
	j, rec, err := openJournal(r.disk, r.cfg.JournalDir, id, r.cfg.Now)
	if err != nil {
		return nil, err
	}
	w, err := r.reopen(ctx, identity, j, rec)
	if err != nil {
		j.close()
		return nil, err
	}
	return w, nil
}

func (r *Runner) reopen(ctx context.Context, identity string, j *journal, rec *record) (*Walk, error) {
	b := rec.begin
	if b.Supervisor != identity {
		return nil, tell(ErrOtherSupervisor, "refused: "+otherSupervisor(b))
	}
	if rec.over() {
		return nil, tell(ErrOver, "this walk is over")
	}
	a := r.articles[b.Article]
	if a == nil {
		return nil, tell(ErrNoArticle, "this vksmedic does not know the article "+b.Article)
	}
	w := r.newWalk(a, *b)
	if err := w.decodeFacts(); err != nil {
		return nil, err
	}
	w.journal = j
	if err := w.pickUp(ctx, rec); err != nil {
		return nil, err
	}
	return w, nil
}

// Forget ends a walk in the journal without doing anything: it is no longer pending. What
// it changed stays as it is.
func (r *Runner) Forget(id string) error {
	if id == "" || id != filepath.Base(id) {
		return tell(ErrOver, "there is no such walk")
	}
	j, rec, err := openJournal(r.disk, r.cfg.JournalDir, id, r.cfg.Now)
	if err != nil {
		return err
	}
	defer j.close()
	if rec.over() {
		return tell(ErrOver, "this walk is over")
	}
	return j.write(entry{Kind: entryEnd, Who: r.cfg.Who, Note: "put away"})
}

// newID is the time and some randomness: sorted by time, and a valid name for a label or an annotation.
func (r *Runner) newID() (string, error) {
	b := make([]byte, 3)
	if _, err := io.ReadFull(r.cfg.Random, b); err != nil {
		return "", fmt.Errorf("cannot make an id: %w", err)
	}
	return r.cfg.Now().UTC().Format("20060102t150405") + "-" + hex.EncodeToString(b), nil
}

func (r *Runner) log(c *change, where string, err error, start time.Time) {
	cmd := Command{At: start, Line: c.command(r.cfg.Context), Where: where, Took: r.cfg.Now().Sub(start)}
	if err != nil {
		cmd.Err = short(err)
	}
	r.cfg.Log(cmd)
}
