package command

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
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
		Args: cli.UnknownCommand("found tool %q, which graphmill tfgnn does not have"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTFGNNValidate(t), newTFGNNPrint(t), newTFGNNRandom(t), newTFGNNIOSpec(t), newTFGNNStats(t))
	cmd.AddCommand(newTFGNNConvert(t), newTFGNNFromStore(t), newTFGNNCodec(t))
	return cmd
}

// openCodec reads the schema at path, a file or a folder, which must be valid.
func openCodec(t *cli.Terminal, path string) (*example.Codec, error) {
	schema, _, warnings, err := tfgnnfiles.ReadSchema(vfs.OS, path)
	for _, w := range warnings {
		t.Warn(human.Printable(w))
	}
	if err != nil {
		return nil, err
	}
	return example.NewCodec(schema)
}

// printJSON prints a value as JSON, whose names of features and keys keep the characters <, > and &.
func printJSON(t *cli.Terminal, v any) error {
	e := json.NewEncoder(t.Stdout)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
