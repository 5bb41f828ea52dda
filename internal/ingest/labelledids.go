package ingest

import (
	"math/bits"
	"sync"

	"github.com/zeebo/xxh3"
)

// idTypes has the types of ids, by a hash of 64 bits. That an edge type has the id of an end is checked when the edges are built, so that an id that is none, and has the hash of
// another, is found then.
type idTypes struct {
	mu    sync.Mutex
	hash  []uint64 // 0: empty
	types []uint16
	count int
}

// idTypeBytes is about the memory of an id.
const idTypeBytes = 14

func newIDTypes() *idTypes { return &idTypes{hash: make([]uint64, 64), types: make([]uint16, 64)} }

func (x *idTypes) bytes() int64 { return 10 * int64(len(x.hash)) }

func hashOfID(id []byte) uint64 { return max(xxh3.Hash(id), 1) }

// place is the place of a hash, or the empty one where it would be.
func (x *idTypes) place(hash uint64) int {
	hi, _ := bits.Mul64(hash, uint64(len(x.hash)))
	for i := int(hi); ; i++ {
		if i == len(x.hash) {
			i = 0
		}
		if x.hash[i] == hash || x.hash[i] == 0 {
			return i
		}
	}
}

// add adds an id, and returns its type: the given one, unless it has another one already.
func (x *idTypes) add(id []byte, kind uint16) uint16 {
	if 4*(x.count+1) > 3*len(x.hash) {
		oldHash, oldTypes := x.hash, x.types
		x.hash, x.types = make([]uint64, len(oldHash)/2*3), make([]uint16, len(oldHash)/2*3)
		for i, h := range oldHash {
			if h != 0 {
				at := x.place(h)
				x.hash[at], x.types[at] = h, oldTypes[i]
			}
		}
	}
	h := hashOfID(id)
	at := x.place(h)
	if x.hash[at] == 0 {
		x.hash[at], x.types[at] = h, kind
		x.count++
	}
	return x.types[at]
}

// find returns the type of an id; false: there is no such id.
func (x *idTypes) find(id []byte) (uint16, bool) {
	at := x.place(hashOfID(id))
	return x.types[at], x.hash[at] != 0
}
