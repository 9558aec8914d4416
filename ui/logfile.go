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

// The log's bounds: what waits to be drawn, how long a line may be, how large the file may
// grow before it is put aside, in place of the one that was put aside before, and how many lines a
// second are taken.
const (
	logWaiting = 256
	logLine    = 2000
	logFile    = 4 << 20
	logPace    = 100
)

// Log takes what libraries and API servers have to say besides (client-go's log,
// deprecation warnings), so that nothing but the program writes to the terminal. It keeps
// them in a file and hands them to the screen.
type Log struct {
	handler *logHandler
}

// NewLog makes a log with a file; where the path is empty or can't be written, there is
// only the screen. A file that has become large is kept as path.old, and a new one is begun; a line
// that repeats the one before is counted, and of a storm only some lines a second are kept, so that the
// log stays small whatever others have to say. hide takes out what nothing may hold, such as
// credentials; nil for nothing.
func NewLog(path string, hide func(string) string) *Log {
	if hide == nil {
		hide = func(s string) string { return s }
	}
	h := &logHandler{shared: &logShared{lines: make(chan LogLine, logWaiting), hide: hide}}
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
		s.settle(time.Now())
		_ = s.file.Close()
		s.file = nil
	}
}

type logShared struct {
	lines chan LogLine
	hide  func(string) string

	mu   sync.Mutex
	file *os.File
	path string
	size int64
	// last is the newest line, and repeats how often it came again since.
	last    LogLine
	repeats int
	// second, taken and left say how many lines this second had, and how many were left out.
	second      int64
	taken, left int
}

func (s *logShared) open(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make its folder: %w", err)
	}
	s.path = path
	if i, err := os.Stat(path); err == nil {
		if s.size = i.Size(); s.size > logFile {
			return s.begin()
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open it: %w", err)
	}
	s.file = f
	return nil
}

// begin puts the file aside and begins a new one.
func (s *logShared) begin() error {
	if s.file != nil {
		_ = s.file.Close() // What it has is what there is.
		s.file = nil
	}
	if err := os.Rename(s.path, s.path+".old"); err != nil {
		return fmt.Errorf("put the old one aside: %w", err)
	}
	f, err := os.OpenFile(s.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open it: %w", err)
	}
	s.file, s.size = f, 0
	return nil
}

func (s *logShared) put(l LogLine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.Level == s.last.Level && l.Text == s.last.Text {
		s.repeats++
		return
	}
	if now := l.At.Unix(); now != s.second {
		s.second, s.taken = now, 0
	}
	if s.taken++; s.taken > logPace {
		s.left++
		return
	}
	s.settle(l.At)
	s.last = l
	s.write(l)
}

// settle says how much was left out since the last line.
func (s *logShared) settle(at time.Time) {
	if s.repeats > 0 {
		s.write(LogLine{At: at, Level: s.last.Level, Text: fmt.Sprintf("(the line before came %s more)", times(s.repeats))})
	}
	if s.left > 0 {
		s.write(LogLine{At: at, Level: "warning", Text: fmt.Sprintf("(%s left out: too many at once)", text.Plural(s.left, "line"))})
	}
	s.repeats, s.left = 0, 0
}

func times(n int) string { return text.Plural(n, "time") }

func (s *logShared) write(l LogLine) {
	if s.file != nil {
		n, _ := fmt.Fprintf(s.file, "%s %-7s %s\n", l.At.UTC().Format(time.RFC3339), l.Level, l.Text)
		if s.size += int64(n); s.size > logFile {
			if err := s.begin(); err != nil {
				s.file = nil // There is nobody left to tell but the screen, which has the lines.
			}
		}
	}
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
	h.shared.put(LogLine{At: r.Time, Level: level, Text: text.Limit(text.Clean(h.shared.hide(b.String())), logLine)})
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
