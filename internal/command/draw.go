package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// NewDraw makes the command draw.
func NewDraw(t *cli.Terminal) *cobra.Command {
	var f struct {
		CommonFlags
		option.Picture
		Path      string
		Overwrite bool
	}
	o := &f.Picture
	cmd := &cobra.Command{
		Use:   "draw COLLECTION|STORE",
		Short: "Draw one subgraph, or a small store, as a picture",
		Long: `Draws at most 300 nodes: a subgraph of a collection, or a store. The seeds of a sampled
subgraph are in the middle, and the nodes of each hop on a ring around them; other graphs
are placed by their edges. Colours and shapes are node types, with a legend, and arrows
are the directions of edges. --colour takes the colours from a column instead: numbers and
times by a scale, texts one by one.

A sampled collection holds its columns by reference: --store has the ids and columns.

NAME.svg is a picture that follows light and dark mode. NAME.html is a page with it and
its numbers. The same input gives the same picture.`,
		Example: `  graphmill draw batches --out batch.svg
  graphmill draw batches --subgraph 7 --store g.store --label title --colour year --out batch.svg
  graphmill draw batches --store g.store --label id --out batch.html
  graphmill draw small.store --out graph.svg`,
		Args: cli.OneArg("one COLLECTION or STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.Path == "" {
				return cli.Usagef("found no `Out`, expected a file to write; give `Out` FILE.svg")
			}
			if err := f.Check(); err != nil {
				return err
			}
			o.Run = f.CommonFlags.Run(t)
			o.Overwrite = f.Overwrite
			return t.Finish(f.AsJSON)(graphmill.Draw(cmd.Context(), args[0], f.Path, *o))
		},
	}
	f.AddThreads(cmd)
	cmd.Flags().StringVarP(&f.Path, "out", "o", "", "file to write: .svg or .html (required)")
	cli.Group(cmd.Flags(), options.GroupOutput, "*out")
	f.Bind(cmd, options.OverwriteTable, &f)
	f.Bind(cmd, options.Picture, o)
	return cmd
}
