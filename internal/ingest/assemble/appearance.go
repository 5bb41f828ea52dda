package assemble

import (
	"context"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/extsort"
)

// ends is a part with ends that are keys of a type without a table. The ends of its rows have the appearances base,
// base + 1, and so on: two per row, source first.
type ends struct {
	p    *part
	refs *refs
	base uint64
	keys *extsort.Partition // cut by hash
}

// appearance returns the appearance of the end at a position of refs.
func (x *ends) appearance(pos uint64) uint64 {
	if x.refs == nil {
		return inTable
	}
	if x.refs.stride == 2 {
		return x.base + pos
	}
	if x.p.src.refs == x.refs {
		return x.base + 2*pos
	}
	return x.base + 2*pos + 1
}

// inTable is the appearance of the keys of a node table. It precedes the appearances of all ends.
const inTable = 0

// firstSeen is a key and its first appearance.
type firstSeen struct{ at, hash, rest uint64 }

const firstSeenBytes = 24

// numberByAppearance numbers the keys of types without a table in the order of their first appearance. With Zeros as
// Options.DanglingEdges it numbers the keys that tables lack in the same way.
func (b *builder) numberByAppearance(ctx context.Context) error {
	for _, t := range b.types {
		if !b.appears(t) {
			continue
		}
		if err := b.stage("numbering", t.Type, func() (uint64, error) { return b.number(ctx, t) }); err != nil {
			return err
		}
	}
	return nil
}

// appears says whether keys of a type are numbered by their appearance.
func (b *builder) appears(t *nodeType) bool {
	return t.keyed && (t.Table == nil || b.opt.DanglingEdges == Zeros)
}

func (b *builder) number(ctx context.Context, t *nodeType) (uint64, error) {
	var list []ends
	var estimate, total uint64
	for _, p := range b.parts {
		if p.src.t == t || p.dst.t == t {
			estimate += p.estimate()
		}
	}
	if t.Table == nil {
		b.hashBuckets(t, int64(estimate/4))
	} else {
		list = append(list, ends{keys: t.keys.part})
		total = inTable + 1
	}
	for _, p := range b.parts {
		if p.src.t != t && p.dst.t != t {
			continue
		}
		if err := b.scanKeys(ctx, p, b.budget.work/16/int64(len(b.parts))); err != nil {
			return 0, err
		}
		for _, r := range p.refs {
			if r.t == t {
				list = append(list, ends{p, r, total, r.part})
			}
		}
		total += 2 * p.rows
	}
	n := &numberer{builder: b, t: t, list: list}
	t.known = true
	return total, n.run(ctx, total)
}

// numberer numbers the keys of one type.
type numberer struct {
	*builder
	t     *nodeType
	list  []ends
	first *extsort.Scratch // first appearance of each numbered key
	rows  uint64           // rows of the table; the numbers begin after them
	count uint64           // number of keys that were numbered
}

func (n *numberer) run(ctx context.Context, total uint64) (err error) {
	// 1. Find the first appearance of each key, by hash, and cut the keys by appearance.
	spill := extsort.NewSpill(n.fs, n.tmp, n.budget.spill())
	defer func() { err = joinErr(err, spill.Close()) }()
	buckets, extent := geometry(int64(total), firstSeenBytes, n.budget.work/8, n.budget.threads)
	shift := max(0, bits.Len64(max(total, 1)-1)-bits.Len(uint(buckets-1)))
	firsts := extsort.NewPartition(spill, buckets, extent, uint(shift))
	defer firsts.Close()
	workers := make([]distinct, n.budget.threads)
	for i := range workers {
		workers[i] = distinct{n: n}
		if workers[i].out, err = firsts.Writer(); err != nil {
			return err
		}
		defer workers[i].close()
	}
	used := bits.Len(uint(n.t.buckets - 1))
	if err := n.each(ctx, n.t.buckets, func(worker, k int) error {
		sources := make([]*extsort.Partition, len(n.list))
		for i, x := range n.list {
			sources[i] = x.keys
		}
		return workers[worker].bucket(ctx, sources, k, used)
	}); err != nil {
		return err
	}
	if err := firsts.Finish(); err != nil {
		return err
	}
	for i := range workers {
		workers[i].close()
	}
	// 2. The rank of a key among the appearances is its id.
	n.count = uint64(firsts.Total() / firstSeenBytes)
	n.t.count += n.count
	if n.t.Table != nil {
		if n.count == 0 {
			return n.finish(ctx)
		}
		n.rows, n.t.texts, n.t.stats.Added = n.t.stats.Rows, n.texts, n.count
	}
	table := n.t.keys
	n.t.keys = n.newKeys(n.t, 0)
	defer n.t.keys.part.Close()
	if n.first, err = extsort.NewScratch(n.fs, n.tmp, int64(n.count)*8, n.budget.spill()); err != nil {
		return err
	}
	n.later(n.first.Close)
	bases := make([]uint64, buckets+1)
	for k := range buckets {
		bases[k+1] = bases[k] + uint64(firsts.Bytes(k)/firstSeenBytes)
	}
	out := make([]*extsort.Writer, n.budget.threads)
	for i := range out {
		if out[i], err = n.t.keys.part.Writer(); err != nil {
			return err
		}
	}
	if err := n.each(ctx, buckets, func(worker, k int) error {
		return n.rank(ctx, firsts, k, uint64(k)<<shift, shift, bases[k], out[worker])
	}); err != nil {
		return err
	}
	if table != nil {
		if err := n.copy(ctx, table.part, out); err != nil {
			return err
		}
	}
	if err := n.t.keys.part.Finish(); err != nil {
		return err
	}
	return n.finish(ctx)
}

// copy adds the keys of the table to the numbered keys.
func (n *numberer) copy(ctx context.Context, from *extsort.Partition, out []*extsort.Writer) error {
	return n.each(ctx, from.Buckets(), func(worker, k int) error {
		var buf []byte
		err := from.Scan(k, &buf, func(data []byte, _ bool) error {
			for _, x := range hashes(data) {
				if err := writeHashed(out[worker], x); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
		from.Free(k)
		return err
	})
}

// finish writes the index, and the ids if no table has them.
func (n *numberer) finish(ctx context.Context) error {
	if n.severalTypes() {
		return nil
	}
	x := &indexer{builder: n.builder, t: n.t, write: true, bad: newFirstRow()}
	if err := x.run(ctx); err != nil {
		return err
	}
	if n.t.Table == nil {
		n.t.texts = n.texts
		return n.builder.writeIDs(ctx, n.t)
	}
	if n.opt.Homogeneous {
		return nil
	}
	return n.addNodes(ctx, n.t)
}

// addNodes writes the nodes that edges add to a table, and completes the columns of the type.
func (b *builder) addNodes(ctx context.Context, t *nodeType) error {
	if err := t.sink.add(ctx, t); err != nil {
		return err
	}
	m := b.nodesMeta(t.Type)
	m.Added = int(t.stats.Added)
	return t.sink.close(m)
}

// rank numbers the keys of bucket b, whose appearances are in lo..lo+1<<width.
func (n *numberer) rank(ctx context.Context, p *extsort.Partition, b int, lo uint64, width int, base uint64, out *extsort.Writer) error {
	size := p.Bytes(b)
	if size == 0 {
		return nil
	}
	if size*4/3+1<<20 > n.budget.leaf() && width > 0 {
		cut := min(6, width)
		sub := extsort.NewPartition(p.Spill(), 1<<cut, extentFor(1<<cut, n.budget.leaf()/2, 1), uint(width-cut))
		defer sub.Close()
		w, err := sub.Writer()
		if err != nil {
			return err
		}
		var buf []byte
		if err := p.Scan(b, &buf, func(data []byte, _ bool) error {
			for ; len(data) > 0; data = data[firstSeenBytes:] {
				rec, err := w.Slot(binary.LittleEndian.Uint64(data)-lo, firstSeenBytes)
				if err != nil {
					return err
				}
				copy(rec, data[:firstSeenBytes])
			}
			return ctx.Err()
		}); err != nil {
			return err
		}
		p.Free(b)
		if err := sub.Finish(); err != nil {
			return err
		}
		for i := range sub.Buckets() {
			size := sub.Bytes(i)
			if err := n.rank(ctx, sub, i, lo+uint64(i)<<(width-cut), width-cut, base, out); err != nil {
				return err
			}
			base += uint64(size / firstSeenBytes)
		}
		return nil
	}
	mem, err := extsort.Slab(int(size + size/3))
	if err != nil {
		return err
	}
	defer extsort.Free(mem)
	if _, err := p.Load(b, mem[:size]); err != nil {
		return err
	}
	p.Free(b)
	list := view24(mem[:size])
	slices.SortFunc(list, func(x, y firstSeen) int {
		if x.at < y.at {
			return -1
		}
		return 1
	})
	first := graph.View[uint64](mem[size:])[:len(list)]
	for i, x := range list {
		first[i] = x.at
		if err := writeHashed(out, hashed{x.hash, x.rest&^placeMask | (n.rows + base + uint64(i))}); err != nil {
			return err
		}
	}
	return n.first.WriteAt(graph.Bytes(first), int64(base)*8)
}

// distinct finds the distinct keys of buckets of references.
type distinct struct {
	n     *numberer
	out   *extsort.Writer
	mem   []byte
	buf   []byte
	slots []firstSeen // at is the appearance + 1
	count int
}

func (d *distinct) close() {
	extsort.Free(d.mem)
	d.mem, d.slots = nil, nil
}

// bucket finds the distinct keys of bucket b of all sources.
func (d *distinct) bucket(ctx context.Context, sources []*extsort.Partition, b, used int) error {
	if len(d.slots) == 0 {
		if err := d.resize(12); err != nil {
			return err
		}
	}
	clear(d.slots)
	d.count = 0
	for i, p := range sources {
		x := &d.n.list[i]
		full := false
		if err := p.Scan(b, &d.buf, func(data []byte, _ bool) error {
			for _, k := range hashes(data) {
				if d.count*4 > len(d.slots)*3 && !full {
					// While the table grows, the old one and the new one are in memory.
					if int64(len(d.slots))*3*firstSeenBytes > d.n.budget.leaf() && used < 56 {
						full = true
						return nil
					}
					if err := d.resize(bits.Len(uint(len(d.slots)))); err != nil {
						return err
					}
				}
				if !full {
					d.add(k, x.appearance(k.rest&placeMask)+1)
				}
			}
			return ctx.Err()
		}); err != nil {
			return err
		}
		if full {
			return d.split(ctx, sources, b, used)
		}
	}
	for _, s := range d.slots {
		if s.at == 0 || s.at == inTable+1 && d.n.t.Table != nil {
			continue
		}
		rec, err := d.out.Slot(s.at-1, firstSeenBytes)
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint64(rec, s.at-1)
		binary.LittleEndian.PutUint64(rec[8:], s.hash)
		binary.LittleEndian.PutUint64(rec[16:], s.rest)
	}
	return nil
}

// add enters a key, or an earlier appearance of a key that is in the table.
func (d *distinct) add(k hashed, at uint64) {
	mask := uint64(len(d.slots) - 1)
	for i := k.slot(bits.Len(uint(mask))); ; i = (i + 1) & mask {
		s := &d.slots[i]
		if s.at == 0 {
			*s = firstSeen{at, k.hash, k.rest}
			d.count++
			return
		}
		if s.hash == k.hash && (s.rest^k.rest)>>placeBits == 0 {
			s.at = min(s.at, at)
			return
		}
	}
}

// resize makes a table of 1 << n slots with the content of the old one.
func (d *distinct) resize(n int) error {
	mem, err := extsort.Slab(firstSeenBytes << n)
	if err != nil {
		return err
	}
	old, oldMem := d.slots, d.mem
	d.mem, d.slots, d.count = mem, view24(mem), 0
	for _, s := range old {
		if s.at > 0 {
			d.add(hashed{s.hash, s.rest}, s.at)
		}
	}
	extsort.Free(oldMem)
	return nil
}

func (d *distinct) split(ctx context.Context, sources []*extsort.Partition, b, used int) error {
	const cut = 4
	d.close()
	subs := make([]*extsort.Partition, len(sources))
	for i, p := range sources {
		var err error
		if subs[i], err = subdivide(p, b, used, cut, d.n.budget.leaf()); err != nil {
			return err
		}
	}
	for i := range 1 << cut {
		if err := d.bucket(ctx, subs, i, used+cut); err != nil {
			return err
		}
		for _, p := range subs {
			p.Free(i)
		}
	}
	return nil
}
