package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/codec"
)

// newTFGNNCodec makes the command by which graphmill.tfgnn of the Python client writes and reads Examples. Package codec says what goes over
// stdin and stdout.
func newTFGNNCodec(t *cli.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:    "codec",
		Short:  "Write and read Examples for the Python client",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return codec.Serve(cmd.Context(), t.Stdin, t.Stdout)
		},
	}
}
