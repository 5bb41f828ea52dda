package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/option"
)

// NewWalk makes the command walk.
func NewWalk(t *cli.Terminal) *cobra.Command {
	var f struct {
		outputFlags
		option.Walk
		metapath string
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
			if err := cli.Positive(cmd.Flags(), "length", "walks", "limit-seeds", "visits"); err != nil {
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
			o.Run, o.Metapath = f.outputFlags.Run(t), splitCommas(f.metapath)
			return t.Finish(f.AsJSON)(graphmill.Walk(cmd.Context(), args[0], f.Path, o))
		},
	}
	f.outputFlags.Add(cmd)
	fs, o := cmd.Flags(), &f.Walk
	fs.IntVar(&o.Length, "length", 0, "number of steps (default: the number of edge types of --metapath, or 80)")
	fs.IntVar(&o.Walks, "walks", 0, "number of walks per start")
	fs.StringVar(&f.metapath, "metapath", "", "edge types of the steps, separated by commas (default: the only one of the store)")
	fs.StringVar((*string)(&o.Direction), "direction", "", "edges that a step follows: out-edges, to their destinations (out), or in-edges, to their sources (in)")
	fs.Float64Var(&o.P, "p", 1, "node2vec: a step back to the node before has the bias 1/p")
	fs.Float64Var(&o.Q, "q", 1, "node2vec: a step to a node that the node before has no edge to has the bias 1/q")
	fs.Float64Var(&o.Stop, "stop", 0, "chance per step that the walk ends")
	fs.Float64Var(&o.End, "end", 0, "chance that the walk ends where the metapath begins again, in addition to --stop")
	fs.Float64Var(&o.Restart, "restart", 0, "chance per step that the walk goes on at its start")
	fs.StringVar(&o.Weight, "weight", "", "edge column: draw with probability proportional to it (default: uniformly)")
	fs.StringVar(&o.Seeds, "seeds", "", "starts: TYPE:COLUMN=VALUE, or a file of ids (default: all nodes of the type from which the path starts)")
	fs.IntVar(&o.LimitSeeds, "limit-seeds", 0, "take only the first N starts of the list (default: all)")
	fs.Uint64Var(&o.Seed, "seed", 0, "random seed of all draws")
	fs.Uint64Var(&o.Epoch, "epoch", 0, "number of the epoch: another one has other walks")
	fs.BoolVar(&o.EdgeIDs, "edge-ids", false, "also write the ids of the edges that were taken, as edges.npy")
	fs.IntVar(&o.Visits, "visits", 0, "write an edge to each start from the N nodes that its walks visit most (default: write the walks)")
	cli.Defaults(fs, map[string]string{"walks": "10", "direction": "out"})
	cli.Choices(fs, "direction", "in", "out")
	cli.Values(fs, cli.EdgeTypes, "TYPES", "metapath")
	cli.Values(fs, cli.EdgeColumn, "COLUMN", "weight")
	cli.Values(fs, cli.NodeTypes, "SEEDS", "seeds")
	cli.Group(fs, cli.GroupWalk, "*length", "*walks", "*metapath", "*direction", "*p", "*q", "stop", "end", "*restart", "*weight", "*visits")
	cli.Group(fs, cli.GroupSeeds, "*seeds", "limit-seeds", "*seed", "epoch")
	cli.Group(fs, cli.GroupOutput, "edge-ids")
	return cmd
}
