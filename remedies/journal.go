package remedies

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"vksmedic/model"
)

// The journal is one file of JSON lines per walk. A line is added, flushed to disk,
// before each change and another one after it, so that a crash in between is seen.
// Lines are never rewritten.

const (
	journalVersion = 1
	journalSuffix  = ".jsonl"
	// maxJournal bounds what is read of one file; a walk writes some tens of kilobytes.
	maxJournal = 16 << 20
)

// entryKind says what a line of the journal is about.
type entryKind string

const (
	entryBegin  entryKind = "begin"
	entryResume entryKind = "resume"
	entryStep   entryKind = "step"   // a step was left, with its state.
	entryBefore entryKind = "before" // a change is about to be sent.
	entryAfter  entryKind = "after"  // what became of it.
	entryLeave  entryKind = "leave"
	entryEnd    entryKind = "end"
)

// outcome is what became of a change.
type outcome string

const (
	outcomeApplied outcome = "applied"
	outcomeNot     outcome = "not-applied"
	outcomeUnclear outcome = "unclear"
)

// entry is one line.
type entry struct {
	V       int        `json:"v"`
	At      time.Time  `json:"at"`
	Kind    entryKind  `json:"kind"`
	Begin   *beginning `json:"begin,omitempty"`
	Who     string     `json:"who,omitempty"`
	Step    string     `json:"step,omitempty"`
	State   StepState  `json:"state,omitempty"`
	Choice  string     `json:"choice,omitempty"`
	Change  *change    `json:"change,omitempty"`
	Outcome outcome    `json:"outcome,omitempty"`
	Note    string     `json:"note,omitempty"`
}

// beginning is the first line: all that is needed to walk on another day.
type beginning struct {
	ID         string           `json:"id"`
	Article    string           `json:"article"`
	Supervisor string           `json:"supervisor"` // identity.
	Server     string           `json:"server"`
	Context    string           `json:"context"`
	Cluster    model.ClusterRef `json:"cluster"`
	Target     target           `json:"target"`
	Summary    string           `json:"summary"`
	Facts      json.RawMessage  `json:"facts"`
}

// disk is what the journal does with files; tests let it fail.
type disk interface {
	// open opens for reading and appending; create makes the file, which must not be there.
	open(path string, create bool) (diskFile, error)
	// syncDir flushes a folder, so that a new file in it survives a power cut.
	syncDir(path string) error
}

type diskFile interface {
	io.ReadWriteCloser
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	Fd() uintptr
}

type realDisk struct{}

func (realDisk) open(path string, create bool) (diskFile, error) {
	flags := os.O_RDWR | os.O_APPEND
	if create {
		flags |= os.O_CREATE | os.O_EXCL
	}
	return os.OpenFile(path, flags, 0o600) //nolint:wrapcheck,gosec // wrapped by the journal; the name is our own.
}

func (realDisk) syncDir(path string) error {
	d, err := os.Open(path) //nolint:gosec // our own folder.
	if err != nil {
		return err //nolint:wrapcheck // wrapped by the journal.
	}
	defer d.Close() //nolint:errcheck // only read.
	return flushDir(d)
}

// errLocked is what lockFile returns when another process has the lock.
var errLocked = errors.New("locked by another process")

// journal is the open journal of one walk. It is used by one goroutine at a time.
type journal struct {
	disk disk
	path string
	file diskFile
	size int64
	now  func() time.Time
	torn bool // the last write may have left half a line.
}

// createJournal begins a journal. Nothing is left behind when it fails.
func createJournal(d disk, dir, id string, now func() time.Time) (*journal, error) {
	if dir == "" {
		return nil, errors.New("there is no folder for the journal; set XDG_STATE_HOME or HOME")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { //nolint:gosec // the engineer's own folder.
		return nil, fmt.Errorf("cannot make the folder for the journal: %w", err)
	}
	path := filepath.Join(dir, id+journalSuffix)
	f, err := d.open(path, true)
	if err != nil {
		return nil, fmt.Errorf("cannot begin the journal: %w", err)
	}
	j := &journal{disk: d, path: path, file: f, now: now}
	if err := lockFile(f.Fd()); err != nil {
		j.discard()
		return nil, fmt.Errorf("cannot lock the journal %s: %w", path, err)
	}
	if err := d.syncDir(dir); err != nil {
		j.discard()
		return nil, fmt.Errorf("cannot flush the folder of the journal %s: %w", dir, err)
	}
	return j, nil
}

// openJournal opens the journal of a walk to go on with it, and returns its lines.
func openJournal(d disk, dir, id string, now func() time.Time) (*journal, *record, error) {
	path := filepath.Join(dir, id+journalSuffix)
	f, err := d.open(path, false)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot open the journal: %w", err)
	}
	j := &journal{disk: d, path: path, file: f, now: now}
	if err := lockFile(f.Fd()); err != nil {
		j.close()
		if errors.Is(err, errLocked) {
			return nil, nil, ErrBusy
		}
		return nil, nil, fmt.Errorf("cannot lock the journal %s: %w", path, err)
	}
	rec, size, err := readRecord(f)
	if err != nil {
		j.close()
		return nil, nil, fmt.Errorf("cannot read the journal %s: %w", path, err)
	}
	j.size, j.torn = size, rec.torn
	return j, rec, nil
}

// write adds a line and returns once it is on the disk. When it fails the line does not count.
func (j *journal) write(e entry) error {
	e.V, e.At = journalVersion, j.now().UTC()
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	b = append(b, '\n')
	if j.torn {
		b = append([]byte{'\n'}, b...) // half a line stands alone, and is skipped when it is read.
	}
	n, err := j.file.Write(b)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		if n > 0 && j.file.Truncate(j.size) != nil {
			j.torn = true
		}
		return fmt.Errorf("cannot write the journal %s: %w", j.path, err)
	}
	j.size += int64(n)
	j.torn = false
	return nil
}

func (j *journal) close() {
	if j != nil && j.file != nil {
		_ = j.file.Close() // the lock goes with it; every line was flushed when it was written.
		j.file = nil
	}
}

// discard closes and removes a journal in which nothing is written yet.
func (j *journal) discard() {
	j.close()
	_ = os.Remove(j.path) //nolint:gosec // our own file; an empty one that stays is skipped when it is read.
}

// record is what a journal file says.
type record struct {
	begin   *beginning
	entries []entry
	// torn says that the last line has no end; unread counts lines in between that are none of ours.
	torn   bool
	unread int
}

func (r *record) over() bool {
	return slices.ContainsFunc(r.entries, func(e entry) bool { return e.Kind == entryEnd })
}

// last is the time of the last line.
func (r *record) last() time.Time {
	if len(r.entries) == 0 {
		return time.Time{}
	}
	return r.entries[len(r.entries)-1].At
}

// unsettled is the change whose end was not written down, or nil.
func (r *record) unsettled() *entry {
	var open *entry
	for i := range r.entries {
		switch e := &r.entries[i]; {
		case e.Kind == entryBefore:
			open = e
		case e.Kind == entryAfter && e.Outcome != outcomeUnclear:
			open = nil
		}
	}
	return open
}

// readRecord reads a journal. Half a line, and a line that is no JSON, is skipped: it was
// never acted upon, since a change is sent only after its line is whole on the disk.
func readRecord(r io.Reader) (*record, int64, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxJournal+1))
	if err != nil {
		return nil, 0, fmt.Errorf("cannot read it: %w", err)
	}
	if len(data) > maxJournal {
		return nil, 0, fmt.Errorf("it is larger than %d MiB and no journal of ours", maxJournal>>20)
	}
	rec := &record{torn: len(data) > 0 && data[len(data)-1] != '\n'}
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, maxJournal)
	for sc.Scan() {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		var e entry
		if json.Unmarshal(sc.Bytes(), &e) != nil || e.Kind == "" {
			rec.unread++
			continue
		}
		if e.V > journalVersion {
			return nil, 0, fmt.Errorf("it was written by a newer vksmedic (format %d, known is %d)", e.V, journalVersion)
		}
		if e.Kind == entryBegin && rec.begin == nil {
			rec.begin = e.Begin
		}
		rec.entries = append(rec.entries, e)
	}
	if err := sc.Err(); err != nil {
		return nil, 0, fmt.Errorf("cannot read it: %w", err)
	}
	if rec.begin == nil {
		return nil, 0, errNoBeginning
	}
	return rec, int64(len(data)), nil
}

// errNoBeginning is a journal whose first line never got to the disk: nothing was changed.
var errNoBeginning = errors.New("its first line is missing or broken")

// journalIDs lists the walks that have a journal, oldest first (ids begin with their time).
func journalIDs(dir string) ([]string, error) {
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || dir == "" {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list the journal's folder: %w", err)
	}
	var out []string
	for _, n := range names {
		if id, ok := strings.CutSuffix(n.Name(), journalSuffix); ok {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out, nil
}
