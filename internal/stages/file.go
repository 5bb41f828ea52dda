package stages

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/graphmill/graphmill/internal/vfs"
)

// indexBytes is an entry of the index: the offset of a segment, and its checksum.
const indexBytes = 12

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writeFile writes the records of a task, in segments for the tasks of the next stage.
func writeFile(f io.Writer, records *ordered, tasks int64) error {
	w := bufio.NewWriterSize(f, 1<<18)
	offset, sum, key := uint64(0), uint32(0), int64(0)
	var head []byte
	starts := make([]uint64, tasks+1)
	sums := make([]uint32, tasks+1)
	at := uint32(0)
	for r := records.first(); r != nil; r = records.first() {
		for ; at < r.task; at++ {
			sums[at], starts[at+1] = sum, offset
			sum, key = 0, 0
		}
		head = binary.AppendVarint(head[:0], r.key-key)
		head = binary.AppendUvarint(head, uint64(len(r.record)))
		key = r.key
		for _, b := range [][]byte{head, r.record} {
			sum = crc32.Update(sum, castagnoli, b)
			offset += uint64(len(b))
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
		if err := records.skip(); err != nil {
			return err
		}
	}
	for ; int64(at) < tasks; at++ {
		sums[at], starts[at+1] = sum, offset
		sum = 0
	}
	index := make([]byte, 0, (tasks+1)*indexBytes)
	for i := range starts {
		index = binary.LittleEndian.AppendUint64(index, starts[i])
		index = binary.LittleEndian.AppendUint32(index, sums[i])
	}
	if _, err := w.Write(index); err != nil {
		return err
	}
	return w.Flush()
}

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 1<<20) }}

// place is where a segment lies in a file.
type place struct {
	from, to int64
	sum      uint32
}

// damaged is the error of a file whose bytes are not those of a task.
func damaged(f vfs.File) error {
	return fmt.Errorf("%s: found a damaged file of records, expected one that another worker made; remove it, and give the same command again", f.Name())
}

// readAt reads all of b from an offset.
func readAt(ctx context.Context, f vfs.File, b []byte, off int64) error {
	if r, ok := f.(vfs.Remote); ok {
		return r.ReadRange(ctx, b, off)
	}
	_, err := f.ReadAt(b, off)
	return err
}

// findSegment reads the index of a file for a task of the next stage, which has the given number of tasks.
func findSegment(ctx context.Context, f vfs.File, task, tasks int64) (p place, err error) {
	info, err := f.Stat()
	if err != nil {
		return p, err
	}
	data := info.Size() - (tasks+1)*indexBytes
	if data < 0 {
		return p, damaged(f)
	}
	var index [2 * indexBytes]byte
	if err := readAt(ctx, f, index[:], data+task*indexBytes); err != nil {
		return p, err
	}
	from, to := binary.LittleEndian.Uint64(index[:]), binary.LittleEndian.Uint64(index[indexBytes:])
	if from > to || to > uint64(data) {
		return p, damaged(f)
	}
	return place{int64(from), int64(to), binary.LittleEndian.Uint32(index[8:])}, nil
}

// readSegment reads the records of a file for a task of the next stage, which has the given number of tasks, as parseSegment does.
func readSegment(f vfs.File, task, tasks int64, room func(key int64, n int) ([]byte, error)) error {
	p, err := findSegment(context.Background(), f, task, tasks)
	if err != nil {
		return err
	}
	return parseSegment(f, io.NewSectionReader(f, p.from, p.to-p.from), p, room)
}

// parseSegment reads the records of a segment of a file, which it reads from r: each into the room for its n bytes.
func parseSegment(f vfs.File, r io.Reader, p place, room func(key int64, n int) ([]byte, error)) error {
	in := &segment{r: r}
	buffered := readers.Get().(*bufio.Reader)
	buffered.Reset(in)
	defer func() {
		buffered.Reset(nil)
		readers.Put(buffered)
	}()
	left := p.to - p.from
	key := int64(0)
	for {
		step, err := binary.ReadVarint(buffered)
		if errors.Is(err, io.EOF) { // and not io.ErrUnexpectedEOF: the segment has ended between two records
			break
		}
		n, err2 := binary.ReadUvarint(buffered)
		if in.err != nil {
			return in.err
		}
		if err != nil || err2 != nil || n > uint64(left) {
			return damaged(f)
		}
		key += step
		record, err := room(key, int(n))
		if err != nil {
			return err
		}
		if _, err := io.ReadFull(buffered, record); err != nil {
			return cmp.Or(in.err, damaged(f))
		}
	}
	if in.sum != p.sum {
		return cmp.Or(in.err, damaged(f))
	}
	return in.err
}

// segment reads a segment, and keeps its checksum and the error of the disk.
type segment struct {
	r   io.Reader
	sum uint32
	err error
}

func (s *segment) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	s.sum = crc32.Update(s.sum, castagnoli, b[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}
