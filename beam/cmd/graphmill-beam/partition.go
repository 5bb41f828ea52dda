package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/beam/internal/staging"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/command"
	"github.com/graphmill/graphmill/internal/operation/dividing"
	"github.com/graphmill/graphmill/internal/options"
)

// newPartition makes the command partition.
func newPartition(t *cli.Terminal) *cobra.Command {
	var e engineFlags
	var c dividing.Cluster
	cmd := command.NewPartition(t, &command.Where[dividing.Cluster]{
		Long: `Assigns each node to a part, on a cluster, by Apache Beam on Flink or Spark, or on this machine
by Beam's Prism, so that the parts are balanced and few edges run between them. The parts have
the bytes that graphmill partition --method ranges writes with the same flags.

The store and the folder of the output lie on storage that the submitter and all workers
reach at the same paths. Each worker has a range of the nodes, and workers exchange in rounds
what changes, through the storage: a job per pass over the edges, and 7 to 12 passes. A worker
holds 4 bytes per node and quantity that is balanced. One worker divides the graph of the
clusters, in memory, or out of core if that takes more than --memory. This command then reads
the neighbours from the storage, from disk, to measure the cut. If a job fails, the same
command continues from the tasks that are whole.`,
		Example: `  graphmill-beam partition g.store --parts 8 --out g.parts
  graphmill-beam partition g.store --parts 8 --balance-edges --out g.parts --runner flink --endpoint localhost:8099
  graphmill-beam partition /shared/g.store --parts 64 --out /shared/g.parts --runner flink \
    --endpoint flink:8099 --workers localhost:50000 --parallelism 64 --insecure`,
		Add: func(fs *pflag.FlagSet) {
			e.add(fs)
			fs.BoolVar(&c.ShipGraph, "ship-graph", false, "copy the store next to the output first, for workers that reach the output and not the store")
			cli.Group(fs, options.GroupCluster, "ship-graph")
		},
		Cluster: func() (*dividing.Cluster, error) {
			var err error
			c.Engine, err = e.engine(t, staging.Partition)
			return &c, err
		},
	})
	continues(cmd)
	// Other methods, and an assignment of another program, are for one process.
	for _, name := range []string{"method", "import", "passes", "preset", "objective"} {
		if err := cmd.Flags().MarkHidden(name); err != nil {
			panic(err)
		}
	}
	return cmd
}
