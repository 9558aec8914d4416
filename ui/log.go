package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model/text"
	"vksmedic/ui/widget"
)

// newLog lists what the libraries and the API had to say, the newest first.
func newLog() *listScreen {
	return &listScreen{
		name: "log", head: heading("Log", "messages of the libraries and of the API; newest first"), rows: logRows,
		keys: offering(func(k *KeyMap) []key.Binding { return []key.Binding{k.Back, k.Copy} }),
		on: func(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
			if !key.Matches(k, m.keys.Copy) {
				return nil, false
			}
			var b strings.Builder
			for _, l := range m.log {
				b.WriteString(exact(l.At) + " " + l.Level + " " + text.CleanLines(l.Text) + "\n")
			}
			return m.copy("the log", b.String()), true
		},
	}
}

func logRows(f *frame, _ string) rowList {
	st := f.styles
	if len(f.log) == 0 {
		return rowList{line(st.Muted.Render("nothing was logged so far"))}
	}
	var rows rowList
	for i := len(f.log) - 1; i >= 0; i-- {
		l := f.log[i]
		style := &st.Muted
		switch l.Level {
		case "error":
			style = &st.Danger
		case "warning":
			style = &st.Warn
		}
		id, lead := itoa(i), st.Muted.Render(l.At.UTC().Format("15:04:05Z"))+" "+style.Render(widget.Pad(widget.CutEnd(clean(l.Level), 7), 9))
		for part := range strings.SplitSeq(text.CleanLines(text.Limit(l.Text, widget.LongestLine)), "\n") {
			for _, x := range widget.Wrap(part, f.w-22) {
				rows = append(rows, row{id: id, text: lead + x})
				id, lead = "", widget.Pad("", 19)
			}
		}
	}
	return rows
}
