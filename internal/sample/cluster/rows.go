package cluster

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/sample/output"
	"github.com/graphmill/graphmill/internal/stages"
	"github.com/graphmill/graphmill/internal/wordmap"
)

// TFRecords have the columns of their nodes and edges. By the method Shuffle, a group asks ranges of rows for those that
// it wants, each once, and keeps them in tables while it encodes. The stages are
//
//	want      a group          samples from the answers, and asks the ranges of the rows of its nodes and edges
//	rows      a range of rows  gives the rows
//	assemble  a group          samples from the answers again, and encodes with the rows
//
// A record of requests is u32 group, u16 table, and a varint per row: its number, less the number of the row before it, in
// ascending order. A record of rows is u16 rowsRecord, u16 table, u32 number of rows, the numbers in the same way, and the
// rows, column by column.

// rowsRecord begins a record of rows. No op has this number.
const rowsRecord = math.MaxUint16

// rowTable is a node type or edge type with columns that Examples have.
type rowTable struct {
	edges   bool
	number  int // of the type
	count   int // rows of the type
	columns []*graph.Column
	nodes   int // rows of a range
	first   int64
	ranges  int64
}

// rangeBytes is about the bytes of a range of rows, for types that have few.
const rangeBytes = 4 << 20

// columnRecorder notes the columns of the Examples.
type columnRecorder struct{ tables []rowTable }

// Nodes implements output.Rows.
func (r *columnRecorder) Nodes(number int) output.RowTable { return recordedTable{r, false, number} }

// Edges implements output.Rows.
func (r *columnRecorder) Edges(number int) output.RowTable { return recordedTable{r, true, number} }

type recordedTable struct {
	r      *columnRecorder
	edges  bool
	number int
}

// Fetches implements output.RowTable.
func (recordedTable) Fetches(*graph.Column) bool { return true }

// Places implements output.RowTable. A recorder encodes nothing.
func (recordedTable) Places(to []uint32, _ graph.Index) []uint32 { return to }

// Column implements output.RowTable.
func (t recordedTable) Column(c *graph.Column) (*graph.Column, error) {
	i := slices.IndexFunc(t.r.tables, func(x rowTable) bool { return x.edges == t.edges && x.number == t.number })
	if i < 0 {
		i = len(t.r.tables)
		t.r.tables = append(t.r.tables, rowTable{edges: t.edges, number: t.number, count: c.Rows})
	}
	if graph.FindColumn(t.r.tables[i].columns, c.Name) != nil {
		return nil, fmt.Errorf("found column %q twice, expected each column once", c.Name)
	}
	t.r.tables[i].columns = append(t.r.tables[i].columns, c)
	return emptyLike(c), nil
}

// planRows divides the rows of the columns that Examples have into ranges.
func (s *Site) planRows(r *columnRecorder) {
	var first int64
	for i := range r.tables {
		t := &r.tables[i]
		bytes := int64(0)
		for _, c := range t.columns {
			bytes += c.Bytes()
		}
		t.nodes = s.Work.RangeNodes
		for int64(t.nodes)*bytes < rangeBytes*int64(t.count) && t.nodes < t.count || (t.count+t.nodes-1)/t.nodes > s.Work.MostRanges {
			t.nodes *= 2
		}
		t.first, t.ranges = first, int64((t.count+t.nodes-1)/t.nodes)
		first += t.ranges
	}
	s.tables = r.tables
}

// rowKey is the key of a range of rows, for the requests of a group.
func (s *Site) rowKey(t *rowTable, row, group uint64) int64 {
	return (t.first+int64(row/uint64(t.nodes)))*s.steps.waves + int64(group/s.Work.WaveGroups)
}

// wantGroup asks for the rows of a group.
func (h *Hand) wantGroup(ctx context.Context, key int64, records func() ([]byte, bool), emit stages.Emit) error {
	s := h.s
	group, err := h.readGroup(key, records)
	if err != nil {
		return err
	}
	if h.wanted == nil {
		h.wanted = make([]wantedRows, len(s.tables))
	}
	for i := range h.wanted {
		h.wanted[i].begin()
	}
	first, n := s.Work.Group(group)
	var batch sample.Batch
	sub := uint32(0)
	for i := range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		h.batches.Get(first+i, &batch)
		for at := range s.sampler.Subgraphs(&batch) {
			g, err := h.assemble(s.sampler.Input(&batch, s.job.Seed, at), sub)
			if err != nil {
				return err
			}
			sub++
			for i := range s.tables {
				if t := &s.tables[i]; t.edges {
					h.wanted[i].add(g.Edges[t.number].ID)
				} else {
					h.wanted[i].add(graph.Index{U32: g.Nodes[t.number]})
				}
			}
		}
	}
	for i := range s.tables {
		h.wanted[i].emit(s, i, group, emit)
	}
	return nil
}

// wantedRows is the rows of a table that a group wants.
type wantedRows struct {
	seen wordmap.Map
	list []uint64
}

func (w *wantedRows) begin() { w.seen.Clear(); w.list = w.list[:0] }

func (w *wantedRows) add(rows graph.Index) {
	for i := range rows.Len() {
		if r := rows.At(i); w.seen.Add(r) {
			w.list = append(w.list, r)
		}
	}
}

// emit emits a record per range.
func (w *wantedRows) emit(s *Site, number int, group uint64, emit stages.Emit) {
	t := &s.tables[number]
	slices.Sort(w.list)
	for i := 0; i < len(w.list); {
		key := s.rowKey(t, w.list[i], group)
		b := binary.LittleEndian.AppendUint32(nil, uint32(group))
		b = binary.LittleEndian.AppendUint16(b, uint16(number))
		last := uint64(0)
		for ; i < len(w.list) && s.rowKey(t, w.list[i], group) == key; i++ {
			b = binary.AppendUvarint(b, w.list[i]-last)
			last = w.list[i]
		}
		emit(s.rows(), key, b)
	}
}

// giveRows gives the rows of a range to the groups that asked for them.
func (h *Hand) giveRows(ctx context.Context, records func() ([]byte, bool), emit stages.Emit) error {
	s := h.s
	for b, ok := records(); ok; b, ok = records() {
		if len(b) < 6 {
			return errRecord("requests for rows")
		}
		group, number := binary.LittleEndian.Uint32(b), int(binary.LittleEndian.Uint16(b[4:]))
		if number >= len(s.tables) || uint64(group) >= s.Work.Groups() {
			return errRecord("requests for rows")
		}
		t := &s.tables[number]
		rows, err := ascending(h.rows[:0], b[6:], -1)
		if err != nil {
			return err
		}
		h.rows = rows.list
		for len(rows.list) > 0 {
			// A record has about flushBytes, so that few rows go together where they are long.
			out, n, err := appendRows(nil, uint16(number), t, rows.list)
			if err != nil {
				return err
			}
			emit(s.rows()+1, groupKey(uint64(group)), out)
			rows.list = rows.list[n:]
		}
		s.counts.rows.Add(uint64(len(h.rows)))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// numbers is a list of ascending numbers, and the bytes after it.
type numbers struct {
	list []uint64
	rest []byte
}

// ascending reads n ascending numbers, or all with n -1.
func ascending(to []uint64, b []byte, n int) (numbers, error) {
	last := uint64(0)
	for i := 0; n < 0 && len(b) > 0 || i < n; i++ {
		more, used := binary.Uvarint(b)
		if last += more; used <= 0 || more > math.MaxInt || last > math.MaxInt {
			return numbers{}, errRecord("rows")
		}
		to, b = append(to, last), b[used:]
	}
	return numbers{to, b}, nil
}

// appendRows appends a record with the first rows of a list, and returns their number.
func appendRows(b []byte, number uint16, t *rowTable, rows []uint64) (_ []byte, n int, err error) {
	size := 0
	for n < len(rows) && size < flushBytes {
		for _, c := range t.columns {
			if err := checkRow(c, int(rows[n])); err != nil {
				return nil, 0, err
			}
			size += rowSize(c, int(rows[n]))
		}
		n++
	}
	b = binary.LittleEndian.AppendUint16(b, rowsRecord)
	b = binary.LittleEndian.AppendUint16(b, number)
	b = binary.LittleEndian.AppendUint32(b, uint32(n))
	last := uint64(0)
	for _, r := range rows[:n] {
		b = binary.AppendUvarint(b, r-last)
		last = r
	}
	for _, c := range t.columns {
		for _, r := range rows[:n] {
			b = appendRow(b, c, int(r))
		}
	}
	return b, n, nil
}

// rowSize is about the bytes of a row.
func rowSize(c *graph.Column, r int) int {
	from, to := c.Span(r, r+1)
	if c.DType != graph.String {
		return (to - from) * c.DType.Size()
	}
	return int(c.StringOffsets.At(to)-c.StringOffsets.At(from)) + to - from
}

// groupRows is the rows of a group. It implements output.Rows.
type groupRows struct {
	s      *Site
	tables []*groupTable
}

type groupTable struct {
	of      *rowTable
	columns []*graph.Column
	place   wordmap.Map
	rows    uint32
	err     error
}

func newGroupRows(s *Site) *groupRows {
	g := &groupRows{s: s}
	for i := range s.tables {
		t := &groupTable{of: &s.tables[i]}
		t.place.Clear()
		for _, c := range t.of.columns {
			t.columns = append(t.columns, emptyLike(c))
		}
		g.tables = append(g.tables, t)
	}
	return g
}

// add adds a record of rows. A record that came before adds nothing new.
func (g *groupRows) add(b []byte) error {
	if len(b) < 8 {
		return errRecord("rows")
	}
	number, n := int(binary.LittleEndian.Uint16(b[2:])), int(binary.LittleEndian.Uint32(b[4:]))
	if number >= len(g.tables) || n > len(b) {
		return errRecord("rows")
	}
	t := g.tables[number]
	rows, err := ascending(nil, b[8:], n)
	if err != nil {
		return err
	}
	for _, r := range rows.list {
		_, added := t.place.Put(r, t.rows)
		if int(r) >= t.of.count || !added {
			return errRecord("rows")
		}
		t.rows++
	}
	rest := rows.rest
	for _, c := range t.columns {
		for range rows.list {
			if rest, err = readRow(c, rest); err != nil {
				return err
			}
		}
	}
	if len(rest) > 0 {
		return errRecord("rows")
	}
	return nil
}

// Nodes implements output.Rows.
func (g *groupRows) Nodes(number int) output.RowTable { return g.table(false, number) }

// Edges implements output.Rows.
func (g *groupRows) Edges(number int) output.RowTable { return g.table(true, number) }

func (g *groupRows) table(edges bool, number int) output.RowTable {
	for _, t := range g.tables {
		if t.of.edges == edges && t.of.number == number {
			return t
		}
	}
	return nil
}

// Fetches implements output.RowTable.
func (t *groupTable) Fetches(c *graph.Column) bool { return graph.FindColumn(t.columns, c.Name) != nil }

// Column implements output.RowTable.
func (t *groupTable) Column(c *graph.Column) (*graph.Column, error) {
	return graph.FindColumn(t.columns, c.Name), nil
}

// Places implements output.RowTable.
func (t *groupTable) Places(to []uint32, ids graph.Index) []uint32 {
	for i := range ids.Len() {
		id := ids.At(i)
		place, ok := t.place.Get(id)
		if !ok && t.err == nil {
			t.err = fmt.Errorf("found no row %d of the columns of a type, expected each row that a group asked for: a record was lost", id)
		}
		to = append(to, place)
	}
	return to
}

// check is the first error of Places. A nil g has none.
func (g *groupRows) check() error {
	if g == nil {
		return nil
	}
	for _, t := range g.tables {
		if t.err != nil {
			return t.err
		}
	}
	return nil
}
