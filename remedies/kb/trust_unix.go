//go:build !windows

package kb

import (
	"fmt"
	"os"
	"syscall"

	"vksmedic/remedies"
)

// trustedInfo says who else may write to a file or folder, and what to do. last says that it
// is what was asked for, and not a folder above it.
func trustedInfo(path string, info os.FileInfo, last bool, uid int) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("cannot find out who owns %s", path)
	}
	if st.Uid != 0 && int(st.Uid) != uid {
		return fmt.Errorf("%s belongs to another user (uid %d), who could change what is offered as a remedy; run: chown %d %s", path, st.Uid, uid, remedies.Quote(path))
	}
	const others = 0o022
	if info.Mode().Perm()&others == 0 {
		return nil
	}
	if !last && info.Mode()&os.ModeSticky != 0 {
		return nil
	}
	return fmt.Errorf("%s may be written to by others (%s), who could change what is offered as a remedy; run: chmod go-w %s", path, info.Mode(), remedies.Quote(path))
}
