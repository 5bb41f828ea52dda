package command

import (
	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/format/chunk"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// NewChunk makes the command chunk.
func NewChunk(t *cli.Terminal) *cobra.Command {
	var f struct {
		outputFlags
		option.Chunk
	}
	o := &f.Chunk
	cmd := &cobra.Command{
		Use:   "chunk STORE",
		Short: "Write the edges of a store as chunks, for a streaming sampler",
		Long: `Writes the neighbours of all nodes as chunks: files of 32-bit words that a
streaming sampler reads whole, one after the other (docs/format-chunk.md). Each edge
type has its own. A chunk takes as many nodes as fit; no node is cut. Features and
original ids have no place in chunks and are named.

Import makes a store of the chunks again, with the same ids and the same edges in
the same order.`,
		Example: `  graphmill chunk g.store --out g.chunks
  graphmill chunk g.store --chunk-size 64MiB --direction in --out g.chunks
  graphmill chunk info g.chunks
  graphmill import g.chunks --out again.store`,
		Args: cli.OneArg("one STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.Check(); err != nil {
				return err
			}
			o.Run = f.outputFlags.Run(t)
			return t.Finish(f.AsJSON)(graphmill.Chunk(cmd.Context(), args[0], f.Path, *o))
		},
	}
	f.AddThreads(cmd)
	f.outFlags.Add(cmd)
	o.ChunkSize = chunk.DefaultBytes
	f.Bind(cmd, options.Chunk, o)
	cmd.AddCommand(newChunkInfo(t))
	return cmd
}
