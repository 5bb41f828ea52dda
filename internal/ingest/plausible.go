package ingest

import (
	"math"
	"slices"

	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/vfs"
)

// likelyNodes is a number of nodes that is believed, whatever the files have. Others are believed up to limits.PerByte.
const likelyNodes = 1 << 26

// plausible refuses what a small source would demand much for: many types and columns, and numbers of nodes that no row shows and that are out of
// proportion to the sizes of all files, since the offsets of these nodes could fill the disk. Nodes without edges take no space, and a number that the
// options have is the user's.
func plausible(fsys vfs.FS, path string, s *Source, o Options) error {
	if n := names(&s.Input); n > limits.Names {
		return sourcef("%s: found %d types and columns, expected at most %d, because each has files of its own; join columns to vectors with `Vectors`, or name those that you need with `Columns` or in a graph.yaml", path, n, limits.Names)
	}
	limit := uint64(0)
	for _, n := range s.Input.Nodes {
		ends := slices.ContainsFunc(s.Input.Edges, func(e assemble.Edges) bool { return e.Type.Src == n.Type || e.Type.Dst == n.Type })
		if n.Table != nil || !ends && n.Count <= math.MaxUint32 || n.Count <= likelyNodes || n.Count == o.NumNodes {
			continue
		}
		if limit == 0 {
			for _, f := range s.Files {
				info, err := fsys.Stat(f)
				if err != nil {
					return err
				}
				limit += limits.PerByte * uint64(info.Size())
			}
			limit = max(limit, likelyNodes)
		}
		if n.Count > limit {
			return sourcef("%s: found %d nodes of type %s without features, expected at most %d, %d for each byte of the files; is the count right?", append(s.Files, path)[0], n.Count, n.Type, limit, limits.PerByte)
		}
	}
	return nil
}

// names is the number of types and columns of a graph.
func names(in *assemble.Input) int {
	n := len(in.Nodes) + len(in.Edges)
	for i := range in.Nodes {
		n += len(in.Nodes[i].Columns)
	}
	for i := range in.Edges {
		n += len(in.Edges[i].Columns)
	}
	return n
}
