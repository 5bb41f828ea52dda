package feed

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features/widening"
	"github.com/graphmill/graphmill/internal/sample"
)

// ColumnInfo describes a column that every batch has.
type ColumnInfo struct {
	// Name is a path: "input_id", "nodes/TYPE/n_id", "edges/TYPE/edge_index", "nodes/TYPE/x/NAME".
	Name  string `json:"name"`
	DType string `json:"dtype"`
	// Shape is the shape of a row.
	Shape []int `json:"shape"`
	// Least is the least value of a column of links over all seeds, in batches with negatives. A label must
	// differ from the label of negative links; nil for other columns, and where a value is no number.
	Least *float64 `json:"least,omitempty"`
	// Of is the column of the store, or of the table of links, that the rows are from; nil for all others.
	Of *graph.Column `json:"-"`
}

// column is one array of a batch: the number of its rows, and how they are written.
type column struct {
	info  ColumnInfo
	width int // bytes per row
	rows  func(*made) int
	write func(dst []byte, m *made)
	most  func(*bounds) int64 // the most rows of a batch
}

// bounds are the most of everything that a batch can have.
type bounds struct {
	seeds, hops  int64
	negatives    int64   // negative links
	nodes, edges []int64 // by type
	reached, ops []int64 // nodes and edges, by op
}

// made is a batch that was sampled.
type made struct {
	sub   *sample.Subgraph
	input []uint64      // places of the seeds in the list of the source
	seeds []uint32      // of SeedsAlone: the seeds
	edges []uint64      // with positives: the edge ids of the links
	ids   []uint64      // scratch memory of givenPlaces
	times []sample.Time // of the seeds, with before
	batch [][]uint32    // under scope seed, by node type: the place of each node's seed in the batch
	// places are rows of the tables that a stream fetched: see fetched.
	places   []places
	events   *madeEvents // of a source of events; all other fields are then empty
	gathered []uint64    // scratch memory of agesOf
	divided  []divided   // by node type, as far as rows are kept
}

// Features are the columns that come with batches, by type.
type Features struct {
	Nodes, Edges map[string][]string
	// Joined are further columns of nodes and edges, made of several columns each.
	Joined []Joined
	// Links are columns of link seeds, with a row per seed in the order of the job or, with Job.Positives, per edge of their type.
	Links []*widening.Column
	// Ages are the types whose batches have AgeColumn, in AgeUnit: one of features.Units, "" is days. They need a plan with times.
	Ages    []Age
	AgeUnit string
	// Texts are columns of texts of nodes, or IDColumn, by type. Streams do not have them.
	Texts map[string][]string
	// LeftOut names columns that were asked for and that batches cannot have, for the client.
	LeftOut []string
	// NoEdgeIDs leaves e_id out.
	NoEdgeIDs bool
	// NarrowIDs has the ids of nodes and edges, and local ids, as int32 where all of the type are below 2^31.
	NarrowIDs bool
	// Kept are the nodes, by type, whose rows of Nodes and of joined columns batches leave out. Batches have the column place of these types.
	Kept map[string]*Kept

	farPositions map[string]bool // with NarrowIDs: the edge types that have, or may have, a position in the input of 2^31 or more

	unevenLists bool     // the links have lists of negatives of several lengths
	rows        []uint32 // with positives: the places of the seeds among those that were given
}

// columnsOf is the columns of the batches of a sampler. They cover every type of the graph, including types that the
// plan does not reach, so that the columns depend only on the graph. from is nil where rows are read through the map of the
// store.
func columnsOf(s *sample.Sampler, f Features, ops bool, tabs *tables, from *fetched) ([]column, error) {
	l := &columnList{s: s, g: s.Graph(), f: f, tabs: tabs, from: from}
	l.addSeeds()
	for t := range l.g.Nodes {
		if err := l.addNodes(t); err != nil {
			return nil, err
		}
	}
	for t := range l.g.Edges {
		if err := l.addEdges(t); err != nil {
			return nil, err
		}
	}
	if ops {
		for k := range s.Plan().Ops {
			if err := l.addOp(k); err != nil {
				return nil, err
			}
		}
	}
	return l.columns, nil
}

// columnList collects the columns of the batches of a sampler.
type columnList struct {
	s       *sample.Sampler
	g       *graph.Graph
	f       Features
	tabs    *tables
	from    *fetched
	columns []column
}

func (l *columnList) addColumns(columns ...column) { l.columns = append(l.columns, columns...) }

// addSeeds adds the columns of seeds, of negatives and of links.
func (l *columnList) addSeeds() {
	width, negatives := int64(l.s.SeedWidth()), l.s.Plan().Negatives
	l.addColumns(ints("input_id", func(m *made) []uint64 { return m.givenPlaces(l.f.rows) }, func(b *bounds) int64 { return b.seeds }),
		ints("seed_local", func(m *made) []uint32 { return m.sub.SeedLocal }, func(b *bounds) int64 { return b.seeds * width }))
	if negatives != nil {
		l.addColumns(ints("negative_local", func(m *made) []uint32 { return m.sub.Negatives.Local }, func(b *bounds) int64 { return 2 * b.negatives }))
	}
	if l.f.unevenLists {
		l.addColumns(ints("negative_end", func(m *made) []uint64 { return m.sub.Negatives.Ends }, func(b *bounds) int64 { return b.seeds }))
	}
	if negatives != nil && negatives.Strict == sample.StrictCount {
		l.addColumns(column{ColumnInfo{Name: "negative_edges", DType: "int64", Shape: []int{}}, 8,
			func(*made) int { return 1 },
			func(dst []byte, m *made) { graph.View[int64](dst)[0] = int64(m.sub.Negatives.Edges) },
			func(*bounds) int64 { return 1 },
		})
	}
	for _, c := range l.f.Links {
		column := ofLinks(c)
		if negatives != nil && l.from == nil { // of the columns of a stream, only the rows are taken
			column.info.Least = least(c)
		}
		l.addColumns(column)
	}
}

// addNodes adds the columns of a node type.
func (l *columnList) addNodes(t int) error {
	n := l.g.Nodes[t]
	at := "nodes/" + Escaped(n.Type) + "/"
	ids := func(m *made) graph.Index { return graph.Index{U32: m.sub.Nodes[t]} }
	most := func(b *bounds) int64 { return b.nodes[t] }
	l.addColumns(l.ids(at+"n_id", func(m *made) []uint32 { return m.sub.Nodes[t] }, n.Count, most), ints(at+"by_hop", func(m *made) []uint32 { return m.sub.NodesByHop[t] }, mostHops))
	if l.s.Plan().Scope == sample.ScopeSeed {
		l.addColumns(l.ids(at+"batch", func(m *made) []uint32 { return m.batch[t] }, 0, most))
	}
	sent := ids
	if k := l.f.Kept[n.Type]; k != nil {
		sent = l.addKept(at, t, k, most)
	}
	columns, rows, err := l.from.node(t, n.Columns, l.f.names(n.Type), sent)
	if err != nil {
		return err
	}
	if err := l.addFeatures(at, columns, l.f.Nodes[n.Type], rows, most); err != nil {
		return err
	}
	if err := l.addJoined(at, n.Type, columns, n.Count, rows, most); err != nil {
		return err
	}
	if err := l.addTexts(at, t); err != nil {
		return err
	}
	if l.f.Kept[n.Type] != nil && l.f.aged(n.Type) { // every node has an age
		if columns, rows, err = l.from.node(t, n.Columns, l.f.names(n.Type), ids); err != nil {
			return err
		}
	}
	return l.addAge(at, n.Type, columns, rows, func(m *made, row int) uint32 { return m.batch[t][row] }, most)
}

// addEdges adds the columns of an edge type.
func (l *columnList) addEdges(t int) error {
	return l.addDrawn(drawnEdges{
		t: t, at: "edges/" + Escaped(l.g.Edges[t].Type.String()) + "/",
		of:   func(m *made) sample.SubEdges { return m.sub.Edges[t] },
		most: func(b *bounds) int64 { return b.edges[t] },
	}, func(at string) {
		if edgesByHop(l.s) {
			l.addColumns(ints(at+"by_hop", func(m *made) []uint32 { return m.sub.EdgesByHop[t] }, mostHops))
		}
	})
}

// addOp adds the columns of the edges that op k of the plan drew.
func (l *columnList) addOp(k int) error {
	t, err := l.g.EdgeType(l.s.Plan().Ops[k].Edges)
	if err != nil {
		return err
	}
	e := drawnEdges{
		t: t, at: fmt.Sprintf("ops/%d/", k+1),
		of:   func(m *made) sample.SubEdges { return m.sub.Ops[k].SubEdges },
		most: func(b *bounds) int64 { return b.ops[k] },
	}
	dst, hop := l.g.NodeType(l.g.Edges[t].Type.Dst), l.s.Plan().OpHops()[k+1]
	found := func(m *made) (n int) {
		for _, c := range m.sub.NodesByHop[dst][:hop] {
			n += int(c)
		}
		return n
	}
	l.addColumns(l.ids(e.at+"frontier", func(m *made) []uint32 { return m.sub.Ops[k].Frontier }, 0, func(b *bounds) int64 { return b.reached[k] }))
	return l.addDrawn(e, func(at string) {
		l.addColumns(offsets(at+"indptr", found, func(m *made) []uint32 { return e.of(m).Dst }, func(b *bounds) int64 { return b.nodes[dst] + 1 }))
	})
}

// drawnEdges are edges of type t in a batch, whose columns are below at.
type drawnEdges struct {
	t    int
	at   string
	of   func(*made) sample.SubEdges
	most func(*bounds) int64
}

// addDrawn adds the columns of edges: their ends and ids, what addMore adds, and then the features.
func (l *columnList) addDrawn(x drawnEdges, addMore func(at string)) error {
	e := l.g.Edges[x.t]
	ids := func(m *made) graph.Index { return x.of(m).ID }
	columns, rows, err := l.from.edge(x.t, e.Columns, l.f.edgeNames(e), ids)
	if err != nil {
		return err
	}
	l.addColumns(l.pairs(x.at+"edge_index", x.of, x.most))
	if !l.f.NoEdgeIDs {
		id, err := positions(l.tabs, x.at+"e_id", e.Type, columns, ids, rows, x.most)
		if err != nil {
			return err
		}
		switch c := graph.FindColumn(columns, graph.PositionColumn); {
		case !l.narrow(e.Count), l.f.farPositions[e.Type.String()]:
		case c == nil:
			id = narrow(id, func(dst []byte, m *made) { copy(graph.View[uint32](dst), ids(m).U32) })
		case c.RowBytes() == 4:
			tab := l.tabs.of(c.Values)
			id = narrow(id, func(dst []byte, m *made) { gatherAway(dst, tab.values(), 4, rows(m)) })
		}
		l.addColumns(id)
	}
	addMore(x.at)
	typ := e.Type.String()
	if err := l.addFeatures(x.at, columns, l.f.Edges[typ], rows, x.most); err != nil {
		return err
	}
	if l.s.Weights() {
		l.addColumns(shares(x.at, x.of, x.most))
	}
	if err := l.addJoined(x.at, typ, columns, e.Count, rows, x.most); err != nil {
		return err
	}
	src := l.g.NodeType(e.Type.Src)
	return l.addAge(x.at, typ, columns, rows, func(m *made, row int) uint32 { return m.batch[src][x.of(m).Src[row]] }, x.most)
}

// addFeatures adds the features of a type that names lists.
func (l *columnList) addFeatures(at string, columns []*graph.Column, names []string, rows func(*made) graph.Index, most func(*bounds) int64) error {
	features, err := rowsOf(l.tabs, at, columns, names, rows, most)
	l.addColumns(features...)
	return err
}

// addJoined adds the joined columns of a type with count rows.
func (l *columnList) addJoined(at, typ string, columns []*graph.Column, count int, rows func(*made) graph.Index, most func(*bounds) int64) error {
	for _, j := range l.f.Joined {
		if j.Type != typ {
			continue
		}
		c, err := joinedOf(l.tabs, at, j, columns, count, rows, most)
		if err != nil {
			return err
		}
		l.addColumns(c)
	}
	return nil
}

func mostHops(b *bounds) int64 { return b.hops }

// offsets is the offset of the edges of each of n destinations, and the end, for edges that are ordered by destination. It has no rows
// if they are not, or if there are others.
func offsets(name string, n func(*made) int, dst func(*made) []uint32, most func(*bounds) int64) column {
	return column{ColumnInfo{Name: name, DType: "int64", Shape: []int{}}, 8,
		func(m *made) int {
			ends, n := dst(m), n(m)
			if !slices.IsSorted(ends) || len(ends) > 0 && int(ends[len(ends)-1]) >= n {
				return 0
			}
			return n + 1
		},
		func(to []byte, m *made) {
			ptr, i := graph.View[int64](to)[:n(m)+1], 0
			for e, d := range dst(m) {
				for ; i <= int(d); i++ {
					ptr[i] = int64(e)
				}
			}
			for ; i < len(ptr); i++ {
				ptr[i] = int64(len(dst(m)))
			}
		}, most,
	}
}

// edgesByHop says whether the edges of subgraphs are those that each hop drew, hop by hop. In other kinds of subgraphs
// edges have no hops.
func edgesByHop(s *sample.Sampler) bool {
	return s.Plan().Kind == sample.Directional
}

// ints is a column of ids or counts, as int64.
func ints[T uint32 | uint64](name string, of func(*made) []T, most func(*bounds) int64) column {
	return column{ColumnInfo{Name: name, DType: "int64", Shape: []int{}}, 8,
		func(m *made) int { return len(of(m)) },
		func(dst []byte, m *made) { widen(dst, of(m)) }, most,
	}
}

func widen[T uint32 | uint64](dst []byte, from []T) {
	to := graph.View[int64](dst)[:len(from)]
	for i, x := range from {
		to[i] = int64(x)
	}
}

// narrow says whether ids below count are int32.
func (l *columnList) narrow(count int) bool { return l.f.NarrowIDs && count <= math.MaxInt32 }

// narrow is a column of int64 with values of 4 bytes.
func narrow(c column, write func(dst []byte, m *made)) column {
	c.info.DType, c.width, c.write = "int32", 4, write
	return c
}

// ids is a column of ids below count, or below the number of the nodes of a batch.
func (l *columnList) ids(name string, of func(*made) []uint32, count int, most func(*bounds) int64) column {
	c := ints(name, of, most)
	if l.narrow(count) {
		return narrow(c, func(dst []byte, m *made) { copy(graph.View[uint32](dst), of(m)) })
	}
	return c
}

// pairs is the local ids of both ends of edges: all sources, then all destinations.
func (l *columnList) pairs(name string, of func(*made) sample.SubEdges, most func(*bounds) int64) column {
	c := column{ColumnInfo{Name: name, DType: "int64", Shape: []int{}}, 8,
		func(m *made) int { return 2 * len(of(m).Src) },
		func(dst []byte, m *made) {
			e := of(m)
			widen(dst, e.Src)
			widen(dst[8*len(e.Src):], e.Dst)
		},
		func(b *bounds) int64 { return 2 * most(b) },
	}
	if l.narrow(0) {
		return narrow(c, func(dst []byte, m *made) {
			e := of(m)
			copy(graph.View[uint32](dst)[copy(graph.View[uint32](dst), e.Src):], e.Dst)
		})
	}
	return c
}

// shares is the column of the weights of edges.
func shares(at string, of func(*made) sample.SubEdges, most func(*bounds) int64) column {
	return column{ColumnInfo{Name: at + "x/" + sample.WeightsColumn, DType: "float32", Shape: []int{}}, 4,
		func(m *made) int { return len(of(m).Weight) },
		func(dst []byte, m *made) { copy(graph.View[float32](dst), of(m).Weight) }, most,
	}
}

// positions is the positions of edges in the imported input where the store has them, else their ids. rows are the rows of
// the edges in columns.
func positions(tabs *tables, name string, typ graph.EdgeType, columns []*graph.Column, ids, rows func(*made) graph.Index, most func(*bounds) int64) (column, error) {
	c := graph.FindColumn(columns, graph.PositionColumn)
	switch {
	case c == nil:
		return column{ColumnInfo{Name: name, DType: "int64", Shape: []int{}}, 8,
			func(m *made) int { return ids(m).Len() },
			func(dst []byte, m *made) {
				if rows := ids(m); rows.U64 != nil {
					widen(dst, rows.U64)
				} else {
					widen(dst, rows.U32)
				}
			}, most,
		}, nil
	case c.DType == graph.Uint32 || c.DType == graph.Int32:
		return looked(tabs.of(c.Values), 4, name, rows, most), nil
	case c.DType == graph.Uint64 || c.DType == graph.Int64:
		return looked(tabs.of(c.Values), 8, name, rows, most), nil
	}
	return column{}, fmt.Errorf("edge type %q: column %q: found %s, expected integers of 32 or 64 bits", typ, graph.PositionColumn, c.DType)
}

// OfEdges says whether batches have columns of edges, for which the ids of edges are looked up.
func (f *Features) OfEdges() bool {
	for _, names := range f.Edges {
		if len(names) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(f.Joined, func(j Joined) bool { return strings.Contains(j.Type, ":") }) ||
		slices.ContainsFunc(f.Ages, func(a Age) bool { return strings.Contains(a.Type, ":") })
}

// names is the columns that batches read of a type.
func (f *Features) names(typ string) []string {
	names := slices.Concat(f.Nodes[typ], f.Edges[typ])
	for _, j := range f.Joined {
		if j.Type == typ {
			names = append(names, j.Names()...)
		}
	}
	for _, a := range f.Ages {
		if a.Type == typ {
			names = append(names, a.Column)
		}
	}
	return names
}

// edgeNames is the columns that batches read of an edge type, with the column for e_id.
func (f *Features) edgeNames(e *graph.Edges) []string {
	names := f.names(e.Type.String())
	if !f.NoEdgeIDs && graph.FindColumn(e.Columns, graph.PositionColumn) != nil {
		names = append(names, graph.PositionColumn)
	}
	return names
}

// looked is a column of integers of 4 or 8 bytes, as int64.
func looked(tab *table, width int, name string, ids func(*made) graph.Index, most func(*bounds) int64) column {
	return column{ColumnInfo{Name: name, DType: "int64", Shape: []int{}}, 8,
		func(m *made) int { return ids(m).Len() },
		func(dst []byte, m *made) {
			rows := ids(m)
			// Narrow integers are gathered at the end of dst and widened from its beginning. The widened part never
			// reaches values that are not read yet.
			found := dst[rows.Len()*(8-width):]
			if rows.U64 != nil {
				batch.Gather(found, tab.values(), width, rows.U64)
			} else {
				batch.Gather(found, tab.values(), width, rows.U32)
			}
			if width == 4 {
				widen(dst, graph.View[uint32](found))
			}
		}, most,
	}
}

// leastAway is the size from which rows are gathered past the cache. Fewer are still there when they are sent or read.
const leastAway = 1 << 20

// gatherAway is batch.GatherAway for rows of either width, or batch.Gather for few of them.
func gatherAway(dst, src []byte, width int, rows graph.Index) {
	gather32, gather64 := batch.GatherAway[uint32], batch.GatherAway[uint64]
	if len(dst) < leastAway {
		gather32, gather64 = batch.Gather[uint32], batch.Gather[uint64]
	}
	if rows.U64 != nil {
		gather64(dst, src, width, rows.U64)
		return
	}
	gather32(dst, src, width, rows.U32)
}

// Escaped is the name of a type or a column as a part of the path of a column of batches: with %25 for each % and %2F for each /. So
// no name is taken for two parts, or for a part of the structure.
func Escaped(name string) string { return escaper.Replace(name) }

var escaper = strings.NewReplacer("%", "%25", "/", "%2F")

// rowsOf is the columns of a type that names lists, named x/NAME below at.
func rowsOf(tabs *tables, at string, columns []*graph.Column, names []string, ids func(*made) graph.Index, most func(*bounds) int64) ([]column, error) {
	var cs []column
	for _, name := range names {
		c := graph.FindColumn(columns, name)
		switch {
		case c == nil:
			return nil, fmt.Errorf("found no column %q of %s, expected one of %s; name one of these, or import the column", name, at[:len(at)-1], columnNames(columns))
		case c.DType == graph.String || c.Ragged():
			return nil, fmt.Errorf("column %q of %s: found %s rows of shape %v, expected numbers of a fixed shape; leave it out, or import it with a dtype and shape such as float32[3], or texts as categories", name, at[:len(at)-1], c.DType, c.Shape)
		}
		tab := tabs.of(c.Values)
		cs = append(cs, column{ColumnInfo{Name: at + "x/" + Escaped(name), DType: c.DType.String(), Shape: append([]int{}, c.Shape...), Of: c}, c.RowBytes(),
			func(m *made) int { return ids(m).Len() },
			func(dst []byte, m *made) { gatherAway(dst, tab.values(), c.RowBytes(), ids(m)) }, most,
		})
	}
	return cs, nil
}

func columnNames(columns []*graph.Column) string {
	names := ""
	for _, c := range columns {
		if c.Name[0] != '#' {
			names += " " + c.Name
		}
	}
	if names == "" {
		return "none: the type has no columns"
	}
	return names[1:]
}
