package walk

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

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"vksmedic/model"
	"vksmedic/remedies"
)

// The journal is one file of JSON lines per walk. A line is added, and flushed to disk, for
// all that changes the walk: what was chosen and skipped, each write before it is sent and
// after it, what a verification brought. Lines are never rewritten.

const (
	// journalVersion is the format. A journal of format 1 is shown, and cannot be continued.
	journalVersion = 2
	journalSuffix  = ".jsonl"
	// maxJournal bounds what is read of one file; a walk writes some tens of kilobytes.
	maxJournal = 16 << 20
)

// entryKind says what a line of the journal is about.
type entryKind string

const (
	entryBegin  entryKind = "begin"
	entryResume entryKind = "resume"
	entryItems  entryKind = "items"  // what a step is done for, one after another.
	entryGo     entryKind = "go"     // the walk stands at another step or item now.
	entryLook   entryKind = "look"   // a step that reads has read.
	entryChoice entryKind = "choice" // a question was answered.
	entrySkip   entryKind = "skip"   // a step is not needed.
	entryBefore entryKind = "before" // an attempt is about to be sent.
	entryAfter  entryKind = "after"  // what became of it.
	entryPaid   entryKind = "paid"   // what was taken is owed no more: what it was taken from is gone.
	entryCheck  entryKind = "check"  // what a verification brought.
	entryLeave  entryKind = "leave"
	entryEnd    entryKind = "end"
)

// outcome is what became of an attempt.
type outcome string

const (
	outcomeOpen    outcome = ""        // not known yet.
	outcomeMade    outcome = "made"    // made, and by us.
	outcomeSo      outcome = "so"      // what it was for is so; by whom is not known.
	outcomeRefused outcome = "refused" // the place said no.
	outcomeNot     outcome = "not"     // looked: it was not made, and cannot be any more.
	outcomeUnsure  outcome = "unsure"  // it can never be told.
)

// result is what a verification brought.
type result string

const (
	resultDone    result = "done"
	resultFailed  result = "failed"
	resultUnknown result = "unknown" // it could not be read.
	resultByHand  result = "by-hand" // done, and by a person elsewhere.
	resultMore    result = "more"    // what was done is so, and there is more of the step to do.
)

// entry is one line.
type entry struct {
	V int `json:"v"`
	// N counts the lines, from 1. Where the disk kept a line that it had reported as not written,
	// the next one has the same number, and counts in its place.
	N    int       `json:"n"`
	At   time.Time `json:"at"`
	Kind entryKind `json:"kind"`
	Who  string    `json:"who,omitempty"`

	Begin *beginning `json:"begin,omitempty"`
	Step  string     `json:"step,omitempty"`
	Item  string     `json:"item,omitempty"`
	Items []string   `json:"items,omitempty"`
	// Anew says of go that the step is done once more, whatever became of it before: this item, and
	// those that were skipped.
	Anew   bool   `json:"anew,omitempty"`
	Choice string `json:"choice,omitempty"`

	Attempt   int            `json:"attempt,omitempty"`
	Effect    *carried       `json:"effect,omitempty"`
	Place     *model.Marks   `json:"place,omitempty"`
	TakesBack []int          `json:"takesBack,omitempty"`
	Untold    []int          `json:"untold,omitempty"` // see accounts.take.
	Takes     *remedies.Debt `json:"takes,omitempty"`
	Pays      string         `json:"pays,omitempty"`
	// Wide says that the attempt reaches beyond its cluster.
	Wide    bool              `json:"wide,omitempty"`
	Outcome outcome           `json:"outcome,omitempty"`
	Receipt *remedies.Receipt `json:"receipt,omitempty"`
	// Result is what a verification brought, and Until when it was watched to.
	Result result    `json:"result,omitempty"`
	Until  time.Time `json:"until,omitzero"`
	Note   string    `json:"note,omitempty"`
}

// carried is an effect as it stands in the journal, with the kind that says its type.
type carried struct {
	Kind   string          `json:"kind"`
	Effect json.RawMessage `json:"effect"`
}

func carry(e remedies.Effect) (*carried, error) {
	b, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("cannot write down %s: %w", e.What(), err)
	}
	return &carried{Kind: e.Kind(), Effect: b}, nil
}

// effect makes the effect again. Numbers come back as they were: 64-bit integers stay integers.
func (c *carried) effect(kinds map[string]func() remedies.Effect) (remedies.Effect, error) {
	if c == nil {
		return nil, errors.New("the journal does not say what was sent")
	}
	empty := kinds[c.Kind]
	if empty == nil {
		return nil, fmt.Errorf("this vksmedic knows no writes of the kind %q", c.Kind)
	}
	e := empty()
	if err := utiljson.Unmarshal(c.Effect, e); err != nil {
		return nil, fmt.Errorf("cannot read what was sent: %w", err)
	}
	return e, nil
}

// beginning is the first line: all that is needed to walk on another day.
type beginning struct {
	ID      string `json:"id"`
	Article string `json:"article"`
	// Digest is that of the article's file: another one is another article.
	Digest string `json:"digest,omitempty"`
	// Supervisor are the marks that were readable; Server and Context name it for people.
	Supervisor model.Marks      `json:"supervisor"`
	Server     string           `json:"server"`
	Context    string           `json:"context"`
	Cluster    model.ClusterRef `json:"cluster"`
	Target     remedies.Target  `json:"target"`
	Summary    string           `json:"summary"`
	Facts      json.RawMessage  `json:"facts,omitempty"`
	// Debt is what the walk was begun to pay; nil where it was begun for a finding.
	Debt *remedies.Debt `json:"debt,omitempty"`
}

// disk is what the journal does with files; tests let it fail.
type disk interface {
	// open opens for reading and appending; create makes the file, which must not be there.
	open(path string, create bool) (diskFile, error)
	// mkdir makes the folder, and syncDir flushes it, so that a new file in it survives a power cut.
	mkdir(path string) error
	syncDir(path string) error
	remove(path string) error
	// list are the names of the files in a folder; none where there is no folder.
	list(path string) ([]string, error)
	// lock takes the lock of an open file, or returns errLocked. It ends with the file.
	lock(f diskFile) error
}

type diskFile interface {
	io.ReadWriteCloser
	Sync() error
	Truncate(size int64) error
}

type realDisk struct{}

func (realDisk) open(path string, create bool) (diskFile, error) {
	flags := os.O_RDWR | os.O_APPEND
	if create {
		flags |= os.O_CREATE | os.O_EXCL
	}
	return os.OpenFile(path, flags, 0o600) //nolint:wrapcheck,gosec // wrapped by the journal; the name is our own.
}

func (realDisk) mkdir(path string) error {
	return os.MkdirAll(path, 0o700) //nolint:wrapcheck // wrapped by the journal.
}

func (realDisk) syncDir(path string) error {
	d, err := os.Open(path) //nolint:gosec // our own folder.
	if err != nil {
		return err //nolint:wrapcheck // wrapped by the journal.
	}
	defer d.Close() //nolint:errcheck // only read.
	return flushDir(d)
}

func (realDisk) remove(path string) error {
	return os.Remove(path) //nolint:wrapcheck,gosec // wrapped by the journal; our own file.
}

func (realDisk) list(path string) ([]string, error) {
	names, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err //nolint:wrapcheck // wrapped by the journal.
	}
	var out []string
	for _, n := range names {
		out = append(out, n.Name())
	}
	return out, nil
}

func (realDisk) lock(f diskFile) error {
	x, ok := f.(interface{ Fd() uintptr })
	if !ok {
		return errors.New("this file cannot be locked")
	}
	return lockFile(x.Fd())
}

// errLocked is what lock returns when another process has the lock.
var errLocked = errors.New("locked by another process")

// journal is the open journal of one walk. It is used by one goroutine at a time.
type journal struct {
	disk disk
	path string
	file diskFile
	size int64 // up to which the file is never cut off.
	last int   // the number of the last line.
	torn bool  // the last write may have left a line, or half of one.
}

// createJournal begins a journal. Nothing is left behind when it fails.
func createJournal(d disk, dir, id string) (*journal, error) {
	if dir == "" {
		return nil, errors.New("there is no folder for the journal; set XDG_STATE_HOME or HOME")
	}
	if err := d.mkdir(dir); err != nil {
		return nil, fmt.Errorf("cannot make the folder for the journal: %w", err)
	}
	path := filepath.Join(dir, id+journalSuffix)
	f, err := d.open(path, true)
	if err != nil {
		return nil, fmt.Errorf("cannot begin the journal: %w", err)
	}
	j := &journal{disk: d, path: path, file: f}
	if err := d.lock(f); err != nil {
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
func openJournal(d disk, dir, id string) (*journal, *record, error) {
	path := filepath.Join(dir, id+journalSuffix)
	f, err := d.open(path, false)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot open the journal: %w", err)
	}
	j := &journal{disk: d, path: path, file: f}
	if err := d.lock(f); err != nil {
		j.close()
		if errors.Is(err, errLocked) {
			return nil, nil, remedies.ErrBusy
		}
		return nil, nil, fmt.Errorf("cannot lock the journal %s: %w", path, err)
	}
	rec, size, err := readRecord(f)
	if err != nil {
		j.close()
		return nil, nil, fmt.Errorf("cannot read the journal %s: %w", path, err)
	}
	j.size, j.torn, j.last = size, rec.torn, rec.lastN()
	return j, rec, nil
}

// peekJournal reads a journal without its lock: somebody else may hold it.
func peekJournal(d disk, dir, id string) (*record, error) {
	f, err := d.open(filepath.Join(dir, id+journalSuffix), false)
	if err != nil {
		return nil, fmt.Errorf("cannot open the journal: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read.
	rec, _, err := readRecord(f)
	return rec, err
}

// write adds a line and returns once it is on the disk. When it fails the line does not count.
func (j *journal) write(e *entry) error {
	e.N = j.last + 1
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
			// What stays is part of the file: the next line that has to be cut off begins behind it.
			j.torn, j.size = true, j.size+int64(n)
		}
		return fmt.Errorf("cannot write the journal %s: %w", j.path, err)
	}
	j.size += int64(n)
	j.last, j.torn = e.N, false
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
	_ = j.disk.remove(j.path) // an empty one that stays is skipped when it is read.
}

// record is what a journal file says.
type record struct {
	begin   *beginning
	entries []entry
	// old is what a journal of format 1 says, which cannot be continued.
	old *oldWalk
	// torn says that the last line has no end; unread counts lines in between that are none of ours.
	torn   bool
	unread int
}

func (r *record) over() bool {
	if r.old != nil {
		return r.old.over
	}
	return slices.ContainsFunc(r.entries, func(e entry) bool { return e.Kind == entryEnd })
}

// last is the time of the last line.
func (r *record) last() time.Time {
	switch {
	case r.old != nil:
		return r.old.last
	case len(r.entries) == 0:
		return time.Time{}
	}
	return r.entries[len(r.entries)-1].At
}

// errNoBeginning is a journal whose first line never got to the disk: nothing was changed.
var errNoBeginning = errors.New("its first line is missing or broken")

// readRecord reads a journal. Half a line, and a line that is no JSON, is skipped: it was
// never acted upon, since a change is sent only after its line is whole on the disk.
func readRecord(r io.Reader) (*record, int64, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxJournal+1))
	if err != nil {
		return nil, 0, fmt.Errorf("cannot read it: %w", err)
	}
	if len(data) > maxJournal {
		return nil, 0, fmt.Errorf("it is larger than %d MiB, so it is no journal of vksmedic", maxJournal>>20)
	}
	rec := &record{torn: len(data) > 0 && data[len(data)-1] != '\n'}
	sc := bufio.NewScanner(bytes.NewReader(data))
	sc.Buffer(nil, maxJournal)
	for sc.Scan() {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		if err := rec.add(sc.Bytes()); err != nil {
			return nil, 0, err
		}
	}
	if err := sc.Err(); err != nil {
		return nil, 0, fmt.Errorf("cannot read it: %w", err)
	}
	if rec.begin == nil && rec.old == nil {
		return nil, 0, errNoBeginning
	}
	return rec, int64(len(data)), nil
}

// add takes one line.
func (r *record) add(line []byte) error {
	var head struct {
		V    int       `json:"v"`
		Kind entryKind `json:"kind"`
	}
	switch err := json.Unmarshal(line, &head); {
	case err != nil || head.Kind == "":
		r.unread++
		return nil
	case head.V > journalVersion:
		return fmt.Errorf("it was written by a newer vksmedic (format %d, known is %d)", head.V, journalVersion)
	case head.V < journalVersion:
		if r.old == nil {
			r.old = &oldWalk{}
		}
		r.old.add(line)
		return nil
	}
	var e entry
	if json.Unmarshal(line, &e) != nil {
		r.unread++
		return nil
	}
	if r.old != nil { // put away: the end of an old walk is written in the new format.
		r.old.over = r.old.over || e.Kind == entryEnd
		return nil
	}
	r.entries = slices.DeleteFunc(r.entries, func(x entry) bool { return x.N >= e.N })
	if e.Kind == entryBegin {
		r.begin = e.Begin
	}
	r.entries = append(r.entries, e)
	return nil
}

// lastN is the number of the last line.
func (r *record) lastN() int {
	if len(r.entries) == 0 {
		return 0
	}
	return r.entries[len(r.entries)-1].N
}

// journalIDs lists the walks that have a journal, oldest first (ids begin with their time).
func journalIDs(d disk, dir string) ([]string, error) {
	if dir == "" {
		return nil, nil
	}
	names, err := d.list(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot list the journal's folder: %w", err)
	}
	var out []string
	for _, n := range names {
		if id, ok := strings.CutSuffix(n, journalSuffix); ok {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out, nil
}
