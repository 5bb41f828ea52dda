// Package audit compares a collection of subgraphs with the store that it was sampled from. The ends of each edge in the
// store, which its edge id gives, must be the nodes at its ends in the subgraph, and the edge must be a message of the plan. This holds
// for every plan, executor and sampler, so a fault shows without drawing anything again.
//
// A reverse that a bidirectional plan added within one edge type has the id of its edge, so that its ends are the ends of
// the edge in the other order.
//
// Both folders are mapped, and Collection holds nothing besides them. Their ids may be damaged: one that is out of range is a
// fault.
package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
)

// ErrIDs is the error of a collection without the ids that are compared.
var ErrIDs = errors.New("no ids to compare")

// Options says how a collection is compared.
type Options struct {
	Threads  int               // 0 means one
	Plan     *sample.Plan      // of the collection
	Progress func(edges int64) // nil: none; it may be called from several goroutines
}

// Result is what a comparison found.
type Result struct {
	Edges int64  // that were compared
	Fault string // the first one, in the order of edge types and graphs; empty: none
}

// Collection compares the edges of a sampled collection with the edges of the store against.
func Collection(ctx context.Context, c, against *store.Store, opt Options) (Result, error) {
	var r Result
	for _, e := range c.Collection.Edges {
		p, err := newPair(c, against, e, opt)
		if err != nil {
			return r, err
		}
		if p.fault == "" {
			if err := p.compare(ctx); err != nil {
				return r, err
			}
			r.Edges += int64(e.Count)
		}
		if r.Fault = p.fault; r.Fault != "" {
			return r, nil
		}
	}
	return r, nil
}

// pair is an edge type of a collection, and the same type of the store.
type pair struct {
	c, against *store.Store
	opt        Options
	edges      *graph.CollectionEdges
	src, dst   *graph.CollectionNodes
	of         *graph.Edges
	reverses   bool
	message    func(id int) bool // nil: every edge is one

	mu    sync.Mutex
	graph int // of the fault
	fault string
}

func newPair(c, against *store.Store, e *graph.CollectionEdges, opt Options) (*pair, error) {
	p := &pair{c: c, against: against, opt: opt, edges: e, reverses: opt.Plan.Kind == sample.Bidirectional && e.Type.Src == e.Type.Dst}
	for _, n := range c.Collection.Nodes {
		if n.Type == e.Type.Src {
			p.src = n
		}
		if n.Type == e.Type.Dst {
			p.dst = n
		}
	}
	for _, of := range against.Graph.Edges {
		if of.Type == e.Type {
			p.of = of
		}
	}
	switch {
	case p.of == nil:
		p.fault = fmt.Sprintf("%s: found edges of a type that the store does not have", e.Type)
	case p.src == nil || p.dst == nil:
		return nil, fmt.Errorf("%s: %w: found no nodes of the types of %s", c.Dir, store.ErrDamaged, e.Type)
	case e.EdgeID.Len() != e.Count || p.src.NodeID.Len() != p.src.Count || p.dst.NodeID.Len() != p.dst.Count:
		return nil, fmt.Errorf("%s: %w: found edges of %s without the ids of edges or nodes in the store, expected both; sample again with the ids of edges", c.Dir, ErrIDs, e.Type)
	}
	var err error
	if m, ok := opt.Plan.Messages[e.Type.String()]; ok && p.fault == "" {
		p.message, err = m.Match(p.of)
	}
	return p, err
}

// graphsAtOnce is the number of graphs that a thread takes.
const graphsAtOnce = 256

func (p *pair) compare(ctx context.Context) error {
	graphs := p.c.Collection.Graphs
	var next atomic.Int64
	g, ctx := guard.WithContext(ctx)
	for range max(p.opt.Threads, 1) {
		g.Go(func() error {
			for {
				first := int(next.Add(graphsAtOnce)) - graphsAtOnce
				if first >= graphs || p.before(first) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := p.compareGraphs(first, min(first+graphsAtOnce, graphs)); err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

// before says whether a fault was found in a graph before first.
func (p *pair) before(first int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault != "" && p.graph < first
}

func (p *pair) found(at int, fault string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault == "" || at < p.graph {
		p.graph, p.fault = at, fmt.Sprintf("graph %d: edge type %s: %s", at, p.edges.Type, fault)
	}
}

// compareGraphs compares the edges of graphs.
func (p *pair) compareGraphs(first, end int) error {
	const bytes = 40 // about, per edge: of the lists of the collection, and of the store
	for i := first; i < end; i++ {
		from, to := p.edges.GraphPtr.At(i), p.edges.GraphPtr.At(i+1)
		if fault := p.edge(i, from, to); fault != "" {
			p.found(i, fault)
			return nil
		}
		n := int64(to - from)
		if err := errors.Join(p.c.Touched(bytes*n), p.against.Touched(bytes*n)); err != nil {
			return err
		}
		if p.opt.Progress != nil {
			p.opt.Progress(n)
		}
	}
	return nil
}

// edge is the first fault among the edges from..to of graph i, and empty without one.
func (p *pair) edge(i int, from, to uint64) string {
	for k := from; k < to; k++ {
		id := p.edges.EdgeID.At(int(k))
		if id >= uint64(p.of.Count) {
			return fmt.Sprintf("found edge id %d, expected one below %d, the number of edges in the store", id, p.of.Count)
		}
		src, ok := nodeOf(p.src, i, p.edges.Src.At(int(k)))
		dst, okToo := nodeOf(p.dst, i, p.edges.Dst.At(int(k)))
		if !ok || !okToo {
			return fmt.Sprintf("edge %d: found local ids %d and %d, expected nodes of the graph", k-from, p.edges.Src.At(int(k)), p.edges.Dst.At(int(k)))
		}
		s, d := p.of.Ends(int(id))
		if p.message != nil && !p.message(int(id)) {
			return fmt.Sprintf("edge %d with edge id %d: found an edge that is no message of the plan, expected %s", k-from, id, p.opt.Plan.Messages[p.edges.Type.String()])
		}
		if (src != s || dst != d) && !(p.reverses && src == d && dst == s) {
			return fmt.Sprintf("edge %d with edge id %d: found the nodes %d and %d, expected %d and %d, the ends of the edge in the store", k-from, id, src, dst, s, d)
		}
	}
	return ""
}

// nodeOf is the node in the store of a local id in graph i.
func nodeOf(n *graph.CollectionNodes, i int, local uint64) (uint64, bool) {
	at := n.GraphPtr.At(i) + local
	if at >= n.GraphPtr.At(i+1) {
		return 0, false
	}
	return n.NodeID.At(int(at)), true
}
