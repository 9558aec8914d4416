package remedies

import "context"

// Left says what is left of an attempt.
type Left string

// What can be left of an attempt.
const (
	// LeftNothing: nothing of it is there, whoever took it away.
	LeftNothing Left = "nothing"
	// LeftSome: something of it is there, and the plan takes that back.
	LeftSome Left = "some"
	// LeftEnding: what it made is being deleted, and is still there.
	LeftEnding Left = "ending"
	// LeftUnknown: whether something of it is there cannot be told: somebody has to look.
	LeftUnknown Left = "unknown"
	// LeftStuck: something of it is there, and taking that back would do more than that: somebody
	// has to look.
	LeftStuck Left = "stuck"
	// LeftFinal: what it did cannot be taken back, such as a deletion.
	LeftFinal Left = "final"
)

// Back is what is left of an attempt, and how that is taken back.
type Back struct {
	Left Left
	// Plan takes back what is left; nil for all but LeftSome.
	Plan *Plan
	// Words say what is left and why, with the object's name. Empty for LeftSome.
	Words string
}

// BackOf says what is left of an attempt, computed from what is there now: by the action of its
// step, where that knows more than the effect does. Only LeftNothing means that it counts as
// taken back. An error means that it could not be looked at.
func BackOf(ctx context.Context, s *Scene, m *Made) (Back, error) {
	if by, ok := m.By.(TakerBack); ok {
		return by.TakeBack(ctx, s, m) //nolint:wrapcheck // an action's words are for the engineer.
	}
	if r, ok := m.Effect.(Reversible); ok {
		return r.Reverse(ctx, s.Sites, m.Attempt, m.Receipt) //nolint:wrapcheck // a place's words are for the engineer.
	}
	return Back{Left: LeftFinal, Words: "this cannot be taken back: " + m.Effect.What()}, nil
}

// StillGoing says what of an attempt that was made is not over yet, such as a deletion that
// finalizers hold up; empty where it is over.
func StillGoing(ctx context.Context, s *Scene, m *Made) (string, error) {
	if l, ok := m.Effect.(Lasting); ok {
		return l.StillGoing(ctx, s.Sites) //nolint:wrapcheck // a place's words are for the engineer.
	}
	return "", nil
}
