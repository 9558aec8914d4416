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
func (drainRule) TakeBack(ctx context.Context, sc *remedies.Scene, m *remedies.Made) (remedies.Back, error) {
	s := scene{sc}
	made := m.Effect.(*effect.Object) //nolint:errcheck,forcetypeassert // what Plan made.
	live, err := made.Live(ctx, s.Sites)
	if err != nil {
		return remedies.Back{}, err //nolint:wrapcheck // it names the rule already.
	}
	if settled := made.Settled(live, m.Receipt); settled != nil {
		return *settled, nil
	}
	if live.GetDeletionTimestamp() != nil { // it goes whole, with what was added to it.
		return remedies.Back{Left: remedies.LeftEnding, Words: made.Ref().String() + " is still there; " + effect.Ending(live)}, nil
	}
	back := takeBack(made, live, m.Walk)
	if back.Left != remedies.LeftSome {
		return back, nil
	}
	p := back.Plan
	p.Basis = append(p.Basis, ruleLine(live))
	p.Preview.Means = append(p.Preview.Means, "Drains from now on evict the agents again, and may stop at them again.")
	if names := s.deleting(); len(names) > 0 {
		p.Preview.Now = []string{"being deleted right now in " + s.Cluster.Namespace + ": " + text.List(names, 5)}
	}
	return back, nil
}

// takeBack is what is left of a change in the rule as it is now, and how that is undone.
func takeBack(made *effect.Object, live *unstructured.Unstructured, walk string) remedies.Back {
	wantPods := nested(made.Want, "spec", "pods")
	wasPods := nested(made.Was, "spec", "pods")
	livePods := nested(live.Object, "spec", "pods")
	added := slices.DeleteFunc(slices.Clone(wantPods), func(e any) bool { return containsEntry(wasPods, e) })
	pods := slices.DeleteFunc(slices.Clone(livePods), func(e any) bool { return containsEntry(added, e) })

	liveMachines := nested(live.Object, "spec", "machines")
	machines, stuck := liveMachines, false
	if made.Verb == effect.Update {
		machines, stuck = machinesBack(nested(made.Was, "spec", "machines"), nested(made.Want, "spec", "machines"), liveMachines)
	}
	const stays = "the Machines that this walk added to it stay in spec.machines: without any, it would count for every Machine"
	ref := made.Ref().String()
	switch {
	case len(pods) == 0:
		// Without pods the rule would skip every pod.
		p := made.Remove(live, walk)
		if made.Verb == effect.Update {
			p.Preview.Warnings = append(p.Preview.Warnings, "without what this walk added it would have no pods, which means every pod, so it is deleted whole")
		}
		return remedies.Back{Left: remedies.LeftSome, Plan: p}
	case len(pods) == len(livePods) && reflect.DeepEqual(machines, liveMachines) && stuck:
		return remedies.Back{Left: remedies.LeftStuck, Words: ref + " cannot be changed back: " + stays + "; look by hand"}
	case len(pods) == len(livePods) && reflect.DeepEqual(machines, liveMachines):
		return remedies.Back{Left: remedies.LeftNothing, Words: "nothing of what this walk added is left in " + ref}
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
	if stuck {
		p.Preview.Warnings = append(p.Preview.Warnings, stays)
	}
	return remedies.Back{Left: remedies.LeftSome, Plan: p}
}

// machinesBack undoes the change of spec.machines. It never empties a list that is there,
// since that would mean every Machine; stuck says that it would have to.
func machinesBack(was, want, live []any) (back []any, stuck bool) {
	if len(was) > 0 && len(want) == 0 { // the walk had taken them off.
		if len(live) == 0 {
			return was, false
		}
		return live, false
	}
	rest := slices.DeleteFunc(slices.Clone(live), func(e any) bool { return containsEntry(want, e) && !containsEntry(was, e) })
	if len(rest) == 0 {
		return live, len(live) > 0
	}
	return rest, false
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
