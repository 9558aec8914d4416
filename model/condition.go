package model

import "time"

// Condition is one entry of a status.conditions list, of either generation:
// Cluster API's older ones carry a severity, the newer ones (metav1.Condition)
// do not.
type Condition struct {
	Type     string
	Status   string // True, False or Unknown.
	Reason   string
	Message  string
	Severity string // Error, Warning, Info or empty; older generation only.
	// Since is the lastTransitionTime, zero where it is not given.
	Since time.Time
}

// Conditions is a list of conditions.
type Conditions []Condition

// Get returns the condition of a type, or nil.
func (c Conditions) Get(typ string) *Condition {
	for i := range c {
		if c[i].Type == typ {
			return &c[i]
		}
	}
	return nil
}

// True says whether the condition is there with status True.
func (c Conditions) True(typ string) bool {
	x := c.Get(typ)
	return x != nil && x.Status == "True"
}

// Generations holds the two condition lists that Cluster API objects carry since
// v1.9, wherever the served API version keeps them (status.conditions,
// status.v1beta2.conditions, status.deprecated.v1beta1.conditions).
type Generations struct {
	// New are the conditions of the v1beta2 contract (metav1.Condition).
	New Conditions
	// Old are the conditions of the v1beta1 contract, with severity.
	Old Conditions
}

// Get looks in the newer list first, then in the older one. A v1beta1 dump may
// hold newer entries in the older place, so both are always looked at.
func (g Generations) Get(typ string) *Condition {
	if c := g.New.Get(typ); c != nil {
		return c
	}
	return g.Old.Get(typ)
}
