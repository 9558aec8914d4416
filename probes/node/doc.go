// Package node reads what the programs of a node print: crictl, ss, ps, systemctl,
// the journal, and what an SSH session adds around them. It understands the
// forms of old and new releases and output that people pasted, counts nothing as
// said that was not, and never trusts a process's own name or command line.
//
// Everything here is a pure function of text. Start reading at [ParseContainers],
// [ParseSockets], [ParseShow] and [ParseSession].
package node
