package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model"
	"vksmedic/remedies"
	"vksmedic/ui/styles"
	"vksmedic/ui/widget"
)

// offersOf are the articles that can be walked for a finding.
func (m *Model) offersOf(f *model.Finding) []remedies.Offer {
	if f == nil || m.o.Wizard == nil || m.o.Where.Dump != "" {
		return nil
	}
	return m.o.Wizard.Offers(f)
}

// walkFinding begins the article of a finding, or asks which where there are several.
func (m *Model) walkFinding(f *model.Finding) tea.Cmd {
	offers := m.offersOf(f)
	switch len(offers) {
	case 0:
		return m.say(false, m.whyNoWalk())
	case 1:
		return m.beginWalk(f, offers[0].ID)
	}
	return m.push(newOffers(f, offers))
}

func (m *Model) whyNoWalk() string {
	switch {
	case m.o.Where.Dump != "":
		return "a dump cannot be mended: start vksmedic against the Supervisor"
	case m.o.Wizard == nil:
		return "fixes cannot be walked here"
	}
	return "there is no article to walk for this"
}

// beginWalk begins one article for a finding.
func (m *Model) beginWalk(f *model.Finding, article string) tea.Cmd {
	wiz := m.o.Wizard
	w := &wizard{words: f.Summary, at: foundIn(f), busy: "opening the article …"}
	return batch(m.push(w), w.start(func() (Walk, error) { return wiz.Begin(m.ctx, f, article) }))
}

// newOffers lets one choose among the articles of a finding.
func newOffers(x *model.Finding, offers []remedies.Offer) *listScreen {
	return &listScreen{
		name: "articles", at: foundIn(x),
		keys: offering(func(k *KeyMap) []key.Binding { return []key.Binding{k.Walk, k.Back} }),
		head: func(f *frame) []string {
			return []string{f.styles.Strong.Render("Several articles are for this: which one?"), f.styles.Muted.Render(clean(x.Summary)), ""}
		},
		rows: func(f *frame, _ string) rowList { return offerRows(f, x, offers) },
	}
}

func offerRows(f *frame, x *model.Finding, offers []remedies.Offer) rowList {
	st := f.styles
	var rows rowList
	for i := range offers {
		o := &offers[i]
		rows = append(rows, row{
			id: o.ID + " " + o.From, text: styles.SignHere + " " + st.Strong.Render(clean(o.Title)),
			open: func(m *Model) tea.Cmd {
				// The list is done with: esc leads from the walk to the finding.
				return batch(m.pop(), m.beginWalk(x, o.ID))
			},
		})
		whose := "built in"
		if o.From != "" {
			whose = "from " + clean(o.From)
		}
		if o.KB != "" {
			whose += " · KB " + clean(o.KB)
		}
		for _, s := range []string{whose, clean(o.Address)} {
			for _, l := range widget.Wrap(s, f.w-5) {
				if l != "" {
					rows = append(rows, line("  "+st.Muted.Render(l)))
				}
			}
		}
		rows = append(rows, line(""))
	}
	return rows
}
