package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"vksmedic/testdata/lab/internal/state"
)

func open(t *testing.T, path string) state.Dir {
	t.Helper()
	dir, err := state.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestOneLabToAFolder(t *testing.T) {
	dir := open(t, filepath.Join(t.TempDir(), "lab"))
	if pid, err := dir.Running(); err != nil || pid != 0 {
		t.Fatalf("Running() = %d, %v in a folder that is not there", pid, err)
	}
	lock, err := dir.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Acquire(); !errors.Is(err, state.ErrRunning) {
		t.Errorf("the second Acquire: %v, want ErrRunning", err)
	}
	if pid, err := dir.Running(); err != nil || pid != os.Getpid() {
		t.Errorf("Running() = %d, %v, want %d", pid, err, os.Getpid())
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if pid, err := dir.Running(); err != nil || pid != 0 {
		t.Errorf("Running() = %d, %v after the release", pid, err)
	}
}

func TestReadyOnlyWhileRunning(t *testing.T) {
	dir := open(t, t.TempDir())
	lock, err := dir.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dir.ReadReady(); !errors.Is(err, state.ErrNotReady) {
		t.Errorf("before WriteReady: %v, want ErrNotReady", err)
	}
	want := state.Ready{PID: os.Getpid(), Clusters: []state.Cluster{{Namespace: "team-a", Name: "web"}}}
	if err := dir.WriteReady(want); err != nil {
		t.Fatal(err)
	}
	got, err := dir.ReadReady()
	if err != nil || got.PID != want.PID || len(got.Clusters) != 1 || got.Clusters[0] != want.Clusters[0] {
		t.Errorf("ReadReady() = %+v, %v", got, err)
	}
	if err := lock.Release(); err != nil { // As after a crash: the file is still there.
		t.Fatal(err)
	}
	if _, err := dir.ReadReady(); !errors.Is(err, state.ErrNotReady) {
		t.Errorf("after a crash: %v, want ErrNotReady", err)
	}
	if lock, err = dir.Acquire(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Release() })
	if _, err := dir.ReadReady(); !errors.Is(err, state.ErrNotReady) {
		t.Errorf("the next lab takes the old file for its own: %v", err)
	}
}

func TestAForeignFolderIsLeftAlone(t *testing.T) {
	path := t.TempDir()
	precious := filepath.Join(path, "precious")
	if err := os.WriteFile(precious, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, path).Acquire(); err == nil {
		t.Error("took a folder with somebody's files in it")
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}
