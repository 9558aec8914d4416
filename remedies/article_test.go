package remedies

import (
	"strings"
	"testing"

	"vksmedic/model"
	"vksmedic/model/signature"
)

// Every article loads, and each of its templates can be filled in for every choice.
func TestArticles(t *testing.T) {
	articles, err := loadArticles(kbFiles, allActions())
	if err != nil {
		t.Fatal(err)
	}
	if articles["kube-cert-agent-blocks-drain"] == nil {
		t.Fatal("the article for KB 410900 is missing")
	}
	for _, a := range articles {
		for _, facts := range sampleFacts(a.Signature) {
			for _, neighbours := range [][]string{nil, {"api"}, {"api", "batch", "shop"}} {
				fillArticle(t, a, facts, neighbours)
			}
		}
	}
}

func sampleFacts(signatureID string) []any {
	if signatureID == "kube-cert-agent-blocks-drain" {
		return []any{&signature.AgentFacts{}, &signature.AgentFacts{Machine: "web-cp-x7k2p", Namespaces: []string{"pinniped-concierge"}}}
	}
	return []any{factsOf(signatureID)}
}

func fillArticle(t *testing.T, a *Article, facts any, neighbours []string) {
	t.Helper()
	sc := scope{Cluster: model.ClusterRef{Namespace: "team-a", Name: "web"}, Supervisor: "prod", Facts: facts, Neighbours: neighbours,
		Choice: map[string]string{}, Done: map[string]bool{}}
	var all func(steps []Step)
	all = func(steps []Step) {
		if len(steps) == 0 {
			for _, s := range append([]string{a.Target, a.Finished}, a.Warnings...) {
				if out, err := fill(s, sc); err != nil || strings.Contains(out, "<no value>") {
					t.Errorf("%s: %q: %v", a.ID, s, err)
				}
			}
			return
		}
		s := steps[0]
		if _, err := fillAll(s.params, sc); err != nil {
			t.Errorf("%s, step %s: %v", a.ID, s.ID, err)
		}
		if says, err := fill(s.When, sc); err != nil || (s.When != "" && says != "true" && says != "false") {
			t.Errorf("%s, step %s: when says %q: %v", a.ID, s.ID, says, err)
		}
		sc.Done[s.ID] = true
		p, ok := s.params.(*chooseParams)
		if !ok {
			all(steps[1:])
			return
		}
		for _, o := range p.Options {
			sc.Choice[s.ID] = o.ID
			all(steps[1:])
		}
	}
	all(a.Steps)
}

func TestArticleIsRefusedWithFileAndLine(t *testing.T) {
	good := `id: x
title: X
signature: kube-cert-agent-blocks-drain
target: "{{ .Facts.Machine }}"
finished: done
steps:
  - id: look
    title: Look
    why: because
    action: look-at-agents
    with:
      label: l
  - id: rule
    title: Rule
    why: because
    action: apply-drain-rule
    undo: back
    with:
      name: n
      label: l
      reach: namespace
  - id: back
    title: Back
    why: because
    action: take-back-drain-rule
    with: {rule: rule}
`
	if _, err := parseArticle("kb/x.yaml", []byte(good), allActions()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ old, repl, want string }{
		"unknown key":          {"title: X", "titel: X", `kb/x.yaml:2: unknown key "titel"`},
		"unknown step key":     {"    why: because\n    action: look", "    wy: because\n    action: look", `kb/x.yaml:9: unknown key "wy"`},
		"unknown action":       {"action: look-at-agents", "action: look-at-nothing", `kb/x.yaml:7: step "look": there is no action "look-at-nothing"`},
		"unknown parameter":    {"      label: l\n  - id: rule", "      lable: l\n  - id: rule", `kb/x.yaml:12: unknown key "lable"`},
		"missing parameter":    {"      name: n\n", "", `kb/x.yaml:13: step "rule": name has to be given`},
		"broken template":      {"name: n", `name: "{{ .Facts"`, `kb/x.yaml:13: step "rule": "{{ .Facts" is no template`},
		"unknown function":     {"name: n", `name: "{{ shell .Facts }}"`, "kb/x.yaml:13"},
		"undo of nothing":      {"undo: back", "undo: look", `kb/x.yaml:13: step "rule": undo "look"`},
		"twice the same id":    {"id: back", "id: look", "kb/x.yaml:"},
		"unknown signature":    {"signature: kube-cert-agent-blocks-drain", "signature: nothing", "kb/x.yaml:1: there is no signature"},
		"address without KB":   {"title: X", "title: X\naddress: https://example.com", "kb/x.yaml:1: an address"},
		"no steps":             {"steps:", "warnings:", "kb/x.yaml:"},
		"when, no otherwise":   {"    undo: back", "    undo: back\n    when: 'true'", `kb/x.yaml:13: step "rule": when without otherwise`},
		"a list for a text":    {"title: X", "title: [X]", "kb/x.yaml:"},
		"key given twice":      {"title: X", "title: X\ntitle: Y", "kb/x.yaml:"},
		"why is missing":       {"    why: because\n    action: take", "    action: take", "title and why"},
		"no YAML":              {"id: x", "id: [", "kb/x.yaml: is no YAML"},
		"a text for the steps": {"steps:\n", "steps: none\nwarnings:\n", "kb/x.yaml:"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(good, c.old, c.repl, 1)
			if bad == good {
				t.Fatal("the test changes nothing")
			}
			_, err := parseArticle("kb/x.yaml", []byte(bad), allActions())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"team-a":           "team-a",
		"":                 "''",
		"a b":              "'a b'",
		"it's":             `'it'\''s'`,
		"$(reboot)":        "'$(reboot)'",
		"`id`":             "'`id`'",
		"a\x1b[31mred\x07": "ared",
		"-rf":              "-rf",
	} {
		if got := quote(in); got != want {
			t.Errorf("quote(%q) = %s, want %s", in, got, want)
		}
	}
}
