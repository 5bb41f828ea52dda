package command

import (
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/graphmill/graphmill/format/chunk"
	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/vfs"
)

// chunksInfo describes a folder of chunks.
type chunksInfo struct {
	Folder     string            `json:"folder"`
	Kind       string            `json:"kind"`
	ChunkBytes int64             `json:"chunk_bytes"`
	Nodes      map[string]uint64 `json:"nodes"`
	Edges      []chunkEdges      `json:"edges"` // sorted by type, in byte order
}

type chunkEdges struct {
	Type   string      `json:"type"`
	Dir    string      `json:"dir"`
	Count  uint64      `json:"count"`
	Chunks []chunkInfo `json:"chunks"`
}

// chunkInfo describes a chunk: the ids of its first and last node, and its sizes as the authors of the format define them.
type chunkInfo struct {
	Start   uint32  `json:"start"`
	End     uint32  `json:"end"`
	Nodes   uint32  `json:"nodes"`
	Edges   uint64  `json:"edges"`
	Size    int64   `json:"size_bytes"` // without padding
	Padding uint64  `json:"padding_words"`
	Fill    float64 `json:"fill"`
}

func newChunkInfo(t *cli.Terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info DIR",
		Short: "Print the nodes, edges, size and padding of each chunk",
		Long: `Prints one row per chunk. START and END are its first and last node. SIZE is in
bytes, without padding. PADDING is in words of 4 bytes. FILL is the share of the
chunk that is used.`,
		Example: `  graphmill chunk info g.chunks
  graphmill chunk info g.chunks --json | jq '.edges[0].chunks | length'`,
		Args: cli.OneArg("one DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			info, err := describeChunks(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return t.JSON(info)
			}
			w := tabwriter.NewWriter(t.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
			for i, e := range info.Edges {
				if i > 0 {
					fmt.Fprintln(w)
				}
				fmt.Fprintf(w, "%s, %s-edges\nSTART\tEND\tNODES\tEDGES\tSIZE\tPADDING\tFILL\t\n", human.Printable(e.Type), e.Dir)
				for _, c := range e.Chunks {
					fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%.2f%%\t\n", c.Start, c.End, c.Nodes, c.Edges, c.Size, c.Padding, 100*c.Fill)
				}
			}
			return w.Flush()
		},
	}
	addJSON(cmd, &asJSON, "print JSON on stdout")
	return cmd
}

func describeChunks(dir string) (*chunksInfo, error) {
	fsys := vfs.Confine(vfs.OS, dir)
	m, err := chunk.Read(fsys, dir)
	if err != nil {
		return nil, err
	}
	info := &chunksInfo{Folder: dir, Kind: "chunks", ChunkBytes: m.ChunkBytes, Nodes: m.Nodes, Edges: []chunkEdges{}}
	for _, name := range slices.Sorted(maps.Keys(m.Edges)) {
		set, err := chunk.OpenSet(fsys, dir, m, name)
		if err != nil {
			return nil, err
		}
		e := chunkEdges{Type: name, Dir: m.Edges[name].Dir, Count: m.Edges[name].Count, Chunks: []chunkInfo{}}
		for _, r := range set.Rows {
			e.Chunks = append(e.Chunks, chunkInfo{r.Start, r.End(), r.Nodes, r.Edges, r.Size(), r.Padding, r.Fill()})
		}
		info.Edges = append(info.Edges, e)
	}
	return info, nil
}
