package assemble

import (
	"context"
	"fmt"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

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
