package remedies

import (
	"context"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/model/text"
)

// takeBackDrainRule takes back what applyDrainRule did in this walk. It is computed from
// the rule as it is now: what others added to it stays.
type takeBackDrainRule struct{}

type takeBackDrainRuleParams struct {
	// Rule is the id of the step that is taken back.
	Rule string `yaml:"rule"`
}

func (p *takeBackDrainRuleParams) check() error { return required("rule", p.Rule) }

func (takeBackDrainRule) kind() StepKind { return StepChange }
func (takeBackDrainRule) params() any    { return &takeBackDrainRuleParams{} }

func (t takeBackDrainRule) plan(ctx context.Context, s *scene) (*plan, error) {
	made, out := t.made(s), &plan{preview: Preview{Title: "Take back the MachineDrainRule"}}
	if made == nil {
		out.preview.Done = "this walk changed no rule, so there is nothing to take back"
		return out, nil
	}
	live, err := t.live(ctx, s, made)
	if err != nil {
		return nil, err
	}
	if live == nil || string(live.GetUID()) != made.UID {
		out.preview.Done = "MachineDrainRule " + made.Name + " of this walk is gone already"
		return out, nil
	}
	out.basis = []string{ruleLine(live)}
	c, title, warning := takeBack(made, live)
	if c == nil {
		out.preview.Done = title
		return out, nil
	}
	out.change, out.preview.Title = c, title
	if warning != "" {
		out.preview.Warnings = append(out.preview.Warnings, warning)
	}
	out.preview.Means = []string{"Drains from now on evict the agents again, and may stop at them again."}
	if names := deletingIn(s); len(names) > 0 {
		out.preview.Reaches = []string{"being deleted right now in " + s.cluster.Namespace + ": " + text.List(names, 5)}
	}
	out.preview.TakeBack = "walk the article again"
	return out, nil
}

func (takeBackDrainRule) made(s *scene) *change {
	p := s.params.(*takeBackDrainRuleParams) //nolint:errcheck,forcetypeassert // what params returned.
	return s.made[p.Rule]
}

func (takeBackDrainRule) live(ctx context.Context, s *scene, made *change) (*unstructured.Unstructured, error) {
	u, err := made.client(s.sup.Dynamic()).Get(ctx, made.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, tell(err, "cannot read "+made.ref().String()+": "+short(err))
	}
	return u, nil
}

// takeBack computes the change that undoes another on the object as it is now; nil, with
// the reason, where nothing of it is left.
func takeBack(made *change, live *unstructured.Unstructured) (c *change, title, warning string) {
	remove := newChange(verbDelete, made.gvr(), made.Kind, made.Namespace, made.Name).over(live)
	if made.Verb == verbCreate && sameSpec(live.Object, made.Want) {
		return remove, "Delete MachineDrainRule " + made.Name, ""
	}
	wantPods := nested(made.Want, "spec", "pods")
	wasPods := nested(made.Was, "spec", "pods")
	livePods := nested(live.Object, "spec", "pods")
	added := slices.DeleteFunc(slices.Clone(wantPods), func(e any) bool { return containsEntry(wasPods, e) })
	pods := slices.DeleteFunc(slices.Clone(livePods), func(e any) bool { return containsEntry(added, e) })

	wantMachines := nested(made.Want, "spec", "machines")
	wasMachines := nested(made.Was, "spec", "machines")
	liveMachines := nested(live.Object, "spec", "machines")
	machines := liveMachines
	if made.Verb == verbUpdate {
		machines = machinesBack(wasMachines, wantMachines, liveMachines)
	}
	switch {
	case len(pods) == len(livePods) && reflect.DeepEqual(machines, liveMachines):
		return nil, "nothing of what this walk added is left in MachineDrainRule " + made.Name, ""
	case len(pods) == 0:
		// Without pods the rule would skip every pod.
		return remove, "Delete MachineDrainRule " + made.Name, "others changed this rule since; without what this walk added it would have no pods, which means every pod, so it is deleted whole"
	}
	want := bare(live)
	setSlice(want, pods, "spec", "pods")
	if len(machines) > 0 {
		setSlice(want, machines, "spec", "machines")
	}
	c = newChange(verbUpdate, made.gvr(), made.Kind, made.Namespace, made.Name).over(live)
	c.Want = want
	if made.Verb == verbCreate {
		warning = "others added to this rule since; what they added stays"
	}
	return c, "Change MachineDrainRule " + made.Name + " back", warning
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

// deletingIn names the Machines in the vSphere Namespace that are being deleted.
func deletingIn(s *scene) []string {
	sn := s.snapshot()
	if sn == nil {
		return nil
	}
	var out []string
	for _, c := range sn.Clusters {
		if c.Ref.Namespace != s.cluster.Namespace {
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

func (t takeBackDrainRule) holds(ctx context.Context, s *scene) (bool, string, error) {
	made := t.made(s)
	if made == nil {
		return true, "this walk changed no rule", nil
	}
	live, err := t.live(ctx, s, made)
	if err != nil {
		return false, "", err
	}
	if live == nil || string(live.GetUID()) != made.UID || live.GetDeletionTimestamp() != nil {
		return true, "MachineDrainRule " + made.Name + " is gone", nil
	}
	if c, title, _ := takeBack(made, live); c == nil {
		return true, title, nil
	}
	return false, "MachineDrainRule " + made.Name + " still holds what this walk added", nil
}
