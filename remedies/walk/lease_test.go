package walk

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/model"
	"vksmedic/remedies/internal/fakeapi"
)

// seats are the Leases that are there and renewed, such as team-a/vksmedic-c1.
func (y *toy) seats() []string {
	y.Helper()
	var out []string
	for _, u := range y.s.api.Objects(leaseResource()) {
		renewed, _, _ := unstructured.NestedString(u.Object, "spec", "renewTime")
		at, err := time.Parse(time.RFC3339Nano, renewed)
		if err != nil {
			y.Fatal(err)
		}
		if time.Since(at) <= leaseRenew {
			out = append(out, u.GetNamespace()+"/"+u.GetName())
		}
	}
	return out
}

const (
	homeSeat = "team-a/vksmedic-c1"
	wideSeat = "kube-system/vksmedic-supervisor"
)

// wideLease is how the requests for the Lease of the whole Supervisor fail.
func wideLease(kind fakeapi.FaultKind, which func(r *fakeapi.Request) bool) func(r *fakeapi.Request) fakeapi.Fault {
	return func(r *fakeapi.Request) fakeapi.Fault {
		if r.Resource == leaseResource() && r.Namespace == wideNamespace && which(r) {
			return fakeapi.Fault{Kind: kind}
		}
		return fakeapi.Fault{}
	}
}

// What reaches beyond a cluster is seen from every cluster.
func TestWhoChangesForAllIsSeenByAll(t *testing.T) {
	inBubble(t, debtSteps, func(y *toy) {
		anna, ben := y.s.who[0], y.s.who[1]
		w := y.begin(anna)
		y.is("enter", w.Enter(y.ctx), nil)
		y.apply(anna, nil)
		elsewhere := newLeases(ben.runner, model.ClusterRef{Namespace: "team-a", Name: "c2"}, "bens-walk")
		if o, blind := elsewhere.others(y.ctx, false); len(o) != 0 || blind != "" {
			t.Errorf("a step on another cluster is told of %+v, %q", o, blind)
		}
		if o, blind := elsewhere.others(y.ctx, true); len(o) != 1 || o[0].who != "anna" || blind != "" {
			t.Errorf("a step that reaches as far sees %+v, %q", o, blind)
		}
		if k := elsewhere.keep(y.ctx, true); len(k.others) != 1 || k.err != nil {
			t.Errorf("when it is applied: %+v", k)
		}
		w.renew(y.ctx)
		if o := w.View().Others; len(o) != 1 || !strings.Contains(o[0], "ben") {
			t.Errorf("anna sees %q", o)
		}
		y.is("ben leaves", elsewhere.giveBack(y.ctx), nil)
		w.Leave()
		if l := y.s.api.Objects(leaseResource()); len(l) != 0 {
			t.Errorf("%d Leases are left", len(l))
		}
	})
}

// Where the Lease of the whole Supervisor cannot be written, that of the cluster is kept.
func TestWithoutTheWideLeaseTheClustersIsKept(t *testing.T) {
	for name, kind := range map[string]fakeapi.FaultKind{"forbidden": fakeapi.Forbidden, "without an answer": fakeapi.Cut} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, debtSteps, func(y *toy) {
				anna, ben := y.s.who[0], y.s.who[1]
				w := y.begin(anna)
				y.is("enter", w.Enter(y.ctx), nil)
				anna.script.request = wideLease(kind, (*fakeapi.Request).Write)
				err := w.Apply(y.ctx, w.View().Preview.Token, "operator")
				if kind == fakeapi.Forbidden {
					y.is("apply", err, nil)
					if tr := strings.Join(w.View().Trouble, "\n"); !strings.Contains(tr, "may not write leases in kube-system") || strings.Contains(tr, "nobody can see") {
						t.Errorf("trouble: %q", tr)
					}
				} else if err == nil || !strings.HasPrefix(err.Error(), "not sent") {
					t.Fatalf("apply: %v", err)
				}
				time.Sleep(3 * time.Minute)
				if got := y.seats(); !slices.Equal(got, []string{homeSeat}) {
					t.Errorf("renewed: %q", got)
				}
				bw := y.begin(ben)
				y.is("enter", bw.Enter(y.ctx), nil)
				if o := bw.View().Others; len(o) != 1 || !strings.Contains(o[0], "anna") {
					t.Errorf("ben sees %q", o)
				}
				bw.Leave()
				w.Leave()
				if l := y.s.api.Objects(leaseResource()); len(l) != 0 {
					t.Errorf("%d Leases are left", len(l))
				}
			})
		})
	}
}

// A walk that is picked up keeps the wide Lease while something that reaches as far is left of it,
// also where the server does not answer at first.
func TestResumeKeepsTheWideLease(t *testing.T) {
	for name, fails := range map[string]bool{"at once": false, "later": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, debtSteps, func(y *toy) {
				e := y.anna
				w := y.begin(e)
				y.is("enter", w.Enter(y.ctx), nil)
				y.apply(e, nil)
				id := w.ID()
				w.Leave()
				if fails {
					e.script.request = func(r *fakeapi.Request) fakeapi.Fault {
						if r.Resource == leaseResource() {
							return fakeapi.Fault{Kind: fakeapi.Cut}
						}
						return fakeapi.Fault{}
					}
				}
				w, err := e.runner.Resume(y.ctx, id)
				y.is("resume", err, nil)
				e.walk, e.script.request = w, nil
				time.Sleep(5 * time.Minute)
				if got := y.seats(); !slices.Equal(got, []string{wideSeat, homeSeat}) {
					t.Errorf("renewed: %q", got)
				}
				if tr := w.View().Trouble; len(tr) != 0 {
					t.Errorf("trouble: %q", tr)
				}
				y.is("undo", w.Undo(y.ctx), nil)
				y.apply(e, nil)
				w = y.again(e) // all is given back: it reaches no further than its cluster.
				time.Sleep(2 * time.Minute)
				if got := y.seats(); !slices.Equal(got, []string{homeSeat}) {
					t.Errorf("after it was given back: %q", got)
				}
				w.Leave()
				if l := y.s.api.Objects(leaseResource()); len(l) != 0 {
					t.Errorf("%d Leases are left", len(l))
				}
			})
		})
	}
}

// A Lease whose writing was not answered is given back too.
func TestLeaseWithoutAnAnswerIsGivenBack(t *testing.T) {
	inBubble(t, debtSteps, func(y *toy) {
		e := y.anna
		w := y.begin(e)
		y.is("enter", w.Enter(y.ctx), nil)
		e.script.request = wideLease(fakeapi.StoredCut, (*fakeapi.Request).Write)
		if err := w.Apply(y.ctx, w.View().Preview.Token, "operator"); err == nil {
			t.Fatal("applied")
		}
		e.script.request = nil
		w.Leave()
		if l := y.s.api.Objects(leaseResource()); len(l) != 0 {
			t.Errorf("%d Leases are left", len(l))
		}
	})
}

// A finding of the whole Supervisor belongs to no cluster: only the wide Lease is taken.
func TestWalkWithoutACluster(t *testing.T) {
	inBubble(t, debtSteps, func(y *toy) {
		e := y.anna
		f := toyFinding()
		f.Cluster = model.ClusterRef{}
		w, err := e.runner.Begin(y.ctx, f, "toy")
		y.is("begin", err, nil)
		e.walk = w
		y.is("enter", w.Enter(y.ctx), nil)
		y.apply(e, nil)
		if v := w.View(); len(v.Trouble) != 0 {
			t.Errorf("trouble: %q", v.Trouble)
		}
		if got := y.seats(); !slices.Equal(got, []string{wideSeat}) {
			t.Errorf("Leases: %q", got)
		}
		w.Leave()
		if l := y.s.api.Objects(leaseResource()); len(l) != 0 {
			t.Errorf("%d Leases are left", len(l))
		}
	})
}

// That the Lease's namespace is not there is said, and keeps nothing from being applied.
func TestLeaseInANamespaceThatIsGone(t *testing.T) {
	onFaultSite(t, func(t *testing.T, x *faultSite) {
		w := x.engineer("ana").begin()
		x.Remove("", "Namespace", "", "ns")
		if came, err := w.takeLease(t.Context(), true); err != nil || len(came) != 0 {
			t.Fatalf("it blocks: %v %v", came, err)
		}
		has(t, "trouble", strings.Join(w.View().Trouble, "\n"), "nobody can see that you work here: namespace ns is not there")
		if x.Get("coordination.k8s.io", "Lease", wideNamespace, "vksmedic-supervisor") == nil {
			t.Error("the wide Lease was not taken")
		}
	})
}
