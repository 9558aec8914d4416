package action

import (
	"context"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"vksmedic/remedies"
	"vksmedic/remedies/effect"
	"vksmedic/remedies/internal/fakeapi"
	"vksmedic/remedies/kb"
)

func theMachine() kb.Object { return kb.Object{Group: capi, Kind: "Machine", Name: "web-1"} }

func conditions(list ...map[string]any) func(u *unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		var out []any
		for _, c := range list {
			out = append(out, c)
		}
		u.Object["status"] = map[string]any{"phase": "Running", "conditions": out}
	}
}

// One look at what is waited for.
func TestUntil(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(x *site)
		until  kb.Until
		done   bool
		last   string
		err    string
	}{
		"a condition": {
			change: func(x *site) { x.change(conditions(map[string]any{"type": "Ready", "status": "True"})) },
			until:  kb.Until{Condition: "Ready"}, done: true, last: "condition Ready of Machine team-a/web-1 is True",
		},
		"a condition that says no": {
			change: func(x *site) {
				x.change(conditions(map[string]any{"type": "Ready", "status": "False", "reason": "NotYet", "message": "wait\x1b[1m for it"}))
			},
			until: kb.Until{Condition: "Ready"}, last: "condition Ready of Machine team-a/web-1 is False (NotYet): wait for it",
		},
		"a condition that shall say no": {
			change: func(x *site) { x.change(conditions(map[string]any{"type": "Ready", "status": "False"})) },
			until:  kb.Until{Condition: "Ready", Status: "False"}, done: true, last: "condition Ready of Machine team-a/web-1 is False",
		},
		"another condition": {
			change: func(x *site) { x.change(conditions(map[string]any{"type": "ReadyToo", "status": "True"})) },
			until:  kb.Until{Condition: "Ready"}, last: "Machine team-a/web-1 has no condition Ready yet",
		},
		"a condition about an earlier generation": {
			change: func(x *site) {
				x.change(conditions(map[string]any{"type": "Ready", "status": "True", "observedGeneration": int64(1)}))
				x.change(func(u *unstructured.Unstructured) {
					_ = unstructured.SetNestedField(u.Object, "v1.34.0", "spec", "version")
				})
			},
			until: kb.Until{Condition: "Ready"}, last: "condition Ready of Machine team-a/web-1 is True; it is about an earlier generation of the object",
		},
		"conditions that are none": {
			change: func(x *site) {
				x.change(func(u *unstructured.Unstructured) {
					u.Object["status"] = map[string]any{"conditions": []any{"Ready", nil}}
				})
			},
			until: kb.Until{Condition: "Ready"}, last: "Machine team-a/web-1 has no condition Ready yet",
		},
		"a value": {until: kb.Until{Path: ".status.phase", Equals: "Deleting"}, done: true, last: ".status.phase of Machine team-a/web-1 is Deleting"},
		"a value that begins so": {
			change: func(x *site) {
				x.change(func(u *unstructured.Unstructured) { u.Object["status"] = map[string]any{"phase": "DeletingNode"} })
			},
			until: kb.Until{Path: ".status.phase", Equals: "Deleting"}, last: ".status.phase of Machine team-a/web-1 is DeletingNode",
		},
		"a value that is not there":             {until: kb.Until{Path: ".status.nothing", Equals: "Deleting"}, last: ".status.nothing of Machine team-a/web-1 is -"},
		"a dash that nothing stands for":        {until: kb.Until{Path: ".status.nothing", Equals: "-"}, last: ".status.nothing of Machine team-a/web-1 is -"},
		"a value that the finding does not say": {until: kb.Until{Path: ".status.phase", Equals: kb.NotKnown}, err: "the finding does not say what .status.phase of Machine has to be"},
		"a condition of nothing": {
			change: func(x *site) { x.sup.Remove(capi, "Machine", "team-a", "web-1") },
			until:  kb.Until{Condition: "Ready"}, last: "Machine team-a/web-1 is not there",
		},
		"gone": {
			change: func(x *site) { x.sup.Remove(capi, "Machine", "team-a", "web-1") },
			until:  kb.Until{Gone: true}, done: true, last: "Machine team-a/web-1 is gone",
		},
		"not gone": {until: kb.Until{Gone: true}, last: "Machine team-a/web-1 is still there"},
		"not gone yet": {
			change: func(x *site) {
				x.change(func(u *unstructured.Unstructured) {
					u.SetFinalizers([]string{"f"})
					_ = unstructured.SetNestedField(u.Object, x.now.UTC().Format("2006-01-02T15:04:05Z"), "metadata", "deletionTimestamp")
				})
			},
			until: kb.Until{Gone: true}, last: "Machine team-a/web-1 is still there; it is being deleted, and waits for f",
		},
		"gone, and another in its place": { // the walk knows the uid of its target.
			change: func(x *site) {
				x.sup.Remove(capi, "Machine", "team-a", "web-1")
				x.sup.Put("capi", x.machine("web-1", "Running"))
			},
			until: kb.Until{Gone: true}, done: true, last: "Machine team-a/web-1 is gone, and another one of its name is there",
		},
		"the kind is not served": {
			change: func(x *site) { x.sup.Unserve(capi, "Machine") },
			until:  kb.Until{Gone: true}, err: "the Supervisor does not serve Machine.cluster.x-k8s.io",
		},
		"a proxy that knows nothing": {
			change: func(x *site) {
				x.sup.Engineer.Fault = func(r *fakeapi.Request) fakeapi.Fault {
					if r.Verb == "get" {
						return fakeapi.Fault{Kind: fakeapi.NotServed}
					}
					return fakeapi.Fault{}
				}
			},
			until: kb.Until{Gone: true}, err: "cannot read Machine team-a/web-1: the server could not find the requested resource",
		},
		"forbidden": {
			change: func(x *site) { x.sup.Deny(fakeapi.Denial{Verb: "get", Resource: "machines"}) },
			until:  kb.Until{Gone: true}, err: "cannot read Machine team-a/web-1: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newSite(t)
			x.now = x.now.UTC().Truncate(1e9)
			if tt.change != nil {
				tt.change(x)
			}
			tt.until.Object = theMachine()
			p, err := watchUntil(x.s, &tt.until)(t.Context())
			if (err != nil) != (tt.err != "") || (err != nil && !strings.HasPrefix(err.Error(), tt.err)) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if p.Done != tt.done || p.Failed != "" || p.Last != tt.last {
				t.Errorf("%+v, want done %v, %q", p, tt.done, tt.last)
			}
			x.nothingWritten()
		})
	}
}

// An object that the walk knew nothing of is known by its uid from the first look on.
func TestGoneIsKnownByTheFirstUID(t *testing.T) {
	x := newSite(t)
	x.sup.Put("capi", x.machine("web-2", "Running"))
	w := watchUntil(x.s, &kb.Until{Object: kb.Object{Group: capi, Kind: "Machine", Name: "web-2"}, Gone: true})
	if p := x.look(w); p.Done {
		t.Errorf("it is there: %+v", p)
	}
	x.sup.Put("capi", x.machine("web-2", "Deleting"))
	if p := x.look(w); p.Done {
		t.Errorf("it is the same: %+v", p)
	}
	x.sup.Remove(capi, "Machine", "team-a", "web-2")
	x.sup.Put("capi", x.machine("web-2", "Running"))
	if p := x.look(w); !p.Done {
		t.Errorf("it is another: %+v", p)
	}
}

// Another API's object of the same kind and name is not the walk's target.
func TestGoneIsNotToldByAnotherGroup(t *testing.T) {
	x := newSite(t)
	x.sup.ServeResource(fakeapi.Resource{Group: "example.com", Versions: []string{"v1"}, Name: "machines", Kind: "Machine", Namespaced: true})
	x.sup.Put("kubectl", fakeapi.Object("example.com/v1", "Machine", "team-a", "web-1"))
	w := watchUntil(x.s, &kb.Until{Object: kb.Object{Group: "example.com", Kind: "Machine", Name: "web-1"}, Gone: true})
	if p := x.look(w); p.Done {
		t.Errorf("%+v", p)
	}
}

// What the walk made is known by the uid of the answer, also after a restart.
func TestGoneIsKnownByTheReceipt(t *testing.T) {
	x := newSite(t)
	x.sup.Put("kubectl", fakeapi.Object("v1", "ConfigMap", "team-a", "note"))
	e := effect.NewObject(x.s.Target.Place, effect.Create, configMaps(), "ConfigMap", "team-a", "note")
	x.s.Made = []remedies.Made{{Effect: e, Receipt: remedies.Receipt{UID: "of the first"}}}
	w := watchUntil(x.s, &kb.Until{Object: kb.Object{Kind: "ConfigMap", Name: "note"}, Gone: true})
	if p := x.look(w); !p.Done || !strings.Contains(p.Last, "another one") {
		t.Errorf("%+v", p)
	}
}

// A kind that is served again in another version is found again.
func TestWaitSurvivesAnotherVersion(t *testing.T) {
	x := newSite(t)
	w := watchUntil(x.s, &kb.Until{Object: theMachine(), Path: ".status.phase", Equals: "Deleting"})
	x.look(w)
	x.sup.Unserve(capi, "Machine")
	if _, err := w(t.Context()); err == nil {
		t.Error("a kind that is not served is read")
	}
	x.sup.ServeResource(fakeapi.Resource{Group: capi, Versions: []string{"v1beta3"}, Name: "machines", Kind: "Machine", Namespaced: true})
	if p := x.look(w); !p.Done {
		t.Errorf("%+v", p)
	}
}

func TestInsideTheCluster(t *testing.T) {
	x := newSite(t)
	if p := x.look(watchUntil(x.s, &kb.Until{Object: kb.Object{Kind: "Node", Name: "web-1", In: "cluster"}, Gone: true})); p.Done {
		t.Errorf("%+v", p)
	}
	_, err := watchUntil(x.s, &kb.Until{Object: kb.Object{Kind: "ConfigMap", Name: "a", In: "cluster"}, Gone: true})(t.Context())
	if asUnfit(err) != "ConfigMap a needs a namespace inside the cluster" {
		t.Errorf("without a namespace: %v", err)
	}
	x.s.Cluster.Name, x.s.Cluster.Namespace = "", ""
	_, err = watchUntil(x.s, &kb.Until{Object: kb.Object{Kind: "Node", Name: "web-1", In: "cluster"}, Gone: true})(t.Context())
	if !strings.Contains(asUnfit(err), "names no cluster") {
		t.Errorf("without a cluster: %v", err)
	}
	_, err = watchUntil(x.s, &kb.Until{Object: theMachine(), Gone: true})(t.Context())
	if !strings.Contains(asUnfit(err), "names no vSphere Namespace") {
		t.Errorf("without a namespace: %v", err)
	}
}

// It has to stay so, and it has to begin in time.
func TestWaitCondition(t *testing.T) {
	x := newSite(t)
	x.s.Params = &kb.WaitCondition{Until: kb.Until{Object: theMachine(), Path: ".status.phase", Equals: "Running"}, Timeout: 10 * time.Minute, Stays: 30 * time.Second}
	phase := func(s string) {
		x.change(func(u *unstructured.Unstructured) { u.Object["status"] = map[string]any{"phase": s} })
	}
	w := waitCondition{}.Verify(x.s)
	if p := x.look(w); p.Done {
		t.Fatalf("not so: %+v", p)
	}
	phase("Running")
	if p := x.look(w); p.Done || p.Early.IsZero() {
		t.Fatalf("so, and not long enough: %+v", p)
	}
	x.now = x.now.Add(29 * time.Second)
	if p := x.look(w); p.Done {
		t.Fatalf("not long enough by a second: %+v", p)
	}
	x.now = x.now.Add(time.Second)
	if p := x.look(w); !p.Done || p.Failed != "" {
		t.Fatalf("so: %+v", p)
	}

	w = waitCondition{}.Verify(x.s)
	x.look(w)
	phase("Failed")
	if p := x.look(w); !p.Done || !strings.Contains(p.Failed, "did not stay so: .status.phase of Machine team-a/web-1 is Failed") {
		t.Errorf("a relapse: %+v", p)
	}

	w = waitCondition{}.Verify(x.s)
	x.look(w)
	x.now = x.now.Add(10 * time.Minute)
	if p := x.look(w); !p.Done || !strings.Contains(p.Failed, "it is not so after 10m: .status.phase of Machine team-a/web-1 is Failed") {
		t.Errorf("never: %+v", p)
	}
}

// A wait whose object cannot be read ends at its limit, and says that it is not known.
func TestUnreadableWaitEndsAtItsLimit(t *testing.T) {
	x := newSite(t)
	x.s.Params = &kb.WaitCondition{Until: kb.Until{Object: theMachine(), Path: ".status.phase", Equals: "Deleting"}, Timeout: 10 * time.Minute, Stays: time.Minute}
	way := x.sup.Engineer
	way.Fault = failing(fakeapi.Refused)
	w := waitCondition{}.Verify(x.s)
	for range 10 {
		if p, err := w(t.Context()); err == nil {
			t.Fatalf("nothing could be read: %+v", p)
		}
		x.now = x.now.Add(time.Minute)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if p, err := w(cancelled); err == nil {
		t.Errorf("a look that was broken off ends the wait: %+v", p)
	}
	p := x.look(w)
	if !p.Done || !strings.Contains(p.Failed, "whether it is so is not known after 10m: it could not be read: cannot ask the Supervisor what it serves") {
		t.Errorf("unknown: %+v", p)
	}
	// A question is not the answer that it cannot be read.
	asks := remedies.Steady(func(context.Context) (remedies.Progress, error) { return remedies.Progress{}, &remedies.Asking{} }, 0, time.Minute, x.s.Now)
	for range 3 {
		if p, err := asks(t.Context()); err == nil {
			t.Errorf("a question is a failure: %+v", p)
		}
		x.now = x.now.Add(time.Minute)
	}
	// A limit of zero is none.
	forever := remedies.Steady(func(context.Context) (remedies.Progress, error) { return remedies.Progress{}, fakeapi.ErrRefused }, 0, 0, x.s.Now)
	for range 3 {
		if p, err := forever(t.Context()); err == nil {
			t.Errorf("without a limit: %+v", p)
		}
		x.now = x.now.Add(time.Hour)
	}
	// What can be read again within the limit is waited for as ever, and has to stay so from then on.
	way.Fault = nil
	w = waitCondition{}.Verify(x.s)
	x.look(w)
	way.Fault = failing(fakeapi.Refused)
	x.now = x.now.Add(time.Minute)
	if _, err := w(t.Context()); err == nil {
		t.Error("read all the same")
	}
	way.Fault = nil
	if p := x.look(w); p.Done {
		t.Errorf("the time that nobody looked counts: %+v", p)
	}
	x.now = x.now.Add(time.Minute)
	if p := x.look(w); !p.Done || p.Failed != "" {
		t.Errorf("so for long enough: %+v", p)
	}
}

func TestByHand(t *testing.T) {
	x := newSite(t)
	x.s.Params = &kb.ByHand{Commands: []string{"kubectl get pods", "kubectl delete pod " + kb.NotKnown, "echo \x1b]0;x\x07", "one\ntwo"},
		Until: kb.Until{Object: theMachine(), Gone: true}, Timeout: time.Minute}
	got := strings.Join(byHand{}.Commands(x.s), "\n")
	want := "kubectl get pods\n# cannot be filled in, since the finding does not say it: kubectl delete pod (not known)\n" +
		"# left out: the command holds characters that a terminal must not be given\none\ntwo"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	w := byHand{}.Verify(x.s)
	if p := x.look(w); p.Done {
		t.Errorf("not done: %+v", p)
	}
	x.sup.Remove(capi, "Machine", "team-a", "web-1")
	if p := x.look(w); !p.Done || p.Failed != "" {
		t.Errorf("done: %+v", p)
	}
	x.nothingWritten()
}

func TestChoose(t *testing.T) {
	x := newSite(t)
	p := &kb.Choose{Question: "Which\x1b[1m?", Default: "b", Answers: []kb.Option{{ID: "a", Title: "A"}, {ID: "b", Title: "B\n2", Means: []string{"m\x07"}}}}
	x.s.Params = p
	c, err := choose{}.Choice(t.Context(), x.s)
	if err != nil || c.Question != "Which?" || c.Selected != "b" || len(c.Options) != 2 || c.Options[1].Title != "B 2" || c.Options[1].Means[0] != "m" {
		t.Errorf("%+v %v", c, err)
	}
	if p.Preset() != "b" {
		t.Errorf("preset %q", p.Preset())
	}
}
