package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// NewWalk makes the command walk.
func NewWalk(t *cli.Terminal) *cobra.Command {
	var f struct {
		outputFlags
		option.Walk
	}
	cmd := &cobra.Command{
		Use:   "walk STORE",
		Short: "Make random walks",
		Long: `Makes random walks, and writes them as an array with one row of node ids per walk,
for word2vec, node2vec and metapath2vec: walk number 0 of each start node, then walk
number 1 of each, and so on. A row is padded with -1 after the end of its walk: at a
node without an edge to follow, or by --stop.

Steps are drawn alike, by --weight, or by node2vec's p and q. With --metapath a walk
follows one edge type after the other, and begins again at the first one. The same
store, options and random seed give the same bytes for any number of threads; another
--epoch has other walks.

With --visits N the output has, instead of the walks, an edge to each start from the N
nodes that its walks visit most at the ends of the metapath, with the number of visits
(PinSAGE). graphmill import makes a store of it.`,
		Example: `  graphmill walk g.store --length 80 --walks 10 --out walks
  graphmill walk g.store --length 40 --p 0.5 --q 2 --out walks
  graphmill walk g.store --metapath writes,cites,rev_writes --length 30 --out walks
  graphmill walk g.store --length 20 --restart 0.15 --seeds paper:split=train --edge-ids --out walks
  graphmill walk g.store --metapath rated_by,rates --length 6 --walks 50 --end 0.5 --visits 10 --out pins`,
		Args: cli.OneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.outputFlags.Check(); err != nil {
				return err
			}
			for _, x := range []struct {
				name  string
				value float64
			}{{"p", f.P}, {"q", f.Q}} {
				if x.value == 0 {
					return cli.Usagef("found --%s 0, expected 1e-06 to 1e+06", x.name)
				}
			}
			o := f.Walk
			o.Run = f.outputFlags.Run(t)
			return t.Finish(f.AsJSON)(graphmill.Walk(cmd.Context(), args[0], f.Path, o))
		},
	}
	f.outputFlags.Add(cmd)
	f.P, f.Q = 1, 1
	f.Bind(cmd, options.Walk, &f.Walk)
	return cmd
}
