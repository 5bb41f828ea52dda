package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/graphmill/graphmill/internal/vfs"
)

// block is a run of complete records, buf[at:end], of which the last byte is a
// line end, with at least 16 readable bytes behind.
type block struct {
	buf     []byte
	at, end int
	// origin is the offset in the file of buf[0]; -1 where the file is
	// compressed, and then line is the number of line ends before buf[0].
	origin int64
	line   uint64
	err    error // instead of records
}

// grow makes room for n bytes and the padding, keeping the first ones.
func (b *block) grow(n, keep int) {
	if len(b.buf) < n+padding {
		buf := make([]byte, n+padding)
		copy(buf, b.buf[:keep])
		b.buf = buf
	}
}

// finish ends the last record of a file of which n bytes are in the block, and
// returns where the records end.
func (b *block) finish(n int) int {
	if n > 0 && b.buf[n-1] != '\n' {
		b.buf[n] = '\n'
		n++
	}
	return n
}

// load reads the chunk that starts at an offset of a plain file: the records
// that start in its bytes. Whether the chunk starts inside of quotes is only
// known when the quotes of all chunks before it are counted: parity takes
// whether this one has an odd number and returns whether the ones before it
// have, or false when the scan has ended.
func (b *block) load(r vfs.File, t *CSV, f csvFile, at int64, parity func(odd bool) (before, ok bool)) (ok bool, err error) {
	b.origin = max(at-1, f.body)
	behind := min(at+int64(t.chunk), f.size)
	n, err := b.read(r, f, 0, min(f.size, behind+int64(t.margin)))
	if err != nil {
		return false, err
	}
	first, own := int(at-b.origin), int(behind-b.origin)
	odd := bytes.Count(b.buf[first:own], []byte{'"'})&1 == 1
	before, ok := parity(odd)
	if !ok {
		return false, nil
	}
	b.at = first
	if first > 0 && (before || b.buf[first-1] != '\n') {
		if b.at, _ = recordEnd(b.buf, first, own, before); b.at < 0 {
			b.at = own
		}
	}
	if b.at == own && behind < f.size {
		b.end = b.at
		return true, nil
	}
	if behind == f.size {
		b.end = b.finish(n)
		return true, nil
	}
	odd = odd != before
	if b.end = own; !odd && b.buf[own-1] == '\n' {
		return true, nil
	}
	for from := own; ; {
		if b.end, odd = recordEnd(b.buf, from, n, odd); b.end >= 0 {
			return true, nil
		}
		if b.origin+int64(n) == f.size {
			b.end = b.finish(n)
			return true, nil
		}
		if n-own > t.record {
			return false, badf("%s: %s", place(r, f, b.origin+int64(own)), tooLong(t.record))
		}
		from = n
		if n, err = b.read(r, f, n, min(f.size, b.origin+int64(2*n))); err != nil {
			return false, err
		}
	}
}

// read reads up to an offset of the file, behind the n bytes that the block has.
func (b *block) read(r io.ReaderAt, f csvFile, n int, behind int64) (int, error) {
	want := int(behind - b.origin)
	b.grow(want, n)
	m, err := r.ReadAt(b.buf[n:want], b.origin+int64(n))
	if n += m; n < want {
		if err == nil || errors.Is(err, io.EOF) {
			err = badf("%s: found %d bytes, expected %d; the file was cut while it was read", f.path, b.origin+int64(n), f.size)
		}
		return n, err
	}
	return n, nil
}

// recordEnd is the offset behind the first line end of b[from:to] outside of
// quotes, or -1 and whether to is inside; odd says whether from is.
func recordEnd(b []byte, from, to int, odd bool) (int, bool) {
	for i, c := range b[from:to] {
		if c == '"' {
			odd = !odd
		} else if c == '\n' && !odd {
			return from + i + 1, false
		}
	}
	return -1, odd
}

// place is path:line:column of an offset in a plain file. Lines are counted by
// reading the file again: only messages need them.
func place(r io.ReaderAt, f csvFile, at int64) string {
	buf := make([]byte, 64<<10)
	line, start := uint64(1), int64(0)
	for off := int64(0); off < at; {
		n, err := r.ReadAt(buf[:min(int64(len(buf)), at-off)], off)
		line += uint64(bytes.Count(buf[:n], []byte{'\n'}))
		if nl := bytes.LastIndexByte(buf[:n], '\n'); nl >= 0 {
			start = off + int64(nl) + 1
		}
		off += int64(n)
		if err != nil || n == 0 {
			break
		}
	}
	return fmt.Sprintf("%s:%d:%d", f.path, line, at-start+1)
}

// place is path:line:column of an offset in the block.
func (b *block) place(r io.ReaderAt, f csvFile, at int) string {
	if b.origin >= 0 {
		return place(r, f, b.origin+int64(at))
	}
	line := b.line + uint64(bytes.Count(b.buf[:at], []byte{'\n'})) + 1
	return fmt.Sprintf("%s:%d:%d", f.path, line, at-bytes.LastIndexByte(b.buf[:at], '\n'))
}
