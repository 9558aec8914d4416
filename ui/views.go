package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// namedView is a screen that can be opened by its name.
type namedView struct {
	names []string
	about string
	open  func(m *Model) tea.Cmd
}

func named() []namedView {
	return []namedView{
		{[]string{"fleet", "clusters"}, "every cluster", func(m *Model) tea.Cmd { return m.home(nil) }},
		{[]string{"findings"}, "every finding, worst first", func(m *Model) tea.Cmd { return m.home(newFindings()) }},
		{[]string{"sources"}, "what is looked at, and how that goes", func(m *Model) tea.Cmd { return m.push(newSources()) }},
		{[]string{"commands"}, "what this program changed", func(m *Model) tea.Cmd { return m.push(newCommands()) }},
		{[]string{"log"}, "messages of the libraries", func(m *Model) tea.Cmd { return m.push(newLog()) }},
		{[]string{"namespaces", "ns"}, "choose a vSphere Namespace", func(m *Model) tea.Cmd { return m.home(newNamespaces(m.fleet)) }},
		{[]string{"walks"}, "fixes that were left before their end", func(m *Model) tea.Cmd { return m.askPending(false) }},
		{[]string{"help"}, "the keys", func(m *Model) tea.Cmd { return m.push(newHelp(m.top())) }},
		{[]string{"quit", "q"}, "leave", func(m *Model) tea.Cmd { return m.quit() }},
	}
}

// askView opens the line for a view's or a cluster's name.
func (m *Model) askView() tea.Cmd {
	return m.ask(prompt{
		label:  ":",
		accept: func(m *Model, s string) tea.Cmd { return m.openByName(strings.TrimSpace(s)) },
		hint: func(s string) string {
			var fit []string
			for _, v := range named() {
				if strings.HasPrefix(v.names[0], s) {
					fit = append(fit, v.names[0])
				}
			}
			if s == "" {
				fit = append(fit, "or a cluster's name")
			}
			return strings.Join(fit, " · ")
		},
	}, "")
}

func (m *Model) openByName(s string) tea.Cmd {
	if s == "" {
		return nil
	}
	for _, v := range named() {
		if slices.Contains(v.names, s) {
			return v.open(m)
		}
	}
	for _, v := range named() {
		if strings.HasPrefix(v.names[0], s) {
			return v.open(m)
		}
	}
	if m.snap != nil {
		for _, c := range m.snap.Clusters {
			if c.Ref.String() == s || c.Ref.Name == s {
				return m.home(newCluster(c.Ref))
			}
		}
	}
	return m.say(true, "there is no view and no cluster called "+s+"; : alone shows the views")
}
