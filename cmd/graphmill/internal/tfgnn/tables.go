package tfgnn

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
)

// tablesFlags has the flags of the commands that write the tables of a unigraph.
type tablesFlags struct {
	cli.Common
	cli.Out
	graphmill.UnigraphTables
}

// add adds the flags. format is the name of the flag for the format.
func (f *tablesFlags) add(cmd *cobra.Command, format, preset string) {
	f.AddThreads(cmd)
	f.Out.Add(cmd)
	fs := cmd.Flags()
	what := "format of the tables: " + strings.Join(graphmill.TablesFormats(), ", ")
	if preset == "" {
		what += " (required)"
	}
	fs.StringVar(&f.To, format, preset, what)
	fs.IntVar(&f.Shards, "shards", 0, "number of files per table, such as 8 for NAME-00000-of-00008 and so on (default: one file NAME)")
	fs.BoolVar(&f.Gzip, "gzip", false, "compress csv and tfrecord files")
	fs.BoolVar(&f.RoundDoubles, "round-doubles", false, "tfrecord: round float64 to float32; without it a value that would lose digits is an error; values beyond the range of float32 are always an error")
	cli.Choices(fs, format, graphmill.TablesFormats()...)
	cli.Group(fs, cli.GroupOutput, "*"+format, "*shards", "*gzip", "round-doubles")
}

// options returns the options that the flags set.
func (f *tablesFlags) options(cmd *cobra.Command, t *cli.Terminal) (graphmill.UnigraphTables, error) {
	o := f.UnigraphTables
	if err := f.Common.Check(); err != nil {
		return o, err
	}
	if err := f.Out.Check(); err != nil {
		return o, err
	}
	if err := cli.Positive(cmd.Flags(), "shards"); err != nil {
		return o, err
	}
	if f.To == "" {
		return o, cli.Usagef(`found --to "", expected %s`, strings.Join(graphmill.TablesFormats(), ", "))
	}
	o.Run = f.Common.Run(t)
	f.Out.Apply(&o.Run)
	return o, nil
}

func newFromStore(t *cli.Terminal) *cobra.Command {
	var f tablesFlags
	cmd := &cobra.Command{
		Use:   "from-store STORE",
		Short: "Write a store as a unigraph: a schema and tables",
		Long: `Writes schema.pbtxt and a table for each node and edge type, with all columns.
#id is the original id of a node, or its number where the type has no ids;
#source and #target are those of the ends of an edge. Edges come in the order of
their ids in the store. _N and _N:_E:_N become the sets node and edge.`,
		Example: `  graphmill tfgnn from-store g.store --out unigraph
  graphmill tfgnn from-store g.store --format tfrecord --shards 16 --out unigraph
  graphmill tfgnn from-store g.store --format parquet --out unigraph`,
		Args: cli.OneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t.Renamed = map[string]string{"to": "format"}
			o, err := f.options(cmd, t)
			if err != nil {
				return err
			}
			return t.Finish(f.AsJSON)(graphmill.StoreToUnigraph(cmd.Context(), args[0], f.Path, o))
		},
	}
	f.add(cmd, "format", "csv")
	return cmd
}

func newConvert(t *cli.Terminal) *cobra.Command {
	var f tablesFlags
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
