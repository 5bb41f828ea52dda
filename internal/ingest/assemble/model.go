package assemble

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// typeColumn and typeWiseIDColumn are the columns that a homogeneous graph keeps of its types: the number of the
// type, in sorted order of the names, and the id within the type.
const (
	typeColumn       = "#type"
	typeWiseIDColumn = "#type_wise_id"
)

// nodeType is a node type of the input.
type nodeType struct {
	*Nodes
	stats NodesResult
	// keyed: ends are found by hash. Otherwise ends are type-wise ids.
	keyed bool
	// known: count is final, and larger ends dangle. Otherwise count is the largest end so far + 1.
	known bool
	count uint64
	// counted: count was found from the edges, so no edge dangles because of it.
	counted bool
	offset  uint64 // id of the first node in a homogeneous graph
	number  int    // index in sorted order

	keys    *keys
	buckets int       // number of buckets of keys and refs
	dropped *bitmap   // rows of the table that do not become nodes; nil: none
	sink    *nodeSink // waits for the nodes that edges add
	// texts writes the keys of the nodes that edges add to a column of ids, from node number first on.
	texts    func(ctx context.Context, to *nodeColumn, first uint64) error
	addedIDs *chunks // what texts reads, of a Join
	lookup   *lookup // used while edges are read; nil: the ends are joined
}

// part is an edge type of the input.
type part struct {
	*Edges
	stats   EdgesResult
	src     end
	dst     end
	scanned bool        // scanned for keys, with the counts in keyed
	keyed   EdgesResult // rows that the scan for keys left out
	refs    []*refs     // ends that are keys, by node type
	rows    uint64
	base    uint64 // first position in a homogeneous graph
	run     bool   // the table is a run of rows of the table of the edges
	first   uint64 // the first of these rows
}

// end is one end of the edges of a part.
type end struct {
	t      *nodeType
	column table.Column // no name: the row number
	refs   *refs        // set for a keyed end
	slot   int          // slot in refs
	given  bool         // a keyed end is found by partScan.resolve
	number bool         // a type-wise id, even if the node type is keyed
}

func (e end) isRow() bool { return e.column.Name == "" }

// marked says whether an end's value is the given mark, which stands for no id. Ends that are ids themselves have no
// marks, since an id in the input can be any number.
func (e end) marked(v, mark uint64) bool { return e.t.keyed && !e.number && v == mark }
func (e end) isKeyed() bool              { return !e.isRow() && e.t.keyed && !e.number }

// isRefs says whether an end is found by a join.
func (e end) isRefs() bool { return e.isKeyed() && e.t.lookup == nil && !e.given }

// model checks the input and sorts it.
func (b *builder) model() error {
	for i := range b.in.Nodes {
		n := &b.in.Nodes[i]
		if err := graph.CheckName(n.Type); err != nil {
			return err
		}
		if b.nodes[n.Type] != nil {
			return fmt.Errorf("found node type %q twice, expected one table per type", n.Type)
		}
		if err := checkColumns(n.Columns, n.OfStore); err != nil {
			return fmt.Errorf("node type %s: %w", n.Type, err)
		}
		if n.ID.Name != "" && n.ID.DType != graph.Uint64 && n.ID.DType != graph.String {
			return fmt.Errorf("node type %s: found ids of dtype %s, expected uint64 or string", n.Type, n.ID.DType)
		}
		t := &nodeType{Nodes: n, stats: NodesResult{Type: n.Type}}
		t.keyed = n.ID.DType == graph.String && (n.ID.Name != "" || n.Table == nil)
		if n.Table == nil && n.ID.DType == graph.Invalid {
			t.keyed = b.endsAreKeys(n.Type)
		}
		if n.Table == nil {
			if len(n.Columns) > 0 {
				return fmt.Errorf("node type %s: found columns, expected a table that has them", n.Type)
			}
			if n.Count > 0 && t.keyed {
				return fmt.Errorf("node type %s: found a number of nodes together with string ids, expected it with integer ids only", n.Type)
			}
			if n.Count > maxUnknown {
				return fmt.Errorf("node type %s: found %d as the number of nodes, expected at most %d; give the actual number", n.Type, n.Count, uint64(maxUnknown))
			}
			t.known, t.count = n.Count > 0, n.Count
		}
		b.nodes[n.Type] = t
		b.types = append(b.types, t)
	}
	slices.SortFunc(b.types, func(x, y *nodeType) int { return strings.Compare(x.Type, y.Type) })
	for i, t := range b.types {
		t.number = i
	}
	if c := b.in.Context; c != nil {
		if err := checkColumns(c.Columns, false); err != nil {
			return fmt.Errorf("context: %w", err)
		}
	}
	seen := map[string]bool{}
	for i := range b.in.Edges {
		e := &b.in.Edges[i]
		if err := b.edgeModel(e); err != nil {
			return fmt.Errorf("edge type %s: %w", e.Type, err)
		}
		if seen[e.Type.String()] {
			return fmt.Errorf("found edge type %s twice, expected one table per type", e.Type)
		}
		seen[e.Type.String()] = true
	}
	return nil
}

// endsAreKeys says whether the first edge table that names a node type has strings as its ends.
func (b *builder) endsAreKeys(typ string) bool {
	for _, e := range b.in.Edges {
		if e.Type.Src == typ {
			return e.Src.DType == graph.String
		}
		if e.Type.Dst == typ {
			return e.Dst.DType == graph.String
		}
	}
	return false
}

func (b *builder) edgeModel(e *Edges) error {
	for _, name := range []string{e.Type.Src, e.Type.Rel, e.Type.Dst} {
		if err := graph.CheckName(name); err != nil {
			return err
		}
	}
	if e.Table == nil {
		return fmt.Errorf("found no table, expected one")
	}
	if err := checkColumns(e.Columns, e.OfStore); err != nil {
		return err
	}
	if e.Symmetrise && e.Type.Src != e.Type.Dst {
		return fmt.Errorf("found `Symmetrise` between node types %s and %s, expected one node type; import the table twice, with source and destination swapped", e.Type.Src, e.Type.Dst)
	}
	p := &part{Edges: e, stats: EdgesResult{Type: e.Type}}
	for _, x := range []struct {
		end  *end
		typ  string
		col  table.Column
		what string
	}{{&p.src, e.Type.Src, e.Src, "source"}, {&p.dst, e.Type.Dst, e.Dst, "destination"}} {
		t := b.nodes[x.typ]
		if t == nil {
			return fmt.Errorf("found node type %q, expected one of %s", x.typ, strings.Join(b.typeNames(), ", "))
		}
		*x.end = end{t: t, column: x.col, number: e.OfStore}
		want := graph.Uint64
		if t.keyed && !e.OfStore {
			want = graph.String
		}
		if x.col.Name == "" {
			if t.Table == nil && t.keyed {
				return fmt.Errorf("found row numbers as the %s, expected the keys of %s", x.what, x.typ)
			}
		} else if x.col.DType != want {
			return fmt.Errorf("found the %s column %q read as %s, expected %s, as the ids of %s", x.what, x.col.Name, x.col.DType, want, x.typ)
		}
	}
	p.rows = p.Made
	b.parts = append(b.parts, p)
	return nil
}

func (b *builder) typeNames() []string {
	var names []string
	for _, t := range b.types {
		names = append(names, t.Type)
	}
	return names
}

// checkColumns checks the columns of a type. ofStore allows those that a build adds.
func checkColumns(cols []table.Column, ofStore bool) error {
	seen := map[string]bool{}
	if !ofStore {
		seen = map[string]bool{graph.PositionColumn: true, typeColumn: true, typeWiseIDColumn: true}
	}
	for _, c := range cols {
		if seen[c.Name] {
			return fmt.Errorf("found column %q twice or reserved, expected another name", c.Name)
		}
		seen[c.Name] = true
		if c.DType == graph.Invalid || c.DType > graph.String {
			return fmt.Errorf("column %q: found dtype %s, expected a valid one", c.Name, c.DType)
		}
		for _, d := range c.Shape {
			if d == 0 || d < -1 {
				return fmt.Errorf("column %q: found shape %v, expected positive dimensions, or -1 for variable ones", c.Name, c.Shape)
			}
		}
	}
	return nil
}

// isVariable says whether the rows of a column differ in size.
func isVariable(c *table.Column) bool {
	return c.DType == graph.String || dimensions(c) > 0
}

// dimensions returns the number of variable dimensions of a column.
func dimensions(c *table.Column) int {
	n := 0
	for _, d := range c.Shape {
		if d == -1 {
			n++
		}
	}
	return n
}

// fixedValues returns the product of the fixed dimensions.
func fixedValues(c *table.Column) int {
	n := 1
	for _, d := range c.Shape {
		n *= max(d, 1)
	}
	return n
}

// rowBytes returns the size of a row of numbers of fixed shape.
func rowBytes(c *table.Column) int { return fixedValues(c) * c.DType.Size() }
