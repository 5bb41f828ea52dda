package outofcore

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Rows is a table of the rows that some batches want of the columns of a type: each row once, in the order of the file.
// It stands for the columns while a Run encodes subgraphs: the caller takes Column instead of a column, and Places
// instead of ids.
type Rows struct {
	of      *rowTables
	edges   bool // the type is an edge type
	number  int  // of the type
	count   int  // rows of the type
	columns []*rowColumn

	// The wanted rows: a bit per row, and the number of wanted rows before each word of bits.
	want   []uint64
	before []uint32
	marked int
	fresh  []uint64 // rows that were marked for one batch and are not in marked yet
	left   []uint64 // rows that no batch gets, as want; nil for none
	free   []func()
}

// rowColumn is the file of a column and its part of the table.
type rowColumn struct {
	name   string
	file   *direct.File
	start  uint64 // byte offset of the first row
	row    int    // bytes
	per    int    // rows per block
	first  int    // number of the first block, over all columns of all tables
	blocks int
	table  []byte
	stand  graph.Column
	free   func()
}

// Fetches says whether the rows of a column can be fetched. Strings and rows of variable length cannot: they are read
// through the map of the store.
func Fetches(c *graph.Column) bool { return c.DType != graph.String && !c.Ragged() }

// Fetches is the function Fetches.
func (r *Rows) Fetches(c *graph.Column) bool { return Fetches(c) }

// rowTables is the tables of rows of an executor, and the reader of their files.
type rowTables struct {
	fsys         vfs.FS
	store        *store.Store
	memory       int64  // Options.Memory
	scratch      string // Options.Scratch
	disk         disk
	nodes, edges []*Rows // by type; nil where the type was not requested
	always       bool    // spill the rows wherever there are several packs, for tests
	buf          []byte  // of the readers
	free         func()
}

// NodeRows is the rows of a node type, given by number.
func (x *Executor) NodeRows(t int) *Rows {
	if x.rows.nodes == nil {
		x.rows.nodes = make([]*Rows, len(x.store.Graph.Nodes))
	}
	if x.rows.nodes[t] == nil {
		x.rows.nodes[t] = &Rows{of: &x.rows, number: t, count: x.store.Graph.Nodes[t].Count}
	}
	return x.rows.nodes[t]
}

// EdgeRows is the rows of an edge type, given by number.
func (x *Executor) EdgeRows(t int) *Rows {
	if x.rows.edges == nil {
		x.rows.edges = make([]*Rows, len(x.store.Graph.Edges))
	}
	if x.rows.edges[t] == nil {
		x.rows.edges[t] = &Rows{of: &x.rows, edges: true, number: t, count: x.store.Graph.Edges[t].Count}
	}
	return x.rows.edges[t]
}

// tables is the tables that have columns, tables of nodes first.
func (t *rowTables) tables() []*Rows {
	var all []*Rows
	for _, r := range slices.Concat(t.nodes, t.edges) {
		if r != nil && len(r.columns) > 0 {
			all = append(all, r)
		}
	}
	return all
}

func (t *rowTables) close() (err error) {
	for _, r := range slices.Concat(t.nodes, t.edges) {
		if r != nil {
			err = errors.Join(err, r.close())
		}
	}
	t.freeBuffers()
	return err
}

// buffers is memory for n readers, of size bytes each.
func (t *rowTables) buffers(n, size int) ([]byte, error) {
	if len(t.buf) < n*size {
		t.freeBuffers()
		var err error
		if t.buf, t.free, err = direct.Alloc(n * size); err != nil {
			return nil, err
		}
	}
	return t.buf, nil
}

func (t *rowTables) freeBuffers() {
	if t.free != nil {
		t.free()
		t.buf, t.free = nil, nil
	}
}

// meta is the file and the dtype of a column.
func (r *Rows) meta(column string) store.ColumnMeta {
	g, m := r.of.store.Graph, r.of.store.Meta
	if r.edges {
		return m.Edges[g.Edges[r.number].Type.String()].Columns[column]
	}
	return m.Nodes[g.Nodes[r.number].Type].Columns[column]
}

// Column is a column of the table, in place of c, a column of the type for which Fetches is true. Its values are those
// of the batches that are being encoded. It is valid until Executor.Close. No Run may be under way.
func (r *Rows) Column(c *graph.Column) (*graph.Column, error) {
	for _, has := range r.columns {
		if has.name == c.Name {
			return &has.stand, nil
		}
	}
	if len(r.columns) == 0 {
		if err := r.alloc(); err != nil {
			return nil, err
		}
	}
	path, start := r.of.store.ArrayFile(r.meta(c.Name).File)
	f, err := direct.Open(r.of.store.Joined(r.of.fsys), path)
	if err != nil {
		return nil, err
	}
	col := &rowColumn{name: c.Name, file: f, start: uint64(start), row: c.RowBytes(), free: func() {}}
	r.columns = append(r.columns, col) // close closes it, also after an error below
	if want := start + int64(r.count)*int64(col.row); start < 0 || f.Size() < want {
		return nil, fmt.Errorf("%s: found %d bytes, expected at least %d", path, f.Size(), want)
	}
	col.per = max(blockBytes/col.row, 1)
	col.blocks = (r.count + col.per - 1) / col.per
	first := 0
	for _, r := range r.of.tables() {
		for _, c := range r.columns {
			c.first = first
			first += c.blocks
		}
	}
	// The rows that are wanted at a time always fit the memory.
	rows := r.count
	if most := r.of.memory / int64(col.row); most > 0 && most < int64(rows) {
		rows = int(most)
	}
	// There is room for the rest of the last page.
	if col.table, col.free, err = direct.Array[byte](rows*col.row + direct.Align); err != nil {
		return nil, err
	}
	col.stand = *c
	col.stand.Rows, col.stand.Values = rows, col.table[:rows*col.row]
	return &col.stand, nil
}

func (r *Rows) alloc() error {
	words := (r.count + 63) / 64
	want, free, err := direct.Array[uint64](words)
	if err != nil {
		return err
	}
	r.want, r.free = want, append(r.free, free)
	before, free, err := direct.Array[uint32](words + 1)
	if err != nil {
		return err
	}
	r.before, r.free = before, append(r.free, free)
	return nil
}

func (r *Rows) close() (err error) {
	for _, c := range r.columns {
		err = errors.Join(err, c.file.Close())
		c.free()
	}
	for _, free := range r.free {
		free()
	}
	r.columns, r.free = nil, nil
	return err
}

// Places appends to dst the rows of the table that have the rows ids of the column. The batches that are being encoded
// must want all of ids.
func (r *Rows) Places(dst []uint32, ids graph.Index) []uint32 {
	for _, v := range ids.U32 {
		dst = append(dst, r.place(int(v)))
	}
	for _, v := range ids.U64 {
		dst = append(dst, r.place(int(v)))
	}
	return dst
}

// place is the number of wanted rows before row v.
func (r *Rows) place(v int) uint32 {
	n := r.before[v>>6]
	if v&63 != 0 { // there is no word after the last row
		n += uint32(bits.OnesCount64(r.want[v>>6] & (1<<(v&63) - 1)))
	}
	return n
}

// mark marks rows as wanted.
func (r *Rows) mark(ids []uint32) {
	for _, v := range ids {
		r.markRow(uint64(v))
	}
}

// markIDs is mark for ids of either width.
func (r *Rows) markIDs(ids graph.Index) {
	r.mark(ids.U32)
	for _, v := range ids.U64 {
		r.markRow(v)
	}
}

// Leave leaves rows out, given by a bit per row: batches do not fetch them, and Places is not asked for them. No Run may be under way.
func (r *Rows) Leave(rows []uint64) { r.left = rows }

func (r *Rows) markRow(v uint64) {
	if r.left != nil && r.left[v>>6]>>(v&63)&1 != 0 {
		return
	}
	if word, bit := &r.want[v>>6], uint64(1)<<(v&63); *word&bit == 0 {
		*word |= bit
		r.fresh = append(r.fresh, v)
	}
}

// unmark takes back what was marked since keep.
func (r *Rows) unmark() {
	for _, v := range r.fresh {
		r.want[v>>6] &^= 1 << (v & 63)
	}
	r.fresh = r.fresh[:0]
}

// keep adds what was marked for a batch to the wanted rows.
func (r *Rows) keep() {
	r.marked += len(r.fresh)
	r.fresh = r.fresh[:0]
}

// reset takes all marks back.
func (r *Rows) reset() {
	clear(r.want)
	r.marked, r.fresh = 0, r.fresh[:0]
}

// order counts the wanted rows before each word.
func (r *Rows) order() {
	n := uint32(0)
	for i, word := range r.want {
		r.before[i] = n
		n += uint32(bits.OnesCount64(word))
	}
	r.before[len(r.want)] = n
}

// runs calls fn with the runs of wanted rows from first to end. A run may be cut in two.
func (r *Rows) runs(first, end int, fn func(from, to int)) {
	for v := first; v < end; {
		word := r.want[v>>6] >> (v & 63)
		if word == 0 {
			v = (v | 63) + 1
			continue
		}
		skip := bits.TrailingZeros64(word)
		v += skip
		if v >= end {
			return
		}
		to := min(v+bits.TrailingZeros64(^(word>>skip)), end)
		fn(v, to)
		v = to
	}
}

// rowBytes is the bytes of a row in all columns.
func (r *Rows) rowBytes() int {
	n := 0
	for _, c := range r.columns {
		n += c.row
	}
	return n
}
