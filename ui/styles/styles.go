// Package styles says how things look: a palette of colours becomes a [Styles]
// of meanings, and the screens only speak of meanings (Danger, never red). What
// is shown by a colour is always shown by a sign or a word too, so that a
// terminal without colours, or an eye without them, loses nothing.
//
// It never writes to a terminal and knows nothing of what is drawn. Start
// reading at [Styles], then [New].
package styles

import (
	"fmt"
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Style writes a piece of text in one meaning. Its end undoes only what its
// beginning did, so that styles can stand inside one another: a red word in a
// selected row keeps the row's background.
type Style struct {
	open, end string
	lip       lipgloss.Style
}

// Render returns s in this style.
func (s Style) Render(text string) string {
	if s.open == "" || text == "" {
		return text
	}
	return s.open + text + s.end
}

// Lip is the same style for components that want Lip Gloss.
func (s Style) Lip() lipgloss.Style { return s.lip }

// Sequences is a style that writes these two sequences around a text, for who has styles of
// their own, such as a test that wants to read which meaning a text has. Components that want
// Lip Gloss get it reversed.
func Sequences(open, end string) Style {
	return Style{open: open, end: end, lip: lipgloss.NewStyle().Reverse(true)}
}

// Styles are the meanings that a screen can give to text.
type Styles struct {
	// Danger is for what needs a person now; Warn for what is wrong and can wait;
	// Ok for what is in good health.
	Danger, Warn, Ok Style
	// Muted is for what is there to be found and not to be read: times, sources, hints.
	Muted Style
	// Accent is the one colour that stands out without meaning trouble: keys, the
	// step one is at.
	Accent Style
	// Strong is for titles and for what the eye should find first.
	Strong Style
	// Head is for the heads of columns.
	Head Style
	// Added and Removed are lines of a diff.
	Added, Removed Style
	// Match is what a search found.
	Match Style
	// Selected is the row one is on.
	Selected Style
	// DangerStrong is for a sentence that must not be overlooked.
	DangerStrong Style
}

// Palette is what a [Styles] is made of. A nil colour is the terminal's own.
type Palette struct {
	Danger, Warn, Ok, Muted, Accent color.Color
	// SelectedBack is the background of the selected row; nil draws it in reverse.
	SelectedBack color.Color
	// FaintMuted draws muted text faint, for palettes without a grey.
	FaintMuted bool
}

// Dark is the palette for dark backgrounds.
func Dark() Palette {
	return Palette{
		Danger: lipgloss.Color("#ff7b72"), Warn: lipgloss.Color("#e3b341"), Ok: lipgloss.Color("#7fb685"),
		Muted: lipgloss.Color("#8b949e"), Accent: lipgloss.Color("#79c0ff"), SelectedBack: lipgloss.Color("#2d3643"),
	}
}

// Light is the palette for light backgrounds.
func Light() Palette {
	return Palette{
		Danger: lipgloss.Color("#b3001b"), Warn: lipgloss.Color("#7a4f00"), Ok: lipgloss.Color("#1a6b32"),
		Muted: lipgloss.Color("#5b636d"), Accent: lipgloss.Color("#0550ae"), SelectedBack: lipgloss.Color("#d7e3f4"),
	}
}

// Sixteen is the palette for terminals with sixteen colours, whose shades the
// user chose: red, yellow, green and cyan are readable on what they are used to.
func Sixteen() Palette {
	return Palette{
		Danger: lipgloss.Red, Warn: lipgloss.Yellow, Ok: lipgloss.Green, Accent: lipgloss.Cyan, FaintMuted: true,
	}
}

// Plain is the palette without colours: bold, faint, underlined and reversed text only.
func Plain() Palette { return Palette{FaintMuted: true} }

// New makes the styles for a terminal: how many colours it has (none with
// NO_COLOR) and whether its background is dark.
func New(profile colorprofile.Profile, dark bool) Styles {
	switch {
	case profile <= colorprofile.ASCII:
		return From(Plain())
	case profile == colorprofile.ANSI:
		return From(Sixteen())
	case dark:
		return From(Dark())
	default:
		return From(Light())
	}
}

// From makes styles from a palette.
func From(p Palette) Styles {
	return Styles{
		Danger:       build(traits{fore: p.Danger}),
		DangerStrong: build(traits{fore: p.Danger, bold: true}),
		Warn:         build(traits{fore: p.Warn}),
		Ok:           build(traits{fore: p.Ok}),
		Muted:        build(traits{fore: p.Muted, faint: p.FaintMuted}),
		Accent:       build(traits{fore: p.Accent, bold: p.Accent == nil}),
		Strong:       build(traits{bold: true}),
		Head:         build(traits{fore: p.Muted, faint: p.FaintMuted}),
		Added:        build(traits{fore: p.Ok}),
		Removed:      build(traits{fore: p.Danger}),
		Match:        build(traits{reverse: true}),
		Selected:     build(traits{back: p.SelectedBack, reverse: p.SelectedBack == nil}),
	}
}

type traits struct {
	fore, back           color.Color
	bold, faint, reverse bool
}

// build writes the sequences by hand where Lip Gloss would end with a full reset:
// that would also end the style around it.
func build(l traits) Style {
	lip := lipgloss.NewStyle()
	var open, end ansi.Style
	if l.fore != nil {
		lip = lip.Foreground(l.fore)
		open, end = open.ForegroundColor(l.fore), end.ForegroundColor(nil)
	}
	if l.back != nil {
		lip = lip.Background(l.back)
		open, end = open.BackgroundColor(l.back), end.BackgroundColor(nil)
	}
	if l.bold {
		lip = lip.Bold(true)
		open = open.Bold()
	}
	if l.faint {
		lip = lip.Faint(true)
		open = open.Faint()
	}
	if l.bold || l.faint {
		end = end.Normal()
	}
	if l.reverse {
		lip = lip.Reverse(true)
		open, end = open.Reverse(true), end.Reverse(false)
	}
	s := Style{lip: lip}
	if len(open) > 0 {
		s.open, s.end = fmt.Sprint(open), fmt.Sprint(end)
	}
	return s
}
