package arrow

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/graphmill/graphmill/format/parquet"
)

// cursor reads the values of a field, in order.
type cursor struct {
	n       *node
	left    int64 // rows that were not taken
	valid   *bits // nil: no row is null
	bits    *bits
	offsets *buffer
	data    *buffer
	last    int64   // offset at which the next row starts
	ends    []int64 // ends of rows that were read and not taken
	started bool
	views   []byte // views of rows that were read and not taken
	texts   [][]byte
	child   *cursor
	dict    *dictionary
	null    []bool
}

// cursor opens the buffers of a field, and moves p behind it. chunks is the number of chunks of dictionaries that count.
func (f *File) cursor(r io.ReaderAt, n *node, p *places, l *layoutOf, chunks int) (c *cursor, err error) {
	c = &cursor{n: n}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if 16*p.node+16 > len(l.nodes) {
		return c, corruptf("found %d fields, expected more; the file is damaged", len(l.nodes)/16)
	}
	c.left = int64(binary.LittleEndian.Uint64(l.nodes[16*p.node:]))
	nulls := int64(binary.LittleEndian.Uint64(l.nodes[16*p.node+8:]))
	p.node++
	if c.left < 0 {
		return c, corruptf("found %d rows, expected at least 0; the file is damaged", c.left)
	}
	open := func() (*buffer, error) {
		p.buffer++
		return l.buffer(r, p.buffer-1)
	}
	if n.layout == layoutNull {
		return c, nil
	}
	valid, err := open()
	if err != nil {
		return c, err
	}
	if c.valid = (&bits{b: valid}); nulls == 0 || valid.left == 0 {
		c.valid = nil
		if nulls > 0 && c.left > 0 {
			return c, corruptf("found %d nulls and no bits that say which, expected bits; the file is damaged", nulls)
		}
		if err := valid.close(); err != nil {
			return c, err
		}
	}
	switch n.layout {
	case layoutBits:
		b, err := open()
		c.bits = &bits{b: b}
		return c, err
	case layoutText:
		if c.offsets, err = open(); err != nil {
			return c, err
		}
		c.data, err = open()
	case layoutFixed:
		if c.data, err = open(); err == nil && n.values != nil {
			c.dict, err = f.dictionary(r, n.id, chunks)
		}
	case layoutView:
		if c.data, err = open(); err != nil {
			return c, err
		}
		for range l.count(p.variadic) {
			b, err := open()
			if err != nil {
				return c, err
			}
			text, err := b.all()
			if err = errors.Join(err, b.close()); err != nil {
				return c, err
			}
			c.texts = append(c.texts, text)
		}
		p.variadic++
	case layoutList:
		if c.offsets, err = open(); err == nil {
			c.child, err = f.cursor(r, n.children[0], p, l, chunks)
		}
	case layoutSized:
		c.child, err = f.cursor(r, n.children[0], p, l, chunks)
	}
	return c, err
}

func (c *cursor) close() {
	for _, b := range []*bits{c.valid, c.bits} {
		if b != nil {
			_ = b.b.close()
		}
	}
	_ = c.offsets.close()
	_ = c.data.close()
	if c.child != nil {
		c.child.close()
	}
}

// bits reads bits, the lowest of a byte first.
type bits struct {
	b    *buffer
	at   int // bits of the byte that were taken; 0: none
	byte byte
}

// next sets each element of out to whether its bit equals one.
func (b *bits) next(out []bool, one byte) error {
	for i := range out {
		if b.at == 0 {
			x, err := b.b.next(1)
			if err != nil {
				return err
			}
			b.byte = x[0]
		}
		out[i] = b.byte&1 == one
		b.byte >>= 1
		b.at = (b.at + 1) & 7
	}
	return nil
}

// peek reads the ends, or views, of the next k rows.
func (c *cursor) peek(k int) error {
	if c.n.layout == layoutView {
		if n := 16*k - len(c.views); n > 0 {
			b, err := c.data.next(n)
			if err != nil {
				return err
			}
			c.views = append(c.views, b...)
		}
		return nil
	}
	size := c.n.size
	if !c.started {
		b, err := c.offsets.next(size)
		if err != nil {
			return err
		}
		c.started, c.last = true, signed(b)
		if c.last < 0 {
			return corruptf("found offset %d, expected at least 0; the file is damaged", c.last)
		}
		if c.data != nil {
			err = c.data.skip(c.last)
		} else {
			err = c.child.pass(c.last)
		}
		if err != nil {
			return err
		}
	}
	if n := k - len(c.ends); n > 0 {
		b, err := c.offsets.next(n * size)
		if err != nil {
			return err
		}
		before := c.last
		if len(c.ends) > 0 {
			before = c.ends[len(c.ends)-1]
		}
		for ; len(b) > 0; b = b[size:] {
			end := signed(b[:size])
			if end < before {
				return corruptf("found offset %d after %d, expected offsets that do not fall; the file is damaged", end, before)
			}
			c.ends = append(c.ends, end)
			before = end
		}
	}
	return nil
}

// drop forgets the first k rows that peek read.
func (c *cursor) drop(k int) {
	if c.n.layout == layoutView {
		c.views = append(c.views[:0], c.views[16*k:]...)
		return
	}
	c.last = c.ends[k-1]
	c.ends = append(c.ends[:0], c.ends[k:]...)
}

// room returns how many of the next k rows take about the given number of bytes, but at least one.
func (c *cursor) room(k, bytes int) (int, error) {
	if int64(k) > c.left {
		return 0, corruptf("found %d rows, expected %d or more; the file is damaged", c.left, k)
	}
	switch n := c.n; {
	case n.layout == layoutNull:
		return k, nil
	case n.values != nil && n.width == 0:
		return max(1, min(k, bytes/(c.dict.longest+1))), nil
	case n.layout == layoutFixed:
		return max(1, min(k, bytes/n.size)), nil
	case n.layout == layoutBits:
		return max(1, min(k, bytes)), nil
	case n.layout == layoutSized:
		if n.size == 0 {
			return k, nil
		}
		m, err := c.child.room(int(min(int64(k)*int64(n.size), piece, c.child.left)), bytes)
		return max(1, min(k, m/n.size)), err
	}
	if err := c.peek(k); err != nil {
		return 0, err
	}
	if c.n.layout == layoutList {
		m := 0
		if all := c.ends[k-1] - c.last; all > 0 {
			var err error
			if m, err = c.child.room(int(min(all, 1<<14, max(c.child.left, 1))), bytes); err != nil {
				return 0, err
			}
		}
		rows := 0
		for rows < k && c.ends[rows]-c.last <= int64(m) {
			rows++
		}
		return max(1, rows), nil
	}
	rows, sum := 0, int64(0)
	for rows < k {
		if sum += c.length(rows); sum > int64(bytes) {
			break
		}
		rows++
	}
	return max(1, rows), nil
}

// length is the number of bytes of a row that peek read.
func (c *cursor) length(row int) int64 {
	if c.n.layout == layoutView {
		return int64(int32(binary.LittleEndian.Uint32(c.views[16*row:])))
	}
	start := c.last
	if row > 0 {
		start = c.ends[row-1]
	}
	return c.ends[row] - start
}

// pass skips rows.
func (c *cursor) pass(n int64) error {
	var scratch parquet.Rows
	for n > 0 {
		k, err := c.room(int(min(n, piece)), ahead)
		if err != nil {
			return err
		}
		scratch.Reset()
		if err := c.take(k, &scratch, 1, true); err != nil {
			return err
		}
		n -= int64(k)
	}
	return nil
}

// take appends k rows. level is the number of lists around them. Rows that are null are marked at level 0; at others they
// are an error, unless the rows are only passed.
func (c *cursor) take(k int, out *parquet.Rows, level int, pass bool) error {
	if int64(k) > c.left {
		return corruptf("found %d rows, expected %d or more; the file is damaged", c.left, k)
	}
	c.left -= int64(k)
	c.null = slices.Grow(c.null[:0], k)[:k]
	clear(c.null)
	if c.valid != nil {
		if err := c.valid.next(c.null, 0); err != nil {
			return err
		}
	}
	if err := c.values(k, out, level, pass); err != nil {
		return err
	}
	at := slices.Index(c.null, true)
	switch {
	case level > 0:
		if at >= 0 && !pass {
			return unsupportedf("found null in a list, expected a value; fill it, or leave it out")
		}
		return nil
	case at >= 0 || out.Null != nil:
		for len(out.Null) < out.N {
			out.Null = append(out.Null, false)
		}
		out.Null = append(out.Null, c.null...)
	}
	out.N += k
	return nil
}
