package dispatch

import (
	"context"
	"encoding/binary"
	"math/bits"

	"github.com/graphmill/graphmill/internal/extsort"
)

// haloEdges collects the halo edges of a group in the order of their destinations and returns them by new id.
// The high bits of a key are the part's number in the group, the low bits the new id of the edge, so that a
// bucket has edges of one part only.
type haloEdges struct {
	part   *extsort.Partition
	spill  *extsort.Spill
	idBits int
	shift  int
}

// haloRecord is the size of a record: key, local source, local destination.
const haloRecord = 16

// Sizes of the sort of 16-byte records by buckets.
const (
	bucketBytes  = 4 << 20 // the most bytes that a bucket should have
	maxBuckets   = 1 << 10
	extentBytes  = 4 << 10 // of the buffer of one bucket
	radixBits    = 11
	radixBuckets = 1 << radixBits
)

// sortShape is how a sort by buckets spends its memory.
type sortShape struct {
	most int   // number of buckets, a power of two: their buffers take a quarter of the memory
	each int64 // bytes that a bucket should have: the buckets being sorted, twice each, take a quarter
	held int64 // bytes of records that stay out of the temporary file: the rest of the memory
}

func newSortShape(memory int64, threads int) sortShape {
	s := sortShape{most: 1, each: min(bucketBytes, memory/8/int64(threads)), held: memory / 2}
	for s.most < maxBuckets && int64(2*s.most*threads*extentBytes) <= memory/4 {
		s.most *= 2
	}
	return s
}

// buckets is the number of buckets of each part. No bucket becomes too large even if all halo edges of the
// part, at most most of them, have consecutive ids, as the edges from one other part have.
func (s sortShape) buckets(parts int, most uint64, idBits int) int {
	each := 1
	for each*2*parts <= s.most && each < 1<<idBits && min(most, 1<<idBits/uint64(each))*haloRecord > uint64(s.each) {
		each *= 2
	}
	return each
}

// newHaloEdges prepares for the edges that mark counted; memory bounds the bytes that it holds.
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
	h.spill = extsort.NewSpill(g.fs, g.out.Dir(), shape.held)
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

// haloWriter belongs to one goroutine.
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

// write writes the halo edges of each part after the edges that the part owns.
func (h *haloEdges) write(ctx context.Context, g *group, files []*partFile, buffer int) error {
	if h.part == nil {
		return nil
	}
	if err := h.part.Finish(); err != nil {
		return err
	}
	first := make([]int64, h.part.Buckets()) // records of the part before the bucket
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

// sortRecords sorts records by the low keyBits of their keys. a and b have equal size, and the result is in
// one of them.
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
