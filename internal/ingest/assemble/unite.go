package assemble

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
)

// Pieces are the files from which Join makes a store, by the numbers of a Share.
type Pieces struct {
	// Nodes are the chunks of the rows of a node type, in order.
	Nodes func(t int) []string
	// Texts are the chunks of the keys that edges add to a node type, in the order of the numbers of their nodes.
	Texts func(t int) []string
	// Index are the pieces of the index of the ids of a keyed type, by bucket of hash.
	Index func(t int) []string
	// Ranges are the pieces of the ranges of an edge type of the store, in order.
	Ranges func(g int, second bool) []string
	// Edges are the counts of each part.
	Edges []EdgesResult

	ends sync.Map // of files, by name
}

// endOf is the end of a file, which is read once.
func endOf[T any, P interface {
	*T
	fileEnd
}](fsys vfs.FS, pieces *Pieces, name string) (*T, error) {
	if end, ok := pieces.ends.Load(name); ok {
		return end.(*T), nil
	}
	end := new(T)
	err := readEnd(fsys, name, P(end))
	if err == nil {
		pieces.ends.Store(name, end)
	}
	return end, err
}

// Join writes all arrays and columns of a store from pieces, as far as w wants them (store.Share). They stay, so that a run whose output fails later can join them again.
// It may be called once for each of several Shares with the same pieces, at the same time.
func (s *Share) Join(ctx context.Context, w *store.Writer, pieces *Pieces) (_ *Result, err error) {
	b := s.b
	b.w, b.open, b.openColumns = w, map[*store.Array]bool{}, map[*store.ColumnWriter]bool{}
	b.res.Meta = &store.Meta{Format: store.Format, Kind: store.KindStore, Nodes: map[string]*store.NodesMeta{}, Edges: map[string]*store.EdgesMeta{}}
	defer func() { err = b.end(err) }()
	for i, t := range b.types {
		if err := s.open(t, i, pieces); err != nil {
			return nil, err
		}
	}
	for i, t := range b.types {
		if err := b.joinNodes(ctx, t, pieces.Index(i)); err != nil {
			return nil, err
		}
	}
	for i, p := range b.parts {
		p.stats = pieces.Edges[i]
	}
	for i, g := range s.groups {
		if err := g.joinPieces(ctx, pieces, pieces.Ranges(i, false), pieces.Ranges(i, true)); err != nil {
			return nil, err
		}
	}
	if err := b.finishNodes(ctx); err != nil {
		return nil, err
	}
	if err := b.context(ctx); err != nil {
		return nil, err
	}
	for _, g := range s.groups {
		if err := g.close(); err != nil {
			return nil, err
		}
	}
	b.results()
	return b.res, nil
}

// open makes the pieces of a node type its table, and the source of the keys that edges add.
func (s *Share) open(t *nodeType, i int, pieces *Pieces) (err error) {
	texts := &chunks{fs: s.b.fs, columns: []table.Column{{DType: graph.String}}, files: pieces.Texts(i)}
	if err := texts.readEnds(pieces); err != nil {
		return err
	}
	t.addedIDs = texts
	t.texts = func(ctx context.Context, to *nodeColumn, first uint64) error { return joinTexts(ctx, texts, to, first) }
	if t.Table == nil {
		return nil
	}
	rows := &chunks{fs: s.b.fs, columns: s.Columns(i), files: pieces.Nodes(i), of: t.Table, numbered: true}
	n := *t.Nodes
	t.Nodes = &n
	t.Table = rows
	return rows.readEnds(pieces)
}

// extentOf is the extent of a column of variable size over all nodes of types; id says that it has the original ids.
func extentOf(types []*nodeType, c *table.Column, id bool) *store.Extent {
	sum := &store.Extent{}
	for _, t := range types {
		if t.addedIDs == nil { // not a Join
			return nil
		}
		if rows, ok := t.Table.(*chunks); ok {
			rows.extentOf(c, sum)
		}
		if id {
			t.addedIDs.extentOf(&t.addedIDs.columns[0], sum)
		} else if t.stats.Added > 0 {
			var row store.Extent
			v := zeroRows(c, 1)
			row.Take(v.Data, v.Ends, v.Lengths...)
			sum.Plus(&row, t.stats.Added)
		}
	}
	return sum
}

// joinNodes writes the columns and the index of a node type.
func (b *builder) joinNodes(ctx context.Context, t *nodeType, index []string) error {
	if t.Table != nil && !b.opt.Homogeneous {
		if err := b.stage("nodes", t.Type, func() (uint64, error) { return b.scanType(ctx, t, false, true) }); err != nil {
			return err
		}
	}
	if t.keyed && !b.severalTypes() {
		if err := b.stage("index", t.Type, func() (uint64, error) { return t.count, b.joinIndex(ctx, t, index) }); err != nil {
			return err
		}
	}
	switch {
	case !t.keyed:
	case t.Table == nil && !b.severalTypes():
		return b.writeIDs(ctx, t)
	case t.Table != nil && b.opt.DanglingEdges == Zeros && !b.opt.Homogeneous:
		return b.addNodes(ctx, t)
	}
	return nil
}

// joinTexts writes the keys that edges add.
func joinTexts(ctx context.Context, texts *chunks, to *nodeColumn, first uint64) error {
	texts.skip = func(_ uint64, end *chunkEnd) (bool, error) {
		x := &end.Columns[0]
		if to.array != nil {
			at := int64(first) * int64(to.width)
			if to.array.Wants(at, int64(end.Rows)*int64(to.width)) {
				return false, nil
			}
			first += end.Rows
			return true, nil
		}
		if to.vars.Wants(x) {
			return false, nil
		}
		return true, to.vars.Skip(x)
	}
	_, err := texts.Scan(ctx, texts.columns, 1, func(_ int, c *table.Chunk) error {
		v := &c.Columns[0]
		if to.array == nil {
			return to.vars.Append(v.Data, v.Ends)
		}
		_, err := to.array.WriteAt(v.Data, int64(first)*int64(to.width))
		first += uint64(c.Rows)
		return err
	})
	return err
}

// joinPieces writes the arrays and columns of an edge type.
func (g *group) joinPieces(ctx context.Context, pieces *Pieces, primary, other []string) error {
	g.meta = &store.EdgesMeta{Primary: g.opt.Primary.String(), Arrays: map[string]string{}, Columns: map[string]store.ColumnMeta{}}
	g.res.Meta.Edges[g.etype.String()] = g.meta
	s := &sink{group: g, lay: newLayout(g.wide(), g.cols), way: g.opt.Primary}
	if err := g.stage("adjacency", g.etype.String(), func() (uint64, error) { return s.unite(ctx, pieces, primary, s.counted()) }); err != nil || !g.opt.Both {
		return err
	}
	o := &sink{group: g, lay: newLayout(g.wide(), nil), way: 1 - g.opt.Primary, second: true}
	return g.stage("other direction", g.etype.String(), func() (uint64, error) { return o.unite(ctx, pieces, other, uint64(g.meta.Count)) })
}

// unite joins the pieces of a direction, with at most total edges.
func (s *sink) unite(ctx context.Context, pieces *Pieces, files []string, total uint64) (uint64, error) {
	rows := uint64(0)
	for _, p := range s.parts {
		rows = max(rows, p.rows)
	}
	s.drops = make([]atomic.Uint64, len(s.parts))
	ends := make([]*pieceEnd, len(files))
	for i, name := range files {
		end, err := endOf[pieceEnd](s.fs, pieces, name)
		if err != nil {
			return 0, err
		}
		ends[i] = end
		s.edges += end.Kept
		for column, x := range end.Vars {
			if s.extents == nil {
				s.extents = map[int]*store.Extent{}
			}
			if s.extents[column] == nil {
				s.extents[column] = &store.Extent{}
			}
			s.extents[column].Plus(x, 1)
		}
	}
	for i := range s.lay.cols {
		if s.lay.cols[i].width == 0 && s.extents[i] == nil {
			return 0, fmt.Errorf("found no rows of column %s in %d pieces of %s, expected them; use the same version on all machines", s.lay.cols[i].Name, len(files), s.etype)
		}
	}
	if err := s.create(total, rows); err != nil {
		return 0, err
	}
	c := s.cut(s.way, len(files))
	base := uint64(0)
	for i, name := range files {
		if err := s.joinRange(ctx, name, ends[i], uint64(i)<<c.shift, base); err != nil {
			return 0, err
		}
		base += ends[i].Kept
	}
	return base, s.end(base, len(files), c.shift)
}

// IndexKey is the hash of a key, and its type-wise id.
type IndexKey struct{ Hash, ID uint64 }

// WriteIndex writes the piece of a bucket of hashes, which have their first top bits in common: sorted as in the index of
// n ids, as the number of ids in each of its buckets (uint32) and the ids (uint64). It sorts list.
func WriteIndex(w io.Writer, list []IndexKey, n uint64, bucket uint64, top int) error {
	all := store.BucketBits(int(n))
	if all < top {
		return writeKeys(w, list)
	}
	slices.SortFunc(list, func(x, y IndexKey) int {
		if d := int64(store.Bucket(x.Hash, all)) - int64(store.Bucket(y.Hash, all)); d != 0 {
			return int(max(min(d, 1), -1))
		}
		return int(int64(x.ID) - int64(y.ID))
	})
	counts := make([]uint32, 1<<(all-top))
	for _, k := range list {
		counts[store.Bucket(k.Hash, all)-bucket<<(all-top)]++
	}
	if _, err := w.Write(graph.Bytes(counts)); err != nil {
		return err
	}
	ids := make([]uint64, len(list))
	for i, k := range list {
		ids[i] = k.ID
	}
	_, err := w.Write(graph.Bytes(ids))
	return err
}

// writeKeys writes hashes and ids, for an index that has fewer buckets than there are pieces.
func writeKeys(w io.Writer, list []IndexKey) error {
	var b []byte
	for _, k := range list {
		b = binary.LittleEndian.AppendUint64(b, k.Hash)
		b = binary.LittleEndian.AppendUint64(b, k.ID)
	}
	_, err := w.Write(b)
	return err
}

// joinIndex writes the index of the ids of a type.
func (b *builder) joinIndex(ctx context.Context, t *nodeType, files []string) (err error) {
	x := &indexer{builder: b, t: t, bits: store.BucketBits(int(t.count))}
	if err := x.create(); err != nil {
		return err
	}
	top := bits.Len(uint(len(files) - 1))
	if x.bits < top {
		return x.few(files)
	}
	bucket, base := int64(0), uint64(0)
	head := 4 << (x.bits - top)
	for _, name := range files {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		info, err := b.fs.Stat(name)
		if err != nil {
			return err
		}
		if n := max(info.Size()-int64(head), 0) / 8; !x.wants(bucket, int64(head)/4, base, n) {
			bucket, base = bucket+int64(head)/4, base+uint64(n)
			continue
		}
		data, err := vfs.ReadFile(b.fs, name, info.Size()+1)
		if err != nil {
			return err
		}
		if len(data) < head || (len(data)-head)%8 != 0 {
			return fmt.Errorf("%s: found %d bytes, expected %d and 8 per id; the file is damaged", name, len(data), head)
		}
		counts := graph.View[uint32](data[:head])
		ids := make([]uint64, (len(data)-head)/8)
		copy(graph.Bytes(ids), data[head:])
		if base, err = x.put(bucket, base, counts, ids); err != nil {
			return err
		}
		bucket += int64(len(counts))
	}
	return x.close(bucket, base)
}

// wants says whether a part of the index is written: of buckets, and of ids whose first has the place base.
func (x *indexer) wants(bucket, buckets int64, base uint64, ids int64) bool {
	b, s := int64(x.bTypes.Size()), int64(x.sTypes.Size())
	return x.buckets.Wants(bucket*b, buckets*b) || x.slots.Wants(int64(base)*s, ids*s)
}

// few writes an index that has fewer buckets than there are pieces.
func (x *indexer) few(files []string) error {
	var list []IndexKey
	for _, name := range files {
		data, err := readAll(x.fs, name)
		if err != nil {
			return err
		}
		for ; len(data) >= 16; data = data[16:] {
			list = append(list, IndexKey{binary.LittleEndian.Uint64(data), binary.LittleEndian.Uint64(data[8:])})
		}
	}
	var b strings.Builder
	if err := WriteIndex(&b, list, x.t.count, 0, 0); err != nil {
		return err
	}
	data := []byte(b.String())
	head := 4 << x.bits
	ids := make([]uint64, len(list))
	copy(graph.Bytes(ids), data[head:])
	counts := make([]uint32, 1<<x.bits)
	copy(graph.Bytes(counts), data)
	base, err := x.put(0, 0, counts, ids)
	if err != nil {
		return err
	}
	return x.close(int64(len(counts)), base)
}

// put writes buckets of the index from one on, whose first id has the place base, and returns the place after the last.
func (x *indexer) put(bucket int64, base uint64, counts []uint32, ids []uint64) (uint64, error) {
	wide := x.sTypes == graph.Uint64
	out := make([]byte, len(ids)*idBytes(wide))
	for i, id := range ids {
		putID(out, wide, i, id)
	}
	if _, err := x.slots.WriteAt(out, int64(base)*int64(idBytes(wide))); err != nil {
		return base, err
	}
	wide = x.bTypes == graph.Uint64
	out = make([]byte, len(counts)*idBytes(wide))
	for i, n := range counts {
		putID(out, wide, i, base)
		base += uint64(n)
	}
	_, err := x.buckets.WriteAt(out, bucket*int64(idBytes(wide)))
	return base, err
}

// close completes the index after all buckets are written.
func (x *indexer) close(buckets int64, n uint64) error {
	if n != x.t.count || buckets != 1<<x.bits {
		return fmt.Errorf("node type %s: found %d ids in %d buckets of the index, expected %d in %d", x.t.Type, n, buckets, x.t.count, 1<<x.bits)
	}
	return x.last()
}

func readAll(fsys vfs.FS, name string) ([]byte, error) {
	info, err := fsys.Stat(name)
	if err != nil {
		return nil, err
	}
	return vfs.ReadFile(fsys, name, info.Size()+1)
}

// ChunkWriter writes chunks of rows of a node type, for Join.
type ChunkWriter struct {
	w   io.Writer
	buf []byte
	end chunkEnd
}

// chunkEnd is the end of a file of chunks.
type chunkEnd struct {
	Rows    uint64         `json:"rows"`
	End     int64          `json:"end"`
	Columns []store.Extent `json:"columns"`
}

func (e *chunkEnd) bytes() *int64 { return &e.End }

// NewChunkWriter writes to w.
func NewChunkWriter(w io.Writer) *ChunkWriter { return &ChunkWriter{w: w} }

// Write writes a chunk of the columns of Share.Columns.
func (w *ChunkWriter) Write(c *table.Chunk) error {
	w.buf = append(w.buf[:0], make([]byte, 16)...)
	for len(w.end.Columns) < len(c.Columns) {
		w.end.Columns = append(w.end.Columns, store.Extent{})
	}
	for i := range c.Columns {
		v := &c.Columns[i]
		w.buf = appendVector(w.buf, v)
		w.end.Columns[i].Take(v.Data, v.Ends, v.Lengths...)
	}
	w.end.Rows += uint64(c.Rows)
	w.end.End += int64(len(w.buf))
	put64(w.buf, c.First)
	put32(w.buf[8:], uint32(c.Rows))
	put32(w.buf[12:], uint32(len(w.buf)-16))
	_, err := w.w.Write(w.buf)
	return err
}

// Close ends the file.
func (w *ChunkWriter) Close() error {
	b, err := appendEnd(&w.end)
	if err == nil {
		_, err = w.w.Write(b)
	}
	return err
}

// chunks is the table of the chunks in files, in the order of the rows.
type chunks struct {
	fs       vfs.FS
	columns  []table.Column
	files    []string
	of       table.Table
	numbered bool // chunks have the numbers of their rows
	ends     []*chunkEnd
	// skip says that the rows of a file, of which the first has a number, are not wanted, and counts them as done.
	skip func(first uint64, end *chunkEnd) (bool, error)
}

// readEnds reads the ends of the files.
func (t *chunks) readEnds(pieces *Pieces) error {
	for _, name := range t.files {
		end, err := endOf[chunkEnd](t.fs, pieces, name)
		if err != nil {
			return err
		}
		if end.Rows > 0 && len(end.Columns) != len(t.columns) {
			return fmt.Errorf("%s: found %d columns, expected %d; use the same version on all machines", name, len(end.Columns), len(t.columns))
		}
		t.ends = append(t.ends, end)
	}
	return nil
}

// place is the number of a column that equals c; -1 without one.
func (t *chunks) place(c *table.Column) int {
	return slices.IndexFunc(t.columns, func(x table.Column) bool {
		return x.Name == c.Name && x.DType == c.DType && x.ID == c.ID && slices.Equal(x.Shape, c.Shape)
	})
}

// extentOf adds the extent of a column in all files.
func (t *chunks) extentOf(c *table.Column, sum *store.Extent) {
	at := t.place(c)
	for _, end := range t.ends {
		if at >= 0 && end.Rows > 0 {
			sum.Plus(&end.Columns[at], 1)
		}
	}
}

func (t *chunks) Fields() []table.Field                  { return t.of.Fields() }
func (t *chunks) Files() []string                        { return t.of.Files() }
func (t *chunks) Bytes() int64                           { return t.of.Bytes() }
func (t *chunks) Where(row uint64, column string) string { return t.of.Where(row, column) }

// Scan implements table.Table. The columns come from the chunks.
func (t *chunks) Scan(ctx context.Context, columns []table.Column, _ int, fn func(worker int, c *table.Chunk) error) (rows uint64, err error) {
	places := make([]int, len(columns))
	for i := range columns {
		c := &columns[i]
		if places[i] = t.place(c); places[i] < 0 {
			return 0, fmt.Errorf("found no chunks of column %q, expected them", c.Name)
		}
	}
	for i, name := range t.files {
		end := t.ends[i]
		if end.Rows > 0 && t.skip != nil {
			skipped, err := t.skip(rows, end)
			if err != nil {
				return 0, err
			}
			if skipped {
				rows += end.Rows
				continue
			}
		}
		if rows, err = t.file(ctx, name, end.End, places, rows, fn); err != nil {
			return 0, err
		}
	}
	return rows, nil
}

func (t *chunks) file(ctx context.Context, name string, size int64, places []int, rows uint64, fn func(worker int, c *table.Chunk) error) (_ uint64, err error) {
	f, err := t.fs.Open(name)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	damaged := func(at int64) error {
		return fmt.Errorf("%s: found a chunk at %d that is not whole; the file is damaged", name, at)
	}
	var head [16]byte
	var buf []byte
	vectors := make([]table.Vector, len(t.columns))
	for at := int64(0); at < size; {
		if err := ctx.Err(); err != nil {
			return 0, context.Cause(ctx)
		}
		if size-at < 16 {
			return 0, damaged(at)
		}
		if _, err := f.ReadAt(head[:], at); err != nil {
			return 0, err
		}
		n := int64(binary.LittleEndian.Uint32(head[12:]))
		if n > size-at-16 {
			return 0, damaged(at)
		}
		if int64(cap(buf)) < n {
			buf = make([]byte, n)
		}
		b := buf[:n]
		if _, err := f.ReadAt(b, at+16); err != nil {
			return 0, err
		}
		c := table.Chunk{First: binary.LittleEndian.Uint64(head[:]), Rows: int(binary.LittleEndian.Uint32(head[8:]))}
		if t.numbered && c.First != rows {
			return 0, fmt.Errorf("%s: found row %d, expected row %d; the file is damaged", name, c.First, rows)
		}
		for i := range vectors {
			var ok bool
			if vectors[i], b, ok = cutVector(b); !ok || !fits(&vectors[i], &t.columns[i], c.Rows) {
				return 0, damaged(at)
			}
		}
		at += 16 + n
		for _, i := range places {
			c.Columns = append(c.Columns, vectors[i])
		}
		if err := fn(0, &c); err != nil {
			return 0, err
		}
		rows += uint64(c.Rows)
	}
	return rows, nil
}
