package outofcore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/graphmill/graphmill/internal/extsort"
	"github.com/graphmill/graphmill/internal/partition/tally"
	"github.com/graphmill/graphmill/internal/partition/undirected"
)

const (
	// recordBytes is a record of the sort: a cluster, a cluster of its neighbours, and the weight of the edges between them.
	recordBytes = 12
	// The buffers before the buckets take a share of Memory within these bounds. More of them make longer extents.
	leastBuffers, mostBuffers = 2 << 20, 64 << 20
	mostBuckets               = 128
	// leastBucket is the number of neighbours of a bucket below which it is not worth its cost.
	leastBucket = 4096
	// leastRoom is the memory for the records of a bucket that are sorted at once.
	leastRoom = 4 << 20
)

// contraction makes a level from the clusters of the level below.
type contraction struct {
	*run
	l       *level
	k       *clusters
	buckets int
	first   []uint32 // the first cluster of each bucket, then the number of clusters
	hold    int64    // bytes of records in memory
	spill   *extsort.Spill
	cuts    *extsort.Partition
	next    *level
}

// contract makes the level whose nodes are the clusters k of l. It writes the map of the nodes to a temporary file, and
// releases the labels.
func (r *run) contract(ctx context.Context, l *level, k *clusters) (_ *level, err error) {
	c := &contraction{run: r, l: l, k: k}
	c.divide(k.renumber())
	c.next = &level{number: l.number + 1, constraints: l.constraints, totals: l.totals}
	end, err := c.sortCut(ctx)
	defer func() { err = errors.Join(err, end()) }()
	if err != nil {
		return nil, err
	}
	if l.coarse, err = r.write(k.label); err != nil {
		return nil, err
	}
	k.close()
	if c.next.g, err = c.rows(ctx); err != nil {
		return nil, err
	}
	r.stats.Written += c.next.g.Bytes()
	if c.next.weights, err = takeZeros[uint32](k.count * l.constraints); err == nil {
		r.stats.Read += 4 * int64(l.g.Len())
		err = l.coarse.each(ctx, func(v int, to uint32) {
			for i := range l.constraints {
				c.next.weights[int(to)*l.constraints+i] += uint32(l.weight(uint32(v), i))
			}
		})
	}
	if err != nil {
		free(c.next.weights)
		return nil, errors.Join(err, c.next.g.Close())
	}
	return c.next, nil
}

// sortCut cuts the edges into buckets. The caller calls end when it has made the rows, also after an error.
func (c *contraction) sortCut(ctx context.Context) (end func() error, err error) {
	buffers := min(max(c.Memory/16, leastBuffers), mostBuffers)
	c.hold = max(0, c.Memory-c.weights()-nodeBytes(int64(c.l.g.Len()), c.l.constraints)-bufferBytes-buffers)
	c.spill = extsort.NewSpill(c.FS, c.Temp, c.hold)
	c.cuts = extsort.NewPartition(c.spill, c.buckets, int(buffers)/mostBuckets, 0)
	end = func() error {
		c.cuts.Close()
		return c.spill.Close()
	}
	return end, c.cut(ctx)
}

// Contract makes the graph of the clusters of g, without their weights: coarse has the number of the cluster of each node, below count.
func Contract(ctx context.Context, g *undirected.Spilled, coarse []uint32, count int, o Options) (_ *undirected.Spilled, err error) {
	l := &level{g: g, constraints: 1}
	r := &run{Options: o, levels: []*level{l}, sums: tally.New(g.Len())}
	k := &clusters{l: l, label: coarse, count: count, entries: make([]uint64, granules)}
	for count>>k.granule >= granules {
		k.granule++
	}
	if err := g.Degrees(ctx, func(first uint32, ends []uint32) error {
		for i := range len(ends) - 1 {
			k.entries[coarse[int(first)+i]>>k.granule] += uint64(ends[i+1] - ends[i])
		}
		return nil
	}); err != nil {
		return nil, err
	}
	starts := make([]uint32, granules+1)
	for i := range starts {
		starts[i] = uint32(min(i<<k.granule, count))
	}
	c := &contraction{run: r, l: l, k: k}
	c.divide(starts)
	end, err := c.sortCut(ctx)
	defer func() { err = errors.Join(err, end()) }()
	if err != nil {
		return nil, err
	}
	return c.rows(ctx)
}

// Load reads a graph into memory, which Free releases.
func Load(ctx context.Context, g *undirected.Spilled, o Options) (*undirected.Graph, error) {
	constraints, weights := g.NodeWeights()
	r := &run{Options: o}
	return r.load(ctx, &level{g: g, constraints: constraints, weights: weights})
}

// Free releases the rows of a graph of Load.
func Free(g *undirected.Graph) {
	free(g.Offsets)
	free(g.Neighbours)
	free(g.EdgeWeights)
}

// divide makes buckets, ranges of clusters that have about equally many neighbours. starts has the first cluster of each
// granule.
func (c *contraction) divide(starts []uint32) {
	var total, before uint64
	for _, n := range c.k.entries {
		total += n
	}
	for c.buckets = 1; c.buckets < mostBuckets && total/uint64(c.buckets) > leastBucket; {
		c.buckets *= 2
	}
	c.first = []uint32{0}
	for i, n := range c.k.entries {
		for uint64(len(c.first))*total <= before*uint64(c.buckets) && len(c.first) < c.buckets && before > 0 {
			c.first = append(c.first, starts[i])
		}
		before += n
	}
	for len(c.first) <= c.buckets {
		c.first = append(c.first, uint32(c.k.count))
	}
}

// cut adds up each row by cluster and stores the sums in the buckets of the row's own cluster.
func (c *contraction) cut(ctx context.Context) error {
	w, err := c.cuts.Writer()
	if err != nil {
		return err
	}
	label := c.k.label
	s := c.sums
	store := func(bucket uint64, own uint32) error {
		for _, slot := range s.Slots {
			r := w.Fast(bucket, recordBytes)
			if r == nil {
				var err error
				if r, err = w.Slot(bucket, recordBytes); err != nil {
					return err
				}
			}
			binary.LittleEndian.PutUint32(r, own)
			binary.LittleEndian.PutUint32(r[4:], s.Keys[slot])
			binary.LittleEndian.PutUint32(r[8:], saturated(s.Sums[slot]))
		}
		c.stats.Written += recordBytes * int64(len(s.Slots))
		return nil
	}
	err = c.pass(ctx, c.l, "contract", func(b *undirected.Block) error {
		for i := range b.Len() {
			own := label[b.First+uint32(i)]
			bucket := uint64(sort.Search(c.buckets-1, func(i int) bool { return c.first[i+1] > own }))
			from, to := b.Row(i)
			s.Reset(int(to - from))
			for j := from; j < to; j++ {
				other, weight := label[b.Neighbours[j]], uint32(1)
				if other == own {
					continue
				}
				if b.EdgeWeights != nil {
					weight = b.EdgeWeights[j]
				}
				if s.Add(other, weight) {
					continue
				}
				if err := store(bucket, own); err != nil {
					return err
				}
				s.Reset(int(to - j))
				s.Add(other, weight)
			}
			if err := store(bucket, own); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.cuts.Finish()
}

// rows makes the rows of the next level, bucket by bucket.
func (c *contraction) rows(ctx context.Context) (_ *undirected.Spilled, err error) {
	m := &rowMaker{contraction: c}
	defer m.close()
	if m.sum, err = takeZeros[uint32](c.k.count); err != nil {
		return nil, err
	}
	room := max(leastRoom, c.Memory-c.weights()-c.hold-bufferBytes-4*int64(c.k.count))
	if m.most = c.atOnce; m.most == 0 {
		m.most = room / 8
	}
	if m.out, err = undirected.NewSpillWriter(c.FS, c.Temp, true); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.out.Close()) }()
	done := c.begin(fmt.Sprintf("level %d, sort", c.l.number+1), c.cuts.Total(), "bytes")
	for b := range c.buckets {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := c.cuts.Bytes(b)
		if err := m.bucket(b); err != nil {
			return nil, err
		}
		c.cuts.Free(b)
		done(n)
	}
	return m.out.Done()
}

// rowMaker makes rows from records.
type rowMaker struct {
	*contraction
	out *undirected.SpillWriter
	// sum has the sum of weights by neighbour, of the row at hand; touched lists the neighbours whose sum is not 0.
	sum        []uint32
	touched    []uint32
	weights    []uint32
	most       int64 // records that are sorted at once
	ends       []uint64
	neighbours []uint64 // a neighbour and a weight each
	buffer     []byte
}

func (m *rowMaker) close() {
	free(m.sum)
	free(m.neighbours)
	m.sum, m.neighbours = nil, nil
}

// bucket makes the rows of a bucket. It reads the records once to count the records of each row, and then once for each run of rows
// whose records fit the room. The records of a row that does not fit alone are added up as they come.
func (m *rowMaker) bucket(b int) error {
	from, to := m.first[b], m.first[b+1]
	m.ends = slices.Grow(m.ends[:0], int(to-from))[:to-from]
	clear(m.ends)
	if err := m.each(b, func(own, _, _ uint32) { m.ends[own-from]++ }); err != nil {
		return err
	}
	for from < to {
		counts := m.ends[len(m.ends)-int(to-from):]
		n, records := 0, int64(0)
		for n < len(counts) && (n == 0 || records+int64(counts[n]) <= m.most) {
			records += int64(counts[n])
			n++
		}
		var err error
		if records > m.most {
			err = m.long(b, from)
		} else {
			err = m.sorted(b, from, counts[:n], int(records))
		}
		if err != nil {
			return err
		}
		from += uint32(n)
	}
	return nil
}

// each calls fn for the records of a bucket.
func (m *rowMaker) each(b int, fn func(own, other, weight uint32)) error {
	return m.cuts.Scan(b, &m.buffer, func(data []byte, _ bool) error {
		m.stats.Read += int64(len(data))
		for ; len(data) >= recordBytes; data = data[recordBytes:] {
			fn(binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:]), binary.LittleEndian.Uint32(data[8:]))
		}
		return nil
	})
}

// sorted makes the rows of the clusters from on, one for each count of records, by a counting sort.
func (m *rowMaker) sorted(b int, from uint32, counts []uint64, records int) (err error) {
	if len(m.neighbours) < records {
		free(m.neighbours)
		m.neighbours = nil
		if m.neighbours, err = takeZeros[uint64](int(min(m.most, int64(records+records/4)))); err != nil {
			return err
		}
	}
	at := uint64(0)
	for i, n := range counts {
		counts[i] = at
		at += n
	}
	if err := m.each(b, func(own, other, weight uint32) {
		// Clusters below from wrap around.
		if i := own - from; uint64(i) < uint64(len(counts)) {
			m.neighbours[counts[i]] = uint64(other)<<32 | uint64(weight)
			counts[i]++
		}
	}); err != nil {
		return err
	}
	at = 0
	for _, end := range counts {
		for _, x := range m.neighbours[at:end] {
			m.add(uint32(x>>32), uint32(x))
		}
		at = end
		if err := m.flush(); err != nil {
			return err
		}
	}
	return nil
}

// long makes the row of a cluster that has more records than are sorted at once.
func (m *rowMaker) long(b int, cluster uint32) error {
	if err := m.each(b, func(own, other, weight uint32) {
		if own == cluster {
			m.add(other, weight)
		}
	}); err != nil {
		return err
	}
	return m.flush()
}

func (m *rowMaker) add(other, weight uint32) {
	if m.sum[other] == 0 {
		m.touched = append(m.touched, other)
	}
	m.sum[other] = saturated(uint64(m.sum[other]) + uint64(weight))
}

// flush writes the row that was added up.
func (m *rowMaker) flush() error {
	slices.Sort(m.touched)
	m.weights = m.weights[:0]
	for _, u := range m.touched {
		m.weights = append(m.weights, m.sum[u])
		m.sum[u] = 0
	}
	err := m.out.Row(m.touched, m.weights)
	m.touched = m.touched[:0]
	return err
}
