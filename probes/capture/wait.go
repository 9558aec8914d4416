package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"vksmedic/model/text"
)

// waiting reads from what may never answer: a pipe, a FIFO, a terminal. The reading goes on beside, so
// that the end of the context, or a silence that is too long, ends it. What hangs is left behind.
type waiting struct {
	ctx    context.Context // A dump is read as long as it lives.
	idle   time.Duration
	what   string
	chunks chan chunkOrEnd
	left   []byte
	err    error
}

type chunkOrEnd struct {
	data []byte
	err  error
}

// ErrSilent says that nothing came from where a dump was to be read.
var ErrSilent = errors.New("nothing comes")

// newWaiting reads from what open returns. idle is how long nothing may come; zero for as long as the
// context lives.
func newWaiting(ctx context.Context, what string, idle time.Duration, open func() (io.Reader, error)) *waiting {
	w := &waiting{ctx: ctx, idle: idle, what: what, chunks: make(chan chunkOrEnd, 4)}
	go w.read(open)
	return w
}

func (w *waiting) read(open func() (io.Reader, error)) {
	const size = 64 << 10
	in, err := open()
	for err == nil {
		buf := make([]byte, size)
		var n int
		n, err = in.Read(buf)
		if !w.hand(chunkOrEnd{buf[:n], nil}) {
			break
		}
	}
	w.hand(chunkOrEnd{nil, err})
	if f, ok := in.(*os.File); ok && f != os.Stdin {
		_ = f.Close() // It was only read.
	}
}

func (w *waiting) hand(c chunkOrEnd) bool {
	select {
	case w.chunks <- c:
		return true
	case <-w.ctx.Done():
		return false
	}
}

// Read implements io.Reader.
func (w *waiting) Read(p []byte) (int, error) {
	var late <-chan time.Time
	if w.idle > 0 {
		t := time.NewTimer(w.idle)
		defer t.Stop()
		late = t.C
	}
	for len(w.left) == 0 && w.err == nil {
		select {
		case c := <-w.chunks:
			w.left, w.err = c.data, c.err
		case <-w.ctx.Done():
			w.err = w.ctx.Err()
		case <-late:
			w.err = fmt.Errorf("%w from %s for %s", ErrSilent, text.Clean(w.what), text.Age(w.idle))
		}
	}
	n := copy(p, w.left)
	w.left = w.left[n:]
	if n > 0 {
		return n, nil
	}
	return 0, w.err
}
