package capture

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// packedObject is a whole object as packed JSON.
type packedObject []byte

// packer packs one object after the other. It is large (flate's window), so one is enough.
type packer struct {
	w   *flate.Writer
	out bytes.Buffer
}

// pack packs an object. What it returns is the caller's.
func (p *packer) pack(u map[string]any) (packedObject, error) {
	raw, err := json.Marshal(u)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	p.out.Reset()
	if p.w == nil {
		if p.w, err = flate.NewWriter(&p.out, flate.BestSpeed); err != nil {
			return nil, fmt.Errorf("pack: %w", err)
		}
	} else {
		p.w.Reset(&p.out)
	}
	if _, err := p.w.Write(raw); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	if err := p.w.Close(); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return bytes.Clone(p.out.Bytes()), nil
}

// json is the object's JSON.
func (p packedObject) json() ([]byte, error) {
	if p == nil {
		return nil, errors.New("it could not be kept whole")
	}
	raw, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(p)), documentLimit*2))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return raw, nil
}

func (p packedObject) unpack() (map[string]any, error) {
	raw, err := p.json()
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber() // a number that is large stays as it is.
	var u map[string]any
	if err := d.Decode(&u); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	return u, nil
}
