package ui

import "vksmedic/ui/widget"

// rect is a part of the terminal, in cells from its top left corner.
type rect struct{ x, y, w, h int }

// layout is where everything stands. It is computed here and nowhere else.
type layout struct {
	// header is two lines that say where one is; body is the screen; message is a line
	// for what just happened; footer is the keys, or the line that is typed into.
	header, body, message, footer rect
	// tooSmall says that the terminal has no room for any of it.
	tooSmall bool
}

// The smallest terminal in which the screens can be read.
const (
	leastWidth  = 60
	leastHeight = 15
)

func lay(w, h int) layout {
	if w < leastWidth || h < leastHeight {
		return layout{tooSmall: true}
	}
	return layout{
		header:  rect{0, 0, w, 2},
		body:    rect{0, 3, w, h - 5},
		message: rect{0, h - 2, w, 1},
		footer:  rect{0, h - 1, w, 1},
	}
}

// The wizard's steps stand beside what they show where there is room for both.
const (
	wizardSideBySide = 100
	wizardSteps      = 34
)

// wizardLayout divides the body of the wizard, its title excluded: a column of
// steps and the content, or the content alone under one line of steps.
func wizardLayout(body rect) (steps, content rect) {
	if body.w >= wizardSideBySide {
		return rect{body.x, body.y, wizardSteps, body.h},
			rect{body.x + wizardSteps + widget.Gap, body.y, body.w - wizardSteps - widget.Gap, body.h}
	}
	return rect{body.x, body.y, body.w, 1}, rect{body.x, body.y + 2, body.w, body.h - 2}
}

// evidenceDetail is how many lines the evidence keeps for the check one is on.
func evidenceDetail(h int) int {
	switch {
	case h >= 40:
		return 9
	case h >= 25:
		return 7
	default:
		return 5
	}
}
