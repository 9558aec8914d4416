// Package walk takes an engineer through an article: it begins a [Walk] for a finding
// or for a debt, or picks one up from the journal, and is the only place from which
// anything is written to a cluster, a node or a vCenter.
//
// What a walk knows is the fold of its journal: one function, [state.fold], takes an
// entry and changes the state, while the program runs and when a walk is picked up
// again. Nothing else changes the state. What a look brought, a preview and a question
// are not part of it: they are read anew.
//
// A change goes the same way each time (apply.go): the journal can be written, the
// Lease is taken, the line before, the write, a look where the answer does not settle
// it, the line after, the verification. Each has a deadline of its own. From the line
// before on the change is in doubt until the line after says what became of it, so that
// a crash and a lost answer are settled by the same look.
//
// Start reading at walk.go, then state.go, apply.go and journal.go; lease.go is how two
// engineers see each other.
package walk
