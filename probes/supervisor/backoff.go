package supervisor

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// How long to wait between tries: doubled from the first to the longest, then spread by
// half so that sources that failed together do not come back together.
const (
	firstWait   = 500 * time.Millisecond
	longestWait = 30 * time.Second
	// refusedWait is for what only a person can change: rights, or a kind that is not served.
	refusedWait = 10 * time.Minute
)

func random() float64 { return rand.Float64() } //nolint:gosec // it spreads retries and guards nothing.

type backoff struct {
	random func() float64
	next   time.Duration
}

// wait is how long to wait after one more failure, at least what the server asked for.
func (b *backoff) wait(atLeast time.Duration) time.Duration {
	if b.next == 0 {
		b.next = firstWait
	}
	d := b.next
	b.next = min(2*b.next, longestWait)
	return max(min(d/2+time.Duration(b.random()*float64(d)), longestWait), atLeast)
}

func (b *backoff) reset() { b.next = 0 }

// rest waits after one more failure: until the next try is due or bell is rung, and where the server
// asked to be left alone for a time, not a moment less, whatever is rung. False at the end of ctx.
func (c *Connection) rest(ctx context.Context, b *backoff, err error, bell <-chan struct{}) bool {
	asked := DelayAsked(err)
	if asked > 0 {
		bell = nil
	}
	return sleep(ctx, b.wait(asked), bell)
}

// broadcast wakes everybody who waits.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{}
}

// listen returns a channel that is closed by the next ring.
func (b *broadcast) listen() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *broadcast) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}

// sleep waits for d, for a bell, or for the end of ctx; false at the end of ctx.
func sleep(ctx context.Context, d time.Duration, bell <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
	case <-bell:
	}
	return ctx.Err() == nil
}
