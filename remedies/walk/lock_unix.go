//go:build !windows

package walk

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes the lock of an open file, or returns errLocked. It goes with the
// process, however that ends.
func lockFile(fd uintptr) error {
	err := unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) //nolint:gosec // a file descriptor fits.
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errLocked
	}
	return err //nolint:wrapcheck // wrapped by the journal.
}

func flushDir(d *os.File) error {
	return d.Sync() //nolint:wrapcheck // wrapped by the journal.
}
