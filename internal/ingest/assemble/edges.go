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

// text returns value i of a vector of strings.
func text(v *table.Vector, i int) []byte {
	from := uint32(0)
	if i > 0 {
		from = v.Ends[i-1]
	}
	return v.Data[from:v.Ends[i]]
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
