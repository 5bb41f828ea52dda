package extsort

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"sync"
)

// Partition divides records by ranges of a key of 64 bits.
type Partition struct {
	// Codec makes extents smaller. Where it is nil, they are stored unchanged. It is set before the first Writer is
	// made.
	Codec *Codec
	// Out, if it is not nil, takes the extents in place of the Spill: the records of a bucket that one Writer took, in their
	// order. The slice is valid until it returns. Keys must not exceed the last bucket. It is set before the first
	// Writer is made.
	Out func(bucket int, records []byte) error

	spill   *Spill
	buckets int // a power of two
	extent  int // bytes of a buffer

	mu      sync.Mutex
	shift   uint // width of a bucket is 1 << shift; grows
	writers []*Writer
	lists   [][]piece // by bucket, after Finish
}

// Codec is a smaller form of the records of an extent. Its functions are called from several goroutines.
type Codec struct {
	// Pack appends the form to dst. ok is false where it is not smaller.
	Pack func(dst, records []byte) ([]byte, bool)
	// Unpack restores the records into dst, which has their size.
	Unpack func(dst, packed []byte) error
}

// piece is an extent of the records of one bucket.
type piece struct {
	Extent
	size        int // of the records; larger than the extent if they are packed
	worker, run int32
	bucket      uint32 // of width 1 << shift
	shift       uint8
}

// NewPartition makes a partition. buckets is a power of two, extent is the bytes of a buffer, and buckets begin with a
// width of 1 << shift.
func NewPartition(s *Spill, buckets, extent int, shift uint) *Partition {
	return &Partition{spill: s, buckets: buckets, extent: extent, shift: shift}
}

// Writer appends the records of one worker. It is not safe for concurrent use.
type Writer struct {
	p      *Partition
	shift  uint
	extent int
	worker int32
	run    int32
	slab   []byte
	fill   []int32
	big    []byte // a record larger than a buffer, not stored yet
	bigFor int
	pieces []piece
	packed []byte
}

// Writer makes the Writer of another worker.
func (p *Partition) Writer() (*Writer, error) {
	slab, err := Slab(p.buckets * p.extent)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	w := &Writer{p: p, shift: p.shift, extent: p.extent, worker: int32(len(p.writers)), slab: slab, fill: make([]int32, p.buckets), bigFor: -1}
	p.writers = append(p.writers, w)
	return w, nil
}

// Slot is room for a record of n bytes in the bucket of key. It is valid until
// the next call.
func (w *Writer) Slot(key uint64, n int) ([]byte, error) {
	if b := w.Fast(key, n); b != nil {
		return b, nil
	}
	return w.slow(key, n)
}

// Fast is Slot where the buffer of the bucket has room, and nil where it has none.
func (w *Writer) Fast(key uint64, n int) []byte {
	b := key >> (w.shift & 63)
	if b >= uint64(len(w.fill)) {
		return nil
	}
	to := int(w.fill[b]) + n
	if to > w.extent {
		return nil
	}
	w.fill[b] = int32(to)
	to += int(b) * w.extent
	return w.slab[to-n : to]
}

// Buffers are the buffers of a Writer between two calls, for loops that write records of one size to them directly.
// Bucket b = key >> Shift has the bytes b*Extent to (b+1)*Extent of Slab, of which Fill[b] are used. A record without
// room there must go through Slot.
type Buffers struct {
	Shift  uint
	Extent int
	Fill   []int32
	Slab   []byte
}

// Buffers is the buffers. They are valid until the next call of a method.
func (w *Writer) Buffers() Buffers { return Buffers{w.shift, w.extent, w.fill, w.slab} }

func (w *Writer) slow(key uint64, n int) ([]byte, error) {
	b := key >> w.shift
	if b >= uint64(len(w.fill)) {
		if err := w.grow(key); err != nil {
			return nil, err
		}
		b = key >> w.shift
	}
	if err := w.flush(int(b)); err != nil {
		return nil, err
	}
	if n <= w.extent {
		return w.Slot(key, n)
	}
	w.big, w.bigFor = append(w.big[:0], make([]byte, n)...), int(b)
	w.fill[b] = int32(w.extent) // so that the next record of this bucket comes here
	return w.big, nil
}

// grow widens the buckets until key fits.
func (w *Writer) grow(key uint64) error {
	if w.p.Out != nil {
		return fmt.Errorf("found key %d, expected keys below %d", key, uint64(w.p.buckets)<<w.shift)
	}
	if err := w.NextRun(); err != nil {
		return err
	}
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	need := uint(bits.Len64(key / uint64(w.p.buckets)))
	w.p.shift = max(w.p.shift, need)
	w.shift = w.p.shift
	return nil
}

func (w *Writer) store(b int, data []byte) error {
	if w.p.Out != nil {
		return w.p.Out(b, data)
	}
	size := len(data)
	if c := w.p.Codec; c != nil {
		var smaller bool
		if w.packed, smaller = c.Pack(w.packed[:0], data); smaller {
			data = w.packed
		}
	}
	e, err := w.p.spill.Put(data)
	w.pieces = append(w.pieces, piece{Extent: e, size: size, worker: w.worker, run: w.run, shift: uint8(w.shift), bucket: uint32(b)})
	return err
}

// flush stores the records in the buffer of bucket b.
func (w *Writer) flush(b int) error {
	if w.bigFor >= 0 {
		big := w.bigFor
		w.bigFor = -1
		w.fill[big] = 0
		if err := w.store(big, w.big); err != nil {
			return err
		}
		w.big = nil
	}
	n := int(w.fill[b])
	if n == 0 {
		return nil
	}
	w.fill[b] = 0
	return w.store(b, w.slab[b*w.extent:][:n])
}

// NextRun begins a run. Records of different runs have no order relative to each other.
func (w *Writer) NextRun() error {
	for b := range w.fill {
		if w.fill[b] > 0 {
			if err := w.flush(b); err != nil {
				return err
			}
		}
	}
	w.run++
	return nil
}

// Finish stores the buffered records, and closes the writers. It is called once, after the last record.
func (p *Partition) Finish() error {
	defer p.Close()
	p.lists = make([][]piece, p.buckets)
	for _, w := range p.writers {
		if err := w.NextRun(); err != nil {
			return err
		}
		for _, x := range w.pieces {
			b := x.bucket >> (p.shift - uint(x.shift))
			p.lists[b] = append(p.lists[b], x)
		}
		w.pieces = nil
	}
	return nil
}

// Add stores an extent that Out of another Partition was given. It replaces the Writers and Finish: the records of an
// extent are a run. It is not safe for concurrent use.
func (p *Partition) Add(bucket int, records []byte) error {
	if p.lists == nil {
		p.lists = make([][]piece, p.buckets)
	}
	e, err := p.spill.Put(records)
	p.lists[bucket] = append(p.lists[bucket], piece{Extent: e, size: len(records), run: int32(len(p.lists[bucket])), bucket: uint32(bucket), shift: uint8(p.shift)})
	return err
}

// Close frees the buffers of the writers. The extents stay with the Spill.
func (p *Partition) Close() {
	for _, w := range p.writers {
		Free(w.slab)
		w.slab, w.fill = nil, nil
	}
	p.writers = nil
}

// Buckets is the number of buckets.
func (p *Partition) Buckets() int { return p.buckets }

// Shift is the width of a bucket as a power of two. It is final after Finish.
func (p *Partition) Shift() uint { return p.shift }

// Spill is the store of the extents.
func (p *Partition) Spill() *Spill { return p.spill }

// Total is the size of all records.
func (p *Partition) Total() int64 {
	var n int64
	for b := range p.lists {
		n += p.Bytes(b)
	}
	return n
}

// Bytes is the size of the records of bucket b.
func (p *Partition) Bytes(b int) int64 {
	var n int64
	for _, x := range p.lists[b] {
		n += int64(x.size)
	}
	return n
}

// Run is the bounds of a run in the buffer of Load.
type Run struct{ From, To int }

// Load reads bucket b into buf, which has its Bytes, and returns the runs.
func (p *Partition) Load(b int, buf []byte) ([]Run, error) {
	var runs []Run
	var packed []byte
	at := 0
	err := p.each(b, func(x piece, first bool) error {
		if at+x.size > len(buf) {
			return fmt.Errorf("bucket %d: found more than %d bytes", b, len(buf))
		}
		if err := p.get(x, buf[at:at+x.size], &packed); err != nil {
			return err
		}
		if first {
			runs = append(runs, Run{at, at})
		}
		at += x.size
		runs[len(runs)-1].To = at
		return nil
	})
	return runs, err
}

// get reads the records of a piece. packed is a buffer for their packed form.
func (p *Partition) get(x piece, records []byte, packed *[]byte) error {
	if x.n == x.size {
		return p.spill.Get(x.Extent, records)
	}
	b := p.spill.inMemory(x.Extent)
	if b == nil {
		if x.n > cap(*packed) {
			*packed = make([]byte, x.n)
		}
		b = (*packed)[:x.n]
		if err := p.spill.Get(x.Extent, b); err != nil {
			return err
		}
	}
	if err := p.Codec.Unpack(records, b); err != nil {
		return fmt.Errorf("temporary file in %s: %w", p.spill.dir, err)
	}
	return nil
}

// Scan reads bucket b an extent at a time through buf, which it may enlarge, and calls fn for each. first marks the
// begin of a run. Extents hold whole records.
func (p *Partition) Scan(b int, buf *[]byte, fn func(data []byte, first bool) error) error {
	var packed []byte
	return p.each(b, func(x piece, first bool) error {
		if x.size > len(*buf) {
			*buf = make([]byte, x.size)
		}
		if err := p.get(x, (*buf)[:x.size], &packed); err != nil {
			return err
		}
		return fn((*buf)[:x.size], first)
	})
}

// Free frees the extents of bucket b.
func (p *Partition) Free(b int) {
	for _, x := range p.lists[b] {
		p.spill.Free(x.Extent)
	}
	p.lists[b] = nil
}

func (p *Partition) each(b int, fn func(x piece, first bool) error) error {
	list := p.lists[b]
	slices.SortStableFunc(list, func(x, y piece) int {
		return cmp.Or(cmp.Compare(x.worker, y.worker), cmp.Compare(x.run, y.run), cmp.Compare(x.bucket, y.bucket))
	})
	for i, x := range list {
		first := i == 0 || x.worker != list[i-1].worker || x.run != list[i-1].run || x.bucket != list[i-1].bucket
		if err := fn(x, first); err != nil {
			return err
		}
	}
	return nil
}
