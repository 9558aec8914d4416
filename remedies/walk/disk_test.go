package walk

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
)

// diskFault is how a write to the disk fails.
type diskFault string

const (
	diskFine     diskFault = ""
	diskFull     diskFault = "disk-full"           // nothing of the line is written.
	diskHalf     diskFault = "disk-half"           // half of it is, and it can be cut off again.
	diskStuck    diskFault = "disk-half-stuck"     // half of it is, and stays.
	diskUnsynced diskFault = "disk-sync"           // all of it is, but not flushed, and it can be cut off.
	diskKept     diskFault = "disk-sync-stuck"     // all of it is, not flushed, and it stays.
	diskNoFile   diskFault = "disk-no-new-files"   // no file can be made.
	diskNoDir    diskFault = "disk-dir-not-synced" // a new file's folder cannot be flushed.
)

func diskFaults() []diskFault {
	return []diskFault{diskFull, diskHalf, diskStuck, diskUnsynced, diskKept, diskNoFile, diskNoDir}
}

// memDisk is a disk in memory that outlives processes.
type memDisk struct {
	mu    sync.Mutex
	files map[string]*memFile
}

type memFile struct {
	data   []byte
	locked *procFile
}

func newMemDisk() *memDisk { return &memDisk{files: map[string]*memFile{}} }

func (d *memDisk) read(path string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.files[path]
	if f == nil {
		return nil
	}
	return bytes.Clone(f.data)
}

// process is one run of the program. It dies at a moment: before, in the middle of, or after
// what it does then; from then on nothing that it does has an effect.
type process struct {
	mu      sync.Mutex
	dead    bool
	moments int
	dieAt   int // the moment; zero: it does not die.
	how     death
}

type death int

const (
	dieBefore death = iota
	dieHalfway
	dieAfter
)

var errDead = errors.New("the process is dead")

// moment says whether the process can do something, and how it dies while it does.
func (p *process) moment() (alive, dies bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return false, false
	}
	p.moments++
	if p.moments == p.dieAt {
		p.dead = true
		return true, true
	}
	return true, false
}

func (p *process) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
}

// procDisk is the disk as a process sees it.
type procDisk struct {
	disk *memDisk
	proc *process
	// fault says how what is done next fails; nil: it does not. line is what is written.
	fault func(line []byte) diskFault
}

func (d *procDisk) faultOf(line []byte) diskFault {
	if d.fault == nil {
		return diskFine
	}
	return d.fault(line)
}

type procFile struct {
	d    *procDisk
	path string
	pos  int
	bad  diskFault // of the last write, for Sync and Truncate.
}

func (d *procDisk) open(path string, create bool) (diskFile, error) {
	if d.proc.isDead() {
		return nil, errDead
	}
	if create {
		alive, dies := d.proc.moment()
		if !alive || (dies && d.proc.how == dieBefore) {
			return nil, errDead
		}
		if d.faultOf(nil) == diskNoFile {
			return nil, errors.New("no space left on device")
		}
	}
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	f := d.disk.files[path]
	switch {
	case create && f != nil:
		return nil, fs.ErrExist
	case !create && f == nil:
		return nil, fs.ErrNotExist
	case create:
		d.disk.files[path] = &memFile{}
	}
	return &procFile{d: d, path: path}, nil
}

func (d *procDisk) mkdir(string) error {
	if d.proc.isDead() {
		return errDead
	}
	return nil
}

func (d *procDisk) syncDir(string) error {
	if d.proc.isDead() {
		return errDead
	}
	if d.faultOf(nil) == diskNoDir {
		return errors.New("input/output error")
	}
	return nil
}

func (d *procDisk) remove(path string) error {
	if d.proc.isDead() {
		return errDead
	}
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	delete(d.disk.files, path)
	return nil
}

func (d *procDisk) list(dir string) ([]string, error) {
	if d.proc.isDead() {
		return nil, errDead
	}
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	var out []string
	for p := range d.disk.files {
		if filepath.Dir(p) == dir {
			out = append(out, strings.TrimPrefix(p, dir+string(filepath.Separator)))
		}
	}
	return out, nil
}

func (d *procDisk) lock(f diskFile) error {
	x := f.(*procFile)
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	m := d.disk.files[x.path]
	if m.locked != nil && !m.locked.d.proc.isDead() {
		return errLocked
	}
	m.locked = x
	x.bad = diskFine
	return nil
}

func (f *procFile) Read(b []byte) (int, error) {
	f.d.disk.mu.Lock()
	defer f.d.disk.mu.Unlock()
	m := f.d.disk.files[f.path]
	if m == nil || f.pos >= len(m.data) {
		return 0, io.EOF
	}
	n := copy(b, m.data[f.pos:])
	f.pos += n
	return n, nil
}

func (f *procFile) Write(b []byte) (int, error) {
	alive, dies := f.d.proc.moment()
	if !alive {
		return 0, errDead
	}
	n := len(b)
	if dies {
		switch f.d.proc.how {
		case dieBefore:
			n = 0
		case dieHalfway:
			n /= 2
		case dieAfter:
		}
	}
	f.bad = diskFine
	if !dies {
		f.bad = f.d.faultOf(b)
	}
	switch f.bad {
	case diskFull, diskNoFile, diskNoDir:
		return 0, errors.New("no space left on device")
	case diskHalf, diskStuck:
		n /= 2
	case diskFine, diskUnsynced, diskKept:
	}
	f.d.disk.mu.Lock()
	defer f.d.disk.mu.Unlock()
	m := f.d.disk.files[f.path]
	if m == nil {
		return 0, fs.ErrNotExist
	}
	m.data = append(m.data, b[:n]...)
	switch {
	case dies:
		return n, errDead
	case n < len(b):
		return n, errors.New("no space left on device")
	}
	return n, nil
}

func (f *procFile) Sync() error {
	if f.d.proc.isDead() {
		return errDead
	}
	if f.bad == diskUnsynced || f.bad == diskKept {
		return errors.New("input/output error")
	}
	return nil
}

func (f *procFile) Truncate(size int64) error {
	if f.d.proc.isDead() {
		return errDead
	}
	if f.bad == diskStuck || f.bad == diskKept {
		return errors.New("input/output error")
	}
	f.d.disk.mu.Lock()
	defer f.d.disk.mu.Unlock()
	m := f.d.disk.files[f.path]
	m.data = m.data[:size]
	return nil
}

func (f *procFile) Close() error {
	f.d.disk.mu.Lock()
	defer f.d.disk.mu.Unlock()
	if m := f.d.disk.files[f.path]; m != nil && m.locked == f && !f.d.proc.isDead() {
		m.locked = nil
	}
	return nil
}
