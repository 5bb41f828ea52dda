package subset

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/tagged"
	"github.com/graphmill/graphmill/internal/walk"
)

// subsetWord is the word that keys of draws absorb after the epoch (draw.OrderWord and others).
const subsetWord = 10

// Order is the sets of nodes of all batches. It is safe for concurrent use.
type Order struct {
	rules Rules
	nodes uint64 // of the graph
	size  uint64 // positions per batch
	len   uint64 // positions per epoch

	sources []uint32 // SaintNode: of the edges by destination
	// SaintEdge: the edges by destination and by source, and the nodes that have such edges, those by destination first.
	ends  [2]sample.Neighbours
	group []uint32
	first uint64 // nodes of group that have in-edges
	// SaintWalk.
	walker *walk.Walker
	rooms  sync.Pool
	// Cluster: the nodes of part k, of those that have nodes, are members[start[k]:start[k+1]].
	members []uint32
	start   []uint32
}

// New makes the sets of a graph. s is a Sampler of the Plan of the rules, which must outlive the Order, or nil where there is no plan.
func New(ctx context.Context, g *graph.Graph, s *sample.Sampler, r Rules) (*Order, error) {
	if err := r.check(g); err != nil {
		return nil, err
	}
	o := &Order{rules: r, nodes: uint64(g.Nodes[0].Count)}
	o.size = uint64(r.Size) * uint64(r.each())
	switch r.How {
	case SaintNode:
		n := s.Neighbours(1)
		if o.sources = n.Far; len(o.sources) == 0 {
			return nil, errNoMessages(r)
		}
	case SaintEdge:
		for k := range o.ends {
			o.ends[k] = s.Neighbours(k + 1)
			for v := range uint32(o.nodes) {
				if from, to := o.ends[k].Span(v); from < to {
					o.group = append(o.group, v)
				}
			}
			if k == 0 {
				o.first = uint64(len(o.group))
			}
		}
		if len(o.group) == 0 {
			return nil, errNoMessages(r)
		}
	case SaintWalk:
		var err error
		if o.walker, err = walk.New(ctx, s, r.walks(), 1); err != nil {
			return nil, err
		}
		o.rooms.New = func() any { return &room{Context: o.walker.NewContext()} }
	case Cluster:
		o.divide(r.Part)
	}
	o.len = (o.nodes + o.size - 1) / o.size * o.size
	if r.How == Cluster {
		o.len = uint64((len(o.start)-2)/r.Size+1) * o.size
	}
	return o, nil
}

// errNoMessages is the error of a graph whose edges are none of them messages (sample.Messages).
func errNoMessages(r Rules) error {
	return tagged.Errorf(ErrRules, "found no edge that is a message, expected at least one for `Sampler` %s; give `Messages` that some edges have", r.How)
}

// divide sorts the nodes by part, and finds the largest batch.
func (o *Order) divide(part []uint16) {
	counts := make([]uint32, int(slices.Max(part))+1)
	for _, p := range part {
		counts[p]++
	}
	at, sum := make([]uint32, len(counts)), uint32(0)
	var sizes []uint32
	for p, n := range counts {
		at[p] = sum
		if n > 0 {
			o.start = append(o.start, sum)
			sizes = append(sizes, n)
		}
		sum += n
	}
	o.start = append(o.start, sum)
	o.members = make([]uint32, len(part))
	for v, p := range part {
		o.members[at[p]] = uint32(v)
		at[p]++
	}
	slices.Sort(sizes)
	o.size = 0
	for _, n := range sizes[max(0, len(sizes)-o.rules.Size):] {
		o.size += uint64(n)
	}
}

// BatchSize is the number of positions per batch, and the most nodes that one has.
func (o *Order) BatchSize() int { return int(o.size) }

// Len implements batch.Order.
func (o *Order) Len() uint64 { return o.len }

// Items implements batch.Order.
func (o *Order) Items() uint64 { return o.nodes }

// String implements batch.Order.
func (o *Order) String() string {
	return fmt.Sprintf("%s(%d per batch, %d positions of %d nodes)", o.rules.How, o.rules.Size, o.len, o.nodes)
}

// Epoch implements batch.Order.
func (o *Order) Epoch(seed, epoch uint64) batch.Items {
	e := &items{Order: o, seed: seed, epoch: epoch, key: draw.Key(seed, epoch, subsetWord)}
	if o.rules.How == Cluster && o.rules.Shuffle {
		e.parts = draw.NewOrder(uint64(len(o.start)-1), draw.Key(seed, epoch, draw.OrderWord))
	}
	return e
}

// items are the sets of an epoch.
type items struct {
	*Order
	seed, epoch uint64
	key         uint64
	parts       *draw.Order // nil for the parts as they are numbered
}

// Fill implements batch.Items.
func (e *items) Fill(dst []uint64, first uint64) {
	switch e.rules.How {
	case SaintNode:
		for i := range dst {
			dst[i] = uint64(e.sources[draw.Below(e.draw(first+uint64(i), 0), uint64(len(e.sources)))])
		}
	case SaintEdge:
		for i := range dst {
			at := first + uint64(i)
			dst[i] = uint64(e.edge(at / 2)[at%2])
		}
	case SaintWalk:
		e.walk(dst, first)
	case Cluster:
		e.cluster(dst, first)
	}
}

// draw is a number of a draw.
func (e *items) draw(i, number uint64) uint64 { return draw.At(draw.Absorb(e.key, i), number) }

// edge is the source and the destination of the edge of a draw.
func (e *items) edge(i uint64) [2]uint32 {
	k, t := 0, draw.Below(e.draw(i, 0), uint64(len(e.group)))
	if t >= e.first {
		k = 1
	}
	v := e.group[t]
	from, to := e.ends[k].Span(v)
	far := e.ends[k].Far[from+draw.Below(e.draw(i, 1), to-from)]
	if k == 0 {
		return [2]uint32{far, v}
	}
	return [2]uint32{v, far}
}

// roomNodes is the number of nodes of walks that are made at a time, if one walk has no more.
const roomNodes = 1 << 16

// room has the buffers of walks.
type room struct {
	*walk.Context
	starts, numbers, nodes []uint32
}

// walk fills the positions from first on with the nodes of walks, one walk after the other. After the end of a walk comes its start.
func (e *items) walk(dst []uint64, first uint64) {
	stride := uint64(e.rules.Length + 1)
	r := e.rooms.Get().(*room)
	defer e.rooms.Put(r)
	for len(dst) > 0 {
		root, skip := first/stride, first%stride
		n := min((skip+uint64(len(dst))+stride-1)/stride, max(roomNodes/stride, 1))
		r.starts, r.numbers, r.nodes = r.starts[:0], r.numbers[:0], slices.Grow(r.nodes[:0], int(n*stride))[:n*stride]
		for i := root; i < root+n; i++ {
			r.starts = append(r.starts, uint32(draw.Below(e.draw(i, 0), e.nodes)))
			r.numbers = append(r.numbers, uint32(i))
		}
		// All starts are nodes, and steps without P and Q have no errors.
		if err := r.Walk(walk.Job{Seed: e.seed, Epoch: e.epoch}, r.starts, r.numbers, r.nodes, nil); err != nil {
			panic(err)
		}
		taken := min(n*stride-skip, uint64(len(dst)))
		for i := range taken {
			v := r.nodes[skip+i]
			if v == walk.None {
				v = r.starts[(skip+i)/stride]
			}
			dst[i] = uint64(v)
		}
		dst, first = dst[taken:], first+taken
	}
}

// cluster fills the positions from first on with the nodes of parts. Batches that are smaller than the largest repeat their last
// node.
func (e *items) cluster(dst []uint64, first uint64) {
	for len(dst) > 0 {
		b, at := first/e.size, first%e.size
		room := dst[:min(e.size-at, uint64(len(dst)))]
		dst, first = dst[len(room):], first+uint64(len(room))
		last := uint32(0)
		for place := b * uint64(e.rules.Size); place < min((b+1)*uint64(e.rules.Size), uint64(len(e.start)-1)); place++ {
			k := place
			if e.parts != nil {
				k = e.parts.At(place)
			}
			nodes := e.members[e.start[k]:e.start[k+1]]
			last = nodes[len(nodes)-1]
			skip := min(at, uint64(len(nodes)))
			at -= skip
			nodes = nodes[skip:]
			nodes = nodes[:min(len(nodes), len(room))]
			for i, v := range nodes {
				room[i] = uint64(v)
			}
			room = room[len(nodes):]
		}
		for i := range room {
			room[i] = uint64(last)
		}
	}
}
