package remedies

import (
	"time"

	"vksmedic/model"
)

// StepKind says what a step asks of the engineer.
type StepKind string

// The kinds of steps.
const (
	// StepLook only reads and shows what it read.
	StepLook StepKind = "look"
	// StepChoose lets the engineer choose between options.
	StepChoose StepKind = "choose"
	// StepChange changes something: preview, confirm, apply, verify, undo.
	StepChange StepKind = "change"
	// StepWait follows what the controllers do, stage by stage.
	StepWait StepKind = "wait"
	// StepManual is done by a person with the commands that it shows, and verified by us.
	StepManual StepKind = "manual"
)

// StepState says how far a step is.
type StepState string

// The states of a step.
const (
	StatePending StepState = "pending"
	StateCurrent StepState = "current"
	StateDone    StepState = "done"
	StateByHand  StepState = "by-hand" // the engineer did it elsewhere, and it was verified.
	StateSkipped StepState = "skipped" // not needed; Note says why.
	StateFailed  StepState = "failed"
	StateUndone  StepState = "undone"
	// StateNotSeen is a stage that is over and that nobody saw: it may not have happened.
	// Only stages have it, never steps.
	StateNotSeen StepState = "not-seen"
	// StateUnchecked is a step that was applied, and of which it could not be read yet whether
	// it does what it is for.
	StateUnchecked StepState = "unchecked"
	// StateUnsure is a step that was begun and whose end was never written down: the
	// program died in between. It is looked at before anything else is done.
	StateUnsure StepState = "unsure"
)

// StepView is one step of a walk as the screen shows it.
type StepView struct {
	ID, Title, Why string
	Kind           StepKind
	State          StepState
	// Undoable says that what the step changed can be taken back now.
	Undoable bool
	Note     string
	// Items are what a step is done for one after another, such as nodes; empty for a step
	// that is done once.
	Items []ItemView
}

// ItemView is one thing that a step is done for.
type ItemView struct {
	Name  string
	State StepState
	Note  string
}

// ConfirmKind says how a change is confirmed.
type ConfirmKind string

// The two ways to confirm.
const (
	// ConfirmKey is the key a: for what can be taken back.
	ConfirmKey ConfirmKind = "key"
	// ConfirmName is the target's name, typed: for what cannot be taken back.
	ConfirmName ConfirmKind = "name"
)

// Line is one line of text with a sign: '+' added, '-' removed, ' ' context, '!' worth a warning.
type Line struct {
	Sign rune
	Text string
}

// Preview is what a step will change, computed without writing anything.
type Preview struct {
	// Token binds Apply to exactly this preview: another preview, another token.
	Token string
	Title string
	Diff  []Line
	// YAML is the whole object as it would be sent, Command the same thing as a line to copy.
	YAML, Command string
	// Shown is the command as the screen draws it: where Command repeats the YAML that stands
	// above it, it refers to that instead. Empty: draw Command.
	Shown string
	// Server is the answer to the dry run, in words; May whether the engineer may do it.
	Server  string
	May     model.Verdict
	MaySays string
	// Reaches is what else the change touches, Means what that means for later.
	Reaches, Means []string
	// Now are figures of this moment. They are drawn beside what it reaches, and do not bind.
	Now []string
	// TakeBack says how it is undone; empty when it cannot be.
	TakeBack string
	Confirm  ConfirmKind
	// ConfirmName is what has to be typed when Confirm is ConfirmName.
	ConfirmName string
	// Moved is what changed under the previous preview, when that is why there is a new one.
	Moved []Line
	// Blocked says why this can't be applied (may not, not served, read-only); empty when it can.
	Blocked string
	// Done says that there is nothing to do, and why; empty otherwise.
	Done string
	// Warnings are things to know before confirming: another engineer at work, nobody can see us.
	Warnings []string
}

// Ask is a question that came up in the middle of a step, such as an unknown host key or a
// password. The answer is kept in memory while the connection is open, and never written.
type Ask struct {
	// ID binds the answer to this question.
	ID string
	// Question is one sentence; Lines are what to look at before it is answered.
	Question string
	Lines    []Line
	// Secret says that the answer must not be drawn.
	Secret bool
	// Options are the answers that can be given; empty where any text can be typed.
	Options []Option
}

// Offer is an article that can be walked for a finding.
type Offer struct {
	ID, Title, KB, Address string
	// From says whose article it is, such as the folder that it was read from; empty for one
	// that is built in.
	From string
}

// DebtView is what was taken and has to be given back.
type DebtView struct {
	// What is taken, such as "patch on endpoints"; Where the object that it was taken from.
	What, Where string
	Cluster     model.ClusterRef
	Who         string
	Since       time.Time
	// Overdue says that it has been open for longer than its alarm.
	Overdue bool
}

// Option is one answer to a choice.
type Option struct {
	ID, Title string
	Means     []string
}

// Choice is a question with its options.
type Choice struct {
	Question string
	Options  []Option
	Selected string // id of an option.
}

// Stage is one thing that a waiting step follows.
type Stage struct {
	Title string
	State StepState
	// Took is how long it took or has been taking, zero if it has not begun.
	Took   time.Duration
	Detail string
}

// Progress is how far a waiting or verifying step is.
type Progress struct {
	Stages []Stage
	// Last is the last thing that the cluster said about it.
	Last string
	// Done means that there is nothing more to wait for; Failed then says why it did not work, empty when it did.
	Done   bool
	Failed string
	// Early says that it is too early for a verdict, and until when.
	Early time.Time
}

// View is everything the screen needs to draw a walk: a value, never changed after it was handed out.
type View struct {
	ID          string // of this walk, also in the journal.
	Article     string
	Title       string
	KB, Address string
	Warnings    []string // of the article.
	Trouble     []string // of the walk itself, on every step: nobody can see us, the journal is not kept.
	Cluster     model.ClusterRef
	Supervisor  string
	Target      string // what the finding is about, such as a Machine's name.
	Steps       []StepView
	Current     int // index into Steps; len(Steps) when the walk is over.
	Facts       []Line
	Choice      *Choice
	Ask         *Ask // a question to answer before the step goes on; nil where there is none.
	Preview     *Preview
	// Commands are the lines that a person runs in a step that is done by hand.
	Commands []string
	Progress *Progress
	// Debts are what this walk has taken and not given back.
	Debts         []DebtView
	ReadOnly      string // why nothing can be changed; empty when it can.
	Others        []string
	Resumed       string // what was found when the walk was picked up again after a crash.
	Finished      bool
	FinishedWords string
}
