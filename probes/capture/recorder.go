package capture

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"vksmedic/model"
	"vksmedic/probes/object"
)

// Recorder keeps the objects that are looked at, whole, so that a capture holds exactly what a
// snapshot was made of. They are kept in a temporary file and not in memory, and without
// what no capture holds: nothing secret reaches the disk.
type Recorder struct {
	mu     sync.Mutex
	file   *os.File
	out    *bufio.Writer
	size   int64
	index  map[recorded]span
	packer packer
	err    error
	closed bool
	hide   hide
}

// recorded is one version of one object in one place, of which the Supervisor's name is left out: a
// recorder is of one Supervisor.
type recorded struct {
	in                                 model.Place
	kind, namespace, name, uid, change string
}

type span struct {
	at   int64
	size int32
}

// Hide has credentials that are in use taken out of what is kept, by their letters. Call it before Keep.
func (r *Recorder) Hide(f func(string) string) { r.hide = f }

// NewRecorder makes a recorder with its file in dir; empty is where temporary files go.
func NewRecorder(dir string) (*Recorder, error) {
	f, err := os.CreateTemp(dir, "vksmedic-*.objects")
	if err != nil {
		return nil, fmt.Errorf("cannot keep objects while the capture is taken: %w", err)
	}
	// Where the system allows it the file has no name any more, and goes however this ends.
	_ = os.Remove(f.Name())
	return &Recorder{file: f, out: bufio.NewWriterSize(f, 256<<10), index: map[recorded]span{}}, nil
}

// Keep takes an object that lives on the Supervisor or in a workload cluster. It may be called from
// several goroutines, and neither changes nor keeps the object. What goes wrong is told by
// [Write].
func (r *Recorder) Keep(in model.Place, u map[string]any) {
	row, err := object.Row(u)
	if err != nil || !captured(u) {
		return
	}
	k := keyOf(in, row.GetMeta())
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.index[k]; known || r.err != nil || r.closed {
		return
	}
	r.err = r.write(k, r.hide.strip(u))
}

func (r *Recorder) write(k recorded, u map[string]any) error {
	p, err := r.packer.pack(u)
	if err != nil {
		return fmt.Errorf("cannot keep %s %s/%s: %w", k.kind, k.namespace, k.name, err)
	}
	if _, err := r.out.Write(p); err != nil {
		return fmt.Errorf("cannot keep objects while the capture is taken: %w", err)
	}
	r.index[k] = span{r.size, int32(len(p))} //nolint:gosec // an answer of an API server is far smaller.
	r.size += int64(len(p))
	return nil
}

// Close lets go of what was kept. It may be called more than once.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.file.Close()
	if rm := os.Remove(r.file.Name()); rm != nil && !errors.Is(rm, os.ErrNotExist) && err == nil {
		err = rm
	}
	if err != nil {
		return fmt.Errorf("cannot clean up after the capture: %w", err)
	}
	return nil
}

func keyOf(in model.Place, m *model.Meta) recorded {
	in.Supervisor = ""
	return recorded{in: in, kind: m.Kind, namespace: m.Namespace, name: m.Name, uid: m.UID, change: m.ResourceVersion}
}

// ready makes everything that was kept readable, and says what went wrong so far.
func (r *Recorder) ready() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return errors.New("cannot write a capture: its objects are gone")
	case r.err != nil:
		return r.err
	}
	if err := r.out.Flush(); err != nil {
		return fmt.Errorf("cannot keep objects while the capture is taken: %w", err)
	}
	return nil
}

// has says whether an object was kept.
func (r *Recorder) has(k recorded) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.index[k]
	return ok
}

// get reads an object that was kept before ready was called.
func (r *Recorder) get(k recorded) (packedObject, error) {
	r.mu.Lock()
	s, ok := r.index[k]
	r.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("%s %s/%s was not kept", k.kind, k.namespace, k.name)
	}
	p := make(packedObject, s.size)
	if _, err := r.file.ReadAt(p, s.at); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("cannot read what was kept of %s %s/%s: %w", k.kind, k.namespace, k.name, err)
	}
	return p, nil
}
