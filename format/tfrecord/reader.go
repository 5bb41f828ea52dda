package tfrecord

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// ErrCorrupt is wrapped by every error about bytes that are not a TFRecord file, such as a cut frame or a wrong
// checksum.
var ErrCorrupt = errors.New("not a whole TFRecord file")

// ErrTooLong is wrapped by the error about a record that exceeds the Reader's limit.
var ErrTooLong = errors.New("record is too long")

// longest is the maximum size of a protobuf message. A longer record is refused before it is read.
const longest = math.MaxInt32

// inflated bounds a record of a compressed stream that is longer than the stream, since a few bytes of gzip can expand to
// a record that uses up the memory.
const inflated = 16 << 20

// step bounds the growth of a record's buffer beyond the bytes that the input is known to hold.
const step = 1 << 20

// Reader reads the records of a stream.
type Reader struct {
	r      *bufio.Reader
	name   string
	offset int64 // of the next frame in the uncompressed stream
	start  int64 // offset of the frame that Next read last
	limit  int64 // maximum length of a record
	left   int64 // bytes from offset to the end; -1: unknown
	zipped *counted
	buf    []byte
}

// counted is a compressed stream.
type counted struct {
	r    io.Reader
	size int64 // -1: unknown
	read int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.read += int64(n)
	return n, err
}

// most is the maximum length of a record.
func (c *counted) most() int64 { return max(inflated, c.size, c.read) }

// NewReader reads records from r. Errors begin with name, usually the path. size is the number of bytes in r, or -1
// if it is unknown, as for a compressed stream. With a size, a wrong length is found before the record is read.
func NewReader(r io.Reader, name string, size int64) *Reader {
	return &Reader{r: bufio.NewReaderSize(r, 64<<10), name: name, left: size, limit: longest}
}

// Open reads records from r and decompresses them if r starts like a gzip stream. An uncompressed file can start like
// that only if the length of its first record ends in 0x8b1f, so it is more than 35 KiB; the checksum of the length
// then shows that the file is uncompressed. name and size are as in NewReader; size counts the bytes of r, compressed
// or not.
//
// A record of a compressed stream has at most 16 MiB, or as many bytes as the stream if that has more; of a stream of
// unknown size, the bytes that were read so far. A longer one is refused before memory is used for it.
func Open(r io.Reader, name string, size int64) (*Reader, error) {
	count := &counted{r: r, size: size}
	b := bufio.NewReaderSize(count, 64<<10)
	head, err := b.Peek(headerSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	zipped := len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b
	if zipped && len(head) == headerSize && Checksum(head[:8]) == binary.LittleEndian.Uint32(head[8:]) {
		zipped = false
	}
	if !zipped {
		return NewReader(b, name, size), nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, fmt.Errorf("%s: found a damaged gzip header (%w), expected a whole one: %w", name, err, ErrCorrupt)
	}
	reader := NewReader(z, name, -1)
	reader.zipped = count
	return reader, nil
}

// Limit makes Next refuse records of more than n bytes before it reads them. Its error wraps ErrTooLong.
func (r *Reader) Limit(n int64) { r.limit = n }

// Offset is the byte offset, in the uncompressed stream, of the frame that Next read last.
func (r *Reader) Offset() int64 { return r.start }

// Next returns the next record, or io.EOF after the last. The bytes are valid
// until the next call.
func (r *Reader) Next() ([]byte, error) {
	var head [headerSize]byte
	if k, err := io.ReadFull(r.r, head[:]); errors.Is(err, io.EOF) {
		return nil, io.EOF
	} else if errors.Is(err, io.ErrUnexpectedEOF) && k == 0 {
		return nil, r.corrupt("found the compressed stream cut, or other bytes after its end, expected a whole gzip file")
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, r.corrupt("found %d bytes at the end, expected a frame of at least %d; the file is cut", k, overhead)
	} else if err != nil {
		return nil, r.failed(err)
	}
	n := binary.LittleEndian.Uint64(head[:])
	if got, want := binary.LittleEndian.Uint32(head[8:]), Checksum(head[:8]); got != want {
		return nil, r.corrupt("found checksum %08x of a record's length, expected %08x; the file is damaged or is not a TFRecord file", got, want)
	}
	if n > longest {
		return nil, r.corrupt("found a record of %d bytes, expected at most %d, the maximum size of a message", n, longest)
	}
	if r.left >= 0 && int64(n)+overhead > r.left {
		return nil, r.corrupt("found a record of %d bytes, expected at most %d, the rest of the file; the file is cut", n, max(0, r.left-overhead))
	}
	if int64(n) > r.limit {
		return nil, fmt.Errorf("%s: byte %d: found a record of %d bytes, expected at most %d: %w", r.name, r.offset, n, r.limit, ErrTooLong)
	}
	if z := r.zipped; z != nil && z.size >= 0 && int64(n) > z.most() {
		return nil, r.bomb(int64(n))
	}
	record, err := r.read(int64(n) + footerSize)
	if err != nil {
		return nil, err
	}
	record, footer := record[:n], record[n:]
	if got, want := binary.LittleEndian.Uint32(footer), Checksum(record); got != want {
		return nil, r.corrupt("found checksum %08x of a record of %d bytes, expected %08x; the file is damaged", got, n, want)
	}
	r.start = r.offset
	r.offset += int64(n) + overhead
	if r.left >= 0 {
		r.left -= int64(n) + overhead
	}
	return record, nil
}

// read fills the buffer with n bytes. The buffer grows only as fast as the input proves to have bytes.
func (r *Reader) read(n int64) ([]byte, error) {
	r.buf = r.buf[:0]
	for int64(len(r.buf)) < n {
		at := len(r.buf)
		if r.zipped != nil && int64(at) > r.zipped.most() {
			return nil, r.bomb(n - footerSize)
		}
		more := int(min(n-int64(at), int64(max(step, at, cap(r.buf)-at))))
		if at+more > cap(r.buf) {
			grown := make([]byte, at, at+more)
			copy(grown, r.buf)
			r.buf = grown
		}
		r.buf = r.buf[:at+more]
		k, err := io.ReadFull(r.r, r.buf[at:])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, r.corrupt("found %d bytes of a record, expected %d; the file is cut", at+k, n)
		}
		if err != nil {
			return nil, r.failed(err)
		}
	}
	return r.buf, nil
}

// bomb is the error about a record of a compressed stream that expands to n bytes.
func (r *Reader) bomb(n int64) error {
	return fmt.Errorf("%s: byte %d: found a record of %d bytes in a compressed file, expected at most %d, which is 16 MiB or the size of the compressed file; decompress the file first if you trust it: %w",
		r.name, r.offset, n, r.zipped.most(), ErrTooLong)
}

func (r *Reader) corrupt(format string, args ...any) error {
	return fmt.Errorf("%s: byte %d: %s: %w", r.name, r.offset, fmt.Sprintf(format, args...), ErrCorrupt)
}

// failed wraps an error of the underlying reader. An error of gzip means that the file is damaged.
func (r *Reader) failed(err error) error {
	if _, bad := errors.AsType[flate.CorruptInputError](err); bad || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) {
		return r.corrupt("%v; the compressed file is damaged", err)
	}
	return fmt.Errorf("%s: byte %d: %w", r.name, r.offset, err)
}
