package stream

import (
	"context"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/graphmill/graphmill/internal/direct"
)

// rowReader reads blocks of columns.
type rowReader struct {
	x     *Executor
	buf   []byte
	pages []bool
}

// rowBuffer is the bytes of a block with its rows whole, from page to page.
func (c *rowColumn) rowBuffer() int {
	return (c.per*c.row+direct.Align-1)/direct.Align*direct.Align + direct.Align
}

// readRows fills the tables with the rows that are wanted, in one pass over the files.
func (x *Executor) readRows(ctx context.Context, tables []*Rows) error {
	blocks, size := 0, rowBlock(tables)
	for _, r := range tables {
		r.order()
		for _, c := range r.columns {
			blocks = c.first + c.blocks
		}
	}
	n := min(x.readers(), blocks)
	buf, err := x.rows.buffers(n, size)
	if err != nil {
		return err
	}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for i := range n {
		rd := &rowReader{x: x, buf: buf[i*size : (i+1)*size], pages: make([]bool, size/direct.Align)}
		g.Go(func() error {
			for ctx.Err() == nil {
				b := int(next.Add(1) - 1)
				if b >= blocks {
					return nil
				}
				r, c := columnAt(tables, b)
				if err := rd.serve(r, c, b-c.first); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

// columnAt is the column that a block is of.
func columnAt(tables []*Rows, block int) (*Rows, *rowColumn) {
	for _, r := range tables {
		for _, c := range r.columns {
			if block < c.first+c.blocks {
				return r, c
			}
		}
	}
	return nil, nil
}

// serve copies the wanted rows of a block into the table.
func (rd *rowReader) serve(r *Rows, c *rowColumn, block int) error {
	first := block * c.per
	end := min(first+c.per, r.count)
	at := int(r.place(first))
	wanted := int(r.place(end)) - at
	if wanted == 0 {
		return nil
	}
	byteOf := func(row int) uint64 { return c.start + uint64(row)*uint64(c.row) }
	base := byteOf(first) / direct.Align * direct.Align
	pages := int((byteOf(end) + direct.Align - 1 - base) / direct.Align)
	if err := rd.read(r, c, first, end, base, pages, wanted); err != nil {
		return err
	}
	to := c.table[at*c.row:]
	r.runs(first, end, func(from, end int) {
		n := (end - from) * c.row
		copy(to[:n], rd.buf[byteOf(from)-base:])
		to = to[n:]
	})
	return nil
}

// read reads the pages of a block that are wanted, or all where they are many.
func (rd *rowReader) read(r *Rows, c *rowColumn, first, end int, base uint64, pages, wanted int) error {
	if wanted <= rd.x.brk {
		clear(rd.pages)
		n := 0
		r.runs(first, end, func(from, to int) {
			at := c.start + uint64(from)*uint64(c.row) - base
			for p := at / direct.Align; p*direct.Align < at+uint64((to-from)*c.row); p++ {
				if !rd.pages[p] {
					rd.pages[p] = true
					n++
				}
			}
		})
		if n <= rd.x.brk {
			return readRuns(c.file, rd.buf, rd.pages[:pages], int64(base))
		}
	}
	_, err := c.file.ReadAt(rd.buf[:pages*direct.Align], int64(base))
	return err
}

// readRuns reads the marked pages of what lies at base into their places in buf.
func readRuns(f *direct.File, buf []byte, pages []bool, base int64) error {
	for first := 0; first < len(pages); {
		if !pages[first] {
			first++
			continue
		}
		end := first + 1
		for gap := 0; gap <= throughGap && end+gap < len(pages); {
			if pages[end+gap] {
				end, gap = end+gap+1, 0
			} else {
				gap++
			}
		}
		if _, err := f.ReadAt(buf[first*direct.Align:end*direct.Align], base+int64(first)*direct.Align); err != nil {
			return err
		}
		first = end
	}
	return nil
}

// rowBlock is the most bytes of a block of a column.
func rowBlock(tables []*Rows) int {
	size := 0
	for _, r := range tables {
		for _, c := range r.columns {
			size = max(size, c.rowBuffer())
		}
	}
	return size
}

// columnNames names what is fetched, for errors.
func columnNames(tables []*Rows) []string {
	var names []string
	for _, r := range tables {
		for _, c := range r.columns {
			names = append(names, c.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
