package walk

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"vksmedic/probes/supervisor"
	"vksmedic/remedies"
)

// faultyDisk fails when it is told to.
type faultyDisk struct {
	realDisk
	// failWrite is asked for every write with the bytes; it returns how many are written before it fails.
	failWrite func(b []byte) (written int, fail bool)
	noCut     bool
	dirFails  bool
}

func (d *faultyDisk) open(path string, create bool) (diskFile, error) {
	f, err := d.realDisk.open(path, create)
	if err != nil {
		return nil, err
	}
	return &faultyFile{f, d}, nil
}

func (d *faultyDisk) syncDir(path string) error {
	if d.dirFails {
		return syscall.EIO
	}
	return d.realDisk.syncDir(path)
}

type faultyFile struct {
	diskFile
	d *faultyDisk
}

func (f *faultyFile) Write(b []byte) (int, error) {
	if f.d.failWrite != nil {
		if n, fail := f.d.failWrite(b); fail {
			n, _ = f.diskFile.Write(b[:n])
			return n, syscall.ENOSPC
		}
	}
	return f.diskFile.Write(b) //nolint:wrapcheck // a test.
}

// Fd is for the lock.
func (f *faultyFile) Fd() uintptr {
	x, _ := f.diskFile.(interface{ Fd() uintptr })
	return x.Fd()
}

func (f *faultyFile) Truncate(size int64) error {
	if f.d.noCut {
		return syscall.ENOSPC
	}
	return f.diskFile.Truncate(size) //nolint:wrapcheck // a test.
}

// failOn fails writes that hold a text.
func failOn(what string, written int) func([]byte) (int, bool) {
	return func(b []byte) (int, bool) { return min(written, len(b)), strings.Contains(string(b), what) }
}

// Without the line before, nothing is applied.
func testFullDiskBeforeAChange(t *testing.T, l *testLab) {
	for name, c := range map[string]struct {
		disk   *faultyDisk
		dir    string
		atOnce bool
	}{
		"the line before":        {disk: &faultyDisk{failWrite: failOn(`"kind":"before"`, 0)}},
		"half of the line":       {disk: &faultyDisk{failWrite: failOn(`"kind":"before"`, 30)}},
		"half, and it stays":     {disk: &faultyDisk{failWrite: failOn(`"kind":"before"`, 30), noCut: true}},
		"every line":             {atOnce: true, disk: &faultyDisk{failWrite: failOn(``, 0)}},
		"the folder":             {atOnce: true, disk: &faultyDisk{dirFails: true}},
		"the folder is a file":   {atOnce: true, disk: &faultyDisk{}, dir: "/dev/null/journal"},
		"there is no folder yet": {atOnce: true, disk: &faultyDisk{}, dir: "-"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := "disk-" + strings.NewReplacer(" ", "-", ",", "").Replace(name)
			e := l.engineer(t, "administrator", func(cfg *Config) {
				switch c.dir {
				case "":
				case "-":
					cfg.JournalDir = ""
				default:
					cfg.JournalDir = c.dir
				}
			})
			e.runner.disk = c.disk
			w := e.begin(l.stage(t, ns))
			p := toRule(t, w, reachNamespace)
			err := w.Apply(t.Context(), p.Token, "")
			if c.atOnce { // what blocks the change stands on the preview already.
				if !strings.Contains(p.Blocked, "the journal cannot be written") || !errors.Is(err, remedies.ErrBlocked) {
					t.Fatalf("blocked %q, and then %v", p.Blocked, err)
				}
			} else if !errors.Is(err, remedies.ErrJournal) || !strings.Contains(err.Error(), "nothing was applied") {
				t.Fatalf("got %v", err)
			}
			if n := len(l.rules(t, ns)); n != 0 {
				t.Errorf("%d rules were written", n)
			}
			if n := len(l.leases(t, ns)); c.atOnce && n != 0 {
				t.Errorf("%d leases were written", n)
			}
			*c.disk = faultyDisk{} // room again.
			if c.dir != "" {
				return
			}
			must(t, w.Enter(t.Context()))
			must(t, w.Apply(t.Context(), w.View().Preview.Token, ""))
			w.Leave()
			again, err := e.runner.Pending(t.Context())
			if err != nil || len(again) != 1 || again[0].Refused != "" || again[0].Step != "Wait for the Machine to go" {
				t.Errorf("pending: %+v %v", again, err)
			}
		})
	}
}

// Without the line after, the next start looks.
func testFullDiskAfterAChange(t *testing.T, l *testLab) {
	e := l.engineer(t, "administrator")
	disk := &faultyDisk{failWrite: failOn(`"kind":"after"`, 20), noCut: true}
	e.runner.disk = disk
	w := e.begin(l.stage(t, "disk-after"))
	must(t, w.Apply(t.Context(), toRule(t, w, reachNamespace).Token, ""))
	if v := w.View(); v.Steps[2].State != remedies.StateDone || !strings.Contains(strings.Join(v.Trouble, "\n"), "no space left") {
		t.Errorf("the view: %+v", v)
	}
	disk.failWrite = failOn("", 0)
	w.Leave()
	*disk = faultyDisk{}
	p, err := e.runner.Pending(t.Context())
	if err != nil || len(p) != 1 || !p[0].Unsure {
		t.Fatalf("pending: %+v %v", p, err)
	}
	w, err = e.runner.Resume(t.Context(), p[0].ID)
	must(t, err)
	if v := w.View(); v.Steps[2].State != remedies.StateDone || !strings.Contains(v.Resumed, "it had been applied") || !strings.Contains(v.Resumed, "while it was doing step 3") {
		t.Errorf("the view: %+v", v)
	}
	if n := len(l.rules(t, "disk-after")); n != 1 {
		t.Errorf("%d rules", n)
	}
	w.Leave()
}

// Journals that cannot be read are listed with the reason, and the others can be used.
func testUnreadableJournals(t *testing.T, l *testLab) {
	f := l.stage(t, "unreadable")
	e := l.engineer(t, "administrator")
	w := e.begin(f)
	must(t, w.Apply(t.Context(), toRule(t, w, reachNamespace).Token, ""))
	good := w.ID()
	w.Leave()
	dir := e.cfg.JournalDir
	write := func(name, s string) { must(t, os.WriteFile(filepath.Join(dir, name+journalSuffix), []byte(s), 0o600)) }
	must(t, os.Mkdir(filepath.Join(dir, "a-folder"+journalSuffix), 0o700))
	write("b-empty", "")
	write("c-broken", "{\"kind\":\"beg")
	write("d-newer", `{"v":99,"kind":"begin"}`+"\n")
	write("e-binary", "\x00\x01\x02\xff")
	write("f-strange-article", `{"v":1,"kind":"begin","begin":{"id":"f-strange-article","article":"nothing"}}`+"\n")
	p, err := e.runner.Pending(t.Context())
	must(t, err)
	refused := map[string]string{}
	for _, x := range p {
		refused[x.ID] = x.Refused
	}
	if len(p) != 4 || refused["a-folder"] == "" || !strings.Contains(refused["d-newer"], "newer vksmedic") || refused["f-strange-article"] == "" || refused[good] != "" {
		t.Errorf("pending: %+v", p)
	}
	for id := range refused {
		if _, err := e.runner.Resume(t.Context(), id); (err == nil) != (id == good) {
			t.Errorf("resume %s: %v", id, err)
		}
	}
	again := l.engineer(t, "administrator", func(c *Config) { c.JournalDir = dir })
	if err := again.runner.Forget(good); !errors.Is(err, remedies.ErrBusy) {
		t.Errorf("forget what is open: %v", err)
	}
}

func testForget(t *testing.T, l *testLab) {
	e := l.engineer(t, "administrator")
	w := e.begin(l.stage(t, "forget"))
	must(t, w.Apply(t.Context(), toRule(t, w, reachNamespace).Token, ""))
	id := w.ID()
	w.Leave()
	must(t, e.runner.Forget(id))
	if p, err := e.runner.Pending(t.Context()); err != nil || len(p) != 0 {
		t.Errorf("pending: %v %v", p, err)
	}
	if err := e.runner.Forget(id); !errors.Is(err, remedies.ErrOver) {
		t.Errorf("twice: %v", err)
	}
}

// The journal is private, and holds nothing but what it needs.
func TestJournalIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "journal")
	j, err := createJournal(realDisk{}, dir, "x")
	must(t, err)
	must(t, j.write(&entry{V: journalVersion, Kind: entryBegin, Begin: &beginning{ID: "x"}}))
	j.close()
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "x"+journalSuffix): 0o600} {
		if i, err := os.Stat(path); err != nil || i.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, i.Mode(), err)
		}
	}
	if _, err := createJournal(realDisk{}, dir, "x"); err == nil {
		t.Error("a journal was written over")
	}
}

func FuzzReadRecord(f *testing.F) {
	f.Add(`{"v":2,"at":"2026-01-02T03:04:05Z","kind":"begin","begin":{"id":"x","article":"kube-cert-agent-blocks-drain"}}` + "\n" + `{"v":2,"n":2,"kind":"before","step":"rule","attempt":1,"effect":{"kind":"object","effect":{"verb":"create"}}}` + "\n")
	f.Add(`{"v":1,"at":"2026-01-02T03:04:05Z","kind":"begin","begin":{"id":"x","article":"a"}}` + "\n" + `{"v":1,"kind":"before","step":"rule","change":{"verb":"create"}}` + "\n")
	f.Add("\n\n{}\nnull\n[]")
	r := NewRunner(testConfig(f, &hooked{Connection: &supervisor.Connection{}}))
	a := r.cfg.Articles.ByID("kube-cert-agent-blocks-drain")
	f.Fuzz(func(_ *testing.T, s string) {
		rec, _, err := readRecord(strings.NewReader(s))
		if err != nil {
			return
		}
		if rec.old != nil {
			rec.old.words(r.cfg.Sites)
			return
		}
		r.wrote(rec)
		st, err := replay(a, rec)
		if err != nil {
			return
		}
		if w, err := r.newWalk(a, st); err == nil {
			w.View()
		}
	})
}
