//go:build unix

package capture

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestPipeThatSaysNothing(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	silent, w := io.Pipe()
	t.Cleanup(func() { _ = w.Close() })
	for name, c := range map[string]struct {
		path string
		in   io.Reader
	}{"a FIFO that nobody opens": {fifo, nil}, "an idle pipe": {Stdin, silent}} {
		began := time.Now()
		if _, err := ReadWith(t.Context(), c.path, c.in, ReadOptions{Idle: time.Second}); !errors.Is(err, ErrSilent) || !strings.Contains(err.Error(), "for 1s") {
			t.Errorf("%s: %v", name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		if _, err := ReadWith(ctx, c.path, c.in, ReadOptions{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
	}
}

func TestPipeInPieces(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		for _, s := range []string{"apiVersion: cluster.x-k8s.io/v1beta2\nkind: Mach", "ine\nmetadata: {name: m, names", "pace: ns}\nspec: {clusterName: c}\n"} {
			_, _ = io.WriteString(w, s)
		}
		_ = w.Close()
	}()
	d, err := ReadWith(t.Context(), Stdin, r, ReadOptions{Idle: time.Minute})
	if err != nil || len(d.Objects) != 1 {
		t.Errorf("%v, %+v", err, d)
	}
}
