// Command lab starts and stops the test lab: a vSphere Supervisor and workload
// clusters on loopback addresses, with real Kubernetes and Cluster API and with
// failures brought about for real.
//
//	lab up                         start it in the background, wait until all is staged
//	lab kubeconfig --as viewer     print a kubeconfig
//	lab stage stuck-worker ...     bring one more failure about
//	lab down                       end it; nothing is left running or listening
//
// Everything is one tree of processes under "lab serve", which the kernel ends
// with it. Start reading at serve.go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

const usage = `usage: lab COMMAND [flags]

  up          start the lab in the background and wait until all is staged
  serve       the same in the foreground
  down        end the lab
  status      say what runs
  kubeconfig  print a kubeconfig: --as administrator|devops|viewer, or --cluster NAMESPACE/NAME
  path        print where that kubeconfig is
  stage       bring a failure about in a running lab: stuck-worker, stuck-upgrade, clean

Every command takes --state DIR, the lab's folder; labs in several folders do
not disturb each other. lab COMMAND -h lists the other flags.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

// say prints a line. Nothing can be done where even that fails.
func say(w io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }

var errUsage = errors.New("usage")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return errUsage
	}
	commands := map[string]func(context.Context, []string, io.Writer, io.Writer) error{
		"up": up, "serve": serve, "down": down, "status": status, "kubeconfig": kubeconfig, "path": path, "stage": stage,
	}
	command, known := commands[args[0]]
	if !known {
		return errUsage
	}
	return command(ctx, args[1:], stdout, stderr)
}

// newFlags returns the flags of a command, with the one that all have.
func newFlags(name string, stderr io.Writer) (*flag.FlagSet, *string) {
	flags := flag.NewFlagSet("lab "+name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	return flags, flags.String("state", filepath.Join(home(), "run"), "the lab's folder")
}

// home is where the lab's programs and manifests are, outside any source tree.
func home() string {
	if dir := os.Getenv("VKSMEDIC_LAB_DIR"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "vksmedic", "lab")
}
