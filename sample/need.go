package sample

import "github.com/graphmill/graphmill/graph"

// contextBytes is what a context holds beside its tables of local ids: buffers
// that grow with the subgraphs. Batches of 1024 seeds at fanout 15,10 take 8 MiB.
const contextBytes = 16 << 20

// Need is the memory in bytes that sampling a plan on g by several threads takes
// at least: the adjacencies and columns that its ops read, what is built of them,
// and the threads' tables. A plan that Validate refuses needs nothing.
func Need(g *graph.Graph, p *Plan, threads int) int64 {
	var n int64
	type walk struct {
		edges *graph.Edges
		dir   graph.Direction
	}
	walks, columns := map[walk]bool{}, map[*graph.Column]bool{}
	read := func(e *graph.Edges, name string) {
		c := graph.FindColumn(e.Columns, name)
		if c == nil || columns[c] {
			return
		}
		columns[c] = true
		n += int64(len(c.Values)) + 8*int64(e.Count) // the column, and its numbers or prefix sums
	}
	for _, op := range p.Ops {
		e := edgesOf(g, op.Edges)
		if e == nil {
			continue
		}
		if op.Column != "" {
			read(e, op.Column)
		}
		if p.timed(op.Edges) {
			read(e, p.Before.Column)
		}
		if walks[walk{e, op.Dir}] {
			continue
		}
		walks[walk{e, op.Dir}] = true
		if a := e.Adj[op.Dir]; a != nil {
			n += a.Bytes()
			continue
		}
		// Built from the other direction: offsets, neighbours, edge ids.
		near := g.NodeType(e.Type.Near(op.Dir))
		n += e.Adj[e.Primary].Bytes() + 8*int64(e.Count)
		if near >= 0 {
			n += 8 * int64(g.Nodes[near].Count)
		}
	}
	for _, t := range g.Nodes {
		if t.Count <= directNodes && p.Scope != ScopeSeed {
			n += 4 * int64(t.Count) * int64(threads)
		}
	}
	return n + contextBytes*int64(threads)
}
