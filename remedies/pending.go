package remedies

import (
	"time"

	"vksmedic/model"
)

// Pending is a walk in the journal that is not over.
type Pending struct {
	ID, Article, Title string
	Cluster            model.ClusterRef
	Target             string
	Who                string
	Began, Last        time.Time
	// Step is the title of the step it stands at; Unsure says that the program ended
	// while that step was changing something.
	Step   string
	Unsure bool
	// Refused says why it cannot be picked up here; empty when it can.
	Refused string
	// Owes says that it has taken something that is not given back.
	Owes bool
	// Open says that this very program has it open.
	Open bool
	// Elsewhere says that it belongs to another Supervisor; Server and Context name that one.
	Elsewhere       bool
	Server, Context string
	// Wrote is what it changed, for a walk that cannot be continued: it was begun by an
	// older vksmedic, or its article is not known any more.
	Wrote []Wrote
}

// Wrote is one change that a walk made.
type Wrote struct {
	// Object is what was changed, How in a word: create, update, delete.
	Object, How string
	At          time.Time
	// TakeBack is the command that takes it back by hand; empty where none does.
	TakeBack string
}

// Command is one command or request that changed something, for the log on the screen.
type Command struct {
	At time.Time
	// Line is the kubectl or ssh line that would do the same; it may have several lines.
	Line string
	// Where is the context, and what it was for.
	Where string
	// Err is empty when it worked.
	Err  string
	Took time.Duration
}
