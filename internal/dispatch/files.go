package dispatch

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/vfs"
)

// partFile is the graph of a part while it is written, and the original ids of its edges.
type partFile struct {
	p                   int
	graph               vfs.File
	layout              *dgl.Layout
	ownNodes, haloNodes int
	ownEdges, haloEdges uint64
	csr, csc            rowSlots
	// pairs has the ends of the edges, int64. It is the graph's COO; where COO is not asked for, a temporary
	// file if the ends are needed, else nil.
	pairs    vfs.File
	src, dst int64
	scratch  bool
	// edges has the original ids of the edges, a slot per type.
	edges     vfs.File
	origEdges []int64
}

// rowSlots has the offsets of the arrays of a CSR or CSC in the file.
type rowSlots struct{ ptr, idx, eid int64 }

// Names of the files of a part.
const (
	graphFile    = "graph.dgl"
	nodeFeatFile = "node_feat.dgl"
	edgeFeatFile = "edge_feat.dgl"
	origNodeFile = "orig_nids.dgl"
	origEdgeFile = "orig_eids.dgl"
)

// partFolder is the folder of part p, and partName a file in it.
func partFolder(p int) string { return fmt.Sprintf("part%d", p) }

func partName(p int, file string) string { return partFolder(p) + "/" + file }

// ownHalo is the number of halo edges of part from+i.
func (g *group) ownHalo(i int) uint64 {
	var n uint64
	for _, c := range g.haloEdges[i] {
		n += c
	}
	return n
}

// spec describes the graph of part from+i.
func (g *group) spec(i int) dgl.GraphSpec {
	lo, hi := g.num.owned(g.from + i)
	own := g.firstOf(g.from+i+1) - g.firstOf(g.from+i)
	nodes, edges := int64(hi-lo)+int64(g.halo[i]), int64(own+g.ownHalo(i))
	s := dgl.GraphSpec{Nodes: nodes, Edges: edges, Formats: g.opt.Formats}
	node := func(name string, t dgl.DType) {
		s.NodeData = append(s.NodeData, dgl.Tensor{Name: name, DType: t, Shape: []int64{nodes}})
	}
	edge := func(name string, t dgl.DType) {
		s.EdgeData = append(s.EdgeData, dgl.Tensor{Name: name, DType: t, Shape: []int64{edges}})
	}
	node(idData, dgl.Int64)
	edge(idData, dgl.Int64)
	if g.typed() {
		node(typeData, dgl.Int32)
		edge(typeData, dgl.Int32)
	}
	node(innerNodeData, dgl.Uint8)
	edge(innerEdgeData, dgl.Uint8)
	if g.opt.PartIDs {
		node(partIDData, dgl.Int64)
	}
	return s
}

// Names of the data of a part's graph.
const (
	idData        = "_ID"
	typeData      = "_TYPE"
	innerNodeData = "inner_node"
	innerEdgeData = "inner_edge"
	partIDData    = "part_id"
)

// open creates the graph files of the group, and the files of original ids of edges.
func (g *group) open() (files []*partFile, err error) {
	for i := range g.to - g.from {
		f, err := g.openGraph(i)
		files = append(files, f)
		if err != nil {
			return files, err
		}
		if g.opt.OriginalEdges {
			var layout *dgl.Layout
			layout, f.origEdges = dictLayout(g.origEdgeTensors(), f.p, g.edgeRows)
			if f.edges, err = g.file(partName(f.p, origEdgeFile), layout); err != nil {
				return files, err
			}
		}
	}
	return files, nil
}

// openGraph creates the graph file of part from+i.
func (g *group) openGraph(i int) (_ *partFile, err error) {
	f := &partFile{p: g.from + i}
	s := g.spec(i)
	f.layout = dgl.GraphLayout(s)
	lo, hi := g.num.owned(f.p)
	f.ownNodes, f.haloNodes = int(hi-lo), g.halo[i]
	f.haloEdges = g.ownHalo(i)
	f.ownEdges = uint64(s.Edges) - f.haloEdges
	if f.graph, err = g.file(partName(f.p, graphFile), f.layout); err != nil {
		return f, err
	}
	slots := func(name string) rowSlots {
		return rowSlots{f.layout.Slot(name + "/indptr").Offset, f.layout.Slot(name + "/indices").Offset, f.layout.Slot(name + "/eids").Offset}
	}
	if s.Formats&dgl.CSC != 0 {
		f.csc = slots("csc")
	}
	if s.Formats&dgl.CSR != 0 {
		f.csr = slots("csr")
	}
	switch {
	case s.Formats&dgl.COO != 0:
		f.pairs, f.src, f.dst = f.graph, f.layout.Slot("coo/src").Offset, f.layout.Slot("coo/dst").Offset
	case s.Formats&dgl.CSR != 0 || f.haloEdges > 0:
		if f.pairs, err = g.fs.Temp(g.out.Dir()); err != nil {
			return f, err
		}
		f.scratch, f.dst = true, 8*s.Edges
	}
	return f, nil
}

// origEdgeTensors are the original ids of edges.
func (d *dispatcher) origEdgeTensors() (list []tensor) {
	for e, in := range d.edges {
		list = append(list, tensor{t: e, name: in.name, dtype: dgl.Int64, width: 8})
	}
	return list
}

// closeGraphs closes the files concurrently, because each close waits for the disk.
func closeGraphs(files []*partFile) error {
	var all []vfs.File
	var err error
	for _, f := range files {
		if f == nil {
			continue
		}
		if f.scratch && f.pairs != nil {
			err = errors.Join(err, f.pairs.Close())
		}
		for _, x := range []vfs.File{f.graph, f.edges} {
			if x != nil {
				all = append(all, x)
			}
		}
	}
	return errors.Join(err, closeAll(all))
}

// closing is the number of files that are synced to the disk at a time.
const closing = 8

// closeAll closes every file, even if some fail.
func closeAll(files []vfs.File) error {
	errs := make([]error, len(files))
	_ = spread(context.Background(), closing, len(files), func(_ context.Context, _, i int) error {
		errs[i] = files[i].Close()
		return nil
	})
	return errors.Join(errs...)
}

// folder is where the files of parts are made: the output, or a folder of a worker.
type folder interface {
	Create(name string) (vfs.File, error)
	Dir() string // for temporary files
}

// file creates a file of the output with a layout. Bytes that are never written are zero.
func (g *group) file(name string, l *dgl.Layout) (vfs.File, error) {
	f, err := g.out.Create(name)
	if err != nil {
		return nil, err
	}
	c := counted{f, g.dispatcher}
	if err := errors.Join(f.Truncate(l.Size()), l.WriteLiterals(c)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return c, nil
}

// counted reports the progress of writes.
type counted struct {
	vfs.File
	d *dispatcher
}

// WriteAt implements vfs.File.
func (c counted) WriteAt(b []byte, at int64) (int, error) {
	n, err := c.File.WriteAt(b, at)
	c.d.wrote(n)
	return n, err
}
