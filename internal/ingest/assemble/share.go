package assemble

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Share is a build that several processes share: package ingest/cluster divides its work, and every process has a Share
// of the same Input and Options. Rows are read, edges sorted and the store written by the functions of Build, so the
// store has the same bytes.
//
// First all numbers must be known that places depend on: Know. Then ScanEdges makes the records of edges, by ranges of
// their primary end; a Range sorts the records of one range and writes its piece of the store; and Join makes the store from the
// pieces.
type Share struct {
	b      *builder
	groups []*group
	added  []uint64
}

// NewShare checks the input and the options. tmp is a folder for temporary files.
func NewShare(fsys vfs.FS, tmp string, in Input, opt Options) (*Share, error) {
	opt.Threads = 1
	b := &builder{fs: fsys, in: &in, opt: &opt, tmp: tmp, res: &Result{}, nodes: map[string]*nodeType{}}
	var err error
	if b.budget, err = newBudget(&opt); err != nil {
		return nil, err
	}
	return &Share{b: b}, b.model()
}

// Types is the number of node types. They are numbered in the order of their names.
func (s *Share) Types() int { return len(s.b.types) }

// Type is a node type of the input.
func (s *Share) Type(t int) *Nodes { return s.b.types[t].Nodes }

// Parts is the number of edge types of the input, in its order.
func (s *Share) Parts() int { return len(s.b.parts) }

// Part is an edge type of the input.
func (s *Share) Part(p int) *Edges { return s.b.parts[p].Edges }

// Ends are the numbers of the node types of a part.
func (s *Share) Ends(p int) (src, dst int) {
	return s.b.parts[p].src.t.number, s.b.parts[p].dst.t.number
}

// Keyed says whether the ids of a type are keys, which ends of edges are compared with. Those of a table with integer ids
// are, unless they equal the row numbers, which Know says.
func (s *Share) Keyed(t int) bool { return s.b.types[t].keyed }

// Numbers are what must be known of all tables before the work is divided.
type Numbers struct {
	Types []TypeNumbers `json:"types"`
	Parts []uint64      `json:"parts"` // rows of each part
}

// TypeNumbers are the numbers of a node type.
type TypeNumbers struct {
	Rows uint64 `json:"rows"` // of the table
	// Count is the number of nodes, without those that only edges name.
	Count uint64 `json:"count"`
	Keyed bool   `json:"keyed"`
}

// Know says the numbers. It is called once, before the functions below.
func (s *Share) Know(n *Numbers) error {
	if len(n.Types) != len(s.b.types) || len(n.Parts) != len(s.b.parts) {
		return fmt.Errorf("found numbers of %d node and %d edge types, expected %d and %d; use the same files on all machines", len(n.Types), len(n.Parts), len(s.b.types), len(s.b.parts))
	}
	for i, t := range s.b.types {
		x := &n.Types[i]
		t.counted = s.Unknown(i)
		t.stats.Rows, t.count, t.keyed, t.known = x.Rows, x.Count, x.Keyed, true
	}
	for i, p := range s.b.parts {
		p.rows = n.Parts[i]
	}
	return nil
}

// Place gives edges and nodes their places. added is, by type, the number of nodes that only edges name. It is called
// once, before the functions below.
func (s *Share) Place(ctx context.Context, added []uint64) (err error) {
	s.added = added
	for i, t := range s.b.types {
		t.count += added[i]
		if t.Table != nil {
			t.stats.Added = added[i]
		}
	}
	if err := s.b.checkNodes(); err != nil {
		return err
	}
	if s.groups, err = s.b.groups(ctx); err != nil {
		return err
	}
	for _, g := range s.groups {
		at := uint64(0)
		for _, p := range g.parts {
			p.base = at
			at += p.rows
		}
	}
	return nil
}

// Groups is the number of edge types of the store.
func (s *Share) Groups() int { return len(s.groups) }

// GroupOf is the edge type of the store that a part becomes, or a part of.
func (s *Share) GroupOf(p int) int {
	return slices.IndexFunc(s.groups, func(g *group) bool { return slices.Contains(g.parts, s.b.parts[p]) })
}

// GroupRows is, for each edge type of the store, the number of rows that it is made from, before Place.
func (s *Share) GroupRows() (rows []uint64) {
	for _, p := range s.b.byName() {
		if s.b.opt.Homogeneous && len(rows) > 0 {
			rows[0] += p.rows
		} else {
			rows = append(rows, p.rows)
		}
	}
	if s.b.opt.Homogeneous && len(s.b.types) > 0 && len(rows) == 0 {
		rows = []uint64{0}
	}
	return rows
}

// rows is the number of rows of all parts.
func (g *group) rows() (n uint64) {
	for _, p := range g.parts {
		n += p.rows
	}
	return n
}

// wide says whether records of edges need ids of 64 bits.
func (g *group) wide() bool {
	return g.opt.wide || g.rows()<<g.sym > narrowTop() || slices.ContainsFunc(g.parts, func(p *part) bool {
		return g.top(p.src.t) > narrowTop() || g.top(p.dst.t) > narrowTop()
	})
}

// mostRanges bounds the ranges of an edge type in a direction.
const mostRanges = 1 << 10

// Ranges is the number of ranges of an edge type of the store for about the given bytes of records per range: a power of
// two, at least the number of ranges that have nodes. It depends on the rows alone.
func Ranges(rows uint64, bytes int64) int {
	n := max(int64(rows)*plainBytes/max(bytes, 1), 1)
	return 1 << bits.Len64(uint64(min(n, mostRanges))-1)
}

// cut is how the nodes at one end of an edge type are cut into ranges.
type cut struct {
	buckets int
	shift   uint
}

func (g *group) cut(way graph.Direction, buckets int) cut {
	top := uint64(1)
	for _, p := range g.parts {
		top = max(top, g.top(p.near(way).t))
	}
	return cut{buckets, uint(max(bits.Len64(top-1)-bits.Len(uint(buckets-1)), 0))}
}

// KeyColumns are the columns of a part that its keys are read from, and their indices, which are -1 for a column that is
// not there.
type KeyColumns struct {
	Ask             []table.Column
	Src, Dst, where int
	value           string
}

// KeyColumns are the columns that a scan for the keys of part k reads. There are none if no end is a key.
func (s *Share) KeyColumns(k int) KeyColumns {
	p := s.b.parts[k]
	x := KeyColumns{Src: -1, Dst: -1, where: -1}
	if !p.src.isKeyed() && !p.dst.isKeyed() {
		return x
	}
	add := func(c table.Column) int {
		x.Ask = append(x.Ask, c)
		return len(x.Ask) - 1
	}
	for _, e := range []*end{&p.src, &p.dst} {
		switch {
		case e.isKeyed() && e == &p.src:
			x.Src = add(e.column)
		case e.isKeyed():
			x.Dst = add(e.column)
		case !e.isRow() && e.column.Empty == table.EmptyAbsent:
			add(e.column) // a row without the other end gives no key
		}
	}
	if p.Where != nil {
		x.where, x.value = add(table.Column{Name: p.Where.Column, DType: graph.String}), p.Where.Value
	}
	return x
}

// Gives says whether row i of a chunk of the columns gives an edge. If not, it counts the row.
func (x *KeyColumns) Gives(c *table.Chunk, i int, counts *EdgesResult) bool {
	if x.where >= 0 && string(text(&c.Columns[x.where], i)) != x.value {
		counts.Filtered++
		return false
	}
	if c.Absent != nil && c.Absent[i] {
		counts.Absent++
		return false
	}
	return true
}

// Resolve returns the type-wise ids of the keys of n rows from one on, at each end that is a key: NoEnd for rows that give
// no edge, and Dangling for a key that no node has. The lists are valid until the next call.
type Resolve func(first uint64, n int) (src, dst []uint64, err error)

// The marks of Resolve.
const (
	NoEnd    = noEnd
	Dangling = dangling
)

// ScanEdges makes the records of a run of rows of part k, of which a scan of KeyColumns has counted some. out takes the
// records of a range, which Range.Add takes. Calls for the same range are in the order of the rows. Several
// goroutines may call it.
func (s *Share) ScanEdges(ctx context.Context, k int, run table.Part, ranges int, counted EdgesResult, resolve Resolve, out func(bucket int, records []byte) error) (EdgesResult, error) {
	g, p := *s.groups[s.GroupOf(k)], *s.b.parts[k]
	edges := *p.Edges
	edges.Table = run.Of(p.Table)
	p.Edges, p.run = &edges, true
	p.src.given, p.dst.given = p.src.isKeyed(), p.dst.isKeyed()
	p.rows = 0
	if p.scanned = p.src.given || p.dst.given; p.scanned {
		p.rows, p.first = run.Rows, run.First
		p.keyed = counted
	} else {
		resolve = nil
	}
	lay := newLayout(g.wide(), g.cols)
	c := g.cut(g.opt.Primary, ranges)
	part := extsort.NewPartition(nil, c.buckets, shareExtent(c.buckets, run.Rows<<g.sym*uint64(lay.least())), c.shift)
	part.Out = lay.send(out)
	defer part.Close()
	w, err := part.Writer()
	if err != nil {
		return p.stats, err
	}
	if err := g.scanGiven(ctx, &p, []*extsort.Writer{w}, &lay, resolve); err != nil {
		return p.stats, err
	}
	return p.stats, part.Finish()
}

// Look finds one more than the largest id at each end of a run of rows of part k, if the node type is known from its edges
// alone, and 0 otherwise.
func (s *Share) Look(ctx context.Context, k int, run table.Part) (src, dst uint64, err error) {
	p := *s.b.parts[k]
	edges := *p.Edges
	edges.Table = run.Of(p.Table)
	p.Edges, p.run, p.rows = &edges, true, 0
	a, b := *p.src.t, *p.dst.t
	p.src.t, p.dst.t = &a, &b
	if s.b.parts[k].src.t == s.b.parts[k].dst.t {
		p.dst.t = &a
	}
	g := group{builder: s.b, etype: p.Type, parts: []*part{&p}}
	lay := newLayout(true, nil)
	if err := g.scanPart(ctx, &p, nil, &lay); err != nil {
		return 0, 0, err
	}
	return p.src.t.count, p.dst.t.count, nil
}

// Unknown says whether the number of nodes of a type follows from the largest id of its edges.
func (s *Share) Unknown(t int) bool {
	x := s.b.types[t]
	return x.Table == nil && !x.keyed && x.Count == 0
}

// Compares says whether the ids of a type are integers, which are keys unless they equal the row numbers.
func (s *Share) Compares(t int) bool {
	x := s.b.types[t]
	return x.Table != nil && x.ID.Name != "" && x.ID.DType == graph.Uint64
}

// RowNumbers says whether the integer ids of a run of rows of a type equal the row numbers.
func (s *Share) RowNumbers(ctx context.Context, t int, run table.Part) (bool, error) {
	x := s.b.types[t]
	if s.b.opt.DanglingEdges == Zeros {
		return false, nil
	}
	_, err := run.Of(x.Table).Scan(ctx, []table.Column{x.ID}, 1, isRowNumber)
	if errors.Is(err, errKeys) {
		return false, nil
	}
	return err == nil, err
}

// Sparse refuses ids of part k out of proportion to its rows, after Know.
func (s *Share) Sparse(ctx context.Context, k int, n *Numbers) error {
	p := *s.b.parts[k]
	a, b := *p.src.t, *p.dst.t
	for _, t := range []*nodeType{&a, &b} {
		t.known = !s.Unknown(t.number)
	}
	p.src.t, p.dst.t, p.rows = &a, &b, n.Parts[k]
	return s.b.sparse(ctx, &p)
}

// shareBuffers bounds the buffers of records before they are sent.
const shareBuffers = 16 << 20

// shareExtent is the size of the buffers of records for about size bytes in all.
func shareExtent(buckets int, size uint64) int {
	each := max(size/uint64(buckets), 1)
	return min(extentFor(buckets, shareBuffers, 1), max(1<<bits.Len64(each), 512))
}

// Columns are the columns of a node type in the order of the chunks that Join reads: the columns of the input, and the ids.
func (s *Share) Columns(t int) []table.Column {
	x := s.b.types[t]
	cols := slices.Clone(x.Columns)
	if x.keyed && x.Table != nil {
		cols = append(cols, x.ID)
	}
	return cols
}

// Key is the key in row i of a column of ids of a type.
func (s *Share) Key(t int, v *table.Vector, i int) []byte { return keyAt(s.b.types[t], v, i) }

// KeyText is a key as text for an error.
func (s *Share) KeyText(t int, key []byte) string {
	if x := s.b.types[t]; x.Table != nil && x.ID.DType == graph.Uint64 {
		return fmt.Sprint(u64s(append(make([]byte, 0, 8), key...))[0])
	}
	return fmt.Sprintf("%q", key)
}

// Twice is the error of an id that two rows of a node table have.
func (s *Share) Twice(t int, key []byte, first, row uint64) error {
	x := s.b.types[t]
	return fmt.Errorf("%s: found id %s again, first at %s, expected each id once; remove a row, or give `DuplicateNodes` drop to keep the first", x.Table.Where(row, x.ID.Name), s.KeyText(t, key), x.Table.Where(first, x.ID.Name))
}

// dropsOf are the duplicates that a range left out, by part.
func dropsOf(list []atomic.Uint64) []uint64 {
	out := make([]uint64, len(list))
	for i := range list {
		out[i] = list[i].Load()
	}
	return out
}

// Count is the number of nodes of a type: before Place, without those that only edges name.
func (s *Share) Count(t int) uint64 { return s.b.types[t].count }

// Known is the number of nodes of a type without those that only edges name.
func (s *Share) Known(t int) uint64 { return s.b.types[t].count - s.added[t] }
