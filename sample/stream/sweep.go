package stream

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/prefetch"
	"github.com/graphmill/graphmill/sample"
)

const (
	// dense is the requests from which a block is read whole unasked: they touch
	// more pages than can be read one by one in its time on any disk.
	dense = 512
	// throughGap is how many unwanted pages are read rather than skipped.
	throughGap = 2
)

// wish is a position that is wanted, and where its far end goes.
type wish struct {
	to        *results
	pos, slot uint32
}

// asks calls put with where each request's results go, and the positions of a block
// that it wants.
type asks func(put func(to *results, slot uint32, pos []uint32) error) error

// reader serves requests, a block at a time.
type reader struct {
	x      *Executor
	c      *sample.Context
	buf    []byte // of a block; buffers are pieces of one
	ids    []byte
	picks  picks
	wishes []wish
	pages  [blockPages + 1]bool
}

// sweep serves the last stages of the windows in one pass over the files.
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
	p.x.sweeps.Add(1)
	var next atomic.Uint32
	g, ctx := errgroup.WithContext(ctx)
	for _, r := range p.readers {
		g.Go(func() error {
			for ctx.Err() == nil {
				b := next.Add(1) - 1
				if b >= p.x.blocks {
					return nil
				}
				if err := r.serve(b, stages); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

// serve does what the stages ask of a block.
func (r *reader) serve(number uint32, stages []*stage) error {
	total := 0
	for _, st := range stages {
		for _, l := range st.lists {
			total += l.count(number, dense) + l.count(r.x.blocks+number, dense)
		}
	}
	if total == 0 {
		return nil
	}
	f := r.x.fileAt(number)
	block := number - f.first
	if total < dense {
		if sparse, err := r.serveSparse(f, block, number, stages); sparse || err != nil {
			return err
		}
	}
	if err := r.read(f, block); err != nil {
		return err
	}
	return r.each(number, stages, func(p *picks) error { return r.put(f, block, p) })
}

// errMany ends the collection of wishes for a block that is better read whole.
var errMany = errors.New("many")

// mostWishes bounds them.
const mostWishes = 1 << 14

// serveSparse serves a block of which few pages are wanted, if so.
func (r *reader) serveSparse(f *file, block, number uint32, stages []*stage) (sparse bool, err error) {
	w := r.wishes[:0]
	err = r.each(number, stages, func(p *picks) error {
		if len(w)+len(p.pos) > mostWishes {
			return errMany
		}
		i := 0
		for k, slot := range p.slots {
			for ; i < int(p.ends[k]); i++ {
				w = append(w, wish{p.st, p.pos[i], slot})
				slot++
			}
		}
		return nil
	})
	r.wishes = w
	if err != nil { // errMany
		r.picks = picks{pos: r.picks.pos[:0], slots: r.picks.slots[:0], ends: r.picks.ends[:0]}
		return false, nil
	}
	clear(r.pages[:])
	wanted := 0
	base := uint64(block) * blockBytes
	for _, w := range r.wishes {
		page := (f.far.start + uint64(w.pos)<<f.far.wide - base) / direct.Align
		if !r.pages[page] {
			r.pages[page] = true
			wanted++
		}
	}
	if wanted > r.x.brk || f.ids != nil {
		err = r.read(f, block)
	} else {
		err = r.readPages(f, block)
	}
	one := picks{slots: make([]uint32, 1), ends: []uint32{1}, pos: make([]uint32, 1)}
	for i := range r.wishes {
		if err != nil {
			return false, err
		}
		one.st, one.slots[0], one.pos[0] = r.wishes[i].st, r.wishes[i].slot, r.wishes[i].pos
		err = r.put(f, block, &one)
	}
	return true, err
}

// picks is what some requests want of a block: positions, and the slots that their
// far ends go to. Request i has those from ends[i-1] to ends[i], and slots from slots[i].
type picks struct {
	st    *stage
	slots []uint32
	ends  []uint32
	pos   []uint32
}

// fullPicks is the positions from which picks are served at once.
const fullPicks = 1024

// each calls fn with the picks of a block, some requests at a time.
func (r *reader) each(number uint32, stages []*stage, fn func(p *picks) error) error {
	s, p := r.x.sampler, &r.picks
	flush := func() error {
		if len(p.slots) == 0 {
			return nil
		}
		err := fn(p)
		p.slots, p.ends, p.pos = p.slots[:0], p.ends[:0], p.pos[:0]
		return err
	}
	for _, st := range stages {
		p.st = st
		for _, l := range st.lists {
			at := uint32(0)
			if err := l.each(number, func(run []request) error {
				for _, q := range run {
					at = st.segment(q.slot(), at)
					seg, v := &st.segs[at], q.value()
					op := int(seg.op)
					n, from := int(s.Picks(op, s.Degree(op, v))), len(p.pos)
					p.pos = slices.Grow(p.pos, n)[:from+n]
					r.c.Draw(op, seg.key, v, p.pos[from:])
					p.slots, p.ends = append(p.slots, q.slot()), append(p.ends, uint32(from+n))
					if from+n >= fullPicks {
						if err := flush(); err != nil {
							return err
						}
					}
				}
				return flush()
			}); err != nil {
				return err
			}
			if err := l.each(r.x.blocks+number, func(run []request) error {
				for _, q := range run {
					p.pos = append(p.pos, q.value())
					p.slots, p.ends = append(p.slots, q.slot()), append(p.ends, uint32(len(p.pos)))
				}
				return flush()
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

// readAll fills p, but for what is behind the end of the file.
func readAll(a *array, p []byte, off int64) error {
	if _, err := a.ReadAt(p, off); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// put takes the far ends that are picked out of the block that was read.
func (r *reader) put(f *file, block uint32, p *picks) error {
	prefetch.At(unsafe.SliceData(p.st.far), p.slots)
	base := uint64(block) * blockBytes
	i := uint32(0)
	if f.far.wide == 2 {
		words := graph.View[uint32](r.buf)
		skip, limit := uint32(uint64(block)<<f.shift-f.lead), uint32(f.far.limit)
		// The disk wrote the block past the caches.
		for k := range p.pos {
			p.pos[k] -= skip
		}
		prefetch.At(unsafe.SliceData(words), p.pos)
		for k, slot := range p.slots {
			at := p.pos[i:p.ends[k]]
			far := p.st.far[slot : int(slot)+len(at)]
			for j, w := range at {
				v := words[w]
				if v >= limit {
					return f.far.fault(r.buf, base, w+skip)
				}
				far[j] = v
			}
			i = p.ends[k]
		}
		if f.ids == nil {
			return nil
		}
		for k := range p.pos {
			p.pos[k] += skip
		}
	} else {
		for k, slot := range p.slots {
			for ; i < p.ends[k]; i++ {
				v, ok := f.far.at(r.buf, base, p.pos[i])
				if !ok {
					return f.far.fault(r.buf, base, p.pos[i])
				}
				p.st.far[slot] = v
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
			v, ok := f.ids.at(r.ids, uint64(from), p.pos[i])
			if !ok {
				return f.ids.fault(r.ids, uint64(from), p.pos[i])
			}
			p.st.ids[slot] = v
			slot++
		}
	}
	return nil
}

// fileAt is the file that a block is in.
func (x *Executor) fileAt(block uint32) *file {
	at, found := slices.BinarySearchFunc(x.files, block, func(f *file, b uint32) int { return int(int64(f.first) - int64(b)) })
	if !found {
		at--
	}
	// Files without blocks start where the next one does.
	for x.files[at].blocks == 0 || block >= x.files[at].first+x.files[at].blocks {
		at++
	}
	return x.files[at]
}
