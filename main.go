// Command vksmedic is a troubleshooter for workload clusters of VMware's vSphere
// Kubernetes Service: a live dashboard that flags known failures with their
// evidence, and a wizard that walks through the knowledge base's fix, showing
// each change before it is made.
//
//	vksmedic                       the dashboard, on the current kubeconfig context
//	vksmedic --from ticket.tar.gz  the same on a dump, read-only
//	vksmedic scan -o json          the findings, for scripts
//	vksmedic capture               all that was looked at in one file, to hand on
//
// The commands are in vksmedic/ui/cli; CONTRIBUTING.md says what is where.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"vksmedic/ui/cli"
)

// version is set by the linker; see the Makefile.
var version = ""

func main() {
	ctx, stop := untilSignal()
	code := cli.Run(ctx, os.Args[1:], cli.Options{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Version: version})
	stop()
	os.Exit(code)
}

// untilSignal is a context that ends when the program is asked to end.
func untilSignal() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}
