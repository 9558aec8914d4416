package kb

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"vksmedic/model/lifecycle"
)

// staticFacts has a field of each type that facts can have.
type staticFacts struct {
	Name   string
	Names  []string
	Count  int
	Share  float64
	Broken bool
	Begun  time.Time
	Stage  lifecycle.Stage
	Part   staticPart
	Parts  []staticPart
	Link   *staticPart
	Map    map[string][]string
	Any    any
	hidden string //nolint:unused // that it cannot be reached is what is tested.
}

type staticPart struct{ Name, Kind string }

// Label is a method without arguments.
func (p staticPart) Label() string { return p.Kind + " " + p.Name }

// With is a method with an argument.
func (p staticPart) With(s string) string { return p.Name + s }

// Read is a method that can fail.
func (staticPart) Read() (string, error) { return "", errors.New("no") }

func staticScope() surroundings {
	return surroundings{
		facts:   reflect.TypeFor[*staticFacts](),
		choices: map[string][]string{"reach": {"namespace", "cluster"}, "the-node": nil},
		asks:    map[string]bool{"reach": true, "the-node": true, "later": true},
		done:    map[string]bool{"reach": true, "wait": true},
		steps:   map[string]bool{"reach": true, "wait": true, "later": true},
	}
}

// try is what loading does with one text.
func try(s string, in surroundings, as role) error {
	u, err := checkTemplate(s, in)
	if err != nil {
		return err
	}
	return tryText(spot{line: 1, path: "text", text: s}, as, u, func() any { return &staticFacts{} },
		choiceSteps{options: in.choices, skippable: map[string]bool{}})
}

func TestTemplatesThatAreTaken(t *testing.T) {
	for _, s := range []string{
		"plain text, { and }}",
		"{{ .Facts.Name }} {{ $.Facts.Name }} {{ .Cluster }} {{ .Cluster.Name }} {{ .Supervisor }}",
		"{{ list .Facts.Names }} {{ .Facts.Name | quote }} {{ clean .Facts.Name }}",
		"{{ range $i, $n := .Facts.Names }}{{ if $i }}, {{ end }}{{ $n }}{{ else }}none{{ end }}",
		"{{ range .Facts.Parts }}{{ .Label }} {{ .With \"x\" }} {{ $.Facts.Name }}{{ end }}",
		"{{ range $k, $v := .Facts.Map }}{{ $k }}: {{ list $v }}{{ end }}",
		"{{ with .Facts.Link }}{{ .Name }}{{ end }}",
		"{{ with $x := .Facts.Name }}{{ $x }}{{ .  }}{{ end }}",
		"{{ if .Facts.Names }}{{ index .Facts.Names 0 }}{{ end }}",
		"{{ if gt (len .Facts.Names) 5 }}{{ index .Facts.Names 5 }}{{ end }}",
		"{{ list (index .Facts.Map \"x\") }}",
		"{{ if eq .Choice.reach \"cluster\" }}a{{ else if eq \"namespace\" .Choice.reach }}b{{ end }}",
		"{{ eq (index .Choice \"reach\") \"cluster\" \"namespace\" }} {{ .Choice.reach | eq \"cluster\" }}",
		"{{ index .Choice \"the-node\" }} {{ eq (index .Choice \"the-node\") \"anything\" }}",
		"{{ if and .Done.wait (not (index .Done \"reach\")) }}x{{ end }}",
		"{{ if not .Facts.Begun.IsZero }}{{ .Facts.Begun.Format \"15:04\" }}{{ end }}",
		"{{ printf \"%s has %d\" .Facts.Name .Facts.Count }}",
		"{{ eq .Facts.Stage \"x\" }} {{ .Facts.Stage }} {{ print .Facts.Stage | quote }}",
		"{{ or .Facts.Name \"none\" }} {{ lt .Facts.Count 3 }} {{ eq .Facts.Broken true }} {{ gt .Facts.Share 1.5 }}",
		"{{ $n := \"\" }}{{ range .Facts.Names }}{{ $n = . }}{{ end }}{{ $n }}",
		"{{/* a comment */}}{{- .Facts.Name -}}",
		"{{ range .Facts.Names }}{{ if . }}{{ continue }}{{ end }}{{ break }}{{ end }}",
		"{{ if .Neighbours }}{{ list .Neighbours }}{{ end }}",
		"{{ slice .Facts.Name 0 0 }}",
	} {
		if err := try(s, staticScope(), shownText); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestTemplatesThatAreRefused(t *testing.T) {
	for s, want := range map[string]string{
		"{{ .Facts.Nam }}":                                          `no field Nam; did you mean "Name"?`,
		"{{ .facts.Name }}":                                         `there is no .facts; did you mean "Facts"?`,
		"{{ .Facts.hidden }}":                                       "no field hidden",
		"{{ .Facts.Name.First }}":                                   "a text has no field First",
		"{{ .Facts.Parts.Name }}":                                   "a list of staticPart has no field Name",
		"{{ .Facts.Map.x }}":                                        "index <it>",
		"{{ .Facts.Any.x }}":                                        "no field x",
		"{{ if false }}{{ .Facts.Nothing }}{{ end }}":               "no field Nothing",
		"{{ range .Facts.Parts }}{{ .Facts.Name }}{{ end }}":        "staticPart has no field Facts",
		"{{ .Facts.Link.Name }}":                                    "cannot always be filled in: nil pointer",
		"{{ if .Facts.Name }}{{ .Facts.Link.Name }}{{ end }}":       "facts with parts that are not there",
		"{{ index .Facts.Names 0 }}":                                "tried with empty facts",
		"{{ if .Facts.Names }}{{ index .Facts.Names 1 }}{{end}}":    "lists of length 1",
		"{{ if .Facts.Names }}{{ slice .Facts.Name 0 400 }}{{end}}": "cannot always be filled in",
		"{{ index .Facts.Name 0 }}":                                 "index of a text; expected a list",
		"{{ index .Facts.Names .Facts.Name }}":                      "index is given a text; expected a whole number",
		"{{ index .Choice .Facts.Name }}":                           "an id that is computed",
		"{{ .Choice.where }}":                                       `no step "where" asks for a choice`,
		"{{ .Choice.later }}":                                       `choice "later" is not made yet here`,
		"{{ .Choice.the-node }}":                                    `index .Choice "the-id"`,
		"{{ .Choice }}":                                             "cannot be printed",
		"{{ range .Choice }}x{{ end }}":                             "range over .Choice",
		"{{ .Done.later }}":                                         `step "later" is not done yet here`,
		"{{ .Done.nothing }}":                                       `there is no step "nothing"`,
		"{{ eq .Choice.reach \"namespce\" }}":                       `choice "reach" is never "namespce"; did you mean "namespace"?`,
		"{{ ne \"x\" (index .Choice \"reach\") }}":                  `choice "reach" is never "x"`,
		"{{ $r := .Choice.reach }}{{ eq $r \"x\" }}":                `choice "reach" is never "x"`,
		"{{ .Choice.reach | eq \"x\" }}":                            `choice "reach" is never "x"`,
		"{{ with .Choice.reach }}{{ eq . \"x\" }}{{ end }}":         `choice "reach" is never "x"`,
		"{{ .Item }}":                                               ".Item is only there",
		"{{ .Target }}":                                             ".Target is only known at the end",
		"{{ shell .Facts.Name }}":                                   `there is no function "shell"`,
		"{{ call .Facts.Name }}":                                    "call cannot be used",
		"{{ list .Facts.Name }}":                                    "list is given a text; expected a list of texts",
		"{{ list .Facts.Parts }}":                                   "list is given a list of staticPart",
		"{{ list }}":                                                "list is given 0 arguments; expected one",
		"{{ quote .Facts.Count }}":                                  "quote is given a number; expected a text",
		"{{ quote .Facts.Stage }}":                                  "put (print …) around it",
		"{{ len .Facts.Count }}":                                    "a number has no length",
		"{{ eq .Facts.Count \"3\" }}":                               "eq compares a number with a text",
		"{{ eq .Facts.Names \"x\" }}":                               "eq is given a list of texts",
		"{{ eq .Facts.Link nil }}":                                  "eq is given staticPart",
		"{{ lt .Facts.Broken true }}":                               "lt compares true and false",
		"{{ lt .Facts.Count 1 2 }}":                                 "lt is given 3 arguments; expected two",
		"{{ .Facts.Names }}":                                        "is a list; expected list or range",
		"{{ .Facts.Part }}":                                         "has fields; expected one of Name, Kind",
		"{{ .Facts.Map }}":                                          "is a map",
		"{{ . }}":                                                   "cannot be printed",
		"{{ with nil }}x{{ end }}":                                  "nil is no value",
		"{{ .Choice.reach \"x\" }}":                                 ".Choice.reach is given an argument",
		"{{ if .Done.wait 1 }}x{{ end }}":                           ".Done.wait is given an argument",
		"{{ slice .Facts.Map }}":                                    "slice of a map",
		"{{ slice .Facts.Name .Facts.Name }}":                       "slice is given a text; expected a whole number",
		"{{ index .Facts.Names . }}":                                "index is given something else",
		"{{ nil }}":                                                 "nil is no value",
		"{{ .Facts.Any }}":                                          "comes out with something that is not there",
		"{{ printf \"%d\" .Facts.Name }}":                           "printf's format",
		"{{ print .Facts.Names }}":                                  "is a list",
		"{{ if .Facts.Begun }}x{{ end }}":                           "is always true; expected not (.Facts.Begun).IsZero",
		"{{ (index .Facts.Parts 0).Read }}":                         "Read of staticPart can fail",
		"{{ range .Facts.Parts }}{{ .With }}{{ end }}":              "With of staticPart is given 0 arguments; expected 1",
		"{{ range .Facts.Parts }}{{ .With 3 }}{{ end }}":            "With is given a number; expected a text",
		"{{ .Facts.Name \"x\" }}":                                   "is given an argument",
		"{{ \"x\" \"y\" }}":                                         "is given an argument",
		"{{ range 3 }}x{{ end }}":                                   "range over 3",
		"{{ range .Facts.Name }}x{{ end }}":                         "which is a text; expected a list",
		"{{ define \"x\" }}y{{ end }}":                              "a template is defined inside a text",
		"{{ template \"x\" }}":                                      "another template is called",
		"{{ .Facts.Name":                                            "broken template",
		"{{ if }}x{{ end }}":                                        "broken template",
		"{{ range .Facts.Names }}{{ range $.Facts.Names }}{{ range $.Facts.Names }}{{ range $.Facts.Names }}x{{ end }}{{ end }}{{ end }}{{ end }}": "a range inside of 3 others",
	} {
		if err := try(s, staticScope(), shownText); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", s, err, want)
		}
	}
}

func TestConditions(t *testing.T) {
	for s, want := range map[string]string{
		"true":                               "",
		"{{ eq .Choice.reach \"cluster\" }}": "",
		"{{ if .Facts.Name }}true{{ else }}false{{ end }}":                 "",
		"{{ .Facts.Broken }}":                                              "",
		"{{ .Facts.Name }}":                                                `when comes out as ""; expected true or false`,
		"{{ if .Facts.Name }}true{{ end }}":                                `when comes out as ""`,
		"{{ if eq .Choice.reach \"cluster\" }}true{{ else }}no{{ end }}":   `when comes out as "no"; expected true or false (tried with choice reach = namespace)`,
		"{{ if .Neighbours }}true{{ end }}":                                "no neighbours",
		"{{ and .Done.wait (eq (index .Choice \"the-node\") \"x\") }} yes": `"false yes"`,
	} {
		err := try(s, staticScope(), condition)
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%s:\n got %v\nwant %q", s, err, want)
		}
	}
}

func TestTooManyChoices(t *testing.T) {
	in := staticScope()
	var s strings.Builder
	for _, id := range strings.Split("abcdefghijklm", "") {
		in.choices[id] = []string{"x", "y"}
		s.WriteString("{{ .Choice." + id + " }}")
	}
	if err := try(s.String(), in, paramText); err == nil || !strings.Contains(err.Error(), "at most 1024 combinations") {
		t.Errorf("got %v", err)
	}
}

func TestForms(t *testing.T) {
	for s, ok := range map[string]bool{
		".status.phase": true, "{.status.phase}": true, "status.phase": true, "$.a": true, "..name": true, ".[0].a": true,
		`.status.conditions[?(@.type=="Ready")].status`: true, ".items[*].a": true, ".items[0]": true, ".a[1:3]": true,
		`.metadata.annotations.example\.com/note`: true, `.a['x.y']`: true,
		"": false, ".": false, "{.a": false, ".a}": false, ".a[": false, ".a[]": false, ".a..b": true, ".a b": false,
		".a[?(@.x)": false, `.a["x]`: false, ".a|b": false, `.a\`: false,
	} {
		if err := checkPath(s); (err == nil) != ok {
			t.Errorf("path %q: %v", s, err)
		}
	}
	for s, ok := range map[string]bool{"a=b": true, "a,!b,c in (d,e)": true, "": true, "a==": true, "a=b=c": false, "in (x": false} {
		if err := checkSelector(s); (err == nil) != ok {
			t.Errorf("selector %q: %v", s, err)
		}
	}
}
