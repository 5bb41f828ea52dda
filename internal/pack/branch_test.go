package pack

import (
	"testing"

	"pgregory.net/rapid"
)

// mostValuable finds the value of the best pattern by trying all.
func mostValuable(sizes [][]int, counts []int64, limits []int, most int, worth []int64) int64 {
	room := make([]int, len(limits))
	copy(room, limits)
	var from func(i, graphs int) int64
	from = func(i, graphs int) int64 {
		if i == len(sizes) {
			return 0
		}
		best := from(i+1, graphs)
		taken := 0
		for c := int64(1); c <= counts[i] && (most == 0 || graphs+int(c) <= most); c++ {
			fits := true
			for j, s := range sizes[i] {
				fits = fits && s <= room[j]
			}
			if !fits {
				break
			}
			for j, s := range sizes[i] {
				room[j] -= s
			}
			taken++
			best = max(best, c*worth[i]+from(i+1, graphs+int(c)))
		}
		for range taken {
			for j, s := range sizes[i] {
				room[j] += s
			}
		}
		return best
	}
	return from(0, 0)
}

// No pattern is worth more than the search says, however few nodes it has; it says how much the best pattern is
// worth, to within its spread, if it has enough. All its patterns fit.
func TestBrancher(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(t, "components")
		// Tables of large limits have items that are too light.
		limit := rapid.SampledFrom([]int{10, 30, 100, 5000, 1 << 30}).Draw(t, "limit")
		limits := same(limit, k)
		n := rapid.IntRange(1, 7).Draw(t, "items")
		var sizes [][]int
		var counts, worth []int64
		for range n {
			s := make([]int, k)
			for j := range s {
				s[j] = rapid.IntRange(limit/5*rapid.IntRange(0, 1).Draw(t, "large"), limit).Draw(t, "size")
			}
			s[0] = max(s[0], limit/6)
			sizes = append(sizes, s)
			counts = append(counts, rapid.Int64Range(1, 4).Draw(t, "count"))
			worth = append(worth, rapid.Int64Range(0, dualScale).Draw(t, "worth"))
		}
		most := rapid.IntRange(0, 3).Draw(t, "most")
		best := mostValuable(sizes, counts, limits, most, worth)
		b := newBrancher(sizes, counts, limits, most)
		var all []int
		for i := range sizes {
			all = append(all, i)
		}
		v := b.solve(worth, 0, all)
		if v < best || float64(v) > float64(best)*1.0011+2 {
			t.Fatalf("found %d, expected %d", v, best)
		}
		if len(b.at) == 0 {
			return
		}
		for _, found := range append(b.found, b.top) {
			room, graphs := make([]int, k), 0
			for _, part := range found {
				if graphs += part.Copies; int64(part.Copies) > counts[part.Shape] {
					t.Fatalf("found %d copies, expected at most %d", part.Copies, counts[part.Shape])
				}
				for j, s := range sizes[part.Shape] {
					if room[j] += s * part.Copies; room[j] > limits[j] {
						t.Fatalf("found size %d, expected at most %d", room[j], limits[j])
					}
				}
			}
			if most > 0 && graphs > most {
				t.Fatalf("found %d graphs, expected at most %d", graphs, most)
			}
		}
		for _, nodes := range []int64{1, 2, 5} {
			if v := b.run(0, 0, nodes); v < best {
				t.Fatalf("found %d after %d nodes, expected at least %d", v, nodes, best)
			}
		}
	})
}
