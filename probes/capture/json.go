package capture

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"vksmedic/model/text"
)

// json reads JSON values one after the other: objects, Lists item by item, and lists of
// objects; also JSON lines.
func (f *filed) json(in *bufio.Reader) {
	m := &meter{in: in}
	d := json.NewDecoder(m)
	for {
		m.next(d.InputOffset())
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			f.documents++
			switch t {
			case json.Delim('{'):
				err = f.jsonObject(d, m)
			case json.Delim('['):
				err = f.jsonItems(d, m, f.anyDocument)
			default:
				f.strange++
			}
		}
		if err != nil {
			f.trouble("it breaks off: " + jsonError(err))
			return // Where the next value begins is not known.
		}
	}
}

func jsonError(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "it ends within an object"
	}
	return text.Limit(text.Clean(err.Error()), 200)
}

// jsonObject reads an object whose brace is read already, its items one by one.
func (f *filed) jsonObject(d *json.Decoder, m *meter) error {
	u := map[string]any{}
	hasItems := false
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err //nolint:wrapcheck // json says it in words.
		}
		key, ok := t.(string)
		if !ok {
			return fmt.Errorf("a key of an object is %v", t)
		}
		m.next(d.InputOffset())
		if key != "items" {
			var v any
			if err := d.Decode(&v); err != nil {
				return err //nolint:wrapcheck // json says it in words.
			}
			u[key] = v
			continue
		}
		t, err = d.Token()
		switch {
		case err != nil:
			return err //nolint:wrapcheck // json says it in words.
		case t == nil: // How Go writes an empty list.
			hasItems = true
			f.listOf(u)
		case t == json.Delim('['):
			hasItems = true
			f.listOf(u)
			if err := f.jsonItems(d, m, f.item); err != nil {
				return err
			}
		case t == json.Delim('{'):
			if err := f.skipObject(d, m); err != nil {
				return err
			}
		}
	}
	if _, err := d.Token(); err != nil {
		return err //nolint:wrapcheck // json says it in words.
	}
	f.document(u, hasItems)
	return nil
}

// jsonItems reads the values of an array whose bracket is read already.
func (f *filed) jsonItems(d *json.Decoder, m *meter, take func(map[string]any)) error {
	for d.More() {
		m.next(d.InputOffset())
		var v any
		if err := d.Decode(&v); err != nil {
			return err //nolint:wrapcheck // json says it in words.
		}
		if u, ok := v.(map[string]any); ok {
			take(u)
		} else {
			f.strange++
		}
	}
	_, err := d.Token()
	return err //nolint:wrapcheck // json says it in words.
}

// skipObject reads past an object whose brace is read already.
func (f *filed) skipObject(d *json.Decoder, m *meter) error {
	for d.More() {
		m.next(d.InputOffset())
		if _, err := d.Token(); err != nil {
			return err //nolint:wrapcheck // json says it in words.
		}
		var v any
		if err := d.Decode(&v); err != nil {
			return err //nolint:wrapcheck // json says it in words.
		}
	}
	_, err := d.Token()
	return err //nolint:wrapcheck // json says it in words.
}

// meter bounds a single JSON value: it refuses to give more than documentLimit bytes past
// the last place that next was told.
type meter struct {
	in          io.Reader
	read, limit int64
}

// next says that a value begins at an offset of the input.
func (m *meter) next(offset int64) { m.limit = offset + documentLimit }

func (m *meter) Read(p []byte) (int, error) {
	if m.read >= m.limit {
		return 0, errors.New("an object is larger than 64 MiB")
	}
	if int64(len(p)) > m.limit-m.read {
		p = p[:m.limit-m.read]
	}
	n, err := m.in.Read(p)
	m.read += int64(n)
	return n, err //nolint:wrapcheck // io.EOF has to stay what it is.
}
