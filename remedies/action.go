package remedies

import (
	"context"
	"time"

	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/model/text"
)

// action is what a step does. Besides this, an action is one of looker, chooser,
// changer and waiter, as its kind says. Actions hold no state: what they know
// comes with the scene.
type action interface {
	kind() StepKind
	// params returns a new, empty parameter struct for the article's with: strings and
	// lists of strings or such structs, each with a yaml tag; strings are templates. A
	// method check() error on it checks more.
	params() any
}

// looker reads and shows.
type looker interface {
	look(ctx context.Context, s *scene) (seen, error)
}

// seen is what a look brought.
type seen struct {
	lines []Line
	note  string
}

// chooser asks.
type chooser interface {
	choice(s *scene) *Choice
}

// changer changes something, in steps of which only the last writes.
type changer interface {
	// plan reads live what there is and says what would be changed. It writes nothing.
	plan(ctx context.Context, s *scene) (*plan, error)
	// holds reads live whether what the step is for is now so, and says it in words.
	holds(ctx context.Context, s *scene) (bool, string, error)
}

// waiter follows.
type waiter interface {
	// progress looks once, live. memory is kept between the looks of one step.
	progress(ctx context.Context, s *scene, memory *waitMemory) (Progress, error)
}

// waitMemory is what a waiting step remembers between its looks.
type waitMemory struct {
	began  time.Time
	stages map[string]stageTimes
	gone   time.Time // when the thing waited for was first seen to be so.
	// deployment and worker are of the Machine that is waited for, from when it was there.
	deployment string
	worker     bool
}

type stageTimes struct{ from, to time.Time }

// plan is what a step that changes something would do.
type plan struct {
	// preview is what the engineer is shown; the walk fills in the token, the command
	// and what the dry run says.
	preview Preview
	// change is what would be sent; nil where there is nothing to do, or nothing that can be done.
	change *change
	// basis is what the plan was computed from, as lines of text: when the basis or the
	// change differ at the time of confirming, the preview moved.
	basis []string
}

// scene is all that an action may use.
type scene struct {
	sup      Supervisor
	workload func(ctx context.Context, c model.ClusterRef) (dynamic.Interface, error)
	snapshot func() *model.Snapshot
	now      func() time.Time
	context  string // of the kubeconfig, for command lines.

	cluster model.ClusterRef
	facts   any
	target  target
	choice  map[string]string
	made    map[string]*change // what steps of this walk changed, by step id.
	madeAt  map[string]time.Time
	params  any // of this step, filled in.
}

// target is the object that the walk is about.
type target struct {
	Ref model.ObjectRef `json:"ref"`
	UID string          `json:"uid,omitempty"`
}

// neighbours are the names of the other clusters in the vSphere Namespace.
func (s *scene) neighbours() []string {
	sn := s.snapshot()
	if sn == nil {
		return nil
	}
	var out []string
	for _, c := range sn.Clusters {
		if c.Ref.Namespace == s.cluster.Namespace && c.Ref.Name != s.cluster.Name {
			out = append(out, text.Clean(c.Ref.String()))
		}
	}
	return out
}

// allActions are the actions that articles can name.
func allActions() map[string]action {
	return map[string]action{
		"choose":               choose{},
		"look-at-agents":       lookAtAgents{},
		"apply-drain-rule":     applyDrainRule{},
		"take-back-drain-rule": takeBackDrainRule{},
		"wait-machine-gone":    waitMachineGone{},
	}
}
