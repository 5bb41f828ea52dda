package outofcore

import (
	"sync"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/direct"
	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/tagged"
)

// shared is the memory that the windows of a run share.
type shared struct {
	mu     sync.Mutex
	lean   bool // small pages: huge pages would count against the budget
	pieces arenas
}

// words is the memory of a table that may be used in part. Nothing is held for the part that is not used.
func words[T direct.Word](n int, lean bool) ([]T, func(), error) {
	if lean {
		return direct.Lean[T](n)
	}
	return direct.Array[T](n)
}

func (s *shared) arena() ([]request, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pieces.get(s.lean)
}

func (s *shared) giveArenas(pieces [][]request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pieces.free = append(s.pieces.free, pieces...)
}

// segment is the slots of an op in a subgraph, from start to the start of the next segment.
type segment struct {
	start uint32
	op    uint32 // from 1
	key   uint64
}

// results is far ends by slot, and their edge ids where these are stored apart. An edge id has idWords words, the lower one
// first.
type results struct {
	far, ids []uint32
	idWords  int
}

// setID sets the edge id of a slot.
func (r *results) setID(slot uint32, id uint64) {
	if r.idWords == 2 {
		at := 2 * int(slot)
		r.ids[at], r.ids[at+1] = uint32(id), uint32(id>>32)
		return
	}
	r.ids[slot] = uint32(id)
}

// copyIDs copies edge ids from a slot on, to all of to from place at on.
func (r *results) copyIDs(to graph.Index, at int, slot, n uint32) {
	switch {
	case to.U32 != nil && r.idWords == 1:
		copy(to.U32[at:], r.ids[slot:slot+n])
	case to.U32 != nil: // an op along another edge type of the wave has wide ids
		for i := range to.U32[at : at+int(n)] {
			to.U32[at+i] = r.ids[2*(int(slot)+i)]
		}
	default:
		for i := range to.U64[at : at+int(n)] {
			word := 2 * (int(slot) + i)
			to.U64[at+i] = uint64(r.ids[word]) | uint64(r.ids[word+1])<<32
		}
	}
}

// stage is one step of a window: its requests and their results.
type stage struct {
	mu   sync.Mutex
	segs []segment // by start
	used uint32    // slots

	results
	freeFar, freeIDs func()

	lists []*lists // one per worker
	// guide is, for each run of 1<<shift slots, a segment at or before the segment of its first slot.
	guide []uint32
	shift uint32
}

// newStage makes a stage of at most the given number of slots. Memory is taken as they are used. Results have edge ids of the
// given number of words.
func newStage(source *shared, slots, idWords int, workers, buckets int, shift uint32) (*stage, error) {
	s := &stage{shift: shift, freeFar: func() {}, freeIDs: func() {}}
	var err error
	if s.far, s.freeFar, err = words[uint32](slots, source.lean); err != nil {
		return nil, err
	}
	if s.idWords = idWords; idWords > 0 {
		if s.ids, s.freeIDs, err = words[uint32](slots*idWords, source.lean); err != nil {
			s.freeFar()
			return nil, err
		}
	}
	for range workers {
		s.lists = append(s.lists, newLists(source, buckets))
	}
	return s, nil
}

// take gives n slots to segments whose starts count from 0, and returns the first slot.
func (s *stage) take(n uint64, segs []segment) (base uint32, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > uint64(len(s.far))-uint64(s.used) {
		return 0, tagged.Errorf(ErrMemory, "found more than %s sampled edges in a step of a window, expected fewer; give more `Memory`, or take fewer edges or smaller batches",
			human.Exact(int64(len(s.far))))
	}
	base = s.used
	for i := range segs {
		segs[i].start += base
	}
	s.segs = append(s.segs, segs...)
	s.used += uint32(n)
	return base, nil
}

// ready builds the guide, after all slots are taken.
func (s *stage) ready() {
	s.guide = s.guide[:0]
	at := 0
	for slot := uint64(0); slot < uint64(s.used); slot += 1 << s.shift {
		for at+1 < len(s.segs) && uint64(s.segs[at+1].start) <= slot {
			at++
		}
		s.guide = append(s.guide, uint32(at))
	}
}

// segment is the number of the segment that a slot is in. last is the result of an earlier lookup, or 0.
func (s *stage) segment(slot, last uint32) uint32 {
	at := last
	if s.segs[at].start > slot || slot>>s.shift != s.segs[at].start>>s.shift {
		at = s.guide[slot>>s.shift]
	}
	for int(at)+1 < len(s.segs) && s.segs[at+1].start <= slot {
		at++
	}
	return at
}

// served frees the requests.
func (s *stage) served() {
	for _, l := range s.lists {
		l.drop()
	}
	s.lists, s.segs, s.guide = nil, nil, nil
}

func (s *stage) close() {
	if s.lists != nil {
		s.served()
	}
	s.freeFar()
	s.freeIDs()
	s.far, s.ids = nil, nil
}
