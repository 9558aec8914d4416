// Package ui is the screen: the Bubble Tea program that an engineer looks at and
// types into.
//
// There is one tea.Model, [Model]. Everything else is a plain struct with methods
// that it calls: the screens (fleet, cluster, machine, evidence, wizard, …) stand
// on a stack, the top one is drawn and gets the keys. Most screens are a list and
// nothing more: a listScreen, whose fields say what makes it differ from the others
// (screen.go). What they are made of (lists, tables, texts) is in ui/widget, how it
// looks in ui/styles.
//
// Update never does I/O: what takes time is a command that comes back as a message,
// and a command never changes the model. Only Update changes a screen. Last of all it
// prepares the one on top; what draws gets a frame (what is known now, and how much
// room there is) and changes nothing. What is shown comes in as immutable snapshots;
// what is changed goes out through [Wizard] and [Walk], which belong to package remedies.
//
// The rules of this room:
//
//   - Nothing that changes a cluster hangs on enter, or on a key that was pressed
//     before its preview was on the screen (widget.Arm keeps this).
//   - Text from a cluster goes through vksmedic/model/text before it is drawn,
//     copied or put in a title.
//   - What the help says is what the keys do: both come from [KeyMap].
//   - A row is drawn only if it is seen, by our own plain code (widget.List, widget.Table).
//
// It never talks to a cluster and never writes anything but the terminal. Start
// reading at [Run] and [Options], then [Model].
package ui
