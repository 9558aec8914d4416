package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"vksmedic/model"
	"vksmedic/probes"
	"vksmedic/ui/print"
)

func (p *program) scanCommand() *cobra.Command {
	var format print.Format
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "scan",
		Short: "Print the findings, without a screen",
		Long: `scan looks once and prints what it found, for pagers, scripts and tickets.

Exit status: 1 when something is flagged (info does not count); else 0 when all that is needed
could be read, and 2 when not, or when it could not be done.`,
		Args: noWords,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.scan(c.Context(), format, timeout)
		},
	}
	c.Flags().StringVarP((*string)(&format), "output", "o", string(print.Table), "table, json or markdown")
	c.Flags().DurationVar(&timeout, "timeout", 30*time.Second, "how long to wait for answers")
	return c
}

// scan looks once and prints.
func (p *program) scan(ctx context.Context, format print.Format, timeout time.Duration) error {
	if !slices.Contains(print.Formats(), format) {
		return fmt.Errorf("-o %s: choose table, json or markdown", format)
	}
	if timeout <= 0 {
		return fmt.Errorf("--timeout %s: give it some time, such as 30s", timeout)
	}
	sn, err := p.look(ctx, timeout)
	if err != nil {
		return err
	}
	articles, err := p.loadArticles()
	if err != nil {
		return err
	}
	o := printOptions(p.Out)
	o.Article = func(f *model.Finding) string {
		for _, a := range articles.For(f.Signature) {
			return a.ID
		}
		return ""
	}
	if err := print.Print(p.Out, format, sn, o); err != nil {
		return err
	}
	if code := print.ExitCode(sn); code != print.Clear {
		return exitCode(code)
	}
	return nil
}

// printOptions fits a table to the terminal; into a file or pipe lines are whole.
func printOptions(out io.Writer) print.Options {
	f, ok := out.(*os.File)
	if !ok || !isTerminal(out) {
		return print.Options{}
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil {
		return print.Options{}
	}
	return print.Options{Width: width, Color: os.Getenv("NO_COLOR") == ""}
}

// look takes one picture, of a dump or of a Supervisor.
func (p *program) look(ctx context.Context, timeout time.Duration) (*model.Snapshot, error) {
	if p.from != "" {
		_, sn, err := p.readDump(ctx, timeout, p.Err)
		return sn, err
	}
	logs, secrets := newLog()
	defer logs.Close()
	conn, config, err := p.connect(ctx, logs, secrets, timeout)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return probes.Once(ctx, conn, config, p.judge())
}
