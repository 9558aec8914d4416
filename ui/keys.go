package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"

	"vksmedic/ui/widget"
)

// KeyMap is every key of the program. The screens match against it, the last line
// and the help show it, and the README's table is made from it: there is no other
// place that says what a key does.
type KeyMap struct {
	// Everywhere.
	widget.Moves
	Back, Quit, Stop, Suspend key.Binding
	Help, Command, Refresh    key.Binding

	// Lists and what stands in them.
	Open, YAML, Describe, Copy key.Binding

	// The fleet.
	Filter, Namespace, Sort, All, Capture key.Binding

	// The evidence.
	Walk, Unknown key.Binding

	// Long texts.
	Search, NextMatch, PrevMatch, Left, Right, Wrap key.Binding

	// The wizard.
	Apply, Next, Choose, Answer, PrevStep, ByHand, Undo, Look, Leave key.Binding

	// The walks that were left.
	PutAway key.Binding

	// Lines that are typed into.
	Accept, Cancel key.Binding
}

// Keys returns the key map.
func Keys() *KeyMap {
	b := func(shown, does string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(shown, does))
	}
	return &KeyMap{
		Moves: widget.Moves{
			Up:       b("↑/k", "up", "up", "k"),
			Down:     b("↓/j", "down", "down", "j"),
			PageUp:   b("pgup", "page up", "pgup", "ctrl+b", "ctrl+u"),
			PageDown: b("pgdn", "page down", "pgdown", "ctrl+f", "ctrl+d", "space"),
			Top:      b("g/home", "first", "g", "home"),
			Bottom:   b("G/end", "last", "G", "end"),
		},
		Back:    b("esc/q", "back", "esc", "q"),
		Quit:    b("q", "quit", "q"),
		Stop:    b("ctrl+c", "quit from anywhere", "ctrl+c"),
		Suspend: b("ctrl+z", "give the terminal back to the shell; fg comes back", "ctrl+z"),
		Help:    b("?", "help", "?"),
		Command: b(":", "go to a view by name", ":"),
		Refresh: b("r", "look again now", "r"),

		Open:     b("enter", "open", "enter"),
		YAML:     b("y", "YAML", "y"),
		Describe: b("d", "describe, with events", "d"),
		Copy:     b("c", "copy", "c"),

		Filter:    b("/", "filter", "/"),
		Namespace: b("n", "namespace", "n"),
		Sort:      b("s", "sort", "s"),
		All:       b("a", "show all, or only what is flagged", "a"),
		Capture:   b("C", "capture all into a file", "C"),

		Walk:    b("enter", "walk the fix", "enter"),
		Unknown: b("u", "what would settle the unknown", "u"),

		Search:    b("/", "search", "/"),
		NextMatch: b("n", "next match", "n"),
		PrevMatch: b("N", "match before", "N"),
		Left:      b("←/h", "left", "left", "h"),
		Right:     b("→/l", "right", "right", "l"),
		Wrap:      b("w", "wrap long lines", "w"),

		Apply:    b("a", "apply what is previewed", "a"),
		Next:     b("enter", "go on", "enter"),
		Choose:   b("enter", "choose this", "enter"),
		Answer:   b("enter", "answer the question", "enter"),
		PrevStep: b("b", "step back", "b"),
		ByHand:   b("h", "I did it by hand", "h"),
		Undo:     b("u", "take back what was changed", "u"),
		Look:     b("r", "look again", "r"),
		Leave:    b("esc/q", "leave, nothing is lost", "esc", "q"),

		PutAway: b("X", "put a walk away", "X"),

		Accept: b("enter", "done", "enter"),
		Cancel: b("esc", "cancel", "esc", "ctrl+c"),
	}
}

// Group is the keys of one screen.
type Group struct {
	Name string
	Keys []key.Binding
}

// Groups are the keys by screen, in the order in which one meets them.
func (k *KeyMap) Groups() []Group {
	return []Group{
		{"Everywhere", []key.Binding{k.Up, k.Down, k.PageUp, k.PageDown, k.Top, k.Bottom, k.Help, k.Command, k.Refresh, k.Back, k.Stop, k.Suspend}},
		{"The fleet", []key.Binding{k.Open, k.Filter, k.Namespace, k.Sort, k.All, k.Capture, k.YAML, k.Describe, k.Copy, k.Quit}},
		{"A cluster, a Machine, lists", []key.Binding{k.Open, k.Filter, k.YAML, k.Describe, k.Copy}},
		{"The evidence", []key.Binding{k.Walk, k.Copy, k.YAML, k.Describe, k.Unknown}},
		{"YAML, describe, logs", []key.Binding{k.Search, k.NextMatch, k.PrevMatch, k.Left, k.Right, k.Wrap, k.Copy}},
		{"The wizard", []key.Binding{k.Next, k.Choose, k.Answer, k.Apply, k.PrevStep, k.ByHand, k.Undo, k.Look, k.YAML, k.Copy, k.Leave}},
		{"The walks that were left", []key.Binding{k.Open, k.PutAway, k.Copy}},
		{"A line that is typed into", []key.Binding{k.Accept, k.Cancel}},
	}
}

// Table is the keys as a table in Markdown, for the README.
func (k *KeyMap) Table() string {
	var b strings.Builder
	b.WriteString("| where | key | what it does |\n|---|---|---|\n")
	for _, g := range k.Groups() {
		where := g.Name
		for _, x := range g.Keys {
			b.WriteString("| " + where + " | `" + x.Help().Key + "` | " + x.Help().Desc + " |\n")
			where = ""
		}
	}
	b.WriteString("| Mouse | wheel, click | move, select; a second click opens. With shift the terminal selects text |\n")
	return b.String()
}

// shortHelp gives the words for the last line, which has no room for sentences.
func shortHelp(b key.Binding) (string, string) {
	h := b.Help()
	switch h.Desc {
	case "go to a view by name", "quit from anywhere", "up", "down", "page up", "page down", "first", "last":
		return "", "" // The help has them.
	case "show all, or only what is flagged":
		return h.Key, "show all"
	case "describe, with events":
		return h.Key, "describe"
	case "apply what is previewed":
		return h.Key, "apply"
	case "take back what was changed":
		return h.Key, "take back"
	case "I did it by hand":
		return h.Key, "by hand"
	case "what would settle the unknown":
		return h.Key, "unknown"
	case "capture all into a file":
		return h.Key, "capture"
	case "look again now":
		return h.Key, "look again"
	case "leave, nothing is lost":
		return "esc", h.Desc
	case "back":
		return "esc", "back"
	}
	return h.Key, h.Desc
}
