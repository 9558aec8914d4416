package action

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/internal/fakeapi"
)

const capi = "cluster.x-k8s.io"

// site is a Supervisor with one workload cluster, and the scene of a walk on a Machine of it.
type site struct {
	t             *testing.T
	sup, workload *fakeapi.API
	s             *remedies.Scene
	now           time.Time
}

func newSite(t *testing.T) *site {
	t.Helper()
	x := &site{t: t, sup: fakeapi.NewAPI(fakeapi.Common()...), workload: fakeapi.NewAPI(fakeapi.Common()...), now: time.Now()}
	ref := model.ClusterRef{Namespace: "team-a", Name: "web"}
	cluster := fakeapi.Object(capi+"/v1beta2", "Cluster", "team-a", "web")
	x.sup.Put("kubectl", cluster)
	m := x.sup.Put("capi", x.machine("web-1", "Deleting"))
	x.workload.Put("kubelet", fakeapi.Object("v1", "Node", "", "web-1"))
	x.s = &remedies.Scene{
		Sites: x.sup.Sites(map[model.ClusterRef]*fakeapi.API{ref: x.workload}), Cluster: ref, Now: func() time.Time { return x.now },
		Target:   remedies.Target{Ref: model.ObjectRef{Kind: "Machine", Namespace: "team-a", Name: "web-1"}, Place: model.OnSupervisor(""), UID: string(m.GetUID())},
		Snapshot: func() *model.Snapshot { return nil }, Next: remedies.Attempt{Walk: "w", N: 1},
	}
	return x
}

func (x *site) machine(name, phase string) *unstructured.Unstructured {
	u := fakeapi.Object(capi+"/v1beta2", "Machine", "team-a", name)
	u.SetLabels(map[string]string{"cluster.x-k8s.io/cluster-name": "web", "role": "cp"})
	u.Object["spec"] = map[string]any{"clusterName": "web", "version": "v1.33.1"}
	u.Object["status"] = map[string]any{"phase": phase}
	return u
}

// change has somebody else change the Machine.
func (x *site) change(f func(u *unstructured.Unstructured)) {
	x.sup.Change("someone", capi, "Machine", "team-a", "web-1", f)
}

// plan is the plan of a step with some parameters.
func (x *site) plan(a remedies.Changer, params any) *remedies.Plan {
	x.t.Helper()
	x.s.Params = params
	p, err := a.Plan(x.t.Context(), x.s)
	if err != nil {
		x.t.Fatal(err)
	}
	return p
}

// apply sends the effect of a plan, as a walk does, and puts it among what was made.
func (x *site) apply(a remedies.Changer, step string, p *remedies.Plan) {
	x.t.Helper()
	if p.Effect == nil || p.Preview.Blocked != "" || p.Preview.Done != "" {
		x.t.Fatalf("there is nothing to apply: %+v", p.Preview)
	}
	if answer, err := p.Effect.DryRun(x.t.Context(), x.s.Sites); err != nil || answer.Blocked != "" {
		x.t.Fatalf("dry run: %+v %v", answer, err)
	}
	at := x.s.Next
	got, err := p.Effect.Send(x.t.Context(), x.s.Sites, at)
	if err != nil {
		x.t.Fatal(err)
	}
	for _, n := range p.TakesBack {
		for i := range x.s.Made {
			if x.s.Made[i].N == n {
				x.s.Made[i].TakenBack = true
			}
		}
	}
	x.s.Made = append(x.s.Made, remedies.Made{Attempt: at, Step: step, Item: x.s.Item, Effect: p.Effect, Receipt: got, TakesBack: p.TakesBack, By: a})
	x.s.Next.N++
}

// look does one look of a watch.
func (x *site) look(w remedies.Watch) remedies.Progress {
	x.t.Helper()
	p, err := w(x.t.Context())
	if err != nil {
		x.t.Fatal(err)
	}
	return p
}

// verify looks once whether what the step is for is so.
func (x *site) verify(a interface {
	Verify(s *remedies.Scene) remedies.Watch
}, params any) remedies.Progress {
	x.t.Helper()
	x.s.Params = params
	return x.look(a.Verify(x.s))
}

func object(p *remedies.Plan) *effect.Object {
	o, _ := p.Effect.(*effect.Object)
	return o
}

// nothingWritten fails where something was.
func (x *site) nothingWritten() {
	x.t.Helper()
	if w := append(x.sup.Writes(), x.workload.Writes()...); len(w) > 0 {
		x.t.Errorf("written: %q", w)
	}
}

func has(t *testing.T, what, got string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(got, w) {
			t.Errorf("%s: %q lacks %q", what, got, w)
		}
	}
}

// failing is an API of which every request fails.
func failing(kind fakeapi.FaultKind) func(*fakeapi.Request) fakeapi.Fault {
	return func(*fakeapi.Request) fakeapi.Fault { return fakeapi.Fault{Kind: kind} }
}
