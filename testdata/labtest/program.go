package labtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var program struct {
	once sync.Once
	dir  string
	err  error
	out  []byte
}

// Program builds vksmedic once for this test binary, with the race detector where
// the test has it, and returns the path.
func Program(t testing.TB) string {
	t.Helper()
	program.once.Do(func() {
		program.dir, program.err = os.MkdirTemp("", "vksmedic-test-")
		if program.err != nil {
			return
		}
		args := []string{"build", "-o", filepath.Join(program.dir, "vksmedic")}
		if raceEnabled {
			args = append(args, "-race")
		}
		program.out, program.err = exec.Command("go", append(args, "vksmedic")...).CombinedOutput()
	})
	if program.err != nil {
		t.Fatalf("build vksmedic: %v\n%s", program.err, program.out)
	}
	return filepath.Join(program.dir, "vksmedic")
}

// removeProgram removes what Program built.
func removeProgram() {
	if program.dir != "" {
		_ = os.RemoveAll(program.dir)
	}
}
