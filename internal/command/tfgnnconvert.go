package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
)

func newTFGNNConvert(t *cli.Terminal) *cobra.Command {
	var f unigraphFlags
	cmd := &cobra.Command{
		Use:   "convert SCHEMA",
		Short: "Write the tables of a unigraph in another format",
		Long: `Reads the tables of a unigraph, CSV, TFRecord or Parquet in any mix, and writes
all of them in one format, with the schema, in which only the file names change.
SCHEMA is a .pbtxt file or the folder that holds one. Rows keep their order. Sets that
share a table, such as reversed edge sets, share the new table. A value that the format
cannot hold is an error. Columns that the schema does not declare are left out, and a
warning lists them.`,
		Example: `  graphmill tfgnn convert schema.pbtxt --to parquet --out tables
  graphmill tfgnn convert unigraph --to tfrecord --shards 16 --out tables
  graphmill tfgnn convert unigraph --to csv --gzip --out tables`,
		Args: cli.OneArg("one SCHEMA"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.options(cmd, t)
			if err != nil {
				return err
			}
			return t.Finish(f.AsJSON)(graphmill.ConvertUnigraph(cmd.Context(), args[0], f.Path, o))
		},
	}
	f.add(cmd, "to", "")
	fs := cmd.Flags()
	fs.StringArrayVar(&f.Missing, "missing", nil, "what empty cells mean: WHAT=VALUE, where WHAT is a dtype, float, int, bool, string or a feature; or VALUE for all (default: an error, and the empty string)")
	fs.BoolVar(&f.AllowOutside, "allow-outside", false, "let the schema name files outside its folder")
	cli.Named(fs, "WHAT=VALUE", "missing")
	cli.Group(fs, cli.GroupSource, "missing", "allow-outside")
	return cmd
}
