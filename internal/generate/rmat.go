// Package generate makes synthetic graphs: tables of edges that are computed, not stored.
//
// The same parameters give the same edges on every machine, by the draw law of package draw. The package imports
// draw, graph and internal/ingest/table.
package generate

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// RMAT is the table of the edges of an R-MAT graph, with one row per edge. Its columns are "src" and "dst". Nothing
// is stored.
type RMAT struct {
	law   *draw.RMAT
	edges uint64
}

// maxScale is the largest scale of a graph that a store holds, as a type has fewer than 2^32 nodes there.
const maxScale = 31

// NewRMAT makes the table of a graph of 2^scale nodes and edgeFactor edges per node. seed is the random seed.
func NewRMAT(seed uint64, scale, edgeFactor int) (*RMAT, error) {
	if scale < 1 || scale > maxScale {
		return nil, fmt.Errorf("found R-MAT scale %d, expected 1 to %d", scale, maxScale)
	}
	if edgeFactor < 1 || edgeFactor > 1<<20 {
		return nil, fmt.Errorf("found edge factor %d, expected 1 to %d", edgeFactor, 1<<20)
	}
	law, err := draw.NewRMAT(seed, scale)
	if err != nil {
		return nil, err
	}
	return &RMAT{law: law, edges: law.Nodes() * uint64(edgeFactor)}, nil
}

// Nodes is the number of nodes, including those without edges.
func (t *RMAT) Nodes() uint64 { return t.law.Nodes() }

// Edges is the number of rows.
func (t *RMAT) Edges() uint64 { return t.edges }

// Fields implements table.Table.
func (t *RMAT) Fields() []table.Field {
	return []table.Field{{Name: "src", DType: graph.Uint64}, {Name: "dst", DType: graph.Uint64}}
}

// Files implements table.Table. The table has no files.
func (t *RMAT) Files() []string { return nil }

// Bytes implements table.Table. It returns the size that the rows would have in a file.
func (t *RMAT) Bytes() int64 { return int64(t.edges) * 16 }

// Where implements table.Table.
func (t *RMAT) Where(row uint64, _ string) string { return fmt.Sprintf("R-MAT edge %d", row) }

// Scan implements table.Table.
func (t *RMAT) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	return scanPairs(ctx, "R-MAT", t.edges, columns, threads, func() func(src, dst []uint64, first uint64) {
		from, to := make([]uint32, chunkRows), make([]uint32, chunkRows)
		return func(src, dst []uint64, first uint64) {
			t.law.Fill(from[:len(src)], to[:len(src)], first)
			for i := range src {
				src[i], dst[i] = uint64(from[i]), uint64(to[i])
			}
		}
	}, fn)
}
