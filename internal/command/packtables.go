package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

func newPackTables(t *cli.Terminal) *cobra.Command {
	var f CommonFlags
	var o option.ComparePacks
	text := struct{ Components string }{"num_nodes,num_edges"}
	cmd := &cobra.Command{
		Use:   "tables HIST.csv|COLLECTION...",
		Short: "Print the tables of the paper on tuple packing for any data sets",
		Long: `Prints the properties of the data sets (Table 1 of the paper), and the efficiency of
the published heuristics, of the baselines of the paper, and of graphmill's method auto
(Table 2). The limits are the sizes of the largest graph. As in the paper, efficiency
is measured after the limits were reduced to the fullest pack, and the row
"minimum, as published" was computed with the maximum.`,
		Example: `  graphmill pack tables molhiv.csv molpcba.csv
  graphmill pack tables molecules.coll --max-graphs 0 --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("found no arguments, expected histograms (.csv) or collections")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			o.Run, o.Components = f.Run(t), strings.Split(text.Components, ",")
			sets, err := graphmill.ComparePacks(cmd.Context(), args, o)
			if err != nil {
				return err
			}
			return t.Print(sets, f.AsJSON)
		},
	}
	f.AddThreads(cmd)
	o.MaxGraphs, o.Effort = option.PublishedCap, 1
	f.Bind(cmd, options.ComparePacks, &text, &o)
	return cmd
}
