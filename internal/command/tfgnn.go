package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
)

// NewTFGNN makes the command tfgnn.
func NewTFGNN(t *cli.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tfgnn",
		Short: "Check, print and convert the files of TensorFlow GNN",
		Long: `Tools for the files of TensorFlow GNN: schemas, sampling specs, TFRecords of
GraphTensors, and the tables of unigraphs.`,
		Example: `  graphmill tfgnn validate schema.pbtxt --spec spec.pbtxt  # find every fault, with its line
  graphmill tfgnn print samples.tfrecord --count 1  # print the content of TFRecords
  graphmill tfgnn random schema.pbtxt  # print an Example of a schema
  graphmill tfgnn io-spec schema.pbtxt  # print the keys that a parser needs
  graphmill tfgnn stats schema.pbtxt samples.tfrecord@8 --out stats
  graphmill tfgnn convert schema.pbtxt --to parquet --out tables
  graphmill tfgnn from-store g.store --out unigraph  # write the tables of a store`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			hint := ""
			if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
				hint = "; did you mean " + strings.Join(s, " or ") + "?"
			}
			return cli.Usagef("found tool %q, which graphmill tfgnn does not have%s", args[0], hint)
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(newTFGNNValidate(t), newTFGNNPrint(t), newTFGNNRandom(t), newTFGNNIOSpec(t), newTFGNNStats(t))
	cmd.AddCommand(newTFGNNConvert(t), newTFGNNFromStore(t), newTFGNNCodec(t))
	return cmd
}
