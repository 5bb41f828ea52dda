package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// scattered holds the ends of a relation's edges, one row per edge in the order of the edge ids, where the file has
// them in another order: by rows, or in pairs with ids. With several graphs the rows are in the order of the graphs.
// A scan holds both ends of all edges in memory, 8 bytes per edge.
type scattered struct {
	fsys     vfs.FS
	path     string
	graphs   []relation
	edges    int64  // number of edges of all graphs
	src, dst string // names of the fields
}

// relation is a relation of one graph and the nodes at its ends.
type relation struct {
	*dgl.Relation
	srcNodes, dstNodes int64
}

func (t *scattered) add(g *dgl.Graph, r *dgl.Relation) {
	t.graphs = append(t.graphs, relation{r, g.NodeTypes[r.Src].Nodes, g.NodeTypes[r.Dst].Nodes})
	t.edges += r.Edges
}

// Fields implements table.Table.
func (t *scattered) Fields() []table.Field {
	return []table.Field{{Name: t.src, DType: graph.Uint64}, {Name: t.dst, DType: graph.Uint64}}
}

// Files implements table.Table.
func (t *scattered) Files() []string { return []string{t.path} }

// Bytes implements table.Table.
func (t *scattered) Bytes() int64 { return 16 * t.edges }

// Where implements table.Table: "graph.bin, edge 17".
func (t *scattered) Where(row uint64, _ string) string {
	return fmt.Sprintf("%s, edge %d", t.path, row)
}

// Scan implements table.Table for its two columns, as Uint64.
func (t *scattered) Scan(ctx context.Context, columns []table.Column, threads int, fn func(worker int, c *table.Chunk) error) (_ uint64, err error) {
	ends, err := t.load(ctx)
	if err != nil {
		return 0, err
	}
	return table.Fill(ctx, uint64(t.edges), columns, threads, func(_ int, c *table.Chunk) error {
		for i, col := range columns {
			end := ends.dst
			if col.Name == t.src {
				end = ends.src
			}
			out := graph.View[uint64](c.Columns[i].Data)
			for k, v := range end[c.First:][:c.Rows] {
				out[k] = uint64(v)
			}
		}
		return nil
	}, fn)
}

// endsByID holds the ends of edges in the order of the edge ids.
type endsByID struct{ src, dst []uint32 }

// unknown marks an end that was not read yet.
const unknown = math.MaxUint32

func (t *scattered) load(ctx context.Context) (_ *endsByID, err error) {
	f, err := t.fsys.Open(t.path)
	if err != nil {
		return nil, err
	}
	defer closing(&err, f)
	e := &endsByID{make([]uint32, t.edges), make([]uint32, t.edges)}
	base := int64(0)
	for _, r := range t.graphs {
		part := endsByID{e.src[base:][:r.Edges], e.dst[base:][:r.Edges]}
		if err := t.one(ctx, f, r, part); err != nil {
			return nil, err
		}
		base += r.Edges
	}
	return e, nil
}

func (t *scattered) one(ctx context.Context, f vfs.File, r relation, e endsByID) error {
	if r.srcNodes > unknown || r.dstNodes > unknown {
		return sourcef("%s: found %d and %d nodes with edges that are not in COO, expected at most %d; save the graph with g.formats('coo')", t.path, r.srcNodes, r.dstNodes, uint32(unknown))
	}
	for i := range e.src {
		e.src[i] = unknown
	}
	put := func(id, src, dst int64) error {
		switch {
		case id < 0 || id >= r.Edges || e.src[id] != unknown:
			return sourcef("%s: found edge id %d twice or out of range, expected each id below %d once; the file is damaged; save the graph again", t.path, id, r.Edges)
		case src < 0 || src >= r.srcNodes:
			return sourcef("%s: found source %d of edge %d, expected one below %d; the file is damaged; save the graph again", t.path, src, id, r.srcNodes)
		case dst < 0 || dst >= r.dstNodes:
			return sourcef("%s: found destination %d of edge %d, expected one below %d; the file is damaged; save the graph again", t.path, dst, id, r.dstNodes)
		}
		e.src[id], e.dst[id] = uint32(src), uint32(dst)
		return nil
	}
	switch {
	case r.COO != nil:
		return eachPair(ctx, f, r.COO, put)
	case r.CSC != nil:
		return eachInRows(ctx, f, r.CSC, func(id, row, col int64) error { return put(id, col, row) })
	}
	return eachInRows(ctx, f, r.CSR, put)
}

// window is the number of values of an array that are read at once.
const window = 1 << 16

// eachPair calls fn for the edges of pairs.
func eachPair(ctx context.Context, f vfs.File, p *dgl.Pairs, fn func(id, src, dst int64) error) error {
	var r dgl.IntReader
	var buf [3][]int64
	n := p.Src.Rows()
	for at := int64(0); at < n; at += window {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		for i, a := range []dgl.Array{p.Src, p.Dst, p.EdgeIDs} {
			buf[i] = grown(buf[i], min(window, n-at))
			if err := readIDs(&r, f, a, at, buf[i]); err != nil {
				return err
			}
		}
		for i, id := range buf[2] {
			if err := fn(id, buf[0][i], buf[1][i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachInRows calls fn for the edges of a matrix, row by row.
func eachInRows(ctx context.Context, f vfs.File, m *dgl.Rows, fn func(id, row, col int64) error) error {
	var r dgl.IntReader
	var cols, ids, ends []int64
	edges, rows := m.Indices.Rows(), m.Indptr.Rows()-1
	row, last := int64(-1), int64(0) // the current row and the end of its edges
	next := 0                        // index in ends
	for at := int64(0); at < edges; at += window {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		cols, ids = grown(cols, min(window, edges-at)), grown(ids, min(window, edges-at))
		if err := errors.Join(readIDs(&r, f, m.Indices, at, cols), readIDs(&r, f, m.EdgeIDs, at, ids)); err != nil {
			return err
		}
		for i := range cols {
			for at+int64(i) >= last {
				if row++; row >= rows {
					return sourcef("%s: found the offset %d at the end of the rows, expected %d, the number of edges; the file is damaged; save the graph again", f.Name(), last, edges)
				}
				if next == len(ends) {
					ends, next = grown(ends, min(window, rows-row)), 0
					if err := r.Read(f, m.Indptr, row+1, ends); err != nil {
						return err
					}
				}
				end := ends[next]
				next++
				if end < last || end > edges {
					return sourcef("%s: found the offset %d of row %d after %d, expected offsets that ascend to %d, the number of edges; the file is damaged; save the graph again", f.Name(), end, row, last, edges)
				}
				last = end
			}
			if err := fn(ids[i], row, cols[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// readIDs reads edge ids. Where the file has none, the id of an edge is its index.
func readIDs(r *dgl.IntReader, f vfs.File, a dgl.Array, at int64, to []int64) error {
	if a.Rows() > 0 {
		return r.Read(f, a, at, to)
	}
	for i := range to {
		to[i] = at + int64(i)
	}
	return nil
}

// grown returns s with length n.
func grown(s []int64, n int64) []int64 {
	if int64(cap(s)) < n {
		return make([]int64, n)
	}
	return s[:n]
}

// closing closes c and joins its error to err.
func closing(err *error, c io.Closer) { *err = errors.Join(*err, c.Close()) }
