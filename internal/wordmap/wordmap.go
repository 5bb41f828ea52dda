// Package wordmap maps words to words where a map of Go takes too long: for the nodes of a batch, which another one follows.
package wordmap

// Map maps 64-bit words to 32-bit words. It is emptied in one step. The zero value is empty.
type Map struct {
	slots []slot
	tick  uint32
	n     int
}

// slot is free unless its tick is the map's.
type slot struct {
	key         uint64
	value, tick uint32
}

// Clear empties the map.
func (m *Map) Clear() {
	m.n = 0
	if m.tick++; m.tick == 0 {
		clear(m.slots)
		m.tick = 1
	}
}

// place is the slot of a key, or the free slot where it belongs.
func (m *Map) place(key uint64) *slot {
	mask := uint64(len(m.slots) - 1)
	at := key ^ key>>32
	at *= 0x9E3779B97F4A7C15
	at = (at ^ at>>32) & mask
	for m.slots[at].tick == m.tick && m.slots[at].key != key {
		at = (at + 1) & mask
	}
	return &m.slots[at]
}

// Len is the number of keys.
func (m *Map) Len() int { return m.n }

// Put adds a key that is not there, and says whether it did. It returns the value that the key has then.
func (m *Map) Put(key uint64, value uint32) (has uint32, added bool) {
	if 2*(m.n+1) > len(m.slots) {
		m.grow()
	}
	s := m.place(key)
	if s.tick == m.tick {
		return s.value, false
	}
	*s = slot{key, value, m.tick}
	m.n++
	return value, true
}

// Add is Put for a set of words.
func (m *Map) Add(key uint64) (added bool) {
	_, added = m.Put(key, 0)
	return added
}

// Get is the value of a key.
func (m *Map) Get(key uint64) (value uint32, ok bool) {
	if m.n == 0 {
		return 0, false
	}
	s := m.place(key)
	return s.value, s.tick == m.tick
}

func (m *Map) grow() {
	m.tick = max(m.tick, 1) // 0 is the tick of free slots
	old := m.slots
	m.slots = make([]slot, max(2*len(old), 1<<6))
	for i := range old {
		if old[i].tick == m.tick {
			*m.place(old[i].key) = old[i]
		}
	}
}
