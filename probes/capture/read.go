package capture

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vksmedic/model/text"
)

// Limits on what is read, so that no file can fill the memory or keep the program for ever.
const (
	// documentLimit is the largest document (or item of a List) that is decoded.
	documentLimit = 32 << 20
	// fileLimit is the most that is read of one file, unpacked.
	fileLimit = 8 << 30
	// archiveDepth is how many archives may be packed into each other.
	archiveDepth = 3
	// sniff is how much of a file is looked at to tell what it is.
	sniff = 8 << 10
)

// ReadingGC is the garbage collector's target (as for debug.SetGCPercent) with which a large dump is
// best read: most of what decoding makes is garbage at once, and collecting it twice as often
// costs little. Whoever owns the process sets it while reading.
const ReadingGC = 50

// Stdin is the path that means the standard input.
const Stdin = "-"

// Read reads a dump: a file, a folder, an archive, or Stdin from in. It returns an error only
// where nothing can be read at all (no such path, no right to it) or ctx ends; everything else is in
// the Sources of the dump.
func Read(ctx context.Context, path string, in io.Reader) (*Dump, error) {
	return ReadWith(ctx, path, in, ReadOptions{})
}

// ReadOptions say how a dump is read.
type ReadOptions struct {
	// Idle is how long a pipe may say nothing; zero for as long as the context lives.
	Idle time.Duration
	// Progress is told from time to time how many bytes, unpacked, and files were read; nil for nobody.
	Progress func(bytes int64, files int)
}

// ReadWith does what Read does.
func ReadWith(ctx context.Context, path string, in io.Reader, o ReadOptions) (*Dump, error) {
	d := newDump(path)
	r := &reader{ctx: ctx, dump: d, o: o}
	if path == Stdin {
		if in == nil {
			return nil, errors.New("cannot read a dump from the standard input: there is none")
		}
		return r.pipe("standard input", func() (io.Reader, error) { return in, nil })
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, notReadable(path, err)
	}
	if info.IsDir() {
		if err := r.folder(path); err != nil {
			return nil, notReadable(path, err)
		}
		return d.done(ctx)
	}
	if !info.Mode().IsRegular() {
		// Opening a FIFO waits for whoever writes into it.
		return r.pipe(filepath.Base(path), func() (io.Reader, error) { return os.Open(path) }) //nolint:gosec // the engineer named it.
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, notReadable(path, err)
	}
	defer func() { _ = f.Close() }() // It was only read.
	r.file(filepath.Base(path), f, 0)
	return d.done(ctx)
}

// unreadable says why nothing of a dump could be read, and still is the error of the system.
type unreadable struct {
	words string
	cause error
}

func (e *unreadable) Error() string { return e.words }
func (e *unreadable) Unwrap() error { return e.cause }

func notReadable(path string, err error) error {
	do := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		do = "; check the path after --from"
	case errors.Is(err, fs.ErrPermission):
		do = "; ask its owner for the right to read it"
	}
	return &unreadable{fmt.Sprintf("cannot read the dump %s: %s%s", text.Clean(path), reason(err), do), err}
}

// full says once that not everything was read.
func (r *reader) full() {
	if !r.over {
		r.over = true
		r.dump.lost(r.dump.Path, fmt.Sprintf("has more than %d files; the rest was not read", filesLimit))
	}
}

type reader struct {
	ctx  context.Context // One call of Read lives exactly as long.
	dump *Dump
	o    ReadOptions
	// read counts bytes and files; told is when Progress last was.
	read  int64
	over  bool // there are more files than are read.
	files int
	told  time.Time
}

// progressEvery is how often Progress is told.
const progressEvery = time.Second / 2

// count counts what is read, and tells from time to time.
func (r *reader) count(n int) {
	r.read += int64(n)
	if r.o.Progress == nil {
		return
	}
	now := time.Now()
	if r.told.IsZero() {
		r.told = now // a small dump is read before anybody could see it.
	}
	if now.Sub(r.told) >= progressEvery {
		r.told = now
		r.o.Progress(r.read, r.files)
	}
}

// pipe reads what may never say anything.
func (r *reader) pipe(name string, open func() (io.Reader, error)) (*Dump, error) {
	w := newWaiting(r.ctx, name, r.o.Idle, open)
	r.file(name, w, 0)
	if errors.Is(w.err, ErrSilent) {
		return nil, notReadable(name, w.err)
	}
	return r.dump.done(r.ctx)
}

// folder reads every regular file below root, in the order of their names.
func (r *reader) folder(root string) error {
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		name := relative(root, path)
		switch {
		case r.over:
			return fs.SkipAll
		case err != nil && path == root:
			return err
		case err != nil:
			r.dump.lost(name, "cannot be read: "+reason(err))
		case e.IsDir():
		case e.Type()&fs.ModeSymlink != 0:
			r.dump.notUnderstood(name, "is a symbolic link, which is not followed")
		case !e.Type().IsRegular():
			r.dump.notUnderstood(name, "is not a regular file")
		default:
			r.open(path, name)
		}
		return nil
	})
	return err //nolint:wrapcheck // Read says what it is about.
}

func relative(root, path string) string {
	name, err := filepath.Rel(root, path)
	if err != nil {
		return filepath.Base(path)
	}
	return filepath.ToSlash(name)
}

func (r *reader) open(path, name string) {
	f, err := os.Open(path)
	if err != nil {
		r.dump.lost(name, "cannot be read: "+reason(err))
		return
	}
	defer func() { _ = f.Close() }() // It was only read.
	// Between listing and opening a file may have become something else.
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		r.dump.notUnderstood(name, "is not a regular file")
		return
	}
	r.file(name, f, 0)
}

// reason is an error without the path, which the source's name says already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return text.Clean(err.Error())
}

// file reads one file or member of an archive, whatever is in it.
func (r *reader) file(name string, in io.Reader, depth int) {
	if r.files >= filesLimit {
		r.full()
		return
	}
	b := bufio.NewReaderSize(&bounded{in: in, left: fileLimit, ctx: r.ctx, count: r.counter(depth)}, 64<<10)
	head, err := b.Peek(sniff)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		r.dump.lost(name, "cannot be read: "+reason(err))
		return
	}
	switch {
	case len(head) == 0:
		r.dump.notUnderstood(name, "is empty")
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		r.gzip(name, b, depth)
	case isTar(head):
		r.tar(name, b, depth)
	case packed(head) != "":
		r.dump.notUnderstood(name, "is "+packed(head)+"; unpack it, or make it a .tar.gz")
	default:
		r.text(name, b, head)
	}
}

func isTar(head []byte) bool {
	return len(head) >= 512 && bytes.HasPrefix(head[257:], []byte("ustar"))
}

// packed names the kinds of archive that are not read.
func packed(head []byte) string {
	for magic, what := range map[string]string{
		"PK\x03\x04": "a zip archive", "\x28\xb5\x2f\xfd": "a zstd archive", "BZh": "a bzip2 archive",
		"\xfd7zXZ\x00": "an xz archive", "7z\xbc\xaf\x27\x1c": "a 7z archive",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return what
		}
	}
	return ""
}

func (r *reader) gzip(name string, in io.Reader, depth int) {
	if depth >= archiveDepth {
		r.dump.lost(name, "is packed too many times")
		return
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		r.dump.lost(name, "is a damaged gzip file: "+reason(err))
		return
	}
	defer func() { _ = z.Close() }() // It was only read.
	r.file(strings.TrimSuffix(name, ".gz"), z, depth+1)
}

func (r *reader) tar(name string, in io.Reader, depth int) {
	if depth >= archiveDepth {
		r.dump.lost(name, "is packed too many times")
		return
	}
	t := tar.NewReader(in)
	for r.ctx.Err() == nil && !r.over {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			r.dump.lost(name, "the archive ends early or is damaged: "+reason(err))
			return
		}
		if h.Typeflag == tar.TypeReg {
			r.file(strings.TrimPrefix(h.Name, "./"), t, depth+1)
		}
	}
}

// text reads objects from what is neither an archive nor packed.
func (r *reader) text(name string, in *bufio.Reader, head []byte) {
	var body io.Reader = in
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}), bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		body = utf16Reader(in) // What PowerShell writes when output is redirected.
	case bytes.HasPrefix(head, []byte{0xef, 0xbb, 0xbf}):
		_, _ = in.Discard(3) // They were peeked at.
	case bytes.IndexByte(head, 0) >= 0:
		r.dump.notUnderstood(name, "is a binary file")
		return
	}
	f := &filed{ctx: r.ctx, name: name, dump: r.dump}
	b := bufio.NewReaderSize(body, 64<<10)
	if isJSON(b) {
		f.json(b)
	} else {
		f.yaml(b)
	}
	f.close(r.ctx)
}

// isJSON tells JSON from YAML, without taking anything: YAML in flow style begins with a brace
// too, but its keys need no quotes.
func isJSON(b *bufio.Reader) bool {
	head, _ := b.Peek(sniff) // Less is fine: the file may be short.
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 {
		return false
	}
	next := bytes.TrimLeft(head[1:], " \t\r\n")
	switch head[0] {
	case '{':
		return len(next) == 0 || next[0] == '"' || next[0] == '}'
	case '[':
		return len(next) == 0 || bytes.IndexByte([]byte(`{["]-0123456789tfn`), next[0]) >= 0 && (next[0] != '{' || isObject(next))
	}
	return false
}

func isObject(b []byte) bool {
	next := bytes.TrimLeft(b[1:], " \t\r\n")
	return len(next) == 0 || next[0] == '"' || next[0] == '}'
}

// errTooMuch ends a file that is longer than is read.
var errTooMuch = errors.New("it is larger than 8 GiB, of which the rest was not read")

// bounded ends with the context, and after as many bytes as it may give.
type bounded struct {
	in   io.Reader
	left int64
	ctx  context.Context
	// count is told of every read.
	count func(int)
}

// counter counts what is read of the file itself; what is unpacked from it is not counted twice.
func (r *reader) counter(depth int) func(int) {
	r.files++
	if depth == 0 {
		return r.count
	}
	return func(int) { r.count(0) }
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err //nolint:wrapcheck // Read says that it was given up.
	}
	if b.left <= 0 {
		return 0, errTooMuch
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.in.Read(p)
	b.left -= int64(n)
	b.count(n)
	return n, err //nolint:wrapcheck // io.EOF has to stay what it is.
}
