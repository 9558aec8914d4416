package remedies

import (
	"time"

	"vksmedic/model"
)

// Debt is what was taken and has to be given back. It lives where it was taken: as an
// annotation of the object itself, written in the same write. Anybody can write an
// annotation, so it is only a claim: what is given back is decided by an allow-list in Go, and
// is added to the object as it is then.
type Debt struct {
	// ID is the attempt's mark; the annotation's name ends in it.
	ID string `json:"id"`
	// Takes is the id of what is taken, in the allow-list of package effect.
	Takes string `json:"takes"`
	// On is the object that it was taken from, and where that lives.
	On    model.ObjectRef `json:"on"`
	Place model.Place     `json:"place"`
	// For is the cluster for whose sake it was taken.
	For   model.ClusterRef `json:"for"`
	Who   string           `json:"who"`
	Since time.Time        `json:"since"`
	// Supervisor is what tells the Supervisor from others: a debt on an object that belongs to
	// no namespace carries kube-system's uid.
	Supervisor model.Marks `json:"supervisor"`
}
