package transform

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// Listed are rows that a file lists: the ids of nodes, or of the sources and destinations of edges.
type Listed struct {
	Table table.Table
	// Columns have the ids: one of nodes, two of edges.
	Columns []string
}

// checkFiles refuses files without the columns of ids.
func (s *Split) checkFiles(t *Transform, r *rows) error {
	want, some := 1, 0
	if t.edgesOf(r) != nil {
		want = 2
	}
	for _, f := range s.Files {
		if f == nil {
			continue
		}
		if some++; len(f.Columns) != want {
			return optionf("split of %s: %s: found %d columns of ids, expected %d: %s", s.Type, f.Table.Files()[0], len(f.Columns), want, []string{"the ids of the nodes", "the ids of the sources and destinations of the edges"}[want-1])
		}
	}
	if len(s.Files) != numParts || s.Files[0] == nil || some < 2 {
		return optionf("split of %s: found %d files, expected one for train and one for valid or test", s.Type, some)
	}
	return nil
}

// each calls a function for the rows of a file, in order.
func (f *Listed) each(ctx context.Context, fn func(row uint64, ids [2][]byte) error) error {
	var columns []table.Column
	for _, name := range f.Columns {
		columns = append(columns, table.Column{Name: name, DType: graph.String, ID: true})
	}
	_, err := f.Table.Scan(ctx, columns, 1, func(_ int, c *table.Chunk) error {
		var ids [2][]byte
		for i := range c.Rows {
			for k := range columns {
				v, from := &c.Columns[k], uint32(0)
				if i > 0 {
					from = v.Ends[i-1]
				}
				ids[k] = v.Data[from:v.Ends[i]]
			}
			if err := fn(c.First+uint64(i), ids); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// lookup finds the nodes of a type by ids that files list.
type lookup struct {
	n     *nodeTable
	rows  map[string]uint64 // noRow: not found yet; nil: ids are the numbers of nodes
	whole bool              // ids are integers
	held  *int64            // bytes of all lookups
}

const noRow = ^uint64(0)

func newLookup(n *nodeTable, held *int64) *lookup {
	l := &lookup{n: n, held: held, whole: n.n.IDs == nil || n.n.IDs.DType != graph.String}
	if n.n.IDs != nil {
		l.rows = map[string]uint64{}
	}
	return l
}

// key is an id in the form that the ids of the type have. Integers lose leading zeros.
func (l *lookup) key(id []byte) []byte {
	if l.whole && len(id) > 1 && id[0] == '0' {
		if id = bytes.TrimLeft(id, "0"); len(id) == 0 {
			return []byte("0")
		}
	}
	return id
}

// add adds an id to those to find.
func (l *lookup) add(id []byte) {
	if l.rows == nil {
		return
	}
	id = l.key(id)
	if _, seen := l.rows[string(id)]; !seen {
		l.rows[string(id)] = noRow
		*l.held += int64(len(id)) + textBytes
	}
}

// resolve finds the nodes.
func (l *lookup) resolve(ctx context.Context) error {
	if l.rows == nil {
		return nil
	}
	text := texts(l.n.n.IDs)
	var buf []byte
	for row := range l.n.n.Count {
		if row&0xfffff == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		buf = text(buf[:0], row)
		if _, listed := l.rows[string(buf)]; listed {
			l.rows[string(buf)] = uint64(row)
		}
	}
	return nil
}

// row is the number of the node with an id.
func (l *lookup) row(id []byte) (uint64, bool) {
	if l.rows == nil {
		row, err := strconv.ParseUint(string(id), 10, 64)
		return row, err == nil && row < uint64(l.n.n.Count)
	}
	row, listed := l.rows[string(l.key(id))]
	return row, listed && row != noRow
}

// listed divides items by files of ids.
func (t *Transform) listed(ctx context.Context, s *Split, r *rows, it *items, dealt []int8) error {
	for i := range dealt {
		dealt[i] = -1
	}
	x, held := t.edgesOf(r), int64(0)
	var of [2]*lookup
	if x == nil {
		of[0] = newLookup(t.nodes[slices.IndexFunc(t.nodes, func(n *nodeTable) bool { return &n.rows == r })], &held)
	} else {
		of[0] = newLookup(t.nodes[x.src], &held)
		if of[1] = of[0]; x.src != x.dst {
			of[1] = newLookup(t.nodes[x.dst], &held)
		}
	}
	err := s.eachListed(ctx, func(p int, row uint64, ids [2][]byte) error {
		for k, l := range of {
			if l != nil {
				l.add(ids[k])
			}
		}
		if t.o.Memory > 0 && held > t.o.Memory/2 {
			return optionf("split of %s: found ids in files that take more than half of the `Memory` of %d bytes, expected fewer; give more `Memory`, or divide the rows by a column", s.Type, t.o.Memory)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for k, l := range of {
		if l != nil && (k == 0 || l != of[0]) {
			if err := l.resolve(ctx); err != nil {
				return err
			}
		}
	}
	if x == nil {
		return t.listedNodes(ctx, s, of[0], dealt)
	}
	return t.listedEdges(ctx, s, x, of, it, dealt)
}

// eachListed calls a function for the rows of all files, in the order of the parts.
func (s *Split) eachListed(ctx context.Context, fn func(p int, row uint64, ids [2][]byte) error) error {
	for p, f := range s.Files {
		if f == nil {
			continue
		}
		some := false
		err := f.each(ctx, func(row uint64, ids [2][]byte) error {
			some = true
			return fn(p, row, ids)
		})
		if err != nil {
			return err
		}
		if !some {
			return fmt.Errorf("%s: found no ids, expected those of the part %s of %s; leave an empty file out", f.Table.Files()[0], Parts[p], s.Type)
		}
	}
	return nil
}

// listedNodes gives nodes the parts of the files that list them.
func (t *Transform) listedNodes(ctx context.Context, s *Split, of *lookup, dealt []int8) error {
	return s.eachListed(ctx, func(p int, row uint64, ids [2][]byte) error {
		place := func() string { return s.Files[p].Table.Where(row, s.Files[p].Columns[0]) }
		node, ok := of.row(ids[0])
		if !ok {
			return fmt.Errorf("%s: found the id %q, expected the id of a node of type %s; correct the id, leave it out, or name the column if the line is a header", place(), ids[0], s.Type)
		}
		if before := dealt[node]; before >= 0 && int(before) != p {
			return fmt.Errorf("%s: found the id %q in the part %s, expected it in one part, and %s has it; leave it out of one of them", place(), ids[0], Parts[p], Parts[before])
		}
		dealt[node] = int8(p)
		return nil
	})
}

// pair is an edge that a file lists.
type pair struct {
	src, dst uint64
	row      uint64
	part     int8
	found    bool
}

// pairBytes is the memory of a pair.
const pairBytes = 32

func comparePairs(a, b pair) int {
	return cmp.Or(cmp.Compare(a.src, b.src), cmp.Compare(a.dst, b.dst), cmp.Compare(a.part, b.part), cmp.Compare(a.row, b.row))
}

// listedEdges gives edges the parts of the files that list their ends.
func (t *Transform) listedEdges(ctx context.Context, s *Split, x *edgeTable, of [2]*lookup, it *items, dealt []int8) error {
	var pairs []pair
	held := *of[0].held
	err := s.eachListed(ctx, func(p int, row uint64, ids [2][]byte) error {
		e := pair{row: row, part: int8(p)}
		for k, to := range []*uint64{&e.src, &e.dst} {
			var ok bool
			if *to, ok = of[k].row(ids[k]); !ok {
				return fmt.Errorf("%s: found the id %q, expected the id of a node of type %s; correct the id, leave the edge out, or name the columns if the line is a header", s.Files[p].Table.Where(row, s.Files[p].Columns[k]), ids[k], of[k].n.n.Type)
			}
		}
		if pairs = append(pairs, e); t.o.Memory > 0 && held+int64(len(pairs))*pairBytes > t.o.Memory/2 {
			return optionf("split of %s: found edges in files that take more than half of the `Memory` of %d bytes, expected fewer; give more `Memory`, or divide the edges by a column", s.Type, t.o.Memory)
		}
		return nil
	})
	if err != nil {
		return err
	}
	place := func(e *pair) string { return s.Files[e.part].Table.Where(e.row, s.Files[e.part].Columns[0]) }
	slices.SortFunc(pairs, comparePairs)
	for i := range pairs {
		if e := &pairs[i]; i > 0 && e.src == pairs[i-1].src && e.dst == pairs[i-1].dst && e.part != pairs[i-1].part {
			return fmt.Errorf("%s: found an edge in the part %s, expected it in one part, and %s has it; leave it out of one of them", place(e), Parts[e.part], Parts[pairs[i-1].part])
		}
	}
	err = x.eachEnd(ctx, func(row int, src, dst uint64) error {
		i, _ := slices.BinarySearchFunc(pairs, pair{src: src, dst: dst, part: -1}, comparePairs)
		if i == len(pairs) || pairs[i].src != src || pairs[i].dst != dst {
			return nil
		}
		pairs[i].found = true
		item, ok := it.of(row)
		if !ok {
			return nil
		}
		if before := dealt[item]; before >= 0 && before != pairs[i].part {
			return fmt.Errorf("%s: found an edge in the part %s, expected it in the part of its reverse, and %s has that; leave it out of one of them", place(&pairs[i]), Parts[pairs[i].part], Parts[before])
		}
		dealt[item] = pairs[i].part
		return nil
	})
	if err != nil {
		return err
	}
	for i := range pairs {
		first := i == 0 || pairs[i].src != pairs[i-1].src || pairs[i].dst != pairs[i-1].dst
		if e := &pairs[i]; first && !e.found {
			return fmt.Errorf("%s: found ends that no edge of %s has, expected those of an edge; correct the line, or leave it out", place(e), s.Type)
		}
	}
	return nil
}
