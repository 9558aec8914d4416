// Package capture reads a dump on disk: a file, a folder, a .tar.gz or a stream of
// Kubernetes objects as kubectl prints them, YAML or JSON, under any file name. It
// turns them into the same rows that are watched live, so that a dump is judged by the
// same code.
//
// It never stops because a file makes no sense: what could be read counts, and what
// could not is listed as a source with the reason. It never keeps a Secret, and never
// follows a symbolic link inside a folder. Memory is bounded by the objects that are
// looked at; a stream is read document by document, a List item by item.
//
// Start reading at [Read], then [Dump].
package capture
