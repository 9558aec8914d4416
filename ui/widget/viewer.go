package widget

import (
	"regexp"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"

	"vksmedic/model/text"
	"vksmedic/ui/styles"
)

// LongestLine and mostLines bound what is shown of a text, in bytes and lines.
const (
	LongestLine = 4096
	mostLines   = 100_000
)

// WheelLines is how many lines a turn of the wheel moves.
const WheelLines = 3

const sideways = 8

// Viewer shows a long text, which can be searched, scrolled sideways and wrapped.
type Viewer struct {
	text   string
	port   viewport.Model
	search string
	found  int
}

// NewViewer shows a text.
func NewViewer(s string) *Viewer {
	v := &Viewer{port: viewport.New()}
	v.port.SetHorizontalStep(sideways)
	v.Set(s)
	return v
}

// Set changes the text; one stays at the line where one was. It is cleaned and bounded.
func (v *Viewer) Set(s string) {
	lines := strings.Split(text.CleanLines(strings.ReplaceAll(s, "\t", "    ")), "\n")
	if len(lines) > mostLines {
		lines = append(lines[:mostLines], "… and "+strconv.Itoa(len(lines)-mostLines)+" lines more")
	}
	for i := range lines {
		lines[i] = text.Limit(lines[i], LongestLine)
	}
	at := v.port.YOffset()
	v.text = strings.Join(lines, "\n")
	v.port.SetContent(v.text)
	v.port.SetYOffset(at)
	v.find()
}

// Text is what is shown, whole.
func (v *Viewer) Text() string { return v.text }

// Searched is what was searched for last, empty for nothing; found how often it is there.
func (v *Viewer) Searched() (s string, found int) { return v.search, v.found }

// Search finds a text, whatever its case, and goes to the first place.
func (v *Viewer) Search(s string) {
	v.search = s
	v.find()
}

func (v *Viewer) find() {
	v.port.ClearHighlights()
	v.found = 0
	if v.search == "" || v.text == "" {
		return
	}
	re, err := regexp.Compile("(?i)" + regexp.QuoteMeta(v.search))
	if err != nil {
		return
	}
	const most = 5000
	at := re.FindAllStringIndex(v.text, most)
	v.found = len(at)
	v.port.SetHighlights(at)
	v.port.HighlightNext()
}

// Match goes to the next match, or to the one before.
func (v *Viewer) Match(next bool) {
	if next {
		v.port.HighlightNext()
	} else {
		v.port.HighlightPrevious()
	}
}

// Sideways scrolls to the right, or to the left.
func (v *Viewer) Sideways(right bool) {
	if right {
		v.port.ScrollRight(sideways)
	} else {
		v.port.ScrollLeft(sideways)
	}
}

// Wrap wraps long lines, or not any more.
func (v *Viewer) Wrap() {
	v.port.SoftWrap = !v.port.SoftWrap
	v.port.SetXOffset(0)
}

// Key scrolls; it says whether the key was one of its own.
func (v *Viewer) Key(k tea.KeyPressMsg, keys *Moves) bool {
	switch {
	case key.Matches(k, keys.Up):
		v.port.ScrollUp(1)
	case key.Matches(k, keys.Down):
		v.port.ScrollDown(1)
	case key.Matches(k, keys.PageUp):
		v.port.PageUp()
	case key.Matches(k, keys.PageDown):
		v.port.PageDown()
	case key.Matches(k, keys.Top):
		v.port.GotoTop()
	case key.Matches(k, keys.Bottom):
		v.port.GotoBottom()
	default:
		return false
	}
	return true
}

// Wheel scrolls by a turn of the wheel.
func (v *Viewer) Wheel(down bool) {
	if down {
		v.port.ScrollDown(WheelLines)
	} else {
		v.port.ScrollUp(WheelLines)
	}
}

// Lay fits the text into w cells and h lines.
func (v *Viewer) Lay(st *styles.Styles, w, h int) {
	v.port.HighlightStyle = st.Match.Lip()
	v.port.SelectedHighlightStyle = st.Match.Lip().Bold(true)
	v.port.SetWidth(w)
	v.port.SetHeight(h)
}

// Below is how many lines were on the screen or above it, of all; ok is false where all fit.
func (v *Viewer) Below() (seen, all int, ok bool) {
	all = v.port.TotalLineCount()
	return min(v.port.YOffset()+v.port.Height(), all), all, all > v.port.Height()
}

// Draw gives the lines that are seen.
func (v *Viewer) Draw() []string {
	lines := strings.Split(v.port.View(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}
