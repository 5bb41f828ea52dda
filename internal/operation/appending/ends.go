package appending

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/assemble"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/store"
)

// seen is where ids of a type without a table are seen first: two places per row of an edge table, source before destination, with tables in the order of the input.
type seen struct {
	t     *nodeType
	first map[string]uint64 // by the id, of ids that the store does not have
	most  uint64            // one more than the largest integer
	known []uint64          // the numbers that the ids of a chunk have in the store
}

// look looks for the ids of a chunk in the store; not for those that are numbers.
func (s *seen) look(c *table.Chunk, ids *table.Vector) {
	if !s.t.keys {
		return
	}
	s.known = slices.Grow(s.known[:0], c.Rows)[:c.Rows]
	s.t.findAllKnown(func(i int) []byte { return ids.ID(i, s.t.ids) }, s.known)
}

// hasKeys says whether the ids are not the numbers of the nodes; not of nil.
func (s *seen) hasKeys() bool { return s != nil && s.t.keys }

// see takes the id of a row of the chunk that look has looked for.
func (s *seen) see(row int, id []byte, at uint64) {
	if !s.t.keys {
		s.most = max(s.most, integerOf(id)+1)
		return
	}
	if s.known[row] != store.NoNode {
		return
	}
	if had, ok := s.first[string(id)]; !ok || at < had {
		s.first[string(id)] = at
	}
}

// numberEnds finds the new nodes of the types without a table, of which only the ends of edges tell, and returns them as such types have them.
func (b *building) numberEnds(ctx context.Context) (nodes []assemble.Nodes, err error) {
	types := map[string]*seen{}
	for i := range b.in.Nodes {
		if n := &b.in.Nodes[i]; n.Table == nil {
			types[n.Type] = &seen{t: b.types[n.Type], first: map[string]uint64{}}
		}
	}
	base, bytes := uint64(0), int64(0)
	for i := range b.in.Edges {
		e := &b.in.Edges[i]
		if types[e.Type.Src] == nil && types[e.Type.Dst] == nil {
			continue
		}
		bytes += e.Table.Bytes()
		rows, err := seeEnds(ctx, e, types[e.Type.Src], types[e.Type.Dst], base, b.o.Threads)
		if err != nil {
			return nil, err
		}
		base += 2 * rows
	}
	for _, n := range b.in.Nodes {
		s := types[n.Type]
		switch {
		case s == nil:
		case s.t.keys:
			nodes = append(nodes, assemble.Nodes{Type: n.Type, Table: s.list(), ID: table.Column{Name: "id", DType: graph.String, ID: true}})
		case s.most > uint64(s.t.had)+max(limits.PerByte*uint64(bytes), store.LikelyNodes):
			return nil, fmt.Errorf("found %d as an id of the nodes of type %s, expected at most %d, because no table has these nodes and the store has %d; are the ids right?", s.most-1, n.Type, uint64(s.t.had)+max(limits.PerByte*uint64(bytes), store.LikelyNodes)-1, s.t.had)
		case s.most > uint64(s.t.had):
			s.t.added = int(s.most) - s.t.had
			nodes = append(nodes, assemble.Nodes{Type: n.Type, Count: uint64(s.t.added), ID: table.Column{DType: graph.Uint64}})
		}
	}
	return nodes, nil
}

// seeAll takes the integers of a list.
func (s *seen) seeAll(ids []uint64) {
	for _, v := range ids {
		s.most = max(s.most, v+1)
	}
}

// join takes what another has seen of the same type.
func (s *seen) join(x *seen) {
	s.most = max(s.most, x.most)
	for id, at := range x.first {
		if had, ok := s.first[id]; !ok || at < had {
			s.first[id] = at
		}
	}
}

// fork is a seen of the type that has seen nothing; nil for nil.
func (s *seen) fork() *seen {
	if s == nil {
		return nil
	}
	return &seen{t: s.t, first: map[string]uint64{}}
}

// seeEnds scans the ends of an edge table for the types that are not nil.
func seeEnds(ctx context.Context, e *assemble.Edges, src, dst *seen, base uint64, threads int) (uint64, error) {
	var ask []table.Column
	ends := make([]int, 2)
	for i, end := range []struct {
		column table.Column
		of     *seen
	}{{e.Src, src}, {e.Dst, dst}} {
		ends[i] = -1
		if end.column.Name != "" { // an end may be empty, and then the row is no edge
			ends[i] = len(ask)
			ask = append(ask, end.column)
		}
	}
	where := -1
	if e.Where != nil {
		where = len(ask)
		ask = append(ask, table.Column{Name: e.Where.Column, DType: graph.String})
	}
	by := make([][2]*seen, max(threads, 1)) // worker
	for i := range by {
		by[i] = [2]*seen{src.fork(), dst.fork()}
	}
	rows, err := e.Table.Scan(ctx, ask, len(by), func(worker int, c *table.Chunk) error {
		src, dst := by[worker][0], by[worker][1]
		if c.Absent == nil && where < 0 && !src.hasKeys() && !dst.hasKeys() {
			for i, s := range by[worker] {
				if s != nil && ends[i] >= 0 {
					s.seeAll(graph.View[uint64](c.Columns[ends[i]].Data)[:c.Rows])
				}
			}
			return nil
		}
		for i, s := range by[worker] {
			if s != nil && ends[i] >= 0 {
				s.look(c, &c.Columns[ends[i]])
			}
		}
		for row := range c.Rows {
			if c.Absent != nil && c.Absent[row] || where >= 0 && string(c.Columns[where].ID(row, graph.String)) != e.Where.Value {
				continue
			}
			at := base + 2*(c.First+uint64(row))
			if src != nil && ends[0] >= 0 {
				src.see(row, c.Columns[ends[0]].ID(row, e.Src.DType), at)
			}
			if dst != nil && ends[1] >= 0 {
				dst.see(row, c.Columns[ends[1]].ID(row, e.Dst.DType), at+1)
			}
		}
		return nil
	})
	for _, x := range by {
		if src != nil {
			src.join(x[0])
		}
		if dst != nil {
			dst.join(x[1])
		}
	}
	return rows, err
}

// list is the new ids in the order in which they were seen.
func (s *seen) list() *listed {
	ids := make([]string, 0, len(s.first))
	for id := range s.first {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(x, y string) int { return cmp.Compare(s.first[x], s.first[y]) })
	return &listed{ids}
}

// listed is a table with one column of strings, which memory holds.
type listed struct{ ids []string }

// Fields implements table.Table.
func (l *listed) Fields() []table.Field { return []table.Field{{Name: "id", DType: graph.String}} }

// Files implements table.Table.
func (l *listed) Files() []string { return nil }

// Bytes implements table.Table.
func (l *listed) Bytes() (n int64) {
	for _, id := range l.ids {
		n += int64(len(id))
	}
	return n
}

// Where implements table.Table.
func (l *listed) Where(uint64, string) string { return "the ends of the edges" }

// listedRows is the number of rows of a chunk.
const listedRows = 1 << 14

// Scan implements table.Table, in one goroutine.
func (l *listed) Scan(ctx context.Context, columns []table.Column, _ int, fn func(worker int, c *table.Chunk) error) (uint64, error) {
	for at := 0; at < len(l.ids); at += listedRows {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		ids := l.ids[at:min(at+listedRows, len(l.ids))]
		var v table.Vector
		for _, id := range ids {
			v.Data = append(v.Data, id...)
			v.Ends = append(v.Ends, uint32(len(v.Data)))
		}
		c := &table.Chunk{First: uint64(at), Rows: len(ids)}
		for range columns {
			c.Columns = append(c.Columns, v)
		}
		if err := fn(0, c); err != nil {
			return 0, err
		}
	}
	return uint64(len(l.ids)), nil
}
