package examplefiles

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/graphmill/graphmill/format/tfrecord"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/vfs"
)

const (
	frameHead = 12        // bytes of the length and its checksum
	frameFoot = 4         // bytes of the checksum of the record
	maxRow    = 256 << 20 // bytes of a record
)

// frames is a run of whole frames of one file. It belongs to one worker.
type frames struct {
	seq     int
	path    string
	first   uint64 // number of the first record in the table
	local   uint64 // number of the first record in the file
	rows    int
	at      int64 // offset of the first frame in the uncompressed file
	buf     []byte
	end     int  // end of the last frame in buf
	checked bool // the checksums were checked while the run was read
}

// framer returns runs of frames, in order. It does only the work that must be done in order: it reads, and steps from
// length to length. The workers check the checksums and decode the records.
type framer struct {
	t    *TFRecord
	ctx  context.Context
	most int // maximum number of rows of a run

	mu   sync.Mutex
	seq  int
	rows uint64
	next int // index of the next file
	file vfs.File
	size int64
	at   int64
	z    *tfrecord.Reader // set for a compressed file
	bad  error            // error of its next record
	row  uint64           // number of the next record in the file
	err  error            // io.EOF after all files, or the first error
}

// run fills b with the next run. It returns io.EOF if there is none. With an error, b has the number of the run that
// the error replaces.
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

// open begins a file. It is decompressed if it starts like a gzip stream and not with the checksum of a length.
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
			s.z.Limit(int64(table.RecordLimit(s.ctx, maxRow)))
		}
	}
	return corrupt(err)
}

// cut is the error about a read that returned too few bytes.
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
	n := int(min(left, table.ChunkSize))
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
	// The frame is longer than the run, or there is none.
	if n < frameHead+frameFoot {
		return b.corrupt(0, 0, "found %d bytes at the end, expected a frame of at least %d; the file is cut", n, frameHead+frameFoot)
	}
	if !headOK(b.buf) {
		return b.badHead(0, 0)
	}
	length := binary.LittleEndian.Uint64(b.buf)
	switch {
	case length > uint64(left-frameHead-frameFoot):
		return b.corrupt(0, 0, "found a record of %d bytes, expected at most %d, the rest of the file; the file is cut", length, left-frameHead-frameFoot)
	case length > uint64(table.RecordLimit(s.ctx, maxRow)):
		most := table.RecordLimit(s.ctx, maxRow)
		return badf("%s: found a record of %d bytes, expected at most %d; write shorter features%s", b.place(0, 0), length, most, table.LimitAdvice(most, maxRow))
	}
	// The buffer grows only as fast as the file proves to have bytes.
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
		buf := make([]byte, max(to, table.ChunkSize))
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
	for b.rows < s.most && len(b.buf) < table.ChunkSize {
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
				break // return the records before it first
			}
			return s.bad
		}
		b.buf = binary.LittleEndian.AppendUint64(b.buf, uint64(len(record)))
		b.buf = append(b.buf, 0, 0, 0, 0) // the checksums were checked already
		b.buf = append(append(b.buf, record...), 0, 0, 0, 0)
		b.rows++
	}
	b.end = len(b.buf)
	return nil
}

// record returns record i of the run, whose frame is at an offset of the run, and the offset of the next frame.
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
	return b.corrupt(i, at, "found checksum %08x of a record's length, expected %08x; the file is damaged or is not a TFRecord file", binary.LittleEndian.Uint32(head[8:]), tfrecord.Checksum(head[:8]))
}

// place names record i of the run, whose frame is at an offset of the run.
func (b *frames) place(i, at int) string {
	return recordPlace(b.path, b.local+uint64(i), b.at+int64(at))
}

func (b *frames) corrupt(i, at int, format string, a ...any) error {
	return badf("%s: %s: %w", b.place(i, at), fmt.Sprintf(format, a...), tfrecord.ErrCorrupt)
}

// recordPlace names a record by its number in the file and by the offset of its frame in the uncompressed file.
func recordPlace(path string, record uint64, at int64) string {
	return fmt.Sprintf("%s: record %d (byte %d)", path, record, at)
}
