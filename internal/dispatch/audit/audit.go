package audit

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/dispatch/parts"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Options of Verify. The zero value is usable.
type Options struct {
	// Against is the graph that the parts were made from; nil: it is not compared.
	Against *graph.Graph
	// Features are of the graph's store; nil for none.
	Features *widening.Features
	// Outside allows parts outside the configuration's folder.
	Outside bool
	// Threads is the number of parts that are read at the same time; 0 is 1. The result does not depend on it.
	Threads int
	// Progress, if not nil, receives the number of edges read and their total. One goroutine calls it.
	Progress func(done, total int64)
}

// auditor verifies one folder.
type auditor struct {
	*parts.Folder
	opt         Options
	report      *Report
	ends        [][2]int // node types of each edge type, as source and destination
	degree      []uint32 // number of in-edges of each node; nil unless there are two or more hops
	leaving     []int64  // by part: edges from its nodes to others
	done, total int64
}

// Verify checks a partitioned graph; path is its configuration. Faults in the parts are returned as
// Report.Fault. The error is about calls that failed.
func Verify(ctx context.Context, fsys vfs.FS, path string, opt Options) (*Report, error) {
	report := &Report{Config: filepath.Base(path)}
	folder, err := parts.Open(fsys, path, opt.Outside)
	if err == nil {
		a := &auditor{Folder: folder, opt: opt, report: report}
		err = a.all(ctx)
		if cerr := folder.Close(); cerr != nil {
			return nil, cerr
		}
	}
	if report.Fault = fault(err); report.Fault != nil {
		return report, nil
	}
	if err != nil {
		return nil, err
	}
	return report, nil
}

func (a *auditor) all(ctx context.Context) error {
	c := a.Config
	a.report.Parts, a.report.HaloHops = len(c.Parts), c.HaloHops
	a.report.Nodes, a.report.Edges = a.Nodes.Len(), a.Edges.Len()
	a.report.NodeIDs, a.report.EdgeIDs = a.NodeIDs != nil, a.EdgeIDs != nil
	number := map[string]int{}
	for t, n := range c.Nodes {
		number[n.Name] = t
	}
	for _, e := range c.Edges {
		of, err := graph.ParseEdgeType(e.Name)
		if err != nil {
			return err
		}
		a.ends = append(a.ends, [2]int{number[of.Src], number[of.Dst]})
	}
	a.leaving = make([]int64, len(c.Parts))
	if c.HaloHops > 1 {
		a.degree = make([]uint32, a.Nodes.Len())
	}
	for _, p := range a.Parts {
		a.total += 2 * p.Edges
	}
	if err := a.each(ctx, a.local, a.advance); err != nil {
		return err
	}
	if err := a.features(); err != nil {
		return err
	}
	if err := a.originals(ctx, c.Nodes, a.NodeIDs); err != nil {
		return err
	}
	if err := a.originals(ctx, c.Edges, a.EdgeIDs); err != nil {
		return err
	}
	if err := a.halos(ctx); err != nil {
		return err
	}
	if a.opt.Against != nil {
		return a.against(ctx, a.opt.Against)
	}
	return nil
}

// node and edge return the fault of a part's node or edge.
func (a *auditor) node(p *parts.Part, i int64, found, expected string) *Fault {
	id := p.NodeID.At(i)
	return &Fault{File: p.GraphFile, Type: a.name(a.Config.Nodes, &a.Nodes, id), Local: i, Global: id, Found: found, Expected: expected}
}

func (a *auditor) edge(p *parts.Part, i int64, found, expected string) *Fault {
	id := p.EdgeID.At(i)
	return &Fault{File: p.GraphFile, Type: a.name(a.Config.Edges, &a.Edges, id), Local: i, Global: id, Found: found, Expected: expected}
}

// name returns the type of an id, "" for an id that is out of range.
func (a *auditor) name(types []dgl.TypeRanges, book *parts.Book, id int64) string {
	if !book.Has(id) {
		return ""
	}
	return types[book.Find(id).Type].Name
}

// wise returns the type-wise id of a node.
func (a *auditor) wise(id int64) int64 {
	r := a.Nodes.Find(id)
	return r.Wise + id - r.First
}

// local checks a part by itself.
func (a *auditor) local(ctx context.Context, x *reading) error {
	p := x.Part
	if err := p.Ends(ctx); err != nil {
		return err
	}
	if err := a.localNodes(ctx, p); err != nil {
		return err
	}
	touched := newBitmap(p.Nodes)
	if err := a.localEdges(ctx, x, touched); err != nil {
		return err
	}
	for i := p.OwnedNodes; i < p.Nodes; i++ {
		if !touched.has(i) {
			return a.node(p, i, "a halo node without an edge", "an end of one of the part's edges")
		}
	}
	x.count.HaloNodes += p.Nodes - p.OwnedNodes
	x.count.HaloEdges += p.Edges - p.OwnedEdges
	return a.formats(ctx, p)
}

// every is the number of iterations between checks of the context.
const every = 1 << 16

func (a *auditor) localNodes(ctx context.Context, p *parts.Part) error {
	halo := newBitmap(a.Nodes.Len())
	for i := range p.Nodes {
		if i%every == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
		id, inner := p.NodeID.At(i), p.InnerNode.At(i)
		if i < p.OwnedNodes {
			switch {
			case id != p.FirstNode+i:
				return a.node(p, i, fmt.Sprintf("_ID %d", id), fmt.Sprintf("%d, because the nodes that a part owns come first, by ascending id", p.FirstNode+i))
			case inner != 1:
				return a.node(p, i, fmt.Sprintf("inner_node %d", inner), "1 for a node that the part owns")
			}
		} else {
			switch {
			case !a.Nodes.Has(id):
				return a.node(p, i, fmt.Sprintf("_ID %d", id), fmt.Sprintf("an id below %d", a.Nodes.Len()))
			case id >= p.FirstNode && id < p.FirstNode+p.OwnedNodes:
				return a.node(p, i, "a node that the part owns among the halo", "nodes of other parts")
			case !halo.add(id):
				return a.node(p, i, "a halo node twice", "each once")
			case inner != 0:
				return a.node(p, i, fmt.Sprintf("inner_node %d", inner), "0 for a halo node")
			}
		}
		if p.NodeType.Len() == 0 && p.Owner.Len() == 0 {
			continue
		}
		r := a.Nodes.Find(id)
		if p.NodeType.Len() > 0 && p.NodeType.At(i) != int64(r.Type) {
			return a.node(p, i, fmt.Sprintf("_TYPE %d", p.NodeType.At(i)), fmt.Sprint(r.Type))
		}
		if p.Owner.Len() > 0 && p.Owner.At(i) != int64(r.Part) {
			return a.node(p, i, fmt.Sprintf("part_id %d", p.Owner.At(i)), fmt.Sprintf("%d, the owner", r.Part))
		}
	}
	return nil
}

// localEdges checks the edges of a part, and adds their ends to touched.
func (a *auditor) localEdges(ctx context.Context, x *reading, touched bitmap) error {
	p := x.Part
	x.leaving = make([]int64, len(a.Parts))
	halo := haloIDs{last: -1}
	of := -1 // type of the edge, as an index in the configuration
	end := int64(0)
	for i := range p.Edges {
		if i%every == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
		id, src, dst := p.EdgeID.At(i), p.Src.At(i), p.Dst.At(i)
		if src < 0 || src >= p.Nodes || dst < 0 || dst >= p.Nodes {
			return a.edge(p, i, fmt.Sprintf("the ends %d and %d", src, dst), fmt.Sprintf("nodes of the part, below %d", p.Nodes))
		}
		touched.add(src)
		touched.add(dst)
		var err error
		if i < p.OwnedEdges {
			err = a.ownedEdge(x, i, id, src, dst)
		} else {
			err = a.haloEdge(p, i, id, dst, &halo)
		}
		if err != nil {
			return err
		}
		if of < 0 || id >= end || i >= p.OwnedEdges {
			r := a.Edges.Find(id)
			of, end = r.Type, a.Config.Edges[r.Type].Ranges[r.Part][1]
		}
		if err := a.edgeType(p, i, of, src, dst); err != nil {
			return err
		}
	}
	return nil
}

// ownedEdge checks edge i, which the part owns, and counts it.
func (a *auditor) ownedEdge(x *reading, i, id, src, dst int64) error {
	p := x.Part
	switch inner := p.InnerEdge.At(i); {
	case id != p.FirstEdge+i:
		return a.edge(p, i, fmt.Sprintf("_ID %d", id), fmt.Sprintf("%d, because the edges that a part owns come first, by ascending id", p.FirstEdge+i))
	case inner != 1:
		return a.edge(p, i, fmt.Sprintf("inner_edge %d", inner), "1 for an edge that the part owns")
	case dst >= p.OwnedNodes:
		return a.edge(p, i, fmt.Sprintf("the destination %d, a halo node", dst), "a node that the part owns, because a part owns the edges into its nodes")
	}
	if a.degree != nil {
		a.degree[p.FirstNode+dst]++
	}
	if src >= p.OwnedNodes {
		x.leaving[a.Nodes.Find(p.NodeID.At(src)).Part]++
	}
	return nil
}

// haloIDs are the ids of the halo edges of a part so far.
type haloIDs struct {
	seen bitmap // nil while they ascend, as they mostly do
	last int64
}

// haloEdge checks edge i, which the part does not own.
func (a *auditor) haloEdge(p *parts.Part, i, id, dst int64, halo *haloIDs) error {
	switch inner := p.InnerEdge.At(i); {
	case !a.Edges.Has(id):
		return a.edge(p, i, fmt.Sprintf("_ID %d", id), fmt.Sprintf("an id below %d", a.Edges.Len()))
	case id >= p.FirstEdge && id < p.FirstEdge+p.OwnedEdges:
		return a.edge(p, i, "an edge that the part owns among the halo", "edges of other parts")
	case inner != 0:
		return a.edge(p, i, fmt.Sprintf("inner_edge %d", inner), "0 for a halo edge")
	case dst < p.OwnedNodes:
		return a.edge(p, i, fmt.Sprintf("a halo edge to node %d, which the part owns", dst), "its edges among those that the part owns")
	}
	if halo.seen == nil && id <= halo.last {
		halo.seen = newBitmap(a.Edges.Len())
		for k := p.OwnedEdges; k < i; k++ {
			halo.seen.add(p.EdgeID.At(k))
		}
	}
	if halo.seen != nil && !halo.seen.add(id) {
		return a.edge(p, i, "a halo edge twice", "each once")
	}
	halo.last = id
	return nil
}

// edgeType checks that edge i has the type typ, a number in the configuration, and ends of its node types.
func (a *auditor) edgeType(p *parts.Part, i int64, typ int, src, dst int64) error {
	if p.EdgeType.Len() > 0 && p.EdgeType.At(i) != int64(typ) {
		return a.edge(p, i, fmt.Sprintf("_TYPE %d", p.EdgeType.At(i)), fmt.Sprint(typ))
	}
	if p.NodeType.Len() > 0 {
		if s, d := p.NodeType.At(src), p.NodeType.At(dst); s != int64(a.ends[typ][0]) || d != int64(a.ends[typ][1]) {
			return a.edge(p, i, fmt.Sprintf("an edge from %s %d to %s %d", a.Config.Nodes[s].Name, src, a.Config.Nodes[d].Name, dst), "ends of the node types of the edge type")
		}
	}
	return nil
}

// formats checks that all formats of a part have the same edges.
func (a *auditor) formats(ctx context.Context, p *parts.Part) error {
	for _, f := range []dgl.Formats{dgl.COO, dgl.CSC, dgl.CSR} {
		if p.Graph.Relations[0].Formats()&f == 0 {
			continue
		}
		seen := newBitmap(p.Edges)
		n := int64(0)
		if err := p.Each(ctx, f, func(e parts.Edge) error {
			n++
			switch {
			case e.ID < 0 || e.ID >= p.Edges:
				return &Fault{File: p.GraphFile, Type: f.String(), Local: -1, Global: -1, Found: fmt.Sprintf("edge id %d", e.ID), Expected: fmt.Sprintf("ids below %d", p.Edges)}
			case !seen.add(e.ID):
				return &Fault{File: p.GraphFile, Type: f.String(), Local: e.ID, Global: -1, Found: "an edge twice", Expected: "each once"}
			case e.Src != p.Src.At(e.ID) || e.Dst != p.Dst.At(e.ID):
				return &Fault{
					File: p.GraphFile, Type: f.String(), Local: e.ID, Global: p.EdgeID.At(e.ID), Found: fmt.Sprintf("an edge from %d to %d", e.Src, e.Dst),
					Expected: fmt.Sprintf("one from %d to %d, as in the other formats", p.Src.At(e.ID), p.Dst.At(e.ID)),
				}
			}
			return nil
		}); err != nil {
			return err
		}
		if n != p.Edges {
			return &Fault{File: p.GraphFile, Type: f.String(), Local: -1, Global: -1, Found: fmt.Sprintf("%d edges", n), Expected: fmt.Sprint(p.Edges)}
		}
	}
	return nil
}
