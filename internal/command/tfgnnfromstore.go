package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
)

func newTFGNNFromStore(t *cli.Terminal) *cobra.Command {
	var f unigraphFlags
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
			o, err := f.options(t)
			if err != nil {
				return err
			}
			return t.Finish(f.AsJSON)(graphmill.StoreToUnigraph(cmd.Context(), args[0], f.Path, o))
		},
	}
	f.add(cmd, "format", "csv")
	return cmd
}
