package signature

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vksmedic/model"
)

const v3 = model.CertAgentLabel + "=v3"

// What is kube-cert-agent-blocks-drain, what only may be, and what is not.
func TestKubeCertAgentBlocksDrain(t *testing.T) {
	for _, c := range []struct {
		name       string
		change     func(*site)
		confidence model.Confidence // empty: no finding.
		severity   model.Severity
		says       string // a part of the summary.
	}{
		// Hits.
		{"seen and named", func(w *site) { w.says(named).agent() }, model.Confirmed, model.Critical, "blocks the drain of web-cp-old"},
		{"older generation only", func(w *site) { w.saysOld(named).agent() }, model.Confirmed, model.Critical, ""},
		{"named, pods not readable", func(w *site) { w.blind().says(named) }, model.Confirmed, model.Critical, ""},
		{"label v2", func(w *site) { w.says(named).agent(label(model.CertAgentLabel, "v2")) }, model.Confirmed, model.Critical, ""},
		{"label true", func(w *site) { w.says(named).agent(label(model.CertAgentLabel, "true")) }, model.Confirmed, model.Critical, ""},
		{"came back under another name", func(w *site) {
			w.says(strings.ReplaceAll(named, "mrr9n", "zzzzz")).agent()
		}, model.Confirmed, model.Critical, ""},
		{"another prefix: the label counts", func(w *site) {
			w.says(header+"\n* Pod id/my-kube-cert-agent-1"+stuck).pod("id", "my-kube-cert-agent-1", label(model.CertAgentLabel, "v3"))
		}, model.Confirmed, model.Critical, "of id"},
		{"hidden behind three, seen", func(w *site) {
			w.says(header+"\n* Pods app/a, app/b, app/c, ... (1 more)"+stuck).agent().pod("app", "a", terminating(time.Hour)).pod("app", "b", terminating(time.Hour)).pod("app", "c", terminating(time.Hour))
		}, model.Confirmed, model.Critical, "3 other pods too"},
		{"in two namespaces", func(w *site) {
			w.says(header+"\n* Pods "+agentNS+"/"+agentName+", vmware-system-tmc/cluster-auth-pinniped-kube-cert-agent-6f-abcde"+stuck).
				agent().pod("vmware-system-tmc", "cluster-auth-pinniped-kube-cert-agent-6f-abcde", label(model.CertAgentLabel, "v3"))
		}, model.Confirmed, model.Critical, "pinniped-concierge and vmware-system-tmc"},
		{"a rule that covers the other namespace only", func(w *site) {
			w.says(named).agent().rule("r", "Skip", v3, "vmware-system-tmc", ago(24*time.Hour))
		}, model.Confirmed, model.Critical, "MachineDrainRule r exists, it does not cover the namespace pinniped-concierge"},
		{"a rule for another value", func(w *site) {
			w.says(named).agent(label(model.CertAgentLabel, "v2")).rule("r", "Skip", v3, agentNS, ago(24*time.Hour))
		}, model.Confirmed, model.Critical, "the label is v2"},
		{"a rule that is shadowed", func(w *site) {
			w.says(named).agent().rule("a-all", "Drain", "", "", ago(24*time.Hour)).rule("r", "Skip", v3, agentNS, ago(24*time.Hour))
		}, model.Confirmed, model.Critical, "shadowed by a-all"},
		{"a fresh agent on a node that does not answer is evicted and waited for", func(w *site) { w.says(named).agent().node("Unknown") }, model.Confirmed, model.Critical, ""},
		{"rules may not be read, but the drain waits for it", func(w *site) {
			w.says(named).agent().do(func(w *site) { w.sn.Sources[1].State = model.SourceForbidden })
		}, model.Confirmed, model.Critical, ""},
		{"rules not served", func(w *site) {
			w.says(named).agent().do(func(w *site) {
				w.sn.Sources[1].State = model.SourceNotServed
				w.sn.Supervisor.DrainRulesServed = model.No
			})
		}, model.Confirmed, model.Critical, ""},
		{"a drain with a time limit", func(w *site) {
			w.says(named).agent().do(func(w *site) { d := 4 * time.Hour; w.m.DrainTimeout = &d })
		}, model.Confirmed, model.Critical, ""},
		{"no time in the dump: age unknown is not young", func(w *site) {
			w.says(named).agent().do(func(w *site) { w.sn.Dump, w.at = true, time.Time{} })
		}, model.Confirmed, model.Critical, ""},
		// Not an alarm yet, or no longer.
		{"a minute old", func(w *site) {
			w.says(strings.ReplaceAll(named, "11:00:00", "11:59:00")).agent().do(func(w *site) { w.m.DrainStarted = ago(time.Minute) })
		}, model.Confirmed, model.Info, ""},
		{"a rule that covers it was just made", func(w *site) { w.says(named).agent().rule("r", "Skip", v3, agentNS, ago(10*time.Second)) }, model.Suspected, model.Info, "a rule lets it pass"},
		{"a rule that covers it, since when is unknown", func(w *site) { w.says(named).agent().rule("r", "Skip", v3, agentNS, time.Time{}) }, model.Suspected, model.Info, "a rule lets it pass"},
		// Only suspected.
		{"a rule has covered it for a day, and the drain still names it", func(w *site) { w.says(named).agent().rule("r", "Skip", v3, agentNS, ago(24*time.Hour)) }, model.Suspected, model.Warning, "although a rule"},
		{"hidden, pods not readable", func(w *site) {
			w.blind().says(header + "\n* Pods app/a, app/b, app/c, ... (2 more)" + stuck)
		}, model.Suspected, model.Critical, "may block"},
		{"seen, message names only others", func(w *site) {
			w.says(header+"\n* Pod app/a"+stuck).agent().pod("app", "a", terminating(time.Hour))
		}, model.Suspected, model.Critical, ""},
		{"seen, message has no names yet", func(w *site) { w.says(header).agent() }, model.Suspected, model.Critical, ""},
		{"seen, Cluster API up to 1.8", func(w *site) { w.saysOld(nameless).agent() }, model.Suspected, model.Critical, ""},
		{"named, not on the node at this moment", func(w *site) { w.says(named) }, model.Suspected, model.Critical, ""},
		{"NotReady node on which nothing ends", func(w *site) {
			w.says(header+"\n* Pods app/a, "+agentNS+"/"+agentName+stuck).agent(terminating(time.Hour)).pod("app", "a", terminating(time.Hour)).node("False")
		}, model.Suspected, model.Critical, ""},
		{"rules may not be read, and the message hides it", func(w *site) {
			w.says(header).agent().do(func(w *site) { w.sn.Sources[1].State = model.SourceForbidden })
		}, model.Suspected, model.Critical, ""},
		{"an invalid rule fails the drain before it evicts", func(w *site) {
			w.says("Error draining Node, please check controller logs for errors").agent().rule("r", "Skip", v3, agentNS, ago(time.Hour)).do(func(w *site) { w.c.DrainRules[0].Invalid = "no" })
		}, model.Suspected, model.Critical, "r is invalid"},
		// Near misses.
		{"nobody deletes the Machine", func(w *site) {
			w.agent().do(func(w *site) { w.m.Deleting, w.m.Phase, w.m.DrainStarted = time.Time{}, "Running", time.Time{} })
		}, "", "", ""},
		{"condition Deleting is there and False", func(w *site) {
			w.agent().do(func(w *site) {
				w.m.Deleting, w.m.Phase, w.m.DrainStarted = time.Time{}, "Running", time.Time{}
				w.m.Conditions.New = model.Conditions{{Type: "Deleting", Status: "False", Reason: "NotDeleting"}}
			})
		}, "", "", ""},
		{"the drain is over, volumes are waited for", func(w *site) {
			w.says(named).agent().do(func(w *site) {
				w.m.Conditions.New[0].Reason, w.m.Conditions.New[0].Message = "WaitingForVolumeDetach", "Waiting for Node volumes to be detached (started at 2026-08-01T11:30:00Z)"
			})
		}, "", "", ""},
		{"the agent is on another node", func(w *site) {
			w.says(header+"\n* Pod app/a"+stuck).pod("app", "a", terminating(time.Hour)).agent(func(p *model.Pod) { p.Node = "web-cp-2" })
		}, "", "", ""},
		{"a pod with the name and without the label", func(w *site) { w.says(named).pod(agentNS, agentName, terminating(time.Hour)) }, "", "", ""},
		{"another pinniped pod", func(w *site) {
			w.says(header+"\n* Pod "+agentNS+"/pinniped-concierge-7c9-x"+stuck).pod(agentNS, "pinniped-concierge-7c9-x", terminating(time.Hour))
		}, "", "", ""},
		{"a rule covers it, and the message names only others", func(w *site) {
			w.says(header+"\n* Pod app/a"+stuck).agent().pod("app", "a", terminating(time.Hour)).rule("r", "Skip", v3, agentNS, ago(24*time.Hour))
		}, "", "", ""},
		{"a rule without pods covers everything", func(w *site) { w.says(header).agent().rule("r", "Skip", "", "", ago(24*time.Hour)) }, "", "", ""},
		{"its own label lets it pass", func(w *site) {
			w.says(header+"\n* Pod app/a"+stuck).agent(label("cluster.x-k8s.io/drain", "skip")).pod("app", "a", terminating(time.Hour))
		}, "", "", ""},
		{"terminating on a node that does not answer: the drain ignores it", func(w *site) {
			w.says(header + "\n* Pod app/a: cannot evict pod as it would violate the pod's disruption budget.").agent(terminating(time.Hour)).node("Unknown")
		}, "", "", ""},
		{"its turn comes later", func(w *site) {
			w.says(header + "\n* Pod app/a" + stuck + "\nAfter above Pods have been removed from the Node, the following Pods will be evicted: " + agentNS + "/" + agentName).agent()
		}, "", "", ""},
		{"other pods hide nothing", func(w *site) { w.blind().says(header + "\n* Pods app/a, app/b, app/c" + stuck) }, "", "", ""},
		{"hidden pods of a worker: agents live on control planes", func(w *site) {
			w.blind().worker().says(header + "\n* Pods app/a, app/b, app/c, ... (2 more)" + stuck)
		}, "", "", ""},
		{"hidden pods, and the cluster has no agent anywhere", func(w *site) {
			w.blind().says(header + "\n* Pods app/a, app/b, app/c, ... (2 more)" + stuck).do(func(w *site) { w.c.Workload.HasPinniped = model.No })
		}, "", "", ""},
		{"hidden pods that a budget holds are no agents", func(w *site) {
			w.blind().says(header + "\n* Pods app/a, app/b, app/c, ... (2 more): cannot evict pod as it would violate the pod's disruption budget.")
		}, "", "", ""},
		{"hidden pods that come after every namespace an agent is known in", func(w *site) {
			w.blind().says(header + "\n* Pods x/a, y/b, z/c, ... (2 more)" + stuck)
		}, "", "", ""},
		{"nameless, pods not readable", func(w *site) { w.blind().saysOld(nameless) }, "", "", ""},
		{"the node is gone: its drain is skipped", func(w *site) {
			w.blind().says(named).do(func(w *site) {
				w.c.Workload.NodesSource = model.Source{State: model.SourceOK, Live: true}
				w.c.Workload.Nodes = []model.Node{{Meta: model.Meta{Name: "web-cp-2"}}}
			})
		}, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newDraining(t)
			c.change(w)
			tally(KubeCertAgentBlocksDrain, c.confidence != none)
			f := w.judge()[KubeCertAgentBlocksDrain]
			if c.confidence == none {
				if f != nil {
					t.Fatalf("found: %s\n%+v", f.Summary, f.Evidence)
				}
				return
			}
			if f == nil {
				t.Fatal("not found")
			}
			if f.Confidence != c.confidence || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) {
				t.Errorf("%s, %s: %q; want %s, %s with %q", f.Confidence, f.Severity, f.Summary, c.confidence, c.severity, c.says)
				for _, e := range f.Evidence {
					t.Logf("%-8s %-24s %s", e.Verdict, e.Name, e.Detail)
				}
			}
			wellFormed(t, f)
			if f.Subjects[0] != (model.ObjectRef{Kind: "Machine", Namespace: "team-a", Name: "web-cp-old", Place: model.OnSupervisor("prod")}) || f.KB != "410900" {
				t.Errorf("subjects %v, KB %q", f.Subjects, f.KB)
			}
		})
	}
}

func TestAgentFacts(t *testing.T) {
	w := newDraining(t)
	w.says(header+"\n* Pods app/a, "+agentNS+"/"+agentName+stuck).pod("app", "a", terminating(time.Hour), func(p *model.Pod) { p.Finalizers = []string{"x/y"} })
	w.agent(func(p *model.Pod) { p.Waiting = "ImagePullBackOff" })
	w.pod("vmware-system-tmc", "cluster-auth-pinniped-kube-cert-agent-6f-abcde", label(model.CertAgentLabel, "v2"))
	w.rule("r", "Skip", v3, agentNS, ago(24*time.Hour))
	f := w.judge()[KubeCertAgentBlocksDrain]
	if f == nil {
		t.Fatal("not found")
	}
	facts, ok := f.Facts.(*AgentFacts)
	if !ok {
		t.Fatalf("facts are %T", f.Facts)
	}
	if facts.Machine != "web-cp-old" || facts.Node != "web-cp-old" || !facts.DrainStarted.Equal(ago(time.Hour)) {
		t.Errorf("facts %+v", facts)
	}
	if !slices.Equal(facts.Namespaces, []string{agentNS, "vmware-system-tmc"}) || !slices.Equal(facts.Values[agentNS], []string{"v3"}) || !slices.Equal(facts.Values["vmware-system-tmc"], []string{"v2"}) {
		t.Errorf("namespaces %v, values %v", facts.Namespaces, facts.Values)
	}
	if len(facts.Agents) != 2 || facts.Agents[0].State != "Pending, ImagePullBackOff" || !facts.Agents[0].Seen || !facts.Agents[0].Named || facts.Agents[1].Named {
		t.Errorf("agents %+v", facts.Agents)
	}
	if len(facts.Rules) != 1 || facts.Rules[0].State != "partly" {
		t.Errorf("rules %+v", facts.Rules)
	}
	if len(facts.Others) != 1 || facts.Others[0].Name != "a" || !strings.Contains(facts.Others[0].Detail, "x/y") {
		t.Errorf("others %+v", facts.Others)
	}
}

func TestAgentComesBack(t *testing.T) {
	sight := func(uid string, first, last time.Duration) model.Sighting {
		return model.Sighting{Namespace: agentNS, Name: "agent-" + uid, UID: uid, Node: "web-cp-old", First: ago(first), Last: ago(last)}
	}
	for _, c := range []struct {
		name      string
		sightings []model.Sighting
		created   time.Duration
		want      model.Verdict
	}{
		{"four different pods", []model.Sighting{sight("1", 60*time.Second, 50*time.Second), sight("2", 50*time.Second, 30*time.Second), sight("3", 30*time.Second, 10*time.Second), sight("4", 5*time.Second, 0)}, 24 * time.Hour, model.Yes},
		{"made after the drain began", nil, time.Minute, model.Yes},
		{"the same pod for ten minutes", []model.Sighting{sight("1", 10*time.Minute, 0)}, 24 * time.Hour, model.No},
		{"looked at for five seconds", []model.Sighting{sight("1", 5*time.Second, 0)}, 24 * time.Hour, model.Unknown},
		{"another node's", []model.Sighting{{UID: "1", Node: "web-cp-2"}, {UID: "2", Node: "web-cp-2"}}, 24 * time.Hour, model.Unknown},
		{"never looked at", nil, 24 * time.Hour, model.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newDraining(t)
			w.says(named).agent(func(p *model.Pod) { p.Created = ago(c.created) })
			w.c.Workload.Sightings = c.sightings
			f := w.judge()[KubeCertAgentBlocksDrain]
			if f == nil {
				t.Fatal("not found: whether it comes back only supports")
			}
			if got := evidence(f, "agent-comes-back"); got.Verdict != c.want {
				t.Errorf("%s: %s", got.Verdict, got.Detail)
			}
		})
	}
}

// Time alone makes an alarm of it, and takes the patience with a fresh rule away.
func TestReviewOfAgentFindings(t *testing.T) {
	w := newDraining(t)
	w.says(strings.ReplaceAll(named, "11:00:00", "11:59:30")).agent()
	w.m.DrainStarted = ago(30 * time.Second)
	_, review := Judge(w.c, w.sn, now)
	if want := w.m.DrainStarted.Add(Youth); !review.Equal(want) {
		t.Errorf("review at %v, want %v", review, want)
	}
	f, review := Judge(w.c, w.sn, review)
	if f[0].Signature != KubeCertAgentBlocksDrain || f[0].Severity != model.Critical || !review.IsZero() {
		t.Errorf("then: %+v, review %v", f, review)
	}

	w = newDraining(t)
	w.says(named).agent().rule("r", "Skip", v3, agentNS, ago(10*time.Second))
	f, review = Judge(w.c, w.sn, now)
	if want := ago(10 * time.Second).Add(RetryGrace); !review.Equal(want) || f[0].Severity != model.Info {
		t.Errorf("review at %v, want %v; %s", review, want, f[0].Severity)
	}
	if f, _ = Judge(w.c, w.sn, review); f[0].Signature != KubeCertAgentBlocksDrain || f[0].Severity != model.Warning {
		t.Errorf("then: %+v", f)
	}
}
