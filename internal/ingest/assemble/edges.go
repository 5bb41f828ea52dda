package assemble

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// The largest numbers mark ends that are not nodes.
const (
	noEnd    = ^uint64(0)     // the row gives no edge
	dangling = ^uint64(0) - 1 // no node has the key
	leftOut  = ^uint64(0) - 2 // the row of the node table is dropped
)

// batchRows is the number of rows whose ends are looked up together.
const batchRows = 4096

// firstRow keeps the error of the bad row that is first in input order.
type firstRow struct {
	row atomic.Uint64 // ^0: none
	mu  sync.Mutex
	err func(ctx context.Context) error
}

func newFirstRow() *firstRow {
	f := &firstRow{}
	f.row.Store(^uint64(0))
	return f
}

// report records that row is bad.
func (f *firstRow) report(row uint64, err func(ctx context.Context) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if row < f.row.Load() {
		f.row.Store(row)
		f.err = err
	}
}

// past says whether a row is after a bad row, so that its error does not matter.
func (f *firstRow) past(row uint64) bool { return row > f.row.Load() }

func (f *firstRow) check(ctx context.Context) error {
	if f.err == nil {
		return nil
	}
	return f.err(ctx)
}

// scan cuts the edges of all parts into buckets by near id.
func (g *group) scan(ctx context.Context, spill *extsort.Spill, lay *layout) (edges *extsort.Partition, rows uint64, err error) {
	var estimate, top uint64
	for _, p := range g.parts {
		estimate += p.estimate()
		t := p.near(g.opt.Primary).t
		if t.known {
			top = max(top, g.top(t))
		}
	}
	estimate <<= g.sym
	buckets, extent := geometry(int64(estimate), int64(lay.least()), g.budget.work/4, g.budget.threads)
	if top == 0 {
		top = estimate / 64
	}
	shift := bits.Len64(max(top, 1)-1) - bits.Len(uint(buckets-1))
	edges = extsort.NewPartition(spill, buckets, extent, uint(max(shift, 0)))
	edges.Codec = lay.codec()
	made := edges
	defer func() {
		if err != nil {
			made.Close()
		}
	}()
	writers := make([]*extsort.Writer, g.budget.threads)
	for i := range writers {
		if writers[i], err = edges.Writer(); err != nil {
			return nil, 0, err
		}
	}
	for _, p := range g.parts {
		p.base = rows
		if err := g.scanPart(ctx, p, writers, lay); err != nil {
			return nil, 0, err
		}
		rows += p.rows
	}
	return edges, rows, edges.Finish()
}

// estimate guesses the number of rows of the table.
func (p *part) estimate() uint64 {
	if p.rows > 0 {
		return p.rows
	}
	return uint64(max(p.Table.Bytes(), 0)) / 10
}

// emitter is the state of one worker that makes records.
type emitter struct {
	*partScan
	w        *extsort.Writer
	next     uint64 // the row after the last chunk
	stats    EdgesResult
	srcTop   uint64 // largest id + 1
	dstTop   uint64
	src, dst []uint64    // the looked-up ends of a batch
	given    [2][]uint64 // the ends of the chunk, if they are given
	bytes    []byte      // buffer of the lookup
	fixed    [][]byte    // per column: values of the chunk
	cursors  []cursor
	blob     []byte
	touched  uint64 // without a meaning; see lookup.find
}

// partScan is shared by the emitters of one part.
type partScan struct {
	*group
	p        *part
	lay      *layout
	bad      *firstRow
	columns  []table.Column // asked for
	srcAt    int            // index in columns; -1: not a column
	dstAt    int
	whereAt  int
	colsAt   int
	srcLimit uint64
	dstLimit uint64
	done     atomic.Int64
	resolve  Resolve // finds the ends with given set; nil without any
}

func (g *group) scanPart(ctx context.Context, p *part, writers []*extsort.Writer, lay *layout) error {
	return g.scanGiven(ctx, p, writers, lay, nil)
}

// scanGiven is scanPart for a part with ends that resolve finds (given in end).
func (g *group) scanGiven(ctx context.Context, p *part, writers []*extsort.Writer, lay *layout, resolve Resolve) error {
	s := &partScan{group: g, p: p, lay: lay, bad: newFirstRow(), srcAt: -1, dstAt: -1, whereAt: -1, resolve: resolve}
	ask := func(e end) int {
		if e.isRow() || e.isRefs() {
			return -1
		}
		s.columns = append(s.columns, e.column)
		return len(s.columns) - 1
	}
	s.srcAt, s.dstAt = ask(p.src), ask(p.dst)
	if p.Where != nil && !p.scanned {
		s.whereAt = len(s.columns)
		s.columns = append(s.columns, table.Column{Name: p.Where.Column, DType: graph.String})
	}
	s.colsAt = len(s.columns)
	for i := range lay.cols {
		c := p.Columns[findColumn(p.Columns, &lay.cols[i].Column)]
		s.columns = append(s.columns, c)
	}
	s.srcLimit, s.dstLimit = limit(p.src), limit(p.dst)
	p.stats = EdgesResult{Type: p.Type, Filtered: p.keyed.Filtered, Absent: p.keyed.Absent}
	workers := make([]*emitter, g.budget.threads)
	for i := range workers {
		var w *extsort.Writer
		if writers != nil { // else the ends are only counted
			w = writers[i]
		}
		workers[i] = &emitter{partScan: s, w: w, src: make([]uint64, batchRows), dst: make([]uint64, batchRows)}
	}
	fn := func(worker int, c *table.Chunk) error { return workers[worker].chunk(c) }
	var rows uint64
	var err error
	if p.scanned && len(s.columns) == 0 {
		rows, err = p.rows, scanRows(ctx, p.rows, g.budget.threads, func(worker int, c *table.Chunk) error {
			c.First += p.first
			return fn(worker, c)
		})
	} else {
		rows, err = p.Table.Scan(ctx, s.columns, g.budget.threads, fn)
	}
	if err != nil {
		return err
	}
	if p.scanned && rows != p.rows {
		return fmt.Errorf("%s: found %d rows, expected %d, as in the first read; do not change the file while it is read", p.Table.Where(0, ""), rows, p.rows)
	}
	if err := s.bad.check(ctx); err != nil {
		return err
	}
	p.rows, p.stats.Rows = rows, rows
	for _, e := range workers {
		p.stats.Filtered += e.stats.Filtered
		p.stats.Absent += e.stats.Absent
		p.stats.Dangling += e.stats.Dangling
		p.stats.SelfLoops += e.stats.SelfLoops
		p.stats.Reversed += e.stats.Reversed
		p.stats.Count += e.stats.Count
		p.src.t.reach(e.srcTop)
		p.dst.t.reach(e.dstTop)
	}
	if p.run { // the rows of all runs decide
		return nil
	}
	return g.sparse(ctx, p)
}

// limit returns the number below which each value of an end is the id of a node. emitter.dangles judges the values from it on:
// marks, ids that no node has, ids that are too large.
func limit(e end) uint64 {
	if e.t.known && !e.t.counted {
		return e.t.count
	}
	return maxUnknown
}

// reach raises the number of nodes of a type to at least n, if it is unknown.
func (t *nodeType) reach(n uint64) {
	if !t.known {
		t.count = max(t.count, n)
	}
}

// scanRows scans rows without columns.
func scanRows(ctx context.Context, rows uint64, threads int, fn func(worker int, c *table.Chunk) error) error {
	const run = 64 << 10
	var next atomic.Uint64
	return parallel(ctx, threads, func(ctx context.Context, worker int) error {
		for {
			first := next.Add(run) - run
			if first >= rows {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := fn(worker, &table.Chunk{First: first, Rows: int(min(run, rows-first))}); err != nil {
				return err
			}
		}
	})
}

// chunk makes the records of a chunk.
func (e *emitter) chunk(c *table.Chunk) error {
	if e.bad.past(c.First) {
		return nil
	}
	end := c.First + uint64(c.Rows)
	if !e.lay.wide && (e.p.base+end)<<e.sym > narrowTop() {
		return errWide
	}
	if c.First < e.next && e.w != nil {
		if err := e.w.NextRun(); err != nil {
			return err
		}
	}
	e.next = end
	e.columnsOf(c)
	if e.resolve != nil {
		var err error
		if e.given[0], e.given[1], err = e.resolve(c.First, c.Rows); err != nil {
			return err
		}
	}
	for from := 0; from < c.Rows; from += batchRows {
		n := min(batchRows, c.Rows-from)
		src, err := e.ends(e.p.src, e.given[0], e.srcAt, c, from, e.src[:n])
		if err != nil {
			return err
		}
		dst, err := e.ends(e.p.dst, e.given[1], e.dstAt, c, from, e.dst[:n])
		if err != nil {
			return err
		}
		if err := e.rows(c, from, src, dst); err != nil {
			return err
		}
	}
	stage := "edges "
	if e.w == nil { // nothing is written
		stage = "count "
	}
	e.scanned(stage+e.p.Type.String(), e.p.Table, c, e.p.rows, &e.done)
	return nil
}

func (e *emitter) columnsOf(c *table.Chunk) {
	e.fixed, e.cursors = e.fixed[:0], e.cursors[:0]
	for i := range e.lay.cols {
		v := &c.Columns[e.colsAt+i]
		e.fixed = append(e.fixed, v.Data)
		e.cursors = append(e.cursors, newCursor(&e.lay.cols[i].Column, v))
	}
}

// ends returns the type-wise ids of one end for rows of a chunk. buf has room for them.
func (e *emitter) ends(x end, given []uint64, at int, c *table.Chunk, from int, buf []uint64) ([]uint64, error) {
	switch {
	case x.given:
		return given[from : from+len(buf)], nil
	case at >= 0 && x.t.lookup != nil && x.isKeyed():
		e.touched |= x.t.lookup.find(x.t, e.seed, &c.Columns[at], from, buf)
		return buf, nil
	case at >= 0:
		return u64s(c.Columns[at].Data)[from : from+len(buf)], nil
	case x.isKeyed():
		return buf, x.refs.read(c.First+uint64(from), x.slot, buf, &e.bytes)
	}
	own := x.t.dropped != nil && sameTable(e.p.Table, x.t.Table)
	for i := range buf {
		row := c.First + uint64(from+i)
		if own {
			row = x.t.id(row)
		}
		buf[i] = row
	}
	return buf, nil
}

// rows makes the records of a batch.
func (e *emitter) rows(c *table.Chunk, from int, src, dst []uint64) error {
	p, lay := e.p, e.lay
	plain := lay.plain() && e.whereAt < 0 && c.Absent == nil
	sameType := p.src.t == p.dst.t
	loops := sameType && e.opt.SelfLoops != Keep
	out := e.opt.Primary == graph.Out
	srcOff, dstOff := p.src.t.offset, p.dst.t.offset
	seq := (p.base + c.First + uint64(from)) << e.sym
	step := uint64(1) << e.sym
	srcLimit, dstLimit := e.srcLimit, e.dstLimit
	srcMax, dstMax := uint64(0), uint64(0)
	count := uint64(0)
	defer func() {
		e.srcTop, e.dstTop = max(e.srcTop, srcMax), max(e.dstTop, dstMax)
		e.stats.Count += count
	}()
	dst = dst[:len(src)]
	fixed := !lay.wide && !lay.variable && e.whereAt < 0 && c.Absent == nil
	quick := fixed && e.w != nil && !p.Symmetrise && !loops
	for i := 0; i < len(src); i++ {
		if quick {
			n := e.quickRows(plain, from+i, src[i:], dst[i:], uint32(seq), uint32(step))
			i += n
			count += uint64(n)
			seq += uint64(n) * step
			if i == len(src) {
				break
			}
		}
		s, d, at := src[i], dst[i], seq
		seq += step
		var blob []byte
		if !plain {
			if lay.variable {
				blob = e.variable()
			}
			if e.leavesOut(c, from+i, s, d) {
				continue
			}
		}
		if (s >= srcLimit || d >= dstLimit) && e.dangles(c.First+uint64(from+i), s, d) {
			continue
		}
		if loops && s == d {
			e.countLoop(c.First + uint64(from+i))
			continue
		}
		srcMax, dstMax = max(srcMax, s+1), max(dstMax, d+1)
		if e.w == nil {
			continue
		}
		near, far := d+dstOff, s+srcOff
		if out {
			near, far = far, near
		}
		if !lay.wide && (near|far)>>32 != 0 {
			return errWide
		}
		count++
		if err := e.writeEdge(plain, from+i, near, far, at, blob); err != nil {
			return err
		}
	}
	return nil
}

// writeEdge writes the record of an edge with the columns of row i of the chunk, and for Symmetrise the one of its reverse.
func (e *emitter) writeEdge(plain bool, i int, near, far, seq uint64, blob []byte) error {
	if plain {
		rec, err := e.w.Slot(near, plainBytes)
		if err != nil {
			return err
		}
		e.lay.put(rec, near, far, seq)
	} else if err := e.record(i, near, far, seq, blob); err != nil {
		return err
	}
	if !e.p.Symmetrise || near == far {
		return nil
	}
	e.stats.Reversed++
	e.stats.Count++
	return e.record(i, far, near, seq|1, blob)
}

// quickRows makes the records of rows from row i of the chunk on, as long as they are plain or of fixed columns and need no
// closer look. It returns their number.
func (e *emitter) quickRows(plain bool, i int, src, dst []uint64, seq, step uint32) int {
	near, far := dst, src
	if e.opt.Primary == graph.Out {
		near, far = src, dst
	}
	if plain {
		return e.quick(near, far, seq, step)
	}
	return e.quickFixed(i, near, far, seq, step)
}

// leavesOut says whether row i of the chunk gives no edge, because of Where, its ends or empty values, and counts it.
func (e *emitter) leavesOut(c *table.Chunk, i int, s, d uint64) bool {
	switch {
	case e.whereAt >= 0 && !e.matches(c, i):
		e.stats.Filtered++
	case e.p.src.marked(s, noEnd) || e.p.dst.marked(d, noEnd): // the scan of the keys has counted the row
	case c.Absent != nil && c.Absent[i]:
		e.stats.Absent++
	default:
		return false
	}
	return true
}

// countLoop counts an edge from a node to itself, which gives no edge.
func (e *emitter) countLoop(row uint64) {
	e.stats.SelfLoops++
	if e.opt.SelfLoops == Error {
		e.bad.report(row, func(context.Context) error {
			return fmt.Errorf("%s: found an edge from a node to itself, expected none; give `SelfLoops` keep or drop", e.p.Table.Where(row, ""))
		})
	}
}

// dangles handles a row with an end that is not a node. It returns whether the row gives no edge.
func (e *emitter) dangles(row, s, d uint64) bool {
	if e.p.src.marked(s, noEnd) || e.p.dst.marked(d, noEnd) {
		return true
	}
	if e.p.src.marked(s, leftOut) || e.p.dst.marked(d, leftOut) {
		e.stats.Absent++
		return true
	}
	e.stats.Dangling++
	x, v, limit, what := e.p.src, s, e.srcLimit, "source"
	if s < e.srcLimit {
		x, v, limit, what = e.p.dst, d, e.dstLimit, "destination"
	}
	p := e.p
	switch {
	case !x.t.known || x.t.counted:
		e.bad.report(row, func(context.Context) error {
			return fmt.Errorf("%s: found %s %d, expected ids below %d; read the ids as strings to have them numbered", p.Table.Where(row, x.column.Name), what, v, limit)
		})
	case e.opt.DanglingEdges == Zeros: // all keys are nodes, so this end is not a key
		e.bad.report(row, func(context.Context) error {
			return fmt.Errorf("%s: found %s %d, expected an id of node type %s, below %d: no node can be added to a table whose ids are its row numbers; give it a column of ids, or `DanglingEdges` drop", p.Table.Where(row, x.column.Name), what, v, x.t.Type, limit)
		})
	case e.opt.DanglingEdges == Error:
		e.bad.report(row, func(ctx context.Context) error {
			if !x.marked(v, dangling) {
				return fmt.Errorf("%s: found %s %d, expected an id of node type %s, below %d; add the node, or give `DanglingEdges` drop or zeros", p.Table.Where(row, x.column.Name), what, v, x.t.Type, limit)
			}
			text, err := e.text(ctx, p.Table, x.column, row)
			if err != nil {
				return err
			}
			return fmt.Errorf("%s: found %s %s, expected an id of node type %s; add the node, or give `DanglingEdges` drop or zeros", p.Table.Where(row, x.column.Name), what, text, x.t.Type)
		})
	}
	return true
}

// matches says whether Where keeps a row.
func (e *emitter) matches(c *table.Chunk, i int) bool {
	return string(text(&c.Columns[e.whereAt], i)) == e.p.Where.Value
}

// text returns value i of a vector of strings.
func text(v *table.Vector, i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = v.Ends[i-1]
	}
	return v.Data[from:v.Ends[i]]
}

// variable returns the variable columns of the next row in the form that records carry.
func (e *emitter) variable() []byte {
	b := e.blob[:0]
	for k := range e.cursors {
		if e.lay.cols[k].width == 0 {
			b = e.cursors[k].blob(b)
		}
	}
	e.blob = b
	return b
}

// record writes one record with the columns of row i of the chunk.
func (e *emitter) record(i int, near, far, seq uint64, blob []byte) error {
	n := e.lay.fixed
	if e.lay.variable {
		n += 4 + len(blob)
	}
	rec, err := e.w.Slot(near, n)
	if err != nil {
		return err
	}
	e.lay.put(rec, near, far, seq)
	for k := range e.lay.cols {
		if x := &e.lay.cols[k]; x.width > 0 {
			copy(rec[x.at:x.at+x.width], e.fixed[k][i*x.width:])
		}
	}
	if e.lay.variable {
		put32(rec[e.lay.fixed:], uint32(len(blob)))
		copy(rec[e.lay.fixed+4:], blob)
	}
	return nil
}

// errFound ends a scan that has found its row.
var errFound = errors.New("found")

// text reads one id for an error.
func (b *builder) text(ctx context.Context, t table.Table, c table.Column, row uint64) (string, error) {
	var found string
	_, err := t.Scan(ctx, []table.Column{c}, 1, func(_ int, k *table.Chunk) error {
		if row < k.First || row >= k.First+uint64(k.Rows) {
			return nil
		}
		i := int(row - k.First)
		if c.DType == graph.String {
			found = fmt.Sprintf("%q", text(&k.Columns[0], i))
		} else {
			found = fmt.Sprint(u64s(k.Columns[0].Data)[i])
		}
		return errFound
	})
	if err != nil && !errors.Is(err, errFound) {
		return "", err
	}
	return found, nil
}
