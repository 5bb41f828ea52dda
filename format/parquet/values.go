package parquet

import (
	"encoding/binary"
	"math"
	"slices"
)

// Encodings of values.
const (
	encPlain         = 0
	encPlainDict     = 2
	encRLE           = 3
	encDelta         = 5
	encDeltaLength   = 6
	encDeltaBytes    = 7
	encDictionary    = 8
	encStreamSplit   = 9
	maxDeltaMinis    = 1 << 12
	maxDeltaPerBlock = 1 << 20
)

// size is the number of bytes of a value in a page, or 0 for bools and for byte strings with lengths.
func (c *Column) size() int {
	switch c.phys {
	case physInt32, physFloat:
		return 4
	case physInt64, physDouble:
		return 8
	case physInt96:
		return 12
	case physFixed:
		return c.fixed
	}
	return 0
}

// dictionary holds the values of a dictionary page.
type dictionary struct {
	n    int
	data []byte
	ends []uint32 // for byte strings with lengths
	// longest is the length in bytes of the longest byte string.
	longest int
}

// values reads the values of a page, in order.
type values struct {
	c        *Column
	encoding int64
	b        []byte
	at       int // next value: in bits for bools, in values for a stream split
	bits     hybrid
	dict     *dictionary
	ints     delta
	lengths  delta // of whole strings, or of suffixes where there are prefixes
	prefixes delta
	previous []byte
	scratch  []uint32
	raw      Rows // stored values that are converted
}

// begin starts to read the values of a page, which are in the given encoding.
func (v *values) begin(encoding int64, b []byte) error {
	v.encoding, v.b, v.at = encoding, b, 0
	c := v.c
	number := c.phys == physInt32 || c.phys == physInt64
	bytes := c.phys == physBytes
	ok := false
	switch encoding {
	case encPlain:
		ok = true
	case encPlainDict, encDictionary:
		if v.dict == nil {
			return corruptf("found indices of a dictionary, expected a dictionary page before them")
		}
		if len(b) == 0 {
			v.bits = hybrid{}
			return nil
		}
		if b[0] > 32 {
			return corruptf("found indices of %d bits, expected at most 32", b[0])
		}
		v.bits = newHybrid(b[1:], uint(b[0]))
		ok = true
	case encRLE:
		if ok = c.phys == physBool; ok {
			if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
				return corruptf("found bools of %d bytes, expected more; the page is cut", len(b))
			}
			v.bits = newHybrid(b[4:4+binary.LittleEndian.Uint32(b)], 1)
		}
	case encDelta:
		if ok = number; ok {
			_, err := v.ints.begin(b)
			return err
		}
	case encDeltaLength:
		if ok = bytes; ok {
			rest, err := v.lengths.begin(b)
			v.b = rest
			return err
		}
	case encDeltaBytes:
		if ok = bytes || c.phys == physFixed; ok {
			rest, err := v.prefixes.begin(b)
			if err != nil {
				return err
			}
			v.b, err = v.lengths.begin(rest)
			v.previous = v.previous[:0]
			return err
		}
	case encStreamSplit:
		ok = c.size() > 0
	}
	if !ok {
		return unsupportedf("found values in encoding %d, expected an encoding for values of their type", encoding)
	}
	return nil
}

// stored is read without conversion.
func (v *values) stored(r *Rows, n, limit int) (int, error) {
	size := v.c.size()
	if size > 0 {
		n = min(n, max(1, limit/size))
	}
	ok := false
	switch v.encoding {
	case encPlain:
		switch {
		case v.c.phys == physBool:
			ok = v.plainBools(r, n)
		case size > 0:
			if ok = len(v.b)/size >= n; ok {
				r.Data = append(r.Data, v.b[:n*size]...)
				r.fixed(v.c, n)
				v.b = v.b[n*size:]
			}
		default:
			return v.texts(r, n, limit)
		}
	case encPlainDict, encDictionary:
		return v.looked(r, n, limit, size)
	case encRLE:
		v.scratch = grow(v.scratch, n)
		if ok = v.bits.fill(v.scratch); ok {
			for _, x := range v.scratch {
				r.Data = append(r.Data, byte(x))
			}
		}
	case encDelta:
		ok = v.deltas(r, n, size)
	case encDeltaLength:
		return v.deltaTexts(r, n, limit)
	case encDeltaBytes:
		return v.prefixed(r, n, limit)
	case encStreamSplit:
		ok = v.split(r, n, size)
	}
	if !ok {
		return 0, errFew()
	}
	return n, nil
}

// plainBools, deltas and split read n values; they return false if there are fewer.
func (v *values) plainBools(r *Rows, n int) bool {
	if v.at+n > 8*len(v.b) {
		return false
	}
	for range n {
		r.Data = append(r.Data, v.b[v.at>>3]>>(v.at&7)&1)
		v.at++
	}
	return true
}

func (v *values) deltas(r *Rows, n, size int) bool {
	for range n {
		x, ok := v.ints.next()
		if !ok {
			return false
		}
		if size == 4 {
			r.Data = binary.LittleEndian.AppendUint32(r.Data, uint32(x))
		} else {
			r.Data = binary.LittleEndian.AppendUint64(r.Data, uint64(x))
		}
	}
	return true
}

func (v *values) split(r *Rows, n, size int) bool {
	total := len(v.b) / size
	if v.at+n > total {
		return false
	}
	for range n {
		for k := range size {
			r.Data = append(r.Data, v.b[k*total+v.at])
		}
		v.at++
	}
	r.fixed(v.c, n)
	return true
}

// deltaTexts reads byte strings, whose lengths are stored apart.
func (v *values) deltaTexts(r *Rows, n, limit int) (int, error) {
	for i := range n {
		x, ok := v.lengths.next()
		if !ok || x < 0 || x > int64(len(v.b)) {
			return i, errFew()
		}
		if i > 0 && len(r.Data)+int(x) > limit {
			v.lengths.back()
			return i, nil
		}
		r.text(v.b[:x])
		v.b = v.b[x:]
	}
	return n, nil
}

func errFew() error {
	return corruptf("found fewer values than the page counts, or a value that ends after the page, expected all values in it; the file is damaged")
}

// extend appends n bytes of undefined content to b and returns them.
func extend(b *[]byte, n int) []byte {
	*b = slices.Grow(*b, n)[:len(*b)+n]
	return (*b)[len(*b)-n:]
}

// grow returns s with length n; its content is undefined.
func grow(s []uint32, n int) []uint32 {
	if cap(s) < n {
		return make([]uint32, n)
	}
	return s[:n]
}

// texts reads plain byte strings, each after its length.
func (v *values) texts(r *Rows, n, limit int) (int, error) {
	for i := range n {
		if len(v.b) < 4 {
			return i, errFew()
		}
		size := binary.LittleEndian.Uint32(v.b)
		if uint64(size) > uint64(len(v.b)-4) {
			return i, errFew()
		}
		if i > 0 && len(r.Data)+int(size) > limit {
			return i, nil
		}
		r.text(v.b[4 : 4+size])
		v.b = v.b[4+size:]
	}
	return n, nil
}

// looked reads values as indices of the dictionary.
func (v *values) looked(r *Rows, n, limit, size int) (int, error) {
	for done := 0; done < n; {
		if done > 0 && len(r.Data) > limit {
			return done, nil
		}
		k := min(1<<10, n-done)
		if v.c.phys == physBytes {
			// Take about as many strings as limit allows.
			k = max(1, min(k, limit/(v.dict.longest+1)))
		}
		v.scratch = grow(v.scratch, k)
		if !v.bits.fill(v.scratch) {
			return done, errFew()
		}
		for _, x := range v.scratch {
			if int(x) >= v.dict.n {
				return done, corruptf("found index %d, expected one below %d, the number of values of the dictionary; the file is damaged", x, v.dict.n)
			}
		}
		switch {
		case v.c.phys == physBytes:
			for _, x := range v.scratch {
				start := uint32(0)
				if x > 0 {
					start = v.dict.ends[x-1]
				}
				r.text(v.dict.data[start:v.dict.ends[x]])
			}
		case v.c.phys == physBool:
			for _, x := range v.scratch {
				r.Data = append(r.Data, v.dict.data[x])
			}
		case size == 4:
			out := extend(&r.Data, 4*k)
			for i, x := range v.scratch {
				binary.LittleEndian.PutUint32(out[4*i:], binary.LittleEndian.Uint32(v.dict.data[4*int(x):]))
			}
			r.fixed(v.c, k)
		case size == 8:
			out := extend(&r.Data, 8*k)
			for i, x := range v.scratch {
				binary.LittleEndian.PutUint64(out[8*i:], binary.LittleEndian.Uint64(v.dict.data[8*int(x):]))
			}
			r.fixed(v.c, k)
		default:
			for _, x := range v.scratch {
				r.Data = append(r.Data, v.dict.data[int(x)*size:int(x+1)*size]...)
			}
			r.fixed(v.c, k)
		}
		done += k
	}
	return n, nil
}

// prefixed reads byte strings, each stored as the length of the prefix that it shares with the string before, and a
// suffix.
func (v *values) prefixed(r *Rows, n, limit int) (int, error) {
	for i := range n {
		if i > 0 && len(r.Data) > limit {
			return i, nil
		}
		p, ok := v.prefixes.next()
		s, more := v.lengths.next()
		if !ok || !more || p < 0 || p > int64(len(v.previous)) || s < 0 || s > int64(len(v.b)) {
			return i, errFew()
		}
		if p+s > maxPage {
			return i, unsupportedf("found a value of %d bytes, expected at most %d", p+s, maxPage)
		}
		v.previous = append(v.previous[:p], v.b[:s]...)
		v.b = v.b[s:]
		if v.c.phys == physFixed {
			if len(v.previous) != v.c.fixed {
				return i, corruptf("found a value of %d bytes, expected %d; the file is damaged", len(v.previous), v.c.fixed)
			}
			r.Data = append(r.Data, v.previous...)
			r.fixed(v.c, 1)
		} else {
			r.text(v.previous)
		}
	}
	return n, nil
}

// delta reads integers that are stored as differences, in blocks of packed miniblocks.
type delta struct {
	b       []byte
	total   uint64 // values that were not read
	perMini int
	minis   int

	value    int64
	first    bool
	least    int64
	widths   []byte // in bits, of the remaining miniblocks of the block
	mini     []byte
	width    int // bits per value of mini
	miniAt   int // position in mini, in bits
	miniLeft int
	again    bool // next returns value once more
}

// begin reads the header and returns the bytes after all values.
func (d *delta) begin(b []byte) (rest []byte, err error) {
	*d = delta{first: true}
	head := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			b = nil
			return math.MaxUint64
		}
		b = b[n:]
		return v
	}
	block, minis, total := head(), head(), head()
	first := head()
	if block == 0 || block > maxDeltaPerBlock || minis == 0 || minis > maxDeltaMinis || block%minis != 0 || block/minis%8 != 0 || total > math.MaxInt32 {
		return nil, corruptf("found differences in blocks of %d values with %d parts and %d values in all, expected blocks that the encoding allows; the file is damaged", block, minis, total)
	}
	d.perMini, d.minis, d.total = int(block/minis), int(minis), total
	d.value = int64(first>>1) ^ -int64(first&1)
	d.b = b
	// A copy walks to the end of the values. A block takes at least one byte, so the walk ends with the bytes.
	walk := *d
	for left := int64(total) - 1; left > 0; {
		if !walk.block() {
			return nil, errFew()
		}
		for _, w := range walk.widths {
			if left <= 0 {
				break
			}
			if !walk.skipMini(w) {
				return nil, errFew()
			}
			left -= int64(d.perMini)
		}
	}
	return walk.b, nil
}

// block reads the header of a block.
func (d *delta) block() bool {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || len(d.b)-n < d.minis {
		return false
	}
	d.least = int64(v>>1) ^ -int64(v&1)
	d.widths = d.b[n : n+d.minis]
	d.b = d.b[n+d.minis:]
	return true
}

// skipMini takes the bytes of a miniblock. The last miniblock of a page may be cut.
func (d *delta) skipMini(width byte) bool {
	if width > 64 {
		return false
	}
	n := min(d.perMini/8*int(width), len(d.b))
	d.mini, d.b = d.b[:n], d.b[n:]
	return true
}

// next returns the next value, or false if there is none or its bytes are missing.
func (d *delta) next() (int64, bool) {
	if d.again {
		d.again = false
		return d.value, true
	}
	if d.total == 0 {
		return 0, false
	}
	d.total--
	if d.first {
		d.first = false
		return d.value, true
	}
	for d.miniLeft == 0 {
		if len(d.widths) == 0 && !d.block() {
			return 0, false
		}
		width := d.widths[0]
		if !d.skipMini(width) {
			return 0, false
		}
		d.miniLeft, d.miniAt = d.perMini, 0
		d.widths, d.width = d.widths[1:], int(width)
	}
	if d.miniAt+d.width > 8*len(d.mini) {
		return 0, false
	}
	d.value += d.least + int64(bitsAt(d.mini, d.miniAt, uint(d.width)))
	d.miniAt += d.width
	d.miniLeft--
	return d.value, true
}

// back makes next return the last value once more.
func (d *delta) back() { d.again = true }
