package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"vksmedic/remedies/action"
)

// brokenArticles is the status of article check where something is wrong.
const brokenArticles exitCode = 1

func (p *program) articleCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "article",
		Short: "Help to write articles of your own",
		Args:  noWords,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(p.articleCheckCommand())
	return c
}

func (p *program) articleCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE|FOLDER...",
		Short: "Say what is wrong with articles",
		Long: `check reads articles as --articles does, and prints all that is wrong with them: a line for each
thing, with file, line and what was expected. It asks nothing of a Supervisor.

Exit status: 0 when nothing is wrong, 1 when something is, 2 when it could not be done.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("article check: name the files, or the folders that they are in")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, files []string) error {
			problems, err := action.Check(p.Out, files)
			if err != nil {
				return err
			}
			if problems > 0 {
				return brokenArticles
			}
			if _, err := fmt.Fprintln(p.Out, "nothing is wrong"); err != nil {
				return fmt.Errorf("cannot say that nothing is wrong: %w", err)
			}
			return nil
		},
	}
}
