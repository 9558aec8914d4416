// Package remedies holds the words in which mending is spoken of: what the screen
// draws of a walk ([View], [Preview]), what a step can be ([Action] and its
// kinds), and what a write is ([Effect]). The rooms below it do the work:
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
// What this room never does: write anything for a preview (not even the Lease),
// apply anything that was not previewed exactly so, apply twice, use a
// server-side apply (the lists that it changes have other owners), keep a secret.
//
// Start reading at view.go, which is what the screen draws, then effect.go,
// action.go and plan.go; then package walk.
package remedies
