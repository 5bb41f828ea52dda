package outofcore

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"unsafe"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/prefetch"
	"github.com/graphmill/graphmill/internal/sample"
)

const (
	// dense is the number of requests from which a block is read whole without a count of its pages: so many requests
	// touch more pages than any disk reads one by one in the time of the block.
	dense = 512
	// throughGap is the most unwanted pages that are read rather than skipped.
	throughGap = 2
)

// wish is the place in its block of a wanted position, and the slot of its far end.
type wish struct {
	to        *results
	pos, slot uint32
}

// asks calls put for each request to a block, with the results and the slot where its far ends go and the places in the block
// (file.place) that it wants.
type asks func(put func(to *results, slot uint32, pos []uint32) error) error

// reader serves requests, a block at a time.
type reader struct {
	*neighbours
	c      *sample.Context
	buf    []byte // of a block
	ids    []byte
	pos    []uint32
	picks  picks
	wishes []wish
	pages  [blockPages + 1]bool
}

// sweep serves the last stages of windows in one pass over the files.
func (p *pipeline) sweep(ctx context.Context, windows []*window) error {
	var stages []*stage
	for _, w := range windows {
		if st := w.stages[len(w.stages)-1]; st.used > 0 {
			stages = append(stages, st)
		}
	}
	if len(stages) == 0 {
		return nil
	}
	return p.pass(ctx, func(r *reader, block uint32) error { return r.serve(block, stages) })
}

// pass calls serve with every block of the files, in their order.
func (p *pipeline) pass(ctx context.Context, serve func(r *reader, block uint32) error) error {
	p.counts.sweeps.Add(1)
	var next atomic.Uint32
	g, ctx := guard.WithContext(ctx)
	for _, r := range p.readers {
		g.Go(func() error {
			for ctx.Err() == nil {
				b := next.Add(1) - 1
				if b >= p.blocks {
					return nil
				}
				if err := serve(r, b); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

// serve serves the requests of stages to a block.
func (r *reader) serve(number uint32, stages []*stage) error {
	total := 0
	for _, st := range stages {
		for _, l := range st.lists {
			total += l.count(number, dense) + l.count(r.blocks+number, dense)
		}
	}
	if total == 0 {
		return nil
	}
	f := r.fileAt(number)
	return r.fulfil(f, number-f.first, total, func(put func(to *results, slot uint32, pos []uint32) error) error {
		return r.each(number, stages, put)
	})
}

// fulfil reads the wanted part of a block and serves its requests. total is the number of requests or of positions;
// where it is dense or more, any such number will do.
func (r *reader) fulfil(f *file, block uint32, total int, each asks) error {
	if total < dense {
		if sparse, err := r.fulfilSparse(f, block, each); sparse || err != nil {
			return err
		}
	}
	if err := r.read(f, block); err != nil {
		return err
	}
	if err := each(func(to *results, slot uint32, pos []uint32) error {
		return r.pick(f, block, to, slot, pos)
	}); err != nil {
		return err
	}
	return r.put(f, block)
}

// fulfilSparse is fulfil for a block of which few pages may be wanted. sparse is false, and nothing is served, where
// there are too many positions.
func (r *reader) fulfilSparse(f *file, block uint32, each asks) (sparse bool, err error) {
	r.wishes = r.wishes[:0]
	errMany := errors.New("many")
	err = each(func(to *results, slot uint32, pos []uint32) error {
		if len(r.wishes)+len(pos) > 1<<14 {
			return errMany
		}
		for i, p := range pos {
			r.wishes = append(r.wishes, wish{to, p, slot + uint32(i)})
		}
		return nil
	})
	if err != nil {
		return false, nil //nolint:nilerr // errMany: the block is read whole
	}
	clear(r.pages[:])
	wanted := 0
	for _, w := range r.wishes {
		page := uint64(w.pos) << f.far.wide / direct.Align
		if !r.pages[page] {
			r.pages[page] = true
			wanted++
		}
	}
	if wanted > r.disk.pages || f.ids != nil {
		if err := r.read(f, block); err != nil {
			return false, err
		}
	} else if err := r.readPages(f, block); err != nil {
		return false, err
	}
	for i := range r.wishes {
		w := &r.wishes[i]
		if err := r.pick(f, block, w.to, w.slot, []uint32{w.pos}); err != nil {
			return false, err
		}
	}
	return true, r.put(f, block)
}

// each calls fn with the places that each request of stages wants of a block.
func (r *reader) each(number uint32, stages []*stage, fn func(to *results, slot uint32, pos []uint32) error) error {
	s, f := r.sampler, r.fileAt(number)
	for _, st := range stages {
		for _, l := range st.lists {
			at := uint32(0)
			if err := l.each(number, func(run []request) error {
				for _, q := range run {
					at = st.segment(q.slot(), at)
					seg := &st.segs[at]
					op := int(seg.op)
					if n := int(s.Picks(op, s.Degree(op, q.value()))); len(r.pos) < n {
						r.pos = make([]uint32, 2*n)
					}
					pos := r.c.Draw(op, seg.key, q.value(), r.pos)
					from, _ := s.Span(op, q.value())
					shift(pos, f.place(from))
					if err := fn(&st.results, q.slot(), pos); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				return err
			}
			if err := l.each(r.blocks+number, func(run []request) error {
				for _, q := range run {
					if err := fn(&st.results, q.slot(), append(r.pos[:0], q.value())); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// read reads a block, and the edge ids of its positions.
func (r *reader) read(f *file, block uint32) error {
	if err := readAll(f.far, r.buf, int64(block)*blockBytes); err != nil {
		return err
	}
	if f.ids == nil {
		return nil
	}
	from, to := f.ids.bytes(f.positions(block))
	return readAll(f.ids, r.ids[:to-from], from)
}

// readPages reads the wanted pages of a block into their places in the buffer.
func (r *reader) readPages(f *file, block uint32) error {
	for first := 0; first < blockPages; {
		if !r.pages[first] {
			first++
			continue
		}
		end := first + 1
		for gap := 0; gap <= throughGap && end+gap < blockPages; {
			if r.pages[end+gap] {
				end, gap = end+gap+1, 0
			} else {
				gap++
			}
		}
		if err := readAll(f.far, r.buf[first*direct.Align:end*direct.Align], int64(block)*blockBytes+int64(first)*direct.Align); err != nil {
			return err
		}
		first = end
	}
	return nil
}

// readAll fills p, except for bytes after the end of the file.
func readAll(a *array, p []byte, off int64) error {
	if _, err := a.ReadAt(p, off); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// picks is the places that some requests want in the block in the buffer, and the slots of one stage where their far
// ends go. Request i has the places from ends[i-1] to ends[i], and the slots from slots[i] on.
type picks struct {
	to    *results
	slots []uint32
	ends  []uint32
	pos   []uint32
}

// So many picks are put together that their cache lines load at the same time, and so few that they stay in the cache.
const (
	mostPicks     = 64
	mostPositions = 512
)

// pick notes the places that a request wants of the block in the buffer.
func (r *reader) pick(f *file, block uint32, to *results, slot uint32, pos []uint32) error {
	p := &r.picks
	if p.to != to || len(p.slots) >= mostPicks || len(p.pos) >= mostPositions {
		if err := r.put(f, block); err != nil {
			return err
		}
		p.to = to
	}
	p.pos = append(p.pos, pos...)
	p.slots, p.ends = append(p.slots, slot), append(p.ends, uint32(len(p.pos)))
	return nil
}

// put copies the far ends of the picks from the block in the buffer to their slots.
func (r *reader) put(f *file, block uint32) error {
	p := &r.picks
	if len(p.slots) == 0 {
		return nil
	}
	defer func() { p.slots, p.ends, p.pos = p.slots[:0], p.ends[:0], p.pos[:0] }()
	prefetch.At(unsafe.SliceData(p.to.far), p.slots)
	base := uint64(block) * blockBytes
	i := uint32(0)
	if f.far.wide == 2 {
		words := graph.View[uint32](r.buf)
		limit := uint32(f.far.limit)
		// The disk wrote the block to memory without going through the caches.
		prefetch.At(unsafe.SliceData(words), p.pos)
		for k, slot := range p.slots {
			at := p.pos[i:p.ends[k]]
			far := p.to.far[slot : int(slot)+len(at)]
			for j, w := range at {
				v := words[w]
				if v >= limit {
					return f.far.fault(r.buf, base, uint64(w)<<2)
				}
				far[j] = v
			}
			i = p.ends[k]
		}
	} else {
		for k, slot := range p.slots {
			for ; i < p.ends[k]; i++ {
				at := uint64(p.pos[i]) << f.far.wide
				v, ok := f.far.at(r.buf, at)
				if !ok {
					return f.far.fault(r.buf, base, at)
				}
				p.to.far[slot] = uint32(v)
				slot++
			}
		}
	}
	if f.ids == nil {
		return nil
	}
	i = 0
	from, _ := f.ids.bytes(f.positions(block))
	for k, slot := range p.slots {
		for ; i < p.ends[k]; i++ {
			at := f.ids.start + f.position(block, p.pos[i])<<f.ids.wide - uint64(from)
			v, ok := f.ids.at(r.ids, at)
			if !ok {
				return f.ids.fault(r.ids, uint64(from), at)
			}
			p.to.setID(slot, v)
			slot++
		}
	}
	return nil
}
