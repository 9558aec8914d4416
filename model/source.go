package model

import "time"

// SourceState says what can be said about a source of knowledge.
type SourceState string

// The states of a source. They are part of the JSON that scan prints.
const (
	SourceOK            SourceState = "ok"
	SourceStale         SourceState = "stale"
	SourceForbidden     SourceState = "forbidden"
	SourceUnreachable   SourceState = "unreachable"
	SourceNotServed     SourceState = "not-served"
	SourceNotUnderstood SourceState = "not-understood"
	// SourceWaiting is a source that has not answered yet and is not overdue. It is
	// shown on the screen; scan, which waits, prints it as unreachable.
	SourceWaiting SourceState = "waiting"
)

// Source is one place that is looked at, and how that went.
type Source struct {
	// Name is a path: supervisor/machines, workload/team-a/web/nodes, file/objects.yaml.
	Name  string
	State SourceState
	// Seen is when the source was last known to be up to date: for a watch, the last
	// event or bookmark while it was connected. Zero if never.
	Seen time.Time
	// Live says that the source is being watched right now, so that what it told is
	// current although Seen may be a while ago.
	Live bool
	// Lost says that something which may be an object was there and could not be read, so that what is
	// not found in the rest may have been in it. It is for dumps.
	Lost bool
	// Detail says in words what is wrong and what to do about it; empty when ok.
	Detail string
}

// Age is how old the knowledge is: zero for a live source, negative if it was never seen.
func (s Source) Age(now time.Time) time.Duration {
	if s.Live && s.State == SourceOK {
		return 0
	}
	if s.Seen.IsZero() {
		return -1
	}
	return now.Sub(s.Seen)
}

// Readable says whether what the source told can be relied on: ok, or only old.
func (s Source) Readable() bool { return s.State == SourceOK || s.State == SourceStale }
