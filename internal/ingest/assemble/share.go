package assemble

import (
	"context"
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
// of the same Input and Options. The functions that read rows, sort edges and write the store are those of Build, so the
// bytes of the store are, too.
//
// First all numbers must be known that places depend on: Know. Then ScanEdges makes the records of edges, by ranges of
// their primary end; a Range sorts those of one range and writes its piece of the store; and Join makes the store from the
// pieces.
type Share struct {
	b      *builder
	groups []*group
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

// TypeNumbers are those of a node type.
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
	for i, t := range s.b.types {
		t.stats.Added = added[i]
		t.count += added[i]
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

// rows is the number of rows of all parts.
func (g *group) rows() (n uint64) {
	for _, p := range g.parts {
		n += p.rows
	}
	return n
}

// wide says whether records of edges need ids of 64 bits.
func (g *group) wide() bool {
	return g.opt.wide || g.rows()<<g.sym > 1<<32 || slices.ContainsFunc(g.parts, func(p *part) bool {
		return g.top(p.src.t) > 1<<32 || g.top(p.dst.t) > 1<<32
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

// Resolve finds the ends of the rows of a chunk that are keys: their type-wise ids, or Dangling. The ends of rows that
// give no edge may be anything. The lists are valid until the next call.
type Resolve func(c *table.Chunk, at Asked) (src, dst []uint64, err error)

// Asked are the indices of columns in a chunk of edges: those of the ends, and that of the column of Edges.Where. They are
// -1 where there is none.
type Asked struct{ Src, Dst, Where int }

// Dangling stands for the id of a key that no node has.
const Dangling = dangling

// Gives says whether row i of a chunk gives an edge.
func (e *Edges) Gives(c *table.Chunk, at Asked, i int) bool {
	return (at.Where < 0 || string(text(&c.Columns[at.Where], i)) == e.Where.Value) && (c.Absent == nil || !c.Absent[i])
}

// ScanEdges makes the records of rows of part k. out takes the records of a range, which are those of Range.Add. Calls
// for the same range are in the order of the rows. It may be called from several goroutines.
func (s *Share) ScanEdges(ctx context.Context, k int, rows table.Table, ranges int, resolve Resolve, out func(bucket int, records []byte) error) (EdgesResult, error) {
	g, p := *s.groups[s.GroupOf(k)], *s.b.parts[k]
	edges := *p.Edges
	edges.Table = rows
	p.Edges = &edges
	p.src.given, p.dst.given = p.src.isKeyed(), p.dst.isKeyed()
	if !p.src.given && !p.dst.given {
		resolve = nil
	}
	known := p.rows
	p.rows = 0
	lay := newLayout(g.wide(), g.cols)
	c := g.cut(g.opt.Primary, ranges)
	part := extsort.NewPartition(nil, c.buckets, extentFor(c.buckets, shareBuffers, 1), c.shift)
	part.Out = out
	defer part.Close()
	w, err := part.Writer()
	if err != nil {
		return p.stats, err
	}
	if err := g.scanGiven(ctx, &p, []*extsort.Writer{w}, &lay, resolve); err != nil {
		return p.stats, err
	}
	if p.rows > known {
		return p.stats, fmt.Errorf("%s: found %d rows, expected at most %d; do not change the file while it is read", rows.Files()[0], p.rows, known)
	}
	return p.stats, part.Finish()
}

// shareBuffers bounds the buffers of records before they are sent.
const shareBuffers = 16 << 20

// Columns are the columns of a node type in the order of the chunks that Join reads: those of the input, and the ids.
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
