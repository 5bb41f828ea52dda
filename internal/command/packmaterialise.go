package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

func newPackMaterialise(t *cli.Terminal) *cobra.Command {
	var f struct {
		outputFlags
		option.Materialise
	}
	o := &f.Materialise
	cmd := &cobra.Command{
		Use:     "materialise LAYOUT COLLECTION",
		Aliases: []string{"materialize"},
		Short:   "Write the packs of an epoch as tensors",
		Long: `Writes the packs that pack fill assigns for an epoch, with all columns of their graphs.

The format npy is arrays that are padded to one shape, with masks, for JAX, PyG and others. Every
node and edge type needs a limit (num_nodes and num_edges if there is one type). The
shape of a pack is its limits if the layout was made with --reserve; otherwise a padding
node of each type and a padding graph are added on top.

The format collection is one graph per pack, with one component per graph of the pack; not padded.

The format tfrecord is one GraphTensor per pack, with one component per graph; not padded: TF-GNN
pads it to the limits with pad_to_total_sizes.`,
		Example: `  graphmill pack molecules.coll --limit num_nodes=1024 --limit num_edges=2200 --max-graphs 64 --reserve --out plan
  graphmill pack materialise plan molecules.coll --seed 1 --epoch 0 --out packs
  graphmill pack materialise plan molecules.coll --format tfrecord --out records`,
		Args: cli.TwoArgs("a LAYOUT and its COLLECTION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.CommonFlags.Check(); err != nil {
				return err
			}
			o.Run = f.outputFlags.Run(t)
			return t.Finish(f.AsJSON)(graphmill.Materialise(cmd.Context(), args[0], args[1], f.Path, *o))
		},
	}
	f.AddThreads(cmd)
	f.outFlags.Add(cmd)
	o.Format, o.Shards = option.FormatNpy, 1
	f.Bind(cmd, options.Materialise, o)
	return cmd
}
