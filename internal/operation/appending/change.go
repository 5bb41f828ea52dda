package appending

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/ingest/table/views"
	"github.com/graphmill/graphmill/internal/store"
)

// changes says whether the append changes the values of columns, and adds no rows.
func (a *appending) changes() bool { return a.o.Change != "" }

// changeSegment writes the segment of an append that changes values.
func (b *building) changeSegment(ctx context.Context) (*store.Meta, error) {
	start := time.Now()
	if b.madeLast() {
		return nil, errNothing
	}
	if err := b.typesOf(); err != nil {
		return nil, err
	}
	c := store.Changes{Made: b.made, Nodes: map[string][]uint64{}, Edges: map[string]store.ChangedEdges{}}
	some := false
	var nodes assemble.Input
	for _, n := range b.in.Nodes {
		if n.Table == nil {
			continue
		}
		numbers, err := b.changedNodes(ctx, &n)
		if err != nil {
			return nil, err
		}
		some = some || len(numbers) > 0
		n.ID = table.Column{DType: graph.Uint64} // the numbers of the rows
		c.Nodes[n.Type], nodes.Nodes = numbers, append(nodes.Nodes, n)
	}
	edges := b.nodesOfStore()
	tables := map[graph.EdgeType]*assemble.Edges{}
	for i := range b.in.Edges {
		e := b.in.Edges[i]
		tables[e.Type] = &b.in.Edges[i]
		e.Table, e.OfStore = b.numberedKnown(&e), true
		e.Src, e.Dst = table.Column{Name: "#src", DType: graph.Uint64}, table.Column{Name: "#dst", DType: graph.Uint64}
		edges.Edges = append(edges.Edges, e)
	}
	b.report.Stage("find what changes", time.Since(start), 0, "")
	var err error
	if c.NodeRows, _, err = b.buildStore(ctx, "nodes", nodes, assemble.Options{DuplicateNodes: assemble.Error, DanglingEdges: assemble.Error}); err != nil {
		return nil, err
	}
	var built *assemble.Result
	if c.EdgeRows, built, err = b.buildStore(ctx, "edges", edges, assemble.Options{DanglingEdges: assemble.Error, SelfLoops: assemble.Keep, DuplicateEdges: assemble.Keep, Listed: true}); err != nil {
		return nil, err
	}
	b.warnLeftOut(built)
	for _, e := range c.EdgeRows.Graph.Edges {
		found, err := b.changedEdges(ctx, tables[e.Type], c.EdgeRows, e)
		if err != nil {
			return nil, err
		}
		some = some || len(found.IDs) > 0
		c.Edges[e.Type.String()] = found
	}
	if !some {
		return nil, errNothing
	}
	return b.store.ChangeSegment(ctx, b.w, c)
}

// madeLast says whether the last append made the same changes, as where a command is given again that was killed when its segment was there.
func (b *building) madeLast() bool {
	made := b.store.Meta.History()
	all := made.AppendedInputs()
	return b.rows == nil && len(all) > 0 && maps.Equal(all[len(all)-1], b.made.Inputs)
}

// changedNodes are the nodes of the store that the rows of a table name, each once.
func (b *building) changedNodes(ctx context.Context, n *assemble.Nodes) (nodes []uint64, err error) {
	t := b.types[n.Type]
	id := n.ID
	id.DType = t.ids
	seen := make([]uint64, (t.had+63)/64)
	_, err = n.Table.Scan(ctx, []table.Column{id}, 1, func(_ int, c *table.Chunk) error {
		for i := range c.Rows {
			text := c.Columns[0].ID(i, t.ids)
			v, ok := t.findKnown(text)
			where := func() string { return n.Table.Where(c.First+uint64(i), n.ID.Name) }
			switch {
			case !ok:
				return fmt.Errorf("%s: found the id %s, expected one of the nodes of type %s in the store; append it as a new node first, or remove the row", where(), idText(text, t.ids), n.Type)
			case seen[v/64]>>(v%64)&1 != 0:
				return fmt.Errorf("%s: found the id %s a second time, expected one row per node; keep the last one", where(), idText(text, t.ids))
			}
			seen[v/64] |= 1 << (v % 64)
			nodes = append(nodes, v)
		}
		return nil
	})
	return nodes, err
}

// numberedKnown is the table of edges with the numbers of their ends in the store.
func (b *building) numberedKnown(e *assemble.Edges) table.Table {
	var numbers []views.Numbers
	for _, end := range []struct {
		column table.Column
		of, as string
	}{{e.Src, e.Type.Src, "#src"}, {e.Dst, e.Type.Dst, "#dst"}} {
		t := b.types[end.of]
		end.column.DType = t.ids
		numbers = append(numbers, views.Numbers{Column: end.column, As: end.as, Find: t.findKnown, Of: "the nodes of type " + t.name})
	}
	return views.Numbered(e.Table, numbers...)
}

// changedEdges are the edges of the store between the ends of those of a table, e of from in the order of the store: all edges with these ends.
func (b *building) changedEdges(ctx context.Context, t *assemble.Edges, from *store.Store, e *graph.Edges) (c store.ChangedEdges, err error) {
	had := b.edgesOf(e.Type)
	of, rows := had.Adj[had.Primary], e.Adj[had.Primary]
	if rows == nil {
		return c, fmt.Errorf("edge type %s: found edges by %s, expected them by %s as in the store; import all tables again", e.Type, e.Primary, had.Primary)
	}
	type changed struct{ far, row, position uint64 }
	positions := graph.FindColumn(e.Columns, graph.PositionColumn)
	where := func(position uint64) string { return t.Table.Where(position, t.Src.Name) }
	var list []changed
	nodes, _ := from.Listed(e.Type.String())
	for k := range nodes.Len() {
		v, first, last := int(nodes.At(k)), rows.Indptr.At(k), rows.Indptr.At(k+1)
		if err := context.Cause(ctx); err != nil {
			return c, err
		}
		list = list[:0]
		for row := first; row < last; row++ {
			list = append(list, changed{rows.Far.At(int(row)), row, store.PositionAt(positions, int(row))})
		}
		slices.SortStableFunc(list, func(x, y changed) int { return cmp.Compare(x.far, y.far) })
		for i := 1; i < len(list); i++ {
			if list[i].far == list[i-1].far {
				return c, fmt.Errorf("%s: found an edge of type %s to change a second time, expected one row per pair of ends; keep the last one", where(list[i].position), e.Type)
			}
		}
		left := len(list)
		found := make([]bool, len(list))
		for id := of.Indptr.At(v); id < of.Indptr.At(v+1); id++ {
			i, is := slices.BinarySearchFunc(list, of.Far.At(int(id)), func(x changed, far uint64) int { return cmp.Compare(x.far, far) })
			if !is {
				continue
			}
			if !found[i] {
				found[i] = true
				left--
			}
			c.IDs, c.Rows = append(c.IDs, id), append(c.Rows, list[i].row)
		}
		if left > 0 {
			none := list[slices.Index(found, false)]
			return c, fmt.Errorf("%s: found an edge of type %s to change that the store does not have, expected one of its edges; append it as a new edge, or remove the row", where(none.position), e.Type)
		}
	}
	return c, nil
}
