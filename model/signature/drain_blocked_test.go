package signature

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
)

const violates = ": cannot evict pod as it would violate the pod's disruption budget."

// What is drain-blocked, and what is not.
func TestDrainBlocked(t *testing.T) {
	const budgetText = violates + " The disruption budget cart needs 1 healthy pods and has 1 currently"
	for _, c := range []struct {
		name       string
		change     func(*site)
		confidence model.Confidence // empty: no finding.
		severity   model.Severity
		says       []string // parts of the summary.
		not        string   // what the summary must not hold.
	}{
		// Hits.
		{"a budget, named", func(w *site) { w.worker().says(header + "\n* Pod shop/cart-0" + budgetText) }, model.Confirmed, model.Warning, []string{"shop/cart-0", "cart", "needs 1 healthy, has 1"}, ""},
		{"a budget, named, on a control plane", func(w *site) { w.says(header + "\n* Pod shop/cart-0" + budgetText) }, model.Confirmed, model.Critical, nil, ""},
		{"older generation only", func(w *site) { w.worker().saysOld(header + "\n* Pod shop/cart-0" + budgetText) }, model.Confirmed, model.Warning, []string{"shop/cart-0"}, ""},
		{"flattened text", func(w *site) {
			w.worker().says("Drain not completed yet: * Pod shop/cart-0" + stuck + " * Pod shop/cart-1" + budgetText)
		}, model.Confirmed, model.Warning, []string{"shop/cart-0", "shop/cart-1"}, ""},
		{"pods not readable: the message is enough", func(w *site) { w.blind().worker().says(header + "\n* Pod shop/cart-0" + budgetText) }, model.Confirmed, model.Warning, []string{"shop/cart-0"}, ""},
		{"not terminating, with a finalizer", func(w *site) {
			w.worker().says(header+"\n* Pod app/a"+stuck).pod("app", "a", terminating(time.Hour), func(p *model.Pod) { p.Finalizers = []string{"example.com/guard"} })
		}, model.Confirmed, model.Warning, []string{"app/a", "finalizers example.com/guard"}, ""},
		{"an eviction that fails", func(w *site) {
			w.worker().says(header + "\n* Pod app/a: failed to evict Pod, admission webhook denied the request")
		}, model.Confirmed, model.Warning, []string{"admission webhook denied"}, ""},
		{"waited for until it completes", func(w *site) {
			w.worker().says(header+"\n* Pod app/job"+": waiting for completion").pod("app", "job", label("cluster.x-k8s.io/drain", "wait-completed"))
		}, model.Confirmed, model.Warning, []string{"app/job", "completes"}, ""},
		{"hidden ones are found on the node", func(w *site) {
			w.worker().says(header + "\n* Pods app/a, app/b, app/c, ... (1 more)" + stuck)
			for _, n := range []string{"a", "b", "c", "d"} {
				w.pod("app", n, terminating(time.Hour))
			}
			w.pod("app", "running").pod("kube-system", "ds", terminating(time.Hour), func(p *model.Pod) { p.DaemonSet = true })
		}, model.Confirmed, model.Warning, []string{"app/c", "1 more"}, "not named"},
		{"nameless: the pods and budgets tell", func(w *site) {
			w.worker().saysOld(nameless).pod("shop", "cart-0").budget("shop", "cart", "app=cart-0", 0)
		}, model.Confirmed, model.Warning, []string{"shop/cart-0", "PodDisruptionBudget cart"}, ""},
		{"nameless: a pod that is terminating tells", func(w *site) { w.worker().saysOld(nameless).pod("app", "a", terminating(time.Hour)) }, model.Confirmed, model.Warning, []string{"app/a"}, ""},
		{"beside an agent", func(w *site) {
			w.says(header+"\n* Pod "+agentNS+"/"+agentName+stuck+"\n* Pod shop/cart-0"+budgetText).agent().pod("shop", "cart-0")
		}, model.Confirmed, model.Critical, []string{"shop/cart-0"}, agentName},
		{"an invalid rule", func(w *site) {
			w.worker().says("Error draining Node, please check controller logs for errors").rule("bad", "Skip", "", "", ago(time.Hour)).do(func(w *site) { w.c.DrainRules[0].Invalid = "no" })
		}, model.Confirmed, model.Warning, []string{"MachineDrainRule bad has an invalid selector"}, ""},
		{"an invalid rule, from the error alone", func(w *site) {
			w.worker().says("Error draining Node, please check controller logs for errors").do(func(w *site) {
				w.m.Conditions.Old[0].Reason = "DrainingFailed"
				w.m.Conditions.Old[0].Message = "failed to get Pods for eviction: failed to get matching MachineDrainRules: invalid selectors in MachineDrainRule bad: spec.pods[0]"
			})
		}, model.Confirmed, model.Warning, []string{"MachineDrainRule bad"}, ""},
		{"a namespace that is gone", func(w *site) {
			w.worker().saysOld(`failed to get Pods for eviction: Pods with error "Pod Namespace does not exist": gone/pod-1`)
		}, model.Confirmed, model.Warning, []string{"gone/pod-1", "Namespace does not exist"}, ""},
		{"a workload cluster that does not answer", func(w *site) {
			w.blind().worker().says("Requeuing drain Node because connection to the workload cluster is down")
		}, model.Confirmed, model.Warning, []string{"does not answer"}, ""},
		{"two budgets for one pod", func(w *site) {
			w.worker().says(header + "\n* Pod app/a: failed to evict Pod, This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
		}, model.Confirmed, model.Warning, []string{"more than one PodDisruptionBudget"}, ""},
		// Not an alarm yet.
		{"a minute old", func(w *site) {
			w.worker().says(strings.ReplaceAll(header, "11:00:00", "11:59:00") + "\n* Pod shop/cart-0" + budgetText).do(func(w *site) { w.m.DrainStarted = ago(time.Minute) })
		}, model.Confirmed, model.Info, nil, ""},
		{"within the pods' own grace", func(w *site) {
			w.worker().says(header+"\n* Pod app/a"+stuck).pod("app", "a", terminating(-10*time.Minute))
		}, model.Confirmed, model.Info, []string{"grace period until 2026-08-01T12:10:00Z"}, ""},
		// Only suspected.
		{"nameless, and a budget that nothing joins", func(w *site) { w.blind().worker().saysOld(nameless).budget("shop", "cart", "app=cart", 0) }, model.Suspected, model.Warning, []string{"shop/cart", "may hold it"}, ""},
		{"nameless, and nothing known", func(w *site) { w.blind().worker().saysOld(nameless) }, model.Suspected, model.Warning, []string{"not named"}, ""},
		{"no names on the first pass for an hour", func(w *site) { w.blind().worker().says(header) }, model.Suspected, model.Warning, nil, ""},
		{"an error without words", func(w *site) {
			w.blind().worker().says("Error draining Node, please check controller logs for errors")
		}, model.Suspected, model.Warning, []string{"does not say why"}, ""},
		{"nameless, pods known and none has a reason", func(w *site) { w.worker().saysOld(nameless).pod("app", "a") }, model.Suspected, model.Warning, nil, ""},
		// Near misses.
		{"only an agent", func(w *site) { w.says(named).agent() }, "", "", nil, ""},
		{"only agents, some hidden", func(w *site) {
			w.blind().says(header + "\n* Pods " + agentNS + "/" + agentName + ", " + agentNS + "/" + agentName + "a, ... (2 more)" + stuck)
		}, "", "", nil, ""},
		{"an agent that came back under another name", func(w *site) { w.says(strings.ReplaceAll(named, "mrr9n", "zzzzz")).agent() }, "", "", nil, ""},
		{"nobody deletes", func(w *site) {
			w.pod("shop", "cart-0").budget("shop", "cart", "app=cart-0", 0).do(func(w *site) { w.m.Deleting, w.m.Phase, w.m.DrainStarted = time.Time{}, "Running", time.Time{} })
		}, "", "", nil, ""},
		{"volumes are waited for", func(w *site) {
			w.says(header).do(func(w *site) { w.m.Conditions.New[0].Reason = "WaitingForVolumeDetach" })
		}, "", "", nil, ""},
		{"the drain succeeded, infrastructure goes", func(w *site) {
			w.says(header).do(func(w *site) {
				w.m.Conditions.New = nil
				w.m.Conditions.Old = model.Conditions{{Type: "DrainingSucceeded", Status: "True"}, {Type: "PreTerminateDeleteHookSucceeded", Status: "True"}}
			})
		}, "", "", nil, ""},
		{"nameless and a minute old: every drain begins so", func(w *site) {
			w.blind().saysOld(nameless).do(func(w *site) { w.m.Conditions.Old[0].Since = ago(time.Minute) })
		}, "", "", nil, ""},
		{"nameless, and only pods that are never drained", func(w *site) {
			w.saysOld(nameless).pod("kube-system", "ds", func(p *model.Pod) { p.DaemonSet = true }).pod("kube-system", "etcd", func(p *model.Pod) { p.Mirror = true })
		}, "", "", nil, ""},
		{"pods named only for later", func(w *site) {
			w.says(named + "\nAfter above Pods have been removed from the Node, the following Pods will be evicted: shop/cart-0").agent()
		}, "", "", nil, ""},
		{"a budget that refuses a pod elsewhere", func(w *site) {
			w.says(named).agent().pod("shop", "cart-0", func(p *model.Pod) { p.Node = "web-md-1" }).budget("shop", "cart", "app=cart-0", 0)
		}, "", "", nil, ""},
		{"the node is gone", func(w *site) {
			w.says(header + "\n* Pod shop/cart-0" + budgetText).do(func(w *site) { w.c.Workload.Nodes[0].Name = "web-cp-2"; w.m.NodeName = "web-cp-9" })
		}, "", "", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newDraining(t)
			c.change(w)
			tally(DrainBlocked, c.confidence != none)
			f := w.judge()[DrainBlocked]
			if c.confidence == none {
				if f != nil {
					t.Fatalf("found: %s\n%+v", f.Summary, f.Evidence)
				}
				return
			}
			if f == nil {
				t.Fatal("not found")
			}
			if f.Confidence != c.confidence || f.Severity != c.severity {
				t.Errorf("%s, %s; want %s, %s", f.Confidence, f.Severity, c.confidence, c.severity)
				for _, e := range f.Evidence {
					t.Logf("%-8s %-24s %s", e.Verdict, e.Name, e.Detail)
				}
			}
			for _, want := range c.says {
				if !strings.Contains(f.Summary, want) {
					t.Errorf("%q does not say %q", f.Summary, want)
				}
			}
			if c.not != "" && strings.Contains(f.Summary, c.not) {
				t.Errorf("%q says %q", f.Summary, c.not)
			}
			wellFormed(t, f)
			if f.KB != "345904" {
				t.Errorf("KB %q", f.KB)
			}
		})
	}
}

// A pod that its budget cannot keep is no blocker, and a budget is joined by its selector
// in its own namespace only.
func TestBudgetsAreJoinedByTheirSelector(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*site)
		want   bool
	}{
		{"selects it, allows none", func(w *site) { w.pod("shop", "cart-0").budget("shop", "b", "app=cart-0", 0) }, true},
		{"allows one", func(w *site) { w.pod("shop", "cart-0").budget("shop", "b", "app=cart-0", 1) }, false},
		{"selects another", func(w *site) { w.pod("shop", "cart-0").budget("shop", "b", "app=other", 0) }, false},
		{"is in another namespace", func(w *site) { w.pod("shop", "cart-0").budget("team", "b", "app=cart-0", 0) }, false},
		{"the pod is pending: it is evicted all the same", func(w *site) {
			w.pod("shop", "cart-0", func(p *model.Pod) { p.Phase = "Pending" }).budget("shop", "b", "app=cart-0", 0)
		}, false},
		{"the pod is skipped by its label", func(w *site) {
			w.pod("shop", "cart-0", label("cluster.x-k8s.io/drain", "skip")).budget("shop", "b", "app=cart-0", 0)
		}, false},
		{"the pod is skipped by a rule", func(w *site) {
			w.pod("shop", "cart-0").budget("shop", "b", "app=cart-0", 0).rule("r", "Skip", "", "shop", ago(time.Hour))
		}, false},
		{"the selector cannot be parsed", func(w *site) {
			w.pod("shop", "cart-0").budget("shop", "b", "app=cart-0", 0).do(func(w *site) { w.c.Workload.Budgets[0].Selector = nil })
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newDraining(t).worker().saysOld(nameless)
			c.change(w)
			f := w.judge()[DrainBlocked]
			found := f != nil && slices.ContainsFunc(f.Facts.(*DrainFacts).Blockers, func(b Blocker) bool { return b.Why == lifecycle.Budget && b.Sure }) //nolint:forcetypeassert // It is the type of this signature.
			if found != c.want {
				t.Errorf("joined %v, want %v: %+v", found, c.want, f)
			}
		})
	}
}
