package ui

import (
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model/text"
	"vksmedic/remedies"
	"vksmedic/ui/styles"
	"vksmedic/ui/widget"
)

// newCommands lists every command and request of this program that changed something, the
// newest first.
func newCommands() *listScreen {
	s := &listScreen{
		name: "commands", head: heading("Commands", "what this program changed, as the lines that would do the same"), rows: commandRows,
		keys: offering(func(k *KeyMap) []key.Binding { return []key.Binding{k.Back, k.Copy} }),
	}
	s.on = func(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
		if !key.Matches(k, m.keys.Copy) {
			return nil, false
		}
		for i := range m.commands {
			if c := &m.commands[i]; commandID(c, i) == s.list.At() {
				return m.copy("the command", c.Line), true
			}
		}
		return m.say(false, "there is no command to copy"), true
	}
	return s
}

func commandID(c *remedies.Command, i int) string { return c.At.String() + itoa(i) }

func commandRows(f *frame, _ string) rowList {
	st := f.styles
	if len(f.commands) == 0 {
		return rowList{line(st.Muted.Render("nothing was changed so far"))}
	}
	var rows rowList
	for i := len(f.commands) - 1; i >= 0; i-- {
		c := &f.commands[i]
		sign, style := styles.SignOk, &st.Ok
		if c.Err != "" {
			sign, style = styles.SignBad, &st.Danger
		}
		tail := clean(c.Where)
		if c.Took > 0 {
			tail += " " + c.Took.Round(time.Millisecond).String()
		}
		rows = append(rows, row{id: commandID(c, i), text: style.Render(sign) + " " + st.Muted.Render(c.At.UTC().Format("15:04:05Z")+"  "+tail)})
		lead := "  $ "
		for part := range strings.SplitSeq(text.CleanLines(c.Line), "\n") {
			for _, l := range widget.WrapHard(part, f.w-6) {
				rows = append(rows, line(lead+l))
				lead = "    "
			}
		}
		if c.Err != "" {
			for _, l := range widget.Wrap(clean(c.Err), f.w-6) {
				rows = append(rows, line("    "+st.Danger.Render(l)))
			}
		}
	}
	return rows
}
