package drainrule

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
	"vksmedic/remedies"
)

// waitMachineGone follows the deletion of the Machine stage by stage, and then looks
// whether the rollout goes on.
type waitMachineGone struct{}

// WaitMachineGoneParams are the parameters of wait-machine-gone.
type WaitMachineGoneParams struct {
	After string `yaml:"after" need:"yes" template:"no" step:"change" doc:"the id of the step that lets the drain pass"`
	Label string `yaml:"label" need:"yes" doc:"the label of the agents"`
}

// Kind is wait.
func (waitMachineGone) Kind() remedies.StepKind { return remedies.StepWait }

// Verify follows the deletion.
func (waitMachineGone) Verify(sc *remedies.Scene) remedies.Watch {
	p := sc.Params.(*WaitMachineGoneParams) //nolint:errcheck,forcetypeassert // the registry's type.
	mem := &waitMemory{stages: map[string]stageTimes{}}
	return func(ctx context.Context) (remedies.Progress, error) { return mem.look(ctx, scene{sc}, p) }
}

// waitMemory is what a watch remembers between its looks.
type waitMemory struct {
	stages map[string]stageTimes
	gone   time.Time // when the Machine was first seen to be gone.
	// deployment and worker are of the Machine that is waited for, node and vm are what belongs
	// to it; from when it was there.
	deployment, node, vm string
	worker, known        bool
}

type stageTimes struct{ from, to time.Time }

const (
	// verdictAfter is when something can be said: Cluster API drains again every 20 s.
	verdictAfter = 30 * time.Second
	// rolloutPatience is how long to look for signs of the rollout after the Machine is gone.
	rolloutPatience = 3 * time.Minute
)

// Stages that more is said of. The last two are not the Machine's own.
const (
	stageVM      = "infrastructure"
	stageNode    = "node"
	stageGone    = "gone"
	stageRollout = "rollout"
)

// waitStage is one line of the progress; the Machine's own stages that it stands for.
type waitStage struct {
	id, title string
	last      lifecycle.Stage // the stage of the deletion with which it ends.
}

func waitStages() []waitStage {
	return []waitStage{
		{"drain", "Drain the node", lifecycle.Draining},
		{"volumes", "Detach the volumes", lifecycle.VolumeDetach},
		{"hooks", "Hooks before the end", lifecycle.PreTerminateHook},
		{stageVM, "Delete the VM", lifecycle.Infrastructure},
		{"bootstrap", "Delete the bootstrap data", lifecycle.Bootstrap},
		{stageNode, "Delete the node", lifecycle.DeletingNode},
		{stageGone, "Machine gone", lifecycle.DeletionCompleted},
		{stageRollout, "Rollout goes on", ""},
	}
}

// look looks once.
func (mem *waitMemory) look(ctx context.Context, s scene, p *WaitMachineGoneParams) (remedies.Progress, error) {
	m, err := s.machine(ctx)
	if err != nil {
		return remedies.Progress{}, err
	}
	now := s.Now()
	if m == nil {
		return rolloutProgress(ctx, s, mem, now)
	}
	mem.deployment, mem.worker, mem.node, mem.vm, mem.known = m.Deployment, !m.ControlPlane, m.NodeName, m.Name, true
	d := lifecycle.StageOf(m)
	at := placeOf(d.Stage)
	out := remedies.Progress{Stages: mem.stagesAt(at, now, d, nil), Last: text.Limit(text.Clean(d.Text), 400)}
	if out.Last == "" {
		out.Last = "Machine " + m.Name + " " + d.Stage.Words()
	}
	out.Stages[at].Detail = waitsFor(&d)
	if d.Stage.Index() <= lifecycle.Draining.Index() {
		return stillDraining(ctx, s, p, out, now)
	}
	return out, nil
}

// placeOf is the line of the progress for a stage of the deletion.
func placeOf(st lifecycle.Stage) int {
	for i, w := range waitStages() {
		if w.last != "" && st.Index() <= w.last.Index() {
			return i
		}
	}
	return 0
}

// waitsFor says what a stage waits for, in few words.
func waitsFor(d *lifecycle.Deletion) string {
	if len(d.WaitsFor) > 0 {
		return text.List(cleanAll(d.WaitsFor), 4)
	}
	var parts []string
	for _, g := range d.Message.Groups {
		if !g.Why.Now() {
			continue
		}
		var pods []string
		for _, p := range g.Pods {
			pods = append(pods, text.Clean(p.String()))
		}
		if len(pods) > 0 {
			parts = append(parts, text.List(pods, 3))
		}
	}
	return strings.Join(parts, "; ")
}

func cleanAll(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = text.Clean(s)
	}
	return out
}

// stillDraining says whether it is too early for a verdict, and fails when nothing lets the agents pass any more.
func stillDraining(ctx context.Context, s scene, p *WaitMachineGoneParams, out remedies.Progress, now time.Time) (remedies.Progress, error) {
	for _, m := range s.Of(p.After) {
		if end := m.Sent.Add(verdictAfter); now.Before(end) {
			out.Early = end
		}
	}
	pass, why, err := agentsPass(ctx, s, p.Label)
	if err != nil {
		return remedies.Progress{}, err
	}
	if !pass {
		out.Failed, out.Done = why+"; b goes back to the step that makes the rule", true
	}
	return out, nil
}

// stagesAt are the lines of the progress with the one at a place under way. A stage before it
// is done where it was seen under way, or where Cluster API itself stands at a later one: it
// goes through them in their order. Of a Machine that is gone only what was seen is known:
// ended says what could still be looked at.
func (mem *waitMemory) stagesAt(at int, now time.Time, d lifecycle.Deletion, ended map[string]remedies.Stage) []remedies.Stage {
	var out []remedies.Stage
	for i, w := range waitStages() {
		t := mem.stages[w.id]
		st := remedies.Stage{Title: w.title, State: remedies.StatePending}
		switch {
		case i < at:
			st.State = remedies.StateDone
			if ended != nil && t.to.IsZero() {
				st.State = remedies.StateNotSeen
			}
			if !t.from.IsZero() && t.to.IsZero() && ended == nil {
				t.to = now
			}
			if x, ok := ended[w.id]; ok {
				st.State, st.Detail = x.State, x.Detail
			}
			if !t.from.IsZero() && !t.to.IsZero() {
				st.Took = t.to.Sub(t.from)
			}
		case i == at:
			st.State = remedies.StateCurrent
			if t.from.IsZero() {
				t.from = now
				if !d.Since.IsZero() && d.Since.Before(now) {
					t.from = d.Since
				}
			}
			st.Took = now.Sub(t.from)
			for _, before := range waitStages()[:i] { // Cluster API has got past them.
				if b := mem.stages[before.id]; b.to.IsZero() && ended == nil {
					b.to = now
					if b.from.IsZero() {
						b.from = now // it was over before we looked.
					}
					mem.stages[before.id] = b
				}
			}
		}
		mem.stages[w.id] = t
		out = append(out, st)
	}
	return out
}

// leftOver looks what is left of a Machine that is gone: its VM and its node. Where its
// finalizer was taken off by hand, both may still be there, and nothing takes care of them.
func (mem *waitMemory) leftOver(ctx context.Context, s scene) (ended map[string]remedies.Stage, warning string) {
	gone := remedies.Stage{State: remedies.StateDone, Detail: "it is gone"}
	ended = map[string]remedies.Stage{stageGone: {State: remedies.StateDone}}
	var left []string
	if !mem.known {
		mem.vm, mem.node = s.Target.Ref.Name, s.nodeOfTarget()
	}
	switch vm, err := s.get(ctx, model.ObjectRef{Kind: "VirtualMachine", Namespace: s.Target.Ref.Namespace, Name: mem.vm}); {
	case err != nil:
		ended[stageVM] = remedies.Stage{State: remedies.StateNotSeen, Detail: remedies.Short(err)}
	case vm == nil:
		ended[stageVM] = gone
	default:
		ended[stageVM] = remedies.Stage{State: remedies.StateNotSeen, Detail: "VirtualMachine " + mem.vm + " is still there"}
		left = append(left, "VirtualMachine "+s.Target.Ref.Namespace+"/"+mem.vm)
	}
	switch there, err := s.nodeThere(ctx, mem.node); {
	case mem.node == "":
	case err != nil:
		ended[stageNode] = remedies.Stage{State: remedies.StateNotSeen, Detail: remedies.Short(err)}
	case !there:
		ended[stageNode] = gone
	default:
		ended[stageNode] = remedies.Stage{State: remedies.StateNotSeen, Detail: "Node " + mem.node + " is still there"}
		left = append(left, "Node "+mem.node)
	}
	if len(left) > 0 {
		warning = "left over, and nothing takes care of it: " + remedies.List(left)
	}
	return ended, warning
}

// rolloutProgress is the progress once the Machine is gone.
func rolloutProgress(ctx context.Context, s scene, mem *waitMemory, now time.Time) (remedies.Progress, error) {
	if mem.gone.IsZero() {
		mem.gone = now
	}
	last := len(waitStages()) - 1
	ended, warning := mem.leftOver(ctx, s)
	out := remedies.Progress{Stages: mem.stagesAt(last, now, lifecycle.Deletion{}, ended)}
	out.Stages[last].Took = now.Sub(mem.gone)
	words, seen, err := rollout(ctx, s, mem)
	if errors.Is(ctx.Err(), context.Canceled) {
		return remedies.Progress{}, err
	}
	switch {
	case err != nil: // unknown, for as long as there is patience; the Machine is gone all the same.
		words = joinWords(words, "whether the rollout goes on could not be read: "+remedies.Short(err))
	case words == "":
		words = "nothing else moves yet"
	}
	ends := !seen && now.Sub(mem.gone) > rolloutPatience
	if ends {
		words += "; look at the cluster"
	}
	if warning != "" {
		words = warning + "; " + words
	}
	out.Last = text.Clean("Machine " + s.Target.Ref.Name + " is gone; " + words)
	out.Stages[last].Detail = text.Clean(words)
	switch {
	case seen:
		out.Stages[last].State, out.Done = remedies.StateDone, true
	case ends: // nobody saw it.
		out.Stages[last].State, out.Done = remedies.StateNotSeen, true
	}
	return out, nil
}

// rollout looks whether the rollout goes on or is over: the next Machine is being deleted or
// made, or all replicas are up to date. The error says what of it could not be read; words and
// seen are what the rest says.
func rollout(ctx context.Context, s scene, mem *waitMemory) (words string, seen bool, err error) {
	deployment := ""
	if mem.worker {
		deployment = mem.deployment
	}
	owner, n, blind := s.replicas(ctx, deployment)
	count := ""
	if blind == nil && n != nil && n.Desired != nil && n.UpToDate != nil {
		count = fmt.Sprintf("%s: %d of %d up to date", owner, *n.UpToDate, *n.Desired)
		if *n.UpToDate >= *n.Desired && (n.Current == nil || *n.Current == *n.Desired) {
			return count, true, nil
		}
	}
	machines, err := s.machinesOf(ctx)
	if err != nil && blind != nil {
		err = fmt.Errorf("%w; %w", blind, err)
	}
	if err != nil {
		return count, false, err
	}
	for _, m := range machines {
		if m.UID == s.Target.UID || m.ControlPlane == mem.worker || (mem.worker && m.Deployment != mem.deployment) {
			continue
		}
		if next := nextWords(m); next != "" {
			return joinWords(count, next), true, nil
		}
	}
	return count, false, blind
}

// nextWords says that a Machine is the next of the rollout, or nothing.
func nextWords(m *model.Machine) string {
	switch {
	case !m.Deleting.IsZero():
		return "the next one is Machine " + m.Name + ", which " + lifecycle.StageOf(m).Stage.Words()
	case m.Phase == "Pending" || m.Phase == "Provisioning" || m.Phase == "Provisioned":
		return "the next one is Machine " + m.Name + ", which is " + m.Phase
	}
	return ""
}

func joinWords(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
