package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// NewExport makes the command export.
func NewExport(t *cli.Terminal) *cobra.Command {
	var f struct {
		outputFlags
		option.Export
	}
	o := &f.Export
	cmd := &cobra.Command{
		Use:   "export COLLECTION|STORE",
		Short: "Write a store or collection in formats of other programs",
		Long: `Writes a store or a collection in a format of other programs, which --to names.

--to tfrecord writes a collection as TFRecords, with one tf.train.Example per
graph, over any number of files, together with their schema.

--to parquet writes a store as a table per node and edge type, which DuckDB and Spark
join: numbers, original ids and all columns. A graph.yaml beside them imports the
folder again as an equal store, and README.md lists the tables.

--to chunked writes a store in DGL's chunked graph format, for DGL's partitioning
and dispatching tools. Nodes have the ids of the store, and edges the order of their
input. The chunks of a type differ by at most one row; none is empty.

--to metis writes a store as a .graph file. It has the nodes of all types, one type
after the other in the order of their names, and each pair of neighbours once,
without self-loops.

--to dgf writes a store as a graph that Google's DGF reads with dgf.io.read_graph, with
the sets and ids of graphmill tfgnn from-store; --to graphar one of Apache GraphAr.

--to graphml and --to node-link write a small store, or a few subgraphs of a
collection, to a file for programs that draw, such as Gephi, networkx and D3.

A collection that was imported from TFRecords is written back unchanged: TF-GNN
parses equal values, and the bytes are equal if the keys of its Examples were in
byte order.

A sampled collection holds its features by reference. --store joins them, and the
TFRecords are those that sample --format tfrecord writes. Without --store the
Examples have only the arrays of the collection, and a warning lists the rest.

graphmill export predictions writes what a model computed under the original ids.`,
		Example: `  graphmill export g.coll --to tfrecord --out records
  graphmill export g.coll --to tfrecord --shards 8 --gzip --out records
  graphmill export batches --to tfrecord --store g.store --out records
  graphmill export g.store --to parquet --out tables
  graphmill export batches --to graphml --subgraphs 0,5,7 --store g.store --out batches.graphml
  graphmill export g.store --to chunked --chunks 8 --out chunks
  graphmill export g.store --to chunked --chunks 8 --edges parquet --features parquet --out chunks
  graphmill export g.store --to metis --out g.graph
  graphmill export g.store --to graphar --out gar
  graphmill export g.store --to dgf --shards 8 --out g.dgf
  graphmill export predictions g.store --type user --column emb=emb.npy --out users.parquet`,
		Args: cli.OneArg("one COLLECTION or STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.outputFlags.Check(); err != nil {
				return err
			}
			o.Run = f.outputFlags.Run(t)
			return t.Finish(f.AsJSON)(graphmill.Export(cmd.Context(), args[0], f.Path, *o))
		},
	}
	f.outputFlags.Add(cmd)
	f.Bind(cmd, options.Export, o)
	cmd.AddCommand(newExportPredictions(t))
	return cmd
}
