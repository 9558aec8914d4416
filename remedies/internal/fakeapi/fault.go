package fakeapi

import "time"

// FaultKind says how a request fails.
type FaultKind string

// The kinds of faults. Those that begin with "stored" are for writes: the server does what it
// was asked for, and the client does not get to know.
const (
	// None is no fault.
	None FaultKind = ""
	// Silence: the server does nothing and never answers.
	Silence FaultKind = "silence"
	// Refused: nobody listens. client-go does not try again by itself.
	Refused FaultKind = "refused"
	// Cut: the connection breaks before the server has done anything.
	Cut FaultKind = "cut"
	// Unavailable: 503, and nothing is done.
	Unavailable FaultKind = "503"
	// UnavailableRetry: 503 with Retry-After, and nothing is done; client-go sends again.
	UnavailableRetry FaultKind = "503-retry"
	// Failed: 500, and nothing is done.
	Failed FaultKind = "500"
	// Forbidden: 403.
	Forbidden FaultKind = "forbidden"
	// Conflict: 409, as when somebody else was faster.
	Conflict FaultKind = "conflict"
	// NotServed: the 404 of a path that the server does not know.
	NotServed FaultKind = "not-served"
	// StoredSilence: done, and never answered.
	StoredSilence FaultKind = "stored-silence"
	// StoredCut: done, and the connection breaks.
	StoredCut FaultKind = "stored-cut"
	// StoredUnavailable: done, and answered with 503.
	StoredUnavailable FaultKind = "stored-503"
	// StoredUnavailableRetry: done, and answered with 503 and Retry-After; client-go sends again.
	StoredUnavailableRetry FaultKind = "stored-503-retry"
	// StoredFailed: done, and answered with 500.
	StoredFailed FaultKind = "stored-500"
	// Delayed: never answered, and done a while after the client gave up.
	Delayed FaultKind = "delayed"
	// DelayedUnavailableRetry: answered with 503 and Retry-After, and done a while later all the
	// same, while client-go has sent again.
	DelayedUnavailableRetry FaultKind = "delayed-503-retry"
)

// Fault is how a request fails. After is for the delayed ones: how long after the client gave
// up, or after the answer, it is done.
type Fault struct {
	Kind  FaultKind
	After time.Duration
}

// ReadFaults are the kinds of faults that a read can have, WriteFaults those of a write.
func ReadFaults() []FaultKind {
	return []FaultKind{Silence, Cut, Unavailable, UnavailableRetry, Failed, Forbidden, NotServed}
}

// WriteFaults are the kinds of faults that a write can have.
func WriteFaults() []FaultKind {
	return append(ReadFaults(), Conflict, StoredSilence, StoredCut, StoredUnavailable, StoredUnavailableRetry, StoredFailed, Delayed, DelayedUnavailableRetry)
}
