package walk

import (
	"context"
	"math"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/sample"
)

// None is the node, and NoEdge the edge id, after the end of a walk. NoEdge is also the edge of a restart.
const (
	None   = math.MaxUint32
	NoEdge = math.MaxUint64
)

// Walker is a set of rules compiled against a graph. It is immutable and safe for concurrent use: each goroutine has its own
// Context.
type Walker struct {
	rules   Rules
	sampler *sample.Sampler
	start   string // node type of the starts
	steps   []sample.Neighbours

	// With P or Q: the biases of steps back and away, and the largest bias.
	back, away, top float64
	sorted          []uint32 // the far ends of each node, ascending
}

// Plan is the sampling plan whose ops read what walks read; its memory is theirs, but for Sorted.
func Plan(g *graph.Graph, r Rules) (*sample.Plan, error) {
	path, err := r.resolve(g)
	if err != nil {
		return nil, err
	}
	return r.plan(path), nil
}

// Sorted is the bytes that walks with P or Q take in addition to their plan.
func Sorted(g *graph.Graph, r Rules) int64 {
	path, err := r.resolve(g)
	if err != nil || !r.biased() {
		return 0
	}
	return 4 * int64(path[0].Count)
}

// New compiles rules. The Sampler is one of the Plan of the rules, and must outlive the Walker.
func New(ctx context.Context, s *sample.Sampler, r Rules, threads int) (*Walker, error) {
	path, err := r.resolve(s.Graph())
	if err != nil {
		return nil, err
	}
	w := &Walker{rules: r, sampler: s, start: path[0].Type.Near(r.Dir), back: 1 / r.P, away: 1 / r.Q}
	w.top = max(w.back, 1, w.away)
	for i := range path {
		w.steps = append(w.steps, s.Neighbours(i+1))
	}
	if r.biased() {
		if err := w.sort(ctx, threads); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Start is the node type of the starts.
func (w *Walker) Start() string { return w.start }

// Rules are the rules with what was left out filled in.
func (w *Walker) Rules() Rules { return w.rules }

// sortNodes is the number of nodes whose far ends are sorted in one go.
const sortNodes = 1 << 14

// sort finds the far ends of each node in ascending order.
func (w *Walker) sort(ctx context.Context, threads int) error {
	n := &w.steps[0]
	if n.Ascending {
		w.sorted = n.Far
		return nil
	}
	w.sorted = make([]uint32, len(n.Far))
	nodes := n.Indptr.Len() - 1
	g, ctx := guard.WithContext(ctx)
	g.SetLimit(threads)
	for from := 0; from < nodes && ctx.Err() == nil; from += sortNodes {
		g.Go(func() error {
			to := min(from+sortNodes, nodes)
			a, _ := n.Span(uint32(from))
			_, b := n.Span(uint32(to - 1))
			copy(w.sorted[a:b], n.Far[a:b])
			for v := from; v < to; v++ {
				a, b := n.Span(uint32(v))
				slices.Sort(w.sorted[a:b])
			}
			return context.Cause(ctx)
		})
	}
	return g.Wait()
}

// joined says whether the path has an edge from a node to another. It is for P and Q.
func (w *Walker) joined(from, to uint32) bool {
	a, b := w.steps[0].Span(from)
	_, found := slices.BinarySearch(w.sorted[a:b], to)
	return found
}
