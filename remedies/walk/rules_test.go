package walk

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Each of these breaks one rule of the engine, from outside: the random walks have to see it.
func TestBrokenRules(t *testing.T) {
	for _, c := range []struct {
		rule string
		make func() twist
		// until a walk fails, at most so many are walked.
		atMost int
	}{
		{"no mark: the server drops the field manager", func() twist {
			return twist{http: func(rt http.RoundTripper) http.RoundTripper { return &unmarking{rt: rt} }}
		}, 200},
		{"likeness: whatever is there has the mark of the last attempt", func() twist {
			return twist{http: func(rt http.RoundTripper) http.RoundTripper { return &liking{rt: rt} }}
		}, 1500},
		{"a skip is not written", func() twist { return forgetting(`"kind":"skip"`) }, 200},
		{"a choice is not written", func() twist { return forgetting(`"kind":"choice"`) }, 200},
		{"a verification is not written", func() twist { return forgetting(`"kind":"check"`) }, 200},
		{"a jump is not written", func() twist { return forgetting(`"kind":"go"`) }, 200},
		{"what became of an attempt is not written", func() twist { return forgetting(`"kind":"after"`) }, 200},
		{"the line before comes after the write", func() twist {
			return twist{disk: func(d disk) disk { return &otherDisk{disk: d, late: []byte(`"kind":"before"`)} }}
		}, 1500},
	} {
		t.Run(c.rule, func(t *testing.T) {
			seeds := seedsFrom(1, c.atMost)
			n := 0
			for batch := range slices.Chunk(seeds, 50) {
				y := walkSeeds(t, batch, c.make)
				n += y.walks
				if y.by[doubleWrite]+y.by[lostUndo]+y.by[disagreement] > 0 {
					t.Logf("seen after %d walks: %s", n, y.words())
					return
				}
			}
			t.Errorf("%d walks, and none of them failed", n)
		})
	}
}

// unmarking is a server that does not keep who wrote.
type unmarking struct{ rt http.RoundTripper }

func (u *unmarking) RoundTrip(req *http.Request) (*http.Response, error) {
	q := req.URL.Query()
	if m := q.Get("fieldManager"); m != "" && m != leaseManager {
		req = req.Clone(req.Context())
		q.Set("fieldManager", "Go-http-client")
		req.URL.RawQuery = q.Encode()
	}
	return u.rt.RoundTrip(req)
}

// liking is a server on which every object has the mark of the attempt that was sent last.
type liking struct {
	rt   http.RoundTripper
	mark string
}

func (l *liking) RoundTrip(req *http.Request) (*http.Response, error) {
	q := req.URL.Query()
	if m := q.Get("fieldManager"); m != "" && m != leaseManager && q.Get("dryRun") == "" {
		l.mark = m
	}
	resp, err := l.rt.RoundTrip(req)
	if err != nil || req.Method != http.MethodGet || resp.StatusCode != http.StatusOK || l.mark == "" {
		return resp, err
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	if json.Unmarshal(data, &u.Object) == nil && len(u.GetManagedFields()) > 0 && u.GetKind() == "Widget" {
		f := u.GetManagedFields()
		f[0].Manager = l.mark
		u.SetManagedFields(f)
		if data, err = json.Marshal(u.Object); err != nil {
			return nil, err
		}
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	return resp, nil
}

func forgetting(what string) twist {
	return twist{disk: func(d disk) disk { return &otherDisk{disk: d, never: []byte(what)} }}
}

// otherDisk says that it has written some lines, and has not: never, or not before the next one.
type otherDisk struct {
	disk
	never, late []byte
}

type otherFile struct {
	diskFile
	d    *otherDisk
	held []byte
}

func (d *otherDisk) open(path string, create bool) (diskFile, error) {
	f, err := d.disk.open(path, create)
	if err != nil {
		return nil, err
	}
	return &otherFile{diskFile: f, d: d}, nil
}

func (d *otherDisk) lock(f diskFile) error { return d.disk.lock(f.(*otherFile).diskFile) }

func (f *otherFile) Write(b []byte) (int, error) {
	switch {
	case f.d.never != nil && bytes.Contains(b, f.d.never):
		return len(b), nil
	case f.d.late != nil && bytes.Contains(b, f.d.late):
		f.held = bytes.Clone(b)
		return len(b), nil
	}
	n, err := f.diskFile.Write(append(f.held, b...))
	if err == nil {
		n, f.held = len(b), nil
	}
	return min(n, len(b)), err
}
