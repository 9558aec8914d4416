package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"vksmedic/model"
	"vksmedic/probes"
	"vksmedic/probes/capture"
	"vksmedic/ui"
)

// rootCommand is the dashboard, with all other commands below it.
func (p *program) rootCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "vksmedic",
		Short: "Find and mend stuck workload clusters of the vSphere Kubernetes Service",
		Long: `vksmedic watches the workload clusters of a Supervisor, flags known failures with the
evidence for each, and walks you through the knowledge base's fix. Nothing is changed that was
not shown first.

Start it against the Supervisor's kubeconfig (kubectl vsphere login writes one).`,
		Args:          noWords,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.dashboard(c.Context())
		},
	}
	p.register(c)
	c.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return p.check(c) }
	c.AddCommand(p.scanCommand(), p.captureCommand(), p.articleCommand(), p.versionCommand())
	c.InitDefaultCompletionCmd()
	for _, sub := range c.Commands() {
		if sub.Name() == "completion" {
			// By itself it prints help and succeeds, also for a shell that it does not know.
			sub.Args = noWords
			sub.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
		}
	}
	return c
}

// dashboard shows the screen, on a dump or on a Supervisor.
func (p *program) dashboard(ctx context.Context) error {
	if p.from != "" {
		return p.dashboardOfDump(ctx)
	}
	if !isTerminal(p.In) || !isTerminal(p.Out) {
		return ui.ErrNoTerminal
	}
	if err := ui.Drawable(nil); err != nil {
		return err
	}
	articles, err := p.loadArticles()
	if err != nil {
		return err
	}
	logs, secrets := newLog()
	defer logs.Close()
	conn, config, err := p.connect(ctx, logs, secrets, 0)
	if err != nil {
		return err
	}
	restore, err := conn.DetachTerminal() // before anything runs that could write to it.
	if err != nil {
		return err
	}
	defer restore()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	live := probes.Run(ctx, conn, config, p.judge())
	where := ui.Where{Context: conn.Context, Server: conn.Server, User: conn.User, Insecure: conn.Insecure}
	if p.readOnly {
		where.ReadOnly = "started with --read-only"
	}
	runner, commands := newRunner(conn, live, articles, where.ReadOnly)
	captures := captures{tool: p.tool(), conn: conn, config: config, live: live, judge: p.judge()}
	err = ui.Run(ctx, ui.Options{
		In: p.In, Out: p.Out, Where: where, Capture: captures.take, Snapshots: live.Snapshots(), Refresh: live.Refresh, Attend: live.Attend,
		Reader: liveReader{live}, Wizard: wizard{runner}, Address: addresses(articles), Commands: commands, Log: logs.Lines(), Now: time.Now,
	})
	cancel()
	captures.wait()
	live.Wait(endGrace)
	return err
}

// dashboardOfDump shows the screen on a dump: one picture, and nothing can be changed.
func (p *program) dashboardOfDump(ctx context.Context) error {
	keys, name := p.In, p.from
	if p.from == capture.Stdin {
		name = "standard input"
		if isTerminal(p.In) {
			return errors.New("--from -: standard input is the terminal; pipe a dump into it, or name a file")
		}
		tty, err := ui.Keyboard()
		if err != nil {
			return err
		}
		defer func() { _ = tty.Close() }()
		keys = tty
	}
	if !isTerminal(keys) || !isTerminal(p.Out) {
		return ui.ErrNoTerminal
	}
	if err := ui.Drawable(nil); err != nil {
		return err
	}
	d, sn, err := p.readDump(ctx, 0, p.Out)
	if err != nil {
		return err
	}
	snapshots := make(chan *model.Snapshot, 1)
	snapshots <- sn
	now := func() time.Time { return sn.At }
	articles, err := p.loadArticles()
	if err != nil {
		return err
	}
	return ui.Run(ctx, ui.Options{
		In: keys, Out: p.Out, Where: ui.Where{Dump: name, ReadOnly: "this is a dump"}, Snapshots: snapshots,
		Refresh: func() {}, Attend: func(model.Place) {}, Reader: dumpReader{d}, Address: addresses(articles), Now: now,
	})
}
