package print

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vksmedic/model"
	"vksmedic/model/signature"
	"vksmedic/probes/capture"
)

const casesDir = "../../testdata/cases"

// expectation is one row of expect.tsv.
type expectation struct {
	name, asOf     string
	fires, mustNot []string
}

func expectations(t *testing.T) []expectation {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(casesDir, "expect.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var out []expectation
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		cols := strings.Split(line, "\t")
		if len(cols) != 5 {
			t.Fatalf("expect.tsv, line %d: %d columns, want 5", i+1, len(cols))
		}
		if i == 0 {
			continue
		}
		split := func(s string) []string {
			if s == "-" {
				return nil
			}
			return strings.Split(s, ",")
		}
		out = append(out, expectation{name: cols[0], asOf: cols[1], fires: split(cols[2]), mustNot: split(cols[3])})
	}
	return out
}

// judged runs a case the way scan --from does and returns its JSON.
func judged(t *testing.T, e expectation) (list, *model.Snapshot) {
	t.Helper()
	d, err := capture.Read(context.Background(), filepath.Join(casesDir, e.name), nil)
	if err != nil {
		t.Fatal(err)
	}
	asOf := d.NewestTime
	if e.asOf != "-" {
		later, err := time.ParseDuration(strings.TrimPrefix(e.asOf, "+"))
		if err != nil {
			t.Fatal(err)
		}
		asOf = asOf.Add(later)
	}
	sn := d.Snapshot(signature.Judge, asOf)
	var b bytes.Buffer
	if err := Print(&b, JSON, sn, Options{}); err != nil {
		t.Fatal(err)
	}
	var l list
	if err := json.Unmarshal(b.Bytes(), &l); err != nil {
		t.Fatal(err)
	}
	return l, sn
}

// has says whether something asked for as "id" or "id:confidence" was found.
func (l list) has(want string) bool {
	id, confidence, _ := strings.Cut(want, ":")
	return slices.ContainsFunc(l.Findings, func(f findingJSON) bool {
		return f.Signature == id && (confidence == "" || string(f.Confidence) == confidence)
	})
}

// found are the findings in one line, for a test that fails.
func (l list) found() string {
	if len(l.Findings) == 0 {
		return "none"
	}
	var out []string
	for _, f := range l.Findings {
		out = append(out, f.Signature+":"+string(f.Confidence)+" ("+f.Summary+")")
	}
	return strings.Join(out, "; ")
}

func (l list) hasAny(alternatives string) bool {
	return slices.ContainsFunc(strings.Split(alternatives, "|"), l.has)
}

func known(alternatives string) bool {
	for _, a := range strings.Split(alternatives, "|") {
		id, _, _ := strings.Cut(a, ":")
		if slices.ContainsFunc(signature.All(), func(s signature.Signature) bool { return s.ID == id }) {
			return true
		}
	}
	return false
}

// Every public case through the same code as scan --from. What a signature that does not
// exist would have to find is left out.
func TestCases(t *testing.T) {
	rows := expectations(t)
	checked := map[string]bool{}
	for _, e := range rows {
		t.Run(e.name, func(t *testing.T) {
			l, sn := judged(t, e)
			for _, want := range e.fires {
				if !known(want) {
					continue
				}
				checked[e.name] = true
				if !l.hasAny(want) {
					t.Errorf("%s was not found as of %s (column as_of: %s); found: %s", want, cmp.Or(l.AsOf, "no time"), e.asOf, l.found())
				}
			}
			for _, not := range e.mustNot {
				if l.has(not) {
					t.Errorf("%s was found as of %s (column as_of: %s); found: %s", not, cmp.Or(l.AsOf, "no time"), e.asOf, l.found())
				}
			}
			if len(l.Findings) > 0 && flagged(sn) == 0 && ExitCode(sn) != Clear {
				t.Error("info alone must not be an alarm")
			}
		})
	}
	for _, dir := range dirs(t) {
		if !slices.ContainsFunc(rows, func(e expectation) bool { return e.name == dir }) {
			t.Errorf("case %s has no row in expect.tsv", dir)
		}
	}
	for _, must := range []string{"01-pinniped-concierge-v1beta1", "04-pinniped-hidden-behind-three", "07-pinniped-rule-present-not-matching",
		"10-pdb-capi18-nameless-condition", "11-pdb-cnpg-single-instance", "13-prometheus-volume-wait-harvester"} {
		if !checked[must] {
			t.Errorf("nothing was asked of %s", must)
		}
	}
}

func dirs(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(casesDir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

func caseOf(t *testing.T, name string) (*model.Snapshot, map[string]*model.Finding) {
	t.Helper()
	for _, e := range expectations(t) {
		if e.name == name {
			_, sn := judged(t, e)
			found := map[string]*model.Finding{}
			for _, f := range sn.Findings() {
				found[f.Signature] = f
			}
			return sn, found
		}
	}
	t.Fatalf("no case %s", name)
	return nil, nil
}

// findingOf is the finding of a signature in a case, which has to be there.
func findingOf(t *testing.T, name, id string) *model.Finding {
	t.Helper()
	sn, found := caseOf(t, name)
	if found[id] == nil {
		ids := strings.Join(slices.Sorted(maps.Keys(found)), ", ")
		t.Fatalf("%s: %s was not found as of %s (column as_of); found: %s", name, id, sn.At.Format(time.RFC3339), cmp.Or(ids, "none"))
	}
	return found[id]
}

// What the column note of expect.tsv asks for.
func TestCaseNotes(t *testing.T) {
	t.Run("04 names the four ordinary pods", func(t *testing.T) {
		const name = "04-pinniped-hidden-behind-three"
		agent, blocked := findingOf(t, name, signature.KubeCertAgentBlocksDrain), findingOf(t, name, signature.DrainBlocked)
		if agent.Confidence != model.Confirmed {
			t.Errorf("the agent was seen on the node, and is only %s", agent.Confidence)
		}
		facts, ok := agent.Facts.(*signature.AgentFacts)
		if !ok || len(facts.Others) != 4 || len(facts.Agents) != 1 {
			t.Fatalf("facts %+v", agent.Facts)
		}
		for _, pod := range []string{"a-0", "b-0", "c-0", "d-0"} {
			want := model.ObjectRef{Kind: "Pod", Namespace: "app", Name: pod}.In(blocked.Place)
			if !slices.Contains(blocked.Subjects, want) {
				t.Errorf("%s is not among the subjects %v", want, blocked.Subjects)
			}
			if !strings.Contains(check(agent, "nothing-else-holds").Detail, "app/"+pod) {
				t.Errorf("app/%s is not named beside the agent: %q", pod, check(agent, "nothing-else-holds").Detail)
			}
		}
		if slices.ContainsFunc(blocked.Subjects, func(r model.ObjectRef) bool { return r.Namespace == "pinniped-concierge" }) {
			t.Errorf("the agent is named as an ordinary blocker: %v", blocked.Subjects)
		}
	})
	t.Run("06 carries the label value v2 once its node is drained", func(t *testing.T) {
		dir := t.TempDir()
		pod, err := os.ReadFile(filepath.Join(casesDir, "06-pinniped-label-v2", "1.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		machine := `---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Machine
metadata: {name: wc6-cp-old1, namespace: ns-a, deletionTimestamp: "2025-10-09T16:00:00Z", labels: {cluster.x-k8s.io/cluster-name: wc6, cluster.x-k8s.io/control-plane: ""}}
spec: {clusterName: wc6}
status: {phase: Deleting, nodeRef: {name: wc6-cp-old1}, conditions: [{type: Deleting, status: "True", reason: DrainingNode, message: "Drain not completed yet (started at 2025-10-09T16:00:05Z):\n* Pod pinniped-concierge/pinniped-concierge-kube-cert-agent-acc715eb: deletionTimestamp set, but still not removed from the Node"}]}
`
		if err := os.WriteFile(filepath.Join(dir, "all"), append(append(pod, '\n'), machine...), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := capture.Read(context.Background(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := d.Snapshot(signature.Judge, time.Time{}).Findings()
		if len(all) != 1 || all[0].Signature != signature.KubeCertAgentBlocksDrain {
			t.Fatalf("found %+v", all)
		}
		facts, ok := all[0].Facts.(*signature.AgentFacts)
		if !ok || !slices.Equal(facts.Values["pinniped-concierge"], []string{"v2"}) {
			t.Errorf("facts %+v", all[0].Facts)
		}
	})
	t.Run("07 says that a rule exists and does not cover", func(t *testing.T) {
		f := findingOf(t, "07-pinniped-rule-present-not-matching", signature.KubeCertAgentBlocksDrain)
		for _, s := range []string{f.Summary, check(f, "no-rule-lets-it-pass").Detail} {
			if !strings.Contains(s, "vks-pod-drain-skip-pinniped") || !strings.Contains(s, "not cover the namespace vmware-system-tmc") {
				t.Errorf("%q does not say it", s)
			}
		}
		facts, ok := f.Facts.(*signature.AgentFacts)
		if !ok || len(facts.Rules) != 1 || facts.Rules[0].State != "not-covering" {
			t.Errorf("facts %+v", f.Facts)
		}
	})
	t.Run("10 is suspected at most", func(t *testing.T) {
		f := findingOf(t, "10-pdb-capi18-nameless-condition", signature.DrainBlocked)
		if f.Confidence != model.Suspected || !strings.Contains(f.Summary, "shop/cart") {
			t.Errorf("found %+v", f)
		}
	})
	t.Run("11 names both", func(t *testing.T) {
		f := findingOf(t, "11-pdb-cnpg-single-instance", signature.DrainBlocked)
		for _, want := range []string{"db-prod/db-1", "db-primary", "ops/ops-pg-1", "ops-pg-primary"} {
			if !strings.Contains(f.Summary, want) {
				t.Errorf("%q does not name %s", f.Summary, want)
			}
		}
	})
	t.Run("17 gives no advice to delete the Machine", func(t *testing.T) {
		f := findingOf(t, "17-pdb-plus-unreachable-node", signature.DrainBlocked)
		advice := strings.Join(f.Advice, " ")
		if !strings.Contains(advice, "Do not delete") || !strings.Contains(advice, "exclude-node-draining") {
			t.Errorf("advice %q", advice)
		}
	})
}

func check(f *model.Finding, name string) model.Check {
	for _, c := range f.Evidence {
		if c.Name == name {
			return c
		}
	}
	return model.Check{}
}
