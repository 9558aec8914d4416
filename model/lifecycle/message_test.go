package lifecycle

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func pods(names ...string) []PodName {
	var out []PodName
	for _, n := range names {
		ns, name, ok := strings.Cut(n, "/")
		if !ok {
			ns, name = "", n
		}
		out = append(out, PodName{ns, name})
	}
	return out
}

const full = `Drain not completed yet (started at 2024-10-09T16:13:59Z):
* Pods ns/pod-a, ns/pod-b, ns/pod-c, ... (4 more): deletionTimestamp set, but still not removed from the Node
* Pod ns/pod-d: cannot evict pod as it would violate the pod's disruption budget. The disruption budget pdb-x needs 20 healthy pods and has 19 currently
* Pod ns/pod-e: failed to evict Pod, some other error 1
* 4 Pods with other issues
* Pod ns/pod-f: waiting for completion
After above Pods have been removed from the Node, the following Pods will be evicted: ns/p1, ns/p2, ns/p3, ... (2 more)
After above Pods have been removed from the Node, waiting for the following Pods to complete without eviction: ns/p4`

var fullGroups = []Group{
	{Pods: pods("ns/pod-a", "ns/pod-b", "ns/pod-c"), More: 4, Why: Terminating, Text: "deletionTimestamp set, but still not removed from the Node", Needs: -1, Has: -1},
	{Pods: pods("ns/pod-d"), Why: Budget, BudgetName: "pdb-x", Needs: 20, Has: 19,
		Text: "cannot evict pod as it would violate the pod's disruption budget. The disruption budget pdb-x needs 20 healthy pods and has 19 currently"},
	{Pods: pods("ns/pod-e"), Why: Failed, Text: "some other error 1", Needs: -1, Has: -1},
	{Pods: pods("ns/pod-f"), Why: Completing, Text: "waiting for completion", Needs: -1, Has: -1},
	{Pods: pods("ns/p1", "ns/p2", "ns/p3"), More: 2, Why: EvictLater, Text: "the following Pods will be evicted", Needs: -1, Has: -1},
	{Pods: pods("ns/p4"), Why: CompleteLater, Text: "waiting for the following Pods to complete without eviction", Needs: -1, Has: -1},
}

// The same message as people paste it.
func TestParseMessageHoweverItIsDamaged(t *testing.T) {
	started := time.Date(2024, 10, 9, 16, 13, 59, 0, time.UTC)
	for name, in := range map[string]string{
		"as written":            full,
		"in one line":           strings.ReplaceAll(full, "\n", " "),
		"indented by describe":  strings.ReplaceAll(full, "\n", "\n             "),
		"Windows line ends":     strings.ReplaceAll(full, "\n", "\r\n"),
		"HTML":                  strings.NewReplacer("\n", "<br/>", "'", "&#39;").Replace(full),
		"other bullets":         strings.ReplaceAll(full, "\n* ", "\n• "),
		"dashes, in one line":   strings.ReplaceAll(strings.ReplaceAll(full, "\n* ", " - "), "\n", " "),
		"bullets lost":          strings.ReplaceAll(full, "\n* ", "\n"),
		"bullets and ends lost": strings.ReplaceAll(strings.ReplaceAll(full, "\n* ", " "), "\n", " "),
		"curly apostrophe":      strings.ReplaceAll(full, "pod's", "pod’s"),
		"after other words":     "condition DrainingSucceeded: " + full,
		"wrapped":               wrap(full, 80),
		"in one line, wrapped":  wrap(strings.ReplaceAll(full, "\n", " "), 80),
		"coloured":              strings.ReplaceAll(full, "Pod ", "\x1b[1mPod \x1b[0m"),
	} {
		t.Run(name, func(t *testing.T) {
			m := ParseMessage(in)
			if m.Form != FormPods || !m.Started.Equal(started) || m.Others != 4 || m.Hidden() != 8 || m.Complete() || m.Cut {
				t.Errorf("form %q, started %v, others %d, hidden %d, complete %v, cut %v", m.Form, m.Started, m.Others, m.Hidden(), m.Complete(), m.Cut)
			}
			if len(m.Groups) != len(fullGroups) {
				t.Fatalf("%d groups, want %d: %+v", len(m.Groups), len(fullGroups), m.Groups)
			}
			for i, want := range fullGroups {
				got := m.Groups[i]
				got.Text = strings.ReplaceAll(got.Text, "’", "'")
				if !reflect.DeepEqual(got, want) {
					t.Errorf("group %d:\n got %+v\nwant %+v", i, got, want)
				}
			}
		})
	}
}

// wrap breaks lines at spaces, as mail programs and terminals do.
func wrap(s string, width int) string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		for len(line) > width {
			i := strings.LastIndexByte(line[:width], ' ')
			if i <= 0 {
				break
			}
			out = append(out, line[:i])
			line = line[i+1:]
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

func TestParseMessageForms(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     Message
	}{
		{"nothing", "", Message{}},
		{"something else", "Waiting for Node volumes to be detached (started at 2026-01-10T10:03:00Z)", Message{}},
		{"Cluster API up to 1.8", "Draining the node before deletion", Message{Form: FormNameless}},
		{"first pass", "Drain not completed yet (started at 2024-10-09T18:13:59+02:00):", Message{Form: FormPods, Started: time.Date(2024, 10, 9, 16, 13, 59, 0, time.UTC)}},
		{"without start or namespace, as a KB shows it", "Drain not completed yet: * Pod <pod>: deletionTimestamp set, but still not removed from the Node",
			Message{Form: FormPods, Groups: []Group{{Pods: pods("<pod>"), Why: Terminating, Text: "deletionTimestamp set, but still not removed from the Node", Needs: -1, Has: -1}}}},
		{"heading lost", "* Pod a/b: deletionTimestamp set, but still not removed from the Node",
			Message{Form: FormPods, Groups: []Group{{Pods: pods("a/b"), Why: Terminating, Text: "deletionTimestamp set, but still not removed from the Node", Needs: -1, Has: -1}}}},
		{"one with other issues", "Drain not completed yet (started at x):\n* 1 Pod with other issues", Message{Form: FormPods, Others: 1}},
		{"several budgets", "Drain not completed yet:\n* Pod a/b: failed to evict Pod, This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
			Message{Form: FormPods, Groups: []Group{{Pods: pods("a/b"), Why: Failed, Needs: -1, Has: -1, Text: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."}}}},
		{"budget that is still computed", "Drain not completed yet:\n* Pod a/b: cannot evict pod as it would violate the pod's disruption budget. The disruption budget cart is still being processed by the server.",
			Message{Form: FormPods, Groups: []Group{{Pods: pods("a/b"), Why: Budget, BudgetName: "cart", Needs: -1, Has: -1,
				Text: "cannot evict pod as it would violate the pod's disruption budget. The disruption budget cart is still being processed by the server."}}}},
		{"budget without a name", "Drain not completed yet:\n* Pod a/b: cannot evict pod as it would violate the pod's disruption budget.",
			Message{Form: FormPods, Groups: []Group{{Pods: pods("a/b"), Why: Budget, Needs: -1, Has: -1, Text: "cannot evict pod as it would violate the pod's disruption budget."}}}},
		{"workload cluster down", "Requeuing drain Node because connection to the workload cluster is down", Message{Form: FormUnreachable}},
		{"error without words", "Error draining Node, please check controller logs for errors", Message{Form: FormError}},
		{"namespace gone", `failed to get Pods for eviction: Pods with error "Pod Namespace does not exist": gone/pod-1, gone/pod-2`,
			Message{Form: FormError, Text: `failed to get Pods for eviction: Pods with error "Pod Namespace does not exist": gone/pod-1, gone/pod-2`,
				Groups: []Group{{Pods: pods("gone/pod-1", "gone/pod-2"), Why: Failed, Text: "its Namespace does not exist", Needs: -1, Has: -1}}}},
		{"invalid rule", `failed to get Pods for eviction: failed to get matching MachineDrainRules: invalid selectors in MachineDrainRule bad-rule: spec.pods[0].selector: Invalid value`,
			Message{Form: FormError, BadRule: "bad-rule",
				Text: `failed to get Pods for eviction: failed to get matching MachineDrainRules: invalid selectors in MachineDrainRule bad-rule: spec.pods[0].selector: Invalid value`}},
		{"error text that looks like the list", "Drain not completed yet (started at x):\n* Pod a/b: failed to evict Pod, webhook said: * Pod c/d: deletionTimestamp set",
			Message{Form: FormPods, Groups: []Group{{Pods: pods("a/b"), Why: Failed, Text: "webhook said: * Pod c/d: deletionTimestamp set", Needs: -1, Has: -1}}}},
		{"name broken by a line end", "Drain not completed yet (started at x):\n* Pod pinniped-concierge/pinniped-concierge-kube-cert-\nagent-1: deletionTimestamp set, but\nstill not removed from the Node",
			Message{Form: FormPods, Groups: []Group{{Pods: pods("pinniped-concierge/pinniped-concierge-kube-cert-agent-1"), Why: Terminating, Needs: -1, Has: -1,
				Text: "deletionTimestamp set, but still not removed from the Node"}}}},
		{"unknown reason", "Drain not completed yet (started at x):\n* Pod a/b: something of a later release",
			Message{Form: FormPods, Groups: []Group{{Pods: pods("a/b"), Why: Other, Text: "something of a later release", Needs: -1, Has: -1}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ParseMessage(c.in)
			if !got.Started.Equal(c.want.Started) {
				t.Errorf("started %v, want %v", got.Started, c.want.Started)
			}
			got.Started, c.want.Started = time.Time{}, time.Time{}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("\n got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestParseMessageIsBounded(t *testing.T) {
	long := full + "\n* Pods " + strings.Repeat("ns/pod-with-a-name, ", 60_000) + "ns/last: deletionTimestamp set, but still not removed from the Node"
	if len(long) < 1_000_000 {
		t.Fatal("the message is too short for this test")
	}
	begin := time.Now()
	m := ParseMessage(long)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	if !m.Cut || m.Complete() {
		t.Errorf("cut %v, complete %v: a cut message is never complete", m.Cut, m.Complete())
	}
	if g := m.Find("ns", "pod-a"); g == nil || g.Why != Terminating {
		t.Errorf("the beginning was not read: %+v", m.Groups)
	}
	for _, g := range m.Groups {
		if len(g.Pods) > maxPods || len(g.Text) > maxReason+len("…") {
			t.Errorf("group of %d pods, text of %d bytes", len(g.Pods), len(g.Text))
		}
	}
	if n := len(ParseMessage(strings.Repeat("Drain not completed yet: * Pod a/b: x ", 30_000)).Groups); n > maxGroups {
		t.Errorf("%d groups", n)
	}
}

func TestBest(t *testing.T) {
	short := ParseMessage("Error draining Node, please check controller logs for errors")
	long := ParseMessage("failed to get Pods for eviction: boom")
	if got := Best(short, long); got.Text != "failed to get Pods for eviction: boom" {
		t.Errorf("got %+v", got)
	}
	got := Best(ParseMessage("Draining the node before deletion"), ParseMessage(full))
	if got.Form != FormPods || len(got.Groups) == 0 {
		t.Errorf("got %+v", got)
	}
	if got := Best(ParseMessage("Drain not completed yet (started at 2024-10-09T16:13:59Z):"), long); got.Started.IsZero() || got.Form != FormError {
		t.Errorf("got %+v: the start is taken from where it is", got)
	}
	if got := Best(); got.Form != FormNone {
		t.Errorf("got %+v", got)
	}
}

func FuzzParseMessage(f *testing.F) {
	for _, s := range []string{
		full, "", "Draining the node before deletion", strings.ReplaceAll(full, "\n", " "),
		"Drain not completed yet: * Pod <pod>: deletionTimestamp set", "Drain not completed yet (", "&lt;br&gt;Drain not completed yet:<br/>* Pods , ... (9 more): x",
		"Error draining Node", `Pods with error "Pod Namespace does not exist": a/b, c/d]`, "İİ Drain not completed yet", "Drain not completed yet:\n* 99999999999999999999 Pods with other issues",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m := ParseMessage(s)
		if len(m.Groups) > maxGroups+1 || m.Others < 0 || m.Hidden() < 0 {
			t.Errorf("%d groups, %d others", len(m.Groups), m.Others)
		}
		for _, g := range m.Groups {
			if len(g.Pods) > maxPods || len(g.Pods)+g.More == 0 || g.Why == "" {
				t.Errorf("group %+v", g)
			}
			for _, p := range g.Pods {
				if len(p.String()) > maxNameSize || p.Name == "" && p.Namespace == "" {
					t.Errorf("name %q", p)
				}
			}
		}
		if m.Complete() && m.Hidden() != 0 {
			t.Errorf("complete with hidden pods: %+v", m)
		}
	})
}

func BenchmarkParseMessage(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ParseMessage(full)
	}
}
