package sample

import "github.com/graphmill/graphmill/graph"

// contextBytes is what a context holds in addition to its tables of local ids: buffers that grow with the subgraphs.
// Batches of 1024 seeds at fanout 15,10 take 8 MiB.
const contextBytes = 16 << 20

// Need is about the memory in bytes that sampling a plan on g by several threads takes, without what is made of the subgraphs:
// NeedArrays, and buffers of usual sizes.
func Need(g *graph.Graph, p *Plan, threads int) int64 {
	if p.Validate(g) != nil {
		return 0
	}
	return NeedArrays(g, p, threads) + contextBytes*int64(threads)
}

// NeedArrays is the memory in bytes of the adjacencies and columns that the ops of a plan, its negatives and its kind of subgraphs
// read, of what is built from them, and of the tables of the threads. New reads all of it, so that it is resident whatever the seeds
// are. Copies into huge pages take the place of mapped pages and need no more. A plan that Validate refuses needs nothing.
func NeedArrays(g *graph.Graph, p *Plan, threads int) int64 {
	return newNeed(g, p, threads, false)
}

// Reads says whether sampling a plan reads a column of edges or nodes, so that NeedArrays and NeedFetch count it.
func Reads(g *graph.Graph, p *Plan, c *graph.Column) bool {
	for _, op := range p.Ops {
		e := edgesOf(g, op.Edges)
		if c == graph.FindColumn(e.Columns, op.Column) || c == graph.FindColumn(e.Columns, p.timeColumn(op.Edges)) {
			return true
		}
		far := g.Nodes[g.NodeType(e.Type.Far(op.Dir))]
		if c == graph.FindColumn(far.Columns, p.nodeTimes(far.Type)) {
			return true
		}
	}
	return false
}

// NeedFetch is Need with Options.Fetch, which holds only the offsets of the adjacencies. It does not include what grows
// with the subgraphs.
func NeedFetch(g *graph.Graph, p *Plan, threads int) int64 {
	return newNeed(g, p, threads, true)
}

func newNeed(g *graph.Graph, p *Plan, threads int, fetch bool) int64 {
	if p.Validate(g) != nil {
		return 0
	}
	n := need{g: g, seen: map[held]bool{}, fetch: fetch}
	reached := map[string]bool{}
	for _, t := range p.SeedType {
		reached[t] = true
	}
	for _, op := range p.Ops {
		e := edgesOf(g, op.Edges)
		reached[e.Type.Far(op.Dir)] = true
		n.adjacency(e, op.Dir)
		if op.Column != "" {
			n.column(e, op.Column)
		}
		if fetch && (op.Column != "" || p.timed(op.Edges)) {
			n.edgeIDs(e, op.Dir)
		}
		strategies[op.How].need(&n, &op, e)
		if times := p.timeColumn(op.Edges); times != "" {
			n.column(e, times)
		}
		if times := p.nodeTimes(e.Type.Far(op.Dir)); times != "" {
			n.nodeColumn(g.Nodes[g.NodeType(e.Type.Far(op.Dir))], times)
		}
	}
	n.negatives(p)
	for to, from := p.reverses(g); len(to) > 0 && !fetch; to, from = to[1:], from[1:] {
		if to[0] != from[0] {
			n.adjacency(g.Edges[to[0]], g.Edges[to[0]].Primary)
		}
	}
	if p.Kind == Induced && !fetch {
		for _, i := range p.Induced(g) {
			n.adjacency(g.Edges[i], g.Edges[i].Primary)
		}
	}
	for _, t := range g.Nodes {
		if t.Count <= directNodes && p.Scope != ScopeSeed && reached[t.Type] {
			n.bytes += 4 * int64(t.Count) * int64(threads)
		}
	}
	return n.bytes
}

// need adds up the parts that a sampler holds, each part once.
type need struct {
	g     *graph.Graph
	seen  map[held]bool
	fetch bool
	bytes int64
}

// held is a part that a sampler holds: an adjacency, its edge ids, a column, or the sums of a column.
type held struct {
	edges  *graph.Edges
	nodes  *graph.Nodes
	column string
	sums   bool
	ids    bool
	dir    graph.Direction
}

// first says whether h is counted for the first time.
func (n *need) first(h held) bool {
	again := n.seen[h]
	n.seen[h] = true
	return !again
}

func (n *need) nodes(nodeType string) int64 {
	if i := n.g.NodeType(nodeType); i >= 0 {
		return int64(n.g.Nodes[i].Count)
	}
	return 0
}

// width is the bytes of a position and of an edge id.
func width(e *graph.Edges) int64 {
	if isWide(e) {
		return 8
	}
	return 4
}

// copied is the bytes of the copy of an index in numbers of a width, 0 where it is read in place.
func copied(x graph.Index, width int64) int64 {
	if x.Bytes() == width*int64(x.Len()) {
		return 0
	}
	return width * int64(x.Len())
}

func (n *need) adjacency(e *graph.Edges, dir graph.Direction) {
	if !n.first(held{edges: e, dir: dir}) {
		return
	}
	a := e.Adj[dir]
	switch {
	case n.fetch && a == nil: // New refuses it for any memory
		return
	case n.fetch:
		n.bytes += width(e) * int64(a.Indptr.Len())
		return
	case a != nil:
		// Arrays of 64 bits are copied, but for the offsets and the edge ids of a wide edge type.
		n.bytes += a.Bytes() + copied(a.Far, 4) + copied(a.Indptr, width(e)) + copied(a.EdgeID, width(e))
		return
	}
	if e.Adj[1-dir] != nil {
		// Built from the other one: offsets and places, neighbours and edge ids.
		n.adjacency(e, 1-dir)
		n.bytes += 2*width(e)*n.nodes(e.Type.Near(dir)) + (4+width(e))*int64(e.Count)
	}
}

// edgeIDs adds the edge ids that lead to columns.
func (n *need) edgeIDs(e *graph.Edges, dir graph.Direction) {
	if a := e.Adj[dir]; a != nil && n.first(held{edges: e, dir: dir, ids: true}) {
		n.bytes += a.EdgeID.Bytes() + copied(a.EdgeID, width(e))
	}
}

func (n *need) column(e *graph.Edges, name string) {
	if n.first(held{edges: e, column: name}) {
		n.values(graph.FindColumn(e.Columns, name), e.Count)
	}
}

func (n *need) nodeColumn(t *graph.Nodes, name string) {
	if n.first(held{nodes: t, column: name}) {
		n.values(graph.FindColumn(t.Columns, name), t.Count)
	}
}

func (n *need) values(c *graph.Column, rows int) {
	n.bytes += int64(len(c.Values))
	switch c.DType {
	case graph.Int64, graph.Float32, graph.Float64: // read in place
	default:
		n.bytes += 8 * int64(rows)
	}
}

// negatives adds what negatives are drawn by.
func (n *need) negatives(p *Plan) {
	if p.Negatives == nil {
		return
	}
	for _, end := range p.Negatives.drawn() {
		nodes := n.g.Nodes[n.g.NodeType(p.SeedType[end])]
		if times := p.Negatives.Times[nodes.Type]; times != "" {
			n.nodeColumn(nodes, times)
			n.bytes += 4 * int64(nodes.Count)
		}
		switch p.Negatives.By {
		case ByNone:
			continue
		case ByColumn:
			n.nodeColumn(nodes, p.Negatives.Column)
		case ByDegree:
			e, dir := edgesOf(n.g, p.SeedEdges), graph.Out
			if end == 1 {
				dir = graph.In
			}
			if e.Adj[dir] == nil {
				dir = 1 - dir
			}
			n.adjacency(e, dir)
		}
		n.bytes += 8 * int64(nodes.Count)
	}
	if p.Negatives.Strict != StrictNo {
		e := edgesOf(n.g, p.SeedEdges)
		n.adjacency(e, e.Primary)
		if p.Negatives.Linked == LinkedBefore {
			n.column(e, p.timeColumn(p.SeedEdges))
		}
	}
}

// sums adds the sums of weights and the cells of draws.
func (n *need) sums(e *graph.Edges, column string, dir graph.Direction) {
	if n.first(held{edges: e, column: column, sums: true, dir: dir}) {
		n.bytes += (8 + 8) * int64(e.Count)
	}
}
