package parts

import (
	"context"
	"encoding/binary"
	"errors"
	"sort"
	"strings"

	"github.com/graphmill/graphmill/format/dgl"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Part is one part: a homogeneous graph of the nodes that the part owns, followed by its halo nodes, with
// their ids and types in the whole graph.
type Part struct {
	Index                         int
	GraphFile, NodeFile, EdgeFile string
	Graph                         *dgl.Graph
	Nodes, Edges                  int64 // stored, including the halo
	// FirstNode and FirstEdge are the new ids of the first node and edge that the part owns, OwnedNodes and
	// OwnedEdges their numbers, from the configuration.
	FirstNode, FirstEdge   int64
	OwnedNodes, OwnedEdges int64
	// NodeID and EdgeID are the new ids of the part's nodes and edges. NodeType, EdgeType and Owner are empty
	// if they are not stored.
	NodeID, InnerNode, NodeType, Owner Ints
	EdgeID, InnerEdge, EdgeType        Ints
	// Src and Dst are the local ids of the ends of the part's edges, by edge id. Ends fills them.
	Src, Dst Ints
	// NodeFeats and EdgeFeats have a row per node or edge that the part owns.
	NodeFeats, EdgeFeats []Feature

	config  *dgl.Config
	graph   []byte // the mapped file
	maps    [][]byte
	closers []func() error
}

// Feature is a column of a type in one part.
type Feature struct {
	Type int // index of the type in the configuration
	Name string
	dgl.Array
	Data []byte
}

// Ints is a mapped array of integers of any width, or the rows of the places of a matrix.
type Ints struct {
	b     []byte
	dtype dgl.DType
	rows  *RowIndex // instead of both
}

// Len is the number of values.
func (x Ints) Len() int64 {
	if len(x.b) == 0 {
		return 0
	}
	return int64(len(x.b)) / x.dtype.Size()
}

// At is value i.
func (x Ints) At(i int64) int64 {
	switch x.dtype {
	case dgl.Int64:
		return int64(binary.LittleEndian.Uint64(x.b[8*i:]))
	case dgl.Int32:
		return int64(int32(binary.LittleEndian.Uint32(x.b[4*i:])))
	case dgl.Int16:
		return int64(int16(binary.LittleEndian.Uint16(x.b[2*i:])))
	case dgl.Uint32: // only Ends makes these
		return int64(binary.LittleEndian.Uint32(x.b[4*i:]))
	}
	if x.rows != nil {
		return x.rows.At(i)
	}
	return int64(x.b[i])
}

func ints(m []byte, a dgl.Array) Ints { return Ints{b: m[a.Offset:][:a.Size], dtype: a.DType} }

// Pieces is one list of ids that several files hold.
type Pieces struct {
	files []string
	ends  []int64
	ids   []Ints
}

func (x *Pieces) add(file string, m []byte, a dgl.Array) {
	x.files, x.ids, x.ends = append(x.files, file), append(x.ids, ints(m, a)), append(x.ends, x.Len()+a.Rows())
}

// Len is the number of ids.
func (x *Pieces) Len() int64 {
	if len(x.ends) == 0 {
		return 0
	}
	return x.ends[len(x.ends)-1]
}

// At is id i.
func (x *Pieces) At(i int64) int64 {
	k := x.piece(i)
	return x.ids[k].At(i - x.ends[k] + x.ids[k].Len())
}

// File is the name of the file that holds id i.
func (x *Pieces) File(i int64) string { return x.files[x.piece(i)] }

func (x *Pieces) piece(i int64) int {
	if len(x.ends) == 1 {
		return 0
	}
	return sort.Search(len(x.ends), func(k int) bool { return x.ends[k] > i })
}

// own maps a file until the folder is closed. The file itself is closed, because many parts have more files
// than a process may keep open.
func (p *Part) own(f vfs.File) ([]byte, error) {
	m, unmap, err := f.Map()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p.closers = append(p.closers, unmap)
	p.maps = append(p.maps, m)
	return m, f.Close()
}

func (p *Part) dict(fsys vfs.FS, file string) (*dgl.Dict, []byte, error) {
	d, err := dgl.OpenDict(fsys, file)
	if err != nil {
		return nil, nil, err
	}
	m, err := p.own(d.File)
	return d, m, err
}

func (p *Part) open(fsys vfs.FS) error {
	c := p.config
	at := func(types []dgl.TypeRanges) (first, n int64) {
		for q := range p.Index {
			for _, t := range types {
				first += t.Ranges[q][1] - t.Ranges[q][0]
			}
		}
		for _, t := range types {
			n += t.Ranges[p.Index][1] - t.Ranges[p.Index][0]
		}
		return first, n
	}
	p.FirstNode, p.OwnedNodes = at(c.Nodes)
	p.FirstEdge, p.OwnedEdges = at(c.Edges)
	if err := p.openGraph(fsys); err != nil {
		return err
	}
	var err error
	if p.NodeFeats, err = p.features(fsys, p.NodeFile, c.Nodes); err != nil {
		return err
	}
	p.EdgeFeats, err = p.features(fsys, p.EdgeFile, c.Edges)
	return err
}

func (p *Part) openGraph(fsys vfs.FS) error {
	f, err := dgl.OpenGraphs(fsys, p.GraphFile)
	if err != nil {
		return err
	}
	if f.Len() != 1 {
		return errors.Join(badf("%s: found %d graphs, expected one, the part", p.GraphFile, f.Len()), f.Close())
	}
	if p.Graph, err = f.Graph(0); err != nil {
		return errors.Join(err, f.Close())
	}
	if p.graph, err = p.own(f.File); err != nil {
		return err
	}
	if len(p.Graph.NodeTypes) != 1 || len(p.Graph.Relations) != 1 {
		return badf("%s: found %d node types and %d relations, expected one of each, because parts are homogeneous graphs", p.GraphFile, len(p.Graph.NodeTypes), len(p.Graph.Relations))
	}
	nodes, edges := &p.Graph.NodeTypes[0], &p.Graph.Relations[0]
	p.Nodes, p.Edges = nodes.Nodes, edges.Edges
	if p.Nodes < p.OwnedNodes || p.Edges < p.OwnedEdges {
		return badf("%s: found %d nodes and %d edges, expected at least the %d and %d that the part owns", p.GraphFile, p.Nodes, p.Edges, p.OwnedNodes, p.OwnedEdges)
	}
	typed := len(p.config.Nodes) > 1 || len(p.config.Edges) > 1
	for _, x := range []struct {
		find func(string) (dgl.Array, bool)
		what string
		name string
		to   *Ints
		must bool
		ok   []dgl.DType
	}{
		{nodes.Find, "node", "_ID", &p.NodeID, true, []dgl.DType{dgl.Int64}},
		{nodes.Find, "node", "inner_node", &p.InnerNode, true, []dgl.DType{dgl.Uint8, dgl.Int8, dgl.Int32, dgl.Int64}},
		{nodes.Find, "node", "part_id", &p.Owner, false, []dgl.DType{dgl.Int64, dgl.Int32, dgl.Uint8, dgl.Int16}},
		{nodes.Find, "node", "_TYPE", &p.NodeType, typed, []dgl.DType{dgl.Int32, dgl.Int16, dgl.Int64, dgl.Uint8}},
		{edges.Find, "edge", "_ID", &p.EdgeID, true, []dgl.DType{dgl.Int64}},
		{edges.Find, "edge", "inner_edge", &p.InnerEdge, true, []dgl.DType{dgl.Uint8, dgl.Int8, dgl.Int32, dgl.Int64}},
		{edges.Find, "edge", "_TYPE", &p.EdgeType, typed, []dgl.DType{dgl.Int32, dgl.Int16, dgl.Int64, dgl.Uint8}},
	} {
		a, ok := x.find(x.name)
		if !ok && !x.must {
			continue
		}
		known := false
		for _, d := range x.ok {
			known = known || a.DType == d
		}
		if !ok || !known || len(a.Shape) != 1 {
			return badf("%s: found %s as %s data %q, expected %s with one value per row; the part is damaged; partition the graph again", p.GraphFile, describe(a, ok), x.what, x.name, x.ok[0])
		}
		*x.to = ints(p.graph, a)
	}
	return nil
}

// features lists the tensors in a file of features, which are named TYPE/NAME.
func (p *Part) features(fsys vfs.FS, file string, types []dgl.TypeRanges) ([]Feature, error) {
	d, m, err := p.dict(fsys, file)
	if err != nil {
		return nil, err
	}
	var list []Feature
	for _, a := range d.Tensors {
		typ, name, ok := strings.Cut(a.Name, "/")
		f := Feature{Type: -1, Name: name, Array: a, Data: m[a.Offset:][:a.Size]}
		for t := range types {
			if types[t].Name == typ {
				f.Type = t
			}
		}
		if !ok || f.Type < 0 || name == "" || strings.Contains(name, "/") {
			return nil, badf("%s: found the tensor %q, expected TYPE/NAME with a type of the configuration; rename the tensor", file, a.Name)
		}
		r := types[f.Type].Ranges[p.Index]
		if rows := r[1] - r[0]; len(a.Shape) == 0 || a.Rows() != rows {
			return nil, badf("%s: found %q of shape %v, expected %d rows, one per row that the part owns; the part is damaged; partition the graph again", file, a.Name, a.Shape, rows)
		}
		list = append(list, f)
	}
	return list, nil
}

// Edge is an edge of a part, with local ids.
type Edge struct{ ID, Src, Dst int64 }

// Each calls fn for each edge, in the first format that the part has, of the formats in of, in the order COO,
// CSC, CSR. The ids that it passes are not checked.
func (p *Part) Each(ctx context.Context, of dgl.Formats, fn func(Edge) error) error {
	r := &p.Graph.Relations[0]
	switch {
	case of&dgl.COO != 0 && r.COO != nil:
		src, dst, id := ints(p.graph, r.COO.Src), ints(p.graph, r.COO.Dst), p.idsOf(r.COO.EdgeIDs)
		for i := range p.Edges {
			if i&0xffff == 0 {
				if err := context.Cause(ctx); err != nil {
					return err
				}
			}
			if err := fn(Edge{id(i), src.At(i), dst.At(i)}); err != nil {
				return err
			}
		}
		return nil
	case of&dgl.CSC != 0 && r.CSC != nil:
		return p.eachRow(ctx, r.CSC, "csc", func(row, col, id int64) error { return fn(Edge{id, col, row}) })
	case of&dgl.CSR != 0 && r.CSR != nil:
		return p.eachRow(ctx, r.CSR, "csr", func(row, col, id int64) error { return fn(Edge{id, row, col}) })
	}
	return badf("%s: found no edges, expected COO, CSC or CSR; partition the graph again with one of these formats", p.GraphFile)
}

// idsOf returns the edge ids of a matrix; without stored ids they equal the positions.
func (p *Part) idsOf(a dgl.Array) func(i int64) int64 {
	if a.Rows() == 0 {
		return func(i int64) int64 { return i }
	}
	return ints(p.graph, a).At
}

func (p *Part) eachRow(ctx context.Context, m *dgl.Rows, name string, fn func(row, col, id int64) error) error {
	indptr, indices, id := ints(p.graph, m.Indptr), ints(p.graph, m.Indices), p.idsOf(m.EdgeIDs)
	if first := indptr.At(0); first != 0 {
		return badf("%s: %s: found the first offset %d, expected 0; the part is damaged; partition the graph again", p.GraphFile, name, first)
	}
	if p.Nodes == 0 && p.Edges > 0 {
		return badf("%s: %s: found %d edges and no nodes, expected nodes; the part is damaged; partition the graph again", p.GraphFile, name, p.Edges)
	}
	at := int64(0)
	for row := range p.Nodes {
		if row&0xffff == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
		end := indptr.At(row + 1)
		if end < at || end > p.Edges || row == p.Nodes-1 && end != p.Edges {
			return badf("%s: %s: found the offset %d after row %d, expected offsets that ascend from %d to %d at the last; the part is damaged; partition the graph again", p.GraphFile, name, end, row, at, p.Edges)
		}
		for ; at < end; at++ {
			if err := fn(row, indices.At(at), id(at)); err != nil {
				return err
			}
		}
	}
	return nil
}
