package assemble

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// group is an edge type of the store: one part or, in a homogeneous graph, all parts sorted by type.
type group struct {
	*builder
	etype  graph.EdgeType
	dir    string
	parts  []*part
	cols   []table.Column
	sym    uint // 1 if some part is symmetrised: seq is position << sym | reverse
	merged bool // several types become one homogeneous type

	meta *store.EdgesMeta
	// tails are the offset arrays whose end waits for the number of nodes.
	tails []*tail
}

// tail is an indptr array whose last offset repeats.
type tail struct {
	out    io.WriterAt
	array  *store.Array // out, of a store
	dtype  graph.DType
	filled uint64 // nodes written
	edges  uint64
	types  []*nodeType // the types whose nodes form the near type
}

// errWide ends a scan whose ids or positions do not fit into 32 bits.
var errWide = errors.New("ids of more than 32 bits")

// groups makes the edge types of the store.
func (b *builder) groups(ctx context.Context) ([]*group, error) {
	var groups []*group
	parts := b.byName()
	if !b.opt.Homogeneous {
		for _, p := range parts {
			g := &group{builder: b, etype: p.Type, parts: []*part{p}, cols: p.Columns}
			groups = append(groups, g)
		}
	} else if len(b.types) > 0 {
		if err := b.offsets(ctx); err != nil {
			return nil, err
		}
		g := &group{builder: b, etype: graph.HomogeneousEdge, parts: parts, merged: len(parts) > 1}
		cols := make([][]table.Column, len(parts))
		for i, p := range parts {
			cols[i] = p.Columns
		}
		var left []int
		g.cols, left = common(cols)
		for i, p := range parts {
			for _, c := range p.Columns {
				if left[i] > 0 && !slices.ContainsFunc(g.cols, func(x table.Column) bool { return x.Name == c.Name }) {
					b.res.Left = append(b.res.Left, p.Type.String()+"."+c.Name)
				}
			}
		}
		groups = append(groups, g)
	}
	for _, g := range groups {
		g.dir = store.EdgesDir(g.etype)
		g.cols = slices.Clone(g.cols)
		slices.SortFunc(g.cols, func(x, y table.Column) int { return strings.Compare(x.Name, y.Name) })
		for _, p := range g.parts {
			if p.Symmetrise {
				g.sym = 1
			}
		}
	}
	return groups, nil
}

// byName returns the parts sorted by type.
func (b *builder) byName() []*part {
	parts := slices.Clone(b.parts)
	slices.SortFunc(parts, func(x, y *part) int { return strings.Compare(x.Type.String(), y.Type.String()) })
	return parts
}

// common returns the columns that all lists have with equal dtype, shape, unit and categories, as in the first list, and the number of
// columns of each list that are not among them.
func common(lists [][]table.Column) (cols []table.Column, left []int) {
	left = make([]int, len(lists))
	if len(lists) == 0 {
		return nil, left
	}
	for _, c := range lists[0] {
		if !slices.ContainsFunc(lists, func(l []table.Column) bool { return findColumn(l, &c) < 0 }) {
			cols = append(cols, c)
		}
	}
	for i, l := range lists {
		left[i] = len(l) - len(cols)
	}
	return cols, left
}

// findColumn returns the index of the column that equals c in name, dtype, shape, unit and categories, or -1.
func findColumn(cols []table.Column, c *table.Column) int {
	return slices.IndexFunc(cols, func(x table.Column) bool {
		return x.Name == c.Name && x.DType == c.DType && slices.Equal(x.Shape, c.Shape) && x.Unit == c.Unit && x.Categories.Equal(c.Categories)
	})
}

// near and far return the ends of a part in a direction.
func (p *part) near(d graph.Direction) end {
	if d == graph.In {
		return p.dst
	}
	return p.src
}

// build makes the edge type.
func (g *group) build(ctx context.Context) error {
	g.meta = &store.EdgesMeta{Primary: g.opt.Primary.String(), Arrays: map[string]string{}, Columns: map[string]store.ColumnMeta{}}
	g.res.Meta.Edges[g.etype.String()] = g.meta
	defer g.forget()
	if err := g.lookUp(ctx); err != nil {
		return err
	}
	for _, p := range g.parts {
		if err := g.join(ctx, p); err != nil {
			return err
		}
	}
	wide := g.opt.wide || g.rows()<<g.sym > narrowTop() || slices.ContainsFunc(g.parts, func(p *part) bool {
		return p.src.t.known && g.top(p.src.t) > narrowTop() || p.dst.t.known && g.top(p.dst.t) > narrowTop()
	})
	err := g.buildAs(ctx, wide)
	if errors.Is(err, errWide) {
		err = g.buildAs(ctx, true)
	}
	for _, p := range g.parts {
		err = errors.Join(err, p.release())
	}
	return err
}

// top returns one more than the largest id of a type's nodes in the group.
func (g *group) top(t *nodeType) uint64 { return t.offset + t.count }

// hasKeys says whether some node type has keys. Their partitions stay until the end.
func (b *builder) hasKeys() bool {
	return slices.ContainsFunc(b.types, func(t *nodeType) bool { return t.keyed })
}

func (g *group) buildAs(ctx context.Context, wide bool) (err error) {
	memory := g.budget.edges(g.opt.Both || g.opt.Listed, g.hasKeys()) // lists that are early wait in the memory of the other direction
	if slices.ContainsFunc(g.types, func(t *nodeType) bool { return t.lookup != nil }) {
		memory = g.budget.work / 8
	}
	spill := extsort.NewSpill(g.fs, g.tmp, memory)
	defer func() { err = errors.Join(err, spill.Close()) }()
	lay := newLayout(wide, g.cols)
	var edges *extsort.Partition
	err = g.stage("edges", g.etype.String(), func() (rows uint64, err error) {
		edges, rows, err = g.scan(ctx, spill, &lay)
		return rows, err
	})
	if err != nil {
		return err
	}
	g.forget()
	s := &sink{group: g, lay: lay, way: g.opt.Primary}
	var other *extsort.Partition
	if g.opt.Both {
		otherSpill := extsort.NewSpill(g.fs, g.tmp, g.budget.spill())
		defer func() { err = errors.Join(err, otherSpill.Close()) }()
		buckets, extent := geometry(edges.Total()/int64(lay.least()), int64(lay.head), g.budget.work/8, g.budget.threads)
		other = extsort.NewPartition(otherSpill, buckets, extent, 0)
		heads := newLayout(wide, nil)
		other.Codec = heads.codec()
		defer other.Close()
		s.other = other
	}
	err = g.stage("adjacency", g.etype.String(), func() (uint64, error) { return s.finish(ctx, edges) })
	if err != nil || other == nil {
		return err
	}
	if err := other.Finish(); err != nil {
		return err
	}
	o := &sink{group: g, lay: newLayout(wide, nil), way: 1 - g.opt.Primary, second: true}
	return g.stage("other direction", g.etype.String(), func() (uint64, error) { return o.finish(ctx, other) })
}

// counted says whether the numbers of nodes that the offset arrays wait for are known.
func (g *group) counted() bool {
	for _, t := range g.tails {
		for _, x := range t.types {
			if !x.known {
				return false
			}
		}
	}
	return true
}

// close completes the offset arrays after the number of nodes is known.
func (g *group) close() error {
	for _, t := range g.tails {
		n := t.nodes()
		if err := g.room(n-min(n, t.filled), t.dtype); err != nil { // the scan may have found more nodes
			return err
		}
		if err := t.fill(n); err != nil {
			return err
		}
		if err := g.closeArray(t.array); err != nil {
			return err
		}
	}
	g.tails = nil
	return nil
}

// nodes is the number of nodes, as far as it is known.
func (t *tail) nodes() (n uint64) {
	for _, x := range t.types {
		n += x.count
	}
	return n
}

// room is an error where the offsets of nodes do not fit on the disk.
func (g *group) room(nodes uint64, offset graph.DType) error {
	return vfs.Room(g.fs, g.w.Dir(), nodes, uint64(offset.Size()), fmt.Sprintf("the offsets of %s nodes of the edge type %s", human.ExactU(nodes), g.etype))
}

// fill writes the offsets of the nodes that have no bucket, and the last one.
func (t *tail) fill(nodes uint64) error {
	width := int64(t.dtype.Size())
	buf := make([]byte, 64<<10)
	for i := 0; i < len(buf); i += int(width) {
		if width == 4 {
			put32(buf[i:], uint32(t.edges))
		} else {
			put64(buf[i:], t.edges)
		}
	}
	for at, end := int64(t.filled)*width, int64(nodes+1)*width; at < end; {
		n := min(end-at, int64(len(buf)))
		if _, err := t.out.WriteAt(buf[:n], at); err != nil {
			return err
		}
		at += n
	}
	return nil
}
