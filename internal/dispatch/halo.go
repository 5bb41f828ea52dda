package dispatch

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/internal/store"
)

// group is the parts [from, to), which are written together.
type group struct {
	*dispatcher
	from, to int
	out      folder
	// reached has the halo nodes of each part. expanded, used for more than one hop, has the halo nodes whose
	// in-edges belong to the halo.
	reached, expanded []*bitset
	halo              []int      // number of nodes, by part
	haloEdges         [][]uint64 // by part, then by edge type
}

// has reports whether part p belongs to the group.
func (g *group) has(p uint16) bool { return int(p) >= g.from && int(p) < g.to }

// countEdges counts the edges of each part in each segment, and numbers them.
func (d *dispatcher) countEdges(ctx context.Context) error {
	types := len(d.edges)
	d.counts = make([][]uint64, len(d.segs))
	err := d.each(ctx, func(_ context.Context, _, i int) error {
		s := d.segs[i]
		readers := d.readers(s.t)
		counts := make([]uint64, len(readers)*d.num.parts)
		part := d.num.part[d.num.base[s.t]:]
		for j, r := range readers {
			count := counts[j*d.num.parts:][:d.num.parts]
			for from := s.from; from < s.to; from += blockNodes {
				to := min(from+blockNodes, s.to)
				offsets, _, err := r.block(from, to)
				if err != nil {
					return err
				}
				for k, p := range part[from:to] {
					count[p] += offsets[k+1] - offsets[k]
				}
				if err := d.read(8 * len(offsets)); err != nil {
					return err
				}
			}
		}
		d.counts[i] = counts
		return nil
	})
	if err != nil {
		return err
	}
	d.edgeStart = make([]uint64, d.num.parts*types+1)
	for i, s := range d.segs {
		for j, e := range d.into[s.t] {
			for p := range d.num.parts {
				c := &d.counts[i][j*d.num.parts+p]
				total := &d.edgeStart[p*types+e+1]
				*c, *total = *total, *total+*c // the number before the segment
			}
		}
	}
	for e, in := range d.edges {
		n := uint64(0)
		for p := range d.num.parts {
			n += d.edgeStart[p*types+e+1]
		}
		if n != uint64(in.count) {
			return fmt.Errorf("%s: %s: %w: found offsets of %d edges, expected %d", d.dir, in.name, store.ErrDamaged, n, in.count)
		}
	}
	for i := range d.num.parts * types {
		d.edgeStart[i+1] += d.edgeStart[i]
	}
	return nil
}

// mark finds the nodes and counts the edges of the halo of each part.
func (g *group) mark(ctx context.Context) error {
	total := g.num.base[g.num.types]
	sets := func() ([]*bitset, error) {
		list := make([]*bitset, g.to-g.from)
		for i := range list {
			var err error
			if list[i], err = newBitset(total); err != nil {
				return list, err
			}
		}
		return list, nil
	}
	var err error
	if g.reached, err = sets(); err != nil {
		return err
	}
	leaving := g.opt.Leaving && g.opt.Hops > 0
	counts := make([][]uint64, g.opt.Threads) // of each worker: by part and edge type
	for i := range counts {
		counts[i] = make([]uint64, len(g.reached)*len(g.edges))
	}
	if g.opt.Hops <= 1 {
		err = g.sweep(ctx, marks{sources: true, leaving: leaving}, counts)
	} else {
		err = g.expand(ctx, sets, leaving, counts)
	}
	if err != nil {
		return err
	}
	g.halo = make([]int, len(g.reached))
	g.haloEdges = make([][]uint64, len(g.reached))
	for i := range g.haloEdges {
		g.haloEdges[i] = make([]uint64, len(g.edges))
		for e := range g.edges {
			for _, c := range counts {
				g.haloEdges[i][e] += c[i*len(g.edges)+e]
			}
		}
	}
	return spread(ctx, g.opt.Threads, len(g.reached), func(_ context.Context, _, i int) error {
		g.halo[i] = g.reached[i].index()
		return nil
	})
}

// expand marks the nodes that more than one hop reaches.
func (g *group) expand(ctx context.Context, sets func() ([]*bitset, error), leaving bool, counts [][]uint64) error {
	if err := g.sweep(ctx, marks{sources: true}, counts); err != nil {
		return err
	}
	var err error
	if g.expanded, err = sets(); err != nil {
		return err
	}
	for range g.opt.Hops - 1 {
		for i := range g.reached {
			copy(g.expanded[i].words, g.reached[i].words)
		}
		if err := g.sweep(ctx, marks{expanded: true}, counts); err != nil {
			return err
		}
	}
	return g.sweep(ctx, marks{leaving: leaving, count: true}, counts)
}

func (g *group) close() {
	for _, list := range [][]*bitset{g.reached, g.expanded} {
		for _, s := range list {
			if s != nil {
				s.close()
			}
		}
	}
	g.reached, g.expanded = nil, nil
}

// marks selects the work of a sweep over all edges.
type marks struct {
	sources  bool // mark the sources of owned edges
	leaving  bool // mark the destinations of edges that leave a part, and count these edges
	expanded bool // mark the sources of the in-edges of expanded nodes
	count    bool // count the in-edges of expanded nodes, except edges that leave the part
}

func (g *group) sweep(ctx context.Context, m marks, counts [][]uint64) error {
	return g.each(ctx, func(ctx context.Context, worker, i int) error {
		s := g.segs[i]
		for j, r := range g.readers(s.t) {
			for from := s.from; from < s.to; from += blockNodes {
				if err := ctx.Err(); err != nil {
					return err
				}
				to := min(from+blockNodes, s.to)
				offsets, far, err := r.block(from, to)
				if err != nil {
					return err
				}
				if m.sources || m.leaving {
					err = g.markBlock(s.t, g.into[s.t][j], from, r, offsets, far, m, counts[worker])
				}
				if err == nil && (m.expanded || m.count && g.expanded != nil) {
					err = g.expandBlock(s.t, g.into[s.t][j], from, r, offsets, far, m, counts[worker])
				}
				if err != nil {
					return err
				}
				if err := g.read(8*len(offsets) + 4*len(far)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (g *group) markBlock(t, e, first int, r *reader, offsets []uint64, far []uint32, m marks, counts []uint64) error {
	part := g.num.part[g.num.base[t]+first:][:len(offsets)-1]
	id := g.num.id[g.num.base[t]+first:][:len(offsets)-1]
	sources := g.num.id[g.num.base[r.src]:g.num.base[r.src+1]]
	sourcePart := g.num.part[g.num.base[r.src]:g.num.base[r.src+1]]
	base := offsets[0]
	for k, p := range part {
		mine := m.sources && g.has(p)
		if !mine && !m.leaving {
			continue
		}
		lo, hi := g.num.owned(int(p))
		run := far[offsets[k]-base : offsets[k+1]-base]
		if mine {
			if err := g.markSources(g.reached[int(p)-g.from], r, sources, run, lo, hi); err != nil {
				return err
			}
		}
		if !m.leaving {
			continue
		}
		for _, u := range run {
			if int(u) >= len(sources) {
				return r.noSource(u)
			}
			if s := sources[u]; s-lo < hi-lo {
				continue
			}
			if q := sourcePart[u]; g.has(q) {
				g.reached[int(q)-g.from].set(id[k])
				counts[(int(q)-g.from)*len(g.edges)+e]++
			}
		}
	}
	return nil
}

// markSources adds to reached the sources of a run whose new ids are not in [lo, hi).
func (g *group) markSources(reached *bitset, r *reader, sources, run []uint32, lo, hi uint32) error {
	const some = 256
	var ids [some]uint32
	for len(run) > 0 {
		n := 0
		now := run[:min(some, len(run))]
		run = run[len(now):]
		for _, u := range now {
			if int(u) >= len(sources) {
				return r.noSource(u)
			}
			s := sources[u]
			ids[n] = s
			if s-lo >= hi-lo { // random, so that nothing else depends on it
				n++
			}
		}
		reached.setAll(ids[:n])
	}
	return nil
}

// expandBlock processes the in-edges of expanded nodes.
func (g *group) expandBlock(t, e, first int, r *reader, offsets []uint64, far []uint32, m marks, counts []uint64) error {
	id := g.num.id[g.num.base[t]+first:][:len(offsets)-1]
	sources := g.num.id[g.num.base[r.src]:g.num.base[r.src+1]]
	base := offsets[0]
	for k, v := range id {
		run := far[offsets[k]-base : offsets[k+1]-base]
		if len(run) == 0 {
			continue
		}
		for i, x := range g.expanded {
			if !x.has(v) {
				continue
			}
			lo, hi := g.num.owned(g.from + i)
			for _, u := range run {
				if int(u) >= len(sources) {
					return r.noSource(u)
				}
				s := sources[u]
				own := s-lo < hi-lo
				if m.expanded && !own {
					g.reached[i].set(s)
				}
				if m.count && !(m.leaving && own) {
					counts[i*len(g.edges)+e]++
				}
			}
		}
	}
	return nil
}

// local is the local id of a node in part from+i.
func (g *group) local(i int, id uint32) uint32 {
	lo, hi := g.num.owned(g.from + i)
	if id-lo < hi-lo {
		return id - lo
	}
	return hi - lo + g.reached[i].rank(id)
}
