package ui

import (
	"bytes"
	"io"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// arm keeps the rule that a change is only accepted by a key that was pressed when
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
type arm struct {
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

type armState int

const (
	armNone armState = iota
	armLaid
	armShown
	armArmed
)

// settle is how long a preview has to stand before a key can mean it: below it,
// nobody could have read anything, so the key was pressed for something else.
const settle = 350 * time.Millisecond

// armMsg moves a preview on; turn says which beginning it belongs to.
type armMsg struct{ turn int }

// lay takes what the next View draws: the lines from from up to upTo, of all, of the
// preview with this token (empty for none). Another token, or lines that were not seen
// before, begin anew. Whoever jumps to the end has not read what lies between. It
// returns a command while there is something to wait for. written is the terminal's count
// of writes.
func (a *arm) lay(token string, from, upTo, all int, written int64) tea.Cmd {
	upTo = min(upTo, all)
	switch {
	case token == "":
		*a = arm{turn: a.turn + 1}
		return nil
	case token != a.token:
		*a = arm{turn: a.turn, token: token}
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
	return func() tea.Msg { return armMsg{turn} }
}

// cover is told while another screen is drawn over the preview: what was not yet known to be
// on the screen is laid anew when the preview comes back.
func (a *arm) cover() {
	if a.state == armLaid || a.state == armShown {
		a.state, a.from, a.upTo = armNone, -1, -1
		a.turn++
	}
}

// onScreen says whether the frame that was laid last was written.
func (a *arm) onScreen(written int64) bool {
	return a.state == armArmed || a.state == armShown && written != a.writes
}

// seen counts what was laid last as read if its frame was written.
func (a *arm) seen(written int64) {
	if a.onScreen(written) && !a.skipped() {
		a.read = max(a.read, a.upTo)
	}
}

// skipped says that lines above those on the screen were never on it.
func (a *arm) skipped() bool { return a.from > a.read }

// step moves on; written is the terminal's count of writes.
func (a *arm) step(msg armMsg, written int64, timer timer) tea.Cmd {
	if msg.turn != a.turn {
		return nil
	}
	switch a.state {
	case armLaid:
		// This message comes after the View that drew the preview was handed over. From
		// here on the last line of the screen is another, so that there will be a write.
		a.state, a.writes = armShown, written
		return settled(a.turn, timer)
	case armShown:
		if written == a.writes {
			// The very frame may have stood there already, so that there was nothing to
			// write. With another mark there is.
			a.again = !a.again
			return settled(a.turn, timer)
		}
		a.seen(written)
		a.state = armArmed
	case armNone, armArmed:
	}
	return nil
}

func settled(turn int, timer timer) tea.Cmd {
	return timer(settle, func(time.Time) tea.Msg { return armMsg{turn} })
}

// mark stands on the last line while a frame is waited for.
func (a *arm) mark() string {
	switch {
	case a.state != armShown:
		return ""
	case a.again:
		return " ‥"
	}
	return " …"
}

// unread is how many lines of the preview have not been on the screen, nor are they now.
func (a *arm) unread() int {
	if a.skipped() {
		return a.lines - a.read
	}
	return a.lines - max(a.read, a.upTo)
}

// armed says whether a key pressed now means this preview.
func (a *arm) armed(token string) bool {
	return token != "" && token == a.token && a.state == armArmed && a.read == a.lines
}

// count wraps the terminal so that its writes are counted.
func count(w io.Writer) (io.Writer, *atomic.Int64) {
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
