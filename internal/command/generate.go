package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
)

// NewGenerate makes the command generate.
func NewGenerate(t *cli.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Make a synthetic graph",
		Example: `  graphmill generate rmat --scale 20 --edge-factor 16 --seed 1 --out rmat20.store
  graphmill generate community --nodes 2000000 --seed 1 --out community2m.store`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("found graph %q, expected rmat or community", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGenerateRMAT(t), newGenerateCommunity(t))
	return cmd
}
