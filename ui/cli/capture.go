package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"vksmedic/model"
	"vksmedic/probes"
	"vksmedic/probes/supervisor"
	"vksmedic/ui"
	"vksmedic/ui/print"
)

func (p *program) captureCommand() *cobra.Command {
	var t probes.Taking
	c := &cobra.Command{
		Use:   "capture",
		Short: "Write all that is looked at into one file, to hand on",
		Long: `capture looks once and writes what it saw into a .tar.gz: the objects as YAML, the ends of the logs
of system pods that fail, and what could not be read and why. vksmedic --from FILE and
vksmedic scan --from FILE judge it as the Supervisor was judged at that moment.

No Secret is in it, no token, and no environment or command line of a pod. --redact replaces addresses
and the names of hosts and users too; namespaces, clusters, Machines, nodes and pods keep their names.

Exit status: 0 when the file is written, also where parts could not be read; 2 when nothing could.`,
		Args: noWords,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.take(c.Context(), t)
		},
	}
	c.Flags().StringVarP(&t.File, "output", "o", "", "the file to write (default: vksmedic-CONTEXT-TIME.tar.gz in this folder)")
	c.Flags().StringVar(&t.Cluster, "cluster", "", "only this cluster, NAME or NAMESPACE/NAME")
	c.Flags().BoolVar(&t.Redact, "redact", false, "replace addresses and the names of hosts and users by stand-ins")
	c.Flags().DurationVar(&t.Timeout, "timeout", time.Minute, "how long to wait for answers")
	return c
}

// take writes a capture, and tells on p.Err how far it is.
func (p *program) take(ctx context.Context, t probes.Taking) error {
	if p.from != "" {
		return fmt.Errorf("--from %s is a dump already: capture looks at a live Supervisor", p.from)
	}
	if t.Timeout <= 0 {
		return fmt.Errorf("--timeout %s: give it some time, such as 1m", t.Timeout)
	}
	logs := ui.NewLog(logFile())
	defer logs.Close()
	conn, config, err := p.connect(ctx, logs, t.Timeout)
	if err != nil {
		return err
	}
	line := print.NewLine(p.Err, isTerminal(p.Err))
	t.Tool, t.Report = p.tool(), line.Say
	taken, err := probes.Take(ctx, conn, config, p.judge(), t)
	line.End()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(p.Out, "wrote", taken); err != nil {
		return fmt.Errorf("the capture is written, but where cannot be said: %w", err)
	}
	return nil
}

// captures are those that are taken while the dashboard runs.
type captures struct {
	tool    string
	judge   model.Judge
	conn    *supervisor.Connection
	config  probes.Config
	live    *probes.Live
	running sync.WaitGroup
}

// take writes a capture into the current folder. What the dashboard saw come and go is in it.
func (c *captures) take(ctx context.Context, report func(string)) (string, error) {
	c.running.Add(1)
	defer c.running.Done()
	config := c.config
	config.Before = c.live.Latest()
	taken, err := probes.Take(ctx, c.conn, config, c.judge, probes.Taking{Tool: c.tool, Timeout: time.Minute, Report: report})
	if err != nil {
		return "", err
	}
	return taken.String(), nil
}

// wait waits until none is left that has to clean up.
func (c *captures) wait() { c.running.Wait() }
