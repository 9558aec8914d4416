package remedies

import (
	"context"
	"strconv"
	"time"

	"vksmedic/model"
)

// Effect is one write, wherever it goes: an object, a command on a node, a task of
// vCenter. It stands in the journal, so that it can be recognised after a crash and
// taken back: an effect is a struct that survives JSON, and its Kind says which.
type Effect interface {
	// Kind names the type in the journal.
	Kind() string
	// Place is where it writes. Its identity is read before the preview and again before
	// it is sent; the two have to be the same place.
	Place() model.Place
	// What names the write for people, such as "create MachineDrainRule team-a/x".
	What() string
	// Binds is all that is sent, as lines that are the same when the same would be sent.
	Binds() []string
	// DryRun asks the place what it would say, and writes nothing. An error means that it
	// could not be asked at all.
	DryRun(ctx context.Context, s *Sites) (Answer, error)
	// Send writes, once. a is part of the write, so that Look finds it again. Any error
	// but a [Refusal] means that it is not known whether it was written.
	Send(ctx context.Context, s *Sites, a Attempt) (Receipt, error)
	// Look finds out whether an attempt was made, by its mark. It never concludes that from
	// an object that looks alike, nor from clocks. An error means that it could not look.
	Look(ctx context.Context, s *Sites, a Attempt) (Sight, error)
	// Command is what a person would type to do the same.
	Command(s *Sites) Copy
}

// Reversible is an effect that can be taken back without special knowledge.
type Reversible interface {
	// Reverse says what is left of an attempt, computed from what is there now, and how that is
	// taken back. Without a receipt it is not known whether the attempt was made.
	Reverse(ctx context.Context, s *Sites, a Attempt, got Receipt) (Back, error)
}

// Lasting is an effect that may go on after it was answered, such as the deletion of an object
// that has finalizers.
type Lasting interface {
	// StillGoing says what is not over yet, with the object's name; empty when it is over.
	StillGoing(ctx context.Context, s *Sites) (string, error)
}

// Attempt is one time that an effect was sent. It has a number within its walk and stays
// in the record for good.
type Attempt struct {
	Walk string
	N    int
	// Sent is when the line before it was written, by our own clock: for people.
	Sent time.Time
}

// Mark is the attempt's name where it writes: the field manager of an object, the marker
// on a node. It is at most 63 bytes of letters, digits and hyphens.
func (a Attempt) Mark() string { return MarkPrefix(a.Walk) + strconv.Itoa(a.N) }

// MarkPrefix is what the marks of all attempts of a walk begin with.
func MarkPrefix(walk string) string { return "vksmedic-" + walk + "-" }

// Receipt is what came back for an attempt. Fields that a kind does not have are empty.
type Receipt struct {
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// Task is the id of a vCenter task.
	Task string `json:"task,omitempty"`
	// Exit is the outcome that a command on a node printed.
	Exit string `json:"exit,omitempty"`
}

// Happened says what became of an attempt.
type Happened string

// What can have become of an attempt.
const (
	// HappenedYes: it was made, and by us.
	HappenedYes Happened = "yes"
	// HappenedSo: the place is as the attempt would have made it, but whether it was us cannot
	// be told. A deletion without an answer often ends so: the object is gone.
	HappenedSo Happened = "so"
	// HappenedNo: it was not made.
	HappenedNo Happened = "no"
	// HappenedUnsure: it cannot be told, and looking again does not help.
	HappenedUnsure Happened = "unsure"
)

// Sight is what a look for an attempt brought.
type Sight struct {
	Happened Happened
	Receipt  Receipt
	// Never belongs to HappenedNo: even if the request is still under way, it can no longer
	// succeed.
	Never bool
	// Unmarked belongs to HappenedUnsure: the attempt's mark is not there, and it would be if the
	// attempt had been made, unless others wrote over all of it.
	Unmarked bool
	// Words say what was seen, such as "MachineDrainRule x was changed by others".
	Words string
}

// Refusal is an answer that says no. Nothing was written, unless it is Doubtful.
type Refusal struct {
	// Err is ErrMoved, ErrForbidden or ErrBlocked.
	Err error
	// Words are the server's own, cleaned.
	Words string
	// Doubtful says that the same answer may come when the place has written it and was
	// asked a second time, such as AlreadyExists: it has to be looked at.
	Doubtful bool
}

// Error is the words.
func (r *Refusal) Error() string { return r.Words }

// Unwrap is the kind.
func (r *Refusal) Unwrap() error { return r.Err }

// Answer is what a place says to an effect without doing it.
type Answer struct {
	// Server is the answer in words; May whether the engineer may do it, MaySays who said so.
	Server  string
	May     model.Verdict
	MaySays string
	// Blocked says why it cannot be applied; empty when it can.
	Blocked string
	// Moving says that it changed between the plan and the dry run: the plan has to be made anew.
	Moving bool
	// Diff and YAML are what the place would make of it.
	Diff []Line
	YAML string
}

// Copy is a command to copy.
type Copy struct {
	// Text is the command, with all that belongs to it.
	Text string
	// Shown is how the screen draws it; empty: as it is.
	Shown string
}
