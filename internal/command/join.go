package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
)

// NewJoin makes the command join.
func NewJoin(t *cli.Terminal) *cobra.Command {
	var f outputFlags
	cmd := &cobra.Command{
		Use:   "join STORE",
		Short: "Make one file of each array that a cluster wrote in shards",
		Long: `Writes a store or collection again, with each array as one file. A job on a cluster
(graphmill-beam) leaves large arrays in shards, which its workers wrote: NAME.npy.00000-of-00003
and so on. Every command and loader reads them as they are, and draws the same from
them; other programs want whole files.

The result has the manifest of an output that one process wrote. Each shard is compared
with its checksum while it is read.`,
		Example: `  graphmill join g.store --out whole.store`,
		Args:    cli.OneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			return t.Finish(f.AsJSON)(graphmill.Join(cmd.Context(), args[0], f.Path, f.Run(t)))
		},
	}
	f.Add(cmd)
	return cmd
}
