package sample

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample/condition"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Messages says which edges of a type can be messages: those with one of the values in a column. All others are not there for the ops of a
// plan, its negatives and its kind of subgraphs: the draws are those on a graph that has the messages alone, and only the ids of the edges
// differ. A value is written as in COLUMN=VALUE of seeds.
type Messages struct {
	Column string   `json:"column"`
	Values []string `json:"values"`
}

// String is the messages as a text: COLUMN=VALUE, with all values.
func (m Messages) String() string { return m.Column + "=" + strings.Join(m.Values, ",") }

// checkMessages refuses messages without a meaning on any graph.
func (p *Plan) checkMessages() error {
	for _, name := range slices.Sorted(maps.Keys(p.Messages)) {
		if _, err := graph.ParseEdgeType(name); err != nil {
			return tagged.Errorf(ErrPlan, "messages: %w", err)
		}
		m := p.Messages[name]
		if m.Column == "" || len(m.Values) == 0 {
			return tagged.Errorf(ErrPlan, "messages: found column %q and %d values for %s, expected a column and one value or more; leave the edge type out to take all of its edges", m.Column, len(m.Values), name)
		}
	}
	return nil
}

// validateMessages refuses messages whose edge types, columns or values g does not have.
func (p *Plan) validateMessages(g *graph.Graph) error {
	for _, name := range slices.Sorted(maps.Keys(p.Messages)) {
		e := edgesOf(g, name)
		if e == nil {
			return tagged.Errorf(ErrPlan, "messages: found edge type %q, expected one of %q", name, edgeTypes(g))
		}
		if _, err := p.Messages[name].Match(e); err != nil {
			return err
		}
	}
	return nil
}

// Match says of the edges of a type, by id, whether they are messages.
func (m Messages) Match(e *graph.Edges) (func(id int) bool, error) {
	c := graph.FindColumn(e.Columns, m.Column)
	if c == nil {
		var have []string
		for _, c := range e.Columns {
			if !strings.HasPrefix(c.Name, "#") {
				have = append(have, c.Name)
			}
		}
		expected := "one of its columns: " + strings.Join(have, ", ")
		if have == nil {
			expected = "a column, and it has none"
		}
		return nil, tagged.Errorf(ErrPlan, "messages: found column %q for %s, expected %s; name one of these, or import the column", m.Column, e.Type, expected)
	}
	var each []func(id int) bool
	for _, v := range m.Values {
		is, err := condition.Matcher(c, v)
		if err != nil {
			return nil, tagged.Errorf(ErrPlan, "messages: column %q of %s: %w", c.Name, e.Type, err)
		}
		each = append(each, is)
	}
	if len(each) == 1 {
		return each[0], nil
	}
	return func(id int) bool {
		return slices.ContainsFunc(each, func(is func(id int) bool) bool { return is(id) })
	}, nil
}

// List is an array of numbers that is written from its start.
type List interface {
	Append(values []uint64) error
	// Close ends the list, and gives what it has.
	Close() (graph.Index, error)
}

// Lists are where Restrict writes.
type Lists struct {
	// Create makes a list of n numbers below limit. array is its name in the store (store.Meta).
	Create func(e graph.EdgeType, array string, n int, limit uint64) (List, error)
	// Touched, if set, is Options.Touched.
	Touched func(bytes int64) error
}

// NeedRestrict is the memory in bytes that Restrict takes while it works: a bit per edge of the largest edge type that has Messages.
func NeedRestrict(g *graph.Graph, p *Plan) int64 {
	most := int64(0)
	for _, e := range g.Edges {
		if _, ok := p.Messages[e.Type.String()]; ok {
			most = max(most, int64(e.Count)/8)
		}
	}
	return most
}

// Restrict is the graph of a valid plan with Messages: it has the messages alone in its adjacencies, and all else as g has it. The positions of
// its edges are then no ids, in neither direction, and Count stays the number of all edges. New needs such a graph. An edge type whose edges are all
// messages stays as it is.
func Restrict(ctx context.Context, g *graph.Graph, p *Plan, to Lists) (*graph.Graph, error) {
	out := *g
	out.Edges = slices.Clone(g.Edges)
	for i, e := range g.Edges {
		m, ok := p.Messages[e.Type.String()]
		if !ok {
			continue
		}
		r := restriction{ctx: ctx, g: g, e: e, to: to}
		if err := r.choose(m); err != nil {
			return nil, err
		}
		if r.count == e.Count {
			continue
		}
		part := *e
		for d, a := range e.Adj {
			if a == nil {
				continue
			}
			var err error
			if part.Adj[d], err = r.adjacency(graph.Direction(d), a); err != nil {
				return nil, err
			}
		}
		out.Edges[i] = &part
	}
	return &out, nil
}

// restriction is an edge type of which some edges are kept.
type restriction struct {
	ctx   context.Context
	g     *graph.Graph
	e     *graph.Edges
	to    Lists
	keep  []uint64 // a bit per edge id
	count int      // of the edges that are kept
}

// restrictEdges is the number of edges between two looks at the context.
const restrictEdges = 1 << 16

// touched counts bytes that were read, and looks at the context.
func (r *restriction) touched(bytes int) error {
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	if r.to.Touched == nil {
		return nil
	}
	return r.to.Touched(int64(bytes))
}

// choose finds the messages.
func (r *restriction) choose(m Messages) error {
	match, err := m.Match(r.e)
	if err != nil {
		return err
	}
	width := graph.FindColumn(r.e.Columns, m.Column).RowBytes()
	r.keep = make([]uint64, (r.e.Count+63)/64)
	for id := range r.e.Count {
		if match(id) {
			r.keep[id/64] |= 1 << (id % 64)
			r.count++
		}
		if id%restrictEdges == restrictEdges-1 {
			if err := r.touched(restrictEdges * max(width, 1)); err != nil {
				return err
			}
		}
	}
	return nil
}

// adjacency is the messages of a direction.
func (r *restriction) adjacency(dir graph.Direction, a *graph.Adjacency) (*graph.Adjacency, error) {
	e := r.e
	near := r.g.Nodes[r.g.NodeType(e.Type.Near(dir))].Count
	if a.Indptr.Len() != near+1 || a.Far.Len() != e.Count || dir != e.Primary && a.EdgeID.Len() != e.Count {
		return nil, fmt.Errorf("%s: found %d offsets, %d neighbours and %d edge ids, expected %d, %d and as many; run graphmill verify on the store", e.Type, a.Indptr.Len(), a.Far.Len(), a.EdgeID.Len(), near+1, e.Count)
	}
	if err := a.Indptr.CheckOffsets(e.Count); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Type, err)
	}
	prefix := ""
	if dir != e.Primary {
		prefix = "other_"
	}
	var lists [3]*blockList
	for i, what := range []struct {
		array string
		n     int
		limit uint64
	}{
		{"indptr", near + 1, uint64(r.count) + 1},
		{"far", r.count, uint64(r.g.Nodes[r.g.NodeType(e.Type.Far(dir))].Count)},
		{"edge_id", r.count, uint64(e.Count)},
	} {
		list, err := r.to.Create(e.Type, prefix+what.array, what.n, what.limit)
		if err != nil {
			return nil, err
		}
		lists[i] = &blockList{list: list, limit: what.limit}
	}
	err := r.fill(a, lists[0], lists[1], lists[2])
	var out [3]graph.Index
	for i, l := range lists {
		x, failed := l.close()
		if err == nil {
			err = failed
		}
		out[i] = x
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Type, err)
	}
	return &graph.Adjacency{Indptr: out[0], Far: out[1], EdgeID: out[2]}, nil
}

// fill appends the messages of a direction, node by node.
func (r *restriction) fill(a *graph.Adjacency, indptr, far, ids *blockList) error {
	at, since := uint64(0), 0
	if err := indptr.add(0); err != nil {
		return err
	}
	for v := range a.Indptr.Len() - 1 {
		from, to := a.Indptr.At(v), a.Indptr.At(v+1)
		for p := from; p < to; p++ {
			id := p
			if a.EdgeID.Len() > 0 {
				if id = a.EdgeID.At(int(p)); id >= uint64(r.e.Count) {
					return fmt.Errorf("found edge id %d at position %d, expected less than %d; run graphmill verify on the store", id, p, r.e.Count)
				}
			}
			if r.keep[id/64]>>(id%64)&1 == 0 {
				continue
			}
			if err := far.add(a.Far.At(int(p))); err != nil {
				return err
			}
			if err := ids.add(id); err != nil {
				return err
			}
			at++
		}
		if err := indptr.add(at); err != nil {
			return err
		}
		if since += int(to-from) + 1; since >= restrictEdges {
			if err := r.touched(12 * since); err != nil {
				return err
			}
			since = 0
		}
	}
	if at != uint64(r.count) {
		return fmt.Errorf("found %d edges that are messages in a direction and %d in the column, expected as many; run graphmill verify on the store", at, r.count)
	}
	return nil
}

// blockList appends to a list in blocks.
type blockList struct {
	list  List
	limit uint64
	block []uint64
}

func (b *blockList) add(x uint64) error {
	if x >= b.limit {
		return fmt.Errorf("found %d, expected less than %d; run graphmill verify on the store", x, b.limit)
	}
	if b.block = append(b.block, x); len(b.block) < 4096 {
		return nil
	}
	err := b.list.Append(b.block)
	b.block = b.block[:0]
	return err
}

func (b *blockList) close() (graph.Index, error) {
	err := b.list.Append(b.block)
	x, failed := b.list.Close()
	if err == nil {
		err = failed
	}
	return x, err
}

// Narrow says whether numbers below a limit fit 32 bits, so that a list has 4 bytes for each and not 8.
func Narrow(limit uint64) bool { return limit <= math.MaxUint32+1 }

// checkRestricted refuses a graph with edges that are no messages of the plan.
func (s *Sampler) checkRestricted() error {
	for _, name := range slices.Sorted(maps.Keys(s.plan.Messages)) {
		e := edgesOf(s.g, name)
		if a := e.Adj[e.Primary]; a == nil || a.Far.Len() != e.Count {
			continue
		}
		match, err := s.plan.Messages[name].Match(e)
		if err != nil {
			return err
		}
		for id := range e.Count {
			if !match(id) {
				return fmt.Errorf("%s: found edge %d, which is no message by %s, expected a graph without it; give the graph that Restrict makes", name, id, s.plan.Messages[name])
			}
		}
	}
	return nil
}
