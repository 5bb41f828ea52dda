package data

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/cli/importing"
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
	cmd.AddCommand(newRMAT(t), newCommunity(t))
	return cmd
}

func newRMAT(t *cli.Terminal) *cobra.Command {
	var f struct {
		cli.Output
		graphmill.RMATOptions
	}
	o := &f.RMATOptions
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
			if err := f.Output.Check(); err != nil {
				return err
			}
			o.Run = f.Output.Run(t)
			st, err := graphmill.GenerateRMAT(cmd.Context(), f.Path, *o)
			return importing.PrintStore(t, st, err, f.AsJSON)
		},
	}
	f.Output.Add(cmd)
	importing.AddBuild(cmd, &o.BuildOptions, "keep", "keep")
	fs := cmd.Flags()
	fs.IntVar(&o.Scale, "scale", 0, "the graph has 2^scale nodes (required)")
	fs.IntVar(&o.EdgeFactor, "edge-factor", 16, "edges per node")
	fs.Uint64Var(&o.Seed, "seed", 0, "random seed")
	cli.Group(fs, cli.GroupSource, "*scale", "*edge-factor", "*seed")
	return cmd
}

func newCommunity(t *cli.Terminal) *cobra.Command {
	var f struct {
		cli.Output
		graphmill.CommunityOptions
	}
	o := &f.CommunityOptions
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
			if err := f.Output.Check(); err != nil {
				return err
			}
			o.Run = f.Output.Run(t)
			st, err := graphmill.GenerateCommunity(cmd.Context(), f.Path, *o)
			return importing.PrintStore(t, st, err, f.AsJSON)
		},
	}
	f.Output.Add(cmd)
	importing.AddBuild(cmd, &o.BuildOptions, "drop", "drop")
	fs := cmd.Flags()
	fs.IntVar(&o.Nodes, "nodes", 0, "number of nodes (required)")
	fs.IntVar(&o.Nodes, "n", 0, "the same as --nodes")
	fs.Uint64Var(&o.Seed, "seed", 0, "random seed")
	cli.Group(fs, cli.GroupSource, "*nodes", "n", "*seed")
	return cmd
}
