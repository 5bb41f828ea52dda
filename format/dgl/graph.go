package dgl

import (
	"errors"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Graphs is an open file of graphs, as save_graphs writes it.
type Graphs struct {
	vfs.File
	// Labels have, by convention, one row per graph.
	Labels  []Array
	offsets []int64 // of each graph, and the end of the last one
}

// Graph is one graph: node types, and relations between them. A homogeneous graph has the node type _N and the
// relation _E.
type Graph struct {
	NodeTypes []NodeType
	Relations []Relation
}

// NodeType is a node type and its data, which have one row per node.
type NodeType struct {
	Name  string
	Nodes int64
	Data  []Array
}

// Relation is an edge type and its data, which have one row per edge.
type Relation struct {
	Name     string
	Src, Dst int // indices of node types
	Edges    int64
	COO      *Pairs
	CSR, CSC *Rows
	Data     []Array
}

// Pairs holds the ends of edges. EdgeIDs is empty if the id of an edge is its index.
type Pairs struct{ Src, Dst, EdgeIDs Array }

// Rows holds the edges of each row: indices[indptr[r]:indptr[r+1]] are the columns. The rows of a CSR are sources,
// the rows of a CSC are destinations. EdgeIDs is empty if the id of an edge is its index.
type Rows struct{ Indptr, Indices, EdgeIDs Array }

// Find returns the node data of a name.
func (t *NodeType) Find(name string) (Array, bool) { return findTensor(t.Data, name) }

// Find returns the edge data of a name.
func (r *Relation) Find(name string) (Array, bool) { return findTensor(r.Data, name) }

// Formats returns the formats in which the relation is stored.
func (r *Relation) Formats() (f Formats) {
	if r.COO != nil {
		f |= COO
	}
	if r.CSR != nil {
		f |= CSR
	}
	if r.CSC != nil {
		f |= CSC
	}
	return f
}

// OpenGraphs opens a file of graphs and reads its index and the headers of its labels.
func OpenGraphs(fsys vfs.FS, name string) (_ *Graphs, err error) {
	f, c, err := openAt(fsys, name, 0)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	c.magic(magicFile, "a file of graphs")
	version, kind := c.u64(), c.u64()
	switch {
	case c.err != nil:
	case version != 2:
		c.fail(8, "found version %d, expected 2; load the file and save it with DGL 0.5 or later", version)
	case kind != 2:
		c.fail(16, "found graph type %d, expected 2; load the file and save it with DGL 0.5 or later", kind)
	}
	n := c.count(1, "graphs")
	c.at = reserved
	first := c.natural("bytes before the first graph")
	g := &Graphs{File: f, Labels: c.named(c.count(leastNamed, "labels"))}
	if c.err == nil && first != c.at {
		c.fail(reserved, "found the first graph at byte %d, expected it at %d, after the labels", first, c.at)
	}
	if err := g.index(c, n); err != nil {
		return nil, err
	}
	return g, nil
}

// index reads the offsets of the graphs. The file ends with a string of n + 1 numbers, the first of which is n,
// followed by its length once more.
func (g *Graphs) index(c *cursor, n int) error {
	begin := c.at
	length := 8 * int64(n+1)
	at := c.size - 16 - length
	if c.err == nil && at < begin {
		c.fail(c.size, "found the end of the file, expected an index of %d graphs; the file is cut", n)
	}
	c.at = at
	for _, want := range []int64{length, int64(n)} {
		if got := c.u64(); c.err == nil && got != uint64(want) {
			c.fail(c.at-8, "found %d, expected %d in the index of %d graphs; the file is cut or was changed", got, want, n)
		}
	}
	for i := 0; i < n && c.err == nil; i++ {
		from := c.natural("as a place")
		if last := begin; i == 0 && from != last || i > 0 && from <= g.offsets[i-1] || from > at {
			c.fail(c.at-8, "found graph %d at byte %d, expected graphs from byte %d to %d, one after another", i, from, begin, at)
		}
		g.offsets = append(g.offsets, from)
	}
	if got := c.u64(); c.err == nil && got != uint64(length) {
		c.fail(c.at-8, "found %d, expected %d, the length of the index", got, length)
	}
	g.offsets = append(g.offsets, at)
	return c.err
}

// Len is the number of graphs.
func (g *Graphs) Len() int { return len(g.offsets) - 1 }

// Graph reads the headers of graph i.
func (g *Graphs) Graph(i int) (*Graph, error) {
	c, err := newCursor(g.File, g.offsets[i])
	if err != nil {
		return nil, err
	}
	c.size = min(c.size, g.offsets[i+1])
	x := c.graph()
	if c.err == nil && c.at != c.size {
		c.fail(c.at, "found %d bytes after the graph, expected the next graph or the index", c.size-c.at)
	}
	if c.err != nil {
		return nil, c.err
	}
	return x, nil
}

// maxTypes bounds the numbers of node types and of relations.
const maxTypes = 1 << 16

func (c *cursor) graph() *Graph {
	g := &Graph{}
	c.magic(magicHetero, "a graph")
	at := c.at
	types, ends := c.meta()
	if n := c.count(1, "relations"); c.err == nil && n != len(ends) {
		c.fail(at, "found %d relations, expected %d, as in the graph of types", n, len(ends))
	}
	var counts []counted
	for i := range ends {
		if c.err != nil {
			return nil
		}
		r := Relation{Src: ends[i][0], Dst: ends[i][1]}
		counts = append(counts, c.relation(&r))
		g.Relations = append(g.Relations, r)
	}
	at = c.at
	if n := c.count(8, "node types"); c.err == nil && n != types {
		c.fail(at, "found %d node types, expected %d, as in the graph of types", n, types)
	}
	for range types {
		if c.err != nil {
			return nil
		}
		g.NodeTypes = append(g.NodeTypes, NodeType{Nodes: c.natural("nodes")})
	}
	for i, r := range g.Relations {
		if src, dst := g.NodeTypes[r.Src].Nodes, g.NodeTypes[r.Dst].Nodes; c.err == nil && (counts[i].src != src || counts[i].dst != dst) {
			c.fail(counts[i].at, "found a relation between %d and %d nodes, expected %d and %d", counts[i].src, counts[i].dst, src, dst)
		}
	}
	c.data(len(g.NodeTypes), func(i int) (*[]Array, int64) { return &g.NodeTypes[i].Data, g.NodeTypes[i].Nodes })
	c.data(len(g.Relations), func(i int) (*[]Array, int64) { return &g.Relations[i].Data, g.Relations[i].Edges })
	c.names(len(g.NodeTypes), func(i int, name string) { g.NodeTypes[i].Name = name })
	c.names(len(g.Relations), func(i int, name string) { g.Relations[i].Name = name })
	return g
}

// meta reads the graph of types, which gives the ends of each relation.
func (c *cursor) meta() (types int, ends [][2]int) {
	at := c.at
	c.magic(magicMeta, "a graph of types")
	rows, cols, m := c.rows()
	switch {
	case c.err != nil:
		return 0, nil
	case rows != cols || rows == 0 || rows > maxTypes || m.Indices.Rows() > maxTypes:
		c.fail(at, "found a graph of %d and %d types with %d relations, expected equal numbers of types, from 1 to %[4]d, and at most %[4]d relations", rows, cols, m.Indices.Rows(), maxTypes)
		return 0, nil
	}
	indptr, indices, ids := c.small(m.Indptr), c.small(m.Indices), c.small(m.EdgeIDs)
	if c.err != nil {
		return 0, nil
	}
	ends = make([][2]int, len(indices))
	seen := make([]bool, len(indices))
	for r := range int(rows) {
		from, to := indptr[r], indptr[r+1]
		if from < 0 || to < from || to > int64(len(indices)) || r == 0 && from != 0 || r == int(rows)-1 && to != int64(len(indices)) {
			c.fail(m.Indptr.Offset, "found offsets %d and %d of the relations of type %d, expected them to ascend from 0 to %d", from, to, r, len(indices))
			return 0, nil
		}
		for i := from; i < to; i++ {
			id := i
			if len(ids) > 0 {
				id = ids[i]
			}
			if id < 0 || id >= int64(len(ends)) || seen[id] || indices[i] < 0 || indices[i] >= rows {
				c.fail(m.Indices.Offset, "found relation %d to type %d, expected each relation once, below %d, to types below %d", id, indices[i], len(ends), rows)
				return 0, nil
			}
			seen[id] = true
			ends[id] = [2]int{r, int(indices[i])}
		}
	}
	return int(rows), ends
}

// small reads the ids of an array that is known to be small.
func (c *cursor) small(a Array) []int64 {
	list := make([]int64, a.Rows())
	var r IntReader
	if err := r.Read(c.file, a, 0, list); err != nil && c.err == nil {
		c.err = err
	}
	return list
}

// counted holds the numbers of nodes that a matrix declares, and the byte offset at which it does.
type counted struct{ src, dst, at int64 }

func (c *cursor) relation(r *Relation) (n counted) {
	c.magic(magicUnitGraph, "a relation")
	at := c.at
	saved := c.u64()
	c.u64() // the formats that DGL may create
	// Older files have a number instead of bits: 1 COO, 2 CSR, 3 CSC.
	bits := Formats(saved)
	if saved>>32 == 0 && saved >= 1 && saved <= 3 {
		bits = 1 << (saved - 1)
	} else if saved>>32 != 1 || uint32(saved) == 0 || uint32(saved) > 7 {
		c.fail(at, "found formats %#x, expected bits for COO (1), CSR (2) and CSC (4)", saved)
	}
	first := true
	agree := func(src, dst, edges int64) {
		if first {
			n, r.Edges, first = counted{src, dst, at}, edges, false
		} else if n.src != src || n.dst != dst || r.Edges != edges {
			c.fail(at, "found matrices of %d and %d edges between %d, %d and %d, %d nodes, expected the same numbers in all formats", r.Edges, edges, n.src, n.dst, src, dst)
		}
	}
	for _, f := range []Formats{COO, CSR, CSC} {
		if bits&f == 0 || c.err != nil {
			continue
		}
		at = c.at
		c.meta()
		switch f {
		case COO:
			src, dst, p := c.pairs()
			r.COO = p
			agree(src, dst, p.Src.Rows())
		case CSR:
			src, dst, m := c.rows()
			r.CSR = m
			agree(src, dst, m.Indices.Rows())
		case CSC:
			dst, src, m := c.rows()
			r.CSC = m
			agree(src, dst, m.Indices.Rows())
		}
	}
	return n
}

func (c *cursor) pairs() (src, dst int64, p *Pairs) {
	at := c.at
	c.magic(magicCOO, "a COO matrix")
	dst, src = c.natural("columns"), c.natural("rows")
	p = &Pairs{Src: c.array("src"), Dst: c.array("dst"), EdgeIDs: c.array("edge ids")}
	c.next(2) // whether it is sorted, which only DGL uses
	c.ids(at, p.Src, p.Src.Rows(), p.Src.DType)
	c.ids(at, p.Dst, p.Src.Rows(), p.Src.DType)
	c.edgeIDs(at, p.EdgeIDs, p.Src)
	return src, dst, p
}

func (c *cursor) rows() (rows, cols int64, m *Rows) {
	at := c.at
	c.magic(magicCSR, "a CSR matrix")
	cols, rows = c.natural("columns"), c.natural("rows")
	m = &Rows{Indptr: c.array("indptr"), Indices: c.array("indices"), EdgeIDs: c.array("edge ids")}
	c.u8() // whether it is sorted
	if c.err == nil && rows >= c.size {
		c.fail(at, "found %d rows, expected fewer than the file has bytes", rows)
	}
	c.ids(at, m.Indptr, rows+1, m.Indptr.DType)
	c.ids(at, m.Indices, m.Indices.Rows(), m.Indptr.DType)
	c.edgeIDs(at, m.EdgeIDs, m.Indices)
	return rows, cols, m
}

// ids checks that an array is a list of n ids.
func (c *cursor) ids(at int64, a Array, n int64, like DType) {
	if c.err == nil && (len(a.Shape) != 1 || a.Shape[0] != n || a.DType != like || a.DType != Int32 && a.DType != Int64) {
		c.fail(at, "found %s of %s %v, expected shape [%d] and dtype int64 or int32, the same in all arrays", a.Name, a.DType, a.Shape, n)
	}
}

// edgeIDs checks that an array is empty or has an id for each edge.
func (c *cursor) edgeIDs(at int64, a, edges Array) {
	if len(a.Shape) != 1 || a.Shape[0] != 0 {
		c.ids(at, a, edges.Rows(), edges.DType)
	}
}

// data reads the data of n types. of returns where the data of type i are stored and how many rows they have.
func (c *cursor) data(n int, of func(i int) (*[]Array, int64)) {
	at := c.at
	if got := c.count(8, "types with data"); c.err == nil && got != n {
		c.fail(at, "found data of %d types, expected %d", got, n)
	}
	for i := range n {
		if c.err != nil {
			return
		}
		list, rows := of(i)
		at := c.at
		*list = c.named(c.count(leastNamed, "tensors"))
		for _, a := range *list {
			if len(a.Shape) == 0 || a.Rows() != rows {
				c.fail(at, "found %q of shape %v, expected %d rows, one per node or edge", a.Name, a.Shape, rows)
			}
		}
	}
}

func (c *cursor) names(n int, set func(i int, name string)) {
	at := c.at
	if got := c.count(8, "names of types"); c.err == nil && got != n {
		c.fail(at, "found %d names of types, expected %d", got, n)
	}
	for i := range n {
		if c.err != nil {
			return
		}
		set(i, c.text("a name"))
	}
}
