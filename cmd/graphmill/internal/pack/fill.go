package pack

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
)

func newFill(t *cli.Terminal) *cobra.Command {
	var f struct {
		cli.Common
		cli.Out
		graphmill.FillOptions
	}
	o := &f.FillOptions
	cmd := &cobra.Command{
		Use:   "fill LAYOUT COLLECTION",
		Short: "Deal the graphs of a collection into a pack layout, fresh for each epoch",
		Long: `Writes which graphs are in which pack: pack_ptr.npy bounds the graphs of each pack
in graph_id.npy. Every epoch has packs of the same shapes with other graphs, in
another order, which are a function of seed and epoch alone. Several epochs lie one
behind the other. Graphs that are larger than a pack are in none of them; where the
layout has them alone, alone_id.npy lists them.`,
		Example: `  graphmill pack fill plan molecules.coll --seed 1 --epoch 0 --out filled
  graphmill pack fill plan molecules.coll --seed 1 --epochs 100 --out filled`,
		Args: cli.TwoArgs("a LAYOUT and its COLLECTION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Common.Check(); err != nil {
				return err
			}
			if err := cli.Positive(cmd.Flags(), "epochs"); err != nil {
				return err
			}
			o.Run = f.Common.Run(t)
			o.Overwrite = f.Force
			r, err := graphmill.Fill(cmd.Context(), args[0], args[1], f.Path, *o)
			if err != nil {
				return err
			}
			return t.PrintReport(r, f.AsJSON)
		},
	}
	f.AddThreads(cmd)
	f.Out.Add(cmd)
	fs := cmd.Flags()
	fs.Uint64Var(&o.Seed, "seed", 0, "random seed of the order")
	fs.Uint64Var(&o.Epoch, "epoch", 0, "epoch, the first one")
	fs.IntVar(&o.Epochs, "epochs", 1, "how many epochs")
	return cmd
}

func newMaterialise(t *cli.Terminal) *cobra.Command {
	var f struct {
		cli.Common
		cli.Out
		graphmill.MaterialiseOptions
	}
	o := &f.MaterialiseOptions
	cmd := &cobra.Command{
		Use:     "materialise LAYOUT COLLECTION",
		Aliases: []string{"materialize"},
		Short:   "Write the packs of an epoch as tensors",
		Long: `Writes the packs that pack fill deals, with all that their graphs have.

npy: arrays of one shape a pack, padded, with masks, for JAX, PyG and whatever
takes static shapes. The limits must name every node and edge type (num_nodes and
num_edges where there is one). A layout that was made with --reserve has the shape
of its limits; without, padding comes on top: a node of each type and a graph.
collection: a graph a pack, whose components are the graphs of the pack. Unpadded.
tfrecord: a GraphTensor a pack, with a component a graph. Unpadded: TF-GNN pads it
to the limits with pad_to_total_sizes.`,
		Example: `  graphmill pack molecules.coll --limit num_nodes=1024 --limit num_edges=2200 --max-graphs 64 --reserve --out plan
  graphmill pack materialise plan molecules.coll --seed 1 --epoch 0 --out packs
  graphmill pack materialise plan molecules.coll --format tfrecord --out records`,
		Args: cli.TwoArgs("a LAYOUT and its COLLECTION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Common.Check(); err != nil {
				return err
			}
			if err := cli.Positive(cmd.Flags(), "shards"); err != nil {
				return err
			}
			o.Run = f.Common.Run(t)
			o.Overwrite = f.Force
			r, err := graphmill.Materialise(cmd.Context(), args[0], args[1], f.Path, *o)
			if err != nil {
				return err
			}
			return t.PrintReport(r, f.AsJSON)
		},
	}
	f.AddThreads(cmd)
	f.Out.Add(cmd)
	fs := cmd.Flags()
	fs.Uint64Var(&o.Seed, "seed", 0, "random seed of the order")
	fs.Uint64Var(&o.Epoch, "epoch", 0, "epoch, the first one")
	fs.StringVar((*string)(&o.Format), "format", string(graphmill.FormatNpy), "npy, collection or tfrecord")
	fs.IntVar(&o.Shards, "shards", 1, "files to divide the records of tfrecord over")
	return cmd
}
