package graph

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// EdgeType names an edge type by its source type, relation and destination type.
type EdgeType struct{ Src, Rel, Dst string }

// HomogeneousNode is the node type of a graph without types.
const HomogeneousNode = "_N"

// HomogeneousEdge is the edge type of a graph without types.
var HomogeneousEdge = EdgeType{HomogeneousNode, "_E", HomogeneousNode}

// PositionColumn is the column of an edge type with the row of each edge in its input, as uint32 or uint64. It
// describes how the graph was made.
const PositionColumn = "#input_position"

// PieceOf returns the feature of which a column holds some numbers as codes: the column "#x.1" is a piece of the feature x. Batches and
// outputs have the feature with its numbers in place of its pieces.
func PieceOf(column string) (feature string, is bool) {
	feature, is = strings.CutPrefix(column, "#")
	dot := strings.LastIndexByte(feature, '.')
	if !is || dot < 1 || dot == len(feature)-1 || strings.Trim(feature[dot+1:], "0123456789") != "" {
		return "", false
	}
	return feature[:dot], true
}

// Pieced returns the features of which columns are pieces, each once, in the order of the columns.
func Pieced(columns []*Column) (features []string) {
	for _, c := range columns {
		if f, is := PieceOf(c.Name); is && !slices.Contains(features, f) {
			features = append(features, f)
		}
	}
	return features
}

// String is "src:rel:dst".
func (e EdgeType) String() string { return e.Src + ":" + e.Rel + ":" + e.Dst }

// ParseEdgeType reads "src:rel:dst".
func ParseEdgeType(s string) (EdgeType, error) {
	p := strings.Split(s, ":")
	if len(p) != 3 || slices.Contains(p, "") {
		return EdgeType{}, fmt.Errorf("found edge type %q, expected src:rel:dst with three names that are not empty", s)
	}
	return EdgeType{p[0], p[1], p[2]}, nil
}

// CheckName refuses names that no node type or relation can have: empty names, and names with ':' or control
// characters.
func CheckName(s string) error {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r == ':' || r < ' ' || r == 0x7f }) {
		return fmt.Errorf("found type name %q, expected a name that is not empty and has no ':' or control character", s)
	}
	return nil
}

// Direction is the end of an edge that a walk starts from.
type Direction uint8

// In walks from destinations to their sources, Out from sources to destinations.
const (
	In Direction = iota
	Out
)

// String is "in" or "out".
func (d Direction) String() string {
	if d == Out {
		return "out"
	}
	return "in"
}

// ParseDirection reads "in" or "out".
func ParseDirection(s string) (Direction, error) {
	switch s {
	case "in":
		return In, nil
	case "out":
		return Out, nil
	}
	return In, fmt.Errorf("found direction %q, expected in or out", s)
}

// Near is the node type that the direction starts from.
func (e EdgeType) Near(d Direction) string {
	if d == In {
		return e.Dst
	}
	return e.Src
}

// Far is the node type that the direction reaches.
func (e EdgeType) Far(d Direction) string { return e.Near(1 - d) }

// Index is a list of offsets or ids, in 32 bits where they fit. One field is set. The empty list has neither.
type Index struct {
	U32 []uint32
	U64 []uint64
}

// Len is the number of elements.
func (x Index) Len() int { return max(len(x.U32), len(x.U64)) }

// At is element i.
func (x Index) At(i int) uint64 {
	if x.U32 != nil {
		return uint64(x.U32[i])
	}
	return x.U64[i]
}

// width is the bytes per element.
func (x Index) width() int64 {
	if x.U32 != nil {
		return 4
	}
	return 8
}

// CheckOffsets refuses a list of offsets that does not start at 0, ascend and end at end.
func (x Index) CheckOffsets(end int) error {
	n, last := x.Len(), uint64(0)
	for i := range n {
		at := x.At(i)
		if at < last || i == 0 && at != 0 || i == n-1 && at != uint64(end) {
			return fmt.Errorf("found offset %d at %d, expected offsets that ascend from 0 to %d", at, i, end)
		}
		last = at
	}
	return nil
}

// Adjacency lists the edges of one type by their near node. The edges of node v are Far[Indptr.At(v):Indptr.At(v+1)],
// by ascending edge id.
type Adjacency struct {
	Indptr Index // nodes of the near type + 1
	Far    Index // the other end of each edge
	EdgeID Index // the id of each edge; empty where it is the position in Far
	// Ends, if it is not empty, holds for each near node the position after its last edge. The list of node v is then Indptr[v] to Ends[v], lists are in any order, and
	// Far and the columns also have rows that belong to no list. The offsets and far ends have been checked. Only a graph that a server opens for sampling has it.
	Ends Index
}

// RowBytes is the bytes of the offsets and far ends of the nodes [from, to).
func (a *Adjacency) RowBytes(from, to int) int64 {
	if from == to {
		return 0
	}
	return a.Indptr.width()*int64(to-from) + a.Far.width()*int64(a.Indptr.At(to)-a.Indptr.At(from))
}

// Column is a typed array with one row per node, edge or graph.
//
// Values holds the values of all rows, little-endian and row-major. For strings it holds their bytes, and StringOffsets
// (values + 1 offsets) bounds each string.
//
// Each variable dimension (-1) has a list in Offsets, the outermost first, which bounds the elements of the dimension.
// From the left of Shape, n starts as the number of rows. A fixed dimension d multiplies n by d. A variable dimension
// has n + 1 offsets, and n becomes the last of them. At the end n is the number of values.
type Column struct {
	Name  string
	DType DType
	// Shape is the shape of one row. It is empty for a scalar, and has -1 for a variable dimension.
	Shape         []int
	Rows          int
	Values        []byte
	Offsets       []Index
	StringOffsets Index
	// Unit is set for a column of times, whose dtype is Int64. A time that is missing is NoTime.
	Unit Unit
	// Categories is set for a column of categories, whose dtype is Int32: a column of strings. Each value is the row of
	// its text in Categories, or -1 where the value is missing.
	Categories *Column
}

// NoTime is the value of a missing time in a column of times, as in NumPy (NaT).
const NoTime int64 = math.MinInt64

// Ragged says whether a row has a variable number of values.
func (c *Column) Ragged() bool { return slices.Contains(c.Shape, -1) }

// Span is the values [from, to) of the rows [first, last) of a column.
func (c *Column) Span(first, last int) (from, to int) {
	from, to = first, last
	k := 0
	for _, d := range c.Shape {
		if d != -1 {
			from, to = from*d, to*d
			continue
		}
		from, to = int(c.Offsets[k].At(from)), int(c.Offsets[k].At(to))
		k++
	}
	return from, to
}

// CheckOffsets refuses a column with offsets that do not lead to its elements, values and bytes, so that others can
// follow them without checks.
func (c *Column) CheckOffsets() error {
	n, k := c.Rows, 0
	for _, d := range c.Shape {
		if d != -1 {
			n *= d
			continue
		}
		if k == len(c.Offsets) || c.Offsets[k].Len() != n+1 {
			return fmt.Errorf("found %d lists of offsets for shape %v and %d rows, expected one per variable dimension, each of the length that the one before it ends with", len(c.Offsets), c.Shape, c.Rows)
		}
		end := c.Offsets[k].At(n)
		if err := c.Offsets[k].CheckOffsets(int(end)); err != nil {
			return err
		}
		n = int(end)
		k++
	}
	if c.DType == String {
		if c.StringOffsets.Len() != n+1 {
			return fmt.Errorf("found %d offsets of strings, expected %d", c.StringOffsets.Len(), n+1)
		}
		return c.StringOffsets.CheckOffsets(len(c.Values))
	}
	if len(c.Values) != n*c.DType.Size() {
		return fmt.Errorf("found %d bytes of values, expected %d values of %s", len(c.Values), n, c.DType)
	}
	return nil
}

// RowValues is the number of values in a row of fixed shape.
func (c *Column) RowValues() int {
	n := 1
	for _, d := range c.Shape {
		n *= d
	}
	return n
}

// RowBytes is the width of a row of fixed shape and numbers.
func (c *Column) RowBytes() int { return c.RowValues() * c.DType.Size() }

// Row is the bytes of row i of a column of fixed shape and numbers.
func (c *Column) Row(i int) []byte {
	w := c.RowBytes()
	return c.Values[i*w : (i+1)*w : (i+1)*w]
}

// Text is value i of a column of strings (rows * RowValues values).
func (c *Column) Text(i int) []byte {
	return c.Values[c.StringOffsets.At(i):c.StringOffsets.At(i+1)]
}

// Nodes is a node type.
type Nodes struct {
	Type    string
	Count   int
	Columns []*Column // by name, in byte order
	// IDs holds the original ids (a scalar column of strings or integers). It is nil where the user has given type-wise
	// ids.
	IDs *Column
	// Added is the number of nodes, at the end, that have no row in the node table and occur only in edges. Their
	// columns are zeros and empty.
	Added int
}

// Edges is an edge type.
type Edges struct {
	Type    EdgeType
	Count   int
	Primary Direction
	// Adj is by direction. The primary one always exists; the other may be nil.
	Adj     [2]*Adjacency
	Columns []*Column // by name, in byte order; rows in edge-id order
	// NoPositions says that the order of the edges in the input is not known. If it is false, PositionColumn has that
	// order; without that column, the edge ids are in it.
	NoPositions bool
}

// Ends returns the source and the destination of edge id, which is less than Count. It takes time that is logarithmic in the number of
// nodes.
func (e *Edges) Ends(id int) (src, dst uint64) {
	a := e.Adj[e.Primary]
	near := uint64(sort.Search(a.Indptr.Len()-1, func(v int) bool { return a.Indptr.At(v+1) > uint64(id) }))
	far := a.Far.At(id)
	if e.Primary == In {
		return far, near
	}
	return near, far
}

// Graph is a graph of typed nodes and edges.
type Graph struct {
	// Context is columns of the whole graph, by name; mostly with one row.
	Context []*Column
	Nodes   []*Nodes // in byte order of the type
	Edges   []*Edges // in byte order of "src:rel:dst"
}

// Sort sorts types and columns. Builders call it once.
func (g *Graph) Sort() {
	sort.Slice(g.Nodes, func(i, j int) bool { return g.Nodes[i].Type < g.Nodes[j].Type })
	sort.Slice(g.Edges, func(i, j int) bool { return g.Edges[i].Type.String() < g.Edges[j].Type.String() })
	byName := func(cs []*Column) { sort.Slice(cs, func(i, j int) bool { return cs[i].Name < cs[j].Name }) }
	byName(g.Context)
	for _, n := range g.Nodes {
		byName(n.Columns)
	}
	for _, e := range g.Edges {
		byName(e.Columns)
	}
}

// NodeType is the number of a node type, -1 if there is none.
func (g *Graph) NodeType(name string) int {
	return slices.IndexFunc(g.Nodes, func(n *Nodes) bool { return n.Type == name })
}

// EdgeType is the number of an edge type, given by its full name, or by its relation where that is unique.
func (g *Graph) EdgeType(name string) (int, error) {
	found := -1
	for i, e := range g.Edges {
		if e.Type.String() == name {
			return i, nil
		}
		if e.Type.Rel == name {
			if found >= 0 {
				return -1, fmt.Errorf("found relation %q in both %s and %s; name the edge type in full, as src:rel:dst", name, g.Edges[found].Type, e.Type)
			}
			found = i
		}
	}
	if found < 0 {
		var have []string
		for _, e := range g.Edges {
			have = append(have, e.Type.String())
		}
		return -1, fmt.Errorf("found edge type %q, expected one of %s", name, strings.Join(have, ", "))
	}
	return found, nil
}

// FindColumn is the column of that name, nil if there is none.
func FindColumn(cs []*Column, name string) *Column {
	for _, c := range cs {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Bytes is the memory of the list.
func (x Index) Bytes() int64 { return int64(4*len(x.U32) + 8*len(x.U64)) }

// Bytes is the memory of the adjacency.
func (a *Adjacency) Bytes() int64 { return a.Indptr.Bytes() + a.Far.Bytes() + a.EdgeID.Bytes() }

// Bytes is the memory of the column.
func (c *Column) Bytes() int64 {
	n := int64(len(c.Values)) + c.StringOffsets.Bytes()
	for _, x := range c.Offsets {
		n += x.Bytes()
	}
	return n
}
