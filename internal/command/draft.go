package command

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/option"
)

// NewDraft makes the command draft.
func NewDraft(t *cli.Terminal) *cobra.Command {
	var f CommonFlags
	cmd := &cobra.Command{
		Use:   "draft SRC",
		Short: "Draft a graph.yaml for the tables of a folder or a database, and list their faults",
		Long: `Reads tables that belong together, and guesses what they mean: ids, the keys between
them, dtypes, categories, times, and which tables are nodes and which are edges. Prints a
graph.yaml on stdout, in which a comment says why for each guess, and which graphmill import
reads. SRC is a folder of tables (CSV, TSV, JSON lines, Parquet, Arrow), one such file,
sqlite:FILE or postgres://USER@HOST/DATABASE, or a folder in an object store
(s3://BUCKET/KEY). The file belongs into the folder, or beside the database.

All faults of the tables are listed at once, on stderr and at the end of the file: each with
the number of cells or rows, the first of them, and the line of the graph.yaml that settles
it. The status is 1 where a fault needs a decision before the tables can be imported.

A key is a column whose values are the ids of another table, by its name (user_id, userId,
user) and by all its values. Each table is read once, whole, in bounded memory.`,
		Example: `  graphmill draft shop/ > shop/graph.yaml
  graphmill import shop/ --out shop.store  # the next step
  graphmill draft sqlite:shop.db > graph.yaml
  graphmill draft s3://data/shop > graph.yaml  # and copy it there
  graphmill draft shop/ --json | jq .faults`,
		Args: cli.OneArg("one SRC: a folder of tables, or a database"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			var w io.Writer = t.Stdout
			if f.AsJSON {
				w = io.Discard
			}
			d, err := graphmill.Draft(cmd.Context(), args[0], w, option.Draft{Run: f.Run(t)})
			if err != nil {
				return err
			}
			for _, x := range d.Faults {
				t.Warn(x.Text)
			}
			if f.AsJSON {
				if err := t.JSON(d); err != nil {
					return err
				}
			}
			if n := d.Open(); n > 0 {
				t.Say("%d of %d faults need a decision before the tables can be imported", n, len(d.Faults))
				return cli.ErrTold
			}
			return nil
		},
	}
	f.Add(cmd)
	return cmd
}
