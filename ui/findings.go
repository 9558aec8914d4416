package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/ui/styles"
	"vksmedic/ui/widget"
)

// newFindings lists every finding of every cluster and of the Supervisor, the worst first.
func newFindings() *listScreen {
	return &listScreen{
		name: "findings", filters: true, head: heading("Findings", ""),
		keys: offering(func(k *KeyMap) []key.Binding { return []key.Binding{k.Open, k.Filter, k.YAML, k.Describe, k.Back} }),
		rows: func(f *frame, _ string) rowList {
			if f.snap == nil {
				return nil
			}
			all := f.snap.Findings()
			if len(all) == 0 {
				return rowList{line(f.styles.Ok.Render(styles.SignOk) + " nothing is flagged")}
			}
			return findingRows(f, all, true)
		},
	}
}

// severity is the sign and the style of a severity.
func severity(st *styles.Styles, s model.Severity) (string, *styles.Style) {
	switch s {
	case model.Critical:
		return styles.SignBad, &st.Danger
	case model.Warning:
		return styles.SignWarn, &st.Warn
	case model.Info:
		return styles.SignInfo, &st.Accent
	}
	return styles.SignQuiet, &st.Muted
}

// findingRows is a row for each finding, with the place where it was made or without; each opens
// its evidence.
func findingRows(f *frame, all []*model.Finding, places bool) rowList {
	st := f.styles
	columns := []widget.Column{{Sign: true}, {Least: 12}, {Least: 20, Sentence: true}, {}, {Right: true}}
	if !places {
		columns = append(columns[:1], columns[2:]...)
	}
	table := widget.NewTable(columns...)
	for _, x := range all {
		sign, style := severity(st, x.Severity)
		age := ""
		if !x.Since.IsZero() {
			age = text.Since(f.now, x.Since)
		}
		cells := []widget.Cell{{Text: sign, Style: style}}
		if places {
			cells = append(cells, widget.Cell{Text: placeName(foundIn(x))})
		}
		table.Add(append(cells, widget.Cell{Text: clean(x.Summary), Style: style}, widget.Cell{Text: string(x.Confidence), Style: &st.Muted}, widget.Cell{Text: age, Style: &st.Muted})...)
	}
	table.Fit(f.w - 1)
	rows := make(rowList, 0, len(all))
	for i, x := range all {
		at, id := foundIn(x), x.Key()
		rows = append(rows, row{
			id:     "finding " + placeName(at) + " " + id,
			draw:   func() string { return table.Row(i) },
			target: subject(x),
			open:   func(m *Model) tea.Cmd { return m.push(newEvidence(at, id)) },
		})
	}
	return rows
}

// subject is the object that a finding is about; nil where it names none.
func subject(x *model.Finding) *Target {
	if len(x.Subjects) == 0 {
		return nil
	}
	in := onSupervisor()
	if inWorkload(x.Subjects[0].Kind) {
		in = foundIn(x)
	}
	return &Target{Ref: x.Subjects[0], In: in}
}

func inWorkload(kind string) bool {
	switch kind {
	case "Node", "Pod", "PodDisruptionBudget", "VolumeAttachment":
		return true
	}
	return false
}

// findingWords is what the fleet says about a cluster's findings.
func findingWords(c *model.Cluster) string {
	w := c.Worst()
	if w == nil {
		return ""
	}
	s := clean(w.Short)
	if s == "" {
		s = clean(w.Summary)
	}
	if w.Confidence == model.Suspected {
		s += "?"
	}
	if n := len(c.Findings) - 1; n > 0 {
		s += " +" + itoa(n)
	}
	return s
}
