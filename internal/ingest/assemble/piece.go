package assemble

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// A piece of a range is a file of
//
//	the sections of fixed size: offsets of the nodes (uint64, from 0), far, seq (if it is stored), edge types, columns
//	the rows of variable size: per list of rows the number of the column, its size (uint32), and a vector
//	pieceEnd as JSON, and its size (uint64)
//
// where sections have room for Most edges.
type pieceEnd struct {
	Nodes uint64   `json:"nodes"`
	Most  uint64   `json:"most"`
	Kept  uint64   `json:"kept"`
	Rows  int64    `json:"rows"` // offset of the rows of variable size
	End   int64    `json:"end"`
	Drops []uint64 `json:"drops,omitempty"`
	// Vars are the extents of the columns of variable size, by the number of the column.
	Vars map[int]*store.Extent `json:"vars,omitempty"`
}

// section is a part of a file as a place for values. Offset 0 of the values is value from.
type section struct {
	f        vfs.File
	at, from int64
}

// WriteAt implements io.WriterAt.
func (s *section) WriteAt(b []byte, off int64) (int, error) { return s.f.WriteAt(b, s.at+off-s.from) }

// in is the section in a file that was opened later.
func (s *section) in(f vfs.File) *section { return &section{f, s.at, s.from} }

// sections places the sections of a range of n edges, and returns their end.
func (s *sink) sections(f vfs.File, lo, nodes, n uint64) (end int64) {
	next := func(rows uint64, width int) *section {
		x := &section{f: f, at: end}
		end += int64(rows) * int64(width)
		return x
	}
	offsets := next(nodes, 8)
	offsets.from = int64(lo) * 8
	s.indptr = &tail{dtype: graph.Uint64, out: offsets}
	s.far = next(n, idBytes(s.wideFar))
	if s.second || !s.opt.NoPositions {
		s.seq = next(n, idBytes(s.wideSeq))
	}
	if s.opt.Homogeneous && !s.second {
		s.types = next(n, typeDType(len(s.parts)).Size())
	}
	for i := range s.lay.cols {
		var out outColumn
		if c := &s.lay.cols[i]; c.width > 0 {
			out.at = next(n, c.width)
		}
		s.columns = append(s.columns, out)
	}
	return end
}

// rowsOf appends the rows of a column of variable size to a piece.
type rowsOf struct {
	column int
	f      vfs.File
	end    *pieceEnd
	buf    []byte
}

// Append implements appender.
func (r *rowsOf) Append(data []byte, ends []uint32, lengths ...[]uint32) error {
	r.buf = append(r.buf[:0], make([]byte, 8)...)
	r.buf = appendVector(r.buf, &table.Vector{Data: data, Ends: ends, Lengths: lengths})
	put32(r.buf, uint32(r.column))
	put32(r.buf[4:], uint32(len(r.buf)-8))
	_, err := r.f.WriteAt(r.buf, r.end.End)
	r.end.End += int64(len(r.buf))
	r.end.Vars[r.column].Take(data, ends, lengths...)
	return err
}

// Records are sent with a byte that says their form, of which one is packedEdges after the number of bytes (uint32).
const (
	rawRecords    = 0
	packedRecords = 1
)

// send returns a function that gives out records in their shortest form. The bytes belong to out.
func (l *layout) send(out func(bucket int, records []byte) error) func(bucket int, records []byte) error {
	return func(bucket int, records []byte) error {
		if l.plain() {
			b := make([]byte, 5, 5+len(records)*3/4)
			b[0] = packedRecords
			put32(b[1:], uint32(len(records)))
			if b, ok := packEdges(b, records); ok {
				return out(bucket, b)
			}
		}
		b := append(make([]byte, 0, 1+len(records)), rawRecords)
		return out(bucket, append(b, records...))
	}
}

// receive is the records that send gave out. They are valid until the next call with buf.
func (l *layout) receive(b []byte, buf *[]byte) ([]byte, error) {
	if len(b) > 0 && b[0] == rawRecords {
		*buf = append((*buf)[:0], b[1:]...)
		return *buf, nil
	}
	const most = 1 << 26
	if len(b) < 5 || b[0] != packedRecords || !l.plain() {
		return nil, errPacked
	}
	n := binary.LittleEndian.Uint32(b[1:])
	if n > most {
		return nil, errPacked
	}
	if cap(*buf) < int(n) {
		*buf = make([]byte, n)
	}
	*buf = (*buf)[:n]
	return *buf, unpackEdges(*buf, b[5:])
}

// Range sorts the edges of consecutive nodes at one end of an edge type, and writes their piece.
type Range struct {
	s      sink
	cut    cut
	bucket int
	spill  *extsort.Spill
	part   *extsort.Partition
	n      uint64
	bases  []uint64 // in the other direction: the edges before each range of the primary one
	buf    []byte
}

// Range begins a range of edge type g of the store. bases is nil for the primary direction; for the other one it has, by
// range of the primary direction, the number of edges before it, and the number of all edges at its end. The caller
// calls Close.
func (s *Share) Range(g, bucket, ranges int, bases []uint64) *Range {
	r := &Range{bucket: bucket, bases: bases}
	grp := *s.groups[g]
	r.s = sink{group: &grp, lay: newLayout(grp.wide(), grp.cols), way: grp.opt.Primary, bad: newFirstRow(), drops: make([]atomic.Uint64, len(grp.parts))}
	total := uint64(0)
	if bases != nil {
		total = bases[len(bases)-1]
		r.s.second, r.s.way, r.s.lay = true, 1-r.s.way, newLayout(grp.wide(), nil)
	}
	rows := uint64(0)
	for _, p := range grp.parts {
		rows = max(rows, p.rows)
	}
	r.s.widths(total, rows)
	r.cut = grp.cut(r.s.way, ranges)
	r.spill = extsort.NewSpill(grp.fs, grp.tmp, grp.budget.spill())
	r.part = extsort.NewPartition(r.spill, r.cut.buckets, 0, r.cut.shift)
	return r
}

// Add takes records that ScanEdges made, or those that Write of another Range passed on. from is the range that passed
// them on.
func (r *Range) Add(records []byte, from int) error {
	lay := &r.s.lay
	records, err := lay.receive(records, &r.buf)
	if err != nil {
		return err
	}
	if r.bases != nil {
		if from >= len(r.bases)-1 {
			return fmt.Errorf("found records of range %d, expected one of %d; use the same version on all machines", from, len(r.bases)-1)
		}
		base := r.bases[from]
		for b := records; len(b) >= lay.fixed; b = b[lay.fixed:] {
			near, far, seq := lay.get(b)
			lay.put(b, near, far, seq+base)
		}
	}
	lo := uint64(r.bucket) << r.cut.shift
	hi, farTop := min(lo+uint64(1)<<r.cut.shift, r.s.nearTop), r.s.idTop(1-r.s.way)
	for b := records; len(b) > 0; r.n++ {
		n := lay.fixed
		if len(b) >= lay.least() {
			n = lay.size(b)
		}
		if n > len(b) || !lay.whole(b[:n]) {
			return fmt.Errorf("found %d bytes of records of edge type %s, expected whole records; use the same version on all machines", len(records), r.s.etype)
		}
		if near, far, _ := lay.get(b); near < lo || near >= hi || far >= farTop {
			return fmt.Errorf("found an edge of nodes %d and %d of edge type %s, expected nodes %d to %d and less than %d; use the same version on all machines", near, far, r.s.etype, lo, hi, farTop)
		}
		b = b[n:]
	}
	if len(records) == 0 {
		return nil
	}
	return r.part.Add(r.bucket, records)
}

// Write writes the piece. other, if it is not nil, takes the records of the other direction, by range.
func (r *Range) Write(ctx context.Context, f vfs.File, otherRanges int, other func(bucket int, records []byte) error) (err error) {
	s := &r.s
	lo := uint64(r.bucket) << r.cut.shift
	end := pieceEnd{Most: r.n}
	if lo < s.nearTop {
		end.Nodes = min(uint64(1)<<r.cut.shift, s.nearTop-lo)
	}
	end.Rows = s.sections(f, lo, end.Nodes, r.n)
	end.End = end.Rows
	for i := range s.columns {
		if s.columns[i].at == nil {
			if end.Vars == nil {
				end.Vars = map[int]*store.Extent{}
			}
			end.Vars[i] = &store.Extent{}
			s.columns[i].vars = &rowsOf{column: i, f: f, end: &end}
		}
	}
	if r.n == 0 {
		if err := r.part.Finish(); err != nil { // without records
			return err
		}
	}
	s.queue = &queue{bases: make([]uint64, r.cut.buckets)}
	w := &finisher{sink: s}
	defer w.close()
	if other != nil {
		c := s.cut(1-s.way, otherRanges)
		lay := newLayout(s.lay.wide, nil)
		part := extsort.NewPartition(nil, c.buckets, shareExtent(c.buckets, r.n*uint64(lay.least())), c.shift)
		part.Out = lay.send(other)
		defer part.Close()
		s.other = part
		if w.otherWriter, err = part.Writer(); err != nil {
			return err
		}
	}
	if end.Nodes > 0 {
		if err := w.bucket(ctx, r.part, r.bucket); err != nil {
			return err
		}
	}
	if err := s.bad.check(ctx); err != nil {
		return err
	}
	if s.other != nil {
		if err := s.other.Finish(); err != nil {
			return err
		}
	}
	end.Kept, end.Drops = w.kept, dropsOf(s.drops)
	b, err := appendEnd(&end)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, end.End)
	return err
}

// Close frees the memory of the range.
func (r *Range) Close() error {
	r.part.Close()
	return r.spill.Close()
}

// fileEnd is the description of a file that a worker wrote, at the end of the file.
type fileEnd interface {
	bytes() *int64 // of the file before the end
}

func (e *pieceEnd) bytes() *int64 { return &e.End }

// appendEnd is the end of a file: JSON, and its size (uint64).
func appendEnd(end fileEnd) ([]byte, error) {
	b, err := json.Marshal(end)
	return binary.LittleEndian.AppendUint64(b, uint64(len(b))), err
}

// readEnd reads the end of a file.
func readEnd(fsys vfs.FS, name string, end fileEnd) (err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = fmt.Errorf("%s: found no whole piece: %w", name, err)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var size [8]byte
	if _, err := f.ReadAt(size[:], info.Size()-8); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint64(size[:]))
	if n < 2 || n > 1<<20 || n > info.Size()-8 {
		return fmt.Errorf("found an end of %d bytes", n)
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, info.Size()-8-n); err != nil {
		return err
	}
	if err := json.Unmarshal(b, end); err != nil {
		return err
	}
	if at := *end.bytes(); at != info.Size()-8-n {
		return fmt.Errorf("found %d bytes, expected %d", info.Size()-8-n, at)
	}
	return nil
}

// Kept is the number of edges of a piece.
func Kept(fsys vfs.FS, name string) (uint64, error) {
	var end pieceEnd
	err := readEnd(fsys, name, &end)
	return end.Kept, err
}

// sectionCopy is a section of a piece on its way to an array of the store.
type sectionCopy struct {
	from  *section
	to    io.WriterAt
	width int
}

// wants says whether bytes at an offset from the first value of an array are written.
func wants(to io.WriterAt, off, n int64) bool {
	a, ok := to.(*store.Array)
	return !ok || a.Wants(off, n)
}

// joinRange copies what is wanted of a piece to its place in the store: its first edge is base, its first node lo.
func (s *sink) joinRange(ctx context.Context, name string, end *pieceEnd, lo, base uint64) (err error) {
	if end.Rows < 0 || end.Rows > end.End || end.Kept > end.Most || end.Most > uint64(end.Rows) || end.Nodes > uint64(end.Rows) ||
		end.Nodes > s.nearTop-min(lo, s.nearTop) || len(end.Drops) > len(s.drops) {
		return fmt.Errorf("%s: found an end with %d bytes of rows and %d edges, expected the end of a piece; the file is damaged", name, end.Rows, end.Kept)
	}
	for i, n := range end.Drops {
		s.drops[i].Add(n)
	}
	from := sink{group: s.group, lay: s.lay, second: s.second, wideFar: s.wideFar, wideSeq: s.wideSeq}
	if at := from.sections(nil, lo, end.Nodes, end.Most); at != end.Rows {
		return fmt.Errorf("%s: found sections of %d bytes, expected %d; use the same version on all machines", name, end.Rows, at)
	}
	sections := s.wantedSections(&from, end.Kept, base)
	width := int64(s.indptr.dtype.Size())
	offsets := wants(s.indptr.out, int64(lo)*width, int64(end.Nodes)*width)
	rows, err := s.wantedRows(end)
	if err != nil || len(sections) == 0 && !offsets && len(rows) == 0 {
		return err
	}
	f, err := s.fs.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if offsets {
		if err := s.joinOffsets(ctx, from.indptr.out.(*section).in(f), lo, end.Nodes, base); err != nil {
			return err
		}
	}
	buf := make([]byte, 1<<20)
	for _, p := range sections {
		to := int64(base) * int64(p.width)
		if err := pump(ctx, p.from.in(f), int64(end.Kept)*int64(p.width), buf, func(b []byte, off int64) error {
			_, err := p.to.WriteAt(b, to+off)
			return err
		}); err != nil {
			return err
		}
	}
	return s.joinRows(f, name, end, rows)
}

// wantedSections are the sections of a piece with kept edges from base on of which some bytes are written.
func (s *sink) wantedSections(from *sink, kept, base uint64) (list []sectionCopy) {
	take := func(at, to io.WriterAt, width int) {
		if to != nil && wants(to, int64(base)*int64(width), int64(kept)*int64(width)) {
			list = append(list, sectionCopy{at.(*section), to, width})
		}
	}
	take(from.far, s.far, idBytes(s.wideFar))
	take(from.seq, s.seq, idBytes(s.wideSeq))
	take(from.types, s.types, typeDType(len(s.parts)).Size())
	for i := range s.columns {
		if c := &s.lay.cols[i]; c.width > 0 {
			take(from.columns[i].at, s.columns[i].at, c.width)
		}
	}
	return list
}

// wantedRows are the columns of variable size of which some rows of a piece are written. The others leave them out.
func (s *sink) wantedRows(end *pieceEnd) (map[int]bool, error) {
	list := map[int]bool{}
	for i := range s.columns {
		if s.columns[i].vars == nil {
			continue
		}
		file, extent := s.columns[i].file, end.Vars[i]
		if file == nil || extent == nil || file.Wants(extent) {
			list[i] = true
		} else if err := file.Skip(extent); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// joinOffsets writes the offsets of nodes from lo on, of which a piece has those from its first edge on.
func (s *sink) joinOffsets(ctx context.Context, from *section, lo, nodes, base uint64) error {
	wide := s.indptr.dtype == graph.Uint64
	at := int64(lo) * int64(idBytes(wide))
	out := make([]byte, 1<<20)
	return pump(ctx, from, int64(nodes)*8, make([]byte, 1<<20), func(b []byte, _ int64) error {
		values := u64s(b)
		for i, v := range values {
			putID(out, wide, i, base+v)
		}
		n := len(values) * idBytes(wide)
		_, err := s.indptr.out.WriteAt(out[:n], at)
		at += int64(n)
		return err
	})
}

// joinRows appends the rows of variable size of a piece to the columns that want them.
func (s *sink) joinRows(f vfs.File, name string, end *pieceEnd, wanted map[int]bool) error {
	if len(wanted) == 0 {
		return nil
	}
	var buf []byte
	for at := end.Rows; at < end.End; {
		var head [8]byte
		if _, err := f.ReadAt(head[:], at); err != nil {
			return err
		}
		column, size := int(binary.LittleEndian.Uint32(head[:])), int(binary.LittleEndian.Uint32(head[4:]))
		if column >= len(s.columns) || s.columns[column].vars == nil || at+8+int64(size) > end.End {
			return fmt.Errorf("%s: found column %d of %d bytes at %d, expected other rows; the file is damaged", name, column, size, at)
		}
		from := at + 8
		if at = from + int64(size); !wanted[column] {
			continue
		}
		if len(buf) < size {
			buf = make([]byte, size)
		}
		if _, err := f.ReadAt(buf[:size], from); err != nil {
			return err
		}
		v, _, ok := cutVector(buf[:size])
		if !ok {
			return fmt.Errorf("%s: found %d bytes at %d, expected rows of column %d; the file is damaged", name, size, from-8, column)
		}
		if err := s.columns[column].vars.Append(v.Data, v.Ends, v.Lengths...); err != nil {
			return err
		}
	}
	return nil
}

// pump reads n bytes of a section.
func pump(ctx context.Context, x *section, n int64, buf []byte, fn func(b []byte, off int64) error) error {
	for off := int64(0); off < n; {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		b := buf[:min(int64(len(buf))&^7, n-off)]
		if _, err := x.f.ReadAt(b, x.at+off); err != nil {
			return err
		}
		if err := fn(b, off); err != nil {
			return err
		}
		off += int64(len(b))
	}
	return nil
}
