package action

import (
	"context"

	"vksmedic/remedies"
	"vksmedic/remedies/kb"
)

// waitCondition waits until an object is as it should be, and stays so.
type waitCondition struct{}

var _ remedies.Waiter = waitCondition{}

// Kind is wait.
func (waitCondition) Kind() remedies.StepKind { return remedies.StepWait }

// Verify follows the object. What cannot be read is unknown: the wait goes on until its time is
// up, and then says so.
func (waitCondition) Verify(s *remedies.Scene) remedies.Watch {
	p, ok := s.Params.(*kb.WaitCondition)
	if !ok {
		return broken(wrongParams("wait-condition", s.Params))
	}
	return remedies.Steady(watchUntil(s, &p.Until), p.Stays, p.Timeout, s.Now)
}

// broken is a watch that cannot look.
func broken(err error) remedies.Watch {
	return func(context.Context) (remedies.Progress, error) { return remedies.Progress{}, err }
}
