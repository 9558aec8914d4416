// Package print writes what a scan found, for pagers, scripts and tickets: as a table,
// as JSON (an interface of this program: fields are added, never changed) or as
// Markdown. It also says with which status the scan ends.
//
// It reads nothing and decides nothing: everything comes from the snapshot. Text from
// clusters is cleaned before it is written.
//
// Start reading at [Print] and [ExitCode].
package print
