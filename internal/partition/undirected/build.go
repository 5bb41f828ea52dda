package undirected

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/limits"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// errTooLarge is the kind of errors about a graph with more nodes or neighbours than a Graph can hold.
var errTooLarge = errors.New("too large")

// BuildOptions define how a graph is built.
type BuildOptions struct {
	Threads int // at least 1
	// Memory is about the number of bytes to hold in addition to the result; larger data go to a temporary
	// file in Temp. 0: no bound.
	Memory int64
	FS     vfs.FS
	Temp   string
	// Progress, if not nil, receives the number of edges read. Each edge is read twice.
	Progress func(edges int64)
}

// Build builds, in memory, the graph of all edges of a store. Weights are not set.
//
// It needs 8 bytes per edge and some MB in addition to the result.
func Build(ctx context.Context, s *store.Store, o BuildOptions) (_ *Graph, err error) {
	b, err := newBuilder(s, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if 2*b.edges > limits.Neighbours {
		// Duplicates and reciprocal edges count once, but their number is known only at the end.
		return nil, fmt.Errorf("%s: %w: found %d edges, expected at most %d in memory; take `Method` hash or random, which look at no edges", s.Dir, errTooLarge, b.edges, limits.Neighbours/2)
	}
	if err := b.cut(ctx); err != nil {
		return nil, err
	}
	// The unused end of the array is never touched, so it takes no memory.
	g := &Graph{Offsets: make([]uint32, b.nodes+1), Neighbours: make([]uint32, 2*b.edges), Constraints: 1}
	end := uint32(0)
	// Each bucket goes to where the buckets before it end.
	placed := make([]chan struct{}, len(b.starts))
	for i := range placed {
		placed[i] = make(chan struct{})
	}
	close(placed[0])
	err = b.rows(ctx, func(ctx context.Context, i int, first uint32, degrees, neighbours []uint32) error {
		select {
		case <-placed[i]:
		case <-ctx.Done():
			return ctx.Err()
		}
		at := end
		end += uint32(len(neighbours))
		close(placed[i+1])
		copy(g.Neighbours[at:], neighbours)
		for j, d := range degrees {
			at += d
			g.Offsets[int(first)+j+1] = at
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	g.Neighbours = g.Neighbours[:end:end]
	return g, nil
}

// builder builds rows from edges. The store lists each edge in the row of its near end; a bucket collects it
// for the row of its far end.
type builder struct {
	BuildOptions
	s     *store.Store
	types []edges
	nodes int
	edges int64 // counted in the store

	// Bucket i has the nodes starts[i] to starts[i+1]; node v is in bucket bucket[v>>granule].
	starts  []int
	bucket  []uint16
	granule uint
	cuts    *extsort.Partition
	spill   *extsort.Spill
}

// edges are the edges of one type. Their ends are homogeneous ids minus near and far.
type edges struct {
	name      string
	count     int
	adjacency *graph.Adjacency
	near, far uint64 // homogeneous id of the first node of either type
	rows      int
	fars      uint64 // number of nodes of the far type
}

// Starts returns the homogeneous id of the first node of each type; the last entry is the number of nodes.
func Starts(g *graph.Graph) []uint64 {
	starts := make([]uint64, len(g.Nodes)+1)
	for i, n := range g.Nodes {
		starts[i+1] = starts[i] + uint64(n.Count)
	}
	return starts
}

func newBuilder(s *store.Store, o BuildOptions) (*builder, error) {
	b := &builder{BuildOptions: o, s: s}
	starts := Starts(s.Graph)
	nodes := starts[len(starts)-1]
	if nodes >= math.MaxUint32 {
		return nil, fmt.Errorf("%s: %w: found %d nodes, expected fewer than 2^32 - 1", s.Dir, errTooLarge, nodes)
	}
	b.nodes = int(nodes)
	for _, e := range s.Graph.Edges {
		near, far := s.Graph.NodeType(e.Type.Near(e.Primary)), s.Graph.NodeType(e.Type.Far(e.Primary))
		b.types = append(b.types, edges{name: e.Type.String(), count: e.Count, adjacency: e.Adj[e.Primary],
			near: starts[near], far: starts[far], rows: s.Graph.Nodes[near].Count, fars: uint64(s.Graph.Nodes[far].Count)})
		b.edges += int64(e.Count)
	}
	return b, nil
}

func (b *builder) close() error {
	if b.spill == nil {
		return nil
	}
	b.cuts.Close()
	return b.spill.Close()
}

func (b *builder) damaged(e *edges, format string, a ...any) error {
	return fmt.Errorf("%s: %w: "+format, append([]any{b.s.Dir + ": " + e.name, store.ErrDamaged}, a...)...)
}

func (b *builder) tell(edges int64) {
	if b.Progress != nil {
		b.Progress(edges)
	}
}

// rows calls fn for each bucket, with the degrees of its nodes and their neighbours, ascending and each once.
// Several goroutines call it and take the buckets in ascending order.
func (b *builder) rows(ctx context.Context, fn func(ctx context.Context, bucket int, first uint32, degrees, neighbours []uint32) error) error {
	makers := make([]rowMaker, max(1, b.Threads))
	defer func() {
		for i := range makers {
			extsort.Free(makers[i].records)
		}
	}()
	return scan(ctx, len(b.starts)-1, b.Threads, func(ctx context.Context, worker, i int) error {
		m := &makers[worker]
		from, to := b.starts[i], b.starts[i+1]
		if err := m.make(b, i, from, to); err != nil {
			return err
		}
		return fn(ctx, i, uint32(from), m.degrees, m.neighbours)
	})
}

// rowMaker makes the rows of one bucket at a time; it reuses its slices.
type rowMaker struct {
	records    []byte
	ends       []uint32
	degrees    []uint32
	neighbours []uint32
	merge      []uint32
}

func (m *rowMaker) make(b *builder, bucket, from, to int) error {
	size := int(b.cuts.Bytes(bucket))
	if size > len(m.records) {
		extsort.Free(m.records)
		var err error
		if m.records, err = extsort.Slab(size + size/4); err != nil {
			m.records = nil
			return err
		}
	}
	if _, err := b.cuts.Load(bucket, m.records); err != nil {
		return err
	}
	b.cuts.Free(bucket)
	return m.fill(b, graph.View[uint64](m.records[:size]), from, to)
}

// fill makes the rows of a range of nodes, from those of the store and from the records of edges whose far ends are in the range.
func (m *rowMaker) fill(b *builder, records []uint64, from, to int) error {
	n := to - from
	m.degrees, m.ends = sized(m.degrees, n), sized(m.ends, n+1)
	clear(m.degrees)
	for _, r := range records {
		m.degrees[int(uint32(r))-from]++
	}
	total := len(records)
	for i := range b.types {
		e := &b.types[i]
		lo, hi := e.overlap(from, to)
		ptr := e.adjacency.Indptr
		for v := lo; v < hi; v++ {
			d := int(ptr.At(v-int(e.near)+1) - ptr.At(v-int(e.near)))
			m.degrees[v-from] += uint32(d)
			total += d
		}
	}
	if total > math.MaxUint32 {
		return fmt.Errorf("%s: %w: found %d neighbours of nodes %d to %d, expected fewer than 2^32", b.s.Dir, errTooLarge, total, from, to-1)
	}
	m.neighbours = sized(m.neighbours, total)
	at := uint32(0)
	for i, d := range m.degrees {
		m.ends[i] = at
		at += d
	}
	for i := range b.types {
		e := &b.types[i]
		m.direct(e, from, to)
		lo, hi := e.overlap(from, to)
		if err := b.s.Touched(e.adjacency.RowBytes(lo-int(e.near), hi-int(e.near))); err != nil {
			return err
		}
	}
	for _, r := range records {
		v := int(uint32(r)) - from
		m.neighbours[m.ends[v]] = uint32(r >> 32)
		m.ends[v]++
	}
	m.tidy(uint32(from))
	b.tell(int64(len(records)))
	return nil
}

// overlap is the range of nodes of the near type within [from, to), as homogeneous ids.
func (e *edges) overlap(from, to int) (lo, hi int) {
	lo, hi = max(from, int(e.near)), min(to, int(e.near)+e.rows)
	return lo, max(lo, hi)
}

// direct puts the edges into the rows of their near ends.
func (m *rowMaker) direct(e *edges, from, to int) {
	lo, hi := e.overlap(from, to)
	ptr, far := e.adjacency.Indptr, e.adjacency.Far
	for v := lo; v < hi; v++ {
		row := v - int(e.near)
		at := m.ends[v-from]
		for i, end := ptr.At(row), ptr.At(row+1); i < end; i++ {
			// A loop takes a place that tidy removes again.
			m.neighbours[at] = uint32(e.far + far.At(int(i)))
			at++
		}
		m.ends[v-from] = at
	}
}

// sized returns a slice of n elements, s if it is large enough.
func sized(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n, n+n/4)
	}
	return s[:n]
}
