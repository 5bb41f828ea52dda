package assemble

import (
	"context"
	"encoding/binary"
	"slices"
	"sort"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// columnBatch is the number of bytes of a column that are gathered together.
const columnBatch = 256 << 10

// runHead is a run in a merge.
type runHead struct {
	seq     uint64 // seq of the first remaining record
	at, end uint32 // indices of the remaining records
}

// leafState is a bucket in memory.
type leafState struct {
	span
	buf  []byte
	n    int
	offs []uint32 // offset of each record; nil: all have the same size
	next []uint32 // indexed by near - lo, or by the rank of this: the end of the node's edges
	// ranks are those of the near nodes that have edges; nil: next has all of them.
	ranks *ranks
	far   []byte // uint32 or uint64, in the order of the output
	seq   []byte
	rec   []uint32 // index of the record of each edge; nil: there are no columns
}

// reserve empties the slab and makes it at least n bytes long.
func (w *finisher) reserve(n int64) (err error) {
	w.used = 0
	if int64(len(w.mem)) >= n {
		return nil
	}
	extsort.Free(w.mem)
	w.mem, err = extsort.Slab(int((n + 1<<20) &^ (1<<20 - 1)))
	return err
}

// alloc takes n values from the slab. Their content is undefined.
func alloc[T uint32 | uint64 | byte](w *finisher, n int) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	b := w.mem[w.used : w.used+n*size]
	w.used += (n*size + 63) &^ 63
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// leaf sorts bucket b in memory and writes it.
func (w *finisher) leaf(ctx context.Context, edges *extsort.Partition, b int, x span) error {
	size := edges.Bytes(b)
	if size == 0 {
		return w.gap(ctx, x)
	}
	if err := w.reserve(w.cost(size, x.width) + 1024); err != nil {
		return err
	}
	l := &leafState{span: x, buf: alloc[byte](w, int(size))}
	runs, err := edges.Load(b, l.buf)
	if err != nil {
		return err
	}
	edges.Free(b)
	w.index(l, runs)
	nodes := int(x.width)
	if w.lists != nil {
		nodes = w.rank(l)
	}
	l.next = alloc[uint32](w, nodes)
	clear(l.next)
	w.count(l)
	l.far, l.seq = alloc[byte](w, l.n*idBytes(w.wideFar)), alloc[byte](w, l.n*idBytes(w.lay.wide))
	if len(w.lay.cols) > 0 {
		l.rec = alloc[uint32](w, l.n)
	}
	w.scatter(l)
	if w.dedupe() {
		w.drop(l)
	}
	if err := w.start(ctx); err != nil {
		return err
	}
	if err := w.write(l); err != nil {
		return err
	}
	w.base += uint64(l.n)
	w.kept += uint64(l.n)
	return nil
}

func idBytes(wide bool) int {
	if wide {
		return 8
	}
	return 4
}

// gap writes the offsets of nodes without edges.
func (w *finisher) gap(ctx context.Context, x span) error {
	if x.seqLo > 0 || w.lists != nil {
		return nil
	}
	if err := w.start(ctx); err != nil {
		return err
	}
	t := tail{out: w.indptr.out, dtype: w.indptr.dtype, filled: x.lo, edges: w.base}
	return t.fill(x.lo + x.width - 1)
}

// index finds the records, and makes runs the runs of a merge.
func (w *finisher) index(l *leafState, runs []extsort.Run) {
	w.heap = w.heap[:0]
	if !w.lay.variable {
		size := w.lay.fixed
		l.n = len(l.buf) / size
		for _, r := range runs {
			w.heap = append(w.heap, runHead{w.lay.seq(l.buf[r.From:]), uint32(r.From / size), uint32(r.To / size)})
		}
	} else {
		l.offs = alloc[uint32](w, len(l.buf)/w.lay.least())
		for _, r := range runs {
			h := runHead{seq: w.lay.seq(l.buf[r.From:]), at: uint32(l.n)}
			for at := r.From; at < r.To; at += w.lay.size(l.buf[at:]) {
				l.offs[l.n] = uint32(at)
				l.n++
			}
			h.end = uint32(l.n)
			w.heap = append(w.heap, h)
		}
	}
	sort.Slice(w.heap, func(i, j int) bool { return w.heap[i].seq < w.heap[j].seq }) // a sorted list is a heap
}

// record returns record i.
func (w *finisher) record(l *leafState, i uint32) []byte {
	if l.offs != nil {
		return l.buf[l.offs[i]:]
	}
	return l.buf[int(i)*w.lay.fixed:]
}

// count sets next to the index of each node's first edge.
func (w *finisher) count(l *leafState) {
	next := l.next
	if l.ranks != nil {
		for i := range uint32(l.n) {
			next[l.ranks.of(w.lay.near(w.record(l, i))-l.lo)]++
		}
	} else if w.lay.plain() {
		lo := uint32(l.lo)
		for b := l.buf; len(b) >= 12; b = b[12:] {
			next[binary.LittleEndian.Uint32(b)-lo]++
		}
	} else {
		for i := range uint32(l.n) {
			next[w.lay.near(w.record(l, i))-l.lo]++
		}
	}
	sum := uint32(0)
	for v, n := range next {
		next[v] = sum
		sum += n
	}
}

// scatter sorts the records by near id, then by seq.
func (w *finisher) scatter(l *leafState) {
	for len(w.heap) > 0 {
		h := &w.heap[0]
		limit := ^uint64(0)
		for i := 1; i < min(3, len(w.heap)); i++ {
			limit = min(limit, w.heap[i].seq)
		}
		to := w.below(l, h.at, h.end, limit)
		w.place(l, h.at, to)
		if to == h.end {
			last := len(w.heap) - 1
			w.heap[0] = w.heap[last]
			w.heap = w.heap[:last]
		} else {
			h.at, h.seq = to, w.lay.seq(w.record(l, to))
		}
		w.siftDown()
	}
}

// siftDown restores the heap below its first element.
func (w *finisher) siftDown() {
	h := w.heap
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && h[c+1].seq < h[c].seq {
			c++
		}
		if h[i].seq <= h[c].seq {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

// below returns the end of the records from at on whose seq is below limit. The first record's seq is below it.
func (w *finisher) below(l *leafState, at, end uint32, limit uint64) uint32 {
	step := uint32(1)
	lo := at + 1
	for lo < end && w.lay.seq(w.record(l, lo)) < limit {
		at = lo
		lo += min(step, end-lo)
		step *= 2
	}
	// Invariant: the seq of record at is below the limit, and the seq of record lo (or the end) is not.
	for at+1 < lo {
		mid := (at + lo) / 2
		if w.lay.seq(w.record(l, mid)) < limit {
			at = mid
		} else {
			lo = mid
		}
	}
	return lo
}

// place puts records after the records of the same node that are already placed.
func (w *finisher) place(l *leafState, from, to uint32) {
	if w.lay.plain() && !w.wideFar {
		next, lo := l.next, uint32(l.lo)
		far, seq := graph.View[uint32](l.far), graph.View[uint32](l.seq)
		for b := l.buf[int(from)*12 : int(to)*12]; len(b) >= 12; b = b[12:] {
			v := binary.LittleEndian.Uint32(b) - lo
			if l.ranks != nil {
				v = l.ranks.of(uint64(v))
			}
			i := next[v]
			next[v] = i + 1
			far[i], seq[i] = binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
		}
		return
	}
	for r := from; r < to; r++ {
		near, far, seq := w.lay.get(w.record(l, r))
		v := near - l.lo
		if l.ranks != nil {
			v = uint64(l.ranks.of(v))
		}
		i := l.next[v]
		l.next[v]++
		putID(l.far, w.wideFar, int(i), far)
		putID(l.seq, w.lay.wide, int(i), seq)
		if l.rec != nil {
			l.rec[i] = r
		}
	}
}

func putID(b []byte, wide bool, i int, v uint64) {
	if wide {
		put64(b[i*8:], v)
	} else {
		put32(b[i*4:], uint32(v))
	}
}

func getID(b []byte, wide bool, i int) uint64 {
	if wide {
		return binary.LittleEndian.Uint64(b[i*8:])
	}
	return uint64(binary.LittleEndian.Uint32(b[i*4:]))
}

// write writes the leaf at its place.
func (w *finisher) write(l *leafState) error {
	base := int64(w.base)
	var err error
	switch {
	case w.lists != nil:
		err = w.putLists(l)
	case l.seqLo == 0:
		err = w.offsets(l)
	}
	if err != nil {
		return err
	}
	if w.otherWriter != nil {
		if err := w.reverse(l); err != nil {
			return err
		}
	}
	if _, err := w.sink.far.WriteAt(l.far, base*int64(idBytes(w.wideFar))); err != nil {
		return err
	}
	if w.types != nil {
		if err := w.writeTypes(l); err != nil {
			return err
		}
	}
	if w.sink.seq != nil {
		w.positions(l)
		if _, err := w.sink.seq.WriteAt(l.seq, base*int64(idBytes(w.wideSeq))); err != nil {
			return err
		}
	}
	for i := range w.columns {
		if err := w.gather(l, i); err != nil {
			return err
		}
	}
	return nil
}

// offsets writes the indptr of the leaf's nodes.
func (w *finisher) offsets(l *leafState) error {
	wide := w.indptr.dtype == graph.Uint64
	out := alloc[byte](w, len(l.next)*idBytes(wide))
	at := w.base
	for v, end := range l.next {
		putID(out, wide, v, at)
		at = w.base + uint64(end)
	}
	_, err := w.indptr.out.WriteAt(out, int64(l.lo)*int64(idBytes(wide)))
	return err
}

// reverse passes the edges to the other direction.
func (w *finisher) reverse(l *leafState) error {
	if l.seqLo > 0 || l.seqs > 0 { // a leaf of one node has no offsets of its own
		l.next = l.next[:1]
	}
	lay := layout{wide: w.lay.wide, head: w.lay.head, fixed: w.lay.head}
	i := 0
	for v, end := range l.next {
		for ; i < int(end); i++ {
			far := getID(l.far, w.wideFar, i)
			rec, err := w.otherWriter.Slot(far, lay.head)
			if err != nil {
				return err
			}
			lay.put(rec, far, l.lo+uint64(v), w.base+uint64(i))
		}
	}
	return nil
}

// partOf returns the part that an edge comes from.
func (w *finisher) partOf(seq uint64) (int, *part) {
	pos := seq >> w.sym
	i := sort.Search(len(w.parts), func(i int) bool { return w.parts[i].base > pos }) - 1
	return i, w.parts[i]
}

func (w *finisher) writeTypes(l *leafState) error {
	wide := typeDType(len(w.parts)) == graph.Uint16
	buf := make([]byte, 0, 64<<10)
	at := int64(w.base)
	if wide {
		at *= 2
	}
	for i := range l.n {
		k, _ := w.partOf(getID(l.seq, w.lay.wide, i))
		buf = append(buf, byte(k))
		if wide {
			buf = append(buf, byte(k>>8))
		}
		if len(buf) == cap(buf) || i == l.n-1 {
			if _, err := w.types.WriteAt(buf, at); err != nil {
				return err
			}
			at += int64(len(buf))
			buf = buf[:0]
		}
	}
	return nil
}

// positions replaces seq by the row in the table, in the width of the column.
func (w *finisher) positions(l *leafState) {
	if w.second || w.sym == 0 && !w.merged {
		l.seq = w.narrow(l)
		return
	}
	for i := range l.n {
		s := getID(l.seq, w.lay.wide, i)
		_, p := w.partOf(s)
		putID(l.seq, w.lay.wide, i, s>>w.sym-p.base)
	}
	l.seq = w.narrow(l)
}

// narrow converts seq to the width of its column.
func (w *finisher) narrow(l *leafState) []byte {
	if w.lay.wide == w.wideSeq {
		return l.seq
	}
	// Records can be wide when the column is not, but not the other way round.
	for i := range l.n {
		put32(l.seq[i*4:], uint32(getID(l.seq, true, i)))
	}
	return l.seq[:l.n*4]
}

// gather writes a column of the leaf.
func (w *finisher) gather(l *leafState, k int) error {
	c := &w.lay.cols[k]
	if c.width > 0 {
		batch := max(columnBatch/c.width, 1)
		buf := w.batch[:0]
		for i := 0; i < l.n; i += batch {
			n := min(batch, l.n-i)
			buf = slices.Grow(buf[:0], n*c.width)[:n*c.width]
			for j, r := range l.rec[i : i+n] {
				rec := w.record(l, r)
				switch c.width { // a call to copy a few bytes would take longer than all else
				case 4:
					binary.LittleEndian.PutUint32(buf[4*j:], binary.LittleEndian.Uint32(rec[c.at:]))
				case 8:
					binary.LittleEndian.PutUint64(buf[8*j:], binary.LittleEndian.Uint64(rec[c.at:]))
				default:
					copy(buf[c.width*j:], rec[c.at:c.at+c.width])
				}
			}
			if _, err := w.columns[k].at.WriteAt(buf, (int64(w.base)+int64(i))*int64(c.width)); err != nil {
				return err
			}
		}
		w.batch = buf
		return nil
	}
	var v table.Vector
	for i := range l.n {
		rec := w.record(l, l.rec[i])
		blob := rec[w.lay.fixed+4:]
		for j := range w.lay.cols[:k+1] {
			x := &w.lay.cols[j]
			if x.width > 0 {
				continue
			}
			if j == k {
				unblob(blob, &x.Column, &v)
			} else {
				blob = skip(blob, &x.Column)
			}
		}
		if len(v.Data) >= columnBatch || len(v.Ends) >= columnBatch/4 || i == l.n-1 {
			if err := w.columns[k].vars.Append(v.Data, v.Ends, v.Lengths...); err != nil {
				return err
			}
			empty(&v)
		}
	}
	return nil
}
