package pack

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
)

// Histogram packing of Krell et al. (2022), "tuple longest-pack-first": shapes are taken in descending order
// of a heuristic; each graph goes into the open pack with the least room, by the same heuristic, that it fits
// into.
//
// This follows the published listing exactly, including what the paper does not mention: after a placement the
// search continues among packs whose room is rated above the graph, so that a room rated equal is skipped; a
// new shape opens a pack for each of its remaining graphs; a pack whose room is rated 0 is closed even if
// another component has room.

// opened is a number of open packs that are filled alike.
type opened struct {
	key    uint64 // the heuristic of the remaining room
	room   vec
	parent int32 // index in contents
	packs  int64
}

// content is graphs in a pack: a linked list of parts, which packs with the same first parts share.
type content struct {
	shape, copies int32
	parent        int32 // -1: the first
}

// block is a run of the open packs, which form one sequence by key; packs of equal key are in the order of
// opening.
type block struct {
	packs []opened
	most  vec // the maximum room in every field; a graph that does not fit this fits no pack of the block
}

const blockSize = 256

// listing is the state of one run.
type listing struct {
	in       *instance
	h        *heuristic
	first    bool // the first-fit variant, shortest-pack-first
	blocks   []*block
	contents []content
	closed   []opened
	scratch  []int
	fair     bool // differs from the published listing: see fit
	steps    int64
	limit    int64 // of the steps
}

// longestFirst runs the listing; first selects the first-fit variant, "shortest-pack-first". It returns nil if
// the steps, about a nanosecond each, do not suffice: few huge packs may need a placement for each graph.
func longestFirst(ctx context.Context, p *Problem, h *heuristic, first bool, steps int64) ([]Pattern, error) {
	return list(ctx, p, h, first, false, steps)
}

func list(ctx context.Context, p *Problem, h *heuristic, first, fair bool, steps int64) ([]Pattern, error) {
	if err := h.check(p.Limits); err != nil {
		return nil, err
	}
	l := &listing{in: newInstance(p), h: h, first: first, fair: fair, limit: steps, scratch: make([]int, len(p.Limits))}
	type rated struct {
		shape int
		key   uint64
	}
	order := make([]rated, len(p.Counts))
	for i := range order {
		order[i] = rated{i, h.of(p.Shape(i))}
	}
	slices.SortFunc(order, func(a, b rated) int {
		return cmp.Or(cmp.Compare(b.key, a.key), slices.Compare(p.Shape(b.shape), p.Shape(a.shape)))
	})
	for _, r := range order {
		if l.steps >= l.limit {
			return nil, nil
		}
		if err := l.place(ctx, r.shape, r.key, p.Counts[r.shape]); err != nil {
			return nil, err
		}
	}
	return l.patterns(), nil
}

// patterns returns all packs, closed and open.
func (l *listing) patterns() []Pattern {
	var patterns []Pattern
	emit := func(o *opened) {
		counts := map[int]int{}
		for c := o.parent; c >= 0; c = l.contents[c].parent {
			counts[int(l.contents[c].shape)] += int(l.contents[c].copies)
		}
		x := Pattern{Packs: o.packs}
		for s, n := range counts {
			x.Parts = append(x.Parts, Part{s, n})
		}
		slices.SortFunc(x.Parts, func(a, b Part) int { return a.Shape - b.Shape })
		patterns = append(patterns, x)
	}
	for i := range l.closed {
		emit(&l.closed[i])
	}
	for _, b := range l.blocks {
		for i := range b.packs {
			emit(&b.packs[i])
		}
	}
	return patterns
}

// rate is the heuristic of a room.
func (l *listing) rate(room *vec) uint64 {
	for j := range l.scratch {
		l.scratch[j] = room.get(field(j))
	}
	return l.h.of(l.scratch)
}

// key orders the open packs by ascending room, or by descending room for the first-fit variant.
func (l *listing) key(rating uint64) uint64 {
	if l.first {
		return ^rating
	}
	return rating
}

// place deals count graphs of a shape, if the steps suffice.
func (l *listing) place(ctx context.Context, shape int, rating uint64, count int64) error {
	size := &l.in.size[shape]
	from := rating
	if l.fair {
		from = 0 // a room with a lower rating may still fit
	}
	full := l.rate(&l.in.limit)
	for step := 0; count > 0 && l.steps < l.limit; step++ {
		if step%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		b, i := l.find(size, from)
		if b < 0 {
			break
		}
		if !l.fair {
			from = rating + 1
		}
		o := l.blocks[b].packs[i]
		n, copies := min(o.packs, count), 1
		if o.packs < count {
			copies = l.run(b, i, size, max(from, 1), count/o.packs)
		}
		l.remove(b, i)
		if o.packs > n {
			split := o
			split.packs -= n
			l.open(split)
		}
		of := size.times(copies)
		o.room, _ = o.room.minus(&of)
		o.packs = n
		l.contents = append(l.contents, content{int32(shape), int32(copies), o.parent})
		o.parent = int32(len(l.contents) - 1)
		l.settle(o)
		count -= n * int64(copies)
		if !l.fair && from > full {
			break
		}
	}
	for count > 0 {
		n, packs := 1, count
		if l.fair {
			n = l.in.most(&l.in.limit, size, count)
			packs = count / int64(n)
		}
		of := size.times(n)
		room, _ := l.in.limit.minus(&of)
		l.contents = append(l.contents, content{int32(shape), int32(n), -1})
		l.settle(opened{room: room, parent: int32(len(l.contents) - 1), packs: packs})
		count -= packs * int64(n)
	}
	return nil
}

// run is the number of graphs of a size, at most most, that go into each of the packs at index i of block b
// before any other pack changes: a search from the given rating would find these packs again each time.
func (l *listing) run(b, i int, size *vec, from uint64, most int64) int {
	k := l.blocks[b]
	o := &k.packs[i]
	copies := l.in.most(&o.room, size, most)
	next := uint64(math.MaxUint64) // the next key
	if i+1 < len(k.packs) {
		next = k.packs[i+1].key
	} else if b+1 < len(l.blocks) {
		next = l.blocks[b+1].packs[0].key
	}
	ends := func(c int) bool {
		of := size.times(c)
		room, _ := o.room.minus(&of)
		rating := l.rate(&room)
		return rating < from || l.key(rating) >= next
	}
	if ends(1) {
		return 1
	}
	return 1 + sort.Search(copies-1, func(c int) bool { return ends(c + 1) })
}

// settle opens a pack, or closes it if it is full by the heuristic or the cap.
func (l *listing) settle(o opened) {
	rating := l.rate(&o.room)
	if rating == 0 || o.room.get(graphs) == 0 {
		l.closed = append(l.closed, o)
		return
	}
	o.key = l.key(rating)
	l.open(o)
}

// open inserts a pack after the packs of its key.
func (l *listing) open(o opened) {
	b := sort.Search(len(l.blocks), func(i int) bool { return l.blocks[i].packs[0].key > o.key }) - 1
	if b < 0 {
		if len(l.blocks) == 0 {
			l.blocks = append(l.blocks, &block{})
		}
		b = 0
	}
	k := l.blocks[b]
	at := sort.Search(len(k.packs), func(i int) bool { return k.packs[i].key > o.key })
	k.packs = slices.Insert(k.packs, at, o)
	k.most = most(&k.most, &o.room)
	if len(k.packs) <= blockSize {
		return
	}
	half := len(k.packs) / 2
	rest := &block{packs: slices.Clone(k.packs[half:])}
	k.packs = k.packs[:half]
	k.refresh()
	rest.refresh()
	l.blocks = slices.Insert(l.blocks, b+1, rest)
}

func (l *listing) remove(b, i int) {
	k := l.blocks[b]
	if k.packs = slices.Delete(k.packs, i, i+1); len(k.packs) == 0 {
		l.blocks = slices.Delete(l.blocks, b, b+1)
	}
}

// refresh recomputes the maximum room of a block, which removals make too large.
func (k *block) refresh() {
	k.most = vec{}
	for i := range k.packs {
		k.most = most(&k.most, &k.packs[i].room)
	}
}

func most(v, u *vec) vec {
	out := *v
	for w := range out {
		lo, hi := max(v[w]&0xffffffff, u[w]&0xffffffff), max(v[w]>>32, u[w]>>32)
		out[w] = lo | hi<<32
	}
	return out
}

// find returns the first open pack that a graph fits into, among those whose room is rated at least from;
// block -1 if there is none.
func (l *listing) find(size *vec, from uint64) (b, i int) {
	start := 0
	if !l.first {
		start = max(sort.Search(len(l.blocks), func(i int) bool { return l.blocks[i].packs[0].key >= from })-1, 0)
	}
	l.steps += 200
	for b := start; b < len(l.blocks); b++ {
		l.steps += 4
		k := l.blocks[b]
		if l.first && ^k.packs[0].key < from {
			break
		}
		if !k.most.fits(size) {
			continue
		}
		i := 0
		if !l.first && k.packs[0].key < from {
			i = sort.Search(len(k.packs), func(i int) bool { return k.packs[i].key >= from })
		}
		l.steps += blockSize
		for ; i < len(k.packs); i++ {
			if l.first && ^k.packs[i].key < from {
				return -1, 0
			}
			if k.packs[i].room.fits(size) {
				return b, i
			}
		}
		k.refresh()
	}
	return -1, 0
}
