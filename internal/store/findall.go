package store

import "bytes"

// NoNode is the number that FindAll gives an id that no node has.
const NoNode = ^uint64(0)

// findBlock is the number of ids that FindAll finds together. What it keeps of them fits a cache.
const findBlock = 128

// FindAll finds the type-wise ids of as many original ids as numbers has room for: id returns the bytes of id i that are hashed, those of a string or the eight little-endian bytes of
// an integer. Each finding reads memory at four random places, one after the other. Those of many ids wait for memory together, so that one takes a fraction of the time of Find.
func (x *IDs) FindAll(id func(i int) []byte, numbers []uint64) {
	f := &finding{IDs: x, id: id}
	for from := 0; from < len(numbers); from += findBlock {
		f.find(from, numbers[from:min(from+findBlock, len(numbers))])
	}
}

// finding is a run of FindAll.
type finding struct {
	*IDs
	id      func(i int) []byte
	left    [findBlock]wanted // ids that are not found yet
	touched byte              // so that what is only read is read
}

// wanted is an id that is looked for.
type wanted struct {
	at     int // among the numbers
	hash   uint64
	lo, hi uint64 // the slots of its bucket
	node   uint64 // of the first slot, in the part
}

// find finds ids from number first on.
func (f *finding) find(first int, numbers []uint64) {
	left := f.left[:len(numbers)]
	for i := range left {
		left[i] = wanted{at: i, hash: HashID(f.id(first + i))}
		numbers[i] = NoNode
	}
	for k := range f.parts {
		p := &f.parts[k]
		// Each loop reads one place of all ids. A damaged index can hold any numbers, so bounds are checked.
		for i := range left {
			b := int(Bucket(left[i].hash, p.bits))
			left[i].lo, left[i].hi = p.buckets.At(b), min(p.buckets.At(b+1), uint64(p.slots.Len()))
		}
		for i := range left {
			if left[i].node = NoNode; left[i].lo < left[i].hi {
				left[i].node = p.slots.At(int(left[i].lo))
			}
		}
		if offsets := f.nodes.IDs.StringOffsets; offsets.Len() > 0 {
			for i := range left {
				if v := left[i].node; v < uint64(p.count) {
					f.touched ^= byte(offsets.At(p.first + int(v)))
				}
			}
		}
		for i := range left {
			if v := left[i].node; v < uint64(p.count) {
				if text := f.text(p.first + int(v)); len(text) > 0 {
					f.touched ^= text[0]
				}
			}
		}
		n := 0
		for i := range left {
			x := left[i]
			id := f.id(first + x.at)
			if v, ok := f.findIn(p, x, id); ok {
				numbers[x.at] = v
				continue
			}
			left[n] = x
			n++
		}
		left = left[:n]
	}
}

// findIn finds an id in the slots of its bucket.
func (x *IDs) findIn(p *idsPart, w wanted, id []byte) (node uint64, ok bool) {
	for i := w.lo; i < w.hi; i++ {
		v := p.slots.At(int(i))
		if v < uint64(p.count) && bytes.Equal(x.text(p.first+int(v)), id) {
			return uint64(p.first) + v, true
		}
	}
	return 0, false
}
