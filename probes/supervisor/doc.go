// Package supervisor looks at a live Supervisor: it reads the engineer's kubeconfig
// the way kubectl does, watches the kinds that matter with whatever API versions are
// served and allowed, and hands every observation to a [Sink] as a change to the
// store, with how fresh each source is and what is wrong with it in words.
//
// It never writes to a cluster, never watches or lists Secrets, and never changes
// Supervisor: context, server and certificate authority are pinned when [Connect]
// returns, and a renewed login brings new credentials only. Nothing here writes to
// the terminal: logs go to the logger in [Options].
//
// Start reading at [Connect], which does no network, and [Connection.Watch]. kinds.go
// says what is watched, watcher.go how one kind is, explain.go what is said about
// errors.
package supervisor
