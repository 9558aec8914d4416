package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vksmedic/model"
)

// Ending is how the files of captures end.
const Ending = ".tar.gz"

// FileName is what a capture is called where nobody says otherwise: the context that was looked
// at, and when.
func FileName(context string, at time.Time) string {
	const longest = 60
	safe := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' {
			return c
		}
		return '-'
	}, context)
	safe = strings.Trim(safe[:min(len(safe), longest)], "-.")
	if safe == "" {
		safe = "capture"
	}
	return "vksmedic-" + safe + "-" + at.UTC().Format("20060102-150405") + Ending
}

// ErrExists says that a file is there already; no capture overwrites one.
var ErrExists = errors.New("it is there already; choose another name with -o")

// Check says beforehand whether a file of that name can be made.
func Check(file string) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("cannot write %s: %w", file, ErrExists)
	}
	dir := filepath.Dir(file)
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", file, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("cannot write %s: %s is not a folder", file, dir)
	}
	return nil
}

// Save writes a capture to a file that only its owner may read, and returns its size in bytes. The
// file is there when it is whole, or not at all; one that is there already is left alone (ErrExists).
func Save(ctx context.Context, file string, sn *model.Snapshot, rec *Recorder, o WriteOptions) (s Summary, size int64, err error) {
	f, err := os.CreateTemp(filepath.Dir(file), ".vksmedic-*.part") // Made with rights for its owner only.
	if err != nil {
		return s, 0, fmt.Errorf("cannot write %s: %w", file, err)
	}
	defer func() {
		_ = f.Close()           // Closed already where all went well.
		_ = os.Remove(f.Name()) // Gone already where all went well.
	}()
	if s, err = Write(ctx, f, sn, rec, o); err != nil {
		return s, 0, err
	}
	info, err := f.Stat()
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = rename(f.Name(), file)
	}
	if err != nil {
		return s, 0, fmt.Errorf("cannot write %s: %w", file, err)
	}
	return s, info.Size(), nil
}

// rename gives a file its name, unless that is taken. A hard link does both in one step; where there
// are none, the name is looked for first.
func rename(from, to string) error {
	err := os.Link(from, to)
	switch {
	case err == nil:
		return nil // The old name is removed with what is left over.
	case errors.Is(err, fs.ErrExist):
		return ErrExists
	}
	if _, err := os.Lstat(to); err == nil {
		return ErrExists
	}
	return os.Rename(from, to) //nolint:wrapcheck // Save says what failed.
}
