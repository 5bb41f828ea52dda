package example

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// The tags of fields 1 to 3 with a length, the only ones that an Example has.
const (
	tag1 = 1<<3 | 2
	tag2 = 2<<3 | 2
	tag3 = 3<<3 | 2
)

// short is the longest text that is copied as if it had this length.
const short = 16

// maxVarint is the maximum number of bytes of a 64-bit varint.
const maxVarint = binary.MaxVarintLen64

// Key holds the constant bytes of a feature: its key, encoded.
type Key struct {
	entry []byte // field 1 of the map entry: tag, length, key
	size  int    // bytes of the key
}

// name returns the key itself.
func (k Key) name() []byte { return k.entry[len(k.entry)-k.size:] }

// String returns the key itself.
func (k Key) String() string { return string(k.name()) }

// NewKey makes the Key of a feature.
func NewKey(key string) Key {
	b := binary.AppendUvarint([]byte{tag1}, uint64(len(key)))
	return Key{append(b, key...), len(key)}
}

// Integer lists the types that become int64 in an Example.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Row is a row number of a column.
type Row interface{ ~uint32 | ~uint64 }

// Writer writes Examples, one after the other, each from its end to its start. The zero value is ready to use. A
// Writer must be used by one goroutine at a time.
type Writer struct {
	buf   []byte
	at    int   // buf[at:] is written
	parts parts // parts of the GraphTensor that a Codec writes
}

// Reset begins a new Example in the same memory.
func (w *Writer) Reset() { w.at = len(w.buf) }

// Close completes the Example. The bytes are valid until Reset.
func (w *Writer) Close() []byte {
	w.room(maxVarint + 1)
	w.length(len(w.buf)-w.at, tag1)
	return w.buf[w.at:]
}

// room makes at least n bytes free before the written bytes.
func (w *Writer) room(n int) {
	if w.at >= n {
		return
	}
	written := w.buf[w.at:]
	grown := make([]byte, max(2*len(w.buf), len(written)+n, 4096))
	w.at = len(grown) - len(written)
	copy(grown[w.at:], written)
	w.buf = grown
}

// varint writes v before the written bytes. The caller has made room.
func (w *Writer) varint(v uint64) { w.at = before(w.buf, w.at, v) }

// before writes v before buf[at:] and returns its start. There must be room for maxVarint bytes. It may write more
// bytes than it reports, which is harmless because the bytes before them are not written yet.
func before(buf []byte, at int, v uint64) int {
	if v < 0x80 {
		at--
		buf[at] = byte(v)
		return at
	}
	return longBefore(buf, at, v)
}

// longBefore is before for a value of several bytes. It makes up to eight bytes at once, without a branch on their
// number, which would often be mispredicted.
func longBefore(buf []byte, at int, v uint64) int {
	n := (bits.Len64(v)*9 + 64) >> 6
	if n > 8 {
		at -= n
		binary.PutUvarint(buf[at:], v)
		return at
	}
	// Spread the groups of 7 bits over bytes, and mark all bytes but the last.
	v = v&0x0fffffff | v&0x00fffffff0000000<<4
	v = v&0x00003fff00003fff | v&0x0fffc0000fffc000<<2
	v = v&0x007f007f007f007f | v&0x3f803f803f803f80<<1
	v |= 0x8080808080808080 & (1<<(uint(8*n-8)&63) - 1)
	binary.LittleEndian.PutUint64(buf[at-8:], v<<(uint(64-8*n)&63))
	return at - n
}

// length writes a tag and a length before the n bytes that it measures. The caller has made room.
func (w *Writer) length(n int, tag byte) {
	w.varint(uint64(n))
	w.at--
	w.buf[w.at] = tag
}

// open begins a feature and returns the position of its end.
func (w *Writer) open() int { return len(w.buf) - w.at }

// close completes a feature that ends at end. It adds the list's kind, and the value and the key of the map's entry.
// Lists of numbers are packed, except empty ones.
func (w *Writer) close(end int, kind byte, packed bool, key Key) {
	w.room(5*(maxVarint+1) + len(key.entry))
	size := func() int { return len(w.buf) - w.at - end }
	if packed && size() > 0 {
		w.length(size(), tag1)
	}
	w.length(size(), kind)
	w.length(size(), tag2)
	w.at -= len(key.entry)
	copy(w.buf[w.at:], key.entry)
	w.length(size(), tag1)
}

// Ints adds a feature of integers.
func Ints[T Integer](w *Writer, key Key, values []T) {
	end := w.open()
	w.room(len(values) * maxVarint)
	var all uint64
	for _, v := range values {
		all |= uint64(int64(v))
	}
	buf, at := w.buf, w.at
	if all < 0x80 {
		at -= len(values)
		for i, v := range values {
			buf[at+i] = byte(v)
		}
	} else {
		for i := len(values) - 1; i >= 0; i-- {
			at = before(buf, at, uint64(int64(values[i])))
		}
	}
	w.at = at
	w.close(end, tag3, true, key)
}

// Floats adds a feature of floats.
func Floats(w *Writer, key Key, values []float32) {
	end := w.open()
	w.room(4 * len(values))
	at := w.at - 4*len(values)
	w.at = at
	for _, v := range values {
		binary.LittleEndian.PutUint32(w.buf[at:], math.Float32bits(v))
		at += 4
	}
	w.close(end, tag2, true, key)
}

// Texts adds a feature of byte strings.
func Texts(w *Writer, key Key, values [][]byte) {
	end := w.open()
	size := 0
	for _, v := range values {
		size += len(v) + maxVarint + 1
	}
	w.room(size + maxVarint)
	buf, at := w.buf, w.at
	for i := len(values) - 1; i >= 0; i-- {
		at -= len(values[i])
		copy(buf[at:], values[i])
		at = before(buf, at, uint64(len(values[i]))) - 1
		buf[at] = tag1
	}
	w.at = at
	w.close(end, tag1, false, key)
}

// empty adds a feature with an empty list.
func (w *Writer) empty(key Key, list Kind) {
	w.close(w.open(), [...]byte{BytesList: tag1, FloatList: tag2, Int64List: tag3}[list], false, key)
}

// noList adds a feature without a list.
func (w *Writer) noList(key Key) {
	end := w.open()
	w.room(3*(maxVarint+1) + len(key.entry))
	w.length(0, tag2)
	w.at -= len(key.entry)
	copy(w.buf[w.at:], key.entry)
	w.length(len(w.buf)-w.at-end, tag1)
}

// Int adds a feature of one integer.
func (w *Writer) Int(key Key, value int64) {
	end := w.open()
	w.room(maxVarint)
	w.varint(uint64(value))
	w.close(end, tag3, true, key)
}

// IntRows adds a feature of integers: the given rows of a column with width values per row.
func IntRows[T Integer, R Row](w *Writer, key Key, column []T, width int, rows []R) {
	end := w.open()
	w.room(len(rows) * width * maxVarint)
	buf, at := w.buf, w.at
	if width == 1 {
		// One pass over all values detects the common case that each takes one byte. The pass also loads the values
		// from memory in parallel. A branch on the length of a value that is not loaded yet would stall everything
		// after it.
		var all uint64
		for _, r := range rows {
			all |= uint64(int64(column[r]))
		}
		if all < 0x80 {
			at -= len(rows)
			for i, r := range rows {
				buf[at+i] = byte(column[r])
			}
		} else {
			for i := len(rows) - 1; i >= 0; i-- {
				at = before(buf, at, uint64(int64(column[rows[i]])))
			}
		}
	} else {
		for i := len(rows) - 1; i >= 0; i-- {
			first := int(rows[i]) * width
			row := column[first : first+width]
			for j := width - 1; j >= 0; j-- {
				at = before(buf, at, uint64(int64(row[j])))
			}
		}
	}
	w.at = at
	w.close(end, tag3, true, key)
}

// Float32Rows adds a feature of floats: the given rows of a column of little-endian float32 with width values per
// row.
func Float32Rows[R Row](w *Writer, key Key, column []byte, width int, rows []R) {
	end := w.open()
	size := 4 * width
	w.room(len(rows) * size)
	at := w.at - len(rows)*size
	w.at = at
	if width == 1 {
		for _, r := range rows {
			*(*[4]byte)(w.buf[at:]) = [4]byte(column[int(r)*4:])
			at += 4
		}
	} else {
		for _, r := range rows {
			first := int(r) * size
			copy(w.buf[at:at+size], column[first:first+size])
			at += size
		}
	}
	w.close(end, tag2, true, key)
}

// FloatBlocks adds a feature of floats: rows of width floats each, which block returns for a range of rows at a time, as
// little-endian float32. Ranges have at most step rows. What block returns is read before its next call.
func FloatBlocks(w *Writer, key Key, rows, width, step int, block func(from, to int) []byte) {
	end := w.open()
	w.room(4 * rows * width)
	w.at -= 4 * rows * width
	for from, at := 0, w.at; from < rows; from += step {
		at += copy(w.buf[at:], block(from, min(from+step, rows)))
	}
	w.close(end, tag2, true, key)
}

// FloatRows is Float32Rows for columns of other types. convert returns the float32 of a value.
func FloatRows[T float64 | uint16, R Row](w *Writer, key Key, column []T, width int, rows []R, convert func(T) float32) {
	end := w.open()
	w.room(4 * len(rows) * width)
	at := w.at - 4*len(rows)*width
	w.at = at
	for _, r := range rows {
		first := int(r) * width
		for _, v := range column[first : first+width] {
			binary.LittleEndian.PutUint32(w.buf[at:], math.Float32bits(convert(v)))
			at += 4
		}
	}
	w.close(end, tag2, true, key)
}

// Offset lists the types of the offsets of byte strings.
type Offset interface{ ~uint32 | ~uint64 }

// TextRows adds a feature of byte strings: the given rows of a column with width values per row. Value i is
// values[offsets[i]:offsets[i+1]].
func TextRows[O Offset, R Row](w *Writer, key Key, values []byte, offsets []O, width int, rows []R) {
	end := w.open()
	// Compute all lengths before the first one is used: see IntRows.
	size, longest := 0, 0
	for _, r := range rows {
		for j := int(r) * width; j < int(r)*width+width; j++ {
			n := int(offsets[j+1]) - int(offsets[j])
			size += n
			longest = max(longest, n)
		}
	}
	w.room(size + len(rows)*width*(maxVarint+1) + short)
	buf, at := w.buf, w.at
	for i := len(rows) - 1; i >= 0; i-- {
		first := int(rows[i]) * width
		for j := first + width - 1; j >= first; j-- {
			from, to := int(offsets[j]), int(offsets[j+1])
			n := to - from
			// A copy of constant length is cheaper for short texts. It may write bytes before the text, which are not
			// written yet.
			if longest <= short && to >= short {
				*(*[short]byte)(buf[at-short:]) = [short]byte(values[to-short:])
				at -= n
			} else {
				at -= n
				copy(buf[at:], values[from:to])
			}
			at = before(buf, at, uint64(n)) - 1
			buf[at] = tag1
		}
	}
	w.at = at
	w.close(end, tag1, false, key)
}

// Narrow returns the float32 nearest to a float64. It is the convert function of float64 columns.
func Narrow(v float64) float32 { return float32(v) }

// BFloat16 returns the value of a bfloat16. It is the convert function of bfloat16 columns.
func BFloat16(v uint16) float32 { return math.Float32frombits(uint32(v) << 16) }

// Float16 returns the value of an IEEE half. It is the convert function of half columns.
func Float16(v uint16) float32 {
	sign, exp, frac := uint32(v&0x8000)<<16, uint32(v>>10&0x1f), uint32(v&0x3ff)
	switch {
	case exp == 0x1f: // infinities and NaN
		exp = 0xff
	case exp != 0:
		exp += 127 - 15
	case frac != 0: // subnormal: frac * 2^-24
		f := math.Float32bits(float32(frac) / (1 << 24))
		return math.Float32frombits(sign | f)
	}
	return math.Float32frombits(sign | exp<<23 | frac<<13)
}
