package kb

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"vksmedic/model"
)

// role says what a text is used for, and so what it may say once it is filled in.
type role int

const (
	shownText    role = iota // it is shown, also before the choices in it are made.
	condition                // a `when`.
	paramText                // a parameter.
	finishedText             // shown at the end, wherever the walk ended.
)

// maxTries is how many combinations of choices a text may depend on.
const maxTries = 1024

// tryText fills a template in with all that it can meet, and says what goes wrong first.
func tryText(s spot, as role, u used, facts func() any, steps choiceSteps) error {
	samples := []sample{{"the facts", nil}}
	if facts != nil {
		samples = factsSamples(facts, u.longest)
		if !u.facts {
			samples = samples[1:2]
		}
	}
	scopes, err := scopesFor(u, as, steps)
	if err != nil {
		return err
	}
	fill, err := filler(s.text)
	if err != nil {
		return err
	}
	for i, sm := range samples {
		for _, sc := range scopes {
			sc.Facts = sm.facts
			out, err := fill(sc)
			if err == nil {
				// Of empty facts nothing is expected but that they can be filled in.
				err = checkFilled(s, as, out, (u.facts && i == 0) || sc.unmade)
			}
			if err != nil {
				return fmt.Errorf("%w%s", err, tried(sm, u, sc))
			}
		}
	}
	return nil
}

// filler fills in one text, which it parses once.
func filler(s string) (func(tryScope) (string, error), error) {
	if !isTemplate(s) {
		return func(tryScope) (string, error) { return s, nil }, nil
	}
	t, err := parseTemplate(s)
	if err != nil {
		return nil, err
	}
	return func(sc tryScope) (string, error) {
		out, err := execute(t, sc.Scope)
		if err != nil {
			return "", executeProblem(err)
		}
		return out, nil
	}, nil
}

// choiceSteps are the options of the choose steps that stand before, and which of them may be
// skipped, so that the choice is never made.
type choiceSteps struct {
	options   map[string][]string
	skippable map[string]bool
}

// tryScope is a scope to try; unmade says that a choice in it is not made.
type tryScope struct {
	Scope
	unmade bool
}

// scopesFor are all combinations of what a template speaks of.
func scopesFor(u used, as role, steps choiceSteps) ([]tryScope, error) {
	out := []tryScope{{Scope: Scope{Cluster: model.ClusterRef{Namespace: "sample-namespace", Name: "sample-cluster"}, Supervisor: "sample-supervisor",
		Choice: map[string]string{}, Done: map[string]bool{}, Neighbours: []string{"sample-a"}, Item: "sample-item"}}}
	vary := func(ways int, set func(sc *tryScope, way int)) error {
		if len(out)*ways > maxTries {
			return fmt.Errorf("this depends on so many choices that they cannot all be tried; expected at most %d combinations", maxTries)
		}
		next := make([]tryScope, 0, len(out)*ways)
		for _, sc := range out {
			for w := range ways {
				c := sc
				c.Choice, c.Done = maps.Clone(sc.Choice), maps.Clone(sc.Done)
				set(&c, w)
				next = append(next, c)
			}
		}
		out = next
		return nil
	}
	var err error
	for _, id := range keys(u.choices) {
		options := steps.options[id]
		if options == nil {
			options = []string{"sample-choice"} // from live data.
		}
		ways := slices.Clone(options)
		if as == shownText || as == finishedText || steps.skippable[id] {
			ways = append(ways, "")
		}
		err = errors.Join(err, vary(len(ways), func(sc *tryScope, w int) {
			sc.Choice[id] = ways[w]
			sc.unmade = sc.unmade || (ways[w] == "" && !steps.skippable[id])
		}))
	}
	for _, id := range keys(u.done) {
		err = errors.Join(err, vary(2, func(sc *tryScope, w int) { sc.Done[id] = w == 1 }))
	}
	names := [][]string{{"sample-a", "sample-b"}, {"sample-a"}, nil}
	if u.neighbours {
		err = errors.Join(err, vary(len(names), func(sc *tryScope, w int) { sc.Neighbours = names[w] }))
	}
	if u.left {
		err = errors.Join(err, vary(len(names), func(sc *tryScope, w int) { sc.Left = names[w] }))
	}
	if u.takenBack {
		err = errors.Join(err, vary(len(names), func(sc *tryScope, w int) { sc.TakenBack = names[w] }))
	}
	if u.maybeLeft {
		err = errors.Join(err, vary(len(names), func(sc *tryScope, w int) { sc.MaybeLeft = names[w] }))
	}
	if u.target {
		err = errors.Join(err, vary(len(targets()), func(sc *tryScope, w int) { sc.Target = targets()[w] }))
	}
	return out, err
}

// tried says with what a template was filled in, as far as it matters.
func tried(sm sample, u used, sc tryScope) string {
	var with []string
	if u.facts {
		with = append(with, sm.words)
	}
	for _, id := range keys(u.choices) {
		if sc.Choice[id] == "" {
			with = append(with, "no choice of "+id)
			continue
		}
		with = append(with, "choice "+id+" = "+sc.Choice[id])
	}
	for _, id := range keys(u.done) {
		if sc.Done[id] {
			with = append(with, "step "+id+" done")
		} else {
			with = append(with, "step "+id+" not done")
		}
	}
	if u.neighbours && len(sc.Neighbours) == 0 {
		with = append(with, "no neighbours")
	}
	if u.left && len(sc.Left) == 0 {
		with = append(with, "nothing left")
	}
	if u.takenBack && len(sc.TakenBack) == 0 {
		with = append(with, "nothing taken back")
	}
	if u.maybeLeft && len(sc.MaybeLeft) == 0 {
		with = append(with, "nothing that may be left")
	}
	if u.target {
		with = append(with, "target "+sc.Target)
	}
	if len(with) == 0 {
		return ""
	}
	return " (tried with " + strings.Join(with, ", ") + ")"
}

// checkFilled says what is wrong with a text as it came out; partly says that it was filled
// in with less than there will be.
func checkFilled(s spot, as role, out string, partly bool) error {
	switch {
	case strings.Contains(out, "<no value>") || strings.Contains(out, "<nil>"):
		return fmt.Errorf("this comes out with something that is not there; expected {{ if … }} around it")
	case isTemplate(s.text) && strings.Contains(out, "%!"):
		return fmt.Errorf("printf's format does not fit what it is given; expected as many arguments as there are %%, of the right types")
	case as == condition && strings.TrimSpace(out) != "true" && strings.TrimSpace(out) != "false":
		return fmt.Errorf("when comes out as %q; expected true or false", out)
	case partly:
		return nil
	}
	if s.tag.Get("need") != "" && strings.TrimSpace(out) == "" {
		return fmt.Errorf("%s is empty; expected %s", s.path, s.tag.Get("doc"))
	}
	if values := s.tag.Get("oneof"); values != "" {
		known := strings.Split(values, ",")
		if !slices.Contains(known, out) {
			return fmt.Errorf("%s is %q; %s", s.path, out, orExpected(out, known))
		}
	}
	return checkForm(s, out)
}

var (
	objectName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.:]*[a-z0-9])?$`)
	labelName  = regexp.MustCompile(`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
)

// checkForm says whether a text looks like what it has to be.
func checkForm(s spot, out string) error {
	if out == "" {
		return nil
	}
	switch s.tag.Get("form") {
	case "name":
		if !objectName.MatchString(out) || len(out) > 253 {
			return fmt.Errorf("%s %q is no name of an object; expected small letters, digits, hyphens and dots", s.path, out)
		}
	case "path":
		if err := checkPath(out); err != nil {
			return fmt.Errorf("%s %q: %w", s.path, out, err)
		}
	case "selector":
		if err := checkSelector(out); err != nil {
			return fmt.Errorf("%s %q: %w", s.path, out, err)
		}
	}
	return nil
}

var (
	executePrefix = regexp.MustCompile(`^.*?executing "" at <`)
	inGo          = regexp.MustCompile(`reflect: |runtime error: |error calling \w+: `)
)

// executeProblem takes out of text/template's words what an author cannot use.
func executeProblem(err error) error {
	what := executePrefix.ReplaceAllString(err.Error(), "")
	where, why, ok := strings.Cut(what, ">: ")
	if !ok {
		return fmt.Errorf("this cannot always be filled in: %s; expected {{ if … }} around it", what)
	}
	return fmt.Errorf("%s cannot always be filled in: %s; expected {{ if … }} around it", where, inGo.ReplaceAllString(why, ""))
}
