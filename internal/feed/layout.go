package feed

import (
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
)

// A batch in a slot is a header of words, two words per column, and the arrays.
const (
	magic       = 0x31444545464d47 // "GMFEED1", little-endian
	headerWords = 8                // magic, gen, seq, bytes, seeds, columns, run, 0
	columnWords = 2                // offset, rows
	alignment   = 64
)

// align is n rounded up to where an array may begin.
func align(n int) int { return (n + alignment - 1) &^ (alignment - 1) }

// placeColumns sets at to the offset of each column, and returns the bytes of the batch.
func placeColumns(cs []column, m *made, at []int) int {
	n := align(8 * (headerWords + columnWords*len(cs)))
	for i, c := range cs {
		at[i] = n
		n = align(n + c.rows(m)*c.width)
	}
	return n
}

// ticket is the numbers that identify a batch in its message and header.
type ticket struct {
	gen, seq, run uint64
}

// writeBatch writes a batch to dst, at the offsets of placeColumns.
func writeBatch(dst []byte, cs []column, m *made, at []int, t ticket) {
	words := graph.View[uint64](dst[:8*(headerWords+columnWords*len(cs))])
	copy(words, []uint64{magic, t.gen, t.seq, uint64(len(dst)), uint64(len(m.input)), uint64(len(cs)), t.run, 0})
	for i, c := range cs {
		rows := c.rows(m)
		words[headerWords+columnWords*i], words[headerWords+columnWords*i+1] = uint64(at[i]), uint64(rows)
		if rows > 0 {
			c.write(dst[at[i]:at[i]+rows*c.width], m)
		}
	}
}

// plenty is more rows than a slot holds. Larger counts need not be distinguished, and products with it fit 63 bits.
const plenty = mostSlotBytes

// mostBytes is an upper bound of the bytes of a batch of the given number of seeds, or a number above mostSlotBytes.
func mostBytes(s *sample.Sampler, cs []column, seeds int) (int64, error) {
	g, p := s.Graph(), s.Plan()
	b := &bounds{seeds: min(int64(seeds), plenty), hops: int64(s.Hops() + 1), nodes: make([]int64, len(g.Nodes)), edges: make([]int64, len(g.Edges))}
	each, apart := b.seeds, int64(1) // seeds per subgraph, subgraphs per batch
	if p.Scope == sample.ScopeSeed {
		each, apart = 1, b.seeds
	}
	if p.Negatives != nil { // their ends are visited with the seeds'
		b.negatives = min(b.seeds*min(int64(p.Negatives.Most()), plenty), plenty)
		each = min(each*min(int64(p.Negatives.Most())+1, plenty), plenty)
	}
	for _, name := range p.SeedType {
		t := g.NodeType(name)
		b.nodes[t] = min(b.nodes[t]+each, int64(g.Nodes[t].Count))
	}
	reached := []int64{each * int64(len(p.SeedType))}
	for _, o := range p.Ops {
		t, err := g.EdgeType(o.Edges)
		if err != nil {
			return 0, err
		}
		e := g.Edges[t]
		near, far := g.NodeType(e.Type.Near(o.Dir)), g.NodeType(e.Type.Far(o.Dir))
		from := int64(0)
		for _, f := range o.From {
			from += reached[f]
		}
		from = min(from, int64(g.Nodes[near].Count), plenty)
		drawn, found := o.Most(from, int64(e.Count))
		drawn, found = min(drawn, plenty), min(found, plenty, int64(g.Nodes[far].Count))
		b.reached, b.ops = append(b.reached, from), append(b.ops, drawn)
		b.edges[t] += drawn
		b.nodes[far] = min(b.nodes[far]+found, int64(g.Nodes[far].Count))
		reached = append(reached, found)
	}
	if !edgesByHop(s) {
		// Edges that no op drew: at most all of the graph.
		for t, e := range g.Edges {
			b.edges[t] = int64(e.Count)
			if p.Kind == sample.Bidirectional {
				b.edges[t] *= 2
			}
		}
	}
	for _, list := range [][]int64{b.nodes, b.edges} {
		for t := range list {
			list[t] = min(list[t], plenty) * apart
		}
	}
	n := int64(align(8 * (headerWords + columnWords*len(cs))))
	for _, c := range cs {
		n += min(c.most(b), plenty)*int64(c.width) + alignment
	}
	return n, nil
}
