// Package text makes words from a cluster fit to be shown. Names, messages and
// labels are written by whoever may write to the cluster, so nothing of it is
// drawn, logged or put into a command before it went through [Clean] (one line)
// or [CleanLines] (several).
//
// It also has the few forms in which the program writes things everywhere alike,
// such as [Age]. It knows nothing about terminals: what needs the width of
// characters is in the rooms that draw.
package text
