package assemble

import (
	"context"
	"encoding/binary"
	"sort"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// writeIDs writes the keys of a type without a table.
func (b *builder) writeIDs(ctx context.Context, t *nodeType) error {
	dir, m := b.place(t)
	ids, err := b.column(dir, "ids", graph.String, nil, extentOf([]*nodeType{t}, nil, true))
	if err != nil {
		return err
	}
	if err := t.texts(ctx, &nodeColumn{vars: ids}, 0); err != nil {
		return err
	}
	meta, err := b.closeColumn(ids)
	m.IDs = &meta
	return err
}

// texts writes the numbered keys, in the order of their numbers, to a column of ids. It reads them from the tables of
// the edges. first is the number of the first of these nodes.
func (n *numberer) texts(ctx context.Context, to *nodeColumn, first uint64) (err error) {
	spill := extsort.NewSpill(n.fs, n.tmp, n.budget.spill())
	n.later(spill.Close)
	order := newInOrder(spill, nil)
	if to.vars != nil {
		order.columns = append(order.columns, to.vars)
	}
	for _, x := range n.list {
		if x.refs == nil {
			continue
		}
		order.next = x.base // skip ends that are not keys of the type
		var ask []table.Column
		at := [2]int{-1, -1}
		for k, e := range []end{x.p.src, x.p.dst} {
			if e.refs == x.refs {
				at[k] = len(ask)
				ask = append(ask, e.column)
			}
		}
		type worker struct {
			first []byte
			v     [1]table.Vector
		}
		workers := make([]worker, n.budget.threads)
		_, err := x.p.Table.Scan(ctx, ask, n.budget.threads, func(k int, c *table.Chunk) error {
			w := &workers[k]
			from := x.base + 2*c.First
			lo, err := n.firstFrom(from)
			if err != nil {
				return err
			}
			hi, err := n.firstFrom(from + 2*uint64(c.Rows))
			if err != nil {
				return err
			}
			if size := int(hi-lo) * 8; cap(w.first) < size {
				w.first = make([]byte, size)
			}
			seen := w.first[:(hi-lo)*8]
			if err := n.first.ReadAt(seen, int64(lo)*8); err != nil {
				return err
			}
			v := &w.v[0]
			v.Data, v.Ends = v.Data[:0], v.Ends[:0]
			for _, a := range u64s(seen) {
				row, end := (a-from)/2, (a-from)%2
				v.Data = append(v.Data, keyAt(n.t, &c.Columns[at[end]], int(row))...)
				v.Ends = append(v.Ends, uint32(len(v.Data)))
			}
			if to.array != nil {
				_, err := to.array.WriteAt(v.Data, int64(first+lo)*int64(to.width))
				return err
			}
			return order.put(from, 2*uint64(c.Rows), w.v[:])
		})
		if err != nil {
			return err
		}
	}
	return spill.Close()
}

// firstFrom returns the number of the first key whose first appearance is at least a.
func (n *numberer) firstFrom(a uint64) (uint64, error) {
	var err error
	var b [8]byte
	id := sort.Search(int(n.count), func(i int) bool {
		if err == nil {
			err = n.first.ReadAt(b[:], int64(i)*8)
		}
		return binary.LittleEndian.Uint64(b[:]) >= a
	})
	return uint64(id), err
}

// add writes the nodes that edges add to a type, after the nodes of its table.
func (s *nodeSink) add(ctx context.Context, t *nodeType) error {
	added := t.stats.Added
	if added == 0 {
		return nil
	}
	first := t.offset + t.count - added
	for i := range s.columns {
		c := &s.columns[i]
		if c.id {
			if err := t.texts(ctx, c, first); err != nil {
				return err
			}
			continue
		}
		batch := uint64(max(columnBatch/8/fixedValues(&c.Column), 1))
		for at := uint64(0); at < added; at += batch {
			n := min(batch, added-at)
			if c.array != nil && !c.array.Wants(int64(first+at)*int64(c.width), int64(n)*int64(c.width)) {
				continue
			}
			v := zeroRows(&c.Column, int(n))
			var err error
			if c.array != nil {
				_, err = c.array.WriteAt(v.Data, int64(first+at)*int64(c.width))
			} else {
				err = c.vars.Append(v.Data, v.Ends, v.Lengths...)
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// zeroRows makes rows of zeros, empty strings and empty lists; of times, categories and marks of missing cells it makes
// missing ones.
func zeroRows(c *table.Column, rows int) table.Vector {
	v := table.Vector{Lengths: make([][]uint32, dimensions(c))}
	n, k := rows, 0
	for _, d := range c.Shape {
		if d > 0 {
			n *= d
			continue
		}
		v.Lengths[k] = make([]uint32, n)
		n, k = 0, k+1
	}
	if c.DType == graph.String {
		v.Ends = make([]uint32, n)
	} else {
		v.Data = make([]byte, n*c.DType.Size())
	}
	switch {
	case c.Missing != nil:
		for i := range v.Data {
			v.Data[i] = 1
		}
	case c.Categories != nil:
		for i := range v.Data {
			v.Data[i] = 0xff // -1
		}
	case c.Unit != "":
		for i := range n {
			binary.LittleEndian.PutUint64(v.Data[8*i:], 1<<63) // graph.NoTime
		}
	}
	return v
}
