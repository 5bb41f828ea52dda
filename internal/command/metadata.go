package command

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/operation/describing"
)

// NewMetadata makes the command metadata, by which the Python client reads a store that lies in an object store. It prints a
// JSON object: the bytes of each file that describes the store, in base64.
func NewMetadata(t *cli.Terminal) *cobra.Command {
	return &cobra.Command{
		Use:    "metadata STORE",
		Short:  "Print the files that describe a store, for the Python client",
		Hidden: true,
		Args:   cli.OneArg("one STORE"),
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := describing.Metadata(args[0])
			if err != nil {
				return err
			}
			return json.NewEncoder(t.Stdout).Encode(files)
		},
	}
}
