package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
)

// NewBench makes the command bench.
func NewBench(t *cli.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure the speed of sampling and of batches on this machine",
		Example: `  graphmill bench sample g.store --fanout 15,10 --batch-size 1024 --threads 2 --batches 200
  graphmill bench batches --rows 500000 --width 100 --batch-size 64 --threads 2`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("found benchmark %q, expected sample or batches", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBenchSample(t), newBenchBatches(t))
	return cmd
}
