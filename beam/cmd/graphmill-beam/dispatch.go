package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/beam/internal/staging"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/command"
	"github.com/graphmill/graphmill/internal/operation/dispatching"
	"github.com/graphmill/graphmill/internal/options"
)

// newDispatch makes the command dispatch.
func newDispatch(t *cli.Terminal) *cobra.Command {
	var e engineFlags
	var c dispatching.Cluster
	cmd := command.NewDispatch(t, &command.Where[dispatching.Cluster]{
		Long: `Writes the parts of a graph in DGL's distributed format, on a cluster, by Apache Beam on
Flink or Spark, or on this machine by Beam's Prism. Each file has the bytes that graphmill
dispatch writes with the same flags.

The store and the folder of the output lie on storage that the submitter and all workers
reach at the same paths. Workers read ranges of the store, and exchange what they find
through the storage; one worker makes one part. A part fits a worker, and the graph need
not: a worker maps 6 bytes per node of the graph, and holds 4 per edge that the part
owns and 32 per edge of its halo. --memory bounds that for one part: a part that needs
more is refused. A process that makes several parts at a time needs as much for each.
If a job fails, finished parts are kept, and the same command continues from them.

Workers read in-edges. Those of an edge type that the store lists by source alone are
first sorted on the disk by this command: import a large graph by destination.`,
		Example: `  graphmill-beam dispatch g.store --assignment g.parts --out parts
  graphmill-beam dispatch g.store --parts 8 --num-hops 2 --out parts --runner flink --endpoint localhost:8099
  graphmill-beam dispatch /shared/g.store --assignment /shared/g.parts --out /shared/parts --runner flink \
    --endpoint flink:8099 --workers localhost:50000 --parallelism 64 --memory 8GiB --insecure`,
		Add: func(fs *pflag.FlagSet) {
			e.add(fs)
			fs.BoolVar(&c.ShipGraph, "ship-graph", false, "copy the store next to the output first, for workers that reach the output and not the store")
			cli.Group(fs, options.GroupCluster, "ship-graph")
		},
		Cluster: func() (*dispatching.Cluster, error) {
			var err error
			c.Engine, err = e.engine(t, staging.Dispatch)
			return &c, err
		},
	})
	continues(cmd)
	return cmd
}
