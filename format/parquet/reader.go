package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Bounds of the bytes of a row, and of the elements of all its lists.
const (
	maxRow       = 64 << 20
	maxRowLevels = 16 << 20
)

// Rows holds the values of a column for a run of rows.
type Rows struct {
	N int
	// Lengths holds, for each level of lists (the outermost first), the number of elements of each list.
	Lengths [][]uint32
	// Data holds the values, little-endian. For byte strings it holds their bytes, and Ends the offset at which each
	// string ends.
	Data []byte
	Ends []uint32
	// Null marks rows that are null; it is nil if no row is. In the other fields such a row is an empty list, zero,
	// or an empty byte string.
	Null []bool
}

// Reset empties r and keeps its memory for reuse.
func (r *Rows) Reset() {
	r.N, r.Data, r.Ends, r.Null = 0, r.Data[:0], r.Ends[:0], nil
	for i := range r.Lengths {
		r.Lengths[i] = r.Lengths[i][:0]
	}
}

func (r *Rows) text(b []byte) {
	r.Data = append(r.Data, b...)
	r.Ends = append(r.Ends, uint32(len(r.Data)))
}

// fixed appends the ends of the last n byte strings, all of equal length.
func (r *Rows) fixed(c *Column, n int) {
	if c.Type != Bytes {
		return
	}
	at := len(r.Data) - n*c.fixed
	for range n {
		at += c.fixed
		r.Ends = append(r.Ends, uint32(at))
	}
}

// null appends n null rows of single values, or of lists.
func (r *Rows) null(c *Column, n int) {
	for len(r.Null) < r.N {
		r.Null = append(r.Null, false)
	}
	for range n {
		r.Null = append(r.Null, true)
		switch {
		case c.Lists > 0:
			r.Lengths[0] = append(r.Lengths[0], 0)
		case c.Type == Bytes:
			r.Ends = append(r.Ends, uint32(len(r.Data)))
		default:
			r.Data = append(r.Data, make([]byte, c.Width)...)
		}
	}
	r.N += n
}

// Reader reads the rows of a column in a row group. It must be used by one goroutine at a time.
type Reader struct {
	c      *Column
	chunk  *chunk
	pages  pages
	values values
	head   pageHeader

	left      int64 // levels in the pages of the row group that were not begun
	inPage    int64 // levels of the page that are not yet in rep and def
	repBits   hybrid
	defBits   hybrid
	rep, def  [levelBatch]uint32
	at, n     int // next level, and number of levels, in rep and def
	pending   int // values of the levels before at that were not read
	entered   int // levels of lists around the last element
	row       int // offset in Data at which the last row starts
	rowLevels int // elements of all lists of the last row
	rows      int64
	started   bool
}

// levelBatch is the number of levels that are decoded at a time.
const levelBatch = 1 << 10

// Reader returns a reader of a column of a row group; r is the file. The first Read reports damage and unsupported
// features.
func (f *File) Reader(r io.ReaderAt, group, column int) *Reader {
	return f.reader(r, group, &f.Columns[column])
}

func (f *File) reader(r io.ReaderAt, group int, c *Column) *Reader {
	k := &f.Groups[group].chunks[c.leaf]
	x := &Reader{c: c, chunk: k, left: k.values}
	x.pages = pages{r: r, size: f.end, codec: k.codec, at: k.from, end: k.from + k.size}
	x.values.c = c
	return x
}

// Digits returns a reader of a column whose Digits is set that reads byte strings: the digits of each value, after a '-' if it
// is negative.
func (f *File) Digits(r io.ReaderAt, group, column int) *Reader {
	x := f.Reader(r, group, column)
	c := *x.c
	c.Type, c.Width, c.convert = Bytes, 0, convertDigits
	x.c, x.values.c = &c, &c
	return x
}

// Close frees the decompressor.
func (r *Reader) Close() { r.pages.close() }

// Read appends rows until rows.N is n, or rows.Data has limit bytes or more. It returns io.EOF if no row was left to
// append.
func (r *Reader) Read(rows *Rows, n, limit int) error {
	if rows.N >= n || len(rows.Data) >= limit {
		return nil
	}
	err := r.read(rows, n, limit)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("column %q: row %d of the row group: %w", r.c.Name, r.rows, err)
	}
	return err
}

func (r *Reader) read(rows *Rows, n, limit int) error {
	switch {
	case r.c.Reason != "":
		return unsupportedf("found %s, expected numbers, bools, strings, or lists of them", r.c.Reason)
	case r.chunk.fault != nil:
		return r.chunk.fault
	}
	for len(rows.Lengths) < r.c.Lists {
		rows.Lengths = append(rows.Lengths, nil)
	}
	before := rows.N
	var err error
	if r.c.maxRep > 0 {
		err = r.lists(rows, n, limit)
	} else {
		err = r.flat(rows, n, limit)
	}
	if rows.Null != nil {
		for len(rows.Null) < rows.N {
			rows.Null = append(rows.Null, false)
		}
	}
	r.rows += int64(rows.N - before)
	if err == nil && rows.N == before {
		return io.EOF
	}
	return err
}

// flat reads single values.
func (r *Reader) flat(rows *Rows, n, limit int) error {
	for rows.N < n && len(rows.Data) < limit {
		if r.at == r.n {
			if r.c.maxDef == 0 && r.inPage > 0 {
				k, err := r.values.read(rows, int(min(int64(n-rows.N), r.inPage)), limit)
				rows.N += k
				r.inPage -= int64(k)
				if err != nil {
					return err
				}
				continue
			}
			if ok, err := r.levels(); err != nil || !ok {
				return err
			}
			continue
		}
		// Take a run of values, or of nulls.
		end := min(r.n, r.at+n-rows.N)
		j := r.at
		for j < end && r.def[j] == r.def[r.at] {
			j++
		}
		k := j - r.at
		if int(r.def[r.at]) < r.c.maxDef {
			rows.null(r.c, k)
		} else {
			var err error
			if k, err = r.values.read(rows, k, limit); err != nil {
				return err
			}
			rows.N += k
		}
		r.at += k
	}
	return nil
}

// levels decodes the next levels, and begins the next page where the current one has no more. It returns false if
// there are none.
func (r *Reader) levels() (bool, error) {
	for r.inPage == 0 {
		if r.left == 0 {
			return false, nil
		}
		if err := r.page(); err != nil {
			return false, err
		}
	}
	if r.c.maxDef == 0 {
		return true, nil
	}
	r.at, r.n = 0, int(min(r.inPage, levelBatch))
	if r.c.maxRep > 0 && !r.repBits.fill(r.rep[:r.n]) || !r.defBits.fill(r.def[:r.n]) {
		r.n = 0
		return false, corruptf("found fewer levels than the page has values, expected one per value; the file is damaged")
	}
	for _, d := range r.def[:r.n] {
		if int(d) > r.c.maxDef {
			r.n = 0
			return false, corruptf("found definition level %d, expected at most %d; the file is damaged", d, r.c.maxDef)
		}
	}
	r.inPage -= int64(r.n)
	return true, nil
}

// page begins the next data page.
func (r *Reader) page() error {
	h := &r.head
	for {
		b, err := r.pages.next(h)
		if errors.Is(err, io.EOF) {
			return corruptf("found the end of the pages, expected %d more values; the file is damaged", r.left)
		}
		if err != nil {
			return err
		}
		switch h.kind {
		case pageDictionary:
			if err := r.dictionary(b); err != nil {
				return err
			}
			continue
		case pageData, pageDataV2:
		default:
			continue
		}
		if h.values > r.left {
			return corruptf("byte %d: found a page of %d values, expected at most %d; the file is damaged", r.pages.headStart, h.values, r.left)
		}
		if h.kind == pageData {
			b, err = r.version1(b)
		} else {
			b, err = r.version2(b)
		}
		if err != nil {
			return err
		}
		r.left -= h.values
		r.inPage = h.values
		if err := r.values.begin(h.encoding, b); err != nil {
			return err
		}
		return nil
	}
}

// version1 finds levels and values in a page of version 1, which is compressed as a whole. Each kind of levels
// follows its length in bytes.
func (r *Reader) version1(b []byte) ([]byte, error) {
	b, err := r.pages.inflate(b, r.head.size)
	if err != nil {
		return nil, err
	}
	cut := func(h *hybrid, largest int, encoding int64) error {
		if largest == 0 {
			return nil
		}
		if encoding != encRLE {
			return unsupportedf("byte %d: found levels in encoding %d, expected RLE", r.pages.headStart, encoding)
		}
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return corruptf("byte %d: found a page of %d bytes, expected its levels; the file is damaged", r.pages.headStart, len(b))
		}
		n := 4 + int(binary.LittleEndian.Uint32(b))
		*h = newHybrid(b[4:n], widthOf(largest))
		b = b[n:]
		return nil
	}
	if err := cut(&r.repBits, r.c.maxRep, r.head.repEncoding); err != nil {
		return nil, err
	}
	if err := cut(&r.defBits, r.c.maxDef, r.head.defEncoding); err != nil {
		return nil, err
	}
	return b, nil
}

// version2 finds levels and values in a page of version 2, where the levels are first and never compressed.
func (r *Reader) version2(b []byte) ([]byte, error) {
	h := &r.head
	if h.repBytes < 0 || h.defBytes < 0 || h.repBytes+h.defBytes > min(int64(len(b)), h.size) {
		return nil, corruptf("byte %d: found levels of %d and %d bytes in a page of %d, expected them to fit; the file is damaged", r.pages.headStart, h.repBytes, h.defBytes, len(b))
	}
	levels := h.repBytes + h.defBytes
	r.repBits = newHybrid(b[:h.repBytes], widthOf(r.c.maxRep))
	r.defBits = newHybrid(b[h.repBytes:levels], widthOf(r.c.maxDef))
	if b = b[levels:]; !h.isCompressed || len(b) == 0 && h.size == levels {
		return b, nil
	}
	return r.pages.inflate(b, h.size-levels)
}

// dictionary reads the values of a dictionary page.
func (r *Reader) dictionary(b []byte) error {
	h := &r.head
	if r.values.dict != nil {
		return corruptf("byte %d: found a second dictionary, expected one; the file is damaged", r.pages.headStart)
	}
	if h.encoding != encPlain && h.encoding != encPlainDict {
		return unsupportedf("byte %d: found a dictionary in encoding %d, expected PLAIN", r.pages.headStart, h.encoding)
	}
	b, err := r.pages.inflate(b, h.size)
	if err != nil {
		return err
	}
	v := values{c: r.c, encoding: encPlain, b: b}
	var rows Rows
	n, err := v.stored(&rows, int(h.values), int(maxPage))
	if err == nil && n != int(h.values) {
		err = errFew()
	}
	if err != nil {
		return fmt.Errorf("byte %d: dictionary: %w", r.pages.headStart, err)
	}
	d := &dictionary{n: n, data: rows.Data, ends: rows.Ends}
	start := uint32(0)
	for _, end := range rows.Ends {
		d.longest = max(d.longest, int(end-start))
		start = end
	}
	r.values.dict = d
	return nil
}

// flush reads the values that belong to levels already taken.
func (r *Reader) flush(rows *Rows) error {
	for r.pending > 0 {
		k, err := r.values.read(rows, r.pending, r.row+maxRow)
		if err != nil {
			return err
		}
		if r.pending -= k; len(rows.Data)-r.row > maxRow {
			return unsupportedf("found a row of more than %d bytes, expected fewer", maxRow)
		}
	}
	return nil
}
