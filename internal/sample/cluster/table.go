package cluster

// table maps 64-bit words to 32-bit words. It is emptied in one step. The zero value is empty.
type table struct {
	slots []slot
	tick  uint32
	n     int
}

// slot is free unless its tick is the table's.
type slot struct {
	key         uint64
	value, tick uint32
}

func (t *table) begin() {
	t.n = 0
	if t.tick++; t.tick == 0 {
		clear(t.slots)
		t.tick = 1
	}
}

// place is the slot of a key, or the free slot where it belongs.
func (t *table) place(key uint64) *slot {
	mask := uint64(len(t.slots) - 1)
	at := key ^ key>>32
	at *= 0x9E3779B97F4A7C15
	at = (at ^ at>>32) & mask
	for t.slots[at].tick == t.tick && t.slots[at].key != key {
		at = (at + 1) & mask
	}
	return &t.slots[at]
}

// put adds a key that is not there, and says whether it did.
func (t *table) put(key uint64, value uint32) bool {
	if 2*(t.n+1) > len(t.slots) {
		t.grow()
	}
	s := t.place(key)
	if s.tick == t.tick {
		return false
	}
	*s = slot{key, value, t.tick}
	t.n++
	return true
}

// add is put for a set of words.
func (t *table) add(key uint64) bool { return t.put(key, 0) }

func (t *table) get(key uint64) (value uint32, ok bool) {
	if t.n == 0 {
		return 0, false
	}
	s := t.place(key)
	return s.value, s.tick == t.tick
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]slot, max(2*len(old), 1<<6))
	for i := range old {
		if old[i].tick == t.tick {
			*t.place(old[i].key) = old[i]
		}
	}
}
