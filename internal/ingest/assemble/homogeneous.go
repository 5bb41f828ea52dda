package assemble

import (
	"context"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/store"
)

// offsets gives each type its place among the nodes of a homogeneous graph. It first finds the number of nodes of
// types that are known only from edges.
func (b *builder) offsets(ctx context.Context) error {
	if len(b.types) > 1 {
		for _, p := range b.byName() {
			if p.src.t.known && p.dst.t.known {
				continue
			}
			g := &group{builder: b, etype: p.Type, parts: []*part{p}}
			if err := g.join(ctx, p); err != nil {
				return err
			}
			if err := b.stage("counting", p.Type.String(), func() (uint64, error) {
				lay := newLayout(true, nil)
				err := g.scanPart(ctx, p, nil, &lay)
				return p.rows, err
			}); err != nil {
				return err
			}
		}
		for _, t := range b.types {
			t.counted = t.counted || !t.known
			t.known = true
		}
	}
	at := uint64(0)
	for _, t := range b.types {
		t.offset = at
		at += t.count
	}
	return nil
}

// finishHomogeneous writes the nodes of a homogeneous graph.
func (b *builder) finishHomogeneous(ctx context.Context) error {
	if len(b.types) == 0 {
		return nil
	}
	dir, m := store.NodesDir(graph.HomogeneousNode), b.nodesMeta(graph.HomogeneousNode)
	s, err := b.newNodeSink(b.types, dir)
	if err != nil {
		return err
	}
	if len(s.columns) > 0 {
		for _, t := range b.types {
			if err := b.stage("nodes", t.Type, func() (uint64, error) {
				rows, err := b.readType(ctx, t, false, s)
				if err == nil {
					err = s.add(ctx, t)
				}
				return rows, err
			}); err != nil {
				return err
			}
		}
	}
	if err := s.close(m); err != nil {
		return err
	}
	var n uint64
	for _, t := range b.types {
		t.stats.Count = t.count
		n += t.count
	}
	m.Count = int(n)
	if len(b.types) == 1 {
		m.Added = int(b.types[0].stats.Added)
	}
	for _, t := range b.types {
		m.Types = append(m.Types, t.Type)
	}
	for name, dtype := range map[string]graph.DType{typeColumn: typeDType(len(b.types)), typeWiseIDColumn: indexType(n)} {
		meta := fixedMeta(dir, name, dtype, nil)
		value := func(_ *nodeType, id uint64) uint64 { return id }
		if name == typeColumn {
			value = func(t *nodeType, _ uint64) uint64 { return uint64(t.number) }
		}
		if err := b.writeNodeValues(meta.File, dtype, value); err != nil {
			return err
		}
		m.Columns[name] = meta
	}
	return nil
}

// writeNodeValues writes an array with an integer for each node of each type.
func (b *builder) writeNodeValues(file string, dtype graph.DType, value func(t *nodeType, id uint64) uint64) error {
	a, err := b.sized(file, countOf(b.types), dtype)
	if err != nil {
		return err
	}
	var buf []byte
	width := int64(dtype.Size())
	for _, t := range b.types {
		const batch = columnBatch / 8
		for from := uint64(0); from < t.count; from += batch {
			n := min(batch, t.count-from)
			if !a.WantsNext(int64(n) * width) {
				if err := a.Skip(int64(n) * width); err != nil {
					return err
				}
				continue
			}
			buf = buf[:0]
			for id := from; id < from+n; id++ {
				v := value(t, id)
				for k := range dtype.Size() {
					buf = append(buf, byte(v>>(8*k)))
				}
			}
			if _, err := a.Write(buf); err != nil {
				return err
			}
		}
	}
	return b.closeArray(a)
}
