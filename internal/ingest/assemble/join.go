package assemble

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// refs holds the ends of a part's edges that are keys of one node type: first cut by hash, and after the join with
// the keys as an array of type-wise ids by position. The position of an end is row * stride + slot.
type refs struct {
	t        *nodeType
	stride   uint64
	part     *extsort.Partition
	spill    *extsort.Spill
	resolved *extsort.Scratch
	wide     bool // the ids of the array have 64 bits
	rows     uint64
}

// scanKeys reads the keys of the ends of a part, in one scan.
func (b *builder) scanKeys(ctx context.Context, p *part, memory int64) error {
	if p.scanned || !p.src.isKeyed() && !p.dst.isKeyed() {
		return nil
	}
	p.scanned = true
	s := &keyScan{builder: b, p: p}
	s.findEnds(memory)
	defer func() {
		for _, r := range p.refs {
			r.part.Close()
		}
	}()
	if err := s.openWriters(); err != nil {
		return err
	}
	rows, err := p.Table.Scan(ctx, s.ask, b.budget.threads, s.cutChunk)
	if err != nil {
		return err
	}
	if rows > placeMask/2-1 {
		return fmt.Errorf("%s: found %d rows, expected fewer than 2^39", p.Table.Files()[0], rows)
	}
	for i := range s.workers {
		p.keyed.Filtered += s.workers[i].filtered
		p.keyed.Absent += s.workers[i].absent
	}
	p.rows = rows
	for _, r := range p.refs {
		r.rows = rows
		if err := r.part.Finish(); err != nil {
			return err
		}
	}
	return nil
}

// keyScan is a run of scanKeys.
type keyScan struct {
	*builder
	p       *part
	ask     []table.Column // of the table
	ends    []*end         // that are keys; end i is column i of ask
	where   int            // the column of Where in ask; -1: there is none
	workers []keyWorker
	done    atomic.Int64
}

// keyWorker cuts the keys of chunks by hash, on one goroutine.
type keyWorker struct {
	writers  [2]*extsort.Writer // by end
	filtered uint64
	absent   uint64
}

// findEnds finds the ends that are keys and the columns to read. Two ends of one node type share their refs.
func (s *keyScan) findEnds(memory int64) {
	p := s.p
	spill := extsort.NewSpill(s.fs, s.tmp, memory)
	s.later(spill.Close)
	for _, e := range []*end{&p.src, &p.dst} {
		if !e.isKeyed() {
			continue
		}
		if len(p.refs) == 1 && p.refs[0].t == e.t {
			e.refs, e.slot = p.refs[0], 1
			e.refs.stride = 2
		} else {
			s.hashBuckets(e.t, int64(p.estimate()/4))
			e.refs = &refs{t: e.t, stride: 1, part: s.byHash(e.t, spill), spill: spill}
			p.refs = append(p.refs, e.refs)
		}
		s.ask = append(s.ask, e.column)
		s.ends = append(s.ends, e)
	}
	s.where = -1
	if p.Where != nil {
		s.where = len(s.ask)
		s.ask = append(s.ask, table.Column{Name: p.Where.Column, DType: graph.String})
	}
	for _, e := range []*end{&p.src, &p.dst} {
		if !e.isRow() && !e.isKeyed() && e.column.Empty == table.EmptyAbsent {
			s.ask = append(s.ask, e.column) // a row without the other end gives no key
		}
	}
}

// openWriters gives each worker a writer for each refs.
func (s *keyScan) openWriters() error {
	s.workers = make([]keyWorker, s.budget.threads)
	for i := range s.workers {
		writers := &s.workers[i].writers
		for k, e := range s.ends {
			if k == 1 && e.refs == s.ends[0].refs {
				writers[1] = writers[0]
				continue
			}
			var err error
			if writers[k], err = e.refs.part.Writer(); err != nil {
				return err
			}
		}
	}
	return nil
}

// cutChunk cuts the keys of a chunk by hash.
func (s *keyScan) cutChunk(worker int, c *table.Chunk) error {
	w := &s.workers[worker]
	for i := range c.Rows {
		if s.where >= 0 && string(text(&c.Columns[s.where], i)) != s.p.Where.Value {
			w.filtered++
			continue
		}
		if c.Absent != nil && c.Absent[i] {
			w.absent++
			continue
		}
		row := c.First + uint64(i)
		for k, e := range s.ends {
			x := hashKey(keyAt(e.t, &c.Columns[k], i), s.seed, row*e.refs.stride+uint64(e.slot))
			if err := writeHashed(w.writers[k], x); err != nil {
				return err
			}
		}
	}
	s.scanned("ends "+s.p.Type.String(), s.p.Table, c, 0, &s.done)
	return nil
}

// join finds the type-wise ids of the ends of a part that are keys.
func (b *builder) join(ctx context.Context, p *part) error {
	if !p.src.isRefs() && !p.dst.isRefs() {
		return nil
	}
	if err := b.stage("ends", p.Type.String(), func() (uint64, error) {
		err := b.scanKeys(ctx, p, b.budget.work/16)
		return p.rows, err
	}); err != nil {
		return err
	}
	for _, r := range p.refs {
		if r.resolved != nil {
			continue
		}
		if err := b.stage("join", p.Type.String(), func() (uint64, error) { return r.rows * r.stride, b.resolve(ctx, r) }); err != nil {
			return err
		}
	}
	return nil
}

// release frees the memory of the ends of a part.
func (p *part) release() error {
	for _, r := range p.refs {
		if r.resolved != nil {
			if err := r.resolved.Close(); err != nil {
				return err
			}
		}
		if err := r.spill.Close(); err != nil {
			return err
		}
	}
	return nil
}

// foundBytes is the size of a record of an id that was found. The record holds the id above the low bits of the
// position. foundShift bounds the width of a bucket of positions.
const (
	foundBytes = 8
	foundShift = 24
	noKey      = placeMask // stands for the id of a key that no node has
)

// resolve joins references with the keys of their type.
func (b *builder) resolve(ctx context.Context, r *refs) (err error) {
	positions := r.rows * r.stride
	r.wide = r.t.count >= 1<<32-2
	width := idBytes(r.wide)
	shift := uint(18)
	for ; shift < foundShift && positions>>shift >= 256 && int64(width)<<(shift+1) <= b.budget.leaf(); shift++ {
	}
	buckets := max(2, 1<<bits.Len64((max(positions, 1)-1)>>shift))
	// The results take the places of the references that they belong to.
	found := extsort.NewPartition(r.spill, buckets, extentFor(buckets, b.budget.work/8, b.budget.threads), shift)
	defer found.Close()
	joiners := make([]joiner, b.budget.threads)
	for i := range joiners {
		joiners[i] = joiner{r: r, mask: 1<<shift - 1, budget: b.budget}
		if joiners[i].out, err = found.Writer(); err != nil {
			return err
		}
		defer joiners[i].close()
	}
	var done atomic.Int64
	used := bits.Len(uint(r.t.buckets - 1))
	if err := b.each(ctx, r.t.buckets, func(worker, k int) error {
		n := r.part.Bytes(k) / hashedBytes
		if err := joiners[worker].bucket(ctx, r.t.keys.part, r.part, k, used); err != nil {
			return err
		}
		b.progress("join "+r.t.Type, done.Add(n), int64(positions))
		return nil
	}); err != nil {
		return err
	}
	if err := found.Finish(); err != nil {
		return err
	}
	if r.resolved, err = extsort.NewScratch(b.fs, b.tmp, int64(positions)*int64(width), b.budget.spill()); err != nil {
		return err
	}
	b.later(r.resolved.Close)
	return b.each(ctx, int((positions+1<<shift-1)>>shift), func(worker, k int) error {
		first := uint64(k) << shift
		n := int(min(positions-first, 1<<shift))
		return joiners[worker].place(found, k, first, n)
	})
}

// joiner is the state of one worker of a join.
type joiner struct {
	r      *refs
	out    *extsort.Writer
	mask   uint64
	budget budget
	mem    []byte
	buf    []byte
}

func (j *joiner) close() {
	extsort.Free(j.mem)
	j.mem = nil
}

func (j *joiner) reserve(n int) (err error) {
	if len(j.mem) < n {
		extsort.Free(j.mem)
		j.mem, err = extsort.Slab(n)
	}
	return err
}

// bucket joins bucket b of keys and of references. The first used bits of their hashes are equal.
func (j *joiner) bucket(ctx context.Context, keys, refs *extsort.Partition, b, used int) error {
	if refs.Bytes(b) == 0 {
		return nil
	}
	n := int(keys.Bytes(b) / hashedBytes)
	size := bits.Len(uint(n + n/3 + 1))
	if int64(hashedBytes)<<size > j.budget.leaf() && used < 56 {
		return j.split(ctx, keys, refs, b, used)
	}
	if err := j.reserve(hashedBytes << size); err != nil {
		return err
	}
	slots := hashes(j.mem)[:1<<size]
	clear(slots)
	mask := uint64(1)<<size - 1
	// A slot holds its key's index + 1, so that an empty slot is 0.
	if err := keys.Scan(b, &j.buf, func(data []byte, _ bool) error {
		for _, k := range hashes(data) {
			row := k.rest & placeMask
			if d := j.r.t.dropped; d != nil && d.has(row) {
				continue
			}
			i := k.slot(size)
			for slots[i].rest&placeMask != 0 {
				i = (i + 1) & mask
			}
			slots[i] = hashed{k.hash, k.rest + 1}
		}
		return ctx.Err()
	}); err != nil {
		return err
	}
	err := refs.Scan(b, &j.buf, func(data []byte, _ bool) error {
		for _, k := range hashes(data) {
			id := uint64(noKey)
			for i := k.slot(size); slots[i].rest&placeMask != 0; i = (i + 1) & mask {
				if slots[i].same(k) {
					id = slots[i].rest&placeMask - 1
					break
				}
			}
			if id != noKey {
				id = j.r.t.id(id)
			}
			pos := k.rest & placeMask
			rec, err := j.out.Slot(pos, foundBytes)
			if err != nil {
				return err
			}
			binary.LittleEndian.PutUint64(rec, id<<foundShift|pos&j.mask)
		}
		return ctx.Err()
	})
	refs.Free(b)
	return err
}

// split cuts a bucket whose keys do not fit into the memory of a worker.
func (j *joiner) split(ctx context.Context, keys, refs *extsort.Partition, b, used int) error {
	const cut = 4
	j.close()
	k, err := subdivide(keys, b, used, cut, j.budget.leaf())
	if err != nil {
		return err
	}
	r, err := subdivide(refs, b, used, cut, j.budget.leaf())
	if err != nil {
		return err
	}
	refs.Free(b)
	for i := range 1 << cut {
		if err := j.bucket(ctx, k, r, i, used+cut); err != nil {
			return err
		}
		k.Free(i)
	}
	return nil
}

// place writes the ids of n positions from first on, which bucket b of found contains.
func (j *joiner) place(found *extsort.Partition, b int, first uint64, n int) error {
	width := idBytes(j.r.wide)
	if err := j.reserve(n * width); err != nil {
		return err
	}
	out := j.mem[:n*width]
	for i := range out {
		out[i] = 0xff
	}
	if err := found.Scan(b, &j.buf, func(data []byte, _ bool) error {
		for ; len(data) >= foundBytes; data = data[foundBytes:] {
			x := binary.LittleEndian.Uint64(data)
			id := x >> foundShift
			if id == noKey {
				id = dangling
			}
			putID(out, j.r.wide, int(x&j.mask), id)
		}
		return nil
	}); err != nil {
		return err
	}
	found.Free(b)
	return j.r.resolved.WriteAt(out, int64(first)*int64(width))
}

// read reads the looked-up ends of the rows from row on.
func (r *refs) read(row uint64, slot int, out []uint64, buf *[]byte) error {
	width := idBytes(r.wide)
	n := len(out) * int(r.stride) * width
	if cap(*buf) < n {
		*buf = make([]byte, n)
	}
	b := (*buf)[:n]
	if err := r.resolved.ReadAt(b, int64(row*r.stride)*int64(width)); err != nil {
		return err
	}
	for i := range out {
		v := getID(b, r.wide, i*int(r.stride)+slot)
		if !r.wide && v >= 1<<32-2 {
			v |= 0xffffffff << 32
		}
		out[i] = v
	}
	return nil
}
