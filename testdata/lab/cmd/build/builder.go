package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// heartbeat is the time between two lines that a long build prints.
const heartbeat = 10 * time.Second

// builder builds into one folder.
type builder struct {
	dir     string
	sources sources
	log     func(format string, args ...any)
}

// sources are hashes of what programs are built from.
type sources struct {
	modules string // go.mod and go.sum.
	own     string // The lab's own files too.
}

// hashSources reads the lab's module at dir.
func hashSources(dir string) (sources, error) {
	modules, own := sha256.New(), sha256.New()
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name := filepath.Base(path)
		isModule := name == "go.mod" || name == "go.sum"
		if !isModule && filepath.Ext(name) != ".go" && filepath.Ext(name) != ".yaml" {
			return nil
		}
		content, err := fs.ReadFile(root, path)
		if err != nil {
			return fmt.Errorf("read a source file: %w", err)
		}
		line := fmt.Appendf(nil, "%s %x\n", path, sha256.Sum256(content))
		_, _ = own.Write(line) // Writing to a hash never fails.
		if isModule {
			_, _ = modules.Write(line)
		}
		return nil
	})
	if err != nil {
		return sources{}, fmt.Errorf("read the lab's sources: %w", err)
	}
	return sources{modules: hex.EncodeToString(modules.Sum(nil)), own: hex.EncodeToString(own.Sum(nil))}, nil
}

// lock makes sure that one build runs at a time.
func (b builder) lock() (func() error, error) {
	file, err := os.OpenFile(filepath.Join(b.dir, "build.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the build's lock: %w", err)
	}
	if syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		b.log("waiting for another build in %s", b.dir)
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
			return nil, errors.Join(fmt.Errorf("take the build's lock: %w", err), file.Close())
		}
	}
	return file.Close, nil
}

// build builds the program unless it is there, and says whether it did.
func (b builder) build(ctx context.Context, p program) (bool, error) {
	key := b.sources.modules
	if p.own {
		key = b.sources.own
	}
	key = strings.Join([]string{key, ldflags(), runtime.Version(), runtime.GOOS, runtime.GOARCH}, "\n")
	target := filepath.Join(b.dir, "bin", p.name)
	if b.isCurrent(p.name, key, target) {
		return false, nil
	}
	start := time.Now()
	b.log("building %s", p.name)
	next := target + ".new"
	if err := b.compile(ctx, p, next); err != nil {
		return false, fmt.Errorf("build %s: %w", p.name, err)
	}
	// A program that is running keeps its old file.
	if err := os.Rename(next, target); err != nil {
		return false, fmt.Errorf("put %s in its place: %w", p.name, err)
	}
	if err := b.setCurrent(p.name, key); err != nil {
		return false, err
	}
	b.log("building %s: done in %s", p.name, time.Since(start).Round(time.Second))
	return true, nil
}

// isCurrent says whether what has this name was made with this key.
func (b builder) isCurrent(name, key, target string) bool {
	stamp, err := os.ReadFile(b.stamp(name))
	if err != nil || string(stamp) != key {
		return false
	}
	_, err = os.Stat(target)
	return err == nil
}

func (b builder) setCurrent(name, key string) error {
	if err := os.WriteFile(b.stamp(name), []byte(key), 0o600); err != nil {
		return fmt.Errorf("remember what %s was built from: %w", name, err)
	}
	return nil
}

func (b builder) stamp(name string) string { return filepath.Join(b.dir, "bin", "."+name+".key") }

// ldflags leave the debugging symbols out and put the version in.
func ldflags() string {
	parts := strings.Split(kubernetesVersion, ".")
	flags := []string{"-s", "-w"}
	for _, variable := range []string{"gitVersion=v" + kubernetesVersion, "gitMajor=" + parts[0], "gitMinor=" + parts[1]} {
		// The servers print the first, kubectl and every client the second.
		flags = append(flags, "-X k8s.io/component-base/version."+variable, "-X k8s.io/client-go/pkg/version."+variable)
	}
	return strings.Join(flags, " ")
}

// compile runs the compiler, and says from time to time how far it is.
func (b builder) compile(ctx context.Context, p program, target string) error {
	// The same flags as for the lab's tests: with others, all of Kubernetes would
	// be compiled a second time.
	cmd := exec.CommandContext(ctx, "go", "build", "-v", "-trimpath", "-buildvcs=false", "-ldflags", ldflags(), "-o", target, p.path)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("watch the compiler: %w", err)
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the compiler: %w", err)
	}
	w := watcher{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(heartbeat)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-w.ended():
				return
			case <-ticker.C:
				b.log("building %s: %s, %s", p.name, time.Since(start).Round(time.Second), w.summary())
			}
		}
	}()
	w.read(stderr)
	<-done
	if err := cmd.Wait(); err != nil {
		return errors.Join(fmt.Errorf("compile: %w", err), w.failure())
	}
	return nil
}

// watcher reads what "go build -v" says: modules that it fetches and packages that
// it compiles, a line for each.
type watcher struct {
	once sync.Once
	end  chan struct{}

	mu                   sync.Mutex
	downloaded, compiled int
	last                 string
	other                []string
}

func (w *watcher) ended() chan struct{} {
	w.once.Do(func() { w.end = make(chan struct{}) })
	return w.end
}

func (w *watcher) read(r io.Reader) {
	defer close(w.ended())
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := lines.Text()
		w.mu.Lock()
		switch {
		case strings.HasPrefix(line, "go: downloading "):
			w.downloaded++
			w.last = line
		case strings.ContainsAny(line, " :"):
			w.other = append(w.other, line)
		default:
			w.compiled++
			w.last = line
		}
		w.mu.Unlock()
	}
}

func (w *watcher) summary() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last == "" {
		return "no package to compile; linking"
	}
	return fmt.Sprintf("%d modules fetched, %d packages compiled, last %s", w.downloaded, w.compiled, w.last)
}

// failure is what the compiler complained about.
func (w *watcher) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.other) == 0 {
		return nil
	}
	return errors.New(strings.Join(w.other, "\n"))
}
