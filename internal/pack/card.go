package pack

import (
	"slices"
	"sort"
)

// cards packs where the number of graphs per pack is the binding limit. Each slot gets the largest graph that
// leaves room for the smallest graphs in all later slots, so that no pack runs out of room before it runs out
// of slots. It packs the loaded graphs. It returns nil if it is halted.
func (s *search) cards() []Pattern {
	in := s.in
	var patterns []Pattern
	var tail smallest
	for {
		s.compact()
		if len(s.left) == 0 {
			return patterns
		}
		if s.halted != nil && s.halted() {
			return nil
		}
		tail.of(s)
		room, slots := in.limit, int64(in.limit.get(graphs))
		slots = min(slots, tail.count[0])
		var parts []Part
		for i := 0; i < len(s.left) && slots > 0; i++ {
			s.steps++
			most := min(int64(in.most(&room, &s.size[i], s.left[i])), slots)
			// The more copies, the less room for the others.
			c := sort.Search(int(most), func(c int) bool {
				of := s.size[i].times(c + 1)
				rest, _ := room.minus(&of)
				return !tail.fit(&rest, slots-int64(c)-1)
			})
			if c == 0 && len(parts) == 0 && i == len(s.left)-1 {
				c = int(most) // the smallest graphs do not fill all slots
			}
			if c > 0 {
				of := s.size[i].times(c)
				room, _ = room.minus(&of)
				slots -= int64(c)
				parts = append(parts, Part{i, c})
			}
		}
		repeat := s.left[parts[0].Shape]
		for _, p := range parts {
			repeat = min(repeat, s.left[p.Shape]/int64(p.Copies))
		}
		for i, p := range parts {
			s.left[p.Shape] -= int64(p.Copies) * repeat
			parts[i].Shape = s.shape[p.Shape]
		}
		patterns = append(patterns, Pattern{slices.Clip(parts), repeat})
	}
}

// smallest has the sums of the smallest remaining graphs.
type smallest struct {
	fields []int
	size   []vec
	count  []int64   // number of graphs from each index on
	sum    [][]int64 // of each field, from each index on
}

func (t *smallest) of(s *search) {
	n := len(s.left)
	t.fields, t.size = s.in.fields, s.size
	t.count = append(slices.Grow(t.count[:0], n+1)[:n], 0)
	t.sum = slices.Grow(t.sum[:0], len(t.fields))[:len(t.fields)]
	for j := range t.sum {
		t.sum[j] = append(slices.Grow(t.sum[j][:0], n+1)[:n], 0)
	}
	for i := n - 1; i >= 0; i-- {
		t.count[i] = t.count[i+1] + s.left[i]
		for j, f := range t.fields {
			t.sum[j][i] = t.sum[j][i+1] + s.left[i]*int64(s.size[i].get(f))
		}
	}
}

// fit reports whether the m smallest graphs fit into a room.
func (t *smallest) fit(room *vec, m int64) bool {
	if m > t.count[0] {
		return false
	}
	// From index i on there are fewer than m graphs; index i-1 has the rest.
	i := sort.Search(len(t.count), func(i int) bool { return t.count[i] <= m })
	for j, f := range t.fields {
		need := t.sum[j][i]
		if more := m - t.count[i]; more > 0 {
			need += more * int64(t.size[i-1].get(f))
		}
		if need > int64(room.get(f)) {
			return false
		}
	}
	return true
}
