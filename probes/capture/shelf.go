package capture

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// shelf keeps the JSON of many objects in little memory: most of them are never opened. Objects that
// come after each other are much alike, so they are packed together, a block at a time.
type shelf struct {
	blocks [][]byte
	open   bytes.Buffer // the block that is being filled.
	packer *flate.Writer
}

// blockSize is how much is packed together: what has to be unpacked to open one object.
const blockSize = 128 << 10

// place is where an object lies; the zero one is nowhere.
type place struct{ block, at, size int32 }

// put keeps an object's JSON.
func (s *shelf) put(raw []byte) place {
	p := place{int32(len(s.blocks)), int32(s.open.Len()), int32(len(raw))} //nolint:gosec // documents are bounded (documentLimit).
	s.open.Write(raw)
	if s.open.Len() >= blockSize {
		s.pack()
	}
	return p
}

// pack closes the block.
func (s *shelf) pack() {
	var out bytes.Buffer
	if s.packer == nil {
		s.packer, _ = flate.NewWriter(&out, flate.BestSpeed) // An error is a level that is none.
	} else {
		s.packer.Reset(&out)
	}
	_, _ = s.packer.Write(s.open.Bytes()) // A bytes.Buffer takes all.
	_ = s.packer.Close()
	s.blocks = append(s.blocks, bytes.Clone(out.Bytes()))
	s.open.Reset()
}

// done lets go of what only putting needs.
func (s *shelf) done() {
	if s.open.Len() > 0 {
		s.pack()
	}
	s.packer, s.open = nil, bytes.Buffer{}
}

// get returns an object.
func (s *shelf) get(p place) (map[string]any, error) {
	if p.size == 0 {
		return nil, errors.New("it could not be kept whole")
	}
	raw := make([]byte, p.size)
	if int(p.block) == len(s.blocks) {
		copy(raw, s.open.Bytes()[p.at:])
	} else {
		r := flate.NewReader(bytes.NewReader(s.blocks[p.block]))
		if _, err := io.CopyN(io.Discard, r, int64(p.at)); err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
		if _, err := io.ReadFull(r, raw); err != nil {
			return nil, fmt.Errorf("unpack: %w", err)
		}
	}
	var u map[string]any
	if err := json.Unmarshal(raw, &u); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return u, nil
}
