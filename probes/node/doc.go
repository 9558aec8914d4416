// Package node reads what the programs of a node print: crictl, ss, ps, systemctl, the
// journal, and what an SSH session adds around them. It reads the forms of old and new
// releases, and output that people pasted. What an output does not say is left empty,
// and the name or command line that a process gives itself is never trusted.
//
// Everything here is a pure function of text. Start reading at [ParseContainers],
// [ParseSockets], [ParseShow] and [ParseSession].
package node
