// Package text cleans text from a cluster before it is shown. Anybody who may write to
// the cluster can choose names, messages and labels, so none of it is drawn, logged or
// put into a command before [Clean] (one line) or [CleanLines] (several) has cleaned
// it.
//
// It also has the forms that the whole program writes alike, such as [Age]. It knows
// nothing about terminals: code that needs the width of characters is in package ui.
package text
