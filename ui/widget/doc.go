// Package widget is what screens are made of: a list with one row selected, a table, a viewer
// for long texts, text that is cut and wrapped to cells, and [Arm], which tells whether
// something was on the screen long enough to be meant by a key.
//
// A widget knows nothing of Kubernetes, of articles or of the program around it. Its methods
// that move something are for the program's Update; those that draw change nothing. It gets
// clean text (vksmedic/model/text) and says how it looks in the words of vksmedic/ui/styles.
//
// Start reading at [List], then [Table].
package widget
