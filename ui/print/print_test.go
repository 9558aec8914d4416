package print

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"vksmedic/model"
	"vksmedic/model/signature"
)

var now = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func source(name model.SourceName, s model.SourceState) model.Source {
	return model.Source{Name: name, State: s, Seen: now.Add(-3 * time.Second)}
}

func readable() []model.Source { return except() }

// except are all that the signatures require, read, but for the sources given.
func except(others ...model.Source) []model.Source {
	var out []model.Source
	for _, r := range signature.Requires() {
		if !slices.ContainsFunc(others, func(s model.Source) bool { return s.Name.Of(r) }) {
			out = append(out, source(model.SupervisorSource(r, ""), model.SourceOK))
		}
	}
	return append(out, others...)
}

func finding(s model.Severity) model.Finding {
	return model.Finding{
		Signature: "drain-blocked", Confidence: model.Confirmed, Severity: s,
		Cluster:  model.ClusterRef{Namespace: "team-a", Name: "web"},
		Subjects: []model.ObjectRef{{Kind: "Machine", Namespace: "team-a", Name: "web-md-0-x7k2p"}, {Kind: "Node", Name: "web-md-0-x7k2p"}},
		Summary:  "the drain of web-md-0-x7k2p waits for shop/cart-0 <b>|\x1b[31m`x`", KB: "345904",
		Since: now.Add(-72 * time.Minute),
		Evidence: []model.Check{
			{Name: "machine-deleting", Title: "the Machine is being deleted", Verdict: model.Yes, Detail: "since <then>\nand on", Source: "Machine team-a/web"},
			{Name: "all-named", Title: "all is named", Verdict: model.Unknown, Detail: "no", Source: "x", Settle: "kubectl get pods"},
		},
		Advice: []string{"Look."},
	}
}

func snapshot(sources []model.Source, findings ...model.Finding) *model.Snapshot {
	return &model.Snapshot{At: now, Sources: sources, Clusters: []*model.Cluster{{
		Ref: model.ClusterRef{Namespace: "team-a", Name: "web"}, Machines: []*model.Machine{{}, {}}, Workload: &model.Workload{}, Findings: findings,
	}}}
}

func printed(t *testing.T, f Format, sn *model.Snapshot, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Print(&b, f, sn, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The JSON is an interface: names, order and forms of its fields stay.
func TestJSONIsAsPromised(t *testing.T) {
	sources := append([]model.Source{source("supervisor/machinedrainrules", model.SourceOK), source("supervisor/machines", model.SourceOK)}, model.Source{Name: "supervisor/vks", State: model.SourceForbidden, Detail: "may not"}, model.Source{Name: "workload/team-a/web/pods", State: model.SourceWaiting})
	got := printed(t, JSON, snapshot(sources, finding(model.Warning)), Options{})
	want := `{
  "apiVersion": "vksmedic/v1",
  "kind": "FindingList",
  "asOf": "2026-08-01T12:00:00Z",
  "findings": [
    {
      "signature": "drain-blocked",
      "confidence": "confirmed",
      "severity": "warning",
      "cluster": {
        "namespace": "team-a",
        "name": "web"
      },
      "subjects": [
        {
          "kind": "Machine",
          "namespace": "team-a",
          "name": "web-md-0-x7k2p"
        },
        {
          "kind": "Node",
          "name": "web-md-0-x7k2p"
        }
      ],
      "summary": "the drain of web-md-0-x7k2p waits for shop/cart-0 <b>|` + "`x`" + `",
      "kb": "345904",
      "article": "",
      "evidence": [
        {
          "check": "machine-deleting",
          "verdict": "yes",
          "detail": "since <then> and on",
          "source": "Machine team-a/web"
        },
        {
          "check": "all-named",
          "verdict": "unknown",
          "detail": "no",
          "source": "x"
        }
      ]
    }
  ],
  "sources": [
    {
      "name": "supervisor/machinedrainrules",
      "state": "ok",
      "age": "3s",
      "detail": ""
    },
    {
      "name": "supervisor/machines",
      "state": "ok",
      "age": "3s",
      "detail": ""
    },
    {
      "name": "supervisor/vks",
      "state": "forbidden",
      "age": "",
      "detail": "may not"
    },
    {
      "name": "workload/team-a/web/pods",
      "state": "unreachable",
      "age": "",
      "detail": ""
    }
  ]
}
`
	if got != want {
		t.Errorf("got:\n%s", got)
	}
}

func TestJSONHoldsNoNull(t *testing.T) {
	for _, sn := range []*model.Snapshot{{}, snapshot(nil, model.Finding{})} {
		out := printed(t, JSON, sn, Options{})
		if strings.Contains(out, "null") {
			t.Errorf("%s", out)
		}
		var l list
		if err := json.Unmarshal([]byte(out), &l); err != nil {
			t.Error(err)
		}
	}
	if out := printed(t, JSON, &model.Snapshot{}, Options{}); !strings.Contains(out, `"asOf": ""`) {
		t.Errorf("no time is not the year one: %s", out)
	}
}

func TestTable(t *testing.T) {
	long := finding(model.Critical)
	long.Cluster.Name = strings.Repeat("long-name-", 8)
	long.Summary = strings.Repeat("words and ", 40)
	sn := snapshot(append(readable(), model.Source{Name: "supervisor/vks", State: model.SourceForbidden, Detail: "may not\x1b[2J read"}), long, finding(model.Info))
	for _, width := range []int{0, 40, 80, 120, 200} {
		out := printed(t, Table, sn, Options{Width: width})
		if strings.ContainsRune(out, '\x1b') {
			t.Errorf("an escape sequence at width %d: %q", width, out)
		}
		lines := strings.Split(out, "\n")
		for _, l := range lines[:3] {
			if width > 0 && ansi.StringWidth(l) > max(width, narrowest) {
				t.Errorf("%d columns at width %d: %q", ansi.StringWidth(l), width, l)
			}
		}
		at := strings.Index(lines[0], "FINDING")
		for _, l := range lines[1:3] {
			if got := ansi.StringWidth(ansi.Truncate(l, at, "")); got != at {
				t.Errorf("columns do not stand under each other: %q", l)
			}
		}
		for _, want := range []string{"✖ critical", "· info", "1h12m", "confirmed", "forbidden  supervisor/vks: may not read", "1 finding flagged, 1 to watch"} {
			if !strings.Contains(out, want) {
				t.Errorf("width %d: no %q in\n%s", width, want, out)
			}
		}
	}
	if out := printed(t, Table, sn, Options{Width: 80, Color: true}); !strings.Contains(out, "\x1b[31m✖ critical") {
		t.Errorf("no colour: %q", out)
	}
	if out := printed(t, Table, sn, Options{}); !strings.Contains(out, strings.TrimSpace(long.Summary)) {
		t.Error("a file gets whole lines")
	}
}

func TestCalm(t *testing.T) {
	dump := snapshot([]model.Source{{Name: "dump", State: model.SourceOK}})
	dump.Dump = true
	undated := snapshot(nil)
	undated.Dump, undated.At = true, time.Time{}
	blindly := snapshot([]model.Source{source("supervisor/machines", model.SourceForbidden)})
	for _, c := range []struct {
		name string
		sn   *model.Snapshot
		want string
	}{
		{"all well", snapshot(readable()), "Nothing is flagged in 1 cluster with 2 Machines.\n"},
		{"dump", dump, "Nothing is flagged in 1 cluster with 2 Machines, as of 2026-08-01T12:00:00Z.\n"},
		{"dump without time", undated, "Nothing is flagged in 1 cluster with 2 Machines, at an unknown time.\n"},
		{"not all read", blindly, "Nothing is flagged in 1 cluster with 2 Machines, but not all that is needed could be read.\n\nforbidden  supervisor/machines\n"},
		{"no cluster", &model.Snapshot{At: now, Sources: readable()}, "Nothing is flagged: there is no cluster to look at.\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := printed(t, Table, c.sn, Options{Width: 80}); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// One reason for many sources is said once, and every source is named.
func TestOneReasonIsSaidOnce(t *testing.T) {
	why := "https://192.0.2.10 refuses connections\x1b[2J"
	var all []model.Source
	for _, n := range []model.SourceName{"supervisor/clusters", "supervisor/machines", "supervisor/machinesets", "supervisor/vks", "workload/team-a/web/nodes"} {
		all = append(all, model.Source{Name: n, State: model.SourceUnreachable, Detail: why})
	}
	sn := &model.Snapshot{At: now, Sources: all}
	want := "Nothing can be said: not all that is needed could be read, and no cluster was seen.\n\n" +
		"unreachable  5 sources: https://192.0.2.10 refuses connections\n" +
		"             supervisor/clusters, machines, machinesets, vks, workload/team-a/web/nodes\n"
	if got := printed(t, Table, sn, Options{}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	sn.Sources = append(slices.Clone(all[:2]), model.Source{Name: "supervisor/vks", State: model.SourceStale, Detail: why}, source("a", model.SourceForbidden), source("b", model.SourceForbidden))
	got := printed(t, Table, sn, Options{})
	if !strings.HasSuffix(got, "\n\nunreachable  supervisor/clusters, machines: https://192.0.2.10 refuses connections\n"+
		"stale  supervisor/vks: https://192.0.2.10 refuses connections\nforbidden  a\nforbidden  b\n") {
		t.Errorf("got %q", got)
	}
	if got := printed(t, Markdown, sn, Options{}); !strings.Contains(got, "- `supervisor/clusters, machines`: unreachable https://192.0.2.10 refuses connections\n") {
		t.Errorf("got %q", got)
	}
}

func TestMarkdown(t *testing.T) {
	out := printed(t, Markdown, snapshot(append(readable(), source("a`b", model.SourceStale)), finding(model.Warning)), Options{})
	for _, want := range []string{
		"## team-a/web: the drain of web-md-0-x7k2p waits for shop/cart-0 \\<b\\>\\|\\`x\\`", "- Broadcom KB 345904", "- since: 2026-08-01T10:48:00Z",
		"| yes | the Machine is being deleted | since \\<then\\> and on | Machine team-a/web |", "To settle it: kubectl get pods", "- Look.", "- `a'b`: stale",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.ContainsRune(out, '\x1b') {
		t.Errorf("an escape sequence: %q", out)
	}
	if out := printed(t, Markdown, snapshot(readable()), Options{}); !strings.Contains(out, "Nothing is flagged") {
		t.Errorf("%s", out)
	}
}

func TestExitCode(t *testing.T) {
	dump := snapshot([]model.Source{source("file/x", model.SourceNotUnderstood)})
	dump.Dump = true
	for _, c := range []struct {
		name string
		sn   *model.Snapshot
		want int
	}{
		{"nothing found, all read", snapshot(readable()), Clear},
		{"critical", snapshot(readable(), finding(model.Critical)), Flagged},
		{"warning", snapshot(readable(), finding(model.Warning)), Flagged},
		{"info does not count", snapshot(readable(), finding(model.Info)), Clear},
		{"Machines forbidden", snapshot(except(source("supervisor/machines", model.SourceForbidden))), Blind},
		{"Machines not served", snapshot(except(source("supervisor/machines", model.SourceNotServed))), Blind},
		{"Machines out of reach, something flagged", snapshot(except(source("supervisor/machines", model.SourceUnreachable)), finding(model.Warning)), Flagged},
		{"Machines still waited for", snapshot(except(source("supervisor/machines", model.SourceWaiting))), Blind},
		{"Machines old", snapshot(except(source("supervisor/machines", model.SourceStale))), Clear},
		{"one of two namespaces forbidden", snapshot(except(source("supervisor/machines@team-a", model.SourceOK), source("supervisor/machines@team-b", model.SourceForbidden))), Blind},
		{"rules not served: there are none", snapshot(except(source("supervisor/machinedrainrules", model.SourceNotServed))), Clear},
		{"Endpoints forbidden", snapshot(except(source("supervisor/endpoints", model.SourceForbidden))), Blind},
		{"no VM Operator here", snapshot(except(source("supervisor/virtualmachines", model.SourceNotServed))), Clear},
		{"rules forbidden", snapshot(except(source("supervisor/machinedrainrules", model.SourceForbidden))), Blind},
		{"what only supports is forbidden", snapshot(except(source("supervisor/vks", model.SourceForbidden), source("supervisor/events", model.SourceForbidden))), Clear},
		{"nothing was read at all", snapshot(nil), Blind},
		{"a dump is all there is", dump, Clear},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ExitCode(c.sn); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestPrintFails(t *testing.T) {
	for _, f := range Formats() {
		if err := Print(full{}, f, snapshot(readable(), finding(model.Info)), Options{}); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: %v", f, err)
		}
	}
	if err := Print(&bytes.Buffer{}, "xml", snapshot(nil), Options{}); err == nil || !strings.Contains(err.Error(), "table, json or markdown") {
		t.Errorf("got %v", err)
	}
}
