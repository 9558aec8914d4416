package signature

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vksmedic/model"
)

// A dead runtime, the drain that waits on it and the deletion that does not end are one story.
func TestStory(t *testing.T) {
	s := newSite(t)
	s.ready("web-np-1", "False", "KubeletNotReady", bothHalves, 3*time.Hour)
	s.deleting("web-np-1", 2*time.Hour, "DrainingNode", header+"\n* Pod app/a"+stuck)
	fs := s.findings()
	var p []*model.Finding
	for i := range fs {
		p = append(p, &fs[i])
	}
	model.SortFindings(p)
	var got []string
	for _, f := range p {
		got = append(got, f.Signature)
	}
	if want := []string{ContainerRuntimeDown, DrainBlocked, MachineDeletionStalled}; !slices.Equal(got, want) {
		t.Errorf("told as %v, want %v", got, want)
	}
	if len(p[0].Causes) != 2 || len(p[0].CausedBy) != 0 || len(p[2].CausedBy) != 2 || p[2].CausedBy[0].Subject.Name != "web-np-1" {
		t.Errorf("causes %v; caused by %v", p[0].Causes, p[2].CausedBy)
	}
	s.c.Findings = fs
	if w := s.c.Worst(); w.Signature != ContainerRuntimeDown {
		t.Errorf("the worst is %s: the cause comes first", w.Signature)
	}
}

// The same words in four condition lists are one finding.
func TestOneFindingForOneMessage(t *testing.T) {
	s := newSite(t)
	s.ready("web-np-1", "False", "KubeletNotReady", bothHalves, 3*time.Hour)
	for _, typ := range []string{"Ready", "NodeReady", "NodeHealthy"} {
		s.machineSays("web-np-1", model.Condition{Type: typ, Status: "False", Reason: "NodeNotReady", Message: "* Node.Ready: " + bothHalves, Since: ago(3 * time.Hour)})
	}
	s.machine("web-np-1").Conditions.Old = model.Conditions{{Type: "NodeHealthy", Status: "False", Reason: "NodeConditionsFailed", Message: "Node condition Ready is False. "}}
	if f := s.findings(); len(f) != 1 {
		t.Errorf("found: %s", list(f))
	}
}

// A cluster of 500 nodes is judged as it changes; a healthy one must cost next to nothing.
func BenchmarkJudge500(b *testing.B) {
	for name, change := range map[string]func(*site){
		"healthy": func(*site) {},
		"silent": func(s *site) {
			for _, m := range s.c.Machines {
				s.silent(m.Name, time.Hour)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := newSite(&testing.T{})
			for i := range 495 {
				s.add(fmt.Sprintf("web-np-%d", i+10), fmt.Sprintf("10.1.%d.%d", i/200, i%200), false)
			}
			change(s)
			b.ReportAllocs()
			for b.Loop() {
				Judge(s.c, s.sn, now)
			}
		})
	}
}

// A cluster in good health is quiet, and so is one in which nothing unusual goes on.
func TestCalm(t *testing.T) {
	for name, change := range map[string]func(s *site){
		"in good health":              func(*site) {},
		"nothing known of the inside": func(s *site) { s.blind() },
		"connection down, as Cluster API says": func(s *site) {
			s.blind()
			for _, m := range s.c.Machines {
				for _, typ := range []string{"NodeReady", "NodeHealthy"} {
					s.machineSays(m.Name, model.Condition{Type: typ, Status: "Unknown", Reason: "ConnectionDown", Message: "Last successful probe at 2026-08-01T11:50:00Z", Since: ago(9 * time.Minute)})
				}
			}
		},
		"a worker is being made": func(s *site) {
			s.add("web-np-3", "", false)
			m := s.machine("web-np-3")
			m.NodeName, m.Phase, m.Created = "", "Provisioning", ago(8*time.Minute)
			s.removeNode("web-np-3")
			s.vm("web-np-3").PowerState = ""
		},
		"a worker has just joined, its network is not up": func(s *site) {
			s.add("web-np-3", "10.0.0.9", false)
			s.machine("web-np-3").Created = ago(9 * time.Minute)
			s.c.Node("web-np-3").Created = ago(5 * time.Minute)
			s.ready("web-np-3", "False", "KubeletNotReady", "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized", 5*time.Minute)
		},
		"a control plane node joins, etcd counts it not yet": func(s *site) {
			s.add("web-cp-4", "10.0.0.8", true)
			s.machine("web-cp-4").NodeName, s.machine("web-cp-4").Phase, s.machine("web-cp-4").Created = "", "Provisioned", ago(3*time.Minute)
			s.removeNode("web-cp-4")
			s.vm("web-cp-4").Created = ago(3 * time.Minute)
			s.probe("web-cp-4", "False", "dial tcp 10.0.0.8:6443: connect: connection refused", 90*time.Second)
			s.c.Workload.Pods = s.c.Workload.Pods[:12]
		},
		"a control plane node leaves: its VM is being destroyed": func(s *site) {
			s.deleting("web-cp-1", 4*time.Minute, "WaitingForInfrastructureDeletion", "Waiting for VSphereMachine to be deleted").silent("web-cp-1", 3*time.Minute).unlist("10.0.0.1")
			s.vm("web-cp-1").Deleting = ago(2 * time.Minute)
		},
		"a worker leaves, 1.8's conditions": func(s *site) {
			s.silent("web-np-1", 5*time.Minute)
			m := s.machine("web-np-1")
			m.Phase, m.Deleting = "Deleting", ago(10*time.Minute)
			m.Conditions = model.Generations{Old: model.Conditions{{Type: "DrainingSucceeded", Status: "True"}, {Type: "PreTerminateDeleteHookSucceeded", Status: "True"}}}
		},
		"the first control plane node of a new cluster": func(s *site) {
			s.c.Object.ControlPlaneInitialized, s.c.Object.ControlPlaneUninitialized = false, true
			s.c.Endpoints[0].Subsets = nil
		},
		"a static pod restarted and runs": func(s *site) {
			p := s.podNamed("kube-scheduler-web-cp-1")
			p.Containers[0].Restarts, p.Containers[0].Last = 4, &model.Ending{ExitCode: 1, Reason: "Error", At: ago(time.Hour)}
		},
		"all versions older": func(s *site) {
			for _, m := range s.c.Machines {
				m.Conditions.New = nil
			}
			s.c.Object.Conditions = model.Generations{}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			change(s)
			if f := s.findings(); len(f) != 0 {
				t.Errorf("found: %s", list(f))
			}
		})
	}
}

func TestPausedIsSaid(t *testing.T) {
	w := newDraining(t).says(named).agent()
	w.c.Object.Paused = true
	f := w.judge()[KubeCertAgentBlocksDrain]
	if f == nil || evidence(f, "not-paused").Verdict != model.No || !strings.Contains(strings.Join(f.Advice, " "), "paused") {
		t.Errorf("found %+v", f)
	}
}

// A message of a cluster is never drawn as it is.
func TestFindingsHoldNoControlCharacters(t *testing.T) {
	w := newDraining(t).worker().says(header + "\n* Pod shop/cart\x1b[31m-0: failed to evict Pod, \x1b]0;owned\x07boom\r\nmore")
	w.c.Workload.Nodes[0].Conditions[0] = model.Condition{Type: "Ready", Status: "False", Message: "kubelet\x1b[2J gone"}
	w.m.Name, w.m.NodeName = "web\x1b[2J-cp", "web\x1b]8;;http://192.0.2.1\x07-cp"
	w.c.Workload.Nodes[0].Name = w.m.NodeName
	found := w.judge()
	if len(found) < 2 {
		t.Fatalf("found %v", found)
	}
	for _, f := range found {
		texts := append([]string{f.Summary, f.Short}, f.Advice...)
		for _, c := range f.Evidence {
			texts = append(texts, c.Name, c.Title, c.Detail, c.Source, c.Settle)
		}
		for _, s := range texts {
			if strings.ContainsAny(s, "\x1b\x07\r\n") {
				t.Errorf("%q", s)
			}
		}
		wellFormed(t, f)
	}
}

// The figure of the issue: one changed cluster is judged in under a millisecond.
func BenchmarkJudge(b *testing.B) {
	w := newDraining(nil)
	w.says(header + "\n* Pods app/a, app/b, app/c, ... (20 more)" + stuck).agent()
	for i := range 100 {
		name := "pod-" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		w.pod("app", name, terminating(time.Hour))
		w.c.Workload.Budgets = append(w.c.Workload.Budgets, model.Budget{Meta: model.Meta{Namespace: "app", Name: name}, Selector: mustSet(nil, "app="+name).AsSelector()})
	}
	for i := range 300 {
		m := *w.m
		m.Name, m.Deleting, m.Phase, m.Conditions = "web-md-0-"+string(rune('a'+i%26)), time.Time{}, "Running", model.Generations{}
		w.c.Machines = append(w.c.Machines, &m)
	}
	w.rule("r", "Skip", v3, "vmware-system-tmc", ago(time.Hour))
	b.ReportAllocs()
	for b.Loop() {
		if f, _ := Judge(w.c, w.sn, now); len(f) != 3 {
			b.Fatalf("%d findings", len(f))
		}
	}
}

func BenchmarkJudgeHealthy(b *testing.B) {
	w := newDraining(nil)
	w.m.Deleting, w.m.Phase, w.m.DrainStarted = time.Time{}, "Running", time.Time{}
	for range 300 {
		w.c.Machines = append(w.c.Machines, w.m)
	}
	b.ReportAllocs()
	for b.Loop() {
		if f, _ := Judge(w.c, w.sn, now); len(f) != 0 {
			b.Fatalf("%d findings", len(f))
		}
	}
}
