package outofcore

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/guard"
)

// rowReader reads blocks of columns.
type rowReader struct {
	disk  *disk
	buf   []byte
	pages []bool
}

// rowBuffer is the bytes of a block with its rows whole, from page to page.
func (c *rowColumn) rowBuffer() int {
	return (c.per*c.row+direct.Align-1)/direct.Align*direct.Align + direct.Align
}

// byteOf is the byte offset of a row in the file.
func (c *rowColumn) byteOf(row int) uint64 { return c.start + uint64(row)*uint64(c.row) }

// read fills tables with the rows that are wanted and ordered, in one pass over the files. At most the given number of goroutines
// read.
func (t *rowTables) read(ctx context.Context, tables []*Rows, readers int) error {
	blocks, size := 0, rowBlock(tables)
	for _, r := range tables {
		for _, c := range r.columns {
			blocks = c.first + c.blocks
		}
	}
	n := min(readers, blocks)
	buf, err := t.buffers(n, size)
	if err != nil {
		return err
	}
	var next atomic.Int64
	g, ctx := guard.WithContext(ctx)
	for i := range n {
		rd := &rowReader{disk: &t.disk, buf: buf[i*size : (i+1)*size], pages: make([]bool, size/direct.Align)}
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

// columnAt is the column that a block belongs to.
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
	base, wanted, err := rd.read(r, c, block)
	if err != nil || wanted == 0 {
		return err
	}
	first := block * c.per
	to := c.table[int(r.place(first))*c.row:]
	r.runs(first, min(first+c.per, r.count), func(from, end int) {
		n := (end - from) * c.row
		copy(to[:n], rd.buf[c.byteOf(from)-base:])
		to = to[n:]
	})
	return nil
}

// read reads the wanted part of a block: nothing, some pages, or all pages where many are wanted. It returns the offset
// in the file of the first byte of the buffer, and the number of wanted rows.
func (rd *rowReader) read(r *Rows, c *rowColumn, block int) (base uint64, wanted int, err error) {
	first := block * c.per
	end := min(first+c.per, r.count)
	base = c.byteOf(first) / direct.Align * direct.Align
	if wanted = int(r.place(end) - r.place(first)); wanted == 0 {
		return base, 0, nil
	}
	pages := int((c.byteOf(end) + direct.Align - 1 - base) / direct.Align)
	if wanted <= rd.disk.pages {
		clear(rd.pages)
		n := 0
		r.runs(first, end, func(from, to int) {
			for p := (c.byteOf(from) - base) / direct.Align; p*direct.Align < c.byteOf(to)-base; p++ {
				if !rd.pages[p] {
					rd.pages[p] = true
					n++
				}
			}
		})
		if n <= rd.disk.pages {
			return base, wanted, readRuns(c.file, rd.buf, rd.pages[:pages], int64(base))
		}
	}
	_, err = c.file.ReadAt(rd.buf[:pages*direct.Align], int64(base))
	return base, wanted, err
}

// readRuns reads the marked pages from offset base of the file on into their places in buf.
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

// rowBlock is the most bytes that a block of a column takes in a buffer.
func rowBlock(tables []*Rows) int {
	size := 0
	for _, r := range tables {
		for _, c := range r.columns {
			size = max(size, c.rowBuffer())
		}
	}
	return size
}

// columnNames is the names of the fetched columns, for errors.
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
