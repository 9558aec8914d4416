// Package remedies has the types that all parts of a fix share: what the screen
// draws of a walk ([View], [Preview]), what a step can be ([Action] and its
// kinds), and what a write is ([Effect]). The packages below it do the work:
//
//   - remedies/walk takes an engineer through an article: the runner, the journal,
//     the Lease.
//   - remedies/kb has the articles as data, and their loader.
//   - remedies/action has what an article's step can name, one file an action.
//   - remedies/effect has the kinds of writes, one file a kind.
//
// A step that changes something always goes the same way: preview, confirm, check
// again, apply, verify, and undo where that is possible.
//
// These packages never write anything for a preview (not even the Lease), never apply
// anything but exactly what was previewed, never apply it twice, never use server-side
// apply (the lists that they change have other owners), and never keep a secret.
//
// Start reading at view.go, which is what the screen draws, then effect.go,
// action.go and plan.go; then package walk.
package remedies
