// Package cli is the command line: the flags, and one file for each command, which
// connects the other packages and runs them. Start reading at [Run], then root.go.
//
// A command writes its result to Out and what it has to say on the way to Err, so that the
// result can be piped. Its exit status is 0 when it could do what was asked, and 2 when it
// could not; scan also has 1, for what it found. An error is one sentence for the engineer:
// what failed, and what to do.
//
// To add a command, write a file with its name that makes a cobra.Command, and add that to
// the root command in root.go.
package cli
