package tfgnn

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
)

// New makes the command tfgnn.
func New(t *cli.Terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tfgnn",
		Short: "Schemas, Examples and tables of TensorFlow GNN",
		Long: `Tools for the files of TensorFlow GNN: its schemas, its sampling specs, its
TFRecords of GraphTensors, and the tables of its unigraphs.`,
		Example: `  graphmill tfgnn validate schema.pbtxt --spec spec.pbtxt    find every fault, with its line
  graphmill tfgnn print samples.tfrecord --count 1           see what is in TFRecords
  graphmill tfgnn random schema.pbtxt                        see how Examples of a schema look
  graphmill tfgnn io-spec schema.pbtxt                       what a parser needs to know
  graphmill tfgnn stats schema.pbtxt samples.tfrecord@8 --out stats
  graphmill tfgnn convert schema.pbtxt --to parquet --out tables
  graphmill tfgnn from-store g.store --out unigraph          the tables of a store`,
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
	cmd.AddCommand(newValidate(t), newPrint(t), newRandom(t), newIOSpec(t), newStats(t))
	cmd.AddCommand(newConvert(t), newFromStore(t))
	return cmd
}
