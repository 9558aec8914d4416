package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"vksmedic/model"
	"vksmedic/model/text"
	"vksmedic/probes"
	"vksmedic/probes/capture"
	"vksmedic/probes/supervisor"
	"vksmedic/remedies/walk"
	"vksmedic/ui"
	"vksmedic/ui/print"
)

// connect reads the kubeconfig and logs in; it does no network of its own. timeout is how
// long a command that looks once may take; zero for the dashboard, which has no end.
func (p *program) connect(ctx context.Context, logs *ui.Log, secrets *text.Secrets, timeout time.Duration) (*supervisor.Connection, probes.Config, error) {
	config := probes.Config{Log: logs.Logger()}
	if p.asOf != "" {
		return nil, config, errors.New("--as-of goes with --from: a live Supervisor is judged as of now")
	}
	files, err := workloadFiles(p.workloads)
	if err != nil {
		return nil, config, err
	}
	config.Kubeconfigs = files
	supervisor.TameLibraries(logs.Logger())
	conn, err := supervisor.Connect(ctx, supervisor.Options{
		Kubeconfig: p.kubeconfig, Context: p.context, Namespaces: p.namespaces, Restrict: len(p.namespaces) > 0, Log: logs.Logger(),
		Secrets: secrets, Deadline: 2 * timeout, // The command's own time limit has to come first.
	})
	if err != nil {
		return nil, config, err
	}
	return conn, config, logIn(ctx, conn, isTerminal(p.In), timeout)
}

// logIn lets a person take all the time to type a password, and a script the time it gives.
func logIn(ctx context.Context, conn *supervisor.Connection, person bool, timeout time.Duration) error {
	if !person {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	return conn.LogIn(ctx)
}

// newLog opens the log. The secrets are never in it.
func newLog() (*ui.Log, *text.Secrets) {
	secrets := &text.Secrets{}
	return ui.NewLog(logFile(), secrets.Hide), secrets
}

// readDump reads what --from names, and judges it. idle is how long a pipe may say nothing; zero for as long
// as it likes. say is where it tells how far it is, where that is a terminal.
func (p *program) readDump(ctx context.Context, idle time.Duration, say io.Writer) (*capture.Dump, *model.Snapshot, error) {
	asOf, err := p.asOfTime()
	if err != nil {
		return nil, nil, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(capture.ReadingGC))
	line := print.NewLine(say, isTerminal(say))
	o := capture.ReadOptions{Idle: idle}
	if isTerminal(say) {
		o.Progress = func(bytes int64, files int) {
			line.Say(fmt.Sprintf("reading %s: %s, %d MB; ctrl+c ends it", text.Clean(p.from), text.Plural(files, "file"), bytes>>20))
		}
	}
	d, err := capture.ReadWith(ctx, p.from, p.In, o)
	line.End()
	if err != nil {
		return nil, nil, err
	}
	return d, d.Snapshot(p.judge(), asOf).In(p.namespaces), nil
}

// logFile is where the libraries' logs go, beside the journal.
func logFile() string {
	dir := walk.DefaultJournalDir(os.Getenv)
	if dir == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(dir), "vksmedic.log")
}
