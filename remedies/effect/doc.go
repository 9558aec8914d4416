// Package effect has the kinds of writes, one file each: a change of an object in a
// Kubernetes API ([Object]). Each knows how to try itself without writing, how to
// send itself once with a mark of its own, and how to find that mark again.
//
// What is taken and has to be given back stands on the object that it was taken from:
// debt.go.
//
// Start reading at [Object].
package effect
