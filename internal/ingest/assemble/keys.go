package assemble

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/tagged"
)

// Keys are distinguished by 88 bits of hash: the 64 bits of the id index, so that one partition serves both the join
// and the index, and 24 bits of a hash with a secret random seed, so that no input can be made to collide. Among n
// keys and m references, about n*m/2^88 references are taken for another key.
const (
	placeBits = 40 // bits of a row, position or id, next to the 24 bits of hash
	placeMask = 1<<placeBits - 1
)

// hashed is a record of a key or of a reference to one. hash is the hash of the id index. rest holds 24 more bits of
// hash above the row, position or type-wise id.
type hashed struct{ hash, rest uint64 }

// same says whether two records belong to the same key.
func (x hashed) same(y hashed) bool { return x.hash == y.hash && (x.rest^y.rest)>>placeBits == 0 }

func hashKey(key []byte, seed, place uint64) hashed {
	return hashed{store.HashID(key), xxh3.HashSeed(key, seed)<<placeBits | place}
}

// slot returns the first slot to try for a key in a table of 1 << n slots.
func (x hashed) slot(n int) uint64 {
	return (x.hash ^ x.rest>>placeBits*0x9e3779b97f4a7c15) * 0xd6e8feb86659fd93 >> (64 - n)
}

const hashedBytes = 16

func hashes(b []byte) []hashed {
	if len(b) == 0 {
		return nil
	}
	return unsafe.Slice((*hashed)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/hashedBytes)
}

func writeHashed(w *extsort.Writer, x hashed) error {
	rec, err := w.Slot(x.hash, hashedBytes)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(rec, x.hash)
	binary.LittleEndian.PutUint64(rec[8:], x.rest)
	return nil
}

// keys holds the keys of a node type, cut by hash. Their places are rows of the table, or type-wise ids if there is
// no table.
type keys struct{ part *extsort.Partition }

// hashBuckets chooses the buckets for about n keys.
func (b *builder) hashBuckets(t *nodeType, n int64) {
	if t.buckets == 0 {
		t.buckets, _ = geometry(n, 3*hashedBytes, b.budget.work/8, b.budget.threads)
	}
}

// byHash makes a partition of hashed records of a node type.
func (b *builder) byHash(t *nodeType, spill *extsort.Spill) *extsort.Partition {
	return extsort.NewPartition(spill, t.buckets, extentFor(t.buckets, b.budget.work/8, b.budget.threads), 64-uint(bits.Len(uint(t.buckets-1))))
}

func (b *builder) newKeys(t *nodeType, n int64) *keys {
	b.hashBuckets(t, n)
	return &keys{b.byHash(t, b.spill)}
}

// addKeys adds the keys of a chunk of a node table. The ids are its first column.
func (w *nodeWorker) addKeys(seed uint64, t *nodeType, c *table.Chunk) error {
	v := &c.Columns[0]
	for i := range c.Rows {
		if err := writeHashed(w.keys, hashKey(keyAt(t, v, i), seed, c.First+uint64(i))); err != nil {
			return err
		}
	}
	return nil
}

// keyAt returns the key in row i of a column of ids.
func keyAt(t *nodeType, v *table.Vector, i int) []byte {
	if t.Table != nil && t.ID.DType == graph.Uint64 {
		return v.Data[8*i : 8*i+8]
	}
	return text(v, i)
}

// indexTable finds the duplicates of a node table. It writes the index of the ids, unless edges can still add nodes.
func (b *builder) indexTable(ctx context.Context, t *nodeType) error {
	x := &indexer{builder: b, t: t, bad: newFirstRow()}
	write := !b.severalTypes() && b.opt.DanglingEdges != Zeros
	if b.opt.DuplicateNodes != Error {
		x.drop = true
		if err := x.run(ctx); err != nil {
			return err
		}
		if t.dropped != nil {
			t.dropped.rank()
			t.stats.Duplicates = t.dropped.count
			t.count -= t.dropped.count
		}
		if !write {
			return nil
		}
		x.drop = false
	}
	x.write = write
	if err := x.run(ctx); err != nil {
		return err
	}
	return x.bad.check(ctx)
}

// severalTypes says whether nodes of several types become one.
func (b *builder) severalTypes() bool { return b.opt.Homogeneous && len(b.types) > 1 }

// indexer visits the keys of a node type by hash.
type indexer struct {
	*builder
	t     *nodeType
	drop  bool // add duplicates to t.dropped
	write bool // write the index
	bad   *firstRow

	bits    int // bits of the hash that select a bucket of the index
	buckets *store.Array
	slots   *store.Array
	bTypes  graph.DType
	sTypes  graph.DType
	mu      sync.Mutex // guards t.dropped
}

func (x *indexer) run(ctx context.Context) (err error) {
	t, part := x.t, x.t.keys.part
	x.bits = store.BucketBits(int(t.count))
	if x.write {
		if err := x.create(); err != nil {
			return err
		}
	}
	// The place of a bucket's ids follows from the numbers of ids that the buckets before it keep.
	n := part.Buckets()
	bases := make([]uint64, n+1)
	if x.write && t.dropped != nil {
		kept := make([]uint64, n)
		if err := x.each(ctx, n, func(_, b int) error {
			var buf []byte
			return part.Scan(b, &buf, func(data []byte, _ bool) error {
				for _, k := range hashes(data) {
					if !t.dropped.has(k.rest & placeMask) {
						kept[b]++
					}
				}
				return nil
			})
		}); err != nil {
			return err
		}
		for b := range n {
			bases[b+1] = bases[b] + kept[b]
		}
	} else {
		for b := range n {
			bases[b+1] = bases[b] + uint64(part.Bytes(b)/hashedBytes)
		}
	}
	scratch := make([]leafIndex, x.budget.threads)
	defer func() {
		for i := range scratch {
			extsort.Free(scratch[i].mem)
		}
	}()
	if x.bits < bits.Len(uint(n-1)) { // few keys: fewer buckets of the index than of the partition
		err = scratch[0].leaf(x, part, 0, n, 0, x.bits, 0)
	} else {
		err = x.each(ctx, n, func(worker, b int) error {
			width := x.bits - bits.Len(uint(n-1))
			return scratch[worker].part(ctx, x, part, b, uint64(b)<<width, width, bases[b])
		})
	}
	if err != nil || !x.write {
		return err
	}
	return x.last()
}

// create begins the index.
func (x *indexer) create() (err error) {
	dir, m := x.place(x.t)
	m.Arrays = map[string]string{"id_buckets": dir + "/id_buckets.npy", "id_slots": dir + "/id_slots.npy"}
	x.bTypes, x.sTypes = indexType(x.t.count+1), indexType(x.t.count)
	if x.buckets, err = x.sized(m.Arrays["id_buckets"], 1<<x.bits+1, x.bTypes); err != nil {
		return err
	}
	x.slots, err = x.sized(m.Arrays["id_slots"], x.t.count, x.sTypes)
	return err
}

// last ends the index.
func (x *indexer) last() error {
	var last [8]byte
	put64(last[:], x.t.count)
	w := x.bTypes.Size()
	if _, err := x.buckets.WriteAt(last[:w], int64(w)<<x.bits); err != nil {
		return err
	}
	return errors.Join(x.closeArray(x.buckets), x.closeArray(x.slots))
}

// each calls fn for the numbers below n. Each worker gets its numbers in ascending order.
func (b *builder) each(ctx context.Context, n int, fn func(worker, i int) error) error {
	var next atomic.Int64
	return parallel(ctx, b.budget.threads, func(ctx context.Context, worker int) error {
		for {
			i := int(next.Add(1) - 1)
			if i >= n {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := fn(worker, i); err != nil {
				return err
			}
		}
	})
}

// leafIndex is the state of one worker.
type leafIndex struct{ mem []byte }

// part indexes bucket b, which covers the index buckets lo..lo+1<<width. It cuts the bucket if it is too large.
func (s *leafIndex) part(ctx context.Context, x *indexer, p *extsort.Partition, b int, lo uint64, width int, base uint64) error {
	cost := p.Bytes(b)*2 + 8<<width
	if cost <= x.budget.leaf() || width == 0 {
		if cost > 2*x.budget.leaf()+1<<20 {
			return tagged.Errorf(errMemory, "node type %s: found %d rows with the same id, expected at most as many as memory can hold; give `Memory` %dMiB or more", x.t.Type, p.Bytes(b)/hashedBytes, cost*int64(x.budget.threads)*2>>20+1)
		}
		return s.leaf(x, p, b, b+1, lo, width, base)
	}
	cut := min(6, width)
	sub, err := subdivide(p, b, x.bits-width, cut, x.budget.leaf()/2)
	if err != nil {
		return err
	}
	for i := range sub.Buckets() {
		if err := ctx.Err(); err != nil {
			return err
		}
		w := width - cut
		if err := s.part(ctx, x, sub, i, lo+uint64(i)<<w, w, base); err != nil {
			return err
		}
		if !x.write || x.t.dropped == nil {
			base += uint64(sub.Bytes(i) / hashedBytes)
			sub.Free(i)
			continue
		}
		var buf []byte
		if err := sub.Scan(i, &buf, func(data []byte, _ bool) error {
			for _, k := range hashes(data) {
				if !x.t.dropped.has(k.rest & placeMask) {
					base++
				}
			}
			return nil
		}); err != nil {
			return err
		}
		sub.Free(i)
	}
	return nil
}

// subdivide cuts bucket b of hashed records by the next cut bits of the hash. The first used bits are equal.
func subdivide(p *extsort.Partition, b, used, cut int, memory int64) (*extsort.Partition, error) {
	sub := extsort.NewPartition(p.Spill(), 1<<cut, extentFor(1<<cut, memory, 1), uint(64-cut))
	defer sub.Close()
	w, err := sub.Writer()
	if err != nil {
		return nil, err
	}
	var buf []byte
	if err := p.Scan(b, &buf, func(data []byte, first bool) error {
		for _, x := range hashes(data) {
			rec, err := w.Slot(x.hash<<used, hashedBytes)
			if err != nil {
				return err
			}
			binary.LittleEndian.PutUint64(rec, x.hash)
			binary.LittleEndian.PutUint64(rec[8:], x.rest)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	return sub, sub.Finish()
}

// leaf indexes buckets from..to in memory.
func (s *leafIndex) leaf(x *indexer, p *extsort.Partition, from, to int, lo uint64, width int, base uint64) error {
	var size int64
	for b := from; b < to; b++ {
		size += p.Bytes(b)
	}
	n := int(size / hashedBytes)
	need := 2*size + int64(8)<<width + 4096
	if int64(len(s.mem)) < need {
		extsort.Free(s.mem)
		var err error
		if s.mem, err = extsort.Slab(int(need + need/4)); err != nil {
			return err
		}
	}
	loaded, rest := s.mem[:size], s.mem[size:]
	sorted, rest := rest[:size], rest[size:]
	ends := graph.View[uint32](rest[:4<<width])
	out := rest[4<<width:]
	at := int64(0)
	for b := from; b < to; b++ {
		if _, err := p.Load(b, loaded[at:at+p.Bytes(b)]); err != nil {
			return err
		}
		at += p.Bytes(b)
	}
	recs, list := hashes(loaded), hashes(sorted)
	if x.write && x.t.dropped != nil { // otherwise other workers may be adding rows
		recs = slices.DeleteFunc(recs, func(k hashed) bool { return x.t.dropped.has(k.rest & placeMask) })
		n = len(recs)
	}
	clear(ends)
	for _, k := range recs {
		ends[store.Bucket(k.hash, x.bits)-lo]++
	}
	sum := uint32(0)
	for i, c := range ends {
		ends[i] = sum
		sum += c
	}
	for _, k := range recs {
		b := store.Bucket(k.hash, x.bits) - lo
		list[ends[b]] = k
		ends[b]++
	}
	start := uint32(0)
	for _, end := range ends {
		if end-start > 1 {
			x.sortBucket(list[start:end])
		}
		start = end
	}
	if !x.write {
		return nil
	}
	wide := x.sTypes == graph.Uint64
	ids := loaded[:n*idBytes(wide)] // the records are no longer needed
	for i, k := range list[:n] {
		putID(ids, wide, i, x.t.id(k.rest&placeMask))
	}
	if _, err := x.slots.WriteAt(ids, int64(base)*int64(idBytes(wide))); err != nil {
		return err
	}
	wide = x.bTypes == graph.Uint64
	batch, at := 0, int64(lo)*int64(idBytes(wide))
	start = 0
	limit := len(out) / idBytes(wide)
	for i, end := range ends {
		putID(out, wide, batch, base+uint64(start))
		start = end
		if batch++; batch == limit || i == len(ends)-1 {
			b := out[:batch*idBytes(wide)]
			if _, err := x.buckets.WriteAt(b, at); err != nil {
				return err
			}
			at += int64(len(b))
			batch = 0
		}
	}
	return nil
}

// sortBucket finds the duplicates in an index bucket and sorts it by row.
func (x *indexer) sortBucket(list []hashed) {
	if len(list) > 8 {
		slices.SortFunc(list, func(a, b hashed) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.rest, b.rest)) })
		first := list[0]
		for _, k := range list[1:] {
			if !k.same(first) {
				first = k
				continue
			}
			x.duplicate(first.rest&placeMask, k.rest&placeMask)
		}
	}
	slices.SortFunc(list, func(a, b hashed) int { return cmp.Compare(a.rest&placeMask, b.rest&placeMask) })
	if len(list) > 8 {
		return
	}
	for i, k := range list {
		if j := slices.IndexFunc(list[:i], k.same); j >= 0 {
			x.duplicate(list[j].rest&placeMask, k.rest&placeMask)
		}
	}
}

// duplicate reports that row has the same id as the row first.
func (x *indexer) duplicate(first, row uint64) {
	t := x.t
	if x.drop {
		x.mu.Lock()
		defer x.mu.Unlock()
		if t.dropped == nil {
			t.dropped = newBitmap(t.stats.Rows)
		}
		t.dropped.add(row)
		return
	}
	if x.bad.past(row) {
		return
	}
	x.bad.report(row, func(ctx context.Context) error {
		id, err := x.text(ctx, t.Table, t.ID, row)
		if err != nil {
			return err
		}
		other, err := x.text(ctx, t.Table, t.ID, first)
		if err != nil {
			return err
		}
		if id != other {
			return fmt.Errorf("%s: %w", t.Table.Where(row, t.ID.Name), errCollision)
		}
		return fmt.Errorf("%s: found id %s again, first at %s, expected each id once; remove a row, or give `DuplicateNodes` drop to keep the first", t.Table.Where(row, t.ID.Name), id, t.Table.Where(first, t.ID.Name))
	})
}

// errCollision says that two keys have the same 88 bits of hash. Another random seed helps.
var errCollision = errors.New("found two ids with the same hash, expected none in 10^13 runs; run it again, which uses another random seed")
