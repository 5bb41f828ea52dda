package dispatch

import (
	"context"
	"encoding/binary"
	"math/bits"

	"github.com/graphmill/graphmill/internal/extsort"
)

// haloEdges collects the edges of the halos of a group, which come in the order of
// their destinations, to give them back by new id. Keys are the part of the group
// above the new id of the edge, so that a bucket has edges of one part.
type haloEdges struct {
	part   *extsort.Partition
	spill  *extsort.Spill
	idBits int
	shift  int
}

// haloRecord is the size of a record: key, local source, local destination.
const haloRecord = 16

// Sizes of what sorts records of 16 bytes by buckets.
const (
	bucketBytes  = 4 << 20 // the most that a bucket is to have
	maxBuckets   = 1 << 10
	extentBytes  = 4 << 10 // of the buffer of a bucket
	radixBits    = 11
	radixBuckets = 1 << radixBits
)

// sortShape is how a sort by buckets spends its memory.
type sortShape struct {
	most int   // buckets, a power of two: a quarter of the memory is their buffers
	each int64 // bytes that a bucket is to have: a quarter is the buckets being sorted, twice each
	held int64 // bytes of records that stay out of the temporary file: the rest
}

func newSortShape(memory int64, threads int) sortShape {
	s := sortShape{most: 1, each: min(bucketBytes, memory/8/int64(threads)), held: memory / 2}
	for s.most < maxBuckets && int64(2*s.most*threads*extentBytes) <= memory/4 {
		s.most *= 2
	}
	return s
}

// buckets is how many a part has: so many that none is too large even if the edges of
// the part's halo, at most most of them, follow one another, as those from one other part do.
func (s sortShape) buckets(parts int, most uint64, idBits int) int {
	each := 1
	for each*2*parts <= s.most && each < 1<<idBits && min(most, 1<<idBits/uint64(each))*haloRecord > uint64(s.each) {
		each *= 2
	}
	return each
}

// newHaloEdges is ready for the edges that mark counted; memory bounds what it
// holds of them.
func newHaloEdges(g *group, memory int64) *haloEdges {
	var most, total uint64
	for i := range g.haloEdges {
		n := g.ownHalo(i)
		total += n
		most = max(most, n)
	}
	h := &haloEdges{idBits: bits.Len64(g.edgeStart[len(g.edgeStart)-1])}
	if total == 0 {
		return h
	}
	parts := 1 << bits.Len(uint(len(g.haloEdges)-1))
	shape := newSortShape(memory, g.opt.Threads)
	each := shape.buckets(parts, most, h.idBits)
	h.shift = h.idBits - bits.Len(uint(each-1))
	h.spill = extsort.NewSpill(g.fs, g.w.Dir(), shape.held)
	h.part = extsort.NewPartition(h.spill, parts*each, extentBytes, uint(h.shift))
	return h
}

func (h *haloEdges) close() error {
	if h.part == nil {
		return nil
	}
	h.part.Close()
	return h.spill.Close()
}

// haloWriter is the writer of one goroutine.
type haloWriter struct {
	*haloEdges
	w *extsort.Writer
}

func (h *haloEdges) writer() (haloWriter, error) {
	if h.part == nil {
		return haloWriter{h, nil}, nil
	}
	w, err := h.part.Writer()
	return haloWriter{h, w}, err
}

// put adds an edge to the halo of part from+i; src and dst are new ids.
func (h *haloWriter) put(g *group, i int, edge uint64, src, dst uint32) error {
	key := uint64(i)<<h.idBits | edge
	b, err := h.w.Slot(key, haloRecord)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(b, key)
	binary.LittleEndian.PutUint32(b[8:], g.local(i, src))
	binary.LittleEndian.PutUint32(b[12:], g.local(i, dst))
	return nil
}

// write puts the halo edges behind the owned ones of each part.
func (h *haloEdges) write(ctx context.Context, g *group, files []*partFile, buffer int) error {
	if h.part == nil {
		return nil
	}
	if err := h.part.Finish(); err != nil {
		return err
	}
	first := make([]int64, h.part.Buckets()) // records of the part in front of the bucket
	each := 1 << (h.idBits - h.shift)
	for b := range first {
		if b%each > 0 {
			first[b] = first[b-1] + h.part.Bytes(b-1)/haloRecord
		}
	}
	type buffers struct{ records, spare []byte }
	own := make([]buffers, g.opt.Threads)
	return spread(ctx, g.opt.Threads, h.part.Buckets(), func(_ context.Context, w, b int) error {
		n := int(h.part.Bytes(b))
		if n == 0 {
			return nil
		}
		x := &own[w]
		if n > len(x.records) {
			x.records, x.spare = make([]byte, n), make([]byte, n)
		}
		if _, err := h.part.Load(b, x.records[:n]); err != nil {
			return err
		}
		h.part.Free(b)
		sorted := sortRecords(x.records[:n], x.spare[:n], h.shift)
		return files[b/each].haloRun(g, h, sorted, first[b], buffer)
	})
}

// sortRecords sorts records by the low bits of their keys; the result is in one of
// the two, which are of equal size.
func sortRecords(a, b []byte, keyBits int) []byte {
	for shift := 0; shift < keyBits; shift += radixBits {
		var count [radixBuckets + 1]int
		for at := 0; at < len(a); at += haloRecord {
			count[binary.LittleEndian.Uint64(a[at:])>>shift&(radixBuckets-1)+1]++
		}
		for i := range radixBuckets {
			count[i+1] += count[i]
		}
		for at := 0; at < len(a); at += haloRecord {
			to := &count[binary.LittleEndian.Uint64(a[at:])>>shift&(radixBuckets-1)]
			copy(b[*to*haloRecord:][:haloRecord], a[at:])
			*to++
		}
		a, b = b, a
	}
	return a
}
