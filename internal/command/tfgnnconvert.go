package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
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
			o, err := f.options(t)
			if err != nil {
				return err
			}
			return t.Finish(f.AsJSON)(graphmill.ConvertUnigraph(cmd.Context(), args[0], f.Path, o))
		},
	}
	f.add(cmd, "to", "")
	f.Bind(cmd, options.ReadUnigraph, &f.UnigraphTables)
	return cmd
}
