package bounds

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// fields takes an object apart.
func fields(t *testing.T, in io.Reader, l Limits) (map[string]any, error) {
	t.Helper()
	s := NewScanner(t.Context(), in, l, NewGate(1))
	defer s.Done()
	out := map[string]any{}
	err := s.Object(func(name string) error {
		if b, err := s.Next(); err != nil {
			return err
		} else if b == '[' {
			list := []any{}
			err := s.List(func() error {
				raw, err := s.Value()
				if err != nil {
					return err
				}
				var v any
				if err := json.Unmarshal(raw, &v); err != nil {
					return err
				}
				list = append(list, v)
				return nil
			})
			out[name] = list
			return err
		}
		raw, err := s.Value()
		if err != nil {
			return err
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return err
		}
		out[name] = v
		return nil
	})
	return out, err
}

func TestScannerReadsWhatJSONReads(t *testing.T) {
	for _, s := range []string{
		`{}`, ` { } `, `{"a":1}`, `{"a":-1.5e3,"b":null,"c":true}`, `{"a":"x\"}{[,:\\","b":"é\u00e9"}`, `{"a":{"b":[1,{"c":[]}]},"d":[]}`,
		`{"items":[1,"two",null,{"three":[3]},[4]],"after":"x"}`, "{\n\t\"a\" : [ 1 , 2 ]\r\n}", `{"a\"b":{"c":"` + strings.Repeat("x", 100_000) + `"}}`,
	} {
		var want map[string]any
		if err := json.Unmarshal([]byte(s), &want); err != nil {
			t.Fatal(err)
		}
		for _, in := range []io.Reader{strings.NewReader(s), iotest.OneByteReader(strings.NewReader(s))} {
			if got, err := fields(t, in, Limits{}); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%.60s: %v, %v", s, got, err)
			}
		}
	}
}

func TestScannerRefusesWhatIsNoJSON(t *testing.T) {
	for _, s := range []string{
		``, `[`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{a:1}`, `{"a":}`, `{"a":1 "b":2}`, `{"a":[1,2}`, `{"a":[1`, `{"a":[}]`, `{"a":"x`, `{"a":tru}`, `{"a":{"b":1]}`, `{"a":[1 2]}`, `{1:2}`, `}`,
	} {
		if got, err := fields(t, strings.NewReader(s), Limits{}); err == nil {
			t.Errorf("%s is taken for %v", s, got)
		}
	}
}

func TestScannerBounds(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		limit string
	}{
		"bytes":       {`{"a":"` + strings.Repeat("x", 3000) + `"}`, "2 KiB"},
		"long number": {`{"a":` + strings.Repeat("1", 3000) + `}`, "2 KiB"},
		"long name":   {`{"` + strings.Repeat("x", 3000) + `":1}`, "2 KiB"},
		"values":      {`{"a":[[` + strings.Repeat(`{},`, 150) + `{}]]}`, "100 values"},
		"numbers":     {`{"a":[[` + strings.Repeat(`1,`, 150) + `1]]}`, "100 values"},
		"depth":       {`{"a":` + strings.Repeat(`[`, 60) + strings.Repeat(`]`, 60) + `}`, "50 levels"},
	} {
		_, err := fields(t, strings.NewReader(c.text), Limits{Bytes: 2 << 10, Values: 100, Depth: 50})
		var large *TooLargeError
		if !errors.As(err, &large) || large.Limit != c.limit {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What never ends is not read on.
	endless := &counted{}
	if _, err := fields(t, io.MultiReader(strings.NewReader(`{"a":"`), endless), Object()); err == nil || endless.n > passLimit+(1<<20) {
		t.Errorf("%d bytes were read: %v", endless.n, err)
	}
}

type counted struct{ n int }

func (c *counted) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	c.n += len(p)
	return len(p), nil
}

// TestScannerGoesOnBehindWhatIsTooLarge takes the values around one that exceeds its limits.
func TestScannerGoesOnBehindWhatIsTooLarge(t *testing.T) {
	s := NewScanner(t.Context(), strings.NewReader(`["a",{"name":"x","v":"`+strings.Repeat("x", 3*headSize)+`]}"},"b"]`), Limits{Bytes: 2 * headSize}, nil)
	var got []string
	err := s.List(func() error {
		raw, err := s.Value()
		var large *TooLargeError
		if err != nil && !errors.As(err, &large) {
			return err
		}
		got = append(got, string(raw[:min(len(raw), 12)]))
		if len(raw) > headSize {
			t.Errorf("%d bytes are kept", len(raw))
		}
		return nil
	})
	if err != nil || !reflect.DeepEqual(got, []string{`"a"`, `{"name":"x",`, `"b"`}) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestGate holds only so many large values at a time, and ends waiting with the context.
func TestGate(t *testing.T) {
	gate := NewGate(1)
	one := NewScanner(t.Context(), strings.NewReader(`"`+strings.Repeat("x", 2*large)+`"`), Object(), gate)
	if _, err := one.Value(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	two := NewScanner(ctx, strings.NewReader(`"`+strings.Repeat("x", 2*large)+`"`), Object(), gate)
	if _, err := two.Value(); !errors.Is(err, context.Canceled) {
		t.Errorf("two large values are held: %v", err)
	}
	one.Done()
	three := NewScanner(t.Context(), strings.NewReader(`"`+strings.Repeat("x", 2*large)+`"`), Object(), gate)
	if _, err := three.Value(); err != nil {
		t.Error(err)
	}
	three.Done()
}

func TestReader(t *testing.T) {
	over := errors.New("over")
	for n, want := range map[int]error{4: nil, 5: nil, 6: over} {
		b, err := io.ReadAll(&Reader{In: strings.NewReader(strings.Repeat("x", n)), Left: 5, Err: over})
		if !errors.Is(err, want) || want == nil && len(b) != n {
			t.Errorf("%d bytes: %d, %v", n, len(b), err)
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"c\""}],"d":{}}`, `{"items":[{},null]}`, `{"a":`, "[}", `{"a":"\`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var want map[string]any
		valid := json.Unmarshal(b, &want) == nil && want != nil
		got, err := fields(t, strings.NewReader(string(b)), Limits{})
		if valid && (err != nil || len(got) != len(want)) {
			t.Fatalf("%q: %v, %v", b, got, err)
		}
	})
}
