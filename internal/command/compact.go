package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
)

// NewCompact makes the command compact.
func NewCompact(t *cli.Terminal) *cobra.Command {
	var f struct {
		CommonFlags
		NoReport bool
	}
	cmd := &cobra.Command{
		Use:   "compact STORE",
		Short: "Make a store that was appended to one piece again",
		Long: `Writes STORE again without its segments. The nodes, edges, edge ids and draws stay the
same. It takes the room of a second store until it ends.

The store gets the new version under its name in one step. Programs that have it open
keep the version before, and after an error it is as it was.`,
		Example: `  graphmill compact g.store`,
		Args:    cli.OneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			o := f.CommonFlags.Run(t)
			o.NoReport = f.NoReport
			return t.Finish(f.AsJSON)(graphmill.Compact(cmd.Context(), args[0], o))
		},
	}
	f.Add(cmd)
	f.Bind(cmd, options.NoReport, &f)
	return cmd
}
