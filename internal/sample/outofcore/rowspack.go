package outofcore

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/graphmill/graphmill/internal/sample"
)

// pack is the rows that a run of batches wants, as many as the tables hold.
type pack struct {
	batches uint64
	rows    []rowList    // by table; nil where the tables have the marks
	spilled [][][]uint32 // numbers of the extents of the rows, by table and column
}

// sampleRows samples n batches from first on, while the tables have the rows that they want.
func (e *emitter[T]) sampleRows(ctx context.Context, tables []*Rows, first, n uint64, from fetched, stats *sample.Stats) error {
	for n > 0 {
		packs, err := e.p.packs(ctx, e.workers, tables, first, n, from)
		if err != nil {
			return err
		}
		for _, k := range packs {
			n -= k.batches
		}
		if first, err = e.samplePacks(ctx, tables, packs, first, from, stats); err != nil {
			return err
		}
	}
	return nil
}

// samplePacks samples the batches of packs, and returns the batch after them.
func (e *emitter[T]) samplePacks(ctx context.Context, tables []*Rows, packs []*pack, first uint64, from fetched, stats *sample.Stats) (_ uint64, err error) {
	var spill *rowSpill
	if e.p.tables.spills(tables, packs) {
		if spill, err = e.p.spillRows(ctx, tables, packs); err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, spill.close()) }()
	}
	for _, k := range packs {
		if err := e.p.load(ctx, tables, k, spill); err != nil {
			return 0, err
		}
		if err := e.sample(ctx, first, k.batches, from, stats); err != nil {
			return 0, err
		}
		first += k.batches
	}
	return first, nil
}

// packs divides the n batches from first on, or the first of them, into packs. It stops where the lists of the packs
// have no more room.
func (p *pipeline) packs(ctx context.Context, workers []*emitWorker, tables []*Rows, first, n uint64, from fetched) (packs []*pack, err error) {
	known := p.full != nil && !slices.ContainsFunc(tables, func(r *Rows) bool { return r.edges })
	if known && p.share.limit > 0 {
		// Marks are cheap here: the rows of all batches may fit where there are no lists.
		for _, r := range tables {
			r.reset()
		}
		_, err := p.wantNodes(ctx, p.full, tables, first, n, p.share.whole)
		if err == nil {
			return []*pack{{batches: n}}, nil
		}
		if !errors.Is(err, errFull) && !errors.Is(err, ErrMemory) {
			return nil, err
		}
	}
	room, most := p.share.lists*2/3, int(p.share.lists/6/leastRowExtent)
	for done := uint64(0); done < n; {
		for _, r := range tables {
			r.reset()
		}
		k := &pack{}
		if known {
			k.batches, err = p.wantNodes(ctx, p.full, tables, first+done, n-done, p.share.limit)
		} else {
			k.batches, err = p.wantSampled(ctx, workers, tables, first+done, n-done, from)
		}
		if err != nil && !errors.Is(err, errFull) {
			return nil, err
		}
		packs = append(packs, k)
		if k.batches == n {
			return packs, nil
		}
		done += k.batches
		for _, r := range tables {
			list := r.list()
			k.rows = append(k.rows, list)
			room -= int64(len(list.gaps))
		}
		if room <= 0 || len(packs) >= most {
			return packs, nil
		}
	}
	return packs, nil
}

// rowList is a list of ascending rows, as the difference of each to the one before.
type rowList struct {
	gaps []byte // uvarints
	n    int
}

// list is the rows that are marked.
func (r *Rows) list() rowList {
	l, last := rowList{n: r.marked, gaps: make([]byte, 0, r.marked*2)}, -1
	r.runs(0, r.count, func(from, to int) {
		for v := from; v < to; v++ {
			l.gaps = binary.AppendUvarint(l.gaps, uint64(v-last))
			last = v
		}
	})
	l.gaps = slices.Clip(l.gaps)
	return l
}

// rowCursor walks a list.
type rowCursor struct {
	gaps []byte
	row  int // the next row; after the last row it is math.MaxInt
}

func (l *rowList) cursor() rowCursor {
	c := rowCursor{gaps: l.gaps, row: -1}
	c.step()
	return c
}

func (c *rowCursor) step() {
	gap, n := binary.Uvarint(c.gaps)
	if n <= 0 {
		c.row = math.MaxInt
		return
	}
	c.row += int(gap)
	c.gaps = c.gaps[n:]
}

// set marks the rows of a list.
func (r *Rows) set(l *rowList) {
	for c := l.cursor(); c.row < r.count; c.step() {
		r.want[c.row>>6] |= 1 << (c.row & 63)
	}
	r.marked = l.n
}

// load fills the tables with the rows that a pack wants.
func (p *pipeline) load(ctx context.Context, tables []*Rows, k *pack, spill *rowSpill) error {
	if k.rows != nil {
		for t, r := range tables {
			r.reset()
			r.set(&k.rows[t])
		}
	}
	for _, r := range tables {
		r.order()
	}
	if spill == nil {
		return p.tables.read(ctx, tables, len(p.readers))
	}
	return spill.load(ctx, tables, k)
}

// spills says whether it takes less time to read the rows of several packs together and to write them to a scratch file
// than to make a pass for each pack.
func (t *rowTables) spills(tables []*Rows, packs []*pack) bool {
	if t.scratch == "" || len(packs) == 1 {
		return false
	}
	if t.always {
		return true
	}
	// The bytes that are read in sequence in the time of a single page.
	page := float64(blockBytes) / float64(max(t.disk.pages, 1))
	apart, spilled := 0.0, 0.0
	for i, r := range tables {
		for _, c := range r.columns {
			size, union := float64(r.count)*float64(c.row), 0.0
			for _, k := range packs {
				rows := float64(k.rows[i].n)
				apart += min(size, rows*max(page, float64(c.row)))
				union += rows
				spilled += spillCost * rows * float64(c.row)
			}
			spilled += min(size, union*max(page, float64(c.row)))
		}
	}
	return spilled < apart
}
