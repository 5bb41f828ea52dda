package audit

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/internal/dispatch/parts"
)

// halos checks the halo edges of all parts against their owners, and that no halo edge is missing.
func (a *auditor) halos(ctx context.Context) error {
	outs := make([]int64, len(a.Parts)) // by part: halo edges that leave its nodes
	if err := a.each(ctx, func(ctx context.Context, x *reading) (err error) {
		outs[x.Index], err = a.halo(ctx, x)
		return err
	}, a.advance); err != nil {
		return err
	}
	if !a.report.Leaving {
		return nil
	}
	for _, p := range a.Parts {
		if outs[p.Index] != a.leaving[p.Index] {
			return a.absent(ctx, p)
		}
	}
	return nil
}

// halo checks one part and returns the number of halo edges that leave its nodes.
func (a *auditor) halo(ctx context.Context, x *reading) (outs int64, err error) {
	p := x.Part
	for i := p.OwnedEdges; i < p.Edges; i++ {
		if i%every == 0 {
			if err := context.Cause(ctx); err != nil {
				return 0, err
			}
		}
		id := p.EdgeID.At(i)
		q := a.Parts[a.Edges.Find(id).Part]
		k := id - q.FirstEdge
		src, dst := p.NodeID.At(p.Src.At(i)), p.NodeID.At(p.Dst.At(i))
		if s, d := q.NodeID.At(q.Src.At(k)), q.NodeID.At(q.Dst.At(k)); s != src || d != dst {
			return 0, a.edge(p, i, fmt.Sprintf("an edge from global id %d to %d", src, dst), fmt.Sprintf("one from %d to %d, as its owner, part %d, has it", s, d, q.Index))
		}
	}
	level := a.walk(p)
	hops := a.Config.HaloHops
	for i := p.OwnedEdges; i < p.Edges; i++ {
		walked := level != nil && level[p.Dst.At(i)] > 0 && int(level[p.Dst.At(i)]) < hops
		leaves := p.Src.At(i) < p.OwnedNodes
		switch {
		case !walked && (!leaves || hops == 0):
			return 0, a.edge(p, i, "a halo edge", fmt.Sprintf("none here, because halo_hops %d in-edges do not lead to it from the part's nodes", hops))
		case !walked:
			x.count.Leaving = true
		}
		if leaves {
			outs++
		}
	}
	if level == nil {
		return outs, nil
	}
	got := make([]uint32, p.Nodes)
	for i := p.OwnedEdges; i < p.Edges; i++ {
		got[p.Dst.At(i)]++
	}
	for v := p.OwnedNodes; v < p.Nodes; v++ {
		if want := a.degree[p.NodeID.At(v)]; level[v] > 0 && int(level[v]) < hops && got[v] != want {
			return 0, a.node(p, v, fmt.Sprintf("%d in-edges of a halo node %d in-edges away", got[v], level[v]), fmt.Sprintf("all %d, with halo_hops %d", want, hops))
		}
	}
	return outs, nil
}

// walk returns, for each node of the part, the number of in-edges from the owned nodes to it: 0 for owned
// nodes and for nodes that no such path reaches. It returns nil if there are fewer than two hops.
func (a *auditor) walk(p *parts.Part) []uint8 {
	hops := min(a.Config.HaloHops, 255)
	if hops < 2 {
		return nil
	}
	level := make([]uint8, p.Nodes)
	for i := range p.OwnedEdges {
		if s := p.Src.At(i); s >= p.OwnedNodes {
			level[s] = 1
		}
	}
	for h := uint8(1); int(h) < hops; h++ {
		more := false
		for i := p.OwnedEdges; i < p.Edges; i++ {
			if s := p.Src.At(i); level[p.Dst.At(i)] == h && s >= p.OwnedNodes && level[s] == 0 {
				level[s], more = h+1, true
			}
		}
		if !more {
			break
		}
	}
	return level
}

// absent returns the fault for the first edge that leaves a part's nodes and is missing from its halo.
func (a *auditor) absent(ctx context.Context, p *parts.Part) error {
	have := newBitmap(a.Edges.Len())
	for i := p.OwnedEdges; i < p.Edges; i++ {
		have.add(p.EdgeID.At(i))
	}
	for _, q := range a.Parts {
		if q == p {
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		for i := range q.OwnedEdges {
			if s := q.NodeID.At(q.Src.At(i)); s >= p.FirstNode && s < p.FirstNode+p.OwnedNodes && !have.has(q.FirstEdge+i) {
				f := a.edge(q, i, "no such edge in the halo", "the edges from the part's nodes to others, as other such edges are there")
				f.File, f.Local = p.GraphFile, -1
				return f
			}
		}
	}
	return nil
}
