// Package signature holds the failure signatures: pure functions from what is
// known about one cluster to findings with their evidence. They read nothing,
// have no clock and never change what they are given, so they say the same from
// a dump as live.
//
// A signature is a list of checks, each answering yes, no or unknown (package
// model: Check, Decide). Unknown says why and what would settle it. Texts hold
// points in time, never ages: a finding is kept until its cluster changes, and an
// age would grow stale.
//
// Start reading at [Signature], what one declares, then [Judge]; each signature is a file of its own, named
// like its id.
package signature
