package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
)

// NewSnapshot makes the command snapshot.
func NewSnapshot(t *cli.Terminal) *cobra.Command {
	var f struct {
		outputFlags
		Segments int
	}
	cmd := &cobra.Command{
		Use:   "snapshot STORE",
		Short: "Make a store as it was before later appends",
		Long: `Writes STORE as it was after the first N segments that graphmill append added to it; 0 is
as it was imported. The files are hard links to those of STORE, so it takes moments and
no room. graphmill info STORE lists the segments.`,
		Example: `  graphmill snapshot g.store --segments 3 --out monday.store`,
		Args:    cli.OneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			return t.Finish(f.AsJSON)(graphmill.Snapshot(cmd.Context(), args[0], f.Path, f.Segments, f.Run(t)))
		},
	}
	f.Add(cmd)
	f.Bind(cmd, options.Snapshot, &f)
	return cmd
}
