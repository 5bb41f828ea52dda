package assemble

import (
	"context"
	"math/bits"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// lookup holds all keys of a node table in memory, so that the ends of edges are found while they are read, without a
// join. Keys are in lists by the first bits of their hash.
type lookup struct {
	mem    []byte
	starts []uint32 // start of each list, and the end of the last one
	keys   []hashed // places are type-wise ids
	shift  uint
}

// lookupBatch is the number of keys that are looked up together, so that many loads from memory run at once.
const lookupBatch = 512

func lookupBits(n int64, used int) int { return max(bits.Len64(uint64(n))-2, used) }

func (t *nodeType) lookupBytes() int64 {
	n := t.keys.part.Total() / hashedBytes
	return n*hashedBytes + int64(4)<<lookupBits(n, bits.Len(uint(t.buckets-1))) + 64
}

// lookUp makes lookups of the keys that the edges of a group name, if they fit into the memory that is not needed
// while edges are read.
func (g *group) lookUp(ctx context.Context) error {
	var types []*nodeType
	var memory int64
	for _, p := range g.parts {
		for _, e := range []end{p.src, p.dst} {
			if !e.isKeyed() {
				continue
			}
			if p.scanned || e.t.keys.part.Total()/hashedBytes > int64(4*p.estimate()) {
				return nil // the keys of the edges are scanned already, or are few
			}
			if !slices.Contains(types, e.t) {
				types = append(types, e.t)
				memory += e.t.lookupBytes()
			}
		}
	}
	if memory > g.budget.work*3/8 {
		return nil
	}
	for _, t := range types {
		t.lookup = &lookup{}
		if err := g.stage("lookup", t.Type, func() (uint64, error) { return t.count, g.newLookup(ctx, t) }); err != nil {
			return err
		}
	}
	return nil
}

// forget frees the lookups.
func (b *builder) forget() {
	for _, t := range b.types {
		if t.lookup != nil {
			extsort.Free(t.lookup.mem)
			t.lookup = nil
		}
	}
}

func (b *builder) newLookup(ctx context.Context, t *nodeType) (err error) {
	l, part := t.lookup, t.keys.part
	n := part.Total() / hashedBytes
	used := bits.Len(uint(t.buckets - 1))
	size := lookupBits(n, used)
	if l.mem, err = extsort.Slab(int(t.lookupBytes())); err != nil {
		return err
	}
	l.shift = 64 - uint(size)
	l.keys = hashes(l.mem[:n*hashedBytes])
	l.starts = graph.View[uint32](l.mem[n*hashedBytes:])[:1<<size+1]
	bases := make([]uint32, t.buckets+1)
	for k := range t.buckets {
		bases[k+1] = bases[k] + uint32(part.Bytes(k)/hashedBytes)
	}
	width := 1 << (size - used)
	bufs := make([][]byte, b.budget.threads)
	return b.each(ctx, t.buckets, func(worker, k int) error {
		ends := l.starts[k*width+1:][:width]
		if err := part.Scan(k, &bufs[worker], func(data []byte, _ bool) error {
			for _, x := range hashes(data) {
				ends[int(x.hash>>l.shift)-k*width]++
			}
			return ctx.Err()
		}); err != nil {
			return err
		}
		at := bases[k]
		for i, c := range ends {
			ends[i] = at
			at += c
		}
		return part.Scan(k, &bufs[worker], func(data []byte, _ bool) error {
			for _, x := range hashes(data) {
				i := int(x.hash>>l.shift) - k*width
				id := t.id(x.rest & placeMask)
				if id == leftOut { // the list also has the row that is kept
					l.keys[ends[i]] = hashed{^x.hash, ^uint64(0)}
				} else {
					l.keys[ends[i]] = hashed{x.hash, x.rest&^placeMask | id}
				}
				ends[i]++
			}
			return ctx.Err()
		})
	})
}

// find looks up the keys of rows of a column, from the given row on. The result touched has no meaning; it only keeps
// the compiler from removing the loads that bring the lists into the cache.
func (l *lookup) find(t *nodeType, seed uint64, v *table.Vector, from int, out []uint64) (touched uint64) {
	var batch [lookupBatch]hashed
	for len(out) > 0 {
		ids := out[:min(len(out), lookupBatch)]
		for i := range ids {
			batch[i] = hashKey(keyAt(t, v, from+i), seed, 0)
		}
		// Starts and lists are loaded in loops whose iterations do not depend on each other, so that many loads run
		// at once.
		for i := range ids {
			ids[i] = uint64(l.starts[batch[i].hash>>l.shift])
		}
		for _, at := range ids {
			if at+2 < uint64(len(l.keys)) { // a list of usual length is in two cache lines
				touched |= l.keys[at].hash | l.keys[at+2].hash
			}
		}
		for i, at := range ids {
			x := batch[i]
			id := dangling
			for _, k := range l.keys[at:l.starts[x.hash>>l.shift+1]] {
				if k.same(x) {
					id = k.rest & placeMask
					break
				}
			}
			ids[i] = id
		}
		out, from = out[len(ids):], from+len(ids)
	}
	return touched
}
