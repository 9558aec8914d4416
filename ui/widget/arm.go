package widget

import (
	"bytes"
	"io"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Arm keeps the rule that a change is only accepted by a key that was pressed when
// its preview stood on the screen. A preview goes through three states:
//
//	laid:   Update has the preview; the next View draws it.
//	shown:  a frame that holds it was handed to the renderer. The count of writes is
//	        taken now: the renderer writes one frame after the other, so the next
//	        write is of this frame or a later one.
//	armed:  something was written since, long enough ago for an eye to have seen it,
//	        and every line of the preview has been on the screen.
//
// A preview longer than the screen goes through them with each page; a page that was turned
// before its frame was written has not been read.
//
// Only then "a apply" is drawn, and only then the key works. A key that comes
// earlier was typed ahead and is thrown away. Another preview begins anew.
type Arm struct {
	token string
	state armState
	// turn numbers the beginnings, so that a message meant for an earlier one does nothing.
	turn int
	// writes is the count of the terminal's writes when the state became shown.
	writes int64
	// read is how many of the preview's lines have been on the screen, from its top; the
	// frame that was laid last holds those from from up to upTo.
	read, from, upTo, lines int
	// again has the mark on the last line be another, see step.
	again bool
}

// Timer is tea.Tick: a message after a while.
type Timer func(d time.Duration, then func(time.Time) tea.Msg) tea.Cmd

type armState int

const (
	armNone armState = iota
	armLaid
	armShown
	armArmed
)

// StandFor is how long a preview has to stand before a key can mean it: below it,
// nobody could have read anything, so the key was pressed for something else.
const StandFor = 350 * time.Millisecond

// ArmMsg moves a preview on; turn says which beginning it belongs to.
type ArmMsg struct{ turn int }

// Lay takes what the next View draws: the lines from from up to upTo, of all, of the
// preview with this token (empty for none). Another token, or lines that were not seen
// before, begin anew. Whoever jumps to the end has not read what lies between. It
// returns a command while there is something to wait for. written is the terminal's count
// of writes.
func (a *Arm) Lay(token string, from, upTo, all int, written int64) tea.Cmd {
	upTo = min(upTo, all)
	switch {
	case token == "":
		a.Clear()
		return nil
	case token != a.token:
		*a = Arm{turn: a.turn, token: token}
	case all != a.lines:
		// Wrapped anew by a resize: what was read to its end stays read.
		a.seen(written)
		if a.read == a.lines {
			a.read = all
		} else {
			a.read = 0
		}
	case from == a.from && upTo == a.upTo:
		return nil
	default:
		a.seen(written)
		if a.state == armArmed && (upTo <= a.read || from > a.read) {
			a.from, a.upTo = from, upTo
			return nil // nothing to read on.
		}
	}
	a.from, a.upTo, a.lines = from, upTo, all
	a.turn++
	a.state = armLaid
	turn := a.turn
	return func() tea.Msg { return ArmMsg{turn} }
}

// Cover is told while another screen is drawn over the preview: what was not yet known to be
// on the screen is laid anew when the preview comes back.
func (a *Arm) Cover() {
	if a.state == armLaid || a.state == armShown {
		a.state, a.from, a.upTo = armNone, -1, -1
		a.turn++
	}
}

// OnScreen says whether the frame that was laid last was written.
func (a *Arm) OnScreen(written int64) bool {
	return a.state == armArmed || a.state == armShown && written != a.writes
}

// seen counts what was laid last as read if its frame was written.
func (a *Arm) seen(written int64) {
	if a.OnScreen(written) && !a.Skipped() {
		a.read = max(a.read, a.upTo)
	}
}

// Of says whether this is the preview that was laid last.
func (a *Arm) Of(token string) bool { return a.token == token }

// Clear is told where no preview is drawn.
func (a *Arm) Clear() {
	if a.state != armNone {
		*a = Arm{turn: a.turn + 1}
	}
}

// Above is how many lines were skipped, see [Arm.Skipped].
func (a *Arm) Above() int { return max(0, a.from-a.read) }

// Waits says that the frame was handed over and nothing was written since.
func (a *Arm) Waits() bool { return a.state == armShown }

// Skipped says that lines above those on the screen were never on it.
func (a *Arm) Skipped() bool { return a.from > a.read }

// Step moves on; written is the terminal's count of writes.
func (a *Arm) Step(msg ArmMsg, written int64, timer Timer) tea.Cmd {
	if msg.turn != a.turn {
		return nil
	}
	switch a.state {
	case armLaid:
		// This message comes after the View that drew the preview was handed over. From
		// here on the last line of the screen is another, so that there will be a write.
		a.state, a.writes = armShown, written
		return standing(a.turn, timer)
	case armShown:
		if written == a.writes {
			// The very frame may have stood there already, so that there was nothing to
			// write. With another mark there is.
			a.again = !a.again
			return standing(a.turn, timer)
		}
		a.seen(written)
		a.state = armArmed
	case armNone, armArmed:
	}
	return nil
}

func standing(turn int, timer Timer) tea.Cmd {
	return timer(StandFor, func(time.Time) tea.Msg { return ArmMsg{turn} })
}

// Mark stands on the last line while a frame is waited for.
func (a *Arm) Mark() string {
	switch {
	case a.state != armShown:
		return ""
	case a.again:
		return " ‥"
	}
	return " …"
}

// Unread is how many lines of the preview have not been on the screen, nor are they now.
func (a *Arm) Unread() int {
	if a.Skipped() {
		return a.lines - a.read
	}
	return a.lines - max(a.read, a.upTo)
}

// Armed says whether a key pressed now means this preview.
func (a *Arm) Armed(token string) bool {
	return token != "" && token == a.token && a.state == armArmed && a.read == a.lines
}

// Count wraps the terminal so that its writes are counted.
func Count(w io.Writer) (io.Writer, *atomic.Int64) {
	n := new(atomic.Int64)
	if f, ok := w.(file); ok {
		return countedFile{f, n}, n
	}
	return countedWriter{w, n}, n
}

// file is what Bubble Tea takes for a terminal that it can ask for its size.
type file interface {
	io.ReadWriteCloser
	Fd() uintptr
}

// countedFile stays a file, so that Bubble Tea sees a terminal in it.
type countedFile struct {
	file
	n *atomic.Int64
}

func (c countedFile) Write(p []byte) (int, error) {
	n, err := c.file.Write(p)
	tally(c.n, p)
	return n, err //nolint:wrapcheck // The terminal's own error, for Bubble Tea.
}

type countedWriter struct {
	w io.Writer
	n *atomic.Int64
}

func (c countedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	tally(c.n, p)
	return n, err //nolint:wrapcheck // The terminal's own error, for Bubble Tea.
}

// tally counts a write after it was done. What goes to the clipboard is no frame.
func tally(n *atomic.Int64, p []byte) {
	if !bytes.HasPrefix(p, []byte("\x1b]52;")) {
		n.Add(1)
	}
}
