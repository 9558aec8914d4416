// Package object turns Kubernetes objects into the rows of package model: the few
// fields that vksmedic looks at, of any API version of the kinds it knows.
//
// A field that is missing or has an unexpected type is left out. An error means that
// the input is no Kubernetes object, or that its kind is not read here. The package
// does no I/O, and never changes or keeps the map that it was given. Text stays as it
// came; the code that draws, logs or quotes it cleans it (package model/text).
//
// Start reading at [Row], then kinds.go, the one table of the kinds that are looked at. tree.go reads
// single fields, meta.go and condition.go have what all kinds share, and each other file has one kind
// or a few that belong together. A comment beside the code says where a field is in each API version.
package object
