package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// NewPartitionGraph makes the command partition-graph.
func NewPartitionGraph(t *cli.Terminal) *cobra.Command {
	var f struct {
		outputFlags
		OutEdges, DryRun bool
	}
	var o option.PartitionGraph
	division := partitionFlags{Partition: &o.Partition}
	cmd := &cobra.Command{
		Use:   "partition-graph STORE|CHUNKED",
		Short: "Divide a graph and write its parts for DGL, in one step",
		Long: `Does the work of dgl.distributed.partition_graph: graphmill partition, then graphmill
dispatch. As with partition_graph, the halo has the edges that leave a part (--out-edges
is on), and nodes have the data part_id.

--return-mapping also writes the arrays that partition_graph returns:
orig_nids/<node type>.npy and orig_eids/<src>+<rel>+<dst>.npy have the original id of
each new type-wise id.`,
		Example: `  graphmill partition-graph g.store --parts 8 --out parts
  graphmill partition-graph g.store --parts 4 --num-hops 2 --balance-edges --return-mapping --out parts
  graphmill partition-graph chunked/ --parts 4 --num-trainers-per-machine 2 --graph-formats csc --out parts`,
		Args: cli.OneArg("one STORE or CHUNKED graph"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.outputFlags.Check(); err != nil {
				return err
			}
			if err := division.check(cmd); err != nil {
				return err
			}
			if err := applyHops(&o.DGLParts); err != nil {
				return err
			}
			o.Run, o.InEdgesOnly = f.Run(t), !f.OutEdges
			if f.DryRun {
				return printDispatchForecast(t, f.AsJSON)(graphmill.ForecastPartitionGraph(cmd.Context(), args[0], f.Path, o))
			}
			return t.Finish(f.AsJSON)(graphmill.PartitionGraph(cmd.Context(), args[0], f.Path, o))
		},
	}
	f.outputFlags.Add(cmd)
	division.add(cmd, &f.CommonFlags)
	addPartsFlags(cmd, &f.CommonFlags, &o.DGLParts)
	f.OutEdges = true
	f.Bind(cmd, options.OutEdges, &f)
	f.Bind(cmd, options.DryRun, &f)
	f.Bind(cmd, options.ReturnMapping, &o)
	return cmd
}
