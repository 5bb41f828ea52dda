package outofcore

import (
	"context"
	"sync/atomic"

	"github.com/graphmill/graphmill/internal/guard"
)

// part is requests of a run of blocks, in the order of blocks: as many as are put into order at a time.
type part struct {
	requests []request
	left     atomic.Int32 // blocks that are not served yet
}

// blockTask is the requests of a part to one block: for nodes and for single edges.
type blockTask struct {
	part          *part
	block         uint32
	nodes, single []request
}

// sweep serves the last step in one pass over the files. Two parts are in memory: one is read while the other is
// served.
func (s *spill) sweep(ctx context.Context, q *requested) error {
	step := &s.steps[len(s.steps)-1]
	if q.keys.used == 0 {
		step.results = make([][]extent, s.groups)
		return nil
	}
	s.p.counts.sweeps.Add(1)
	most := s.mostRequests(q)
	mem, free, err := words[request](2*most, s.p.lean)
	if err != nil {
		return err
	}
	defer free()
	idle := make(chan *part, 2)
	idle <- &part{requests: mem[:most]}
	idle <- &part{requests: mem[most:]}
	tasks := make(chan blockTask)
	to := newStreams(s.file, s.groups, s.bufs)
	g, gctx := guard.WithContext(ctx)
	g.Go(func() error {
		defer close(tasks)
		return s.deal(gctx, q, idle, tasks)
	})
	var servers []*server
	for i, r := range s.p.readers {
		v := &server{reader: r, q: q, idWords: step.idWords, p: newPacker(to, s.bufs[s.groups+i])}
		servers = append(servers, v)
		g.Go(func() error {
			for t := range tasks {
				if err := v.serve(&t); err != nil {
					return err
				}
				if t.part.left.Add(-1) == 0 {
					idle <- t.part
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, v := range servers {
		if err := v.p.flush(); err != nil {
			return err
		}
	}
	step.results, err = to.finish(ctx)
	return err
}

// mostRequests is the most requests of a part.
func (s *spill) mostRequests(q *requested) int {
	most := 0
	for run := range q.runs {
		total := 0
		for _, n := range q.of(run, s.sizes.run) {
			total += int(n)
		}
		most = max(most, total)
	}
	return min(most, s.sizes.sort)
}

// of is the counts of a run of blocks.
func (q *requested) of(run int, blocks uint32) []uint32 {
	return q.counts[2*run*int(blocks) : min(2*(run+1)*int(blocks), len(q.counts))]
}

// deal reads the requests of the runs of blocks, a part at a time, and deals them out by block.
func (s *spill) deal(ctx context.Context, q *requested, idle <-chan *part, tasks chan<- blockTask) error {
	for run := range q.runs {
		counts := q.of(run, s.sizes.run)
		total := uint64(0)
		for _, n := range counts {
			total += uint64(n)
		}
		for from := uint64(0); from < total; {
			var pt *part
			select {
			case pt = <-idle:
			case <-ctx.Done():
				return ctx.Err()
			}
			to := min(from+uint64(len(pt.requests)), total)
			if err := s.sortPart(ctx, q.runs[run], counts, pt, from, to); err != nil {
				return err
			}
			if err := s.dealPart(ctx, counts, uint32(run)*s.sizes.run, pt, from, to, tasks); err != nil {
				return err
			}
			from = to
		}
		s.file.give(q.runs[run])
	}
	return nil
}

// sortPart reads the requests at the places from one to another, in the order of blocks and kinds.
func (s *spill) sortPart(ctx context.Context, list []extent, counts []uint32, pt *part, from, to uint64) error {
	at := make([]uint64, len(counts)) // place of the next request
	for i, sum := 0, uint64(0); i < len(counts); i++ {
		at[i] = sum
		sum += uint64(counts[i])
	}
	// The order of the stream decides which part has a request.
	return s.file.read(ctx, list, s.loads, true, func(words []uint32) error {
		for ; len(words) >= askedWords; words = words[askedWords:] {
			kind := words[0]
			if int(kind) >= len(counts) {
				return errScratch
			}
			if i := at[kind]; i >= from && i < to {
				pt.requests[i-from] = newRequest(words[1], words[2])
			}
			at[kind]++
		}
		return nil
	})
}

// dealPart sends the requests of a part to tasks, block by block.
func (s *spill) dealPart(ctx context.Context, counts []uint32, first uint32, pt *part, from, to uint64, tasks chan<- blockTask) error {
	var list []blockTask
	cut := func(at, n uint64) []request {
		lo, hi := max(at, from), min(at+n, to)
		if lo >= hi {
			return nil
		}
		return pt.requests[lo-from : hi-from]
	}
	at := uint64(0)
	for i := 0; i < len(counts); i += 2 {
		nodes, single := uint64(counts[i]), uint64(counts[i+1])
		t := blockTask{pt, first + uint32(i/2), cut(at, nodes), cut(at+nodes, single)}
		if len(t.nodes)+len(t.single) > 0 {
			list = append(list, t)
		}
		at += nodes + single
	}
	pt.left.Store(int32(len(list)))
	for _, t := range list {
		select {
		case tasks <- t:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// server serves blocks into the streams of results.
type server struct {
	*reader
	q       *requested
	idWords int
	p       *packer
	got     results // of the block
	runs    []slotRun
}

// slotRun is slots whose results are next to each other.
type slotRun struct{ slot, n uint32 }

func (v *server) serve(t *blockTask) error {
	f := v.fileAt(t.block)
	block := t.block - f.first
	if total := len(t.nodes) + len(t.single); total < dense {
		at := uint32(0)
		if err := v.fulfil(f, block, total, func(put func(to *results, slot uint32, pos []uint32) error) error {
			v.runs, at = v.runs[:0], 0
			return v.wants(f, t, func(slot uint32, pos []uint32) error {
				v.reserve(f, int(at)+len(pos))
				v.runs = append(v.runs, slotRun{slot, uint32(len(pos))})
				at += uint32(len(pos))
				return put(&v.got, at-uint32(len(pos)), pos)
			})
		}); err != nil {
			return err
		}
		return v.packRuns(f)
	}
	if err := v.read(f, block); err != nil {
		return err
	}
	v.runs = v.runs[:0]
	at := uint32(0)
	put := func() error {
		if err := v.put(f, block); err != nil {
			return err
		}
		at = 0
		return v.packRuns(f)
	}
	if err := v.wants(f, t, func(slot uint32, pos []uint32) error {
		v.reserve(f, int(at)+len(pos))
		v.runs = append(v.runs, slotRun{slot, uint32(len(pos))})
		if err := v.pick(f, block, &v.got, at, pos); err != nil {
			return err
		}
		at += uint32(len(pos))
		if len(v.runs) == mostPicks || at >= mostPositions {
			return put()
		}
		return nil
	}); err != nil {
		return err
	}
	return put()
}

// packRuns packs the results of v.runs, and empties it.
func (v *server) packRuns(f *file) error {
	at := uint32(0)
	for _, r := range v.runs {
		if err := v.pack(f, r.slot, at, at+r.n); err != nil {
			return err
		}
		at += r.n
	}
	v.runs = v.runs[:0]
	return nil
}

// reserve makes room for n results.
func (v *server) reserve(f *file, n int) {
	grow := func(x *[]uint32) {
		if n > len(*x) {
			grown := make([]uint32, 2*n)
			copy(grown, *x)
			*x = grown
		}
	}
	grow(&v.got.far)
	if f.ids != nil {
		v.got.idWords = v.idWords
		n *= v.idWords
		grow(&v.got.ids)
	}
}

// wants calls fn with the places in their block that each request wants.
func (v *server) wants(f *file, t *blockTask, fn func(slot uint32, pos []uint32) error) error {
	s, at := v.sampler, uint32(0)
	for _, q := range t.nodes {
		at = v.q.keys.segment(q.slot(), at)
		seg := &v.q.keys.segs[at]
		op := int(seg.op)
		if n := int(s.Picks(op, s.Degree(op, q.value()))); len(v.pos) < n {
			v.pos = make([]uint32, 2*n)
		}
		pos := v.c.Draw(op, seg.key, q.value(), v.pos)
		from, _ := s.Span(op, q.value())
		shift(pos, f.place(from))
		if err := fn(q.slot(), pos); err != nil {
			return err
		}
	}
	for _, q := range t.single {
		if err := fn(q.slot(), append(v.pos[:0], q.value())); err != nil {
			return err
		}
	}
	return nil
}

// packed is the most results that go together, where an edge id has the given number of words. Their words are the first slot in the group, shifted left by one, with
// bit 0 set where there are several results; then their number where there are several; the far ends; and the edge ids
// in a step that has them apart.
func packed(idWords int) uint32 { return uint32((packWords - 2) / max(2, 1+idWords)) }

// pack sends the results at the places from one to another to the group of their slots.
func (v *server) pack(f *file, slot, from, to uint32) error {
	group := v.q.group(slot)
	local := slot - v.q.base[group]
	for from < to {
		n := min(to-from, packed(v.idWords))
		words, head := int(n)+1, uint32(0)
		if n > 1 {
			words, head = words+1, 1
		}
		words += int(n) * v.idWords
		out, err := v.p.room(group, words)
		if err != nil {
			return err
		}
		out[0], out[1] = local<<1|head, n
		out = out[1+head:]
		copy(out, v.got.far[from:from+n])
		if f.ids != nil {
			copy(out[n:], v.got.ids[int(from)*v.idWords:int(from+n)*v.idWords])
		} else {
			clear(out[n:])
		}
		from, local = from+n, local+n
	}
	return nil
}

// unpack puts packed results into their slots. It may run for different results at the same time.
func (r *results) unpack(words []uint32) error {
	for len(words) > 1 {
		slot, n := words[0]>>1, uint32(1)
		if words[0]&1 != 0 {
			n, words = words[1], words[1:]
		}
		words = words[1:]
		if uint64(slot)+uint64(n) > uint64(len(r.far)) || (1+r.idWords)*int(n) > len(words) {
			return errScratch
		}
		copy(r.far[slot:], words[:n])
		words = words[n:]
		ids := int(n) * r.idWords
		copy(r.ids[int(slot)*r.idWords:], words[:ids])
		words = words[ids:]
	}
	if len(words) > 0 {
		return errScratch
	}
	return nil
}
