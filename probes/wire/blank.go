package wire

import (
	"io"

	"vksmedic/model/text"
)

// blanking overwrites credentials in what goes by, also where one is cut in two by the reads.
type blanking struct {
	in      io.ReadCloser
	secrets *text.Secrets
	buf     []byte // what was read; ready of it can be handed on.
	ready   int
	err     error
}

// Read implements io.Reader.
func (b *blanking) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if b.secrets.Longest() == 0 && len(b.buf) == 0 {
		return b.in.Read(p) //nolint:wrapcheck // io.EOF has to stay what it is.
	}
	for b.ready == 0 && b.err == nil {
		b.fill()
	}
	if b.ready == 0 {
		return 0, b.err
	}
	n := copy(p, b.buf[:b.ready])
	b.buf = b.buf[n:]
	b.ready -= n
	return n, nil
}

// fill reads once. What may be the beginning of a credential waits for the rest.
func (b *blanking) fill() {
	const chunk = 32 << 10
	held := len(b.buf)
	next := make([]byte, held, held+chunk)
	copy(next, b.buf)
	n, err := b.in.Read(next[held : held+chunk])
	b.buf, b.err = next[:held+n], err
	open := b.secrets.Blank(b.buf)
	b.ready = len(b.buf) - open
	if err != nil {
		b.ready = len(b.buf)
	}
}

// Close implements io.Closer.
func (b *blanking) Close() error { return b.in.Close() } //nolint:wrapcheck // the connection's own.
