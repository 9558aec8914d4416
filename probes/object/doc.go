// Package object turns Kubernetes objects into the rows of package model: the few
// fields that vksmedic looks at, of any API version of the kinds it knows.
//
// It is as tolerant as can be: a field that is missing or of an odd type is left
// out, and only what is no object at all, or of a kind that nobody here looks at,
// is an error. It never does I/O, and never changes or keeps the map it was given.
// Text is kept as it came; whoever draws, logs or quotes it takes out what does not
// belong there (package model/text).
//
// Start reading at [Row]. tree.go has the tolerant access to fields, meta.go and
// condition.go what all kinds share, the other files a kind or a family each. Which
// field stands where in which API version is said beside the code that reads it.
package object
