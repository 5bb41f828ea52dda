package operation

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// leastGarbage is the garbage in bytes that the heap may hold in any case. Large arrays lie outside of the heap, so what is live in it is often a
// few MB, and a share of that alone would let the collector run every few milliseconds.
const leastGarbage = 8 << 20

// LessGarbage lets the heap hold garbage of a percentage of what is live, or leastGarbage where that is more, until the function that it returns is
// called. By default the collector waits until the heap has doubled, which may exceed a bound on the memory. The setting is the process's, so
// of two that overlap the one that ends last restores what it found.
func LessGarbage(percent int) (restore func()) {
	g := &garbage{percent: percent}
	g.before = debug.SetGCPercent(percent)
	g.adjust()
	g.watch()
	return g.end
}

// garbage adjusts the collector to what is live.
type garbage struct {
	mu      sync.Mutex
	percent int // of what is live
	before  int // what the collector was set to
	now     int // what it is set to
	ended   bool
}

// watch adjusts after each collection: a value that nothing refers to is found by it, and another takes its place.
func (g *garbage) watch() {
	type found struct{ _ [16]byte }
	runtime.AddCleanup(new(found), func(g *garbage) {
		if g.adjust() {
			g.watch()
		}
	}, g)
}

// adjust sets the collector by what was live at its last run. It returns false once the bound has ended.
func (g *garbage) adjust() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ended {
		return false
	}
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	p := garbagePercent(int64(sample[0].Value.Uint64()), g.percent)
	if d := p - g.now; d > p/8 || -d > p/8 { // setting it stops the program for a moment
		debug.SetGCPercent(p)
		g.now = p
	}
	return true
}

// leastHeap is the size in bytes below which the collector does not run at 100 percent; at p percent it is p times that.
const leastHeap = 4 << 20

// garbagePercent is the percentage that lets a heap hold garbage of a share of what is live, or leastGarbage.
func garbagePercent(live int64, percent int) int {
	live = max(live, 1<<20)
	return max(percent, int(min(100*leastGarbage/live, 100*(live+leastGarbage)/leastHeap)))
}

func (g *garbage) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	debug.SetGCPercent(g.before)
}
