package ui

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"vksmedic/model/text"
)

// The log's bounds: what waits to be drawn, how long a line may be, and how large the
// file may grow before the next start begins a new one.
const (
	logWaiting = 256
	logLine    = 2000
	logFile    = 4 << 20
)

// Log takes what libraries and API servers have to say besides (client-go's log,
// deprecation warnings), so that nothing but the program writes to the terminal. It keeps
// them in a file and hands them to the screen.
type Log struct {
	handler *logHandler
}

// NewLog makes a log with a file; where the path is empty or can't be written, there is
// only the screen. The file of a program that ran before is kept as path.old once it is large.
func NewLog(path string) *Log {
	h := &logHandler{shared: &logShared{lines: make(chan LogLine, logWaiting)}}
	if path == "" {
		return &Log{h}
	}
	if err := h.shared.open(path); err != nil {
		h.shared.put(LogLine{At: time.Now(), Level: "warning", Text: "no log file: " + text.Clean(err.Error())})
	}
	return &Log{h}
}

// Logger is for those who write.
func (l *Log) Logger() *slog.Logger { return slog.New(l.handler) }

// Lines is for the screen; lines that it does not take in time are only in the file.
func (l *Log) Lines() <-chan LogLine { return l.handler.shared.lines }

// Close closes the file.
func (l *Log) Close() {
	s := l.handler.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		_ = s.file.Close()
		s.file = nil
	}
}

type logShared struct {
	lines chan LogLine

	mu   sync.Mutex
	file *os.File
}

func (s *logShared) open(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make its folder: %w", err)
	}
	if i, err := os.Stat(path); err == nil && i.Size() > logFile {
		if err := os.Rename(path, path+".old"); err != nil {
			return fmt.Errorf("put the old one aside: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open it: %w", err)
	}
	s.file = f
	return nil
}

func (s *logShared) put(l LogLine) {
	s.mu.Lock()
	if s.file != nil {
		_, _ = fmt.Fprintf(s.file, "%s %-7s %s\n", l.At.UTC().Format(time.RFC3339), l.Level, l.Text)
	}
	s.mu.Unlock()
	select {
	case s.lines <- l:
	default:
	}
}

// logHandler is the slog side.
type logHandler struct {
	shared *logShared
	attrs  string
	group  string
}

// Enabled leaves out what only developers of the libraries want.
func (h *logHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}

// Handle writes one record as one clean line.
func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Message)
	b.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		h.write(&b, a)
		return true
	})
	level := "info"
	switch {
	case r.Level >= slog.LevelError:
		level = "error"
	case r.Level >= slog.LevelWarn:
		level = "warning"
	}
	h.shared.put(LogLine{At: r.Time, Level: level, Text: text.Limit(text.Clean(b.String()), logLine)})
	return nil
}

func (h *logHandler) write(b *strings.Builder, a slog.Attr) {
	fmt.Fprintf(b, " %s%s=%v", h.group, a.Key, a.Value.Resolve())
}

// WithAttrs implements slog.Handler.
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var b strings.Builder
	b.WriteString(h.attrs)
	for _, a := range attrs {
		h.write(&b, a)
	}
	return &logHandler{shared: h.shared, attrs: b.String(), group: h.group}
}

// WithGroup implements slog.Handler.
func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{shared: h.shared, attrs: h.attrs, group: h.group + name + "."}
}
