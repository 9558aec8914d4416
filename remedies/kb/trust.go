package kb

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// An own article decides what is offered to an engineer as a remedy, so it must be theirs:
// the folder, its files and every folder above them belong to the engineer or to root, and
// nobody else may write to them. A folder above that is open to everybody and sticky, such as
// /tmp, is accepted, since nobody can replace there what others own. Symbolic links are
// followed, and what they lead to is held to the same. The rules for one file are in
// trust_unix.go; on Windows, where a mode says nothing, none are looked at.

// maxLinks is how many symbolic links are followed.
const maxLinks = 40

// trustedFolder is the folder with links followed, or an error that says who else may write
// to it and what to do.
func trustedFolder(dir string, uid int) (string, error) {
	path, err := trustedPath(dir, uid)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("cannot read the folder of own articles %s: %w", dir, err)
	} else if !info.IsDir() {
		return "", fmt.Errorf("%s is no folder; give --articles the folder that the articles are in", dir)
	}
	return path, nil
}

// trustedPath follows a path from the root and looks at everything on it.
func trustedPath(path string, uid int) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("cannot find %s: %w", path, err)
	}
	volume := filepath.VolumeName(abs)
	separator := string(filepath.Separator)
	at := volume + separator
	rest := splitPath(abs[len(volume):])
	links := 0
	if err := trustedEntry(at, len(rest) == 0, uid); err != nil {
		return "", err
	}
	for len(rest) > 0 {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		info, err := os.Lstat(next)
		if err != nil {
			return "", fmt.Errorf("cannot read %s: %w", path, err)
		}
		if info.Mode()&os.ModeSymlink == 0 {
			if err := trustedEntry(next, len(rest) == 0, uid); err != nil {
				return "", err
			}
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("cannot read %s: too many symbolic links", path)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", fmt.Errorf("cannot read %s: %w", path, err)
		}
		if filepath.IsAbs(target) {
			at = filepath.VolumeName(target) + separator
			target = target[len(filepath.VolumeName(target)):]
		}
		rest = append(splitPath(target), rest...)
	}
	return at, nil
}

// splitPath are the names in a path. Those that lead up stay: what they lead to was looked at.
func splitPath(path string) []string {
	return strings.FieldsFunc(filepath.ToSlash(path), func(r rune) bool { return r == '/' })
}

func trustedEntry(path string, last bool, uid int) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", path, err)
	}
	return trustedInfo(path, info, last, uid)
}

// readTrusted reads one file of a trusted folder; what is looked at is what is read.
func readTrusted(name string, uid int) ([]byte, error) {
	path, err := trustedPath(name, uid)
	if err != nil {
		return nil, err
	}
	return readWith(path, func(info os.FileInfo) error { return trustedInfo(path, info, true, uid) })
}

// readAtMost reads a file, or as much of it as shows that it is too large.
func readAtMost(name string) ([]byte, error) {
	return readWith(name, func(os.FileInfo) error { return nil })
}

func readWith(name string, look func(os.FileInfo) error) ([]byte, error) {
	// A pipe would wait for somebody who writes: what it is is asked before it is opened.
	if info, err := os.Stat(name); err != nil {
		return nil, fmt.Errorf("cannot find it: %w", err)
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is no file")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("cannot open it: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read.
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("cannot look at it: %w", err)
	}
	if err := look(info); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read it: %w", err)
	}
	return data, nil
}
