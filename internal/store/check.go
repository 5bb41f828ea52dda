package store

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/graph"
)

// Check reads the arrays that hold offsets and ids, and checks that they are a valid graph: offsets start at 0, ascend,
// and end at the length of the list that they divide; ids are in range. The error for an invalid array wraps
// ErrDamaged.
func (s *Store) Check(ctx context.Context) error {
	c := checker{ctx: ctx, s: s}
	if s.Graph != nil {
		c.graph(s.Graph)
	}
	if s.Collection != nil {
		c.collection(s.Collection)
	}
	return c.err
}

// released is the number of bytes that are read before the memory of their pages is given back, so that a check holds
// little memory.
const released = 32 << 20

type checker struct {
	ctx  context.Context
	s    *Store
	err  error
	read int // bytes since the last release
}

// ok says whether to go on. It counts bytes that were read.
func (c *checker) ok(bytes int) bool {
	if c.read += bytes; c.err == nil && c.read > released {
		c.read, c.err = 0, c.s.Release()
	}
	if c.err == nil {
		c.err = c.ctx.Err()
	}
	return c.err == nil
}

func (c *checker) fail(format string, a ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%s: %w: "+format, append([]any{c.s.Dir, ErrDamaged}, a...)...)
	}
}

// part is the number of values that are read between two checks of the context.
const part = 1 << 20

// offsets checks a list of offsets into end elements.
func (c *checker) offsets(what string, x graph.Index, end int) {
	before := uint64(0)
	for at := 0; at < x.Len() && c.ok(8*part); at += part {
		to := min(at+part, x.Len())
		for i := at; i < to; i++ {
			v := x.At(i)
			if v < before || i == 0 && v != 0 || i == x.Len()-1 && v != uint64(end) {
				c.fail("%s: found offset %d at %d, expected offsets that ascend from 0 to %d", what, v, i, end)
				return
			}
			before = v
		}
	}
}

// below checks that ids are in [0, n).
func (c *checker) below(what string, x graph.Index, n int) {
	for at := 0; at < x.Len() && c.ok(8*part); at += part {
		for i := at; i < min(at+part, x.Len()); i++ {
			if v := x.At(i); v >= uint64(n) {
				c.fail("%s: found id %d at %d, expected one below %d", what, v, i, n)
				return
			}
		}
	}
}

// columns checks the offsets of columns. Open has checked their lengths.
func (c *checker) columns(what string, cols []*graph.Column) {
	for _, col := range cols {
		name := what + "." + col.Name
		for _, x := range col.Offsets {
			c.offsets(name, x, last(x))
		}
		if col.DType == graph.String {
			c.offsets(name, col.StringOffsets, len(col.Values))
		}
		if col.Categories != nil {
			c.columns(name, []*graph.Column{col.Categories})
			c.codes(name, col)
		}
	}
}

// codes checks that the values of a column of categories are rows of them, or -1.
func (c *checker) codes(name string, col *graph.Column) {
	values := graph.View[int32](col.Values)
	for at := 0; at < len(values) && c.ok(4*part); at += part {
		for i, v := range values[at:min(at+part, len(values))] {
			if v < -1 || int(v) >= col.Categories.Rows {
				c.fail("%s: found category %d at %d, expected -1 or one below %d", name, v, at+i, col.Categories.Rows)
				return
			}
		}
	}
}

func (c *checker) graph(g *graph.Graph) {
	c.columns("context", g.Context)
	count := map[string]int{}
	for t, n := range g.Nodes {
		count[n.Type] = n.Count
		c.columns(n.Type, n.Columns)
		if n.IDs != nil {
			c.columns(n.Type, []*graph.Column{n.IDs})
			c.ids(t, n)
		}
	}
	for _, e := range g.Edges {
		name := e.Type.String()
		c.columns(name, e.Columns)
		for _, d := range []graph.Direction{graph.In, graph.Out} {
			a := e.Adj[d]
			if a == nil {
				continue
			}
			c.offsets(name, a.Indptr, e.Count)
			c.below(name, a.Far, count[e.Type.Far(d)])
			c.below(name, a.EdgeID, e.Count)
		}
	}
}

// ids checks the index of original ids.
func (c *checker) ids(t int, n *graph.Nodes) {
	if c.err != nil {
		return
	}
	x, err := c.s.IDs(t)
	if err != nil {
		c.fail("%v", err)
		return
	}
	at := 0
	for i := range x.parts {
		c.idsPart(n, x, &x.parts[i])
		at += x.parts[i].count
	}
	if n.IDs != nil && at != n.Count {
		c.fail("node type %s: found an id index of %d nodes, expected %d", n.Type, at, n.Count)
	}
}

// idsPart checks the index of the nodes of the base or of a segment.
func (c *checker) idsPart(n *graph.Nodes, x *IDs, p *idsPart) {
	c.offsets(n.Type+" id_buckets", p.buckets, p.count)
	c.below(n.Type+" id_slots", p.slots, p.count)
	b := 0
	for i := 0; c.err == nil && i < p.count; i++ {
		for uint64(i) >= p.buckets.At(b+1) {
			b++
		}
		v := p.first + int(p.slots.At(i))
		if got := Bucket(HashID(x.text(v)), p.bits); got != uint64(b) {
			c.fail("node type %s: found node %d in bucket %d of the id index, expected %d", n.Type, v, b, got)
		}
		if i > 0 && uint64(i) > p.buckets.At(b) && p.slots.At(i-1) >= p.slots.At(i) {
			c.fail("node type %s: found node %d after %d in bucket %d of the id index, expected ascending ids", n.Type, v, p.slots.At(i-1), b)
		}
	}
}

func (c *checker) collection(l *graph.Collection) {
	c.columns("context", l.Context)
	c.offsets("components", l.ComponentPtr, l.Components())
	perGraph := map[string]graph.Index{}
	for _, n := range l.Nodes {
		perGraph[n.Type] = n.GraphPtr
		c.offsets(n.Type, n.GraphPtr, n.Count)
		c.components(n.Type, l, n.GraphPtr, n.ComponentPtr, n.Count)
		c.columns(n.Type, n.Columns)
	}
	for _, e := range l.Edges {
		name := e.Type.String()
		c.offsets(name, e.GraphPtr, e.Count)
		c.components(name, l, e.GraphPtr, e.ComponentPtr, e.Count)
		c.columns(name, e.Columns)
		c.local(name+" src", e.Src, e.GraphPtr, perGraph[e.Type.Src], l.Graphs)
		c.local(name+" dst", e.Dst, e.GraphPtr, perGraph[e.Type.Dst], l.Graphs)
	}
	if l.SeedPtr.Len() == 0 {
		return
	}
	c.offsets("seeds", l.SeedPtr, last(l.SeedPtr))
	if c.err != nil {
		return
	}
	c.seeds("seed", l, perGraph, l.SeedLocal, 1)
	c.seeds("negative link", l, perGraph, l.NegativeLocal, uint64(l.Negatives))
}

// seeds checks local ids of nodes of the seed types, of which there are each per seed.
func (c *checker) seeds(what string, l *graph.Collection, perGraph map[string]graph.Index, local graph.Index, each uint64) {
	k := uint64(len(l.SeedType))
	for g := range l.Graphs {
		for i := each * k * l.SeedPtr.At(g); c.err == nil && i < each*k*l.SeedPtr.At(g+1); i++ {
			p := perGraph[l.SeedType[i%k]]
			if p.Len() == 0 || local.At(int(i)) >= p.At(g+1)-p.At(g) {
				c.fail("graph %d: found %s with local id %d, expected a node of type %s", g, what, local.At(int(i)), l.SeedType[i%k])
			}
		}
	}
}

// components checks that the components of each graph cover the graph.
func (c *checker) components(what string, l *graph.Collection, graphPtr, componentPtr graph.Index, count int) {
	if l.ComponentPtr.Len() == 0 {
		return
	}
	c.offsets(what+" components", componentPtr, count)
	for g := 0; c.err == nil && g <= l.Graphs; g++ {
		if at := componentPtr.At(int(l.ComponentPtr.At(g))); at != graphPtr.At(g) {
			c.fail("%s: found the components of graph %d from %d, expected from %d", what, g, at, graphPtr.At(g))
		}
	}
}

// local checks the ends of the edges of each graph against its nodes.
func (c *checker) local(what string, x, edgePtr, nodePtr graph.Index, graphs int) {
	if c.err == nil && nodePtr.Len() != graphs+1 {
		c.fail("%s: found no node type for it", what)
	}
	for g := 0; g < graphs && c.err == nil; g++ {
		n, from, to := nodePtr.At(g+1)-nodePtr.At(g), edgePtr.At(g), edgePtr.At(g+1)
		if g%256 == 255 || to-from > part {
			c.ok(int(4*(to-edgePtr.At(max(g-255, 0)))) + 16*256)
		}
		for i := from; i < to; i++ {
			if x.At(int(i)) >= n {
				c.fail("%s: found local id %d in graph %d, expected one below %d", what, x.At(int(i)), g, n)
				return
			}
		}
	}
}
