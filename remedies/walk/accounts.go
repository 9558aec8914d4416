package walk

import (
	"slices"

	"vksmedic/model"
	"vksmedic/remedies"
)

// accounts are the attempts of a walk, and what became of them. They come from the lines of the
// journal alone: what is open and what is owed is known without the article too.
type accounts struct {
	attempts []attempt
}

// attempt is one time that an effect was sent.
type attempt struct {
	remedies.Attempt
	effect    *carried
	place     model.Marks
	takesBack []int
	takes     *remedies.Debt
	pays      string
	wide      bool
	outcome   outcome
	note      string
	receipt   remedies.Receipt
	// untold says that it was to be taken back, and that it could not be told what is left of it, or
	// what is left cannot be taken back.
	untold bool
	// takenBack says that it was taken back, or that what it took was given back.
	takenBack bool
	// at is where it was made, and before the state of the item before it, for when it was not
	// made. Only a state knows them.
	at     position
	before remedies.StepState
}

// accountsOf are the accounts of a journal.
func accountsOf(rec *record) *accounts {
	c := &accounts{}
	for i := range rec.entries {
		c.take(&rec.entries[i])
	}
	for i := range c.attempts {
		c.attempts[i].Walk = rec.begin.ID
	}
	return c
}

// take takes an entry, and returns the attempts that are taken back by it.
func (c *accounts) take(e *entry) []*attempt {
	switch e.Kind {
	case entryBefore:
		a := attempt{Attempt: remedies.Attempt{N: e.Attempt, Sent: e.At}, effect: e.Effect,
			takesBack: e.TakesBack, takes: e.Takes, pays: e.Pays, wide: e.Wide}
		if e.Place != nil {
			a.place = *e.Place
		}
		c.attempts = append(c.attempts, a)
	case entryAfter:
		a := c.open()
		if a == nil || a.N != e.Attempt {
			return nil
		}
		a.outcome, a.note = e.Outcome, e.Note
		if e.Receipt != nil {
			a.receipt = *e.Receipt
		}
		if a.outcome == outcomeMade || a.outcome == outcomeSo {
			return c.takeBack(a.takesBack, a.pays)
		}
	case entrySkip, entryCheck, entryPaid:
		for i := range c.attempts {
			c.attempts[i].untold = c.attempts[i].untold || slices.Contains(e.Untold, c.attempts[i].N)
		}
		return c.takeBack(e.TakesBack, "")
	case entryBegin, entryResume, entryItems, entryGo, entryLook, entryChoice, entryLeave, entryEnd:
	}
	return nil
}

// takeBack marks the attempts with these numbers, and the one that took what was paid.
func (c *accounts) takeBack(numbers []int, pays string) []*attempt {
	var out []*attempt
	for i := range c.attempts {
		a := &c.attempts[i]
		if slices.Contains(numbers, a.N) || (pays != "" && a.takes != nil && a.takes.ID == pays) {
			a.takenBack = true
			out = append(out, a)
		}
	}
	return out
}

// open is the attempt of which it is not known what became, or nil.
func (c *accounts) open() *attempt {
	for i := range c.attempts {
		if c.attempts[i].outcome == outcomeOpen {
			return &c.attempts[i]
		}
	}
	return nil
}

// owed are the attempts that took something which is not given back.
func (c *accounts) owed() []*attempt {
	var out []*attempt
	for i := range c.attempts {
		if a := &c.attempts[i]; a.takes != nil && a.stands() {
			out = append(out, a)
		}
	}
	return out
}

// wide says whether something that reaches beyond its cluster may be left of what the walk did.
func (c *accounts) wide() bool {
	return slices.ContainsFunc(c.attempts, func(a attempt) bool {
		return a.wide && (a.outcome == outcomeOpen || (a.stands() && len(a.takesBack) == 0 && a.pays == ""))
	})
}

// stands says whether something of the attempt may be left, and has to be taken back: it was made,
// or whether it was cannot be told, and it was not taken back. Of one that takes something it is
// enough that what it was for is so: what was taken is owed, whoever took it.
func (a *attempt) stands() bool {
	switch a.outcome {
	case outcomeMade, outcomeUnsure:
		return !a.takenBack
	case outcomeSo:
		return a.takes != nil && !a.takenBack
	case outcomeOpen, outcomeRefused, outcomeNot:
	}
	return false
}
