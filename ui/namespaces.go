package ui

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/model/lifecycle"
	"vksmedic/ui/styles"
	"vksmedic/ui/widget"
)

// newNamespaces lets one choose a vSphere Namespace for the fleet.
func newNamespaces(fleet *fleet) *listScreen {
	return &listScreen{
		name: "namespaces", head: heading("vSphere Namespaces", ""),
		keys: offering(func(k *KeyMap) []key.Binding { return []key.Binding{k.Open, k.Back} }),
		rows: func(f *frame, _ string) rowList { return namespaceRows(f, fleet) },
	}
}

// inNamespace counts the clusters of a vSphere Namespace, and those of them that are flagged.
type inNamespace struct{ clusters, flagged int }

func namespaceRows(f *frame, fleet *fleet) rowList {
	if f.snap == nil {
		return nil
	}
	by := map[string]*inNamespace{}
	total := &inNamespace{}
	var names []string
	for _, c := range f.snap.Clusters {
		n := by[c.Ref.Namespace]
		if n == nil {
			n = &inNamespace{}
			by[c.Ref.Namespace] = n
			names = append(names, c.Ref.Namespace)
		}
		n.clusters++
		total.clusters++
		if fleetRank(c, lifecycle.MovementOf(c), f.now) <= model.Warning.Rank() {
			n.flagged++
			total.flagged++
		}
	}
	slices.Sort(names)
	pick := func(ns, shown string, n *inNamespace) row {
		mark := "  "
		if fleet.namespace == ns {
			mark = styles.SignHere + " "
		}
		s := mark + widget.Pad(widget.CutMiddle(shown, 34), 36) + widget.Pad(plural(n.clusters, "cluster", "clusters"), 14)
		if n.flagged > 0 {
			s += f.styles.Danger.Render(itoa(n.flagged) + " flagged")
		}
		return row{id: "ns " + ns, text: s, open: func(m *Model) tea.Cmd {
			fleet.namespace = ns
			return m.home(nil)
		}}
	}
	rows := rowList{pick("", "all namespaces", total)}
	for _, n := range names {
		rows = append(rows, pick(n, clean(n), by[n]))
	}
	return rows
}
