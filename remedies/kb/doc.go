// Package kb holds the articles: what the knowledge base says to do about a failure, as
// data (*.yaml), and the loader that reads them. README.md explains every field of an
// article to a person who writes one.
//
// Loading is strict. [Load] reads the articles of the program, [LoadDir] those of an
// engineer's own folder, and [Check] says what is wrong with files that are being written.
// Every problem has a file and a line and says what was expected. What is checked:
//
//   - the YAML and its types (decode.go, raw.go);
//   - references between steps (references.go);
//   - every template, by the types of the facts (static.go), and then by filling it in with
//     facts that are empty and full and with every choice (fillcheck.go);
//   - what an engineer's own article may do (own.go), and who may write to its folder
//     (trust.go).
//
// So nothing in an article can fail in the middle of a walk: [Text.Fill] returns no error.
//
// What the loader has to know of actions, signatures and guards comes in a [Registry]. The
// package never talks to a cluster. Start reading at article.go, then load.go.
package kb
