package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

func newPackFill(t *cli.Terminal) *cobra.Command {
	var f struct {
		outputFlags
		option.Fill
	}
	o := &f.Fill
	cmd := &cobra.Command{
		Use:   "fill LAYOUT COLLECTION",
		Short: "Assign the graphs of a collection to the packs of a layout, differently for each epoch",
		Long: `Assigns the graphs of a collection to the packs of a layout: pack k has the graphs
graph_id.npy[pack_ptr.npy[k]:pack_ptr.npy[k+1]]. Every epoch has packs of the same
shapes with different graphs in a different order, which depend only on the random seed
and the epoch. Several epochs follow one another in the arrays. Graphs that are larger
than a pack are in no pack; if the layout was made with --oversize alone, alone_id.npy
lists them.`,
		Example: `  graphmill pack fill plan molecules.coll --seed 1 --epoch 0 --out filled
  graphmill pack fill plan molecules.coll --seed 1 --epochs 100 --out filled`,
		Args: cli.TwoArgs("a LAYOUT and its COLLECTION"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.CommonFlags.Check(); err != nil {
				return err
			}
			o.Run = f.outputFlags.Run(t)
			return t.Finish(f.AsJSON)(graphmill.Fill(cmd.Context(), args[0], args[1], f.Path, *o))
		},
	}
	f.AddThreads(cmd)
	f.outFlags.Add(cmd)
	o.Epochs = 1
	f.Bind(cmd, options.Fill, o)
	return cmd
}
