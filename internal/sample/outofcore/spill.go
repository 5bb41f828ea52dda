package outofcore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/sample"
)

// loaders is the number of goroutines that read extents.
const loaders = 8

// spill is a window that has all batches of one epoch or several, and whose requests and results lie in a scratch file.
// The batches are in groups. A group that is worked on is a window in memory:
//
//	walk   group by group, the results so far are read back, and the next requests of the batches go to a stream for
//	       each run of blocks.
//	sweep  run by run, the requests are read back in the order of blocks and served; the results go to a stream for
//	       each group.
//	each   group by group, all results are read back, to be sampled.
type spill struct {
	p     *pipeline
	sizes spillSizes
	file  *extents
	bufs  [][]uint32 // buffers of streams and their packers; each holds an extent
	loads [][]uint32 // buffers of loaders; each holds an extent
	free  func()

	first, n uint64 // batches of the run
	groups   int
	spans    [][]extent // by group
	stale    []extent   // extents of spans from before the step
	steps    []spillStep
}

// spillStep is a step of a spill.
type spillStep struct {
	used    []uint32   // slots by group
	results [][]extent // by group
	idWords int        // of the edge id of a result
}

// requested is the requests of one step. Slots are numbered from 0 over all groups.
type requested struct {
	runs   [][]extent // by run of blocks: requests of askedWords words each
	counts []uint32   // numbers of requests to block b: for nodes at 2*b, for single edges at 2*b+1
	base   []uint32   // by group: its first slot; then the number of slots
	guide  []uint32   // by slot >> groupShift: the group of the slot, or an earlier one
	keys   *stage     // has the segments of all slots; empty where all requests are for single edges
}

const (
	groupShift = 16
	askedWords = 3
	// mostSegments is the most segments that are held. Where there would be more, as for subgraphs of single seeds,
	// edges are drawn before they are requested.
	mostSegments = 1 << 16
)

// newSpill allocates the buffers of a spill. It owns scratch, and closes it after an error.
func newSpill(p *pipeline, sizes spillSizes, scratch *direct.Scratch) (*spill, error) {
	s := &spill{p: p, sizes: sizes, file: &extents{Scratch: scratch, size: sizes.extent / 4}}
	n := sizes.buffers(p.blocks, p.threads, len(p.readers))
	slab, free, err := words[uint32]((n+loaders)*s.file.size, p.lean)
	if err != nil {
		return nil, errors.Join(err, scratch.Close())
	}
	s.free = free
	for i := range n + loaders {
		buf := slab[i*s.file.size : (i+1)*s.file.size : (i+1)*s.file.size]
		if i < n {
			s.bufs = append(s.bufs, buf)
		} else {
			s.loads = append(s.loads, buf)
		}
	}
	return s, nil
}

func (s *spill) close() error {
	s.p.counts.spillRead.Add(s.file.Read())
	s.p.counts.spillWritten.Add(s.file.Written())
	s.free()
	return s.file.Close()
}

// open begins a window of the next n batches, and frees the extents of the window before.
func (s *spill) open(first, n uint64) {
	for _, list := range s.spans {
		s.file.give(list)
	}
	for i := range s.steps {
		for _, list := range s.steps[i].results {
			s.file.give(list)
		}
	}
	s.first, s.n = first, n
	s.groups = int((n + s.sizes.group - 1) / s.sizes.group)
	s.spans, s.steps = make([][]extent, s.groups), nil
}

// walk takes all batches through their next step, and returns their requests.
func (s *spill) walk(ctx context.Context) (*requested, error) {
	p := s.p
	wave := len(s.steps)
	step := spillStep{used: make([]uint32, s.groups), idWords: p.idWords(wave)}
	q := &requested{base: make([]uint32, s.groups+1), counts: make([]uint32, 2*p.blocks), keys: &stage{shift: p.shift}}
	subgraphs := float64(s.n)
	if p.sampler.Plan().Scope == sample.ScopeSeed {
		subgraphs *= float64(p.job.BatchSize)
	}
	single := subgraphs*float64(p.waves[wave][1]-p.waves[wave][0]) > mostSegments
	to := newStreams(s.file, s.sizes.runs(p.blocks), s.bufs)
	var askers []*asker
	for i, k := range p.walkers {
		k.single = single
		askers = append(askers, &asker{walker: k, s: s, q: q, p: newPacker(to, s.bufs[len(to.list)+i]), counts: make([]uint32, len(q.counts))})
	}
	err := s.each(ctx, wave, 0, func(ctx context.Context, g int, w *window) error {
		st, err := newStage(&p.shared, min(p.slots, math.MaxInt32, math.MaxUint32-int(q.base[g])), 0, 0, 0, p.shift)
		if err != nil {
			return err
		}
		w.stages = append(w.stages, st)
		var next atomic.Uint64
		tasks, ctx := guard.WithContext(ctx)
		for _, a := range askers {
			tasks.Go(func() error {
				for ctx.Err() == nil {
					b := next.Add(1) - 1
					if b >= w.n {
						return nil
					}
					if err := a.step(ctx, w, b, q.base[g]); err != nil {
						return err
					}
				}
				return ctx.Err()
			})
		}
		if err := tasks.Wait(); err != nil {
			return err
		}
		if !single {
			for _, seg := range st.segs {
				seg.start += q.base[g]
				q.keys.segs = append(q.keys.segs, seg)
			}
		}
		step.used[g], q.base[g+1] = st.used, q.base[g]+st.used
		return s.saveSpans(g, w)
	})
	for _, k := range p.walkers {
		k.single = false
	}
	if err != nil {
		return nil, err
	}
	for _, a := range askers {
		if err := a.p.flush(); err != nil {
			return nil, err
		}
		for i, n := range a.counts {
			q.counts[i] += n
		}
	}
	if q.runs, err = to.finish(ctx); err != nil {
		return nil, err
	}
	q.ready()
	s.steps = append(s.steps, step)
	return q, nil
}

func (q *requested) ready() {
	q.keys.used = q.base[len(q.base)-1]
	if len(q.keys.segs) > 0 {
		q.keys.ready()
	}
	for slot, g := uint64(0), 0; slot < uint64(q.keys.used); slot += 1 << groupShift {
		for uint64(q.base[g+1]) <= slot {
			g++
		}
		q.guide = append(q.guide, uint32(g))
	}
}

// group is the group that a slot is in.
func (q *requested) group(slot uint32) int {
	g := int(q.guide[slot>>groupShift])
	for q.base[g+1] <= slot {
		g++
	}
	return g
}

// asker sends the requests of batches to the streams of requests.
type asker struct {
	*walker
	s      *spill
	q      *requested
	p      *packer
	counts []uint32
}

func (a *asker) step(ctx context.Context, w *window, batch uint64, group uint32) error {
	base, err := a.walk(ctx, a.s.p, w, batch)
	if err != nil {
		return err
	}
	blocks, run := a.blocks, a.s.sizes.run
	for _, ask := range a.asks {
		kind := uint32(0)
		if ask.bucket >= blocks {
			ask.bucket, kind = ask.bucket-blocks, 1
		}
		a.counts[2*ask.bucket+kind]++
		to, err := a.p.room(int(ask.bucket/run), askedWords)
		if err != nil {
			return err
		}
		to[0], to[1], to[2] = 2*(ask.bucket%run)+kind, ask.value, group+base+ask.slot
	}
	return nil
}

// each calls fn with the groups, in order, as windows that have the results of the first steps. It begins with the
// group of batch from of the run. The next group is read while fn runs in the calling goroutine.
func (s *spill) each(ctx context.Context, steps int, from uint64, fn func(ctx context.Context, g int, w *window) error) error {
	most := 0
	for g := range s.groups {
		n := 0
		for _, st := range s.steps[:steps] {
			n += st.words(g)
		}
		most = max(most, n)
	}
	mem, free, err := words[uint32](2*most, s.p.lean)
	if err != nil {
		return err
	}
	defer free()
	half := [2][]uint32{mem[:most], mem[most:]}
	g := 0
	if from > s.first {
		g = int((from - s.first) / s.sizes.group)
	}
	next, err := s.load(ctx, g, steps, half[g%2])
	if err != nil {
		return err
	}
	for ; g < s.groups; g++ {
		w := next
		err := concurrently(ctx, func(ctx context.Context) (err error) {
			if g+1 < s.groups {
				next, err = s.load(ctx, g+1, steps, half[(g+1)%2])
			}
			return err
		}, func(ctx context.Context) error {
			return fn(ctx, g, w)
		})
		w.close()
		if err != nil {
			return err
		}
	}
	return nil
}

// words is the number of words of a group's results.
func (st *spillStep) words(g int) int {
	return (1 + st.idWords) * int(st.used[g])
}

// load is a group with the results of the first steps, which it puts into mem.
func (s *spill) load(ctx context.Context, g, steps int, mem []uint32) (*window, error) {
	first := uint64(g) * s.sizes.group
	w := s.p.open(s.first+first, min(s.sizes.group, s.n-first))
	if steps > 0 {
		if err := s.loadSpans(ctx, g, w); err != nil {
			return nil, err
		}
	}
	for i := range steps {
		from := &s.steps[i]
		n := from.used[g]
		st := &stage{used: n, freeFar: func() {}, freeIDs: func() {}}
		st.far, mem = mem[:n:n], mem[n:]
		if st.idWords = from.idWords; st.idWords > 0 {
			ids := int(n) * st.idWords
			st.ids, mem = mem[:ids:ids], mem[ids:]
		}
		w.stages = append(w.stages, st)
		if err := s.file.read(ctx, from.results[g], s.loads, false, st.unpack); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// spanWords is the words of a span.
const spanWords = int(unsafe.Sizeof(span{}) / 4)

// saveSpans writes the spans of a group. Its previous extents are stale, and are freed when the step ends.
func (s *spill) saveSpans(g int, w *window) error {
	all := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(w.spans))), len(w.spans)*spanWords)
	buf := s.bufs[len(s.bufs)-1] // belongs to no stream and no asker
	s.stale = append(s.stale, s.spans[g]...)
	s.spans[g] = nil
	for len(all) > 0 {
		n := copy(buf, all)
		e, err := s.file.write(buf, n)
		if err != nil {
			return err
		}
		s.spans[g], all = append(s.spans[g], e), all[n:]
	}
	return nil
}

func (s *spill) loadSpans(ctx context.Context, g int, w *window) error {
	all := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(w.spans))), len(w.spans)*spanWords)
	if err := s.file.read(ctx, s.spans[g], s.loads, true, func(words []uint32) error {
		all = all[copy(all, words):]
		return nil
	}); err != nil {
		return err
	}
	if len(all) > 0 {
		return fmt.Errorf("%s: %w; run again", s.file.Name(), errScratch)
	}
	return nil
}
