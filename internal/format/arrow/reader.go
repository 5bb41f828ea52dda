package arrow

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/graphmill/graphmill/format/parquet"
	"github.com/graphmill/graphmill/internal/format/decimal"
)

// Bounds of the bytes of a row, of the elements of all its lists, of a buffer of string views, and of a dictionary.
const (
	maxRow        = 64 << 20
	maxRowLevels  = 16 << 20
	maxView       = 256 << 20
	maxRatio      = 4096
	maxDictionary = 1 << 30
	piece         = 1 << 12 // rows that are read at a time
)

// Reader reads the rows of a column of a record batch.
type Reader struct {
	f             *File
	r             io.ReaderAt
	batch, column int
	c             *cursor
	rows          int64 // that were read
}

// Close frees the decompressors.
func (r *Reader) Close() {
	if r.c != nil {
		r.c.close()
	}
}

// Read appends rows until rows.N is n, or rows.Data has limit bytes or more. It returns io.EOF if no row was left to
// append.
func (r *Reader) Read(rows *parquet.Rows, n, limit int) error {
	if rows.N >= n || len(rows.Data) >= limit {
		return nil
	}
	err := r.read(rows, n, limit)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("column %q: row %d of the record batch: %w", r.f.Columns[r.column].Name, r.rows, err)
	}
	return err
}

func (r *Reader) read(rows *parquet.Rows, n, limit int) error {
	column := &r.f.Columns[r.column]
	if column.Reason != "" {
		return unsupportedf("found %s, expected numbers, bools, strings, or lists of them", column.Reason)
	}
	if r.c == nil {
		if err := r.begin(); err != nil {
			return err
		}
	}
	for len(rows.Lengths) < column.Lists {
		rows.Lengths = append(rows.Lengths, nil)
	}
	before := rows.N
	for rows.N < n && len(rows.Data) < limit && r.c.left > 0 {
		k, err := r.c.room(int(min(int64(n-rows.N), r.c.left, piece)), limit-len(rows.Data))
		if err == nil {
			err = r.c.take(k, rows, 0, false)
		}
		if err != nil {
			return err
		}
		r.rows += int64(k)
	}
	for rows.Null != nil && len(rows.Null) < rows.N {
		rows.Null = append(rows.Null, false)
	}
	if rows.N == before {
		return io.EOF
	}
	return nil
}

// begin opens the buffers of the column.
func (r *Reader) begin() error {
	b := r.f.Batches[r.batch]
	m, ok, err := r.f.message(r.r, b.at)
	if err == nil && !ok {
		err = corruptf("byte %d: found no message, expected one; the file was changed while it was read", b.at)
	}
	if err != nil {
		return err
	}
	l, err := m.layout(m.head)
	if err != nil {
		return err
	}
	var p, own places
	for i, n := range r.f.fields {
		if i == r.column {
			own = p
		}
		p = p.after(n, &l)
	}
	if 16*p.node != len(l.nodes) || 16*p.buffer != len(l.buffers) {
		return corruptf("found %d fields with %d buffers, expected %d with %d; the file is damaged", len(l.nodes)/16, len(l.buffers)/16, p.node, p.buffer)
	}
	r.c, err = r.f.cursor(r.r, r.f.fields[r.column], &own, &l, b.chunks)
	if err == nil && r.c.left != b.Rows {
		err = corruptf("found %d rows, expected %d as of the batch; the file is damaged", r.c.left, b.Rows)
	}
	return err
}

// cursor reads the values of a field, in order.
type cursor struct {
	n       *node
	left    int64 // rows that were not taken
	valid   *bits // nil: no row is null
	bits    *bits
	offsets *buffer
	data    *buffer
	last    int64   // offset at which the next row starts
	ends    []int64 // those of rows that were read and not taken
	started bool
	views   []byte // those of rows that were read and not taken
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
		m, err := 0, error(nil)
		if all := c.ends[k-1] - c.last; all > 0 {
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

// values appends the values of k rows, and zeros, empty strings or empty lists for those that are null. It marks rows whose
// value in a dictionary is null.
func (c *cursor) values(k int, out *parquet.Rows, level int, pass bool) error {
	n := c.n
	switch {
	case n.layout == layoutNull:
		for i := range c.null {
			c.null[i] = true
		}
		out.Data = append(out.Data, make([]byte, k)...)
	case n.layout == layoutBits:
		one := make([]bool, k)
		if err := c.bits.next(one, 1); err != nil {
			return err
		}
		for i, v := range one {
			x := byte(0)
			if v && !c.null[i] {
				x = 1
			}
			out.Data = append(out.Data, x)
		}
	case n.layout == layoutFixed:
		b, err := c.data.next(k * n.size)
		if err != nil {
			return err
		}
		if n.values != nil {
			return c.look(b, out)
		}
		c.fixed(b, out)
	case n.layout == layoutList, n.layout == layoutSized:
		return c.lists(k, out, level, pass)
	default:
		return c.strings(k, out)
	}
	return nil
}

// fixed appends values of a fixed size.
func (c *cursor) fixed(b []byte, out *parquet.Rows) {
	n, le := c.n, binary.LittleEndian
	start := len(out.Data)
	switch {
	case n.convert == convertBytes:
		for i := range c.null {
			if !c.null[i] {
				out.Data = append(out.Data, b[i*n.size:(i+1)*n.size]...)
			}
			out.Ends = append(out.Ends, uint32(len(out.Data)))
		}
		return
	case n.convert == convertDays:
		for ; len(b) > 0; b = b[4:] {
			out.Data = le.AppendUint64(out.Data, uint64(signed(b[:4])*86400))
		}
	case n.convert == convertDecimal || n.convert == convertWhole:
		var big [32]byte
		for ; len(b) > 0; b = b[n.size:] {
			for i := range n.size {
				big[n.size-1-i] = b[i]
			}
			if n.convert == convertDecimal {
				out.Data = le.AppendUint64(out.Data, math.Float64bits(decimal.Float64(big[:n.size], n.scale)))
			} else {
				v, _ := decimal.Int64(big[:n.size]) // at most 18 digits
				out.Data = le.AppendUint64(out.Data, uint64(v))
			}
		}
	case n.size == n.width:
		out.Data = append(out.Data, b...)
	default: // integers of 8 and 16 bits
		for ; len(b) > 0; b = b[n.size:] {
			v := uint32(signed(b[:n.size]))
			if n.typ >= parquet.Uint8 {
				v &= 1<<(8*n.size) - 1
			}
			out.Data = le.AppendUint32(out.Data, v)
		}
	}
	if c.valid != nil {
		for i, null := range c.null {
			if null {
				clear(out.Data[start+i*n.width : start+(i+1)*n.width])
			}
		}
	}
}

// look appends the values of a dictionary that indices refer to.
func (c *cursor) look(b []byte, out *parquet.Rows) error {
	n, d := c.n, c.dict
	for i := range c.null {
		v := uint64(signed(b[i*n.size : (i+1)*n.size]))
		if n.unsigned && n.size < 8 {
			v &= 1<<(8*n.size) - 1
		}
		switch {
		case c.null[i]:
		case v >= uint64(d.rows.N):
			return corruptf("found index %d, expected one below %d, the number of values of the dictionary; the file is damaged", int64(v), d.rows.N)
		case d.rows.Null != nil && d.rows.Null[v]:
			c.null[i] = true
		case n.width == 0:
			start := uint32(0)
			if v > 0 {
				start = d.rows.Ends[v-1]
			}
			out.Data = append(out.Data, d.rows.Data[start:d.rows.Ends[v]]...)
		default:
			out.Data = append(out.Data, d.rows.Data[int(v)*n.width:int(v+1)*n.width]...)
		}
		if n.width == 0 {
			out.Ends = append(out.Ends, uint32(len(out.Data)))
		} else if c.null[i] {
			out.Data = append(out.Data, make([]byte, n.width)...)
		}
	}
	return nil
}

// strings appends byte strings.
func (c *cursor) strings(k int, out *parquet.Rows) error {
	if err := c.peek(k); err != nil {
		return err
	}
	for i := range k {
		size := c.length(i)
		if size < 0 || size > maxRow {
			return unsupportedf("found a string of %d bytes, expected at most %d", size, maxRow)
		}
		var text []byte
		var err error
		if c.n.layout == layoutView {
			if !c.null[i] {
				text, err = c.view(c.views[16*i:16*i+16], int(size))
			}
		} else {
			text, err = c.data.next(int(size))
		}
		if err != nil {
			return err
		}
		if !c.null[i] {
			out.Data = append(out.Data, text...)
		}
		out.Ends = append(out.Ends, uint32(len(out.Data)))
	}
	c.drop(k)
	return nil
}

// view returns the bytes of a view.
func (c *cursor) view(v []byte, size int) ([]byte, error) {
	if size <= 12 {
		return v[4 : 4+size], nil
	}
	i, at := binary.LittleEndian.Uint32(v[8:]), binary.LittleEndian.Uint32(v[12:])
	if uint64(i) >= uint64(len(c.texts)) || uint64(at)+uint64(size) > uint64(len(c.texts[i])) {
		return nil, corruptf("found a string of %d bytes at byte %d of buffer %d, expected one within %d buffers; the file is damaged", size, at, i, len(c.texts))
	}
	return c.texts[i][at : int(at)+size], nil
}

// lists appends the lengths of k lists, and their elements.
func (c *cursor) lists(k int, out *parquet.Rows, level int, pass bool) error {
	if c.n.layout == layoutList {
		if err := c.peek(k); err != nil {
			return err
		}
	}
	for len(out.Lengths) <= level && !pass {
		out.Lengths = append(out.Lengths, nil)
	}
	run := int64(0) // elements of rows that are not null
	for i := range k {
		size := int64(c.n.size)
		if c.n.layout == layoutList {
			size = c.length(i)
		}
		if size > maxRowLevels {
			return unsupportedf("found a list of %d elements, expected at most %d", size, maxRowLevels)
		}
		length := uint32(size)
		if c.null[i] {
			length = 0
			err := c.elements(run, out, level, pass)
			if err == nil {
				err = c.child.pass(size)
			}
			if err != nil {
				return err
			}
			run = 0
		} else {
			run += size
		}
		if !pass {
			out.Lengths[level] = append(out.Lengths[level], length)
		}
	}
	if c.n.layout == layoutList {
		c.drop(k)
	}
	return c.elements(run, out, level, pass)
}

// elements appends elements of lists.
func (c *cursor) elements(n int64, out *parquet.Rows, level int, pass bool) error {
	if pass {
		return c.child.pass(n)
	}
	start := len(out.Data)
	for n > 0 {
		k, err := c.child.room(int(min(n, 1<<14)), ahead)
		if err == nil {
			err = c.child.take(k, out, level+1, false)
		}
		if err != nil {
			return err
		}
		if len(out.Data)-start > maxRow {
			return unsupportedf("found lists of more than %d bytes, expected fewer", maxRow)
		}
		n -= int64(k)
	}
	return nil
}

// dictionary is the values of a dictionary.
type dictionary struct {
	rows    parquet.Rows
	longest int // bytes of the longest string
}

// dictionary returns the values of a dictionary after a number of chunks.
func (f *File) dictionary(r io.ReaderAt, id int64, chunks int) (*dictionary, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := &dictionary{}
	first := -1
	for i := chunks - 1; i >= 0 && first < 0; i-- {
		switch c := f.chunks[i]; {
		case c.id != id:
		case c.values != nil:
			d, first = c.values, i+1
		case !c.delta:
			first = i
		}
	}
	for i := max(first, 0); i < chunks; i++ {
		c := f.chunks[i]
		if c.id != id {
			continue
		}
		if !c.delta {
			d = &dictionary{}
		}
		next := &dictionary{longest: d.longest}
		next.rows.N, next.rows.Data, next.rows.Ends, next.rows.Null = d.rows.N, slices.Clone(d.rows.Data), slices.Clone(d.rows.Ends), slices.Clone(d.rows.Null)
		if err := f.chunk(r, i, next); err != nil {
			return nil, fmt.Errorf("dictionary %d: %w", id, err)
		}
		for _, old := range f.chunks[:i] { // batches are read about in order
			if old.id == id {
				old.values = nil
			}
		}
		c.values, d = next, next
	}
	return d, nil
}

// chunk appends the values of a chunk.
func (f *File) chunk(r io.ReaderAt, i int, d *dictionary) error {
	c := f.chunks[i]
	m, ok, err := f.message(r, c.at)
	if err != nil || !ok {
		return errors.Join(err, corruptf("byte %d: found no message, expected one", c.at))
	}
	data, _ := m.head.table(1)
	l, err := m.layout(data)
	if err != nil {
		return err
	}
	var p places
	x, err := f.cursor(r, f.dictionaries[c.id], &p, &l, i)
	if err != nil {
		return err
	}
	defer x.close()
	if x.n.reason != "" || x.n.layout == layoutNull || x.child != nil {
		return unsupportedf("found a dictionary of values that are no numbers or strings, expected them")
	}
	if x.left != l.rows {
		return corruptf("found %d values, expected %d; the file is damaged", x.left, l.rows)
	}
	for x.left > 0 {
		k, err := x.room(int(min(x.left, piece)), ahead)
		if err == nil {
			err = x.take(k, &d.rows, 0, false)
		}
		if err != nil {
			return err
		}
		if len(d.rows.Data) > maxDictionary {
			return unsupportedf("found values of more than %d bytes, expected fewer", maxDictionary)
		}
	}
	for d.rows.Null != nil && len(d.rows.Null) < d.rows.N {
		d.rows.Null = append(d.rows.Null, false)
	}
	start := uint32(0)
	for _, end := range d.rows.Ends {
		d.longest = max(d.longest, int(end-start))
		start = end
	}
	return nil
}
