package ui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/ui/styles"
	"vksmedic/ui/widget"
)

// newHelp shows the keys of the screen it was called from, and those of all others.
func newHelp(about screen) *listScreen {
	return &listScreen{
		name: "help", at: about.place(), still: true,
		keys: offering(func(k *KeyMap) []key.Binding { return []key.Binding{k.Back} }),
		rows: func(f *frame, _ string) rowList { return helpRows(f, about) },
		on: func(m *Model, k tea.KeyPressMsg) (tea.Cmd, bool) {
			if key.Matches(k, m.keys.Help) {
				return m.pop(), true
			}
			return nil, false
		},
	}
}

func helpRows(f *frame, about screen) rowList {
	st := f.styles
	var rows rowList
	group := func(title string, keys []key.Binding) {
		rows = append(rows, line(st.Strong.Render(title)))
		perLine := 1
		if f.w >= 150 {
			perLine = 3
		} else if f.w >= 72 {
			perLine = 2
		}
		cell := (f.w - 4) / perLine
		var b strings.Builder
		for i, x := range keys {
			h := x.Help()
			b.WriteString("  " + st.Accent.Render(widget.Pad(h.Key, 8)) + " " + widget.Pad(widget.CutEnd(h.Desc, cell-12), cell-11))
			if i%perLine == perLine-1 || i == len(keys)-1 {
				rows = append(rows, line(strings.TrimRight(b.String(), " ")))
				b.Reset()
			}
		}
		rows = append(rows, line(""))
	}
	here := slices.DeleteFunc(slices.Clone(about.bindings(f)), func(x key.Binding) bool {
		k, _ := shortHelp(x)
		return k == ""
	})
	group("On this screen", here)
	for _, g := range f.keys.Groups() {
		group(g.Name, g.Keys)
	}
	rows = append(rows, line(st.Strong.Render("Views, after :")))
	for _, v := range named() {
		rows = append(rows, line("  "+st.Accent.Render(widget.Pad(v.names[0], 12))+v.about))
	}
	rows = append(rows, line(""), line(st.Strong.Render("Signs")),
		line("  "+st.Danger.Render(styles.SignBad+" critical")+"   "+st.Warn.Render(styles.SignWarn+" warning")+"   "+st.Accent.Render(styles.SignInfo+" info")+
			"   "+st.Ok.Render(styles.SignOk+" well")+"   "+st.Warn.Render(styles.SignUnknown+" unknown")),
		line("  "+st.Muted.Render(styles.SignQuiet+" under way, paused or silent")+"   "+st.Warn.Render(styles.SignNotSeen+" not seen")))
	for _, l := range widget.Wrap("The mouse wheel moves, a click selects, a second one opens; with shift the terminal selects text.", f.w-4) {
		rows = append(rows, line("  "+st.Muted.Render(l)))
	}
	return rows
}
