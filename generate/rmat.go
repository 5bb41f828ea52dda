// Package generate makes synthetic graphs: tables of edges that no file holds.
//
// The same parameters give the same edges on every machine, by the draw law of
// package draw. The package imports draw, graph and ingest/table.
package generate

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/ingest/table"
)

// RMAT is the table of the edges of an R-MAT graph: columns "src" and "dst", a
// row an edge, nothing stored.
type RMAT struct {
	law   *draw.RMAT
	edges uint64
}

// NewRMAT makes the table of 2^scale nodes and edgeFactor edges a node.
func NewRMAT(seed uint64, scale, edgeFactor int) (*RMAT, error) {
	if edgeFactor < 1 || edgeFactor > 1<<20 {
		return nil, fmt.Errorf("found edge factor %d, expected 1 to %d", edgeFactor, 1<<20)
	}
	law, err := draw.NewRMAT(seed, scale)
	if err != nil {
		return nil, err
	}
	return &RMAT{law: law, edges: law.Nodes() * uint64(edgeFactor)}, nil
}

// Nodes is the number of nodes, those without edges included.
func (t *RMAT) Nodes() uint64 { return t.law.Nodes() }

// Edges is the number of rows.
func (t *RMAT) Edges() uint64 { return t.edges }

// Fields implements table.Table.
func (t *RMAT) Fields() []table.Field {
	return []table.Field{{Name: "src", DType: graph.Uint64}, {Name: "dst", DType: graph.Uint64}}
}

// Files implements table.Table: there are none.
func (t *RMAT) Files() []string { return nil }

// Bytes implements table.Table: the size that the rows would have.
func (t *RMAT) Bytes() int64 { return int64(t.edges) * 16 }

// Where implements table.Table.
func (t *RMAT) Where(row uint64, _ string) string { return fmt.Sprintf("R-MAT edge %d", row) }

// chunkRows is the rows of a chunk: 1 MiB of ids.
const chunkRows = 1 << 16

// Scan implements table.Table.
func (t *RMAT) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	for _, c := range columns {
		if c.Name != "src" && c.Name != "dst" || c.DType != graph.Uint64 {
			return 0, fmt.Errorf("R-MAT: found column %q of %s, expected src or dst of uint64", c.Name, c.DType)
		}
	}
	var next atomic.Uint64
	g, ctx := errgroup.WithContext(ctx)
	for w := range max(threads, 1) {
		g.Go(func() error {
			src, dst := make([]uint32, chunkRows), make([]uint32, chunkRows)
			chunk := table.Chunk{Columns: make([]table.Vector, len(columns))}
			wide := make([][]uint64, len(columns))
			for i := range wide {
				wide[i] = make([]uint64, chunkRows)
			}
			for {
				first := (next.Add(1) - 1) * chunkRows
				if first >= t.edges || ctx.Err() != nil {
					return ctx.Err()
				}
				n := int(min(chunkRows, t.edges-first))
				t.law.Fill(src[:n], dst[:n], first)
				for i, c := range columns {
					from := src
					if c.Name == "dst" {
						from = dst
					}
					for j, v := range from[:n] {
						wide[i][j] = uint64(v)
					}
					chunk.Columns[i].Data = graph.Bytes(wide[i][:n])
				}
				chunk.First, chunk.Rows, chunk.Bytes = first, n, int64(n)*16
				if err := fn(w, &chunk); err != nil {
					return err
				}
			}
		})
	}
	return t.edges, g.Wait()
}
