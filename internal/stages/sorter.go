package stages

import (
	"bufio"
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/graphmill/graphmill/internal/vfs"
)

// sorter orders records by task and key; those of one key stay in the order in which they came. It holds memory bytes, and spills
// sorted runs to a temporary file of dir.
type sorter struct {
	fs     vfs.FS
	dir    string
	memory int

	held   []heldRecord
	bytes  int // of the records
	blocks []*block
	used   int // blocks that have records
	at     int // where the last of these is free
	file   vfs.File
	size   int64
	runs   []int64 // ends of the runs in the file
}

// heldRecord is a record in memory.
type heldRecord struct {
	task  uint32
	key   int64
	bytes []byte
}

// recordBytes is about the memory of a record beside its bytes.
const recordBytes = 40

// block holds the bytes of records, so that none are moved when there are more. Sorters that come later use it again.
type block [1 << 20]byte

var freeBlocks = sync.Pool{New: func() any { return new(block) }}

// take takes a copy of a record.
func (s *sorter) take(task uint32, key int64, record []byte) error {
	b, err := s.room(task, key, len(record))
	copy(b, record)
	return err
}

// room takes a record of n bytes, which the caller writes.
func (s *sorter) room(task uint32, key int64, n int) (b []byte, err error) {
	if len(s.held) > 0 && s.bytes+n+recordBytes*(len(s.held)+1) > s.memory {
		if err := s.spill(); err != nil {
			return nil, err
		}
	}
	if n > len(block{})/4 {
		b = make([]byte, n)
	} else {
		if s.used == 0 || s.at+n > len(block{}) {
			if s.used++; s.used > len(s.blocks) {
				s.blocks = append(s.blocks, freeBlocks.Get().(*block))
			}
			s.at = 0
		}
		b = s.blocks[s.used-1][s.at : s.at+n : s.at+n]
		s.at += n
	}
	s.bytes += n
	s.held = append(s.held, heldRecord{task, key, b})
	return b, nil
}

func (s *sorter) sortHeld() {
	slices.SortStableFunc(s.held, func(a, b heldRecord) int { return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.key, b.key)) })
}

// spill writes what is in memory as a run.
func (s *sorter) spill() (err error) {
	if s.file == nil {
		if s.file, err = s.fs.Temp(s.dir); err != nil {
			return err
		}
	}
	s.sortHeld()
	w := bufio.NewWriterSize(io.NewOffsetWriter(s.file, s.size), 1<<18)
	var head []byte
	for _, r := range s.held {
		head = binary.AppendUvarint(head[:0], uint64(r.task))
		head = binary.AppendVarint(head, r.key)
		head = binary.AppendUvarint(head, uint64(len(r.bytes)))
		s.size += int64(len(head) + len(r.bytes))
		if _, err := w.Write(head); err != nil {
			return err
		}
		if _, err := w.Write(r.bytes); err != nil {
			return err
		}
	}
	s.runs = append(s.runs, s.size)
	clear(s.held)
	s.held, s.bytes, s.used = s.held[:0], 0, 0
	return w.Flush()
}

// close frees the memory and the temporary file. No record may be in use.
func (s *sorter) close() error {
	for _, b := range s.blocks {
		freeBlocks.Put(b)
	}
	s.blocks, s.held = nil, nil
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// sorted is the records of a sorter in order. The sorter takes no more records then.
func (s *sorter) sorted() (*ordered, error) {
	s.sortHeld()
	o := &ordered{s: s}
	from := int64(0)
	for i, to := range s.runs {
		r := &run{number: i, r: bufio.NewReaderSize(io.NewSectionReader(s.file, from, to-from), 1<<16)}
		from = to
		if err := r.next(); err != nil {
			return nil, err
		}
		o.merge = append(o.merge, r)
	}
	if len(s.held) > 0 {
		r := &run{number: math.MaxInt, held: s}
		if err := r.next(); err != nil {
			return nil, err
		}
		o.merge = append(o.merge, r)
	}
	heap.Init(&o.merge)
	return o, nil
}

// ordered is a merge of the runs of a sorter.
type ordered struct {
	s     *sorter
	merge runHeap
}

// first is the next record; nil at the end. Its bytes stay as they are.
func (o *ordered) first() *run {
	if len(o.merge) == 0 {
		return nil
	}
	return o.merge[0]
}

// skip passes on to the record after the first one.
func (o *ordered) skip() error {
	err := o.merge[0].next()
	if errors.Is(err, io.EOF) {
		heap.Pop(&o.merge)
		return nil
	}
	if err == nil {
		heap.Fix(&o.merge, 0)
	}
	return err
}

// run is the records of a run, in memory or in the temporary file, from the current one on.
type run struct {
	number int
	r      *bufio.Reader
	held   *sorter
	at     int // in held

	task   uint32
	key    int64
	record []byte
}

// next reads the next record, or io.EOF.
func (r *run) next() error {
	if s := r.held; s != nil {
		if r.at == len(s.held) {
			return io.EOF
		}
		h := &s.held[r.at]
		r.at++
		r.task, r.key, r.record = h.task, h.key, h.bytes
		return nil
	}
	task, err := binary.ReadUvarint(r.r)
	if err != nil {
		return err // io.EOF between two records
	}
	key, err := binary.ReadVarint(r.r)
	n, err2 := binary.ReadUvarint(r.r)
	if err := errors.Join(err, err2); err != nil {
		return noEOF(err)
	}
	r.task, r.key, r.record = uint32(task), key, make([]byte, n)
	_, err = io.ReadFull(r.r, r.record)
	return noEOF(err)
}

// noEOF is an error of a record that is cut off.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// runHeap orders runs by their current records; equal ones by the order of the runs.
type runHeap []*run

func (h runHeap) Len() int { return len(h) }
func (h runHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.key, b.key), cmp.Compare(a.number, b.number)) < 0
}
func (h runHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *runHeap) Push(x any)   { *h = append(*h, x.(*run)) }
func (h *runHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
