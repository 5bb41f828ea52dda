package collection

import (
	"context"
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
)

// edgeWriter writes the edges of a type, which are in the order of their graphs.
type edgeWriter struct {
	*Edges
	cols     columns
	beside   []columns
	src, dst *store.Array
	srcPtr   []uint64 // offsets of each graph's nodes of the source type
	dstPtr   []uint64
	rows     []uint64 // offsets of each graph's rows; nil: the source determines the graph
	ptr      []uint64 // offsets of each graph's edges, up to the current graph
	graph    int      // the current graph
	count    uint64
	from, to []uint32 // scratch
}

// next ends the current graph.
func (e *edgeWriter) next() {
	e.ptr = append(e.ptr, e.count)
	e.graph++
}

func (e *edgeWriter) graphs() int { return len(e.srcPtr) - 1 }

// scan reads all rows and writes their edges.
func (e *edgeWriter) scan(ctx context.Context, progress func(int64)) error {
	e.ptr = append(make([]uint64, 0, len(e.srcPtr)), 0)
	rows, err := e.Table.Scan(ctx, e.cols.asked(e.ends()), 1, func(_ int, c *table.Chunk) error {
		progress(int64(c.Rows))
		return e.chunk(c)
	})
	if err != nil {
		return err
	}
	if e.rows != nil {
		if want := e.rows[len(e.rows)-1]; rows != want {
			return badf("%s: found %d rows, expected %d, the sum over the graphs; correct the table or the counts", e.Table.Files()[0], rows, want)
		}
	}
	for e.graph < e.graphs() {
		e.next()
	}
	return nil
}

// ends returns the columns of the ends.
func (e *edgeWriter) ends() []table.Column {
	if e.Parent != "" {
		return []table.Column{{Name: e.Parent, DType: graph.Int64}}
	}
	return []table.Column{{Name: e.Src, DType: graph.Uint64}, {Name: e.Dst, DType: graph.Uint64}}
}

func (e *edgeWriter) chunk(c *table.Chunk) error {
	e.from, e.to = e.from[:0], e.to[:0]
	var err error
	if e.Parent != "" {
		err = e.parents(c)
	} else {
		err = e.pairs(c)
	}
	if err != nil {
		return err
	}
	if _, err := e.src.Write(graph.Bytes(e.from)); err != nil {
		return err
	}
	if _, err := e.dst.Write(graph.Bytes(e.to)); err != nil {
		return err
	}
	return e.cols.write(c, e.Symmetrise)
}

// seek makes the graph of a row the current one.
func (e *edgeWriter) seek(row uint64) error {
	if n := e.rows[len(e.rows)-1]; row >= n {
		return badf("%s: found row %d, expected %d rows, the sum over the graphs; correct the table or the counts", e.Table.Where(row, ""), row, n)
	}
	for row >= e.rows[e.graph+1] {
		e.next()
	}
	return nil
}

// follow makes the graph of a global source the current one.
func (e *edgeWriter) follow(row, src uint64) error {
	if src < e.Base || src-e.Base >= e.srcPtr[e.graphs()] {
		return e.outside(row, e.Src, src)
	}
	src -= e.Base
	if src < e.srcPtr[e.graph] {
		return badf("%s: found an edge from node %d after an edge of graph %d, expected edges in the order of their graphs; sort the edges, and the tables with the same rows, by their source", e.Table.Where(row, e.Src), src+e.Base, e.graph)
	}
	for src >= e.srcPtr[e.graph+1] {
		e.next()
	}
	return nil
}

// outside is the error about an end that is a node of no graph.
func (e *edgeWriter) outside(row uint64, column string, id uint64) error {
	ptr := e.srcPtr
	if column == e.Dst {
		ptr = e.dstPtr
	}
	return badf("%s: found node %d, expected one from %d to %d; correct the row", e.Table.Where(row, column), id, e.Base, int64(ptr[e.graphs()]+e.Base)-1)
}

// local returns the local id of an end in the current graph.
func (e *edgeWriter) local(ptr []uint64, row uint64, column string, id uint64) (uint32, error) {
	first, n := ptr[e.graph], ptr[e.graph+1]-ptr[e.graph]
	if !e.Global {
		first = 0
	}
	v := id - e.Base - first // wraps around if id is less
	if v >= n {
		if e.Global && (id < e.Base || id-e.Base >= ptr[e.graphs()]) {
			return 0, e.outside(row, column, id)
		}
		where := e.Table.Where(row, column)
		if n == 0 {
			return 0, badf("%s: found node %d in graph %d, expected no edge, as the graph has no nodes; remove the row, or add the nodes", where, id, e.graph)
		}
		return 0, badf("%s: found node %d, expected one from %d to %d, the nodes of graph %d; correct the row", where, id, first+e.Base, first+e.Base+n-1, e.graph)
	}
	return uint32(v), nil
}

func (e *edgeWriter) add(src, dst uint32) {
	e.from, e.to = append(e.from, src), append(e.to, dst)
	e.count++
}

func (e *edgeWriter) pairs(c *table.Chunk) error {
	src, dst := graph.View[uint64](c.Columns[0].Data), graph.View[uint64](c.Columns[1].Data)
	for i := range src {
		row := c.First + uint64(i)
		if e.rows == nil {
			if err := e.follow(row, src[i]); err != nil {
				return err
			}
		} else if err := e.seek(row); err != nil {
			return err
		}
		s, err := e.local(e.srcPtr, row, e.Src, src[i])
		if err != nil {
			return err
		}
		d, err := e.local(e.dstPtr, row, e.Dst, dst[i])
		if err != nil {
			return err
		}
		e.add(s, d)
		if e.Symmetrise {
			e.add(d, s)
		}
	}
	return nil
}

func (e *edgeWriter) parents(c *table.Chunk) error {
	for i, v := range graph.View[int64](c.Columns[0].Data) {
		row := c.First + uint64(i)
		if err := e.seek(row); err != nil {
			return err
		}
		if v == -1 {
			continue
		}
		if v < 0 {
			return badf("%s: found parent %d, expected a node, or -1 for a root; correct the row", e.Table.Where(row, e.Parent), v)
		}
		parent, err := e.local(e.srcPtr, row, e.Parent, uint64(v))
		if err != nil {
			return err
		}
		src, dst := parent, uint32(row-e.rows[e.graph])
		if src == dst {
			continue // a root
		}
		if e.ToParent {
			src, dst = dst, src
		}
		e.add(src, dst)
		if e.Symmetrise {
			e.add(dst, src)
		}
	}
	return nil
}

// checkSizes refuses graphs whose local ids do not fit into 32 bits.
func checkSizes(what string, ptr []uint64) error {
	for g := range len(ptr) - 1 {
		if n := ptr[g+1] - ptr[g]; n > math.MaxUint32 {
			return badf("%s: found %d nodes in graph %d, expected fewer than 2^32", what, n, g)
		}
	}
	return nil
}
