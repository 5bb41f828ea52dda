package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// NewSnapshot makes the command snapshot.
func NewSnapshot(t *cli.Terminal) *cobra.Command {
	var f struct {
		outputFlags
		option.Snapshot
	}
	cmd := &cobra.Command{
		Use:   "snapshot STORE",
		Short: "Make a store as it was before later appends",
		Long: `Writes STORE as it was after the first N segments that graphmill append added to it; 0 is
as it was imported. The files are hard links to those of STORE, so it takes moments and
no room. graphmill info STORE lists the segments, and when they came.`,
		Example: `  graphmill snapshot g.store --segments 3 --out monday.store
  graphmill snapshot g.store --as-of 2026-11-30T12:00:00Z --out noon.store
  graphmill snapshot g.store --as-of xxh3:a61f29c34c00d1b2 --out trained.store`,
		Args: cli.OneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			f.Snapshot.Run = f.outputFlags.Run(t)
			return t.Finish(f.AsJSON)(graphmill.Snapshot(cmd.Context(), args[0], f.Path, f.Snapshot))
		},
	}
	f.Add(cmd)
	f.Bind(cmd, options.Snapshot, &f.Snapshot)
	return cmd
}
