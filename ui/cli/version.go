package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noWords,
		RunE: func(*cobra.Command, []string) error {
			if _, err := fmt.Fprintln(p.Out, p.tool()); err != nil {
				return fmt.Errorf("print the version: %w", err)
			}
			return nil
		},
	}
}
