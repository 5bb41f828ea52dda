package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

func newPackHist(t *cli.Terminal) *cobra.Command {
	text := struct{ Components, Plot string }{Components: "num_nodes,num_edges"}
	cmd := &cobra.Command{
		Use:   "hist HIST.csv|COLLECTION",
		Short: "Count the graphs of a collection by their sizes, as CSV for graphmill pack",
		Example: `  graphmill pack hist molecules.coll > molecules.csv
  graphmill pack hist molecules.coll --components num_nodes,num_edges,triplets
  graphmill pack hist molecules.coll --plot sizes.html > molecules.csv`,
		Args: cli.OneArg("one histogram (.csv) or collection"),
		RunE: func(_ *cobra.Command, args []string) error {
			var c CommonFlags
			return graphmill.PackHistogram(args[0], t.Stdout, option.PackHistogram{Run: c.Run(t), Components: strings.Split(text.Components, ","), Plot: text.Plot})
		},
	}
	cli.Bind(cmd.Flags(), options.PackHistogram, &text)
	return cmd
}
