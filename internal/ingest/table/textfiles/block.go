package textfiles

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

// block is a run of complete records, buf[at:end]. Its last byte is a line end, and at least 16 readable bytes follow
// it.
type block struct {
	buf     []byte
	at, end int
	// origin is the offset of buf[0] in the file. It is -1 if the file is compressed; then line is the number of line
	// ends before buf[0].
	origin int64
	line   uint64
	err    error // instead of records
}

// grow makes room for n bytes and the padding, and keeps the first keep bytes.
func (b *block) grow(n, keep int) {
	if len(b.buf) < n+padding {
		buf := make([]byte, n+padding)
		copy(buf, b.buf[:keep])
		b.buf = buf
	}
}

// finish ends the last record of a file. n bytes of the file are in the block. It returns the end of the records.
func (b *block) finish(n int) int {
	if n > 0 && b.buf[n-1] != '\n' {
		b.buf[n] = '\n'
		n++
	}
	return n
}

// load reads the chunk that starts at an offset of a plain file: the records that start within its bytes. Whether the
// chunk starts inside quotes is known only after the quotes of all chunks before it are counted. parity receives
// whether this chunk has an odd number of quotes and returns whether the chunks before it have; it returns false if
// the scan has ended.
func (b *block) load(r vfs.File, t *CSV, f csvFile, at int64, parity func(odd bool) (before, ok bool)) (ok bool, err error) {
	b.origin = max(at-1, f.body)
	behind := min(at+int64(t.chunk), f.end())
	n, err := b.read(r, f, 0, min(f.size, behind+int64(t.margin)))
	if err != nil {
		return false, err
	}
	first, own := int(at-b.origin), int(behind-b.origin)
	odd := t.syntax.odd(b.buf[first:own])
	before, ok := parity(odd)
	if !ok {
		return false, nil
	}
	b.at = first
	if first > 0 && (before || b.buf[first-1] != '\n') {
		if b.at, _ = t.syntax.recordEnd(b.buf, first, own, before); b.at < 0 {
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
		if b.end, odd = t.syntax.recordEnd(b.buf, from, n, odd); b.end >= 0 {
			return true, nil
		}
		if b.origin+int64(n) == f.size {
			b.end = b.finish(n)
			return true, nil
		}
		if n-own > t.record {
			return false, badf("%s: %s", placeOf(r, f, b.origin+int64(own)), tooLong(t.record))
		}
		from = n
		if n, err = b.read(r, f, n, min(f.size, b.origin+int64(2*n))); err != nil {
			return false, err
		}
	}
}

// read reads up to an offset of the file, after the n bytes that the block has.
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

// odd says whether b has an odd number of quotes.
func (s syntax) odd(b []byte) bool { return !s.lines && bytes.Count(b, []byte{'"'})&1 == 1 }

// recordEnd returns the offset after the first line end of b[from:to] outside quotes, or -1, and whether to is inside
// quotes. odd says whether from is inside quotes.
func (s syntax) recordEnd(b []byte, from, to int, odd bool) (int, bool) {
	if s.lines {
		if n := bytes.IndexByte(b[from:to], '\n'); n >= 0 {
			return from + n + 1, false
		}
		return -1, false
	}
	for i, c := range b[from:to] {
		if c == '"' {
			odd = !odd
		} else if c == '\n' && !odd {
			return from + i + 1, false
		}
	}
	return -1, odd
}

// placeOf returns path:line:column of an offset in a plain file. It counts lines by reading the file again, which only
// errors do.
func placeOf(r io.ReaderAt, f csvFile, at int64) string {
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

// place returns path:line:column of an offset in the block.
func (b *block) place(r io.ReaderAt, f csvFile, at int) string {
	if b.origin >= 0 {
		return placeOf(r, f, b.origin+int64(at))
	}
	line := b.line + uint64(bytes.Count(b.buf[:at], []byte{'\n'})) + 1
	return fmt.Sprintf("%s:%d:%d", f.path, line, at-bytes.LastIndexByte(b.buf[:at], '\n'))
}

func tooLong(limit int) string {
	return fmt.Sprintf("found a record of more than %d bytes, expected fewer; look for a quote that is never closed%s", limit, table.LimitAdvice(limit, table.MaxRecord))
}
