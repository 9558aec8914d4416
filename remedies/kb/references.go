package kb

import (
	"slices"
	"strings"

	"vksmedic/remedies"
)

// checkReferences looks at what steps say of one another.
func (l *loader) checkReferences() {
	first := map[string]int{}
	for i, s := range l.steps {
		at := func(field string) int { return s.self.line(field, s.line) }
		switch line, twice := first[s.ID]; {
		case s.ID == "":
		case !idPattern.MatchString(s.ID):
			l.fail(at("id"), "step id %q; expected small letters, digits and hyphens", s.ID)
		case twice:
			l.fail(at("id"), "step id %q is there twice, first in line %d; expected each only once", s.ID, line)
		default:
			first[s.ID] = at("id")
		}
		if s.When != "" && s.Otherwise == "" {
			l.fail(at("when"), "when without otherwise; expected what is said when the step is skipped")
		}
		if s.Otherwise != "" && s.When == "" {
			l.fail(at("otherwise"), "otherwise without when; expected the condition on which the step is skipped")
		}
		if s.Each != "" && !slices.Contains(namesOf(l.reg.Each), s.Each) {
			l.fail(at("each"), "each %q; %s", s.Each, orExpected(s.Each, namesOf(l.reg.Each)))
		}
		l.checkNeeds(s)
		if s.Undo != "" {
			l.checkUndo(i, s)
		}
		for _, sp := range s.with.spots {
			if kind := sp.tag.Get("step"); kind != "" {
				l.checkStepParam(i, sp, kind)
			}
		}
	}
}

func (l *loader) checkNeeds(s *loadedStep) {
	for _, sp := range s.self.spots {
		if !strings.HasPrefix(sp.path, "needs[") {
			continue
		}
		switch known := namesOf(l.reg.Guards); {
		case !slices.Contains(known, sp.text):
			l.fail(sp.line, "there is no guard %q; %s", sp.text, orExpected(sp.text, known))
		case s.action != nil && !isChange(s):
			l.fail(sp.line, "a guard for action %s, which changes nothing; expected needs only where something is changed", s.Action)
		}
	}
}

// checkUndo checks that undo names a later step that changes something, and that the parameters
// of that step name the step that it takes back.
func (l *loader) checkUndo(i int, s *loadedStep) {
	line := s.self.line("undo", s.line)
	if s.action != nil && !isChange(s) {
		l.fail(line, "undo of action %s, which changes nothing; expected undo only where something is changed", s.Action)
		return
	}
	var later []string
	for _, o := range l.steps[i+1:] {
		if isChange(o) {
			later = append(later, o.ID)
		}
	}
	j := slices.IndexFunc(l.steps, func(o *loadedStep) bool { return o.ID == s.Undo })
	switch {
	case j < 0:
		l.fail(line, "undo: there is no step %q; %s", s.Undo, orLater(s.Undo, later))
	case j <= i:
		l.fail(line, "undo: step %q does not stand after this one; %s", s.Undo, orLater(s.Undo, later))
	case l.steps[j].action == nil: // said already.
	case !isChange(l.steps[j]):
		l.fail(line, "undo: step %q changes nothing; %s", s.Undo, orLater(s.Undo, later))
	default:
		for _, sp := range l.steps[j].with.spots {
			if sp.tag.Get("step") != "" && sp.text != s.ID && l.kindOf(sp.text) == remedies.StepChange {
				l.fail(line, "undo: step %q takes back step %q; expected one that takes back %q", s.Undo, sp.text, s.ID)
			}
		}
	}
}

func orLater(id string, later []string) string {
	if len(later) == 0 {
		return "expected a later step that changes something, and there is none"
	}
	return orExpected(id, later)
}

func (l *loader) kindOf(id string) remedies.StepKind {
	for _, s := range l.steps {
		if s.ID == id {
			return s.Kind
		}
	}
	return ""
}

// checkStepParam checks that a parameter names an earlier step of the right kind.
func (l *loader) checkStepParam(i int, sp spot, kind string) {
	var fit []string
	for _, o := range l.steps[:i] {
		if kind == "any" || string(o.Kind) == kind {
			fit = append(fit, o.ID)
		}
	}
	j := slices.IndexFunc(l.steps, func(o *loadedStep) bool { return o.ID == sp.text })
	expected := "expected an earlier step of the kind " + kind + ", and there is none"
	if len(fit) > 0 {
		expected = orExpected(sp.text, fit)
	}
	switch {
	case sp.text == "":
		l.fail(sp.line, "%s is empty; %s", sp.path, expected)
	case j < 0:
		l.fail(sp.line, "%s: there is no step %q; %s", sp.path, sp.text, expected)
	case j >= i:
		l.fail(sp.line, "%s: step %q does not stand before this one; %s", sp.path, sp.text, expected)
	case l.steps[j].action == nil: // said already.
	case !slices.Contains(fit, sp.text):
		l.fail(sp.line, "%s: step %q is of the kind %s; %s", sp.path, sp.text, l.steps[j].Kind, expected)
	}
}

// checkTexts looks at every text: whether it may be a template, by types, and filled in.
func (l *loader) checkTexts() {
	facts, newFacts := l.factsType()
	in := surroundings{facts: facts, choices: map[string][]string{}, asks: map[string]bool{}, done: map[string]bool{}, steps: map[string]bool{}}
	cs := choiceSteps{options: in.choices, skippable: map[string]bool{}}
	for _, s := range l.steps {
		in.steps[s.ID] = true
		// What a step without a known action does is not known either.
		in.asks[s.ID] = s.action == nil || s.Kind == remedies.StepChoose
	}
	ends := []spot{}
	for _, sp := range l.top.spots {
		if sp.path == "finished" {
			ends = append(ends, sp)
			continue
		}
		l.checkText(sp, shownText, in, newFacts, cs)
	}
	for _, s := range l.steps {
		for _, sp := range s.self.spots {
			as := shownText
			if sp.path == "when" {
				as = condition
			}
			l.checkText(sp, as, in, newFacts, cs)
		}
		inParams := in
		inParams.item = s.Each != ""
		for _, sp := range s.with.spots {
			l.checkText(sp, paramText, inParams, newFacts, cs)
		}
		in.done[s.ID] = true
		if s.action == nil || s.Kind == remedies.StepChoose {
			in.choices[s.ID] = nil
			if c, ok := s.Params.(chooser); ok && len(s.with.problems) == 0 {
				in.choices[s.ID] = slices.Clone(c.Options())
			}
			cs.skippable[s.ID] = s.When != ""
		}
	}
	in.end = true
	for _, sp := range ends {
		l.checkText(sp, finishedText, in, newFacts, cs)
	}
}

const aTemplate = "a template in "

func (l *loader) checkText(sp spot, as role, in surroundings, facts func() any, cs choiceSteps) {
	if !sp.isTemplate() && isTemplate(sp.text) {
		l.names[sp.line] = true
		l.fail(sp.line, aTemplate+"%s; expected it as it stands: this is no text but a name", sp.path)
		return
	}
	if in.facts == nil && strings.Contains(sp.text, ".Facts") {
		return // the signature is not right, which was said.
	}
	u, err := checkTemplate(sp.text, in)
	if err == nil {
		if sp.tag.Get("step") != "" {
			return // it was looked at as a reference.
		}
		err = tryText(sp, as, u, facts, cs)
	}
	if err != nil {
		l.fail(sp.line, "%s", strings.ReplaceAll(err.Error(), "\n", " "))
	}
}
