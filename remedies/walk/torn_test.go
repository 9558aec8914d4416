package walk

import (
	"bytes"
	"testing"
)

// Whatever the disk does with a line that it reports as not written, each line counts once,
// and one that was given up does not count once another has taken its place.
func TestTornLines(t *testing.T) {
	for _, f := range []diskFault{diskFull, diskHalf, diskStuck, diskUnsynced, diskKept} {
		t.Run(string(f), func(t *testing.T) {
			disk, fault := newMemDisk(), diskFine
			d := &procDisk{disk: disk, proc: &process{}, fault: func(line []byte) diskFault {
				if line == nil {
					return diskFine
				}
				return fault
			}}
			j, err := createJournal(d, "/d", "w")
			if err != nil {
				t.Fatal(err)
			}
			line := func(note string, bad diskFault) {
				t.Helper()
				fault = bad
				e := &entry{V: journalVersion, Kind: entryLook, Note: note}
				if note == "begin" {
					e.Kind, e.Begin = entryBegin, &beginning{ID: "w"}
				}
				if err := j.write(e); (err != nil) != (bad != diskFine) {
					t.Fatalf("%s: %v", note, err)
				}
			}
			line("begin", diskFine)
			line("given up", f)
			line("one", diskFine)
			line("two", f)
			line("two", diskHalf) // cuts off only what does not count.
			line("two", diskFine)
			line("three", diskFine)
			j.close()
			_, rec, err := openJournal(d, "/d", "w")
			if err != nil {
				t.Fatal(err)
			}
			var got []byte
			for _, e := range rec.entries {
				got = append(got, e.Note+" "...)
			}
			if want := []byte("begin one two three "); !bytes.Equal(got, want) || rec.lastN() != 4 {
				t.Errorf("the lines are %q, the last is %d; wanted %q\n%s", got, rec.lastN(), want, disk.read("/d/w.jsonl"))
			}
		})
	}
}
