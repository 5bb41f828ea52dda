package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// newExportPredictions makes the command export predictions.
func newExportPredictions(t *cli.Terminal) *cobra.Command {
	var f struct {
		CommonFlags
		option.Predictions
		Path      string
		Overwrite bool
	}
	o := &f.Predictions
	cmd := &cobra.Command{
		Use:   "predictions STORE",
		Short: "Write what a model computed for nodes or edges as a table with the original ids",
		Long: `Writes arrays with a row per node of a type, in the order of the store, as a table
with the original ids of the nodes: embeddings, scores, classes. Of an edge type the
table has the ids of both ends, as source and target; so it has of pairs of nodes, which
need not be edges: --type user:item with --nodes PAIRS.npy. A store whose nodes came
without ids has their numbers.

--out says the format. NAME.parquet and NAME.arrow have vectors as lists, and times as
timestamps. NAME.csv has a column per value of a vector, NAME_0, NAME_1 and so on, and
times in ISO 8601. NAME.db, or sqlite:FILE#TABLE, is a new table in a file of SQLite with
the columns of CSV; postgres://USER@HOST/DATABASE#TABLE is one of PostgreSQL with vectors
as arrays, and its password is in PGPASSWORD. Missing classes, categories and times are
null, and empty in CSV.

--top K makes the rows: for each source the K targets with the highest products of their
embeddings, such as the items to show to a user, without links that are known. All pairs
are looked at, in blocks.

The file gets its name once it is whole.`,
		Example: `  graphmill export predictions g.store --type user --column emb=emb.npy --column score=score.npy --out users.parquet
  graphmill export predictions g.store --type user --column pred=pred.npy --classes pred=label --rows split=test --out test.csv
  graphmill export predictions g.store --type user --nodes seeds.npy --column emb=emb.npy --with name,label --out seeds.parquet
  graphmill export predictions g.store --type user:buys:item --column score=score.npy --out links.parquet
  graphmill export predictions g.store --type user --column score=score.npy --out results.db --table users
  graphmill export predictions g.store --type user:item --nodes pairs.npy --column score=score.npy --out pairs.arrow
  graphmill export predictions g.store --type user:item --top 10 --source-embeddings users.npy --target-embeddings items.npy --known user:buys:item --out top.parquet`,
		Args: cli.OneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.Path == "" {
				return cli.Usagef("found no `Out`, expected a file to write; give `Out` FILE.parquet")
			}
			if err := f.Check(); err != nil {
				return err
			}
			o.Run = f.CommonFlags.Run(t)
			o.Overwrite = f.Overwrite
			return t.Finish(f.AsJSON)(graphmill.ExportPredictions(cmd.Context(), args[0], f.Path, *o))
		},
	}
	f.Add(cmd)
	cmd.Flags().StringVarP(&f.Path, "out", "o", "", "file to write, or a database (required)")
	cli.Group(cmd.Flags(), options.GroupOutput, "*out")
	f.Bind(cmd, options.OverwriteTable, &f)
	f.Bind(cmd, options.Predictions, o)
	return cmd
}
