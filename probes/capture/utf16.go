package capture

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// utf16Reader turns UTF-16 with a byte order mark into UTF-8.
func utf16Reader(in *bufio.Reader) io.Reader {
	mark, _ := in.Peek(2) // It is there: the caller has seen it.
	var order binary.ByteOrder = binary.BigEndian
	if len(mark) == 2 && mark[0] == 0xff {
		order = binary.LittleEndian
	}
	_, _ = in.Discard(2)
	return &utf16Text{in: in, order: order}
}

type utf16Text struct {
	in    *bufio.Reader
	order binary.ByteOrder
	out   []byte // decoded and not yet given.
	held  rune   // the second unit of a broken pair.
}

func (t *utf16Text) Read(p []byte) (int, error) {
	for len(t.out) < len(p) && len(t.out) < 32<<10 {
		r, err := t.rune()
		if err != nil {
			if len(t.out) > 0 {
				break
			}
			return 0, err
		}
		t.out = utf8.AppendRune(t.out, r)
	}
	n := copy(p, t.out)
	t.out = t.out[:copy(t.out, t.out[n:])]
	return n, nil
}

func (t *utf16Text) rune() (rune, error) {
	r := t.held
	t.held = 0
	if r == 0 {
		var err error
		if r, err = t.unit(); err != nil {
			return 0, err
		}
	}
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	next, err := t.unit()
	if err != nil {
		return utf8.RuneError, nil //nolint:nilerr // The text ends within a pair; the next call says so.
	}
	if c := utf16.DecodeRune(r, next); c != utf8.RuneError {
		return c, nil
	}
	t.held = next
	return utf8.RuneError, nil
}

func (t *utf16Text) unit() (rune, error) {
	var b [2]byte
	if _, err := io.ReadFull(t.in, b[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = io.EOF // An odd byte at the end.
		}
		return 0, err //nolint:wrapcheck // io.EOF has to stay what it is.
	}
	return rune(t.order.Uint16(b[:])), nil
}
