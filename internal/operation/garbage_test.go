package operation

import "testing"

// A small heap may hold leastGarbage, a large one its share; no heap is collected later than that.
func TestGarbagePercent(t *testing.T) {
	for live := int64(0); live < 1<<32; live = live*2 + 1<<18 {
		p := int64(garbagePercent(live, 10))
		next := max(live+live*p/100, leastHeap*p/100) // where the collector runs next
		held := max(live, 1<<20)
		if most := held + max(held/10, leastGarbage) + leastHeap/100; next > most || next < live+live/10 {
			t.Errorf("%d live bytes: found %d percent, so that the collector runs at %d, expected at most %d", live, p, next, most)
		}
	}
	if p := garbagePercent(1<<30, 10); p != 10 {
		t.Errorf("1 GiB of live bytes: found %d percent, expected 10", p)
	}
}
