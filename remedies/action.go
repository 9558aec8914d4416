package remedies

import (
	"context"
	"errors"
	"time"

	"vksmedic/model"
	"vksmedic/model/text"
)

// Action is what a step of an article does. It is one of [Looker], [Chooser], [Changer],
// [Waiter] and [Manual]. Actions hold no state: what they know comes with the scene.
type Action interface {
	// Kind is which of them it is.
	Kind() StepKind
}

// Looker reads and shows.
type Looker interface {
	Action
	Look(ctx context.Context, s *Scene) (Found, error)
}

// Found is what a look brought.
type Found struct {
	Lines []Line
	Note  string
}

// Chooser asks the engineer. Its options may come from live data.
type Chooser interface {
	Action
	Choice(ctx context.Context, s *Scene) (*Choice, error)
}

// Changer changes something. Only the effect of its plan writes.
type Changer interface {
	Action
	// Plan reads live what there is and says what would be changed. It writes nothing.
	Plan(ctx context.Context, s *Scene) (*Plan, error)
	// Verify looks whether what the step is for is so.
	Verify(s *Scene) Watch
}

// TakerBack is a changer that knows how to take back what an attempt of it did, where the
// effect alone does not know enough.
type TakerBack interface {
	Changer
	// TakeBack says what is left of an attempt, computed from what is there now, and how that is
	// taken back.
	TakeBack(ctx context.Context, s *Scene, m *Made) (Back, error)
}

// Waiter follows what others do.
type Waiter interface {
	Action
	Verify(s *Scene) Watch
}

// Manual is done by a person and verified by us.
type Manual interface {
	Action
	Commands(s *Scene) []string
	Verify(s *Scene) Watch
}

// Watch is a look that is repeated until its progress is done. It remembers what it saw; a
// new watch starts without that memory.
type Watch func(ctx context.Context) (Progress, error)

// Once is a watch that is over after its first look.
func Once(holds func(ctx context.Context) (bool, string, error)) Watch {
	return func(ctx context.Context) (Progress, error) {
		ok, words, err := holds(ctx)
		if err != nil {
			return Progress{}, err
		}
		p := Progress{Done: true, Last: words}
		if !ok {
			p.Failed = words
		}
		return p, nil
	}
}

// Steady wraps a watch, so that one good look is not enough: it is done when w has been done,
// and not failed, for the duration stay without a break. It fails when there is a break, and
// when w is not done for the first time within limit; a limit of zero is none. A look that
// errs is unknown: it counts against the limit too, and what then is said is that it could not be
// read. An error that asks something of the engineer ends nothing, and neither does a cancelled look.
func Steady(w Watch, stay, limit time.Duration, now func() time.Time) Watch {
	var began, content time.Time
	return func(ctx context.Context) (Progress, error) {
		if began.IsZero() {
			began = now()
		}
		p, err := w(ctx)
		t := now()
		late := limit > 0 && t.Sub(began) >= limit
		if err != nil {
			content = time.Time{}
			var asking *Asking
			if !late || errors.As(err, &asking) || errors.Is(ctx.Err(), context.Canceled) {
				return p, err
			}
			words := "whether it is so is not known after " + text.Age(limit) + ": it could not be read: " + Short(err)
			return Progress{Stages: p.Stages, Last: words, Done: true, Failed: words}, nil
		}
		if p.Done && p.Failed == "" {
			if content.IsZero() {
				content = t
			}
			if left := stay - t.Sub(content); left > 0 {
				p.Done, p.Early = false, content.Add(stay)
				p.Last += "; it has to stay so for " + text.Age(stay)
			}
			return p, nil
		}
		broke := !content.IsZero()
		content = time.Time{}
		switch {
		case broke:
			p.Done, p.Failed = true, "it was as it should be, and did not stay so: "+p.Last
		case late:
			p.Done, p.Failed = true, "it is not so after "+text.Age(limit)+": "+p.Last
		default:
			p.Done, p.Failed = false, ""
		}
		return p, nil
	}
}

// Scene is all that an action may use.
type Scene struct {
	Sites    *Sites
	Snapshot func() *model.Snapshot
	Now      func() time.Time

	Cluster model.ClusterRef
	Facts   any
	Target  Target
	Choice  map[string]string
	// Item is what the step is done for, in a step that is done for several things.
	Item string
	// Made are the attempts of this walk that were made, and those of which that cannot be told,
	// the oldest first. What was taken back is among them, and what took it back.
	Made []Made
	// Params are those of this step, filled in. Unknown names what could not be filled in, such
	// as a fact that the finding does not have; a plan with unknown parts is not applied.
	Params  any
	Unknown []string
	// Own says that the article is an engineer's own: it may change nothing outside of the vSphere
	// Namespace of its cluster.
	Own bool
	// Debt is what the walk was begun to pay; nil where it was begun for a finding.
	Debt *Debt
	// Who is the engineer, Marks tell the Supervisor, and Began is when the walk began. Next is
	// the attempt that a plan would become.
	Who   string
	Marks model.Marks
	Began time.Time
	Next  Attempt
}

// Made is an attempt that was made.
type Made struct {
	Attempt
	Step, Item string
	Effect     Effect
	Receipt    Receipt
	// TakenBack says that a later attempt took it back.
	TakenBack bool
	// TakesBack are the numbers of the attempts that this one takes back; empty for one that takes
	// nothing back.
	TakesBack []int
	// Unsure says that whether it was made cannot be told.
	Unsure bool
	// By is the action of its step.
	By Action
}

// Stands says whether something of the attempt is to be taken back: it was not yet, and is
// itself none that takes back.
func (m *Made) Stands() bool { return !m.TakenBack && len(m.TakesBack) == 0 }

// Of are the attempts that were made in a step and are to be taken back, the oldest first.
func (s *Scene) Of(step string) []Made {
	var out []Made
	for _, m := range s.Made {
		if m.Step == step && m.Stands() {
			out = append(out, m)
		}
	}
	return out
}

// Neighbours are the names of the other clusters in the vSphere Namespace.
func (s *Scene) Neighbours() []string { return Neighbours(s.Snapshot(), s.Cluster) }

// Neighbours are the names of the other clusters in a cluster's vSphere Namespace; sn may be nil.
func Neighbours(sn *model.Snapshot, cluster model.ClusterRef) []string {
	if sn == nil {
		return nil
	}
	var out []string
	for _, c := range sn.Clusters {
		if c.Ref.Namespace == cluster.Namespace && c.Ref.Name != cluster.Name {
			out = append(out, text.Clean(c.Ref.String()))
		}
	}
	return out
}

// Target is the object that the walk is about.
type Target struct {
	Ref   model.ObjectRef `json:"ref"`
	Place model.Place     `json:"place"`
	UID   string          `json:"uid,omitempty"`
}

// Asking is an error that says that a question has to be answered first. Whoever gets it
// asks the engineer, gives the answer to Take, and tries again. Nothing was written.
type Asking struct {
	Ask
	// Take takes the answer, for as long as the connection is open. It is never written down.
	Take func(answer string) error
}

// Error is the question.
func (a *Asking) Error() string { return a.Question }
