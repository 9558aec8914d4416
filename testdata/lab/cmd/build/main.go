// Command build builds everything that the lab runs, from Go modules, into a
// folder outside of any source tree: kube-apiserver, kube-controller-manager,
// etcd, kubectl, the Cluster API manager, the lab command, and the definitions
// that belong to them. What is there already and was built from the same sources
// with the same compiler is left alone, whichever checkout it came from.
//
// The folder is $VKSMEDIC_LAB_DIR, or vksmedic/lab in the user's cache. With
// KUBEBUILDER_ASSETS set, kube-apiserver and etcd are taken from there and not
// built. Run it in the lab's module. Start reading at programs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// kubernetesVersion is the version that the programs print; it is that of
// k8s.io/kubernetes in go.mod.
const kubernetesVersion = "1.36.3"

// program is one that the lab runs.
type program struct {
	// name is its file's, path its package.
	name, path string
	// asset programs are not built when KUBEBUILDER_ASSETS brings them.
	asset bool
	// own programs are built from the lab's own sources too.
	own bool
}

// programs are in the order in which they are built: the longest first, which
// compiles most of what the others need.
func programs() []program {
	return []program{
		{name: "kube-apiserver", path: "k8s.io/kubernetes/cmd/kube-apiserver", asset: true},
		{name: "kube-controller-manager", path: "k8s.io/kubernetes/cmd/kube-controller-manager"},
		{name: "etcd", path: "go.etcd.io/etcd/server/v3", asset: true},
		{name: "kubectl", path: "k8s.io/kubernetes/cmd/kubectl"},
		{name: "capi", path: "./cmd/capi", own: true},
		{name: "lab", path: "./cmd/lab", own: true},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	start := time.Now()
	b := builder{dir: labDir(), log: func(format string, args ...any) { fmt.Printf("lab: "+format+"\n", args...) }}
	if err := os.MkdirAll(filepath.Join(b.dir, "bin"), 0o700); err != nil {
		return fmt.Errorf("make the lab's folder: %w", err)
	}
	unlock, err := b.lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if b.sources, err = hashSources("."); err != nil {
		return err
	}
	built := 0
	for _, p := range programs() {
		if p.asset && os.Getenv("KUBEBUILDER_ASSETS") != "" {
			b.log("%s is taken from KUBEBUILDER_ASSETS", p.name)
			continue
		}
		isNew, err := b.build(ctx, p)
		if err != nil {
			return err
		}
		if isNew {
			built++
		}
	}
	if err := b.manifests(ctx); err != nil {
		return err
	}
	if built > 0 {
		b.log("built in %s, in %s", time.Since(start).Round(time.Second), b.dir)
	} else {
		b.log("up to date in %s", b.dir)
	}
	return nil
}

// labDir is the same folder as the lab command's.
func labDir() string {
	if dir := os.Getenv("VKSMEDIC_LAB_DIR"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "vksmedic", "lab")
}
