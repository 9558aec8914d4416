package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// captureMsg is how far a capture is, or how it ended.
type captureMsg struct {
	far   string
	ended bool
	file  string
	err   error
}

// takeCapture starts a capture in the background, one at a time.
func (m *Model) takeCapture() tea.Cmd {
	take, ctx := m.o.Capture, m.ctx
	switch {
	case m.o.Where.Dump != "":
		return m.say(false, "this is a dump already: copy the file")
	case take == nil:
		return m.say(false, "there is nothing to capture here")
	case m.capturing != nil:
		return m.say(false, "a capture is being written already")
	}
	far := make(chan string, 1)
	m.capturing = far
	report := func(s string) {
		select {
		case far <- s:
		default: // The screen has not shown the one before yet.
		}
	}
	return tea.Batch(
		m.say(false, "taking a capture; you can go on meanwhile"),
		guard("taking a capture", func() (msg tea.Msg) {
			defer func() {
				close(far)
				if r := recover(); r != nil {
					msg = captureMsg{ended: true, err: fmt.Errorf("it failed inside vksmedic: %v; please report it", r)}
				}
			}()
			file, err := take(ctx, report)
			return captureMsg{ended: true, file: file, err: err}
		}),
		receive(ctx, far, farMsg),
	)
}

func farMsg(s string) tea.Msg { return captureMsg{far: s} }

// gotCapture shows how far it is. What was said of the end is in the log too, for whoever looked away.
func (m *Model) gotCapture(msg captureMsg) tea.Cmd {
	if !msg.ended {
		if m.capturing == nil {
			return nil
		}
		next := receive(m.ctx, m.capturing, farMsg)
		if m.flash != "" && m.flashBad {
			return next // What went wrong elsewhere is not covered up.
		}
		return batch(m.say(false, "capture: "+msg.far), next)
	}
	m.capturing = nil
	words, level := "captured into "+msg.file, "info"
	if msg.err != nil {
		words, level = "no capture: "+msg.err.Error(), "error"
	}
	m.log = keep(m.log, LogLine{At: m.o.Now(), Level: level, Text: words})
	return m.say(msg.err != nil, words)
}
