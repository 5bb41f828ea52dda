package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

func newGenerateRMAT(t *cli.Terminal) *cobra.Command {
	var f struct {
		outputFlags
		option.RMAT
	}
	o := &f.RMAT
	cmd := &cobra.Command{
		Use:   "rmat",
		Short: "Make the R-MAT graph of Graph500: 2^scale nodes, edge-factor edges per node",
		Long: `Makes the R-MAT graph of Graph500 (A = 0.57, B = 0.19, C = 0.19), with nodes renumbered
at random. Self-loops and duplicate edges stay. The same parameters give the
same graph on every machine.`,
		Example: `  graphmill generate rmat --scale 20 --edge-factor 16 --seed 1 --out rmat20.store
  graphmill generate rmat --scale 27 --edge-factor 16 --memory 1GiB --out big.store`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.outputFlags.Check(); err != nil {
				return err
			}
			if o.EdgeFactor == 0 { // which is the default to the library
				return cli.Usagef("found edge factor 0, expected 1 or more; give a number, or leave it out for 16")
			}
			o.Run = f.outputFlags.Run(t)
			st, err := graphmill.GenerateRMAT(cmd.Context(), f.Path, *o)
			return printStore(t, st, f.Path, err, f.AsJSON)
		},
	}
	f.outputFlags.Add(cmd)
	o.EdgeFactor = 16
	f.Bind(cmd, options.Build, o)
	f.Bind(cmd, options.RMAT, o)
	return cmd
}
