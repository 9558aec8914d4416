package drainrule

import (
	"context"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
)

// TakeBack takes back what an attempt did to a rule, computed from the rule as it is now:
// what others added to it stays.
func (drainRule) TakeBack(ctx context.Context, sc *remedies.Scene, m *remedies.Made) (*remedies.Plan, error) {
	s := scene{sc}
	made := m.Effect.(*effect.Object) //nolint:errcheck,forcetypeassert // what Plan made.
	p := &remedies.Plan{Preview: remedies.Preview{Title: "Take back the MachineDrainRule"}}
	live, err := made.Live(ctx, s.Sites)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the rule already.
	}
	if live == nil || string(live.GetUID()) != m.Receipt.UID || live.GetDeletionTimestamp() != nil {
		p.Preview.Done = "MachineDrainRule " + made.Name + " of this walk is gone already"
		return p, nil
	}
	p = takeBack(made, live, m.Walk)
	if p.Effect == nil {
		return p, nil
	}
	p.Basis = append(p.Basis, ruleLine(live))
	p.Preview.Means = append(p.Preview.Means, "Drains from now on evict the agents again, and may stop at them again.")
	if names := s.deleting(); len(names) > 0 {
		p.Preview.Now = []string{"being deleted right now in " + s.Cluster.Namespace + ": " + text.List(names, 5)}
	}
	return p, nil
}

// takeBack is the plan that undoes a change on the rule as it is now; Done says why nothing of
// it is left.
func takeBack(made *effect.Object, live *unstructured.Unstructured, walk string) *remedies.Plan {
	wantPods := nested(made.Want, "spec", "pods")
	wasPods := nested(made.Was, "spec", "pods")
	livePods := nested(live.Object, "spec", "pods")
	added := slices.DeleteFunc(slices.Clone(wantPods), func(e any) bool { return containsEntry(wasPods, e) })
	pods := slices.DeleteFunc(slices.Clone(livePods), func(e any) bool { return containsEntry(added, e) })

	wantMachines := nested(made.Want, "spec", "machines")
	wasMachines := nested(made.Was, "spec", "machines")
	liveMachines := nested(live.Object, "spec", "machines")
	machines := liveMachines
	if made.Verb == effect.Update {
		machines = machinesBack(wasMachines, wantMachines, liveMachines)
	}
	switch {
	case len(pods) == 0:
		// Without pods the rule would skip every pod.
		p := made.Remove(live, walk)
		if made.Verb == effect.Update {
			p.Preview.Warnings = append(p.Preview.Warnings, "without what this walk added it would have no pods, which means every pod, so it is deleted whole")
		}
		return p
	case len(pods) == len(livePods) && reflect.DeepEqual(machines, liveMachines):
		return &remedies.Plan{Preview: remedies.Preview{Done: "nothing of what this walk added is left in MachineDrainRule " + made.Name}}
	}
	want := effect.Whole(live)
	setSlice(want, pods, "spec", "pods")
	if len(machines) > 0 {
		setSlice(want, machines, "spec", "machines")
	}
	p := &remedies.Plan{Effect: made.Change(live, want)}
	p.Preview.Title, p.Preview.TakeBack = "Change MachineDrainRule "+made.Name+" back", "walk the article again"
	if made.Verb == effect.Create {
		p.Preview.Warnings = []string{"others added to this rule since; what they added stays"}
	}
	return p
}

// machinesBack undoes the change of spec.machines. It never empties a list that is there,
// since that would mean every Machine.
func machinesBack(was, want, live []any) []any {
	if len(was) > 0 && len(want) == 0 { // the walk had taken them off.
		if len(live) == 0 {
			return was
		}
		return live
	}
	rest := slices.DeleteFunc(slices.Clone(live), func(e any) bool { return containsEntry(want, e) && !containsEntry(was, e) })
	if len(rest) == 0 {
		return live
	}
	return rest
}

// deleting names the Machines in the vSphere Namespace that are being deleted.
func (s scene) deleting() []string {
	sn := s.Snapshot()
	if sn == nil {
		return nil
	}
	var out []string
	for _, c := range sn.Clusters {
		if c.Ref.Namespace != s.Cluster.Namespace {
			continue
		}
		for _, m := range c.Machines {
			if !m.Deleting.IsZero() {
				out = append(out, m.Name)
			}
		}
	}
	return out
}
