package bounds

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// large is the length from which a value counts as large: only so many of those are held at a
// time (see [Gate]).
const large = 256 << 10

// Gate lets only a few large values of one server be in memory at a time. A nil Gate lets all
// through.
type Gate chan struct{}

// NewGate makes a gate for n large values.
func NewGate(n int) Gate { return make(Gate, n) }

// Scanner takes JSON apart without decoding it: the fields of an object, the items of a list,
// each as its text. It counts while it reads, so that a value which exceeds its limits is never
// held as a whole. What it returns may still be no JSON within: decoding says so. It is not
// for more than one goroutine.
type Scanner struct {
	ctx    context.Context // A scanner lives as long as one answer.
	in     *bufio.Reader
	limits Limits
	gate   Gate
	held   bool
	value  []byte
	offset int64
}

const (
	// headSize is how much is kept of a value that exceeds its limits: who it is stands there.
	headSize = 32 << 10
	// passLimit is how far a value that exceeds its limits is read past.
	passLimit = 64 << 20
)

// NewScanner reads from in, each value within the limits. ctx ends the waiting for the gate.
func NewScanner(ctx context.Context, in io.Reader, limits Limits, gate Gate) *Scanner {
	b, ok := in.(*bufio.Reader)
	if !ok {
		b = bufio.NewReaderSize(in, 32<<10)
	}
	return &Scanner{ctx: ctx, in: b, limits: limits, gate: gate}
}

// Done gives back what is held. It may be called more than once.
func (s *Scanner) Done() {
	if s.held {
		<-s.gate
		s.held = false
	}
	if cap(s.value) > large {
		s.value = nil
	}
}

// Offset is how many bytes were read.
func (s *Scanner) Offset() int64 { return s.offset }

// Limit changes the limits for the values to come.
func (s *Scanner) Limit(l Limits) { s.limits = l }

// Next is the first byte of what comes next, without taking it; io.EOF at the end.
func (s *Scanner) Next() (byte, error) {
	for {
		b, err := s.in.Peek(1)
		if err != nil {
			return 0, err //nolint:wrapcheck // io.EOF has to stay what it is.
		}
		switch b[0] {
		case ' ', '\t', '\r', '\n':
			s.skip(1)
		default:
			return b[0], nil
		}
	}
}

func (s *Scanner) skip(n int) {
	_, _ = s.in.Discard(n) // It was peeked at.
	s.offset += int64(n)
}

// Take takes one byte that has to come next.
func (s *Scanner) Take(want byte) error {
	b, err := s.Next()
	if err != nil {
		return early(err)
	}
	if b != want {
		return fmt.Errorf("invalid character %q where %q has to be", b, want)
	}
	s.skip(1)
	return nil
}

// early is what an end means where more has to come.
func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Object takes an object: field is called with each name and has to take the value, by any
// method of the scanner.
func (s *Scanner) Object(field func(name string) error) error {
	if err := s.Take('{'); err != nil {
		return err
	}
	for first := true; ; first = false {
		b, err := s.Next()
		switch {
		case err != nil:
			return early(err)
		case b == '}':
			s.skip(1)
			return nil
		case !first:
			if err := s.Take(','); err != nil {
				return err
			}
		}
		raw, err := s.Value()
		if err != nil {
			return err
		}
		var name string
		if err := json.Unmarshal(raw, &name); err != nil {
			return fmt.Errorf("a field has no name: %w", err)
		}
		if err := s.Take(':'); err != nil {
			return err
		}
		if err := field(name); err != nil {
			return err
		}
	}
}

// List takes a list: item is called for each item and has to take it.
func (s *Scanner) List(item func() error) error {
	if err := s.Take('['); err != nil {
		return err
	}
	for first := true; ; first = false {
		b, err := s.Next()
		switch {
		case err != nil:
			return early(err)
		case b == ']':
			s.skip(1)
			return nil
		case !first:
			if err := s.Take(','); err != nil {
				return err
			}
		}
		if err := item(); err != nil {
			return err
		}
	}
}

// Value takes one value and returns its text, which is good until the next call. Where the value exceeds
// the limits it is read past, so that the next one can be taken, and the error is a [TooLargeError]; what
// is returned with it is how the value begins. Other errors end the reading.
func (s *Scanner) Value() ([]byte, error) {
	s.Done()
	s.value = s.value[:0]
	if _, err := s.Next(); err != nil {
		return nil, early(err)
	}
	var m meter
	var over *TooLargeError
	for began := s.offset; ; {
		if _, err := s.in.Peek(1); err != nil {
			if m.word && errors.Is(err, io.EOF) {
				return s.value, orNil(over)
			}
			return nil, early(err)
		}
		window, _ := s.in.Peek(s.in.Buffered()) // It is there.
		n, ended := m.feed(window)
		if over == nil {
			s.value = append(s.value, window[:n]...)
			over = m.exceeds(len(s.value), s.limits)
		}
		s.skip(n)
		switch {
		case over != nil:
			s.pass()
			if s.offset-began > passLimit {
				return nil, fmt.Errorf("it goes on for more than %s: %w", Size(passLimit), errEndless)
			}
		default:
			if err := s.hold(); err != nil {
				return nil, err
			}
		}
		if ended {
			return s.value, orNil(over)
		}
	}
}

// errEndless ends the reading of a value that does not end.
var errEndless = errors.New("nothing of this kind is that long")

// orNil keeps a nil error from becoming one that is not.
func orNil(e *TooLargeError) error {
	if e == nil {
		return nil
	}
	return e
}

// pass keeps of a value that is too large only how it begins.
func (s *Scanner) pass() {
	if len(s.value) > headSize {
		head := bytes.Clone(s.value[:headSize])
		s.Done()
		s.value = head
	}
}

// hold has a large value go through the gate.
func (s *Scanner) hold() error {
	if len(s.value) <= large || s.held || s.gate == nil {
		return nil
	}
	select {
	case s.gate <- struct{}{}:
		s.held = true
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err() //nolint:wrapcheck // whoever asked knows what for.
	}
}

// meter measures a value while its text goes by.
type meter struct {
	depth, deepest, values int
	inString, escaped      bool
	// word is a number, true, false or null at the outermost level: only what follows ends it.
	word bool
}

// feed takes text and returns how much of it belongs to the value, and whether it ends there.
func (m *meter) feed(b []byte) (n int, ended bool) {
	for i := 0; i < len(b); i++ {
		c := b[i]
		if m.inString {
			switch {
			case m.escaped:
				m.escaped = false
			case c == '\\':
				m.escaped = true
			case c == '"':
				m.inString = false
				if m.depth == 0 {
					return i + 1, true
				}
			default:
				// Most of the text is in strings: go to what may end this one.
				if j := bytes.IndexAny(b[i:], `"\`); j > 0 {
					i += j - 1
				} else if j < 0 {
					return len(b), false
				}
			}
			continue
		}
		switch c {
		case '"':
			if m.word {
				return i, true
			}
			m.inString = true
		case '{', '[':
			if m.word {
				return i, true
			}
			m.depth++
			m.values++
			m.deepest = max(m.deepest, m.depth)
		case '}', ']':
			if m.depth == 0 {
				return i, true // it belongs to what is around.
			}
			m.depth--
			if m.depth == 0 {
				return i + 1, true
			}
		case ',', ':':
			if m.depth == 0 {
				return i, true
			}
			m.values++
		case ' ', '\t', '\r', '\n':
			if m.word {
				return i, true
			}
		default:
			m.word = m.word || m.depth == 0
		}
	}
	return len(b), false
}

func (m *meter) exceeds(size int, l Limits) *TooLargeError {
	switch {
	case l.Bytes > 0 && size > l.Bytes:
		return &TooLargeError{What: "an object", Limit: Size(int64(l.Bytes))}
	case l.Values > 0 && m.values > l.Values:
		return &TooLargeError{What: "an object", Limit: fmt.Sprintf("%d values", l.Values)}
	case l.Depth > 0 && m.deepest > l.Depth:
		return &TooLargeError{What: "an object", Limit: fmt.Sprintf("%d levels", l.Depth)}
	}
	return nil
}

// Check says whether a text of JSON is within the limits.
func Check(raw []byte, l Limits) error {
	var m meter
	m.feed(raw)
	return orNil(m.exceeds(len(raw), l))
}
