package remedies

import (
	"context"
	"fmt"
	"strings"
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/model/text"
)

// waitMachineGone follows the deletion of the Machine stage by stage, and then looks
// whether the rollout goes on.
type waitMachineGone struct{}

type waitMachineGoneParams struct {
	// Rule is the id of the step that lets the drain pass.
	Rule string `yaml:"rule"`
	// Label is the label of the agents.
	Label string `yaml:"label"`
}

func (p *waitMachineGoneParams) check() error { return required("rule", p.Rule, "label", p.Label) }

func (waitMachineGone) kind() StepKind { return StepWait }
func (waitMachineGone) params() any    { return &waitMachineGoneParams{} }

const (
	// verdictAfter is when something can be said: Cluster API drains again every 20 s.
	verdictAfter = 30 * time.Second
	// rolloutPatience is how long to look for signs of the rollout after the Machine is gone.
	rolloutPatience = 3 * time.Minute
)

// The last two stages are not the Machine's own.
const (
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
		{"infrastructure", "Delete the VM", lifecycle.Infrastructure},
		{"bootstrap", "Delete the bootstrap data", lifecycle.Bootstrap},
		{"node", "Delete the node", lifecycle.DeletingNode},
		{stageGone, "Machine gone", lifecycle.DeletionCompleted},
		{stageRollout, "Rollout goes on", ""},
	}
}

func (waitMachineGone) progress(ctx context.Context, s *scene, mem *waitMemory) (Progress, error) {
	p := s.params.(*waitMachineGoneParams) //nolint:errcheck,forcetypeassert // what params returned.
	m, err := s.machine(ctx)
	if err != nil {
		return Progress{}, err
	}
	now := s.now()
	if m == nil {
		return rolloutProgress(ctx, s, mem, now)
	}
	mem.deployment, mem.worker = m.Deployment, !m.ControlPlane
	d := lifecycle.StageOf(m)
	at := placeOf(d.Stage)
	out := Progress{Stages: mem.stagesAt(at, now, d), Last: text.Limit(text.Clean(d.Text), 400)}
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
func stillDraining(ctx context.Context, s *scene, p *waitMachineGoneParams, out Progress, now time.Time) (Progress, error) {
	if made, ok := s.madeAt[p.Rule]; ok && now.Before(made.Add(verdictAfter)) {
		out.Early = made.Add(verdictAfter)
	}
	pass, why, err := agentsPass(ctx, s, p.Label)
	if err != nil {
		return Progress{}, err
	}
	if !pass {
		out.Failed, out.Done = why, true
	}
	return out, nil
}

// stagesAt are the lines of the progress with the one at a place under way.
func (mem *waitMemory) stagesAt(at int, now time.Time, d lifecycle.Deletion) []Stage {
	var out []Stage
	for i, w := range waitStages() {
		t := mem.stages[w.id]
		st := Stage{Title: w.title, State: StatePending}
		switch {
		case i < at:
			st.State = StateDone
			if !t.from.IsZero() && t.to.IsZero() {
				t.to = now
			}
			if !t.from.IsZero() {
				st.Took = t.to.Sub(t.from)
			}
		case i == at:
			st.State = StateCurrent
			if t.from.IsZero() {
				t.from = now
				if !d.Since.IsZero() && d.Since.Before(now) {
					t.from = d.Since
				}
			}
			st.Took = now.Sub(t.from)
		}
		mem.stages[w.id] = t
		out = append(out, st)
	}
	return out
}

// rolloutProgress is the progress once the Machine is gone.
func rolloutProgress(ctx context.Context, s *scene, mem *waitMemory, now time.Time) (Progress, error) {
	if mem.gone.IsZero() {
		mem.gone = now
	}
	last := len(waitStages()) - 1
	out := Progress{Stages: mem.stagesAt(last, now, lifecycle.Deletion{})}
	out.Stages[last].Took = now.Sub(mem.gone)
	words, over, err := rollout(ctx, s, mem)
	if err != nil {
		return Progress{}, err
	}
	if words == "" {
		words = "nothing else moves yet"
	}
	if !over && now.Sub(mem.gone) > rolloutPatience {
		over, words = true, words+"; look at the cluster"
	}
	out.Last = text.Clean("Machine " + s.target.Ref.Name + " is gone; " + words)
	out.Stages[last].Detail = text.Clean(words)
	if over {
		out.Stages[last].State, out.Done = StateDone, true
	}
	return out, nil
}

// rollout looks whether the rollout goes on or is over: the next Machine is being deleted or
// made, or all replicas are up to date.
func rollout(ctx context.Context, s *scene, mem *waitMemory) (words string, over bool, err error) {
	deployment := ""
	if mem.worker {
		deployment = mem.deployment
	}
	owner, n, err := s.replicas(ctx, deployment)
	if err != nil {
		return "", false, err
	}
	count := ""
	if n != nil && n.Desired != nil && n.UpToDate != nil {
		count = fmt.Sprintf("%s: %d of %d up to date", owner, *n.UpToDate, *n.Desired)
		if *n.UpToDate >= *n.Desired && (n.Current == nil || *n.Current == *n.Desired) {
			return count, true, nil
		}
	}
	machines, err := s.machinesOf(ctx)
	if err != nil {
		return "", false, err
	}
	for _, m := range machines {
		if m.UID == s.target.UID || m.ControlPlane == mem.worker || (mem.worker && m.Deployment != mem.deployment) {
			continue
		}
		if next := nextWords(m); next != "" {
			return joinWords(count, next), true, nil
		}
	}
	return count, false, nil
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
