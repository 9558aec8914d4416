// Package action has the actions that a step of an article can name, one file each: look,
// choose, wait-condition, by-hand, annotate, change-object and take-back. They are general:
// what they do is in their parameters, which are those of package kb. What is special to one
// failure stands in a package of its own below this one.
//
// Nothing here writes: an action that changes something makes a plan, and the walk sends its
// effect. Secrets are neither shown nor changed.
//
// Start reading at registry.go, which has the list; api.go reads what an article names.
package action
