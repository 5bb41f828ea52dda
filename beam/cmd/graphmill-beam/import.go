package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/beam/internal/staging"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/command"
	"github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/internal/options"
)

// newImport makes the command import.
func newImport(t *cli.Terminal) *cobra.Command {
	var e engineFlags
	var c importing.Cluster
	cmd := command.NewImport(t, &command.Where[importing.Cluster]{
		Long: `Makes a store from the tables of a graph on a cluster, by Apache Beam on Flink or Spark, or
on this machine by Beam's Prism. Each file, and each array in shards, has the bytes that graphmill
import writes with the same flags. SRC is any source of one graph that graphmill import reads.

The tables and the folder of the output lie on storage that the submitter and all workers
reach at the same paths. Workers read parts of the tables: plain .csv, .tsv and .txt at
any line, Parquet by row groups, arrays by rows, compressed text and TFRecords by files.
Tables that are joined side by side, and the formats of DGL, are read as a whole by one
worker. No machine holds or writes the whole store: workers write large arrays in shards
(NAME.npy.00000-of-00003), which everything reads as they are; graphmill join makes one file
of each. If a job fails, finished pieces are kept, and the same command continues from them.

Not on a cluster: many graphs (collections), --schema, --duplicate-nodes drop, and node
types without a table whose number is the largest integer id next to a type with keys.`,
		Example: `  graphmill-beam import schema.pbtxt --out g.store
  graphmill-beam import graph.yaml --both --out g.store --runner flink --endpoint localhost:8099
  graphmill-beam import /shared/graph.yaml --out /shared/g.store --runner flink \
    --endpoint flink:8099 --workers localhost:50000 --parallelism 64 --insecure`,
		Add: func(fs *pflag.FlagSet) {
			e.add(fs)
			fs.IntVar(&c.ArrayShards, "array-shards", 0, "the most files of an array, which workers write at the same time; graphmill join makes them one (default: one per 256 MiB of the source)")
			cli.Group(fs, options.GroupCluster, "array-shards")
		},
		Cluster: func() (*importing.Cluster, error) {
			var err error
			c.Engine, err = e.engine(t, staging.Import)
			return &c, err
		},
	})
	continues(cmd)
	cmd.Short = "Make a store from the tables of a graph"
	return cmd
}
