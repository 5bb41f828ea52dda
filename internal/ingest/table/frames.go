package table

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/vfs"
)

const (
	frameHead = 12        // length and its checksum
	frameFoot = 4         // checksum of the record
	maxRow    = 256 << 20 // bytes of a record
)

// frames is a run of whole frames of one file. It belongs to one worker.
type frames struct {
	seq     int
	path    string
	first   uint64 // the number of the first record in the table
	local   uint64 // and in the file
	rows    int
	at      int64 // where the first frame begins, in the uncompressed file
	buf     []byte
	end     int  // of the last frame in buf
	checked bool // the checksums, while it was read
}

// framer hands out runs of frames, in order. What has to be done in order is
// little: it reads, and walks from length to length; checksums and records are the
// business of the workers.
type framer struct {
	t    *TFRecord
	ctx  context.Context
	most int // rows of a run

	mu   sync.Mutex
	seq  int
	rows uint64
	next int // the next file
	file vfs.File
	size int64
	at   int64
	z    *tfrecord.Reader // of a compressed file
	bad  error            // of its next record
	row  uint64           // in the file
	err  error            // all is read, or failed
}

// run fills b with the next run. io.EOF: there is none. An error has the number of
// the run that it is in place of.
func (s *framer) run(b *frames) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.seq = s.seq
	s.seq++
	if s.err == nil {
		s.err = s.fill(b)
	}
	return s.err
}

// close closes the file that is being read.
func (s *framer) close() error {
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file, s.z = nil, nil
	return f.Close()
}

func (s *framer) fill(b *frames) error {
	for {
		if err := context.Cause(s.ctx); err != nil {
			return err
		}
		if s.file == nil {
			if s.next == len(s.t.paths) {
				return io.EOF
			}
			if err := s.open(s.t.paths[s.next]); err != nil {
				return err
			}
			s.next++
		}
		b.path, b.first, b.local, b.at, b.rows, b.end = s.t.paths[s.next-1], s.rows, s.row, s.at, 0, 0
		b.checked = s.z != nil
		read := s.plain
		if s.z != nil {
			read = s.zipped
		}
		if err := read(b); err != nil {
			return err
		}
		if b.rows > 0 {
			s.rows += uint64(b.rows)
			s.row += uint64(b.rows)
			s.at += int64(b.end)
			return nil
		}
		if err := s.close(); err != nil {
			return err
		}
	}
}

// open begins a file, which is decompressed where it starts as a gzip stream does
// and not with the checksum of a length.
func (s *framer) open(path string) (err error) {
	if s.file, err = s.t.fsys.Open(path); err != nil {
		s.file = nil
		return err
	}
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	s.size, s.at, s.row, s.z, s.bad = info.Size(), 0, 0, nil, nil
	head := make([]byte, min(s.size, frameHead))
	if n, err := s.file.ReadAt(head, 0); n < len(head) {
		return cut(path, err, int64(n), s.size)
	}
	if len(head) > 2 && head[0] == 0x1f && head[1] == 0x8b && (len(head) < frameHead || !headOK(head)) {
		s.z, err = tfrecord.Open(s.file, path, s.size)
		if err == nil {
			s.z.Limit(maxRow)
		}
	}
	return corrupt(err)
}

// cut is the error of a read that came short.
func cut(path string, err error, found, expected int64) error {
	if err == nil || errors.Is(err, io.EOF) {
		return badf("%s: found %d bytes, expected %d; the file was cut while it was read", path, found, expected)
	}
	return err
}

func corrupt(err error) error {
	if errors.Is(err, tfrecord.ErrCorrupt) || errors.Is(err, tfrecord.ErrTooLong) {
		return badf("%w", err)
	}
	return err
}

func headOK(head []byte) bool {
	return tfrecord.Checksum(head[:8]) == binary.LittleEndian.Uint32(head[8:])
}

// plain reads frames of a file that is not compressed.
func (s *framer) plain(b *frames) error {
	left := s.size - s.at
	if left == 0 {
		return nil
	}
	n := int(min(left, chunkSize))
	if err := s.load(b, 0, n); err != nil {
		return err
	}
	for n-b.end >= frameHead+frameFoot && b.rows < s.most {
		length := binary.LittleEndian.Uint64(b.buf[b.end:])
		if length > uint64(n-b.end-frameHead-frameFoot) {
			break
		}
		b.end += int(length) + frameHead + frameFoot
		b.rows++
	}
	if b.rows > 0 {
		return nil
	}
	// A frame that is longer, or none.
	if n < frameHead+frameFoot {
		return b.corrupt(0, 0, "found %d bytes at the end, expected a frame of at least %d; the file is cut", n, frameHead+frameFoot)
	}
	if !headOK(b.buf) {
		return b.badHead(0, 0)
	}
	length := binary.LittleEndian.Uint64(b.buf)
	switch {
	case length > uint64(left-frameHead-frameFoot):
		return b.corrupt(0, 0, "found a record of %d bytes, expected at most %d, which is what the file still holds; it is cut", length, left-frameHead-frameFoot)
	case length > maxRow:
		return badf("%s: found a record of %d bytes, expected at most %d; write shorter features", b.place(0, 0), length, maxRow)
	}
	// The buffer grows no faster than the file is found to hold.
	for b.end = int(length) + frameHead + frameFoot; n < b.end; {
		to := min(2*n, b.end)
		if err := s.load(b, n, to); err != nil {
			return err
		}
		n = to
	}
	b.rows = 1
	return nil
}

// load reads bytes from..to of the run.
func (s *framer) load(b *frames, from, to int) error {
	if to > len(b.buf) {
		buf := make([]byte, max(to, chunkSize))
		copy(buf, b.buf[:from])
		b.buf = buf
	}
	if n, err := s.file.ReadAt(b.buf[from:to], s.at+int64(from)); n < to-from {
		return cut(b.path, err, s.at+int64(from+n), s.size)
	}
	return nil
}

// zipped reads frames of a compressed file.
func (s *framer) zipped(b *frames) error {
	b.buf = b.buf[:0]
	for b.rows < s.most && len(b.buf) < chunkSize {
		if s.bad != nil {
			return s.bad
		}
		record, err := s.z.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.bad = corrupt(fmt.Errorf("%w (record %d)", err, s.row+uint64(b.rows)))
			if b.rows > 0 {
				break // the records before it come first
			}
			return s.bad
		}
		b.buf = binary.LittleEndian.AppendUint64(b.buf, uint64(len(record)))
		b.buf = append(b.buf, 0, 0, 0, 0) // checksums are checked already
		b.buf = append(append(b.buf, record...), 0, 0, 0, 0)
		b.rows++
	}
	b.end = len(b.buf)
	return nil
}

// record is the record of the frame at an offset of the run, which is number i of
// it, and where the next one begins.
func (b *frames) record(i, at int) (record []byte, next int, err error) {
	length := binary.LittleEndian.Uint64(b.buf[at:])
	if b.checked {
		next = at + frameHead + int(length) + frameFoot
		return b.buf[at+frameHead : next-frameFoot], next, nil
	}
	if !headOK(b.buf[at:b.end]) {
		return nil, 0, b.badHead(i, at)
	}
	next = at + frameHead + int(length) + frameFoot
	record = b.buf[at+frameHead : next-frameFoot]
	if got, want := binary.LittleEndian.Uint32(b.buf[next-frameFoot:]), tfrecord.Checksum(record); got != want {
		return nil, 0, b.corrupt(i, at, "found checksum %08x of a record of %d bytes, expected %08x; the file is damaged", got, length, want)
	}
	return record, next, nil
}

func (b *frames) badHead(i, at int) error {
	head := b.buf[at:]
	return b.corrupt(i, at, "found checksum %08x of a record's length, expected %08x; the file is damaged or no TFRecord file", binary.LittleEndian.Uint32(head[8:]), tfrecord.Checksum(head[:8]))
}

// place names record i of the run, whose frame begins at an offset of it.
func (b *frames) place(i, at int) string {
	return recordPlace(b.path, b.local+uint64(i), b.at+int64(at))
}

func (b *frames) corrupt(i, at int, format string, a ...any) error {
	return badf("%s: %s: %w", b.place(i, at), fmt.Sprintf(format, a...), tfrecord.ErrCorrupt)
}

// recordPlace names a record by its number in the file and by the place of its
// frame, in the uncompressed file.
func recordPlace(path string, record uint64, at int64) string {
	return fmt.Sprintf("%s: record %d (byte %d)", path, record, at)
}
