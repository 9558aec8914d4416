package ui

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// framesPerSecond is the most that Bubble Tea allows.
const framesPerSecond = 120

// How often Bubble Tea looks whether there is a frame to write: often while one may be
// there, which bounds how long a frame waits, and seldom at rest.
const (
	busyFrame = 5 * time.Millisecond
	restFrame = 100 * time.Millisecond
	// awake is how long it stays busy after a view was made.
	awake = 8 * busyFrame
)

// pace lets the program rest while nothing is drawn. Bubble Tea 2 wakes as many times a
// second as it may draw, for ever; at a rate that shows a key at once this alone takes a
// hundredth of a core (https://github.com/charmbracelet/bubbletea/pull/1796, open, is to end
// that, and then this file can go). Until then its ticker, which it keeps to itself, is slowed
// down and sped up from here; where it is not found, the rate stays as it was.
type pace struct {
	// find gives the ticker once the program runs; nil where there is none.
	find func() *time.Ticker

	mu     sync.Mutex
	ticker *time.Ticker
	rest   *time.Timer
	// last is when a view was made.
	last time.Time
	busy bool
}

// newProgram is a Bubble Tea program of m that rests while nothing is drawn.
func newProgram(m *Model, options ...tea.ProgramOption) *tea.Program {
	p := tea.NewProgram(m, append([]tea.ProgramOption{tea.WithFPS(framesPerSecond)}, options...)...)
	m.pace = &pace{find: func() *time.Ticker { return renderTicker(p) }}
	return p
}

// drawn is to be called, by the program's own goroutine, whenever a view was made.
func (p *pace) drawn() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	if p.rest == nil {
		p.ticker = p.find()
		p.rest = time.AfterFunc(awake, p.slow)
	} else {
		p.rest.Reset(awake)
	}
	if !p.busy {
		p.busy = true
		p.reset(busyFrame)
	}
}

func (p *pace) slow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.last) < awake {
		return // a view came in between, and its own turn comes.
	}
	p.busy = false
	p.reset(restFrame)
}

func (p *pace) reset(d time.Duration) {
	if p.ticker != nil {
		p.ticker.Reset(d)
	}
}

// renderTicker is the ticker that p draws by once it runs, or nil where this version of Bubble
// Tea has none.
func renderTicker(p *tea.Program) *time.Ticker {
	f := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !f.IsValid() || f.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return (*time.Ticker)(f.UnsafePointer())
}
