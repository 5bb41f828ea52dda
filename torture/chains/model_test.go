package chains

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/graph"
)

// column is a column apart from the files that hold it.
type column struct {
	dtype      graph.DType
	shape      []int
	unit       graph.Unit
	categories []string
	lengths    [][]uint64 // the offsets of each variable dimension
	values     []byte
	texts      []string
	rows       int
}

func columnOf(c *graph.Column) *column {
	m := &column{dtype: c.DType, shape: slices.Clone(c.Shape), unit: c.Unit, rows: c.Rows}
	if c.Categories != nil {
		m.categories = columnOf(c.Categories).texts
		if m.categories == nil {
			m.categories = []string{}
		}
	}
	for _, x := range c.Offsets {
		list := make([]uint64, x.Len())
		for i := range list {
			list[i] = x.At(i)
		}
		m.lengths = append(m.lengths, list)
	}
	if c.DType != graph.String {
		m.values = slices.Clone(c.Values)
		return m
	}
	for i := range max(c.StringOffsets.Len()-1, 0) {
		m.texts = append(m.texts, string(c.Values[c.StringOffsets.At(i):c.StringOffsets.At(i+1)]))
	}
	return m
}

func (c *column) ragged() bool { return slices.Contains(c.shape, -1) }

func (c *column) String() string {
	text := fmt.Sprintf("%s%v %d rows", c.dtype, c.shape, c.rows)
	if c.unit != "" {
		text += " unit " + string(c.unit)
	}
	if c.categories != nil {
		text += fmt.Sprintf(" categories %q", c.categories)
	}
	if len(c.lengths) > 0 {
		text += fmt.Sprintf(" offsets %v", c.lengths)
	}
	if c.dtype == graph.String {
		return text + fmt.Sprintf(" %q", c.texts)
	}
	return text + fmt.Sprintf(" %x", c.values)
}

func (c *column) equal(d *column) bool { return c.String() == d.String() }

// each calls f with each value of a column of numbers, and replaces it by what f returns in the dtype to.
func (c *column) each(to graph.DType, f func(bits uint64) uint64) *column {
	d := *c
	d.dtype, d.values = to, nil
	var buf [8]byte
	for v := c.values; len(v) > 0; v = v[c.dtype.Size():] {
		clear(buf[:])
		copy(buf[:], v[:c.dtype.Size()])
		binary.LittleEndian.PutUint64(buf[:], f(binary.LittleEndian.Uint64(buf[:])))
		d.values = append(d.values, buf[:to.Size()]...)
	}
	return &d
}

// any says whether f holds for a value.
func (c *column) any(f func(bits uint64) bool) (found bool) {
	if c.dtype != graph.String {
		c.each(c.dtype, func(bits uint64) uint64 {
			found = found || f(bits)
			return bits
		})
	}
	return found
}

// model is a graph apart from the files that hold it: what a law compares.
type model struct {
	nodes map[string]*nodesModel
	edges map[string]*edgesModel
	// context is nil where the graph has none.
	context map[string]*column
}

type nodesModel struct {
	count, added int
	ids          *column
	columns      map[string]*column
}

type edgesModel struct {
	primary  graph.Direction
	both     bool
	src, dst []uint64 // by edge id
	columns  map[string]*column
	// position is the column #input_position, nil where a law does not compare it.
	position *column
}

func columnsOf(list []*graph.Column) map[string]*column {
	m := map[string]*column{}
	for _, c := range list {
		m[c.Name] = columnOf(c)
	}
	return m
}

func modelOf(g *graph.Graph) *model {
	m := &model{nodes: map[string]*nodesModel{}, edges: map[string]*edgesModel{}, context: columnsOf(g.Context)}
	for _, n := range g.Nodes {
		x := &nodesModel{count: n.Count, added: n.Added, columns: columnsOf(n.Columns)}
		if n.IDs != nil {
			x.ids = columnOf(n.IDs)
		}
		m.nodes[n.Type] = x
	}
	for _, e := range g.Edges {
		x := &edgesModel{primary: e.Primary, both: e.Adj[1-e.Primary] != nil, columns: columnsOf(e.Columns)}
		x.position = x.columns[graph.PositionColumn]
		delete(x.columns, graph.PositionColumn)
		a := e.Adj[e.Primary]
		for v := range a.Indptr.Len() - 1 {
			for i := a.Indptr.At(v); i < a.Indptr.At(v+1); i++ {
				near, far := uint64(v), a.Far.At(int(i))
				if e.Primary == graph.In {
					near, far = far, near
				}
				x.src, x.dst = append(x.src, near), append(x.dst, far)
			}
		}
		m.edges[e.Type.String()] = x
	}
	return m
}

// load is the model of a store.
func (c *chain) load(dir string) *model {
	s, err := graphmill.Open(dir)
	if err != nil {
		c.fail("open", "%v", err)
	}
	defer s.Close()
	return modelOf(s.Graph())
}

// lines is a model as lines of text, by what they are about.
func (m *model) lines() map[string]string {
	out := map[string]string{}
	add := func(of string, columns map[string]*column) {
		for name, x := range columns {
			out[of+"."+name] = x.String()
		}
	}
	add("context", m.context)
	for t, n := range m.nodes {
		out[t] = fmt.Sprintf("%d nodes, %d added", n.count, n.added)
		if n.ids != nil {
			out["original ids of "+t] = n.ids.String()
		}
		add(t, n.columns)
	}
	for t, e := range m.edges {
		out[t] = fmt.Sprintf("%d edges, %s, both %v: %v -> %v", len(e.src), e.primary, e.both, e.src, e.dst)
		if e.position != nil {
			out[t+" positions"] = e.position.String()
		}
		add(t, e.columns)
	}
	return out
}

// difference says in what two models differ, "" in nothing.
func difference(found, expected *model) string {
	var b strings.Builder
	f, e := found.lines(), expected.lines()
	keys := map[string]bool{}
	for k := range f {
		keys[k] = true
	}
	for k := range e {
		keys[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if f[k] != e[k] {
			fmt.Fprintf(&b, "%s:\n  found    %s\n  expected %s\n", k, cut(f[k]), cut(e[k]))
		}
	}
	return b.String()
}

func cut(s string) string {
	if s == "" {
		return "nothing"
	}
	return s[:min(len(s), 500)]
}

// loss changes a model as a format does, and names each thing that is lost as the warning does that announces it.
type loss struct {
	m         *model
	announced []string // parts of warnings
	refused   string   // part of the error with which the format refuses the graph; "" where it takes it
	// oneNaN says whether the format keeps no NaN of a dtype apart from the others; nil: it keeps all.
	oneNaN func(d graph.DType) bool
}

// columns calls f with each column of numbers and strings; f returns what the format makes of it, nil for nothing.
func (l *loss) columns(f func(of, name string, c *column) *column) {
	do := func(of string, columns map[string]*column) {
		for _, name := range slices.Sorted(maps.Keys(columns)) {
			if c := f(of, name, columns[name]); c == nil {
				delete(columns, name)
			} else {
				columns[name] = c
			}
		}
	}
	do("context", l.m.context)
	for _, t := range slices.Sorted(maps.Keys(l.m.nodes)) {
		do(t, l.m.nodes[t].columns)
	}
	for _, t := range slices.Sorted(maps.Keys(l.m.edges)) {
		do(t, l.m.edges[t].columns)
	}
}

// copied is a deep enough copy of a model: columns are never changed in place.
func (m *model) copied() *model {
	out := &model{nodes: map[string]*nodesModel{}, edges: map[string]*edgesModel{}, context: maps.Clone(m.context)}
	for t, n := range m.nodes {
		x := *n
		x.columns = maps.Clone(n.columns)
		out.nodes[t] = &x
	}
	for t, e := range m.edges {
		x := *e
		x.columns = maps.Clone(e.columns)
		out.edges[t] = &x
	}
	return out
}

// bare is a column without the unit of times and the texts of categories.
func bare(c *column) *column {
	d := *c
	d.unit, d.categories = "", nil
	return &d
}

// signed is a value of a dtype as an int64.
func signed(d graph.DType, bits uint64) uint64 {
	switch d {
	case graph.Int8:
		return uint64(int64(int8(bits)))
	case graph.Int16:
		return uint64(int64(int16(bits)))
	case graph.Int32:
		return uint64(int64(int32(bits)))
	}
	return bits
}

// asFloat is a value of a float dtype.
func asFloat(d graph.DType, bits uint64) float64 {
	switch d {
	case graph.Float16:
		return float64(example.Float16(uint16(bits)))
	case graph.BFloat16:
		return float64(example.BFloat16(uint16(bits)))
	case graph.Float32:
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}

// nan is the NaN that a text stands for.
var nan = map[graph.DType]uint64{graph.Float16: 0x7e00, graph.BFloat16: 0x7fc0, graph.Float32: 0x7fc00000, graph.Float64: 0x7ff8000000000001}

// oneNaN is a column in which every NaN is the NaN of a text.
func oneNaN(c *column) *column {
	if !c.dtype.IsFloat() {
		return c
	}
	return c.each(c.dtype, func(bits uint64) uint64 {
		if x := asFloat(c.dtype, bits); x != x {
			return nan[c.dtype]
		}
		return bits
	})
}

// sameStructure says whether two models have as many nodes of each type, and the same edges, with their ids.
func sameStructure(a, b *model) bool {
	if len(a.edges) != len(b.edges) || len(a.nodes) != len(b.nodes) {
		return false
	}
	for t, x := range a.nodes {
		if y := b.nodes[t]; y == nil || x.count != y.count {
			return false
		}
	}
	for t, x := range a.edges {
		y := b.edges[t]
		if y == nil || x.primary != y.primary || !reflect.DeepEqual(x.src, y.src) || !reflect.DeepEqual(x.dst, y.dst) {
			return false
		}
	}
	return true
}
