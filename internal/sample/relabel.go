package sample

import (
	"unsafe"

	"github.com/graphmill/graphmill/draw"
	"github.com/graphmill/graphmill/internal/prefetch"
)

// relabelKind is a way to find the local id of a node. All give the same results.
type relabelKind uint8

const (
	relabelAuto   relabelKind = iota
	relabelDirect             // an array over all nodes of the type
	relabelWide               // a hash table whose slots hold node and local id
	relabelNarrow             // a hash table whose slots hold the local id alone
)

// The array is fastest where it is not much larger than the caches, else a table. The narrow table is fastest where
// most targets are new, because its branches are then predicted.
const (
	directNodes  = 8 << 20
	narrowFrom   = 0.9
	maxBase      = 1 << 31
	minTableSize = 1 << 10
)

// Hashed says whether a context finds the local ids of a node type of the given size by a hash table, in subgraphs of batches.
func Hashed(count int) bool { return count > directNodes }

// localIDs numbers the nodes of one type in order of discovery.
//
// Slots hold base + local id. A value below base belongs to an earlier subgraph and counts as empty, so a new subgraph
// starts without clearing the table.
type localIDs struct {
	nodes []uint32 // node by local id; longer than n
	n     uint32
	base  uint32

	count  int // nodes of the type
	forced relabelKind
	tiny   bool // subgraphs of single seeds
	kind   relabelKind
	direct []uint32
	wide   []uint64
	narrow []uint32
	shift  uint8 // of the table's hash
	drawn  uint64
}

const hashMul = draw.Gamma

// begin empties the list and chooses the way for the next subgraph.
func (l *localIDs) begin() {
	ratio := 0.0
	if l.drawn > 0 {
		ratio = float64(l.n) / float64(l.drawn)
	}
	l.base += l.n
	was := l.kind
	switch {
	case l.forced != relabelAuto:
		l.kind = l.forced
	case l.count <= directNodes && !l.tiny:
		l.kind = relabelDirect
	case l.drawn > 1<<14 && ratio > narrowFrom:
		l.kind = relabelNarrow
	case l.drawn > 1<<14 || l.kind == relabelAuto:
		l.kind = relabelWide
	}
	l.n, l.drawn = 0, 0
	if l.base >= maxBase || l.base == 0 {
		clear(l.direct)
		clear(l.wide)
		clear(l.narrow)
		l.base = 1
	}
	if l.kind != was {
		l.wide, l.narrow = nil, nil
	}
}

// reserve makes room for more new nodes.
func (l *localIDs) reserve(more int) {
	need := int(l.n) + more + 1
	if need > len(l.nodes) {
		nodes := make([]uint32, max(2*len(l.nodes), need, 1<<8))
		copy(nodes, l.nodes[:l.n])
		l.nodes = nodes
	}
	switch l.kind {
	case relabelDirect:
		if l.direct == nil {
			l.direct = makeTable[uint32](l.count)
		}
	case relabelWide:
		if 2*need > len(l.wide) {
			l.growWide(4 * need)
		}
	case relabelNarrow:
		if 4*need > len(l.narrow) {
			l.growNarrow(8 * need)
		}
	}
}

func tableSize(slots int) (size int, shift uint8) {
	size, shift = minTableSize, 64-10
	for size < slots {
		size, shift = size*2, shift-1
	}
	return size, shift
}

func (l *localIDs) growWide(slots int) {
	size, shift := tableSize(slots)
	l.wide, l.shift = makeTable[uint64](size), shift
	mask := uint64(size - 1)
	for i, v := range l.nodes[:l.n] {
		at := uint64(v) * hashMul >> shift
		for uint32(l.wide[at]) >= l.base {
			at = (at + 1) & mask
		}
		l.wide[at] = uint64(v)<<32 | uint64(l.base+uint32(i))
	}
}

func (l *localIDs) growNarrow(slots int) {
	size, shift := tableSize(slots)
	l.narrow, l.shift = makeTable[uint32](size), shift
	mask := uint64(size - 1)
	for i, v := range l.nodes[:l.n] {
		at := uint64(v) * hashMul >> shift
		for l.narrow[at] >= l.base {
			at = (at + 1) & mask
		}
		l.narrow[at] = l.base + uint32(i)
	}
}

// visit replaces each node in ids by its local id, and numbers the new ones.
func (l *localIDs) visit(ids []uint32) {
	l.reserve(len(ids))
	l.drawn += uint64(len(ids))
	switch l.kind {
	case relabelDirect:
		l.visitDirect(ids)
	case relabelWide:
		l.visitWide(ids)
	default:
		l.visitNarrow(ids)
	}
}

// visitDirect and visitWide always store, and count new nodes without a branch, because a branch on whether a target is
// new cannot be predicted.
func (l *localIDs) visitDirect(ids []uint32) {
	slots, nodes, n, base := l.direct, l.nodes, l.n, l.base
	prefetch.At(unsafe.SliceData(slots), ids)
	for i, v := range ids {
		local := slots[v] - base
		fresh := uint32(0)
		if slots[v] < base {
			local, fresh = n, 1
		}
		slots[v] = base + local
		nodes[n] = v
		n += fresh
		ids[i] = local
	}
	l.n = n
}

func (l *localIDs) visitWide(ids []uint32) {
	slots, nodes, n, base, shift := l.wide, l.nodes, l.n, l.base, l.shift&63
	mask := uint64(len(slots) - 1)
	prefetch.Hashed(unsafe.SliceData(slots), ids, shift)
	for i, v := range ids {
		at := uint64(v) * hashMul >> shift & mask
		slot := slots[at]
		for uint32(slot) >= base && uint32(slot>>32) != v {
			at = (at + 1) & mask
			slot = slots[at]
		}
		local := uint32(slot) - base
		fresh := uint32(0)
		if uint32(slot) < base {
			local, fresh = n, 1
		}
		slots[at] = uint64(v)<<32 | uint64(base+local)
		nodes[n] = v
		n += fresh
		ids[i] = local
	}
	l.n = n
}

func (l *localIDs) visitNarrow(ids []uint32) {
	slots, nodes, n, base, shift := l.narrow, l.nodes, l.n, l.base, l.shift&63
	mask := uint64(len(slots) - 1)
	for i, v := range ids {
		at := uint64(v) * hashMul >> shift & mask
		for {
			slot := slots[at]
			if slot < base {
				slots[at] = base + n
				nodes[n] = v
				ids[i] = n
				n++
				break
			}
			if nodes[slot-base] == v {
				ids[i] = slot - base
				break
			}
			at = (at + 1) & mask
		}
	}
	l.n = n
}

// idSet is a set of ids that is emptied in one step.
type idSet struct {
	slots []uint64 // the lower half of an id, and the tick
	wide  bool
	upper []uint32 // the upper halves of the ids of a wide set
	n     int
	tick  uint32
	shift uint8
}

func (s *idSet) begin() {
	s.n = 0
	s.tick++
	if s.tick == 0 {
		clear(s.slots)
		s.tick = 1
	}
}

// reserve makes room for more ids.
func (s *idSet) reserve(more int) {
	if need := s.n + more + 1; 2*need > len(s.slots) {
		old, upper := s.slots, s.upper
		size, shift := tableSize(4 * need)
		s.slots, s.shift, s.n = make([]uint64, size), shift, 0
		if s.wide {
			s.upper = make([]uint32, size)
		}
		for i, slot := range old {
			if uint32(slot) != s.tick {
				continue
			}
			id := slot >> 32
			if s.wide {
				id |= uint64(upper[i]) << 32
			}
			s.add(id)
		}
	}
}

// add adds an id and says whether it is new. There must be room for it (reserve). An id has 32 bits in a set that is not
// wide.
func (s *idSet) add(id uint64) bool {
	want := id<<32 | uint64(s.tick)
	mask := uint64(len(s.slots) - 1)
	at := id * hashMul >> (s.shift & 63) & mask
	for uint32(s.slots[at]) == s.tick {
		if s.slots[at] == want && (!s.wide || s.upper[at] == uint32(id>>32)) {
			return false
		}
		at = (at + 1) & mask
	}
	s.slots[at] = want
	if s.wide {
		s.upper[at] = uint32(id >> 32)
	}
	s.n++
	return true
}
