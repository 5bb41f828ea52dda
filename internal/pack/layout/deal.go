package layout

import (
	"slices"
	"sort"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Graphs lists the graphs that fill a layout: the ids of each shape, ascending.
type Graphs struct {
	ptr []uint64
	ids []uint64
	// Over lists the graphs that are larger than a pack, ascending.
	Over []uint64
}

// NewGraphs sorts graphs by shape. count is the number of graphs, and size sets the sizes of graph i. The
// numbers of graphs of each shape, and of graphs larger than a pack, must equal the layout's.
func (l *Layout) NewGraphs(count uint64, size func(i uint64, sizes []int)) (*Graphs, error) {
	h := l.Problem.Histogram
	shapes := len(h.Counts)
	number := make([]uint32, count)
	g := &Graphs{ptr: make([]uint64, shapes+1)}
	sizes, overs := make([]int, len(h.Components)), make([]int64, len(l.Over.Counts))
	for i := range count {
		size(i, sizes)
		s := sort.Search(shapes, func(s int) bool { return slices.Compare(h.Shape(s), sizes) >= 0 })
		if s == shapes || !slices.Equal(h.Shape(s), sizes) {
			over, found := sort.Find(len(l.Over.Counts), func(s int) int { return slices.Compare(sizes, l.Over.Shape(s)) })
			if !found {
				return nil, tagged.Errorf(ErrLayout, "graph %d: found sizes %v, expected one of the %d shapes of the layout; make a layout of these graphs", i, sizes, shapes)
			}
			overs[over]++
			g.Over = append(g.Over, i)
			number[i] = uint32(shapes)
			continue
		}
		number[i] = uint32(s)
		g.ptr[s+1]++
	}
	for s, n := range h.Counts {
		if g.ptr[s+1] != uint64(n) {
			return nil, tagged.Errorf(ErrLayout, "found %d graphs of sizes %v, expected the %d of the layout; make a layout of these graphs", g.ptr[s+1], h.Shape(s), n)
		}
		g.ptr[s+1] += g.ptr[s]
	}
	for s, n := range l.Over.Counts {
		if overs[s] != n {
			return nil, tagged.Errorf(ErrLayout, "found %d graphs of sizes %v, expected the %d of the layout, which are larger than a pack; make a layout of these graphs", overs[s], l.Over.Shape(s), n)
		}
	}
	g.ids = make([]uint64, g.ptr[shapes])
	at := slices.Clone(g.ptr)
	for i, s := range number {
		if int(s) < shapes {
			g.ids[at[s]] = uint64(i)
			at[s]++
		}
	}
	return g, nil
}

// Deal is a layout filled for one epoch. It is safe for concurrent use.
type Deal struct {
	l      *Layout
	graphs *Graphs
	packs  *draw.Order
	orders []*draw.Order // by shape
	first  []int64       // first pack of each pattern; the last entry is the number of packs
	// places has, for each part of each pattern, the index of its first graph among the graphs of its shape.
	places [][]uint64
}

// Deal fills the layout with graphs for an epoch. seed is the random seed.
func (l *Layout) Deal(g *Graphs, seed, epoch uint64) *Deal {
	d := &Deal{l: l, graphs: g, first: []int64{0}}
	d.packs = draw.NewOrder(uint64(l.Meta.Packs), draw.Key(seed, epoch, draw.OrderWord, 0))
	for s, n := range l.Problem.Counts {
		d.orders = append(d.orders, draw.NewOrder(uint64(n), draw.Key(seed, epoch, draw.OrderWord, uint64(s)+1)))
	}
	next := make([]uint64, len(l.Problem.Counts))
	packs := int64(0)
	for _, p := range l.Packing.Patterns {
		places := make([]uint64, len(p.Parts))
		for i, part := range p.Parts {
			places[i] = next[part.Shape]
			next[part.Shape] += uint64(part.Copies) * uint64(p.Packs)
		}
		packs += p.Packs
		d.places, d.first = append(d.places, places), append(d.first, packs)
	}
	return d
}

// Packs is the number of packs.
func (d *Deal) Packs() int64 { return d.l.Meta.Packs }

// Pack appends the graph ids of pack p of the epoch to ids, by ascending shape.
func (d *Deal) Pack(p int64, ids []uint64) []uint64 {
	var one [1]uint64
	d.packs.Fill(one[:], uint64(p))
	q := int64(one[0])
	t := sort.Search(len(d.first)-1, func(i int) bool { return d.first[i+1] > q })
	for i, part := range d.l.Packing.Patterns[t].Parts {
		at := len(ids)
		ids = slices.Grow(ids, part.Copies)[:at+part.Copies]
		d.orders[part.Shape].Fill(ids[at:], d.places[t][i]+uint64(q-d.first[t])*uint64(part.Copies))
		of := d.graphs.ids[d.graphs.ptr[part.Shape]:]
		for j := at; j < len(ids); j++ {
			ids[j] = of[ids[j]]
		}
	}
	return ids
}
