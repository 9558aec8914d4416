package kb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOwnArticles(t *testing.T) {
	if problems := Check([]string{"testdata/own"}, testRegistry()); len(problems) > 0 {
		t.Fatal(Problems(problems))
	}
}

// Each broken article has one line that says what is wrong with it.
func TestBrokenArticles(t *testing.T) {
	data, err := os.ReadFile("testdata/broken/expect.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(data)), "\n")
	var got []string
	for _, p := range Check([]string{"testdata/broken"}, testRegistry()) {
		p.File = filepath.Base(p.File)
		got = append(got, p.String())
	}
	if len(want) < 30 {
		t.Errorf("%d lines are expected; thirty at least", len(want))
	}
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("line %d:\n got %s\nwant %s", i+1, g, w)
		}
	}
	names, _ := filepath.Glob("testdata/broken/*.yaml")
	if len(names) != len(want) {
		t.Errorf("%d files and %d lines", len(names), len(want))
	}
}

const smallest = `id: small
title: Small
signature: node-not-ready
target: nodes
finished: Done.
steps:
  - id: ask
    title: Ask
    why: To know.
    action: choose
    with:
      question: Which?
      default: a
      options: [{id: a, title: A}, {id: b, title: B}]
`

// check is what is wrong with the text of an own article called small.yaml.
func check(t *testing.T, text string) string {
	t.Helper()
	_, problems := parseArticle("small.yaml", []byte(text), testRegistry(), true)
	if len(problems) == 0 {
		return ""
	}
	return Problems(problems).Error()
}

func TestBytes(t *testing.T) {
	if got := check(t, smallest); got != "" {
		t.Fatal(got)
	}
	if got := check(t, "\ufeff"+strings.ReplaceAll(smallest, "\n", "\r\n")); got != "" {
		t.Errorf("with a byte order mark and the line ends of Windows: %s", got)
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":         {"", "small.yaml:1: the file is empty; expected the fields of an article"},
		"null":            {"~\n", "small.yaml:1: the file is empty; expected the fields of an article"},
		"a list":          {"- x\n", "small.yaml:1: this is a list; expected keys and values"},
		"a text":          {"x\n", `small.yaml:1: this is the text "x"; expected keys and values`},
		"not UTF-8":       {strings.Replace(smallest, "Ask", "\xe9", 1), "small.yaml:8: bytes that are no text; expected UTF-8"},
		"turned around":   {strings.Replace(smallest, "Ask", "\u202eksA", 1), "small.yaml:8: invisible or control characters; expected text that is shown as it is"},
		"escape sequence": {strings.Replace(smallest, "Ask", "\x1b[2J", 1), "small.yaml:8: invisible or control characters; expected text that is shown as it is"},
		"too large":       {smallest + strings.Repeat("# x\n", 20000), "small.yaml:1: the file has 80254 bytes; expected at most 65536"},
		"tag":             {strings.Replace(smallest, "title: Small", "title: !!str 5", 1), "small.yaml:2: tag !!str; expected the value without it"},
		"second document": {smallest + "...\n---\n# nothing\n", "small.yaml:16: a second document; expected one article in a file"},
		"first line":      {"id: [small\n" + strings.TrimPrefix(smallest, "id: small\n"), "small.yaml:1: cannot be read as YAML"},
	} {
		if got := check(t, c.text); got != c.want && !strings.HasPrefix(got, c.want+":") {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// An escape sequence may also hide in the form that YAML has for it.
func TestEscapesInQuotes(t *testing.T) {
	got := check(t, strings.Replace(smallest, "title: Small", `title: "a\e[2Jb"`, 1))
	if want := "small.yaml:2: title has invisible or control characters; expected text that is shown as it is"; got != want {
		t.Errorf("got %s", got)
	}
}

// All that is wrong is said at once.
func TestAllProblemsAreSaid(t *testing.T) {
	text := strings.NewReplacer("title: Small", "titel: Small", "signature: node-not-ready", "signature: node-not-redy", "why: To know.", "why: 7", "default: a", "default: c").Replace(smallest)
	want := `small.yaml:2: unknown key "titel"; did you mean "title"?
small.yaml:3: there is no signature "node-not-redy"; did you mean "node-not-ready"?
small.yaml:9: why is the number 7; expected a text: put it in quotes
small.yaml:13: default "c" is none of the options; did you mean "a"?`
	if got := check(t, text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSteps(t *testing.T) {
	step := func(action string, lines ...string) string {
		s := "  - id: more\n    title: More\n    why: To do more.\n    action: " + action + "\n"
		for _, l := range lines {
			s += "    " + l + "\n"
		}
		return smallest + s
	}
	object := []string{"with:", "  annotations: {example.com/note: x}", "  object:", "    kind: ConfigMap", "    name: note"}
	with := func(lines []string, more ...string) []string { return append(append([]string{}, lines...), more...) }
	for name, c := range map[string]struct{ text, want string }{
		"annotate":                   {step("annotate", object...), ""},
		"annotate in the namespace":  {step("annotate", with(object, `    namespace: "{{.Cluster.Namespace}}"`)...), ""},
		"annotate elsewhere":         {step("annotate", with(object, `    namespace: "{{ .Cluster.Namespace }}x"`)...), "small.yaml:24: namespace"},
		"annotate in the cluster":    {step("annotate", with(object, "    in: cluster")...), "small.yaml:24: in: cluster; expected supervisor"},
		"annotate a Secret":          {step("annotate", with(object[:3], "    kind: Secret", "    name: x")...), "small.yaml:22: Secret is for nobody else to read"},
		"annotate a Namespace":       {step("annotate", with(object[:3], "    kind: Namespace", "    name: x")...), "small.yaml:22: Namespace belongs to no namespace"},
		"annotate secrets":           {step("annotate", with(object[:3], "    kind: secrets", "    name: x")...), `small.yaml:22: kind "secrets"; expected it as a manifest has it`},
		"annotate with a version":    {step("annotate", with(object, "    group: apps/v1")...), `small.yaml:24: group "apps/v1"; expected it without a version`},
		"annotate a binding":         {step("annotate", with(object, "    group: rbac.authorization.k8s.io")...), "small.yaml:24: ConfigMap gives rights"},
		"annotate with our record":   {step("annotate", append([]string{"with:", "  annotations: {vksmedic.example/debt: x}"}, object[2:]...)...), "small.yaml:20: annotation vksmedic.example/debt is this program's record"},
		"annotate with a bad key":    {step("annotate", append([]string{"with:", `  annotations: {"a b": x}`}, object[2:]...)...), `small.yaml:20: "a b" is no key`},
		"annotate nothing":           {step("annotate", append([]string{"with:", "  annotations: {}"}, object[2:]...)...), "small.yaml:20: annotations is empty"},
		"a key with a template":      {step("annotate", append([]string{"with:", `  annotations: {"{{ .Cluster.Name }}": x}`}, object[2:]...)...), "small.yaml:20: a template in the key"},
		"a bad name":                 {step("annotate", with(object[:4], "    name: My_Note")...), `small.yaml:23: object.name "My_Note" is no name of an object`},
		"for each":                   {step("annotate", with(object[:4], `    name: "{{ .Item }}"`, "each: nodes")...), ""},
		"for each of nothing":        {step("annotate", with(object, "each: node")...), `small.yaml:24: each "node"; did you mean "nodes"?`},
		"item without each":          {step("annotate", with(object[:4], `    name: "{{ .Item }}"`)...), "small.yaml:23: .Item is only there in the parameters of a step with each"},
		"no with":                    {step("take-back"), "small.yaml:18: step is missing; expected the id of the step"},
		"with is empty":              {step("take-back", "with:"), "small.yaml:18: step is missing; expected the id of the step"},
		"with is a list":             {step("annotate", "with: [x]"), "small.yaml:19: this is a list; expected keys and values"},
		"needs of a look":            {strings.Replace(smallest, "    action: choose", "    action: choose\n    needs: [quorum]", 1), "small.yaml:11: a guard for action choose, which changes nothing"},
		"a guard with a template":    {step("annotate", with([]string{`needs: ["{{ .Cluster.Name }}"]`}, object...)...), "small.yaml:19: a template in needs[0]"},
		"a step that is a text":      {smallest + "  - more\n", `small.yaml:15: a step is the text "more"; expected keys and values`},
		"undo of a choice":           {strings.Replace(smallest, "    action: choose", "    action: choose\n    undo: x", 1), "small.yaml:11: undo of action choose, which changes nothing"},
		"otherwise without when":     {strings.Replace(smallest, "    action: choose", "    action: choose\n    otherwise: x", 1), "small.yaml:11: otherwise without when"},
		"one option":                 {strings.Replace(smallest, ", {id: b, title: B}", "", 1), "small.yaml:14: a choice with one option"},
		"option twice":               {strings.Replace(smallest, "id: b", "id: a", 1), `small.yaml:14: option "a" is there twice`},
		"option with a capital":      {strings.Replace(smallest, "id: b", "id: B", 1), `small.yaml:14: option "B"; expected small letters`},
		"selector and name":          {step("look", "with:", "  objects:", "    - kind: Pod", "      name: x", "      selector: a=b", "      columns: [{title: a, path: .b}]"), "small.yaml:23: a selector beside a name"},
		"broken selector":            {step("look", "with:", "  objects:", "    - kind: Pod", "      selector: a=b=c", "      columns: [{title: a, path: .b}]"), `small.yaml:22: objects[0].selector "a=b=c"`},
		"look at a Secret":           {step("look", "with:", "  objects:", "    - kind: Secret", "      columns: [{title: a, path: .data}]"), "small.yaml:21: a Secret; expected another kind"},
		"wait for a Secret":          {step("wait-condition", "with:", "  timeout: 5m", "  until:", "    object: {kind: Secret, name: x}", "    path: .data.token", "    equals: x"), "small.yaml:22: a Secret"},
		"wait for nothing":           {step("wait-condition", "with:", "  timeout: 5m", "  until:", "    object: {kind: ConfigMap, name: x}"), "small.yaml:22: until has 0 of condition, gone and path"},
		"wait for a value":           {step("wait-condition", "with:", "  timeout: 5m", "  until:", "    object: {kind: ConfigMap, name: x}", "    path: .data.a"), "small.yaml:23: path without equals"},
		"wait for a status":          {step("wait-condition", "with:", "  timeout: 5m", "  until:", "    object: {kind: ConfigMap, name: x}", "    gone: true", "    status: 'True'"), "small.yaml:24: status without a condition"},
		"gone in other words":        {step("wait-condition", "with:", "  timeout: 5m", "  until:", "    object: {kind: ConfigMap, name: x}", "    gone: 1"), "small.yaml:23: until.gone is the number 1; expected true or false"},
		"no time at all":             {step("wait-condition", "with:", "  timeout: 0s", "  until:", "    object: {kind: ConfigMap, name: x}", "    gone: true"), `small.yaml:20: timeout is the text "0s"; expected a time`},
		"take back what comes later": {strings.Replace(step("annotate", object...), "  - id: ask", "  - id: back\n    title: B\n    why: b\n    action: take-back\n    with: {step: more}\n  - id: ask", 1), `small.yaml:11: step: step "more" does not stand before this one`},
		"take back itself":           {step("take-back", "with: {step: more}"), "small.yaml:19: step: step \"more\" does not stand before this one; expected an earlier step of the kind change, and there is none"},
		"title comes out empty":      {strings.Replace(smallest, "title: Small", `title: "{{ if false }}x{{ end }}"`, 1), "small.yaml:2: title is empty; expected what the wizard is called"},
		"address":                    {strings.Replace(smallest, "title: Small", "title: Small\naddress: http://x", 1), `small.yaml:3: address "http://x"; expected one that begins with https://`},
		"kb":                         {strings.Replace(smallest, "title: Small", "title: Small\nkb: KB410900", 1), `small.yaml:3: kb "KB410900"; expected the number`},
		"id":                         {strings.Replace(smallest, "id: small", "id: Small", 1), `small.yaml:1: id "Small"; expected small letters`},
		"no steps":                   {strings.Split(smallest, "steps:")[0] + "steps: []\n", "small.yaml:6: steps is empty"},
	} {
		got := check(t, c.text)
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// Two steps that undo and take back have to mean each other.
func TestUndoThatTakesBackAnother(t *testing.T) {
	text := smallest
	for _, id := range []string{"one", "two"} {
		text += "  - id: " + id + "\n    title: T\n    why: W\n    action: annotate\n    undo: back-" + id + "\n" +
			"    with: {annotations: {a/b: c}, object: {kind: ConfigMap, name: x}}\n"
	}
	for _, id := range []string{"one", "two"} {
		text += "  - id: back-" + id + "\n    title: T\n    why: W\n    action: take-back\n    with: {step: " + id + "}\n"
	}
	if got := check(t, text); got != "" {
		t.Fatal(got)
	}
	want := `small.yaml:19: undo: step "back-one" takes back step "two"; expected one that takes back "one"`
	if got := check(t, strings.Replace(text, "with: {step: one}", "with: {step: two}", 1)); got != want {
		t.Errorf("got %s", got)
	}
}

func TestManifests(t *testing.T) {
	manifest := func(lines ...string) string {
		return smallest + "  - id: more\n    title: More\n    why: To do more.\n    action: change-object\n    with:\n      mode: create\n      object:\n" +
			"        " + strings.Join(lines, "\n        ") + "\n"
	}
	const version, kind, meta = "apiVersion: v1", "kind: ConfigMap", "metadata: {name: x}"
	for name, c := range map[string]struct{ text, want string }{
		"right":                   {manifest(version, kind, meta, "data: {a: b, n: 1.5, m: 9007199254740993}"), ""},
		"no kind":                 {manifest(version, meta), "small.yaml:22: object.kind is missing"},
		"no version":              {manifest(kind, meta), "small.yaml:22: object.apiVersion is missing"},
		"no metadata":             {manifest(version, kind), "small.yaml:22: object.metadata is missing"},
		"no name":                 {manifest(version, kind, "metadata: {labels: {a: b}}"), "small.yaml:24: object.metadata.name is missing"},
		"a group alone":           {manifest("apiVersion: apps", kind, meta), `small.yaml:22: apiVersion "apps"`},
		"a version by a template": {manifest(`apiVersion: "{{ .Supervisor }}"`, kind, meta), "small.yaml:22: apiVersion"},
		"a label that is no text": {manifest(version, kind, "metadata: {name: x, labels: {a: 1}}"), "small.yaml:24: a of labels is no text"},
		"a bad label":             {manifest(version, kind, "metadata: {name: x, labels: {'a b': x}}"), `small.yaml:24: "a b" is no key`},
		"labels as a list":        {manifest(version, kind, "metadata: {name: x, labels: [a]}"), "small.yaml:24: object.metadata.labels; expected keys and values"},
		"owners":                  {manifest(version, kind, "metadata: {name: x, ownerReferences: []}"), "small.yaml:24: metadata.ownerReferences; expected"},
		"a generated name":        {manifest(version, kind, "metadata: {name: x, generateName: y}"), "small.yaml:24: metadata.generateName; expected"},
		"a status":                {manifest(version, kind, meta, "status: {a: b}"), "small.yaml:25: status; expected none"},
		"a list of objects":       {manifest(version, "kind: List", meta, "items: []"), "small.yaml:23: List may hold any object"},
		"a list of config maps":   {manifest(version, "kind: ConfigMapList", meta, "items: []"), "small.yaml:23: ConfigMapList may hold any object"},
		"no namespace at all":     {manifest(version, kind, "metadata: {name: x, namespace: }"), "small.yaml:24: namespace"},
		"a template in a list":    {manifest(version, kind, meta, `data: ["{{ .Facts.Nothing }}"]`), "small.yaml:25: .Facts.Nothing"},
		"a template in a key":     {manifest(version, kind, meta, `data: {"{{ .Cluster.Name }}": x}`), "small.yaml:25: a template in the key"},
		"a key twice":             {manifest(version, kind, meta, "data: {a: x, a: y}"), `small.yaml:25: key "a" is there twice`},
		"a date":                  {manifest(version, kind, meta, "data: {a: 2026-01-02}"), "small.yaml:25: object.data.a is the date 2026-01-02; expected a text"},
		"not a number":            {manifest(version, kind, meta, "data: {a: .nan}"), "small.yaml:25: object.data.a is the number .nan; expected a decimal number, or a whole one of 64 bits"},
		"a number that is large":  {manifest(version, kind, meta, "data: {a: 99999999999999999999}"), "small.yaml:25: object.data.a is the number 99999999999999999999"},
		"a service account":       {manifest("apiVersion: vmware.infrastructure.cluster.x-k8s.io/v1beta1", "kind: ProviderServiceAccount", meta), "small.yaml:23: ProviderServiceAccount gives rights"},
		"an object as a text":     {strings.Replace(manifest("x"), "object:\n        x", "object: x", 1), `small.yaml:21: object is the text "x"; expected a manifest`},
	} {
		got := check(t, c.text)
		if (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// An article of the program is called like its signature, and may do what own ones may not.
func TestBuiltinRules(t *testing.T) {
	text := strings.Replace(smallest, "id: small", "id: node-not-ready", 1) +
		"  - id: rule\n    title: T\n    why: W\n    action: restart-service\n    each: nodes\n    with: {node: '{{ .Item }}', service: containerd, times: 3}\n" +
		"  - id: make\n    title: T\n    why: W\n    action: change-object\n    with:\n      mode: create\n      in: cluster\n      object: {apiVersion: v1, kind: Namespace, metadata: {name: x, finalizers: [a/b]}}\n"
	if _, problems := parseArticle("node-not-ready.yaml", []byte(text), testRegistry(), false); len(problems) > 0 {
		t.Error(problems)
	}
	_, problems := parseArticle("small.yaml", []byte(smallest), testRegistry(), false)
	if want := `small.yaml:3: signature "node-not-ready" in article "small"; expected both to be the same`; len(problems) != 1 || problems[0].String() != want {
		t.Errorf("got %v", problems)
	}
}
