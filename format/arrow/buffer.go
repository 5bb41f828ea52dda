package arrow

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codecs.
const (
	codecLZ4  = 0
	codecZstd = 1
)

const (
	// The header of a zstd frame can ask for freeWindow bytes of memory, or as many as the buffer has in the file, up to
	// maxWindow.
	maxWindow  = 128 << 20
	freeWindow = 32 << 20
	// ahead is the number of bytes that are read at a time.
	ahead = 128 << 10
)

// buffer reads the bytes of a buffer, in order and in pieces.
type buffer struct {
	r      io.ReaderAt
	at     int64 // next byte of a plain buffer in the file
	raw    int64 // bytes in the file
	left   int64 // bytes that were not returned
	unread int64 // bytes that are not in buf
	buf    []byte
	have   []byte // the rest of buf
	source io.Reader
	zstd   *zstd.Decoder
	lz4    *lz4.Reader
}

var (
	zstdReaders = sync.Pool{New: func() any {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			panic(err) // the options are constant
		}
		return z
	}}
	lz4Readers = sync.Pool{New: func() any { return lz4.NewReader(nil) }}
)

// buffer opens buffer i of a batch.
func (l *layoutOf) buffer(r io.ReaderAt, i int) (*buffer, error) {
	if 16*i+16 > len(l.buffers) {
		return nil, corruptf("found %d buffers, expected more; the file is damaged", len(l.buffers)/16)
	}
	at, n := int64(binary.LittleEndian.Uint64(l.buffers[16*i:])), int64(binary.LittleEndian.Uint64(l.buffers[16*i+8:]))
	if at < 0 || n < 0 || at > l.to-l.from || n > l.to-l.from-at {
		return nil, corruptf("buffer %d: found %d bytes at byte %d of a body of %d bytes, expected them within it; the file is damaged", i, n, at, l.to-l.from)
	}
	b := &buffer{r: r, at: l.from + at, raw: n, left: n, unread: n}
	if l.codec < 0 || n == 0 {
		return b, nil
	}
	var head [8]byte
	if n < 8 {
		return nil, corruptf("buffer %d: found a compressed buffer of %d bytes, expected its size in 8 bytes; the file is damaged", i, n)
	}
	if err := readAt(r, head[:], b.at); err != nil {
		return nil, err
	}
	size := int64(binary.LittleEndian.Uint64(head[:]))
	b.at, b.left, b.unread = b.at+8, n-8, n-8
	if size == -1 { // it did not get smaller
		return b, nil
	}
	if size < 0 {
		return nil, corruptf("buffer %d: found a size of %d bytes, expected at least 0; the file is damaged", i, size)
	}
	raw := io.NewSectionReader(r, b.at, n-8)
	b.left, b.unread = size, size
	if l.codec == codecZstd {
		if err := b.window(raw); err != nil {
			return nil, err
		}
		b.zstd = zstdReaders.Get().(*zstd.Decoder)
		if err := b.zstd.Reset(raw); err != nil {
			return nil, errors.Join(b.damaged(err), b.close())
		}
		b.source = b.zstd
	} else {
		b.lz4 = lz4Readers.Get().(*lz4.Reader)
		b.lz4.Reset(raw)
		b.source = b.lz4
	}
	return b, nil
}

// window refuses a zstd frame that asks for too much memory.
func (b *buffer) window(raw *io.SectionReader) error {
	head := make([]byte, min(raw.Size(), zstd.HeaderMaxSize))
	if err := readAt(raw, head, 0); err != nil {
		return err
	}
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		return nil // the decoder says what is wrong
	}
	asked := h.WindowSize
	if h.SingleSegment {
		asked = h.FrameContentSize
	}
	if most := uint64(min(max(freeWindow, b.raw), maxWindow)); asked > most {
		return unsupportedf("byte %d: found a zstd window of %d bytes, expected at most %d, which is 32 MiB or the size of the buffer; write smaller batches", b.at, asked, most)
	}
	return nil
}

func (b *buffer) damaged(err error) error {
	return corruptf("byte %d: found a buffer that does not decompress (%w), expected LZ4 or zstd; the file is damaged", b.at, err)
}

// close gives the decompressor back.
func (b *buffer) close() error {
	if b == nil {
		return nil
	}
	var err error
	if b.zstd != nil {
		err = b.zstd.Reset(nil)
		zstdReaders.Put(b.zstd)
		b.zstd = nil
	}
	if b.lz4 != nil {
		b.lz4.Reset(nil)
		lz4Readers.Put(b.lz4)
		b.lz4 = nil
	}
	return err
}

// next returns the next n bytes, which are valid until the next call.
func (b *buffer) next(n int) ([]byte, error) {
	if int64(n) > b.left {
		return nil, corruptf("byte %d: found a buffer with %d bytes left, expected %d for the rows; the file is damaged", b.at, b.left, n)
	}
	if n > len(b.have) {
		want := int(min(max(int64(n), ahead), int64(len(b.have))+b.unread))
		if cap(b.buf) < want {
			buf := make([]byte, want)
			copy(buf, b.have)
			b.buf = buf
		} else {
			copy(b.buf[:want], b.have)
		}
		k := len(b.have)
		b.buf = b.buf[:want]
		if err := b.fill(b.buf[k:]); err != nil {
			return nil, err
		}
		b.have = b.buf
	}
	out := b.have[:n]
	b.have, b.left = b.have[n:], b.left-int64(n)
	return out, nil
}

// fill reads the next bytes that are not in buf.
func (b *buffer) fill(into []byte) error {
	b.unread -= int64(len(into))
	if b.source == nil {
		err := readAt(b.r, into, b.at)
		b.at += int64(len(into))
		return err
	}
	if _, err := io.ReadFull(b.source, into); err != nil {
		return b.damaged(err)
	}
	return nil
}

// skip passes n bytes.
func (b *buffer) skip(n int64) error {
	for n > 0 {
		k := min(n, ahead)
		if _, err := b.next(int(k)); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// all returns the whole buffer. Its memory follows the bytes that are there, up to a bound.
func (b *buffer) all() ([]byte, error) {
	if b.source == nil {
		return b.next(int(b.left))
	}
	if limit := max(maxView, maxRatio*b.raw); b.left > limit {
		return nil, unsupportedf("byte %d: found a buffer of strings of %d bytes, expected at most %d; write smaller batches", b.at, b.left, limit)
	}
	var out []byte
	for b.left > 0 {
		piece, err := b.next(int(min(b.left, 1<<20)))
		if err != nil {
			return nil, err
		}
		out = append(out, piece...)
	}
	return out, nil
}
