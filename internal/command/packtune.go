package command

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

func newPackTune(t *cli.Terminal) *cobra.Command {
	var f struct {
		outputFlags
		option.TunePacks
		text struct {
			Components  string
			Align, Cost []string
		}
	}
	o := &f.TunePacks
	cmd := &cobra.Command{
		Use:   "tune HIST.csv|COLLECTION",
		Short: "Search for limits with which packs are full",
		Long: `Packs with limits near the ratio of the mean sizes, from the size of the largest graph
to packs that cost sixteen times as much, and lists the front: the limits for which no
cheaper limits are as full. The measure of fullness is the harmonic mean of the
efficiencies, which is low if any component loses room. For given limits, the
efficiencies have a fixed ratio however the graphs are packed, so limits that cannot be
fuller than cheaper ones are skipped.

--target packs with the cheapest of these limits that reach a harmonic mean, and --out
is then the pack layout, the same as graphmill pack writes with these limits. Without
--target, run graphmill pack, which works longer, with the limits of your choice.`,
		Example: `  graphmill pack tune molecules.coll --target 95 --out plan
  graphmill pack tune pcqm4mv2.csv
  graphmill pack tune molecules.coll --align num_nodes=8 --align num_edges=8 --out limits
  graphmill pack tune molecules.coll --cost num_nodes=512 --cost num_edges=24 --ceiling 4000000 --json`,
		Args: cli.OneArg("one histogram (.csv) or collection"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := f.CommonFlags.Check(); err != nil {
				return err
			}
			o.Run, o.Components = f.outputFlags.Run(t), strings.Split(f.text.Components, ",")
			if o.Align, err = parseAmounts("align", f.text.Align, f.text.Components); err != nil {
				return err
			}
			if o.Cost, err = parseAmounts("cost", f.text.Cost, f.text.Components); err != nil {
				return err
			}
			found, err := graphmill.TunePacks(cmd.Context(), args[0], f.Path, *o)
			if err != nil {
				return err
			}
			return t.Print(found, f.AsJSON)
		},
	}
	f.AddThreads(cmd)
	f.AddFolder(cmd, "folder to write a report with plots to, or with --target the pack layout (default: write nothing, only print the result)")
	o.Tries, f.text.Components = 400, "num_nodes,num_edges"
	f.Bind(cmd, options.TunePacks, &f.text, o)
	return cmd
}

// parseAmounts parses texts such as "num_nodes=8".
func parseAmounts(flag string, list []string, components string) (out []option.Amount, err error) {
	for _, text := range list {
		name, value, _ := strings.Cut(text, "=")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return nil, cli.Usagef("found --%s %q, expected COMPONENT=NUMBER with a component of %s", flag, text, components)
		}
		out = append(out, option.Amount{Component: name, N: n})
	}
	return out, nil
}
