package dgl

import (
	"encoding/binary"
	"errors"
	"io"
	"math/bits"

	"github.com/graphmill/graphmill/internal/vfs"
)

// maxName bounds the bytes of the name of a tensor or type.
const maxName = 1 << 16

// maxDims bounds the dimensions of an array, as NumPy does.
const maxDims = 32

// cursor reads the small values of a file one after the other. It keeps its first error.
type cursor struct {
	file  vfs.File
	size  int64 // of the file
	at    int64
	buf   []byte // bytes of the file from start on
	start int64
	err   error
}

// newCursor reads a regular file from an offset on.
func newCursor(f vfs.File, at int64) (*cursor, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return &cursor{file: f, size: info.Size(), at: at}, nil
}

// fail keeps an error about the byte at an offset.
func (c *cursor) fail(at int64, format string, a ...any) {
	if c.err == nil {
		c.err = bad("%s: byte %d: "+format, append([]any{c.file.Name(), at}, a...)...)
	}
}

// next returns the next n bytes, where n is at most maxName. They are valid until the next call.
func (c *cursor) next(n int64) []byte {
	if c.err != nil {
		return make([]byte, n)
	}
	if n > c.size-c.at {
		c.fail(c.at, "found the end of the file at byte %d, expected %d more bytes; the file is cut", c.size, n)
		return make([]byte, n)
	}
	if c.at < c.start || c.at+n > c.start+int64(len(c.buf)) {
		if c.buf == nil {
			c.buf = make([]byte, min(maxName, c.size-c.at))
		}
		c.buf = c.buf[:min(maxName, c.size-c.at)]
		c.start = c.at
		if _, err := c.file.ReadAt(c.buf, c.at); err != nil && !errors.Is(err, io.EOF) {
			c.err = err
			return make([]byte, n)
		}
	}
	c.at += n
	return c.buf[c.at-n-c.start:][:n]
}

func (c *cursor) u8() uint8   { return c.next(1)[0] }
func (c *cursor) u64() uint64 { return binary.LittleEndian.Uint64(c.next(8)) }
func (c *cursor) u32() uint32 { return binary.LittleEndian.Uint32(c.next(4)) }

// magic reads a number that must be want.
func (c *cursor) magic(want uint64, what string) {
	at := c.at
	if got := c.u64(); got != want {
		c.fail(at, "found %#x, expected %#x at the start of %s", got, want, what)
	}
}

// count reads a number of things, each of which takes at least the given number of bytes.
func (c *cursor) count(each int64, what string) int {
	at := c.at
	n := c.u64()
	if c.err == nil && n > uint64((c.size-c.at)/each) {
		c.fail(at, "found %d %s, expected at most %d, as many as fit into the rest of the file", n, what, (c.size-c.at)/each)
	}
	if c.err != nil {
		return 0
	}
	return int(n)
}

// natural reads an int64 that must not be negative.
func (c *cursor) natural(what string) int64 {
	at := c.at
	n := int64(c.u64())
	if n < 0 {
		c.fail(at, "found %d %s, expected at least 0", n, what)
	}
	return n
}

func (c *cursor) text(what string) string {
	at := c.at
	n := c.u64()
	if n > maxName {
		c.fail(at, "found %s of %d bytes, expected at most %d", what, n, maxName)
	}
	if c.err != nil {
		return ""
	}
	return string(c.next(int64(n)))
}

// array reads the header of an array and skips its data.
func (c *cursor) array(name string) Array {
	c.magic(magicArray, "an array")
	c.u64()
	at := c.at
	if device := c.u32(); device != 1 {
		c.fail(at, "found an array on device %d, expected 1, the CPU", device)
	}
	c.u32()
	at = c.at
	dims := c.u32()
	code, width := c.u8(), c.u8()
	lanes := binary.LittleEndian.Uint16(c.next(2))
	a := Array{Tensor: Tensor{Name: name, DType: DType(code)<<8 | DType(width)}}
	switch {
	case dims > maxDims:
		c.fail(at, "found an array of %d dimensions, expected at most %d", dims, maxDims)
	case !a.DType.valid() || lanes != 1:
		c.fail(at+4, "found type code %d with %d bits and %d lanes, expected int8..int64, uint8..uint64, float16..float64, bfloat16 or bool", code, width, lanes)
	}
	if c.err != nil {
		return a
	}
	at = c.at
	want := uint64(a.DType.Size())
	for range dims {
		d := c.natural("rows")
		a.Shape = append(a.Shape, d)
		high, low := bits.Mul64(want, uint64(d))
		if high != 0 || low > 1<<62 {
			c.fail(at, "found shape %v, expected at most as many values as a file can hold", a.Shape)
			return a
		}
		want = low
	}
	at = c.at
	a.Size = c.natural("bytes")
	a.Offset = c.at
	switch {
	case c.err != nil:
	case uint64(a.Size) != want:
		c.fail(at, "found an array of %d bytes, expected %d for %s %v", a.Size, want, a.DType, a.Shape)
	case a.Size > c.size-c.at:
		c.fail(at, "found an array of %d bytes, expected at most %d, the bytes up to the end of the file; the file is cut", a.Size, c.size-c.at)
	default:
		c.at += a.Size
	}
	return a
}

// Minimum numbers of bytes of an array's header, and of an array with a name.
const (
	leastArray = 40
	leastNamed = leastArray + 8
)

// named reads n arrays with different names.
func (c *cursor) named(n int) []Array {
	var list []Array
	seen := map[string]bool{}
	for range n {
		at := c.at
		name := c.text("a name")
		a := c.array(name)
		if c.err != nil {
			return nil
		}
		if seen[name] {
			c.fail(at, "found the tensor %q twice, expected each name once", name)
			return nil
		}
		seen[name] = true
		list = append(list, a)
	}
	return list
}
