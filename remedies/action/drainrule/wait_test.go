package drainrule

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"vksmedic/model"
	"vksmedic/model/signature"
	"vksmedic/remedies"
	"vksmedic/remedies/internal/fakeapi"
)

const capiGroup = "cluster.x-k8s.io"

// waitSite is a Supervisor on which the Machine web-cp-1 is being deleted, and its cluster.
type waitSite struct {
	t           *testing.T
	sup, inside *fakeapi.API
	now         time.Time
	s           *remedies.Scene
}

func newWaitSite(t *testing.T) *waitSite {
	t.Helper()
	kinds := append(fakeapi.Common(),
		fakeapi.Resource{Group: "vmoperator.vmware.com", Versions: []string{"v1alpha3"}, Name: "virtualmachines", Kind: "VirtualMachine", Namespaced: true},
		fakeapi.Resource{Group: "controlplane.cluster.x-k8s.io", Versions: []string{"v1beta2"}, Name: "kubeadmcontrolplanes", Kind: "KubeadmControlPlane", Namespaced: true})
	x := &waitSite{t: t, sup: fakeapi.NewAPI(kinds...), inside: fakeapi.NewAPI(fakeapi.Common()...), now: time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)}
	ref := model.ClusterRef{Namespace: "team-a", Name: "web"}
	m := x.sup.Put("capi", x.machine("DrainingNode"))
	x.sup.Put("vmop", fakeapi.Object("vmoperator.vmware.com/v1alpha3", "VirtualMachine", "team-a", "web-cp-1"))
	x.sup.Put("kubectl", x.rule())
	x.inside.Put("kubelet", fakeapi.Object("v1", "Node", "", "node-of-web-cp-1"))
	x.s = &remedies.Scene{Sites: x.sup.Sites(map[model.ClusterRef]*fakeapi.API{ref: x.inside}), Cluster: ref, Now: func() time.Time { return x.now },
		Snapshot: func() *model.Snapshot { return nil },
		Facts:    &signature.AgentFacts{Machine: "web-cp-1", Node: "node-of-web-cp-1", Namespaces: []string{"pinniped-concierge"}, Values: map[string][]string{"pinniped-concierge": {"v3"}}},
		Target:   remedies.Target{Ref: model.ObjectRef{Kind: "Machine", Namespace: "team-a", Name: "web-cp-1"}, Place: supervisor(), UID: string(m.GetUID())},
		Params:   &WaitMachineGoneParams{After: "rule", Label: agentLabel}}
	return x
}

// rule lets the agents pass.
func (x *waitSite) rule() *unstructured.Unstructured {
	u := question(x.t, reachNamespace, nil, map[string]string{ours: "{drain: {behavior: Skip}, pods: [" + entryV3 + "]}"}).Live[ours].DeepCopy()
	u.SetUID("")
	u.SetResourceVersion("")
	return u
}

func (x *waitSite) machine(reason string) *unstructured.Unstructured {
	m := fakeapi.Object(capiGroup+"/v1beta2", "Machine", "team-a", "web-cp-1")
	began := metav1.NewTime(x.now.Add(-time.Hour))
	m.SetDeletionTimestamp(&began)
	m.SetFinalizers([]string{"machine.cluster.x-k8s.io"})
	m.SetLabels(map[string]string{"cluster.x-k8s.io/cluster-name": "web", "cluster.x-k8s.io/control-plane": ""})
	m.Object["spec"] = map[string]any{"clusterName": "web"}
	m.Object["status"] = map[string]any{"phase": "Deleting", "nodeRef": map[string]any{"name": "node-of-web-cp-1"}, "conditions": []any{map[string]any{
		"type": "Deleting", "status": "True", "reason": reason, "message": "", "lastTransitionTime": x.now.UTC().Format(time.RFC3339)}}}
	return m
}

// stage has the controllers come to a stage of the deletion.
func (x *waitSite) stage(reason string) {
	m := x.machine(reason)
	x.sup.SetStatus(schema.GroupVersionResource{Group: capiGroup, Version: "v1beta2", Resource: "machines"}, "team-a", "web-cp-1", m.Object["status"].(map[string]any))
}

// gone takes the Machine away, as somebody does who takes its finalizer off.
func (x *waitSite) gone() { x.sup.Remove(capiGroup, "Machine", "team-a", "web-cp-1") }

func (x *waitSite) noVM() {
	x.sup.Remove("vmoperator.vmware.com", "VirtualMachine", "team-a", "web-cp-1")
}
func (x *waitSite) noNode() { x.inside.Remove("", "Node", "", "node-of-web-cp-1") }

// states are the states of the stages by the ids of their lines.
func states(p remedies.Progress) map[string]remedies.StepState {
	out := map[string]remedies.StepState{}
	for i, w := range waitStages() {
		out[w.id] = p.Stages[i].State
	}
	return out
}

func detail(p remedies.Progress, id string) string {
	i := slices.IndexFunc(waitStages(), func(w waitStage) bool { return w.id == id })
	return p.Stages[i].Detail
}

// Of a Machine that is gone only what was seen is said to have happened, and what is left over is
// looked for and named.
func TestStagesThatNobodySaw(t *testing.T) {
	const done, notSeen = remedies.StateDone, remedies.StateNotSeen
	see := func(reasons ...string) func(x *waitSite, look func() remedies.Progress) {
		return func(x *waitSite, look func() remedies.Progress) {
			for _, r := range reasons {
				x.stage(r)
				look()
				x.now = x.now.Add(20 * time.Second)
			}
		}
	}
	hidden := func(x *waitSite) {
		x.s.Sites.Workload = func(context.Context, model.ClusterRef) (dynamic.Interface, error) { return nil, fakeapi.ErrRefused }
		x.sup.Engineer.Fault = func(r *fakeapi.Request) fakeapi.Fault {
			if r.Resource.Resource == "virtualmachines" {
				return fakeapi.Fault{Kind: fakeapi.Forbidden}
			}
			return fakeapi.Fault{}
		}
	}
	for name, c := range map[string]struct {
		before func(x *waitSite, look func() remedies.Progress)
		then   func(x *waitSite)
		want   map[string]remedies.StepState
		left   []string // what is named as left over.
	}{
		"the finalizer was taken off during the drain": {before: see("DrainingNode"), then: func(*waitSite) {},
			want: map[string]remedies.StepState{"drain": notSeen, "volumes": notSeen, "hooks": notSeen, stageVM: notSeen, "bootstrap": notSeen, stageNode: notSeen, stageGone: done},
			left: []string{"VirtualMachine team-a/web-cp-1", "Node node-of-web-cp-1"}},
		"it was gone at the first look": {before: see(), then: func(*waitSite) {},
			want: map[string]remedies.StepState{"drain": notSeen, "volumes": notSeen, stageVM: notSeen, stageNode: notSeen, stageGone: done},
			left: []string{"VirtualMachine team-a/web-cp-1", "Node node-of-web-cp-1"}},
		"only the node is left": {before: see("DrainingNode"), then: (*waitSite).noVM,
			want: map[string]remedies.StepState{"drain": notSeen, "volumes": notSeen, stageVM: done, stageNode: notSeen, stageGone: done}, left: []string{"Node node-of-web-cp-1"}},
		"only the VM is left": {before: see("DrainingNode"), then: (*waitSite).noNode,
			want: map[string]remedies.StepState{"drain": notSeen, stageVM: notSeen, stageNode: done, stageGone: done}, left: []string{"VirtualMachine team-a/web-cp-1"}},
		"nothing is left": {before: see("DrainingNode"), then: func(x *waitSite) { x.noVM(); x.noNode() },
			want: map[string]remedies.StepState{"drain": notSeen, "bootstrap": notSeen, stageVM: done, stageNode: done, stageGone: done}},
		"it cannot be looked at": {before: see("DrainingNode"), then: hidden,
			want: map[string]remedies.StepState{"drain": notSeen, stageVM: notSeen, stageNode: notSeen, stageGone: done}},
		"the finalizer was taken off after the drain was seen": {before: see("DrainingNode", "WaitingForVolumeDetach"), then: func(*waitSite) {},
			want: map[string]remedies.StepState{"drain": done, "volumes": notSeen, stageVM: notSeen, stageNode: notSeen, stageGone: done},
			left: []string{"VirtualMachine team-a/web-cp-1", "Node node-of-web-cp-1"}},
		"all was seen": {before: see("DrainingNode", "WaitingForVolumeDetach", "WaitingForInfrastructureDeletion", "DeletingNode"), then: func(x *waitSite) { x.noVM(); x.noNode() },
			want: map[string]remedies.StepState{"drain": done, "volumes": done, "hooks": done, stageVM: done, "bootstrap": done, stageNode: done, stageGone: done}},
	} {
		t.Run(name, func(t *testing.T) {
			x := newWaitSite(t)
			watch := waitMachineGone{}.Verify(x.s)
			look := func() remedies.Progress {
				t.Helper()
				p, err := watch(t.Context())
				if err != nil || p.Failed != "" {
					t.Fatalf("look: %+v %v", p, err)
				}
				return p
			}
			c.before(x, look)
			x.gone()
			c.then(x)
			p := look()
			got := states(p)
			for id, want := range c.want {
				if got[id] != want {
					t.Errorf("%s is %s, want %s", id, got[id], want)
				}
			}
			if warns := strings.Contains(p.Last, "left over, and nothing takes care of it"); warns != (len(c.left) > 0) || !strings.Contains(p.Last, "Machine web-cp-1 is gone") {
				t.Errorf("it says: %s", p.Last)
			}
			for _, thing := range []string{"VirtualMachine team-a/web-cp-1", "Node node-of-web-cp-1"} {
				if strings.Contains(p.Last, thing) != slices.Contains(c.left, thing) {
					t.Errorf("left over is %v; it says: %s", c.left, p.Last)
				}
			}
			if got[stageVM] == notSeen && detail(p, stageVM) == "" || got[stageNode] == notSeen && detail(p, stageNode) == "" {
				t.Errorf("it does not say why: %+v", p.Stages)
			}
		})
	}
}

// Another Machine of the same name is not the one that is waited for.
func TestAnotherMachineOfTheNameIsNotTheOne(t *testing.T) {
	x := newWaitSite(t)
	watch := waitMachineGone{}.Verify(x.s)
	if _, err := watch(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.gone()
	x.sup.Put("capi", x.machine("DrainingNode"))
	p, err := watch(t.Context())
	if err != nil || states(p)[stageGone] != remedies.StateDone {
		t.Errorf("%+v %v", p, err)
	}
}

// A Machine that cannot be read is not gone.
func TestUnreadableMachineIsNotGone(t *testing.T) {
	for _, kind := range []fakeapi.FaultKind{fakeapi.NotServed, fakeapi.Forbidden, fakeapi.Failed, fakeapi.Refused} {
		x := newWaitSite(t)
		watch := waitMachineGone{}.Verify(x.s)
		x.sup.Engineer.Fault = func(r *fakeapi.Request) fakeapi.Fault {
			if r.Resource.Resource == "machines" {
				return fakeapi.Fault{Kind: kind}
			}
			return fakeapi.Fault{}
		}
		if p, err := watch(t.Context()); err == nil {
			t.Errorf("%s: %+v", kind, p)
		}
	}
}

// Where nobody saw the rollout go on, nobody says that it does: neither when nothing moves, nor
// when what would say so cannot be read.
func TestRolloutThatNobodySaw(t *testing.T) {
	forbidden := func(resources ...string) func(r *fakeapi.Request) fakeapi.Fault {
		return func(r *fakeapi.Request) fakeapi.Fault {
			if r.Verb == "list" && slices.Contains(resources, r.Resource.Resource) {
				return fakeapi.Fault{Kind: fakeapi.Forbidden}
			}
			return fakeapi.Fault{}
		}
	}
	next := func(x *waitSite) {
		m := x.machine("")
		m.SetName("web-cp-2")
		m.SetDeletionTimestamp(nil)
		m.Object["status"] = map[string]any{"phase": "Provisioning"}
		x.sup.Put("capi", m)
	}
	for name, c := range map[string]struct {
		change func(x *waitSite)
		words  string
		state  remedies.StepState
	}{
		"nothing moves": {func(*waitSite) {}, "nothing else moves yet", remedies.StateNotSeen},
		"the control plane may not be listed": {func(x *waitSite) { x.sup.Engineer.Fault = forbidden("kubeadmcontrolplanes") },
			"whether the rollout goes on could not be read: cannot read the control plane of team-a/web", remedies.StateNotSeen},
		"Machines may not be listed": {func(x *waitSite) { x.sup.Engineer.Fault = forbidden("machines") },
			"whether the rollout goes on could not be read: cannot list the Machines of team-a/web", remedies.StateNotSeen},
		"neither may be listed": {func(x *waitSite) { x.sup.Engineer.Fault = forbidden("kubeadmcontrolplanes", "machines") },
			"; cannot list the Machines of team-a/web", remedies.StateNotSeen},
		"the next Machine is seen although the control plane may not be listed": {func(x *waitSite) {
			x.sup.Engineer.Fault = forbidden("kubeadmcontrolplanes")
			next(x)
		}, "the next one is Machine web-cp-2, which is Provisioning", remedies.StateDone},
		"the next Machine is seen": {next, "the next one is Machine web-cp-2, which is Provisioning", remedies.StateDone},
	} {
		t.Run(name, func(t *testing.T) {
			x := newWaitSite(t)
			x.noVM()
			x.noNode()
			watch := waitMachineGone{}.Verify(x.s)
			if _, err := watch(t.Context()); err != nil {
				t.Fatal(err)
			}
			x.gone()
			c.change(x)
			look := func() remedies.Progress {
				t.Helper()
				p, err := watch(t.Context())
				if err != nil || p.Failed != "" {
					t.Fatalf("look: %+v %v", p, err)
				}
				if !strings.Contains(p.Last, "Machine web-cp-1 is gone; ") || !strings.Contains(p.Last, c.words) || !strings.Contains(detail(p, stageRollout), c.words) {
					t.Errorf("it says %q and %q, want %q", p.Last, detail(p, stageRollout), c.words)
				}
				return p
			}
			if p := look(); p.Done != (c.state == remedies.StateDone) {
				t.Fatalf("at once: %+v", p)
			}
			if c.state == remedies.StateDone {
				if got := states(look())[stageRollout]; got != c.state {
					t.Errorf("it is %s", got)
				}
				return
			}
			x.now = x.now.Add(rolloutPatience)
			if p := look(); p.Done || states(p)[stageRollout] != remedies.StateCurrent {
				t.Errorf("there is still patience: %+v", p)
			}
			x.now = x.now.Add(time.Second)
			if p := look(); !p.Done || states(p)[stageRollout] != c.state || !strings.Contains(p.Last, "look at the cluster") {
				t.Errorf("when it is over: %+v", p)
			}
		})
	}
}
