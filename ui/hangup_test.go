//go:build unix

package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"vksmedic/model"
)

// A terminal that goes ends the program, even one that gets no signal, because the terminal
// is not its controlling one.
func TestTerminalThatGoes(t *testing.T) {
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(ours, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- Run(t.Context(), Options{In: theirs, Out: theirs, Where: where(), Now: clock, Snapshots: make(chan *model.Snapshot)})
	}()
	var seen strings.Builder
	for b := make([]byte, 4096); !strings.Contains(seen.String(), "vksmedic"); {
		n, err := ours.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		seen.Write(b[:n])
	}
	_ = ours.Close()
	select {
	case err := <-ended:
		t.Logf("nobody is there to be told, but: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("it goes on without a terminal")
	}
	_ = theirs.Close()
}
