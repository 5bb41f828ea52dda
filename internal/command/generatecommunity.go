package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

func newGenerateCommunity(t *cli.Terminal) *cobra.Command {
	var f struct {
		outputFlags
		option.Community
	}
	o := &f.Community
	cmd := &cobra.Command{
		Use:   "community",
		Short: "Make a power-law graph with communities inside regions",
		Long: `Makes an undirected graph to compare partitioners on, with each pair of neighbours
listed once. The density of degree d is proportional to d^(-7/3). 65 % of the edges
stay in their community, 20 % in its region, and 15 % go anywhere. Nodes are numbered
at random. The same parameters give the same graph on every machine.`,
		Example: `  graphmill generate community --nodes 2000000 --seed 1 --out community2m.store
  graphmill generate community --n 200000 --seed 7 --both --out small.store`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.outputFlags.Check(); err != nil {
				return err
			}
			o.Run = f.outputFlags.Run(t)
			st, err := graphmill.GenerateCommunity(cmd.Context(), f.Path, *o)
			return printStore(t, st, f.Path, err, f.AsJSON)
		},
	}
	f.outputFlags.Add(cmd)
	fs := cmd.Flags()
	f.Bind(cmd, options.Build, o)
	f.Bind(cmd, options.Community, o)
	fs.Lookup("duplicate-edges").DefValue, fs.Lookup("self-loops").DefValue = "drop", "drop"
	return cmd
}
