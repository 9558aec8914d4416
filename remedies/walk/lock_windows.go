package walk

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockFile takes the lock of an open file, or returns errLocked. It goes with the
// process, however that ends. Windows' locks forbid reading, so the byte that is
// locked lies far behind the end.
func lockFile(fd uintptr) error {
	const far = 0x7fff0000
	err := windows.LockFileEx(windows.Handle(fd), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{OffsetHigh: far})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}

// flushDir does nothing: Windows has no such thing, and writes the entry with the file.
func flushDir(*os.File) error { return nil }
