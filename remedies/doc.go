// Package remedies is how vksmedic mends: the articles, the runner that walks
// them with an engineer, and what is remembered of it. It is the only room that
// writes to a cluster.
//
// An article is data (kb/*.yaml, see [Article]); each of its steps names an
// action, and actions are Go, one file each (action_*.go). The [Runner] begins a
// [Walk] for a finding, or picks one up again from the journal. A step that
// changes something always goes the same way: preview, confirm, check again,
// apply, verify, and undo where that is possible (walk_change.go).
//
// What it never does: write anything for a preview (not even the Lease), apply
// anything that was not previewed exactly so, apply twice, use a server-side
// apply (the lists it changes have other owners), keep a secret.
//
// Start reading at view.go, which is what the screen draws, then runner.go and
// walk.go; change.go is what a change of an object is, journal.go what is kept
// on the engineer's disk, lease.go how two engineers see each other.
package remedies
