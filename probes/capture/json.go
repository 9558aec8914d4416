package capture

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"vksmedic/model/text"
	"vksmedic/probes/bounds"
)

// json reads JSON values one after the other: objects, Lists item by item, and lists of
// objects; also JSON lines. Each object is bounded before it is decoded.
func (f *filed) json(in *bufio.Reader) {
	s := bounds.NewScanner(f.ctx, in, bounds.Object(), nil)
	for {
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil {
			f.documents++
			switch b {
			case '{':
				err = f.jsonObject(s)
			case '[':
				err = f.jsonItems(s, f.anyDocument)
			default:
				var raw []byte
				if raw, err = s.Value(); err == nil && !json.Valid(raw) {
					err = errors.New("it is no JSON")
				}
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

// jsonObject reads an object field by field, its items one by one.
func (f *filed) jsonObject(s *bounds.Scanner) error {
	u := map[string]any{}
	hasItems := false
	err := s.Object(func(key string) error {
		next, err := s.Next()
		if err != nil {
			return err //nolint:wrapcheck // the scanner says it in words.
		}
		if key == "items" && next == '[' {
			hasItems = true
			f.listOf(u)
			return f.jsonItems(s, f.item)
		}
		v, err := f.jsonValue(s)
		if err != nil {
			return err
		}
		if key == "items" && v == nil { // How Go writes an empty list.
			hasItems = true
			f.listOf(u)
		}
		if key != "items" {
			u[key] = v
		}
		return nil
	})
	if err != nil {
		return err //nolint:wrapcheck // the scanner says it in words.
	}
	f.document(u, hasItems)
	return nil
}

// jsonItems reads the values of an array.
func (f *filed) jsonItems(s *bounds.Scanner, take func(map[string]any)) error {
	return s.List(func() error { //nolint:wrapcheck // the scanner says it in words.
		if f.strange > strangeLimit {
			return errStrange
		}
		v, err := f.jsonValue(s)
		if err != nil {
			return err
		}
		if u, ok := v.(map[string]any); ok {
			take(u)
		} else if v != (tooLarge{}) {
			f.strange++
		}
		return nil
	})
}

// strangeLimit is how many items that are no objects a file may have before it is given up.
const strangeLimit = 500_000

var errStrange = fmt.Errorf("more than %d items in it are no objects", strangeLimit)

// tooLarge stands for a value that exceeds its bounds; the others around it are read.
type tooLarge struct{}

func (f *filed) jsonValue(s *bounds.Scanner) (any, error) {
	raw, err := s.Value()
	var large *bounds.TooLargeError
	if errors.As(err, &large) {
		f.trouble(large.Error())
		return tooLarge{}, nil
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // the scanner says it in words.
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("it is no JSON: %w", err)
	}
	return v, nil
}
