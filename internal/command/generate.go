package command

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// NewGenerate makes the command generate.
func NewGenerate(t *cli.Terminal) *cobra.Command {
	var f struct {
		outputFlags
		option.Like
	}
	o := &f.Like
	names := options.LikeNames
	cmd := &cobra.Command{
		Use:   "generate [like:NAME[/K]]",
		Short: "Make a synthetic graph",
		Long: "Makes a graph by one of the commands below, or, of like:NAME, one with the published sizes of a data set: as many nodes and edges of each type, as wide features, as many classes, " +
			"and a split of the same sizes. /K divides all counts by K. Edges and values are made up: degrees follow a power law, and two thirds of the edges between labelled nodes stay in a " +
			"class. The same parameters give the same graph on every machine. NAME is " + strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1] + ".",
		Example: `  graphmill generate like:ogbn-products --out products.store
  graphmill generate like:ogbn-papers100M/4 --feature-dtype float16 --symmetrise --memory 4GiB --out papers.store
  graphmill generate rmat --scale 20 --edge-factor 16 --seed 1 --out rmat20.store
  graphmill generate community --nodes 2000000 --seed 1 --out community2m.store`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("found argument %q after %s, expected none; leave it out", args[1], args[0])
			}
			if len(args) == 1 && !strings.HasPrefix(args[0], like) {
				return cli.Usagef("found graph %q, expected rmat, community or like:NAME", args[0])
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			all := make([]string, len(names))
			for i, name := range names {
				all[i] = like + name
			}
			return all, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && cmd.Flags().NFlag() > 0 { // a script takes help for success
				return cli.Usagef("found no graph, expected rmat, community or like:NAME; name it before the flags")
			}
			if len(args) == 0 {
				return cmd.Help()
			}
			if err := f.outputFlags.Check(); err != nil {
				return err
			}
			o.Name, o.Run = strings.TrimPrefix(args[0], like), f.outputFlags.Run(t)
			st, err := graphmill.GenerateLike(cmd.Context(), f.Path, *o)
			return printStore(t, st, f.Path, err, f.AsJSON)
		},
	}
	f.outputFlags.Add(cmd)
	f.Bind(cmd, options.Build, o)
	f.Bind(cmd, options.Like, o)
	cmd.AddCommand(newGenerateRMAT(t), newGenerateCommunity(t))
	return cmd
}

// like begins the name of a data set among graphs.
const like = "like:"
