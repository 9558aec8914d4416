package remedies

import (
	"slices"
	"strings"

	"vksmedic/model"
	"vksmedic/model/text"
)

// Plan is what a step that changes something would do.
type Plan struct {
	// Preview is what the engineer is shown. All of it is compared before the plan is applied
	// (see [Plan.Binds]), except Now, and what the walk adds when it is drawn: ages, and the
	// names of the engineers who are there.
	Preview Preview
	// Effect is what would be sent; nil where there is nothing to do, or nothing that can be done.
	Effect Effect
	// AlsoTry are writes that have a dry run too and are not sent, such as giving back what is
	// taken: where one of them would be refused, the plan is blocked.
	AlsoTry []Effect
	// Basis are lines that are compared and not drawn: what else the plan was computed from.
	Basis []string
	// TakesBack are the numbers of the attempts that this one takes back.
	TakesBack []int
	// Takes is what the effect takes and has to be given back; Pays the id of a debt that it pays.
	Takes *Debt
	Pays  string
	// Wide says that it reaches beyond its cluster, such as a ClusterRole: the Lease is then
	// the whole Supervisor's.
	Wide bool
	// Guards are the conditions that were read for it, with their numbers.
	Guards []Guard
	// Place is the identity of the place that it writes to.
	Place model.Marks
}

// Guard is a condition that has to hold for a step, read again at the moment of applying.
type Guard struct {
	Name string
	// Holds is what was read. Unknown is refused like no.
	Holds model.Verdict
	// Words say what was read, with its numbers.
	Words string
}

// Binds are all lines that are compared between the preview and the moment of applying, in
// their order. Two plans with the same lines count as the same plan. Ages are not among them.
func (p *Plan) Binds() []string {
	pv := &p.Preview
	out := []string{"title: " + pv.Title}
	add := func(label string, values ...string) {
		for _, v := range values {
			if v != "" {
				out = append(out, label+": "+v)
			}
		}
	}
	out = append(out, p.Basis...)
	for _, g := range p.Guards {
		add("guard "+g.Name, string(g.Holds)+", "+g.Words)
	}
	if p.Effect != nil {
		out = append(out, p.Effect.Binds()...)
	}
	for _, l := range pv.Diff {
		out = append(out, "diff: "+string(l.Sign)+" "+l.Text)
	}
	for _, e := range p.AlsoTry {
		out = append(out, e.Binds()...)
	}
	add("server", pv.Server)
	add("may", string(pv.May), pv.MaySays)
	add("reaches", pv.Reaches...)
	add("means", pv.Means...)
	add("warning", pv.Warnings...)
	add("take back", pv.TakeBack)
	add("confirm", string(pv.Confirm), pv.ConfirmName)
	add("blocked", pv.Blocked)
	add("done", pv.Done)
	add("place", p.Place.Lines()...)
	for i, l := range out {
		out[i] = strings.ReplaceAll(l, "\n", " ")
	}
	return out
}

// Moved compares what was shown with what is so now, line by line and in order: nil when they are the same.
func Moved(shown, now []string) []Line {
	if slices.Equal(shown, now) {
		return nil
	}
	var out []Line
	for _, l := range diffLines(shown, now) {
		if l.Sign != ' ' {
			out = append(out, Line{Sign: l.Sign, Text: text.Clean(l.Text)})
		}
	}
	return out
}
