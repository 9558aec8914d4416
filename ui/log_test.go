package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vksmedic/model/text"
)

func readLog(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path) //nolint:gosec // ours.
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestLogFoldsRepeatsAndStorms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x", "log")
	l := NewLog(path, nil)
	s := l.handler.shared
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for range 1000 {
		s.put(LogLine{At: at, Level: "info", Text: "the same"})
	}
	for i := range 1000 {
		s.put(LogLine{At: at, Level: "info", Text: fmt.Sprint("line ", i)})
	}
	s.put(LogLine{At: at.Add(time.Second), Level: "info", Text: "quiet again"})
	l.Close()
	got := readLog(t, path)
	if n := strings.Count(got, "\n"); n > logPace+5 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{"the same\n", "(the line before came 999 times more)", fmt.Sprintf("(%d lines left out", 1000-logPace+1), "quiet again"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestLogIsBounded(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	l := NewLog(path, nil)
	s := l.handler.shared
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range 12_000 { // 24 MB, a line a second.
		s.put(LogLine{At: at.Add(time.Duration(i) * time.Second), Level: "info", Text: fmt.Sprint(i, strings.Repeat("x", logLine))})
	}
	l.Close()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var size int64
	for _, f := range files {
		i, err := f.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += i.Size()
	}
	if len(files) != 2 || size > 2*logFile+2*logLine || size < logFile {
		t.Errorf("%d files, %d bytes", len(files), size)
	}
	if !strings.Contains(readLog(t, path), "11999x") {
		t.Error("the newest line is not there")
	}
}

func TestLogHoldsNoCredentials(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	secrets := &text.Secrets{}
	secrets.Add("a-token-of-some-length")
	l := NewLog(path, secrets.Hide)
	l.Logger().Info("said a-token-of-some-length", "header", "Bearer a-token-of-some-length")
	l.Logger().With("x", "a-token-of-some-length").Warn("again")
	l.Close()
	if got := readLog(t, path); strings.Contains(got, "a-token-of-some-length") || strings.Count(got, text.LeftOut) != 3 {
		t.Error(got)
	}
	if line := <-l.Lines(); strings.Contains(line.Text, "a-token") {
		t.Error(line.Text)
	}
}
