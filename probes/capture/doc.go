// Package capture reads and writes dumps on disk. It reads a file, a folder, a .tar.gz or a stream of
// Kubernetes objects as kubectl prints them, YAML or JSON, under any file name. It
// turns them into the same rows that are watched live, so that a dump is judged by the
// same code.
//
// It never stops because a file makes no sense: what could be read counts, and what
// could not is listed as a source with the reason. It never keeps a Secret, and never
// follows a symbolic link inside a folder. Memory is bounded by the objects that are
// looked at; a stream is read document by document, a List item by item.
//
// It also writes such dumps, called captures: the objects that a snapshot was made of, kept whole by a
// [Recorder] while they were looked at, and beside them an index with all that is no object. A
// capture is complete, so it is judged as the live Supervisor was at that moment. What no capture
// holds is said in strip.go, where things stand in it in layout.go, and what a [Redactor] replaces in
// redact.go.
//
// Start reading at [Read], then [Dump]; for captures at [Write], and restore.go for how they come back.
package capture
