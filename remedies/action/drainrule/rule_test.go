package drainrule

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/remedies"
	"vksmedic/remedies/effect"
)

const agentLabel = "kube-cert-agent.pinniped.dev"

// agentsIn makes agents from "namespace=value,value" (no value: known by name only).
func agentsIn(specs ...string) []agents {
	var out []agents
	for _, s := range specs {
		ns, values, _ := strings.Cut(s, "=")
		g := agents{Namespace: ns}
		if values == "" {
			g.Pods = []lifecycle.Subject{{Namespace: ns, Name: "kube-cert-agent", HasKeys: []string{agentLabel}}}
		} else {
			g.Values = strings.Split(values, ",")
		}
		for _, v := range g.Values {
			g.Pods = append(g.Pods, lifecycle.Subject{Namespace: ns, Name: "kube-cert-agent", Labels: map[string]string{agentLabel: v}, LabelsKnown: true})
		}
		out = append(out, g)
	}
	return out
}

// question is about Machine web-cp-1 of team-a/web; rules are given as name and spec.
func question(t *testing.T, reach string, ag []agents, rules map[string]string) ruleQuestion {
	t.Helper()
	q := ruleQuestion{Wish: "vks-pod-drain-skip-pinniped", Label: agentLabel, Reach: reach,
		GVR:    schema.GroupVersionResource{Group: "cluster.x-k8s.io", Version: "v1beta2", Resource: "machinedrainrules"},
		Agents: ag, Live: map[string]*unstructured.Unstructured{},
		Machine: &model.Machine{Meta: model.Meta{Kind: "Machine", Namespace: "team-a", Name: "web-cp-1",
			Labels: map[string]string{"cluster.x-k8s.io/cluster-name": "web"}}, ControlPlane: true},
		Cluster: &model.Cluster{Ref: model.ClusterRef{Namespace: "team-a", Name: "web"}, Workload: &model.Workload{},
			Object: &model.ClusterObject{Meta: model.Meta{Kind: "Cluster", Namespace: "team-a", Name: "web", Labels: map[string]string{"env": "prod"}}}},
	}
	for name, spec := range rules {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		doc := fmt.Sprintf("apiVersion: cluster.x-k8s.io/v1beta2\nkind: MachineDrainRule\nmetadata: {name: \"%s\", namespace: team-a, uid: uid-%s, resourceVersion: '7'}\nspec: %s\n", name, name, spec)
		if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
			t.Fatal(err)
		}
		q.Live[name] = u
		q.Cluster.DrainRules = append(q.Cluster.DrainRules, rowOfRule(u))
	}
	return q
}

const (
	entryV3      = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: pinniped-concierge}}, selector: {matchLabels: {kube-cert-agent.pinniped.dev: v3}}}"
	entryTMC     = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: vmware-system-tmc}}, selector: {matchLabels: {kube-cert-agent.pinniped.dev: v3}}}"
	entryBatch   = "{selector: {matchLabels: {app: batch}}}"
	onlyWeb      = "[{selector: {matchLabels: {cluster.x-k8s.io/cluster-name: web}}}]"
	onlyOther    = "[{selector: {matchLabels: {cluster.x-k8s.io/cluster-name: api}}}]"
	skip         = "drain: {behavior: Skip}"
	ours         = "vks-pod-drain-skip-pinniped"
	concierge    = "pinniped-concierge=v3"
	tmc          = "vmware-system-tmc=v3"
	entryUnknown = "{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: pinniped-concierge}}, selector: {matchExpressions: [{key: kube-cert-agent.pinniped.dev, operator: Exists}]}}"
)

func TestDecideRule(t *testing.T) {
	spec := func(parts ...string) string { return "{" + strings.Join(parts, ", ") + "}" }
	pods := func(e ...string) string { return "pods: [" + strings.Join(e, ", ") + "]" }
	for name, c := range map[string]struct {
		reach  string
		agents []string
		rules  map[string]string
		// want is "verb name", done or blocked; spec what the rule then is, and says something among words.
		want, spec, says string
	}{
		"new, whole namespace": {agents: []string{concierge}, want: "create " + ours, spec: spec(skip, pods(entryV3))},
		"new, this cluster":    {reach: reachCluster, agents: []string{concierge}, want: "create " + ours, spec: spec(skip, "machines: "+onlyWeb, pods(entryV3))},
		"two namespaces":       {agents: []string{tmc, concierge}, want: "create " + ours, spec: spec(skip, pods(entryV3, entryTMC))},
		"older label value": {agents: []string{"pinniped-concierge=v2"}, want: "create " + ours,
			spec: spec(skip, pods(strings.Replace(entryV3, "v3", "v2", 1)))},
		"two values in one namespace": {agents: []string{"pinniped-concierge=v2,v3"}, want: "create " + ours,
			spec: spec(skip, pods("{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: pinniped-concierge}}, selector: {matchExpressions: [{key: kube-cert-agent.pinniped.dev, operator: In, values: [v2, v3]}]}}"))},
		"value unknown":          {agents: []string{"pinniped-concierge"}, want: "create " + ours, spec: spec(skip, pods(entryUnknown))},
		"nothing known":          {want: "blocked", says: "not known in which namespace"},
		"covers already":         {agents: []string{concierge}, rules: map[string]string{ours: spec(skip, pods(entryV3))}, want: "done", says: ours},
		"another rule covers":    {agents: []string{concierge}, rules: map[string]string{"zzz": spec(skip, pods(entryV3))}, want: "done", says: "zzz"},
		"a rule skips every pod": {agents: []string{concierge}, rules: map[string]string{"all": spec(skip)}, want: "done", says: "all"},
		"covers one of two": {agents: []string{concierge, tmc}, rules: map[string]string{ours: spec(skip, pods(entryV3))},
			want: "update " + ours, spec: spec(skip, pods(entryV3, entryTMC))},
		"other entries are kept": {agents: []string{concierge}, rules: map[string]string{ours: spec(skip, pods(entryBatch))},
			want: "update " + ours, spec: spec(skip, pods(entryBatch, entryV3))},
		"the rule is for another cluster, this cluster": {reach: reachCluster, agents: []string{concierge},
			rules: map[string]string{ours: spec(skip, "machines: "+onlyOther, pods(entryV3))},
			want:  "update " + ours, spec: spec(skip, "machines: [{selector: {matchLabels: {cluster.x-k8s.io/cluster-name: api}}}, {selector: {matchLabels: {cluster.x-k8s.io/cluster-name: web}}}]", pods(entryV3))},
		"the rule is for another cluster, namespace": {agents: []string{concierge},
			rules: map[string]string{ours: spec(skip, "machines: "+onlyOther, pods(entryV3))},
			want:  "update " + ours, spec: spec(skip, pods(entryV3)), says: "now it reaches every one"},
		"the rule is for another cluster and other pods": {agents: []string{concierge},
			rules: map[string]string{ours: spec(skip, "machines: "+onlyOther, pods(entryBatch))},
			want:  "create " + ours + "-2", spec: spec(skip, pods(entryV3)), says: "stays as it is"},
		"the rule of that name drains": {agents: []string{concierge}, rules: map[string]string{ours: spec("drain: {behavior: Drain, order: 5}", pods(entryV3))},
			want: "create a-" + ours, spec: spec(skip, pods(entryV3)), says: "comes first by name"},
		"the rule of that name has no pods, other cluster": {agents: []string{concierge}, rules: map[string]string{ours: spec(skip, "machines: "+onlyOther)},
			want: "create " + ours + "-2", spec: spec(skip, pods(entryV3))},
		"shadowed by an earlier name": {agents: []string{concierge}, rules: map[string]string{"drain-all-late": spec("drain: {behavior: Drain, order: 9}")},
			want: "create a-" + ours, spec: spec(skip, pods(entryV3)), says: "drain-all-late"},
		"shadowed though it exists": {agents: []string{concierge}, rules: map[string]string{
			"drain-all-late": spec("drain: {behavior: Drain}"), ours: spec(skip, pods(entryV3))}, want: "create a-" + ours, says: "comes before it"},
		"shadowed by the first of names": {agents: []string{concierge}, rules: map[string]string{"0": spec("drain: {behavior: Drain}")},
			want: "blocked", says: "no name comes before"},
		"a later rule does not shadow": {agents: []string{concierge}, rules: map[string]string{"zzz": spec("drain: {behavior: Drain}")},
			want: "create " + ours},
		"waits for completion first": {agents: []string{concierge}, rules: map[string]string{"batch": spec("drain: {behavior: WaitCompleted}", pods("{selector: {}}"))},
			want: "create a-" + ours},
		"another rule is broken": {agents: []string{concierge}, rules: map[string]string{"broken": spec(skip, pods("{selector: {matchExpressions: [{key: a, operator: Nonsense}]}}"))},
			want: "create " + ours, says: "broken has an invalid selector"},
		"covered, but another rule is broken": {agents: []string{concierge}, rules: map[string]string{ours: spec(skip, pods(entryV3)),
			"broken": spec(skip, pods("{selector: {matchExpressions: [{key: a, operator: Nonsense}]}}"))}, want: "blocked", says: "mend or delete MachineDrainRule broken"},
		"our rule is broken": {agents: []string{concierge}, rules: map[string]string{ours: spec(skip, pods("{selector: {matchExpressions: [{key: a, operator: Nonsense}]}}"))},
			want: "update " + ours, spec: spec(skip, pods(entryV3)), says: "broken entries"},
		"clusterSelector lets this one out": {agents: []string{concierge}, rules: map[string]string{"x": spec(skip, "machines: [{clusterSelector: {matchLabels: {env: test}}}]", pods(entryV3))},
			want: "create " + ours},
		"a full rule": {agents: []string{concierge}, rules: map[string]string{ours: spec(skip, pods(manyEntries(32)...))},
			want: "create " + ours + "-2", spec: spec(skip, pods(entryV3))},
	} {
		t.Run(name, func(t *testing.T) {
			reach := c.reach
			if reach == "" {
				reach = reachNamespace
			}
			q := question(t, reach, agentsIn(c.agents...), c.rules)
			a := decideRule(q)
			got := "done"
			switch {
			case a.blocked != "":
				got = "blocked"
			case a.change != nil:
				got = string(a.change.Verb) + " " + a.change.Name
			case a.done == "":
				t.Fatalf("no answer: %+v", a)
			}
			if got != c.want {
				t.Fatalf("got %s, want %s (%+v)", got, c.want, a)
			}
			words := strings.Join(append(append([]string{a.done, a.blocked}, a.means...), a.warnings...), "\n")
			if !strings.Contains(words, c.says) {
				t.Errorf("it does not say %q: %s", c.says, words)
			}
			if c.spec == "" || a.change == nil {
				return
			}
			var want map[string]any
			if err := yaml.Unmarshal([]byte(c.spec), &want); err != nil {
				t.Fatal(err)
			}
			if have := a.change.Want["spec"]; effect.YAML(map[string]any{"s": have}) != effect.YAML(map[string]any{"s": want}) {
				t.Errorf("got\n%swant\n%s", effect.YAML(map[string]any{"s": have}), effect.YAML(map[string]any{"s": want}))
			}
		})
	}
}

func manyEntries(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("{selector: {matchLabels: {app: a%d}}}", i))
	}
	return out
}

// A rule that skips without naming pods is refused, whoever asks for it.
func TestRuleWithoutPodsIsRefused(t *testing.T) {
	q := question(t, reachNamespace, agentsIn(concierge), nil)
	for name, spec := range map[string]string{
		"no pods":             "{drain: {behavior: Skip}}",
		"empty pods":          "{drain: {behavior: Skip}, pods: []}",
		"pods is no list":     "{drain: {behavior: Skip}, pods: all}",
		"entry for all pods":  "{drain: {behavior: Skip}, pods: [{namespaceSelector: {matchLabels: {a: b}}}]}",
		"entry with empty":    "{drain: {behavior: Skip}, pods: [{selector: {}}]}",
		"one good, one empty": "{drain: {behavior: Skip}, pods: [" + entryV3 + ", {selector: {}}]}",
	} {
		t.Run(name, func(t *testing.T) {
			c := effect.NewObject(supervisor(), effect.Create, q.GVR, drainRuleKind, "team-a", ours)
			c.Want = map[string]any{}
			if err := yaml.Unmarshal([]byte("spec: "+spec), &c.Want); err != nil {
				t.Fatal(err)
			}
			if err := guardDrainRule(c); err == nil {
				t.Error("it was let through")
			}
		})
	}
}

func TestTakeBack(t *testing.T) {
	entries := func(e ...string) string {
		return "{drain: {behavior: Skip}, pods: [" + strings.Join(e, ", ") + "]}"
	}
	for name, c := range map[string]struct {
		made               string // verb
		was, want, live    string // specs
		result, resultSpec string
	}{
		"ours, as it was":            {made: "create", want: entries(entryV3), live: entries(entryV3), result: "delete"},
		"ours, others added":         {made: "create", want: entries(entryV3), live: entries(entryV3, entryBatch), result: "update", resultSpec: entries(entryBatch)},
		"ours, others took it off":   {made: "create", want: entries(entryV3), live: entries(entryBatch), result: "nothing"},
		"ours, behaviour changed":    {made: "create", want: entries(entryV3), live: "{drain: {behavior: Drain}, pods: [" + entryV3 + "]}", result: "delete"},
		"changed, as it was":         {made: "update", was: entries(entryBatch), want: entries(entryBatch, entryV3), live: entries(entryBatch, entryV3), result: "update", resultSpec: entries(entryBatch)},
		"changed, others added more": {made: "update", was: entries(entryBatch), want: entries(entryBatch, entryV3), live: entries(entryBatch, entryV3, entryTMC), result: "update", resultSpec: entries(entryBatch, entryTMC)},
		"changed, rest is gone":      {made: "update", was: entries(entryBatch), want: entries(entryBatch, entryV3), live: entries(entryV3), result: "delete"},
		"machines put back": {made: "update", was: "{drain: {behavior: Skip}, machines: " + onlyOther + ", pods: [" + entryTMC + "]}", want: entries(entryTMC), live: entries(entryTMC),
			result: "update", resultSpec: "{drain: {behavior: Skip}, machines: " + onlyOther + ", pods: [" + entryTMC + "]}"},
		"machines never emptied": {made: "update", was: "{drain: {behavior: Skip}, machines: " + onlyOther + ", pods: [" + entryV3 + "]}",
			want: "{drain: {behavior: Skip}, machines: [{selector: {matchLabels: {cluster.x-k8s.io/cluster-name: api}}}, {selector: {matchLabels: {cluster.x-k8s.io/cluster-name: web}}}], pods: [" + entryV3 + "]}",
			live: "{drain: {behavior: Skip}, machines: " + onlyWeb + ", pods: [" + entryV3 + "]}", result: "stuck"},
	} {
		t.Run(name, func(t *testing.T) {
			q := question(t, reachNamespace, nil, map[string]string{ours: c.live})
			made := effect.NewObject(supervisor(), effect.Verb(c.made), q.GVR, drainRuleKind, "team-a", ours)
			made.Want, made.Was = map[string]any{}, map[string]any{}
			if err := yaml.Unmarshal([]byte("spec: "+c.want), &made.Want); err != nil {
				t.Fatal(err)
			}
			for k, v := range q.Live[ours].Object {
				if k != "spec" && k != "metadata" {
					made.Want[k] = v
				}
			}
			if c.was != "" {
				if err := yaml.Unmarshal([]byte("spec: "+c.was), &made.Was); err != nil {
					t.Fatal(err)
				}
			}
			left := takeBack(made, q.Live[ours], "w")
			plan, got := left.Plan, string(left.Left)
			var back *effect.Object
			if plan != nil {
				back, _ = plan.Effect.(*effect.Object)
				got = string(back.Verb)
			}
			if got != c.result {
				t.Fatalf("got %s (%s), want %s", got, left.Words, c.result)
			}
			// The live object has no mark of the walk: what is deleted takes others' work along.
			if got == "delete" && (plan.Preview.Confirm != remedies.ConfirmName || plan.Preview.ConfirmName != ours || plan.Preview.TakeBack != "" || len(plan.Preview.Warnings) == 0) {
				t.Errorf("the deletion of what others wrote to is confirmed by a key: %+v", plan.Preview)
			}
			if back != nil && (back.UID != "uid-"+ours || back.ResourceVersion != "7") {
				t.Errorf("it is not bound to the live object: %+v", back)
			}
			if c.resultSpec == "" {
				return
			}
			var want map[string]any
			if err := yaml.Unmarshal([]byte(c.resultSpec), &want); err != nil {
				t.Fatal(err)
			}
			if have := back.Want["spec"]; effect.YAML(map[string]any{"s": have}) != effect.YAML(map[string]any{"s": want}) {
				t.Errorf("got\n%swant\n%s", effect.YAML(map[string]any{"s": have}), effect.YAML(map[string]any{"s": want}))
			}
		})
	}
}

// What the diff hides is part of what is sent: a rule that kubectl apply keeps stays one, when it is
// changed and when that is taken back.
func TestLastAppliedIsKept(t *testing.T) {
	const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
	q := question(t, reachNamespace, agentsIn(concierge), map[string]string{ours: "{drain: {behavior: Skip}, pods: [" + entryTMC + "]}"})
	notes := map[string]string{lastApplied: "{}", "kapp": "x"}
	q.Live[ours].SetAnnotations(notes)
	a := decideRule(q)
	if a.change == nil {
		t.Fatalf("no change: %+v", a)
	}
	sent := a.change.Sent()
	if got := sent.GetAnnotations(); !maps.Equal(got, notes) {
		t.Errorf("sent with %v", got)
	}
	live := sent.DeepCopy()
	live.SetUID("uid-" + ours)
	back, ok := takeBack(a.change, live, "w").Plan.Effect.(*effect.Object)
	if !ok {
		t.Fatal("there is nothing to take back")
	}
	if got := back.Sent().GetAnnotations(); !maps.Equal(got, notes) {
		t.Errorf("taken back with %v", got)
	}
}
